import type { Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import type { RateHistory } from '../service/recent-answers.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from './checkpoint-schema.ts';
import { Database } from './sqlite.ts';

/** Earlier runs are recorded again up to this age. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const MOST_KEPT = 2_000;

/** Names of settings. */
const REQUESTS = 'requests';
const EARLIER = 'earlier_requests';
const PAUSE = 'pause';

/** What a 429 asked for. */
interface StoredPause {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly ms: number;
}

interface Stored {
  /** Milliseconds since 1970. */
  readonly answered: readonly number[];
  readonly in_flight: number;
  readonly limit?: number | undefined;
  /** When it was written: milliseconds since 1970, and since the machine started. */
  readonly at?: { readonly wall: number; readonly up: number } | undefined;
}

type Files = Readonly<Record<'file', (name: string) => string>>;

/**
 * The times of the last requests, in the checkpoint of a run, or in one beside the plan of a dry run, which may go on at the same
 * time as a run. `other`: the directory whose history of the same API key is only read. Throws a `UserError`.
 */
export function openRateHistory(output: Files, clock: Clock, other?: Files): RateHistory & { close(): void } {
  // A connection of its own, whose commits do not wait for the disk.
  const db = Database.open(output.file(CHECKPOINT_FILE), CHECKPOINT);
  db.exec('pragma checkpoint.journal_mode = wal; pragma checkpoint.synchronous = normal; pragma busy_timeout = 50');
  const now = clock.wall();
  const [earlier, elsewhere] = [storedIn(db), other ? storedAt(other) : undefined];
  const store = (name: string, value: Stored | StoredPause): void => {
    if (!db.isOpen) return;
    try {
      db.run('insert or replace into setting (name, value) values (?, ?)', name, JSON.stringify(value));
    } catch {
      // Without a history, a restart at worst causes a few 429 answers.
    }
  };
  const ours = timesOf(earlier, now, clock.uptime());
  const kept = ours.filter((at) => at > now - KEPT_MS).slice(-MOST_KEPT);
  let isKept = false;
  return {
    load: () => [...ours, ...timesOf(elsewhere, now, clock.uptime())].sort((a, b) => a - b),
    limit: earlier?.requests?.limit ?? elsewhere?.requests?.limit,
    pauseMs: Math.max(pauseOf(earlier, now), pauseOf(elsewhere, now)),
    record: (answered, inFlight, limit) => {
      // Once: what is written for every request must be small, since a reader may keep the engine from reusing its log.
      if (!isKept) store(EARLIER, { answered: kept, in_flight: 0 });
      isKept = true;
      store(REQUESTS, { answered, in_flight: inFlight, limit, at: { wall: clock.wall(), up: clock.uptime() } });
    },
    pause: (ms) => store(PAUSE, { from: clock.wall(), ms }),
    close: () => db.close(),
  };
}

interface Earlier {
  /** Of the last run. */
  readonly requests: Stored | undefined;
  /** Of runs before it. */
  readonly before: Stored | undefined;
  readonly pause: StoredPause | undefined;
}

function storedAt(other: Files): Earlier | undefined {
  try {
    const db = Database.read(other.file(CHECKPOINT_FILE), CHECKPOINT);
    const stored = db && storedIn(db);
    db?.close();
    return stored;
  } catch (error) {
    // A damaged checkpoint is told by those who need it.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function storedIn(db: Database): Earlier {
  const stored = <T>(name: string): T | undefined => {
    const value = db.get<{ value: string }>('select value from setting where name = ?', name)?.value;
    return value === undefined ? undefined : (JSON.parse(value) as T);
  };
  return { requests: stored<Stored>(REQUESTS), before: stored<Stored>(EARLIER), pause: stored<StoredPause>(PAUSE) };
}

/**
 * Times in the future count as now, because the clock has been set back since; so do requests that were in flight. Where it was set
 * forward, the time since the machine started says how long ago they were at least.
 */
function timesOf(earlier: Earlier | undefined, now: number, up: number): number[] {
  const { answered = [], in_flight: inFlight = 0, at } = earlier?.requests ?? {};
  const all = [...(earlier?.before?.answered ?? []), ...answered];
  const passed = at && (up >= at.up ? up - at.up : up);
  const forward = at && passed !== undefined ? Math.max(0, now - at.wall - passed) : 0;
  return [...all.map((each) => Math.min(now, each + forward)), ...Array<number>(inFlight).fill(now)];
}

/** What is left of the pause; all of it if the clock has been set back since. */
function pauseOf(earlier: Earlier | undefined, now: number): number {
  const { from = now, ms = 0 } = earlier?.pause ?? {};
  return Math.max(0, ms - Math.max(0, now - from));
}
