/**
 * The user's own code (`functions`) runs in the process of the program. This module keeps it from ending the process and from printing to
 * stdout, so that a run always ends with its summary.
 */
import { EXIT, messageOf } from '../errors.ts';
import { oneLine } from '../report/words/visible.ts';

/** Ends the process; `process.exit` no longer does once code of the user's was loaded. */
const own = {
  exit: Reflect.get(process, 'exit') as unknown,
  reallyExit: Reflect.get(process, 'reallyExit') as unknown,
};
export function endProcess(code: number): never {
  Object.assign(process, own);
  return process.exit(code);
}

/** Calls of the user's code that have not returned. */
let running = 0;

/** Runs code of the user's, in which `process.exit` throws, and what is written to stdout goes to stderr. */
export function asGuest<T>(run: () => T): T {
  const leave = enter();
  try {
    return run();
  } finally {
    leave();
  }
}

/** Loads code of the user's in the same way. `isOurs`: whether an error was thrown in it. */
export async function loadGuest<T>(load: () => Promise<T>, isOurs: (error: unknown) => boolean): Promise<T> {
  restrict(isOurs);
  const leave = enter();
  try {
    return await load();
  } finally {
    leave();
  }
}

function enter(): () => void {
  const { stdout, stderr } = process;
  const write: unknown = Reflect.get(stdout, 'write');
  stdout.write = stderr.write.bind(stderr);
  running += 1;
  return () => {
    running -= 1;
    Object.assign(stdout, { write });
  };
}

/** Modules of the user's that were loaded. */
const guests: ((error: unknown) => boolean)[] = [];

/** From now on, also for what such code has left behind: timers, promises. */
function restrict(isOurs: (error: unknown) => boolean): void {
  guests.push(isOurs);
  if (guests.length > 1) return;
  const refuse = (): void => {
    if (running > 0) throw new Error('`process.exit` and the like cannot be used in `functions`');
  };
  for (const name of ['exit', 'reallyExit', 'abort'] as const) Object.assign(process, { [name]: refuse });
  const { console } = globalThis;
  for (const name of ['log', 'info', 'debug', 'table', 'dir'] as const) console[name] = console.error.bind(console);
  process.on('uncaughtException', (error, origin) => {
    if (origin === 'unhandledRejection' || guests.some((isOf) => isOf(error))) {
      process.stderr.write(`warning: code of \`functions\` failed after it had returned: ${oneLine(textOf(error))}\n`);
      return;
    }
    process.stderr.write(`${error.stack ?? error.message}\n`);
    endProcess(EXIT.stopped);
  });
}

function textOf(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return 'it threw something that cannot be shown as text';
  }
}
