/**
 * Who may send now, and for how long nothing has got through: drawn in README.md. Pure. Times are milliseconds of a monotonic clock
 * without the time asleep.
 *
 * The service is down when several different events got no answer and none has been answered since. When nothing has got through for
 * --max-outage, whatever the reason, the run stops; waiting for our own rate limit does not count.
 */
import { EXIT } from '../errors.ts';
import type { HaltReason } from '../halt.ts';
import { probeDelay } from '../service/retry.ts';

/**
 * `open`: every event may send. `alone`: one event, once more after five seconds. `down`: none, until GET /health answers. `probe`: after
 * an outage one event, the first that comes if `id` is not set.
 */
type Door =
  | { readonly kind: 'open' }
  | { readonly kind: 'alone'; readonly id: string; readonly reason: AloneReason; readonly until: number }
  | { readonly kind: 'down'; readonly until: number; readonly probes: number }
  | { readonly kind: 'probe'; readonly id: string | undefined; readonly probes: number };

export type AloneReason = 'credentials' | 'intercepted';
/** Why nothing gets through. */
type Blockage = 'outage' | 'rate_limited';

/** What the answers of a run so far say about the service, and not about one event. */
export interface Lane {
  readonly door: Door;
  /** Events without an answer since the last answer. */
  readonly failing: ReadonlySet<string>;
  readonly answeredAt: number;
  /** What came instead of an answer, since the last one. */
  readonly lastFailure?: string | undefined;
  /** Why nothing gets through, and for how long that has lasted until `countedTo`. */
  readonly blocked?: { readonly cause: Blockage; readonly countedTo: number; readonly lastedMs: number } | undefined;
  readonly hasAcknowledged: boolean;
  /** A request of this run may have arrived. */
  readonly mayHaveArrived: boolean;
  readonly interceptedInARow: number;
}

export const CLEAR: Lane = {
  ...{ door: { kind: 'open' }, failing: new Set(), answeredAt: -Infinity },
  ...{ hasAcknowledged: false, mayHaveArrived: false, interceptedInARow: 0 },
};

/** What is so around a decision. */
export interface Moment {
  readonly now: number;
  /** What the limiter waits for. */
  readonly waitsFor: 'rate' | 'rate_limited' | undefined;
  /** Most requests in flight. */
  readonly concurrency: number;
  /** From 0 to 1: the jitter of a wait. */
  readonly random: () => number;
}

export const ALONE_MS = 5_000;

export function isDown({ door }: Lane): boolean {
  return door.kind === 'down' || door.kind === 'probe';
}

/** Whether this event must wait. */
export function holds({ door }: Lane, id: string): boolean {
  return door.kind !== 'open' && (door.kind === 'down' || door.id !== id);
}

/** Whether this event is being sent once more while all others wait. */
export function isAlone({ door }: Lane, id: string): boolean {
  return door.kind === 'alone' && door.id === id;
}

/** This event comes to send: after an outage, the first one is tried alone. */
export function arrived(lane: Lane, id: string): Lane {
  return lane.door.kind === 'probe' && lane.door.id === undefined ? { ...lane, door: { ...lane.door, id } } : lane;
}

/** This event is sent once more, while all others wait. */
export function singledOut(lane: Lane, id: string, reason: AloneReason, { now }: Moment): Lane {
  return { ...lane, door: { kind: 'alone', id, reason, until: now + ALONE_MS } };
}

/** The service answered, whatever the answer. */
function alive(lane: Lane, { now }: Moment): Lane {
  const door = isDown(lane) ? CLEAR.door : lane.door;
  return { ...lane, answeredAt: now, failing: CLEAR.failing, door };
}

/** The service answered an event with anything but a 429. */
export function answered(lane: Lane, moment: Moment): Lane {
  return { ...alive(lane, moment), lastFailure: undefined, blocked: undefined };
}

/** This event, which was sent at `sentAt`, was answered 429. */
export function rateLimited(lane: Lane, id: string, sentAt: number, moment: Moment): Lane {
  return blocked(ended(alive(lane, moment), id, moment), 'rate_limited', sentAt, moment);
}

