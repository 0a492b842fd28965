import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Console } from '../report/print/console.ts';
import { cannotWrite, EXIT, type ExitCode, UserError } from '../errors.ts';
import { Lock, LOCK_FILE } from '../store/lock.ts';
import { counted } from '../report/words/numbers.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { isThere } from '../files/private-file.ts';
import { REPORT_FILE } from '../report/figures/summary.ts';
import { isRunLog, RUN_LOG_FILE } from '../files/run-log.ts';
import { DRY_RUN, StateDir } from '../files/state-dir.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import { readState } from '../store/open.ts';
import { PLAN, PLAN_FILE } from '../store/plan-schema.ts';
import { Database, type Schema } from '../store/sqlite.ts';
import { VERIFY_FILE } from './verify/differences.ts';
import { jsonOf } from '../report/print/json.ts';
import { existingState } from './state.ts';
import type { Argv } from './command.ts';
import { purge as definition } from './definitions.ts';
import { confirmer } from '../report/print/ask.ts';
import { shortPath } from '../files/paths.ts';

/** The files that contain field values of records or names of people, and what they contain. */
const PERSONAL: Readonly<Record<string, string>> = {
  [PLAN_FILE]: 'every event with its values; a dry run writes it again',
  'errors.csv': 'messages that quote values',
  rejects: 'original records',
  'left_out.csv': 'values that were left out',
  'references.csv': "names of the account's users",
  'pilot.csv': 'values of the records of the pilot',
  [VERIFY_FILE]: 'values sent and found',
  [DRY_RUN]: 'the same files, from the last dry run',
  [REPORT_FILE]: 'may quote values; `report` writes it again',
  'changes.csv': 'values in the service and in the export',
  'matches.csv': 'names of leads of the account',
};

/** With its records, what was sent to it says nothing. */
const SANDBOX_FILE = 'sandbox.ndjson';
const REHEARSAL: Readonly<Record<string, string>> = {
  [SANDBOX_FILE]: 'the records of the rehearsal',
  [CHECKPOINT_FILE]: 'what was sent to the sandbox; the next rehearsal starts over',
};

const KEPT: Readonly<Record<string, string>> = {
  [CHECKPOINT_FILE]:
    'external ids (for a comment without one, the hash of its text) and hashes of what was sent; without this file, a rerun would send everything again',
  'gone.csv': 'external ids and ids in the service',
  'ids.csv': 'external ids and ids in the service',
  [RUN_LOG_FILE]: 'external ids only',
};

/** What purge does with one state directory. */
interface Purge {
  readonly state: StateDir;
  readonly found: readonly string[];
  readonly kept: readonly string[];
  readonly hasKey: boolean;
}

