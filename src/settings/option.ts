/**
 * The declaration of an option, and everything derived from it: the option of yargs and the type of the setting. The help needs only this;
 * checking the values (`parse-options`) loads zod.
 */
import type { Options as YargsOption, PositionalOptions as YargsPositional } from 'yargs';
import type { z } from 'zod';

interface Declared {
  /** Heading in the help. */
  readonly group?: string | undefined;
  readonly describe: string;
}

/** `--name`: false unless it is given. */
interface BooleanOption extends Declared {
  readonly type: 'boolean';
}

/** `--name VALUE`, at most once. */
export interface ValueOption extends Declared {
  readonly type: 'value';
  readonly check: z.ZodType;
  /** As a user would write it; checked like any other value. */
  readonly default?: string;
  /** Shown in the help where the default is not a fixed value. */
  readonly shownDefault?: string;
}

/** `--name VALUE`, any number of times; the check is handed undefined where it is not given. */
interface RepeatableOption extends Declared {
  readonly type: 'repeatable';
  readonly check: z.ZodType;
}

export type Option = BooleanOption | ValueOption | RepeatableOption;

/** By their names in camel case. */
export type OptionTable = Readonly<Record<string, Option>>;

/** A required argument without a name on the command line. */
type Positional = Omit<ValueOption, 'default' | 'shownDefault'> | RepeatableOption;
export type PositionalTable = Readonly<Record<string, Positional>>;

type CheckOf<O> = O extends { readonly type: 'boolean' }
  ? z.ZodBoolean
  : O extends { readonly type: 'value'; readonly check: infer C extends z.ZodType }
    ? O extends { readonly default: string }
      ? C
      : z.ZodOptional<C>
    : O extends { readonly check: infer C }
      ? C
      : never;

/** The checked values of options, by their names. */
export type SettingsOf<O extends OptionTable> = z.infer<z.ZodObject<{ [N in keyof O]: CheckOf<O[N]> }>>;
/** The checked values of positionals, by their names. */
export type ArgumentsOf<P extends PositionalTable> = { readonly [N in keyof P]: z.infer<P[N]['check']> };

/** Some options of a table, or some of their values, in the order of `names`. */
export function pick<O extends object, N extends keyof O>(from: O, ...names: readonly N[]): Pick<O, N> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<O, N>;
}

/** In the form of yargs. Values stay text: yargs would turn `--rate abc` into NaN without a warning. */
export function yargsOption(option: Option): YargsOption {
  const { group, describe } = option;
  const shared = { ...(group === undefined ? {} : { group }), describe };
  if (option.type === 'boolean') return { ...shared, type: 'boolean' };
  if (option.type === 'repeatable') return { ...shared, type: 'string', array: true, nargs: 1 };
  const shown = option.default ?? option.shownDefault;
  return { ...shared, type: 'string', ...(shown === undefined ? {} : { defaultDescription: shown }) };
}

export function yargsPositional({ describe }: Positional): YargsPositional {
  return { type: 'string', describe, demandOption: true };
}

/** `maxErrors` as written on the command line: `max-errors`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
