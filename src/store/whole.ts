import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { unusable } from './sqlite-errors.ts';
import { Database, type Schema } from './sqlite.ts';

/** The reading of a whole file that goes on beside other work. */
interface WholeCheck {
  /** Settles once all of the file has been read. Rejects with a `UserError` (exit 2) if a page or an index is damaged. */
  readonly whole: Promise<void>;
  /** Ends the reading, finished or not. */
  stop(): void;
}

/** Up to this size a file is read faster than a process starts. */
const SMALL_BYTES = 8 * 2 ** 20;

/**
 * Reads a whole database, so that a survey can go on meanwhile: a million requests and as many records are 7 s of reading. A process and
 * not a thread, because the engine aborts the program if its thread is ended while it reads. Throws a `UserError` if a small file is
 * damaged.
 */
export function checkWhole(path: string, schema: Schema): WholeCheck {
  if (statSync(path).size <= SMALL_BYTES) {
    Database.ask(path, schema, (db) => db.assertWhole(schema.name));
    return { whole: Promise.resolve(), stop: () => undefined };
  }
  const engine = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  // Without the environment, which has secrets.
  const reader = spawn(process.execPath, ['-e', READER, engine, path], {
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const whole = Promise.all([text(reader.stdout), once(reader, 'close')]).then(([found]) => {
    if (found !== 'ok') throw unusable(path, 'it is damaged', { cause: found });
  });
  // It is awaited before anything is sent. Until then, a failure is kept.
  whole.catch(() => undefined);
  return { whole, stop: () => void reader.kill('SIGKILL') };
}

/** Some damage ends the check itself, with an error or with the process: then it does not print `ok`. */
const READER = `
const [engine, path] = process.argv.slice(1);
const { DatabaseSync } = require(engine);
const db = new DatabaseSync(path, { readOnly: true });
db.exec('pragma busy_timeout = 10000');
process.stdout.write(db.prepare('pragma integrity_check(1)').get().integrity_check);
`;
