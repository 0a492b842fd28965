import { readdir, rm } from 'node:fs/promises';
import { cannotWrite, EXIT, type ExitCode, UserError } from '../errors.ts';
import { shortPath } from '../files/paths.ts';
import { RUN_LOG_FILE } from '../files/run-log.ts';
import { DRY_RUN, StateDir } from '../files/state-dir.ts';
import { PILOT_FILE } from '../report/files/pilot.ts';
import { REJECTS } from '../report/files/rejects.ts';
import { REPORT_FILE } from '../report/figures/summary.ts';
import { VERIFY_FILE } from '../report/figures/verification.ts';
import { confirmer } from '../report/print/ask.ts';
import type { Console } from '../report/print/console.ts';
import { jsonOf } from '../report/print/json.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import { forgetValues, hasKey } from '../store/forget.ts';
import { Lock, LOCK_FILE, nameHolder } from '../store/lock.ts';
import { readState } from '../store/open.ts';
import { PLAN, PLAN_FILE } from '../store/plan-schema.ts';
import { Database } from '../store/sqlite.ts';
import type { Argv } from './command.ts';
import { purge as definition } from './definitions.ts';
import { existingState } from './state.ts';

const JOURNAL_FILE = 'sandbox.ndjson';
/** The files with field values of records, or names of people. */
const PERSONAL: readonly string[] = [
  ...[PLAN_FILE, DRY_RUN, REJECTS, PILOT_FILE, VERIFY_FILE, REPORT_FILE, JOURNAL_FILE],
  ...['errors.csv', 'left_out.csv', 'references.csv', 'changes.csv', 'matches.csv'],
];
/** External ids at most. Without the checkpoint, a rerun would send everything again. */
const KEPT: readonly string[] = [CHECKPOINT_FILE, RUN_LOG_FILE, 'ids.csv', 'gone.csv'];
const KEY = `the key of the hashes in ${CHECKPOINT_FILE}`;

/** What purge does with one state directory. */
interface Purge {
  readonly state: StateDir;
  readonly found: readonly string[];
  readonly kept: readonly string[];
  /** In a checkpoint that is kept. */
  readonly hasKey: boolean;
}

/**
 * `crm-backfill purge`: deletes the files that contain personal data from the state directory of a mapping and from that of its rehearsals,
 * and lists what it deletes and keeps.
 */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const state = await existingState(settings);
  if (!isOurs(state)) {
    throw new UserError(`${shortPath(state.path)} is not a state directory: it has no database of this program`, {
      hint: 'nothing was deleted; give the state directory of the migration with --state DIR',
    });
  }
  const isAlone = settings.sandbox || settings.state !== undefined;
  const rehearsals = isAlone ? undefined : StateDir.find(`${state.path}.sandbox`);
  const locks: Lock[] = [];
  try {
    const purges: Purge[] = [];
    for (const each of [state, ...(rehearsals && isOurs(rehearsals) ? [rehearsals] : [])]) {
      locks.push(Lock.acquire(each));
      const purge = await listed(each, console);
      if (!purge) continue;
      nameHolder(each, 'purge');
      purges.push(purge);
    }
    const isDone = purges.length === 0 || settings.yes || (await confirmed());
    if (!isDone) console.say('nothing was deleted');
    else for (const each of purges) await purgeAll(each);
    if (isDone && purges.length > 0) console.say('deleted');
    if (settings.json) {
      const directories = purges.map((each) => ({
        ...{ path: each.state.path, deleted: each.found, kept: each.kept, key_deleted: each.hasKey },
      }));
      console.printJson(jsonOf({ directories: isDone ? directories : [] }));
    }
    return isDone ? EXIT.done : EXIT.nothingSent;
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Says what is to be deleted and kept; undefined if nothing is to be deleted. */
async function listed(state: StateDir, console: Console): Promise<Purge | undefined> {
  const names = (await readdir(state.path)).filter((name) => baseOf(name) !== LOCK_FILE);
  // Without the records of its sandbox, what was sent to it says nothing.
  const isRehearsal = names.includes(JOURNAL_FILE);
  const found = names.filter((name) => isPurged(name) || (isRehearsal && baseOf(name) === CHECKPOINT_FILE));
  const kept = names.filter((name) => !found.includes(name));
  const purge = { state, found, kept, hasKey: kept.includes(CHECKPOINT_FILE) && hasKey(state) };
  const deleted = [...found, ...(purge.hasKey ? [KEY] : [])];
  if (deleted.length === 0) {
    console.say(`nothing to delete in ${shortPath(state.path)}`);
    return undefined;
  }
  const foreign = kept.filter((name) => !isStateFile(name));
  const and = foreign.length === 0 ? '' : `\n  not written by this program, and kept: ${foreign.join(', ')}`;
  console.say(
    `in ${shortPath(state.path)}:\n  to delete: ${deleted.join(', ')}\n  to keep: ${kept.filter(isStateFile).join(', ')}${and}`,
  );
  const unsent = unsentIn(state);
  if (unsent !== undefined) console.complain(`warning: ${unsent}`);
  return purge;
}

async function purgeAll({ state, found, hasKey: isKeyed }: Purge): Promise<void> {
  for (const name of found) {
    await rm(state.file(name), { recursive: true, force: true }).catch((error: unknown) => {
      throw cannotWrite(state.file(name), error);
    });
  }
  if (isKeyed) forgetValues(state);
}

/** What is lost with the plan: events that were not accepted, or not sent yet. */
function unsentIn(state: StateDir): string | undefined {
  try {
    const db = readState(state);
    const counts = db.all<{ count: number; state: string }>(
      `select count(*) as count, state from events where state not in ('acknowledged', 'duplicate') group by state`,
    );
    db.close();
    if (counts.length === 0) return undefined;
    return `not every event has arrived: ${counts.map((each) => `${each.count} ${each.state}`).join(', ')}`;
  } catch (error) {
    // A damaged plan can be deleted all the same.
    if (!(error instanceof UserError)) throw error;
    return `${error.message}, so it is unknown whether every event has arrived`;
  }
}

/** Whether this program has used the directory: files of these names may be anybody's. */
function isOurs(state: StateDir): boolean {
  const isDatabase = (path: string, schema: typeof PLAN): boolean => {
    try {
      return Database.ask(path, schema, () => true) ?? false;
    } catch (error) {
      if (error instanceof UserError) return false;
      throw error;
    }
  };
  const plans = [state.file(PLAN_FILE), `${state.file(DRY_RUN)}/${PLAN_FILE}`];
  return isDatabase(state.file(CHECKPOINT_FILE), CHECKPOINT) || plans.some((path) => isDatabase(path, PLAN));
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
  return PERSONAL.includes(baseOf(name)) || KEPT.includes(baseOf(name));
}

/** Whether it has values of records. */
export function isPurged(name: string): boolean {
  return PERSONAL.includes(baseOf(name));
}

async function confirmed(): Promise<boolean> {
  const ask = confirmer();
  if (ask) return ask('Delete? This cannot be undone.');
  throw new UserError('nothing was deleted: cannot ask for confirmation without a terminal', {
    hint: 'add --yes to delete these files',
  });
}
