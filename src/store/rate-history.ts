import type { Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import type { RateHistory } from '../service/recent-answers.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from './checkpoint-schema.ts';
import { Commits } from './commits.ts';
import { readSetting, storeSetting } from './setting.ts';
import { Database } from './sqlite.ts';

/** Requests of earlier runs are kept up to this age. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** The latest ones; a row is used again, so that the table does not grow. */
const MOST_KEPT = 2_000;

/** Asking for the uptime opens a file on some systems, which would be felt if it were done for every request. */
const LOOK_MS = 100;

/** Names of settings. */
const LIMIT = 'limit';
const PAUSE = 'pause';

/** What a 429 asked for. */
interface StoredPause {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly ms: number;
}

/** Milliseconds since 1970, and since the machine started; null while the request is on its way. */
interface StoredAnswer {
  readonly wall: number | null;
  readonly up: number | null;
}

interface Earlier {
  readonly answers: readonly StoredAnswer[];
  readonly limit: number | undefined;
  readonly pause: StoredPause | undefined;
}

type Files = Readonly<Record<'file', (name: string) => string>>;

export interface OpenHistory extends RateHistory {
  /** From now on it is written in the commits of a run that sends: two connections would drop each other's pages at each commit. */
  writeIn(db: Database, commits: Commits): void;
  close(): void;
}

export interface HistoryOptions {
  /** The directory whose history of the same API key is only read. */
  readonly other?: Files | undefined;
  /** For a few requests while a run may be going on: it has the rest of the window, and learns of them when it is started next. */
  readonly isBeside?: boolean;
}

/**
 * The times of the last requests, in the checkpoint of a run, or in one beside the plan of a dry run, which may go on at the same
 * time as a run. Throws a `UserError`.
 */
export function openRateHistory(
  output: Files,
  clock: Clock,
  { other, isBeside = false }: HistoryOptions = {},
): OpenHistory {
  // A connection of its own, whose commits do not wait for the disk.
  const own = Database.open(output.file(CHECKPOINT_FILE), CHECKPOINT);
  own.exec('pragma checkpoint.journal_mode = wal; pragma checkpoint.synchronous = normal; pragma busy_timeout = 50');
  const [earlier, elsewhere] = [storedIn(own), other ? storedAt(other) : undefined];
  const now = clock.wall();
  const ours = timesOf(earlier, clock);
  const ownCommits = new Commits(own);
  let [db, commits] = [own, ownCommits];
  // Without a history, a restart at worst causes a few 429 answers.
  const attempt = (write: () => void): void => void commits.commit(write).catch(() => undefined);
  const set = (name: string, value: unknown): void =>
    attempt(() => storeSetting(db, name, JSON.stringify(value), 'checkpoint'));
  let started = { lookedAt: -Infinity, wall: 0 };
  /** When the machine started, by the wall clock. */
  const startedAt = (): number => {
    const lookedAt = clock.monotonic();
    if (lookedAt >= started.lookedAt + LOOK_MS) started = { lookedAt, wall: clock.wall() - clock.uptime() };
    return started.wall;
  };
  /** One row, since a reader may keep the engine from reusing the log of what is written for every request. */
  const write = (n: number, wall: number | null): number =>
    db.run(
      'insert or replace into checkpoint.answer (n, wall, up) values (?, ?, ?)',
      n % MOST_KEPT,
      wall,
      wall === null ? null : wall - startedAt(),
    );
  const close = (): void => {
    ownCommits.flush();
    own.close();
  };
  const kept = ours.filter((each) => each > now - KEPT_MS).slice(-MOST_KEPT);
  const keep = (): void => {
    db.run('delete from checkpoint.answer');
    for (const [n, at] of kept.entries()) write(n, at);
  };
  // A run has the numbers from 0 on for itself.
  const least = isBeside ? db.get<{ n: number }>('select coalesce(min(n), 0) as n from checkpoint.answer')!.n : 0;
  let next = isBeside ? Math.min(0, least) - 1 : 0;
  return {
    load: () => (isBeside ? [] : [...ours, ...timesOf(elsewhere, clock)].sort((a, b) => a - b)),
    limit: earlier.limit ?? elsewhere?.limit,
    pauseMs: Math.max(pauseOf(earlier, now), pauseOf(elsewhere, now)),
    send: () => {
      if (next === 0) {
        attempt(keep);
        next = kept.length;
      }
      const n = isBeside ? next-- : next++;
      attempt(() => write(n, null));
      return () => {
        const at = clock.wall();
        attempt(() => write(n, at));
      };
    },
    limitIs: (limit) => set(LIMIT, limit),
    pause: (ms) => set(PAUSE, { from: clock.wall(), ms } satisfies StoredPause),
    writeIn: (...into) => {
      close();
      [db, commits] = into;
    },
    close,
  };
}

function storedAt(other: Files): Earlier | undefined {
  try {
    return Database.ask(other.file(CHECKPOINT_FILE), CHECKPOINT, storedIn);
  } catch (error) {
    // Code that needs the checkpoint reports its damage.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function storedIn(db: Database): Earlier {
  const [limit, pause] = [LIMIT, PAUSE].map((name) => readSetting(db, name));
  return {
    answers: db.all<StoredAnswer>('select wall, up from answer'),
    limit: limit === undefined ? undefined : Number(limit),
    pause: pause === undefined ? undefined : (JSON.parse(pause) as StoredPause),
  };
}

/**
 * Milliseconds since 1970, oldest first. Times in the future count as now, because the clock has been set back since; so do requests
 * that were on their way. Where it was set forward, the time since the machine started says how long ago they were at most.
 */
function timesOf(earlier: Earlier | undefined, clock: Clock): number[] {
  const [now, up] = [clock.wall(), clock.uptime()];
  const timeOf = (answer: StoredAnswer): number => {
    if (answer.wall === null || answer.up === null) return now;
    const passed = up >= answer.up ? up - answer.up : up;
    return Math.min(now, Math.max(answer.wall, now - passed));
  };
  return (earlier?.answers ?? []).map(timeOf).sort((a, b) => a - b);
}

/** The rest of the pause; all of it if the clock has been set back since. */
function pauseOf(earlier: Earlier | undefined, now: number): number {
  const { from = now, ms = 0 } = earlier?.pause ?? {};
  return Math.max(0, ms - Math.max(0, now - from));
}
