/** A command: its arguments, help and examples as data (`definitions`), and the function that it calls, which has a file in this folder. */
import type { Console } from '../report/print/console.ts';
import type { ExitCode } from '../errors.ts';
import type { ArgumentsOf, OptionTable, PositionalTable, SettingsOf } from '../settings/option.ts';

export interface CommandDefinition<P extends PositionalTable = PositionalTable, O extends OptionTable = OptionTable> {
  readonly positionals: P;
  readonly options: O;
  /** The options that `--help` shows; `--help-all` shows all of them. All if absent. */
  readonly mostUsed?: readonly string[];
  readonly examples: readonly (readonly [command: string, what: string])[];
}

export function define<P extends PositionalTable, O extends OptionTable>(
  definition: CommandDefinition<P, O>,
): CommandDefinition<P, O> {
  return definition;
}

/** The checked arguments and options of a command. */
export type CommandSettings<D extends CommandDefinition> = ArgumentsOf<D['positionals']> & SettingsOf<D['options']>;

/** The options and positionals of a command by name, not checked yet. */
export type Argv = Readonly<Record<string, unknown>>;

/** A module of this folder that is a command. */
export interface Command {
  /** Returns the exit code of a failure that it has reported, and throws every other error. */
  readonly handler: (argv: Argv, console: Console) => Promise<ExitCode>;
}
