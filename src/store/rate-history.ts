import type { Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import type { RateHistory } from '../service/recent-answers.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from './checkpoint-schema.ts';
import { Database } from './sqlite.ts';

/** Earlier runs are recorded again up to this age. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const MOST_KEPT = 2_000;

type Files = Readonly<Record<'file', (name: string) => string>>;

/**
 * The times of the last requests, in the checkpoint of a run, or in one beside the plan of a dry run, which may go on at the same
 * time as a run. `other`: the directory whose history of the same API key is only read. Throws a `UserError`.
 */
export function openRateHistory(output: Files, clock: Clock, other?: Files): RateHistory & { close(): void } {
  // A connection of its own, whose commits do not wait for the disk.
  const db = Database.open(output.file(CHECKPOINT_FILE), CHECKPOINT);
  db.exec('pragma checkpoint.journal_mode = wal; pragma checkpoint.synchronous = normal');
  const now = clock.wall();
  const earlier = timesIn(db, now);
  const elsewhere = other ? timesOf(other, now) : [];
  const kept = earlier.filter((at) => at > now - KEPT_MS).slice(-MOST_KEPT);
  return {
    load: () => [...earlier, ...elsewhere].sort((a, b) => a - b),
    record(answered, inFlight) {
      if (!db.isOpen) return;
      const value = JSON.stringify({ answered: [...kept, ...answered], in_flight: inFlight });
      try {
        db.run(`insert or replace into setting (name, value) values ('requests', ?)`, value);
      } catch {
        // Without a history, a restart at worst causes a few 429 answers.
      }
    },
    close: () => db.close(),
  };
}

function timesOf(other: Files, now: number): number[] {
  try {
    const db = Database.read(other.file(CHECKPOINT_FILE), CHECKPOINT);
    const times = db ? timesIn(db, now) : [];
    db?.close();
    return times;
  } catch (error) {
    // A damaged checkpoint is told by those who need it.
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** Times in the future count as now, because the clock has been set back since; so do requests that were in flight. */
function timesIn(db: Database, now: number): number[] {
  const stored = db.get<{ value: string }>(`select value from setting where name = 'requests'`)?.value;
  if (stored === undefined) return [];
  const { answered, in_flight: inFlight } = JSON.parse(stored) as { answered: number[]; in_flight: number };
  return [...answered.map((at) => Math.min(now, at)), ...Array<number>(inFlight).fill(now)];
}
