/** What follows an attempt to send a request: state, attempt -> state, what to do. Pure: no I/O, no clock. */
import { INGEST_CODES } from '../contract.ts';
import { EXIT } from '../errors.ts';
import type { HaltReason } from '../halt.ts';
import { isUpdate } from '../kinds/index.ts';
import { causeOf, type Attempt, type Intercepted, type NoAnswer, type Refused } from '../service/reply.ts';
import { backoff, retryDelay } from '../service/retry.ts';
import { dataOf, pendingAfter, type Delivered, type Delivery, type Sending } from './delivery.ts';
import { answered, ended, failed, holds, isAlone, isDown, overdue, rateLimited, singledOut } from './lane.ts';
import type { AloneReason, Lane, Moment } from './lane.ts';
import { allIntercepted, credentialsRefused, namedField, notTheWebhook, wrongTarget } from './refusals.ts';
import { withoutValues } from './without-values.ts';

/** The lane of the run, and one request on it. */
export interface Sent {
  readonly lane: Lane;
  readonly sending: Sending;
}

/** What is so around a decision about one request. */
export interface Around extends Moment {
  readonly delivery: Delivery;
  readonly maxOutageMs: number;
  /** The run is stopping: nothing is sent any more. */
  readonly isStopping: boolean;
}

/**
 * - `again`: once the lane lets it. `ask`: GET /health first, then `decideAfterHealth`.
 * - `wait`: for `ms`, then again. `isUp`: whether the service answers other requests.
 * - `hold`: all others wait; this one goes once more after five seconds.
 */
export type Then =
  | { readonly kind: 'again' | 'ask' | 'hold' }
  | { readonly kind: 'wait'; readonly ms: number; readonly isUp: boolean }
  | { readonly kind: 'stop'; readonly reason: HaltReason }
  | { readonly kind: 'end'; readonly delivered: Delivered };

export interface Decided extends Sent {
  readonly then: Then;
}

const MAX_FAILURES = 5;
/** Sent once more, an event that is intercepted again is rejected. */
const MAX_INTERCEPTIONS = 2;
/** How often a request that was answered 409 is sent again with the same id, to learn whether the record is ours. */
const MAX_ASKED_AGAIN = 2;

export function decide({ lane: before, sending }: Sent, attempt: Attempt, about: Around): Decided {
  const { id } = about.delivery;
  const wasSent = attempt.kind !== 'withdrawn' && !(attempt.kind === 'unanswered' && attempt.sent === 'no');
  const lane = wasSent ? { ...before, mayHaveArrived: true } : before;
  switch (attempt.kind) {
    case 'withdrawn':
      return about.isStopping ? end(lane, sending, pendingAfter(sending, about.delivery)) : again(lane, sending);
    case 'unanswered':
      return unanswered({ lane, sending }, attempt, about);
    case 'rate_limited': {
      const next = rateLimited(lane, id, sending.sentAt, about);
      return unlessOverdue({ lane: next, sending: { ...sending, unansweredSince: undefined } }, about);
    }
    case 'unauthorised': {
      const next = answered(lane, about);
      if (holds(next, id)) return again(next, sending);
      return isAlone(next, id)
        ? stop(next, sending, credentialsRefused(attempt))
        : alone(next, sending, 'credentials', about);
    }
    case 'intercepted':
      return intercepted({ lane: answered(lane, about), sending }, attempt, about);
    case 'acknowledged': {
      const { outcome, id: serviceId, deduplicated } = attempt.acknowledgement;
      const { attempts, mayHaveArrived } = sending;
      const delivered = { kind: 'acknowledged', outcome, serviceId, deduplicated, mayHaveArrived, attempts } as const;
      return end({ ...settled(lane, about), hasAcknowledged: true }, sending, delivered);
    }
    case 'refused':
      return refused({ lane: settled(lane, about), sending }, attempt, about);
  }
}

/** After GET /health, which the decision about this attempt asked for. */
export function decideAfterHealth({ lane, sending }: Sent, attempt: NoAnswer, isUp: boolean, about: Around): Decided {
  // Failures during an outage do not count against the event.
  if (isDown(lane)) return again(lane, { ...sending, failures: 0, unansweredSince: undefined });
  const failures = sending.failures + (isUp ? 1 : 0);
  const now = { ...sending, failures };
  const { code, status, retryAfterMs } = attempt;
  const leftMs = (sending.unansweredSince ?? sending.sentAt) + about.maxOutageMs - about.now;
  // Five attempts, each with a long Retry-After, would last far longer than --max-outage.
  const isOverdue = isUp && retryAfterMs !== undefined && leftMs <= 0;
  // Before anything is acknowledged, nothing shows that the event is at fault and not the service.
  const mayGiveUp = lane.hasAcknowledged || about.delivery.wasRejected;
  if (mayGiveUp && (failures >= MAX_FAILURES || isOverdue)) {
    const hint = 'rerun to send it again with the same id';
    const { attempts } = sending;
    return end(lane, now, { kind: 'failed', code, message: attempt.message, hint, httpStatus: status, attempts });
  }
  return wait(lane, now, retryDelay(sending.unanswered, { retryAfterMs, leftMs, random: about.random }), isUp);
}

