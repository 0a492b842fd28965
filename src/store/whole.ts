import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { unusable } from './sqlite-errors.ts';

/** The reading of a whole file that goes on beside other work. */
export interface WholeCheck {
  /** Settles once all of the file has been read. Rejects with a `UserError` (exit 2) if a page or an index is damaged. */
  readonly whole: Promise<void>;
  /** Ends the reading, finished or not. */
  stop(): Promise<void>;
}

/** Text, because a worker of Node 20 cannot load TypeScript when the sources are run. */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require(workerData.engine);
let found;
try {
  const db = new DatabaseSync(workerData.path, { readOnly: true });
  db.exec('pragma busy_timeout = 10000');
  found = db.prepare('pragma integrity_check(1)').get().integrity_check;
  db.close();
} catch (error) {
  // Some damage ends the check itself.
  found = error instanceof Error ? error.message : String(error);
}
parentPort.postMessage(found);
`;

/**
 * Reads a whole database with a connection and a thread of its own, so that a survey can go on meanwhile. A million requests and as
 * many records are 7 s of reading.
 */
export function checkWhole(path: string): WholeCheck {
  const engine = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  const worker = new Worker(READER, { eval: true, workerData: { engine, path }, execArgv: [] });
  const whole = once(worker, 'message').then(([found]: unknown[]) => {
    if (found !== 'ok') throw unusable(path, 'it is damaged', { cause: found });
  });
  // It is awaited before anything is sent. Until then a failure is nobody's.
  whole.catch(() => undefined);
  return {
    whole,
    stop: async () => {
      await worker.terminate();
    },
  };
}
