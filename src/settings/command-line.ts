import { resolve } from 'node:path';
import { kebab, type OptionTable } from './option.ts';
import { RUN_OPTIONS } from './run-settings.ts';
import { commandOf } from './program.ts';

/** Options for one run that the next should not repeat. */
export const ONCE: readonly string[] = ['--dry-run', '--offline', '--fresh', '--adopt', '--yes'];

/** The command line of this process, quoted for a shell, without some options and with others added. */
export function commandLine(
  argv: readonly string[],
  change: { readonly without?: readonly string[]; readonly and?: readonly string[] } = {},
): string {
  const { and = [], without = [] } = change;
  const kept = argumentsOf(argv).filter(({ option }) => option === undefined || !without.includes(option));
  return commandOf(argv, ...kept.flatMap(({ words }) => words), ...and);
}

/** Options that every command about a run has: it gives them itself. */
const PLACE: readonly string[] = ['--state', '--sandbox'];

/**
 * The options of this run, for a command that is to resume it from another place: without those that `runOf` adds, that hold for one run
 * alone or that say what is printed, and with the paths of exports as they are everywhere.
 */
export function optionsToResume(argv: readonly string[]): string[] {
  const left = [...ONCE, ...PLACE, '--json'];
  return argumentsOf(argv)
    .filter(({ option }) => option !== undefined && !left.includes(option))
    .flatMap(({ option, words }) => (option === '--source' ? words.map(withWholePath) : words));
}

/** `contacts=exports/contacts.csv`, with or without `--source=` before it. */
function withWholePath(word: string): string {
  const [, before, path] = /^((?:--source=)?[^=]+=)(.*)$/s.exec(word) ?? [];
  return path === undefined ? word : `${before}${resolve(path)}`;
}

interface OfRun {
  readonly mapping: string;
  readonly state?: string | undefined;
  readonly sandbox: boolean;
}

/** The `run` whose state directory this command reads. */
export function runOf(settings: OfRun, ...more: readonly string[]): string {
  return commandLine(runArguments(settings, ...more));
}

/** The same as the arguments of its process. */
export function runArguments({ mapping, state, sandbox }: OfRun, ...more: readonly string[]): string[] {
  const where = [...(state === undefined ? [] : ['--state', state]), ...(sandbox ? ['--sandbox'] : [])];
  return [...process.argv.slice(0, 2), 'run', mapping, ...more, ...where];
}

/**
 * The command line of another command, with the options of this one about the account and the files. `options`: the names that the other
 * command knows, in camel case.
 */
export function commandBeside(argv: readonly string[], command: string, options: readonly string[]): string {
  const names = options.map((name) => `--${kebab(name)}`);
  const known = new Set(names.filter((name) => name !== '--json' && !ONCE.includes(name)));
  const [, ...kept] = argumentsOf(argv).filter(({ option }) => option === undefined || known.has(option));
  return commandOf(argv, command, ...kept.flatMap(({ words }) => words));
}

/** An argument of a command line, with the value of an option that has one. */
interface Argument {
  /** As the help writes it (`--dry-run`); undefined for a positional. */
  readonly option: string | undefined;
  readonly words: readonly string[];
}

export function argumentsOf(argv: readonly string[]): Argument[] {
  const found: Argument[] = [];
  for (let index = 2; index < argv.length; index += 1) {
    const word = argv[index]!;
    const option = word.startsWith('--') ? kebab(word.split('=', 1)[0]!) : undefined;
    const hasValue = option !== undefined && !word.includes('=') && VALUED.has(option);
    found.push({ option, words: hasValue ? argv.slice(index, index + 2) : [word] });
    if (hasValue) index += 1;
  }
  return found;
}

const VALUED = new Set(
  Object.entries(RUN_OPTIONS as OptionTable).flatMap(([name, { type }]) =>
    type === 'boolean' ? [] : [`--${kebab(name)}`],
  ),
);
