/** Says in the checkpoint what a run waits for, other than its own rate limit, for `status`. */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import { isStateLost, type Halt } from '../halt.ts';
import type { GateWait } from '../send/gate.ts';
import { noteWait } from '../store/checkpoint.ts';
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
  let noted: string | undefined;
  let began: { readonly reason: string; readonly since: string } | undefined;
  const note = (wait: GateWait | undefined): void => {
    const reason = wait?.reason === 'rate' ? undefined : wait?.reason;
    const because = wait?.because ?? null;
    if (reason !== began?.reason) began = reason && { reason, since: new Date().toISOString() };
    const now = began && `${reason} ${because}`;
    if (now === noted || isStateLost(halt.reason?.code) || !db.isOpen) return;
    noted = now;
    try {
      noteWait(db, began && { ...began, because });
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
