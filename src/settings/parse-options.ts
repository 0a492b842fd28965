import { z } from 'zod';
import { UserError } from '../errors.ts';
import { flag } from './checks.ts';
import { commandOf } from './program.ts';
import {
  kebab,
  type ArgumentsOf,
  type Option,
  type OptionTable,
  type PositionalTable,
  type SettingsOf,
} from './option.ts';

/**
 * Checks the options from the command line or a program, and fills in the defaults. Throws a `UserError` (exit 2) that names
 * every option that is wrong.
 */
export function parseOptions<P extends PositionalTable, O extends OptionTable>(
  { positionals, options }: { readonly positionals: P; readonly options: O },
  given: Readonly<Record<string, unknown>>,
): ArgumentsOf<P> & SettingsOf<O> {
  const shape: Record<string, z.ZodType> = {};
  const input: Record<string, unknown> = {};
  for (const [name, positional] of Object.entries(positionals)) {
    shape[name] = positional.check;
    input[name] = given[name];
  }
  for (const [name, option] of Object.entries(options)) {
    shape[name] =
      option.type === 'boolean'
        ? flag
        : option.type === 'value' && option.default === undefined
          ? option.check.optional()
          : option.check;
    input[name] = given[name] ?? defaultOf(option);
  }
  const parsed = z.object(shape).safeParse(input, { jitless: true });
  if (parsed.success) return parsed.data as ArgumentsOf<P> & SettingsOf<O>;
  const mistakes = parsed.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    return `${name in positionals ? `<${name}>` : `--${kebab(name)}`}: ${message}`;
  });
  // As yargs calls it; a program has none.
  const [command] = (given._ ?? []) as readonly string[];
  const hint = command === undefined ? undefined : `see ${commandOf(process.argv, command, '--help-all')}`;
  throw new UserError(mistakes.join('\n'), { ...(hint !== undefined && { hint }) });
}

function defaultOf(option: Option): boolean | string | undefined {
  if (option.type === 'boolean') return false;
  return option.type === 'value' ? option.default : undefined;
}
