import { accessSync, constants, mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Console } from '../report/print/console.ts';
import { codeOf, EXIT, messageOf, UserError, type ExitCode } from '../errors.ts';
import { isThere } from '../files/private-file.ts';
import { jsonOf } from '../report/print/json.ts';
import { explained, startMapping, type StarterMapping } from '../init/index.ts';
import { chooser } from '../report/print/ask.ts';
import { cutTo } from '../report/print/layout.ts';
import { counted, numberText } from '../report/words/numbers.ts';
import { durationText } from '../report/words/times.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { commandOf } from '../settings/program.ts';
import { capital } from '../report/words/terms.ts';
import type { Argv } from './command.ts';
import { init as definition } from './definitions.ts';

/** `crm-backfill init`: writes a commented mapping to stdout or a new file, and what was recognised to stderr. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const given = parseOptions(definition, argv);
  if (given.why !== undefined) {
    for (const line of await explained(given.exports, given.why, given)) console.print(line);
    return EXIT.done;
  }
  const asking = given.yes ? undefined : chooser();
  // What somebody has answered question by question must not end on a screen alone.
  const keeps = asking !== undefined && process.stdout.isTTY && !given.json;
  const options = { ...given, out: given.out ?? (keeps ? besideExports(given.exports) : undefined) };
  const working = showWork(console);
  const start = async (): Promise<StarterMapping> => {
    // What is wrong with the file is said before the questions, not after them.
    if (options.out !== undefined) prepare(options.out);
    return startMapping(options.exports, { ...options, ask: asking?.ask, step: working.step });
  };
  const found = await start().finally(() => {
    working.end();
    asking?.close();
  });
  for (const finding of found.findings) console.say(finding);
  if (options.out !== undefined) await writeNew(options.out, found.text);
  else if (!options.json) console.print(found.text.trimEnd());
  return tell(found, options.out, options.json, console);
}

/** What is left to do, and the next command; the exit code. */
function tell(
  { text, findings, failure, open, sources }: StarterMapping,
  out: string | undefined,
  isJson: boolean | undefined,
  console: Console,
): ExitCode {
  const saved = out ?? 'mapping.yaml';
  const next = commandOf(process.argv, 'run', saved, '--dry-run', '--sandbox');
  if (isJson) {
    const error = failure ? { message: failure.message, hint: failure.hint } : null;
    const told = { out: out ?? null, set_this: open.set, check: open.check, sources, findings, error, next };
    console.printJson(jsonOf({ ...told, ...(out === undefined && { mapping: text }) }));
  }
  const todo = [
    ...(open.set > 0 ? [`decide ${counted(open.set, 'line')} (# set this)`] : []),
    ...(open.check > 0 ? [`check ${numberText(open.check)} guess${open.check === 1 ? '' : 'es'} (# check)`] : []),
  ];
  const done = out === undefined ? `Save it as ${saved}.` : `Wrote ${saved}.`;
  console.say(`${done} ${todo.length > 0 ? `${capital(todo.join(', '))}.` : 'No line is marked.'}`);
  if (failure) {
    console.complain(`error: ${failure.message}`);
    if (failure.hint !== undefined) console.complain(`hint: ${failure.hint}`);
    return failure.exitCode === EXIT.nothingSent ? EXIT.finishedWithErrors : failure.exitCode;
  }
  console.say('Then check every record; nothing is sent:');
  console.say(next, 'command');
  return EXIT.done;
}

/** `acme/acme.yaml` for `acme/contacts.csv`. */
function besideExports([first = '']: readonly string[]): string {
  const folder = dirname(first);
  return join(folder, `${basename(resolve(folder)) || 'mapping'}.yaml`);
}

const UPDATE_EVERY_MS = 250;

/** On a terminal, a line about what is going on, and for how long. At once, because what follows may leave timers no time. */
function showWork(console: Console): { readonly step: (what: string | undefined) => void; readonly end: () => void } {
  const terminal = console.barTerminal;
  let [what, since, isShown]: [string | undefined, number, boolean] = [undefined, 0, false];
  const clear = (): void => {
    if (isShown) terminal?.write('\r\u001b[2K');
    isShown = false;
  };
  const show = (): void => {
    if (what === undefined) return;
    const seconds = Math.floor((performance.now() - since) / 1000);
    clear();
    terminal?.write(cutTo(seconds === 0 ? what : `${what} (${durationText(seconds)})`, console.columns - 1));
    isShown = terminal !== undefined;
  };
  const timer = terminal && setInterval(show, UPDATE_EVERY_MS).unref();
  return {
    step(next) {
      clear();
      [what, since] = [next, performance.now()];
      show();
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}

function prepare(path: string): void {
  if (isThere(path)) throw alreadyThere(path);
  try {
    mkdirSync(dirname(path), { recursive: true });
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw alreadyThere(path);
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): UserError {
  return new UserError(`cannot write ${path}: ${messageOf(error)}`, {
    hint: 'choose another file with --out',
    cause: error,
  });
}

function alreadyThere(path: string): UserError {
  return new UserError(`${path} already exists and was not changed`, { hint: 'choose another file with --out' });
}
