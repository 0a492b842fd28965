import { readdir } from 'node:fs/promises';
import { SANDBOX, type Credentials } from '../settings/credentials.ts';
import { UserError } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import { isThere } from '../files/private-file.ts';
import { storedAccountOf } from '../run/connect.ts';
import type { Redactor } from '../redact.ts';
import { startSandbox } from '../sandbox/index.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import { Lock } from '../store/lock.ts';
import { StateDir, statePath } from '../files/state-dir.ts';
import { storedBinding } from '../store/checkpoint.ts';
import { deleteFrom, isPurged, isStateFile } from './purge.ts';
import { shortPath } from '../files/paths.ts';

const JOURNAL_FILE = 'sandbox.ndjson';

interface Rehearsal {
  readonly credentials: Credentials;
  /** Whether its pipelines and users are those of an example: no run of this mapping has read an account yet. */
  readonly isExample: boolean;
  close(): Promise<void>;
}

/**
 * Starts the embedded sandbox for `--sandbox`, with the account that an earlier run of this mapping stored, if any, and the
 * records of the last rehearsal, which are kept next to its checkpoint, unless `fresh` starts it over. The sandbox enforces
 * `--rate`.
 */
export async function startRehearsal(
  settings: Pick<RunSettings, 'mapping' | 'state' | 'rate'> & Partial<Pick<RunSettings, 'fresh'>>,
  redactor: Redactor,
): Promise<Rehearsal> {
  const mapping = await loadMapping(settings.mapping, { sources: new Map() });
  const state = await StateDir.create(statePath(settings, mapping, '.sandbox'));
  if (settings.fresh) await startOver(state);
  const real = StateDir.find(statePath({ mapping: settings.mapping }, mapping, ''));
  const stored = real && storedAccountOf(real);
  const sandbox = await startSandbox({
    ...(stored ? { account: { pipelines: stored.pipelines, users: stored.users } } : {}),
    rate: settings.rate,
    journal: state.file(JOURNAL_FILE),
  });
  const { baseUrl, apiKey, ingestToken } = sandbox;
  redactor.add(apiKey, ingestToken);
  return {
    credentials: { baseUrl, boundTo: SANDBOX, apiKey, ingestToken },
    isExample: stored === undefined,
    close: () => sandbox.close(),
  };
}

/**
 * Deletes what the program wrote into the state directory of a rehearsal. Throws a `UserError` if it is not one, or if a run
 * is using it. Files of `rejects/` may have been corrected by hand: the next run replaces those that are as it wrote them.
 */
async function startOver(state: StateDir): Promise<void> {
  const names = (await readdir(state.path)).filter((name) => isStateFile(name) && name !== 'rejects');
  // What `purge` keeps of a rehearsal has nothing to start over.
  if (!names.some(isPurged)) return;
  const header = storedBinding(state);
  if (header ? header.base_url !== SANDBOX : !isThere(state.file(JOURNAL_FILE))) {
    const what = header ? `the state of a migration to ${header.base_url}` : 'not the state of a rehearsal';
    throw new UserError(`${shortPath(state.path)} is ${what}; --fresh has deleted nothing`, {
      hint: 'only the state of a rehearsal can be started over: check --state',
    });
  }
  const lock = Lock.acquire(state);
  try {
    for (const name of names) await deleteFrom(state, name);
  } finally {
    lock.release();
  }
}
