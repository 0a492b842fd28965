import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
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
import { closingAfter } from '../run/held-state.ts';
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
  return closingAfter(async (atEnd) => {
    const purges: Purge[] = [];
    for (const each of [state, ...(rehearsals && isOurs(rehearsals) ? [rehearsals] : [])]) {
      const lock = Lock.acquire(each);
      atEnd(() => lock.release());
      const purge = purgeOf(each);
      const isNeeded = purge.found.length > 0 || purge.hasKey;
      console.say(isNeeded ? listText(purge) : `nothing to delete in ${shortPath(each.path)}`);
      if (!isNeeded) continue;
      const unsent = unsentIn(each);
      if (unsent !== undefined) console.complain(`warning: ${unsent}`);
      nameHolder(each, 'purge');
      purges.push(purge);
    }
    const isDone = purges.length === 0 || settings.yes || (await confirmed());
    if (isDone) await Promise.all(purges.map(purgeAll));
    if (!isDone || purges.length > 0) console.say(isDone ? 'deleted' : 'nothing was deleted');
    const directories = purges.map(({ state: { path }, found: deleted, kept, hasKey: key_deleted }) => ({
      ...{ path, deleted, kept, key_deleted },
    }));
    if (settings.json) console.printJson(jsonOf({ directories: isDone ? directories : [] }));
    return isDone ? EXIT.done : EXIT.nothingSent;
  });
}

async function confirmed(): Promise<boolean> {
  const ask = confirmer();
  if (ask) return ask('Delete? This cannot be undone.');
  throw new UserError('nothing was deleted: cannot ask for confirmation without a terminal', {
    hint: 'add --yes to delete these files',
  });
}

/** What purge does with one state directory. `hasKey`: in a checkpoint that is kept. */
type Purge = ReturnType<typeof purgeOf>;

function purgeOf(state: StateDir) {
  const names = readdirSync(state.path).filter((name) => baseOf(name) !== LOCK_FILE);
  // Without the records of its sandbox, what was sent to it says nothing.
  const isRehearsal = names.includes(JOURNAL_FILE);
  const found = names.filter((name) => isPurged(name) || (isRehearsal && baseOf(name) === CHECKPOINT_FILE));
  const kept = names.filter((name) => !found.includes(name));
  return { state, found, kept, hasKey: kept.includes(CHECKPOINT_FILE) && hasKey(state) };
}

function listText({ state, found, kept, hasKey: isKeyed }: Purge): string {
  const deleted = [...found, ...(isKeyed ? [`the key of the hashes in ${CHECKPOINT_FILE}`] : [])];
  const foreign = kept.filter((name) => !isStateFile(name));
  return [
    `in ${shortPath(state.path)}:`,
    `  to delete: ${deleted.join(', ')}`,
    `  to keep: ${kept.filter(isStateFile).join(', ')}`,
    ...(foreign.length === 0 ? [] : [`  not written by this program, and kept: ${foreign.join(', ')}`]),
  ].join('\n');
}

async function purgeAll({ state, found, hasKey: isKeyed }: Purge): Promise<void> {
  for (const name of found) await deleteFrom(state, name);
  if (isKeyed) forgetValues(state);
}

/** Throws a `UserError` if it cannot be deleted. */
export async function deleteFrom(state: StateDir, name: string): Promise<void> {
  await rm(state.file(name), { recursive: true, force: true }).catch((error: unknown) => {
    throw cannotWrite(state.file(name), error);
  });
}

/** What is lost with the plan: events that were not accepted, or not sent yet. */
function unsentIn(state: StateDir): string | undefined {
  try {
    const db = readState(state);
    const counts = db.all<{ text: string }>(
      `select count(*) || ' ' || state as text from events where state not in ('acknowledged', 'duplicate') group by state`,
    );
    db.close();
    return counts.length === 0
      ? undefined
      : `not every event has arrived: ${counts.map(({ text }) => text).join(', ')}`;
  } catch (error) {
    // A damaged plan can be deleted all the same.
    if (!(error instanceof UserError)) throw error;
    return `${error.message}, so it is unknown whether every event has arrived`;
  }
}

const DATABASES = [
  ...([
    [CHECKPOINT_FILE, CHECKPOINT],
    [PLAN_FILE, PLAN],
  ] as const),
  [`${DRY_RUN}/${PLAN_FILE}`, PLAN] as const,
];

/** Whether this program has used the directory: files of these names may be anybody's. */
function isOurs(state: StateDir): boolean {
  return DATABASES.some(([name, schema]) => {
    try {
      return Database.ask(state.file(name), schema, () => true);
    } catch (error) {
      if (error instanceof UserError) return false;
      throw error;
    }
  });
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
