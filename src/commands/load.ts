import { createRequire } from 'node:module';
import type { Console } from '../terminal/console.ts';
import type { ExitCode } from '../errors.ts';

/** The options and positionals of a command by name, not checked yet. */
export type Argv = Readonly<Record<string, unknown>>;

/** Runs a command. It returns the exit code of a failure that it has reported, and throws every other error. */
export type CommandFunction = (argv: Argv, console: Console) => Promise<ExitCode>;

const require = createRequire(import.meta.url);

/**
 * Loads a command: the function of its name in the module of its name. `require` loads this many modules in three quarters
 * of the time that `import()` takes.
 */
export function loadCommand(name: string): CommandFunction {
  return (require(`./${name}.js`) as Record<string, CommandFunction>)[name]!;
}
