import { statSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../clock.ts';
import { isStateLost, STOPPED, type Halt } from '../halt.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { allowedErrors, countWhere } from '../plan/counts.ts';
import { CHANGES_FILE, writeChanges } from '../plan/known/changes-file.ts';
import { forgetOwnMatches, MATCHES_FILE } from '../plan/account/matches.ts';
import { forgetRun, noteEnd, noteRun } from '../plan/older.ts';
import { rememberShown, readLeft } from '../plan/known/recheck.ts';
import { addProblem } from '../plan/problems.ts';
import { issueOf } from '../report/words/words.ts';
import { readDocument } from '../report/files/documents.ts';
import { writeFile } from '../report/files/error-files.ts';
import type { BestEffort } from '../files/best-effort.ts';
import type { RunLog } from '../files/run-log.ts';
import type { Account } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import type { Limiter } from '../service/limiter.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import { LockRemoved, StateRemoved, type StateDir } from '../files/state-dir.ts';
import { CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import { Commits } from '../store/commits.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import { LOCK_FILE } from '../store/lock.ts';
import type { OpenHistory } from '../store/rate-history.ts';
import type { Database } from '../store/sqlite.ts';
import type { Survey } from '../survey/survey.ts';
import { Deliverer } from './deliver.ts';
import { SendLog } from './log.ts';
import { Outcomes } from './outcomes.ts';
import { reasonOf, Sender } from './sender.ts';
import { haltAt } from './until.ts';

interface SendingJob {
  readonly settings: RunSettings;
  readonly mapping: Mapping;
  readonly state: StateDir;
  readonly target: {
    readonly baseUrl: string;
    readonly client: Client;
    readonly limiter: Limiter;
    readonly account: Account;
    readonly history: Pick<OpenHistory, 'writeIn'>;
  };
  readonly survey: Survey;
  readonly hasher: FieldHasher;
  readonly halt: Halt;
  readonly log: RunLog;
  /** When to stop. */
  readonly until: Date | undefined;
  /** Shows a warning. */
  readonly warn: (message: string) => void;
  readonly bestEffort: BestEffort;
  /** Called before the first event is sent. */
  readonly started: (deliverer: Deliverer) => Promise<void>;
}

/** How often a run that waits looks whether its state directory is still there. */
const LOOK_MS = 5_000;
/** How often `errors.csv` is written while there is something new. */
const WRITE_ERRORS_MS = 60_000;

/**
 * Sends the plan in its order (see plan/order). Returns when every event is settled or `halt` was requested, with nothing in
 * flight. Throws a `UserError` (exit 2) if the state directory cannot be written before the first event.
 */
export async function sendPlan(job: SendingJob): Promise<Sender> {
  const { settings, mapping, state, target, survey, hasher, halt, log, until, bestEffort } = job;
  const { db, compiled } = survey;
  // Otherwise the heap grows to four times what is in use before its garbage is collected, and in Node 24 the part for new objects
  // by 60 MB: peaks of 240 and 340 MB instead of 180 and 210.
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--semi-space-growth-factor=1');
  const path = state.file(CHECKPOINT_FILE);
  const isFirstRun = !settings.adopt && db.get('select 1 from checkpoint.run') === undefined;
  const sendLog = new SendLog(db, hasher);
  const policies = compiled.entries.map((entry) => entry.policies);
  const isCheckpointThere = watchFile(path);
  const lockPath = state.file(LOCK_FILE);
  const isLockThere = watchFile(lockPath);
  const assertInPlace = (): void => {
    if (!isCheckpointThere()) throw new StateRemoved(path);
    if (!isLockThere()) throw new LockRemoved(lockPath);
  };
  const commits = new Commits(db, assertInPlace);
  const { client, limiter, baseUrl, account } = target;
  const { concurrency, adopt: isAdopted } = settings;
  const { migration, sha256: mappingSha256, region } = mapping;
  await commits.commit(() => {
    const inputs = readDocument(db, 'inputs')!;
    sendLog.begin({ migration, baseUrl, account, mappingSha256, inputs, isAdopted });
    rememberShown(db, policies, hasher);
  });
  await commits.commit(() => noteRun(db));
  target.history.writeIn(db, commits);
  const deliverer = new Deliverer({
    ...{ client, limiter, halt, clock: systemClock, concurrency, maxOutageMs: settings.maxOutage, warn: job.warn },
    log: (event, fields) => log.write(event, fields),
  });
  const events = countWhere(survey.states, () => true);
  const recording = { db, commits, halt, isAdopted: sendLog.isAdopted, log: sendLog };
  const outcomes = new Outcomes({
    ...recording,
    maxRejectionsInARow: settings.maxRejectionsInARow,
    maxRejections: allowedErrors(settings.maxErrors, events),
  });
  const sender = new Sender({ ...recording, hasher, policies, deliverer, outcomes, migration, concurrency });
  await job.started(deliverer);
  const stopAlarm = until && haltAt(until, halt);
  const stopLooking = systemClock.every(LOOK_MS, () => {
    try {
      assertInPlace();
    } catch (error) {
      halt.request(reasonOf(error));
    }
  });
  const stopWriting = systemClock.every(WRITE_ERRORS_MS, writeNewErrors(db, state, bestEffort));
  const writing = (): Promise<void> => bestEffort.attempt(CHANGES_FILE, () => writeChanges(db, state));
  const left = { db, commits, hasher, policies, client, concurrency, region, writeChanges: writing };
  try {
    do await sender.sendAll();
    while (!halt.requested && (await readLeft(left)));
  } catch (error) {
    halt.request(reasonOf(error));
  } finally {
    stopAlarm?.();
    stopWriting();
    stopLooking();
    deliverer.close();
  }
  const stopped = halt.reason?.code;
  if (sender.adopted > 0) await bestEffort.attempt(MATCHES_FILE, () => forgetOwnMatches(db, state.file(MATCHES_FILE)));
  if (stopped === STOPPED.unknownHistory && isFirstRun && !outcomes.hasAnswers) forget(db);
  else if (stopped !== STOPPED.notWritten && !isStateLost(stopped)) {
    reportUntried(db);
    noteEnd(db);
  }
  return sender;
}

/** The service knows events that this checkpoint does not: it is left as if this run had not been. */
function forget(db: Database): void {
  db.transaction(() => {
    for (const table of ['record', 'request', 'run', 'migration']) db.run(`delete from checkpoint.${table}`);
    forgetRun(db);
  });
}

/** After a stop: also reports the events that an earlier run saw rejected and that this run did not retry. */
function reportUntried(db: Database): void {
  const untried = db.all<{ event: number; record: number }>(
    `select id as event, record from event where state = 'retry'`,
  );
  for (const about of untried) addProblem(db, about, issueOf('rejected_earlier'));
}

/** Writes `errors.csv` again if there are problems that it lacks. */
function writeNewErrors(db: Database, state: StateDir, bestEffort: BestEffort): () => void {
  const last = (): number => db.get<{ id: number | null }>('select max(id) as id from problem')!.id ?? 0;
  let written = last();
  return () =>
    void bestEffort.attempt('errors.csv', () => {
      const newest = last();
      if (newest > written) writeFile(db, state, 'errors.csv');
      written = newest;
    });
}

/** Whether the file is still the one that it is now: writing to one that was removed or replaced would succeed all the same. */
function watchFile(path: string): () => boolean {
  const inode = (): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
  const ours = inode();
  return () => ours !== undefined && inode() === ours;
}