/**
 * `crm-backfill purge`: deletes the files that contain personal data from the state directory of a mapping and from that of its rehearsals,
 * and lists what it deletes and keeps.
 */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const state = await existingState(settings);
  if (!(await isOurs(state))) {
    throw new UserError(
      `${shortPath(state.path)} is not a state directory: it has no checkpoint, plan or log of this program`,
      {
        hint: 'nothing was deleted; give the state directory of the migration with --state DIR',
      },
    );
  }
  const rehearsals =
    settings.sandbox || settings.state !== undefined ? undefined : StateDir.find(`${state.path}.sandbox`);
  const states = [state, ...(rehearsals && (await isOurs(rehearsals)) ? [rehearsals] : [])];
  const locks: Lock[] = [];
  try {
    for (const each of states) locks.push(Lock.acquire(each));
    const purges: Purge[] = [];
    for (const each of states) {
      const purge = await listed(each, console);
      if (purge) purges.push(purge);
    }
    for (const each of purges) warnOfTheUnsent(each.state, console);
    const isDone = purges.length === 0 || settings.yes || (await confirmed());
    if (!isDone) console.say('nothing was deleted');
    else for (const each of purges) await purgeAll(each, console);
    if (settings.json) console.printJson(jsonOf({ directories: isDone ? purges.map(purgedJson) : [] }));
    return isDone ? EXIT.done : EXIT.nothingSent;
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Says what is to be deleted and kept; undefined if nothing is to be deleted. */
async function listed(state: StateDir, console: Console): Promise<Purge | undefined> {
  const names = (await readdir(state.path)).filter((name) => !isLock(name));
  const personal = names.includes(SANDBOX_FILE) ? { ...PERSONAL, ...REHEARSAL } : PERSONAL;
  const found = names.filter((name) => personal[baseOf(name)] !== undefined);
  const hasKey = !found.includes(CHECKPOINT_FILE) && storedKey(state) !== undefined;
  if (found.length === 0 && !hasKey) {
    console.say(`nothing to delete in ${shortPath(state.path)}`);
    return undefined;
  }
  console.say(`in ${shortPath(state.path)}:`);
  for (const name of found) console.say(`  to delete  ${name}: ${personal[baseOf(name)]}`);
  if (hasKey) {
    console.say(
      `  to delete  the key of the hashes in ${CHECKPOINT_FILE} and the ids of requests; without them, nobody can guess values from the hashes`,
    );
  }
  const kept = names.filter((each) => !found.includes(each));
  for (const name of kept) {
    console.say(`  to keep    ${name}: ${KEPT[baseOf(name)] ?? 'not written by this program'}`);
  }
  return { state, found, kept, hasKey };
}

function purgedJson({ state, found, kept, hasKey }: Purge): object {
  return { path: state.path, deleted: found, kept, key_deleted: hasKey };
}

async function purgeAll({ state, found, hasKey }: Purge, console: Console): Promise<void> {
  for (const name of found) {
    await rm(state.file(name), { recursive: true, force: true }).catch((error: unknown) => {
      throw cannotWrite(state.file(name), error);
    });
  }
  if (!found.includes(CHECKPOINT_FILE)) forgetKey(state);
  console.say(`deleted ${[...found, ...(hasKey ? ['the key of the hashes'] : [])].join(', ')}`);
}

function warnOfTheUnsent(state: StateDir, console: Console): void {
  if (!isThere(state.file(PLAN_FILE))) return;
  try {
    const { failed, pending } = unsentIn(state);
    if (failed > 0) {
      console.complain(`warning: ${counted(failed, 'event')} not accepted; the rejected records are deleted too`);
    }
    if (pending > 0) console.complain(`warning: ${counted(pending, 'event')} not sent yet; the job is not finished`);
  } catch (error) {
    // A damaged plan can be deleted all the same.
    if (!(error instanceof UserError)) throw error;
    console.complain(`warning: ${error.message}, so unsent events cannot be counted`);
  }
}

function unsentIn(state: StateDir): { readonly failed: number; readonly pending: number } {
  const db = readState(state);
  try {
    return db.get<{ failed: number; pending: number }>(
      `select count(*) filter (where state in ('invalid', 'rejected', 'blocked')) as failed,
        count(*) filter (where state = 'pending') as pending from events`,
    )!;
  } finally {
    db.close();
  }
}

function storedKey(state: StateDir): string | undefined {
  const db = Database.read(state.file(CHECKPOINT_FILE), CHECKPOINT);
  try {
    return db?.get<{ value: string }>(`select value from setting where name = 'field_key'`)?.value;
  } finally {
    db?.close();
  }
}

/**
 * What a value could be guessed by beside the key of the hashes: hashes and ids that are made without it from all that was sent of a
 * record (`core/identity`), and the hashes of the exports and of the plan.
 */
const FORGET = `
  delete from checkpoint.setting where name = 'verification';
  update checkpoint.record set content = null, rejected = null, missing = null, creation = null, open = null;
  update checkpoint.request set id = 'purged ' || n;
  update checkpoint.run set inputs = '[]'`;

/**
 * Overwrites the key, also in the write-ahead log, where a deletion would leave it. Throws a `UserError` (exit 1) while another
 * program reads, which keeps the log: before the deletion, so that a rerun finds the key again.
 */
function forgetKey(state: StateDir): void {
  const path = state.file(CHECKPOINT_FILE);
  const db = Database.open(path, CHECKPOINT);
  const emptyLog = (): void => {
    if (db.get<{ busy: number }>('pragma checkpoint.wal_checkpoint(truncate)')!.busy === 0) return;
    throw new UserError(`another program is reading ${path}, so the key of the hashes may still be in ${path}-wal`, {
      hint: 'close that program and purge again; everything else is deleted',
      exitCode: EXIT.finishedWithErrors,
    });
  };
  try {
    db.exec('pragma checkpoint.secure_delete = on');
    emptyLog();
    db.transaction(() => db.exec(FORGET));
    // Also what was overwritten before. The key goes last: while it is there, a purge that was killed is done again.
    db.exec('vacuum checkpoint');
    db.run(`delete from checkpoint.setting where name = 'field_key'`);
    emptyLog();
  } finally {
    db.close();
  }
}

/** Whether this program has used the directory: files of these names may be anybody's. */
async function isOurs(state: StateDir): Promise<boolean> {
  const plans = [PLAN_FILE, join(DRY_RUN, PLAN_FILE)];
  if (isDatabase(state.file(CHECKPOINT_FILE), CHECKPOINT)) return true;
  if (plans.some((name) => isDatabase(state.file(name), PLAN))) return true;
  const logs = [RUN_LOG_FILE, join(DRY_RUN, RUN_LOG_FILE)];
  const found = await Promise.all(logs.map((name) => isRunLog(state.file(name))));
  return found.includes(true);
}

function isDatabase(path: string, schema: Schema): boolean {
  try {
    const db = Database.read(path, schema);
    db?.close();
    return db !== undefined;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

function isLock(name: string): boolean {
  return baseOf(name) === LOCK_FILE;
}

/** An incomplete file left by a crash, one written beside another, and what SQLite keeps beside a database count as that one. */
function baseOf(name: string): string {
  return name
    .replace(/-(?:wal|shm|journal)$/, '')
    .replace(/(?:\.[0-9a-f]{8})?\.(?:tmp|old)$/, '')
    .replace(/^(references|pilot)\.\d+\.csv$/, '$1.csv');
}

/** Whether the program writes a file or directory of this name into a state directory. */
export function isStateFile(name: string): boolean {
  return [PERSONAL, REHEARSAL, KEPT].some((files) => files[baseOf(name)] !== undefined);
}

/** Whether `purge` deletes it from the state of a rehearsal. */
export function isPurged(name: string): boolean {
  return [PERSONAL, REHEARSAL].some((files) => files[baseOf(name)] !== undefined);
}

async function confirmed(): Promise<boolean> {
  const ask = confirmer();
  if (ask) return ask('Delete? This cannot be undone.');
  throw new UserError('nothing was deleted: cannot ask for confirmation without a terminal', {
    hint: 'add --yes to delete these files',
  });
}