function unanswered({ lane, sending }: Sent, attempt: NoAnswer, about: Around): Decided {
  const { id } = about.delivery;
  const mayHaveArrived = sending.mayHaveArrived || attempt.sent === 'maybe';
  if (attempt.setup) {
    const exitCode = lane.mayHaveArrived ? EXIT.stopped : EXIT.nothingSent;
    const hint = attempt.hint ?? 'check the base URL, the certificate and the credentials';
    const message = `cannot send events: ${attempt.message}`;
    return stop(lane, { ...sending, mayHaveArrived }, { code: attempt.code, message, hint, exitCode });
  }
  if (about.isStopping) return again(lane, { ...sending, mayHaveArrived });
  const because = withoutValues(causeOf(attempt), dataOf(about.delivery));
  const next = unlessOverdue(
    {
      lane: failed(lane, id, sending.sentAt, because, about),
      sending: {
        ...{ ...sending, mayHaveArrived, unanswered: sending.unanswered + 1 },
        unansweredSince: sending.unansweredSince ?? sending.sentAt,
      },
    },
    about,
  );
  if (next.then.kind === 'stop') return next;
  const isAnswering = next.lane.answeredAt >= sending.sentAt;
  if (!isDown(next.lane) && !isAnswering) return { ...next, then: { kind: 'ask' } };
  return decideAfterHealth(next, attempt, isAnswering, about);
}

function intercepted({ lane, sending: before }: Sent, attempt: Intercepted, about: Around): Decided {
  if (holds(lane, about.delivery.id)) return again(lane, before);
  const sending = { ...before, interceptions: before.interceptions + 1 };
  if (sending.interceptions < MAX_INTERCEPTIONS) return alone(lane, sending, 'intercepted', about);
  const interceptedInARow = lane.interceptedInARow + 1;
  const next = { ...lane, interceptedInARow };
  if (!lane.hasAcknowledged) return stop(next, sending, wrongTarget(attempt));
  if (interceptedInARow > 1) return stop(next, sending, allIntercepted(attempt));
  return end(next, sending, notTheWebhook(attempt, sending.attempts));
}

/**
 * A 409 after an attempt that may have arrived does not tell who created the record, because the first attempt may still be in progress: the
 * service answers `deduplicated` if it has processed that id (service interface, section 6.3); otherwise the record is somebody else's.
 */
function refused({ lane, sending }: Sent, attempt: Refused, { delivery, random }: Around): Decided {
  const { mayHaveArrived, attempts } = sending;
  const { status, code, message } = attempt;
  const exists = status === 409 && (code === INGEST_CODES.alreadyExists || code === 'http_409');
  const mayBeOurs = mayHaveArrived || delivery.mayHaveArrivedBefore;
  const askedAgain = sending.askedAgain + 1;
  if (exists && mayBeOurs && askedAgain <= MAX_ASKED_AGAIN)
    return wait(lane, { ...sending, askedAgain }, backoff(askedAgain, random), true);
  const field = attempt.field ?? namedField(message, dataOf(delivery));
  const isMissing = status === 422 && code === INGEST_CODES.notFound && isUpdate(delivery.type);
  const why = exists ? 'exists' : isMissing ? 'missing' : 'other';
  return end(lane, sending, { kind: 'refused', why, code, message, httpStatus: status, field, attempts });
}

/** The service itself has acknowledged or refused the event. */
function settled(lane: Lane, about: Around): Lane {
  return { ...ended(answered(lane, about), about.delivery.id, about), interceptedInARow: 0 };
}

function unlessOverdue({ lane, sending }: Sent, { maxOutageMs }: Around): Decided {
  const reason = overdue(lane, maxOutageMs);
  return reason ? stop(lane, sending, reason) : again(lane, sending);
}

function alone(lane: Lane, sending: Sending, reason: AloneReason, about: Around): Decided {
  return { lane: singledOut(lane, about.delivery.id, reason, about), sending, then: { kind: 'hold' } };
}

function again(lane: Lane, sending: Sending): Decided {
  return { lane, sending, then: { kind: 'again' } };
}

function wait(lane: Lane, sending: Sending, ms: number, isUp: boolean): Decided {
  return { lane, sending, then: { kind: 'wait', ms, isUp } };
}

function stop(lane: Lane, sending: Sending, reason: HaltReason): Decided {
  return { lane, sending, then: { kind: 'stop', reason } };
}

function end(lane: Lane, sending: Sending, delivered: Delivered): Decided {
  return { lane, sending, then: { kind: 'end', delivered } };
}
