/** Says in the checkpoint what a run waits for, other than its own rate limit, for `status`. */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import { isStateLost, type Halt } from '../halt.ts';
import type { GateWait } from '../send/gate.ts';
import { noteWait, type RunWait } from '../store/checkpoint.ts';
import type { Database } from '../store/sqlite.ts';

interface NotingWaits {
  readonly waiting: () => GateWait | undefined;
  readonly db: Database;
  readonly halt: Halt;
  readonly clock: Clock;
  readonly log: (event: string, fields: Readonly<Record<string, unknown>>) => void;
}

const EVERY_MS = 1_000;

/** Looks every second until the returned function is called. A wait that cannot be noted does not stop the run. */
export function noteWaits({ waiting, db, halt, clock, log }: NotingWaits): () => void {
  let noted: RunWait | undefined;
  const note = (wait: GateWait | undefined): void => {
    const now = wait && wait.reason !== 'rate' ? runWait(wait, noted) : undefined;
    if (isSame(noted, now) || isStateLost(halt.reason?.code) || !db.isOpen) return;
    noted = now;
    try {
      noteWait(db, now);
    } catch (error) {
      log('wait_not_noted', { message: messageOf(error) });
    }
  };
  const stop = clock.every(EVERY_MS, () => note(waiting()));
  return () => {
    stop();
    note(undefined);
  };
}

function runWait({ reason, because, nextInMs, givesUpInMs }: GateWait, noted: RunWait | undefined): RunWait {
  const now = Date.now();
  const at = (ms: number): string => new Date(now + ms).toISOString();
  return {
    reason,
    since: noted?.reason === reason ? noted.since : at(0),
    because: because ?? null,
    next_at: nextInMs > 0 ? at(nextInMs) : null,
    gives_up_at: givesUpInMs === undefined ? null : at(givesUpInMs),
  };
}

/** Times are computed anew each time that is looked. */
function isSame(one: RunWait | undefined, other: RunWait | undefined): boolean {
  if (one?.reason !== other?.reason || one?.because !== other?.because) return false;
  return isNear(one?.next_at, other?.next_at) && isNear(one?.gives_up_at, other?.gives_up_at);
}

function isNear(one: string | null | undefined, other: string | null | undefined): boolean {
  if (!one || !other) return one === other;
  return Math.abs(Date.parse(one) - Date.parse(other)) < 2 * EVERY_MS;
}