/** This event, which was sent at `sentAt`, got no answer; `because`: what came instead, without its values. */
export function failed(lane: Lane, id: string, sentAt: number, because: string, moment: Moment): Lane {
  const { door } = lane;
  const failing = new Set(lane.failing).add(id);
  const next = { ...lane, failing, lastFailure: because };
  // With a concurrency of 1, two events must fail: GET /health tells whether a single event is at fault.
  const threshold = Math.max(2, Math.min(3, moment.concurrency));
  const isProbe = door.kind === 'probe' && door.id === id;
  const isOutage = !isDown(lane) && failing.size >= threshold;
  const probes = isProbe ? door.probes + 1 : 1;
  return blocked(isProbe || isOutage ? down(next, probes, moment) : next, 'outage', sentAt, moment);
}

/** This event has its outcome: others need not wait for it. One that was tried after an outage had no answer, then. */
export function ended(lane: Lane, id: string, moment: Moment): Lane {
  const { door } = lane;
  if (isAlone(lane, id)) return { ...lane, door: { kind: 'open' } };
  return door.kind === 'probe' && door.id === id ? down(lane, door.probes + 1, moment) : lane;
}

/** GET /health answered, or did not, while the service was down. `first`: the event that waits longest; another one goes each time. */
export function probed(lane: Lane, isHealthy: boolean, first: string | undefined, moment: Moment): Lane {
  const { door } = lane;
  if (door.kind !== 'down') return lane;
  return isHealthy
    ? { ...lane, door: { kind: 'probe', id: first, probes: door.probes } }
    : down(lane, door.probes + 1, moment);
}

function down(lane: Lane, probes: number, { now, random }: Moment): Lane {
  return { ...lane, door: { kind: 'down', until: now + probeDelay(probes, random), probes } };
}

/** Nothing gets through since this time, or since an earlier one. */
function blocked(lane: Lane, cause: Blockage, since: number, moment: Moment): Lane {
  const from = { countedTo: Math.max(since, lane.answeredAt), lastedMs: 0 };
  return counted({ ...lane, blocked: { ...from, ...lane.blocked, cause } }, moment);
}

/** The time until now is counted. */
export function counted(lane: Lane, moment: Moment): Lane {
  const { now, waitsFor } = moment;
  // Also where something else than an event was answered 429, or an event that was sent before it was answered.
  if (waitsFor === 'rate_limited' && !lane.blocked) return blocked(lane, waitsFor, now, moment);
  if (!lane.blocked) return lane;
  const { cause, countedTo, lastedMs } = lane.blocked;
  const lasted = waitsFor !== 'rate' || isDown(lane) ? now - countedTo : 0;
  return { ...lane, blocked: { cause, countedTo: now, lastedMs: lastedMs + lasted } };
}

/** Until the run stops, if nothing gets through; undefined if something does. */
export function leftMs({ blocked }: Lane, now: number, maxOutageMs: number): number | undefined {
  return blocked && Math.max(0, maxOutageMs - blocked.lastedMs - (now - blocked.countedTo));
}

const STOPS: Readonly<Record<Blockage, readonly [message: string, hint: string]>> = {
  outage: ['the service gave no usable answer for longer than --max-outage', 'rerun when the service is back'],
  rate_limited: [
    'the service kept rate-limiting the run for longer than --max-outage',
    'check what else uses the API key, and the Retry-After in run.log; rerun later',
  ],
};

/** Why the run stops, once nothing has got through for --max-outage. */
export function overdue({ blocked, lastFailure }: Lane, maxOutageMs: number): HaltReason | undefined {
  if (!blocked || blocked.lastedMs < maxOutageMs) return undefined;
  const { cause } = blocked;
  const [message, hint] = STOPS[cause];
  const last = cause === 'outage' && lastFailure !== undefined ? `; the last was: ${lastFailure}` : '';
  return { code: cause, message: `${message}${last}`, hint, exitCode: EXIT.stopped };
}
