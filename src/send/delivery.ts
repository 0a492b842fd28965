/** One event being sent: the request, its state and its outcome. */
import type { Policies } from '../mapping/policies.ts';
import type { Effect, EventType, Outcome, Planned, Sendable } from '../model.ts';

/** A request of an earlier run without a definite answer. */
export interface EarlierRequest {
  readonly id: string;
  /** The hash of its content. */
  readonly sha: string;
}

/** One event to be sent exactly once. */
export interface Delivery {
  readonly event: Planned;
  /** Requests of earlier runs that may have created this record. */
  readonly earlierRequests: readonly EarlierRequest[];
  /** The request sent instead under `if_exists: update` or `if_missing: create`. */
  readonly second?: {
    readonly type: EventType;
    readonly id: string;
    readonly ready: Sendable;
  };
  readonly policies: Policies;
  /** Its place in the order of the run: of the events that could be sent, the first goes first. */
  readonly place?: number;
}

/** How a delivery ended, and the id of the request that was answered so. */
export interface Delivered {
  readonly outcome: Outcome;
  readonly id: string;
  /** It is pending, and what was sent was refused or never reached the service: for its credentials, or by a 429. */
  readonly hadNoEffect: boolean;
}

/** The state of one event while it is being sent. */
export interface SendState {
  readonly delivery: Delivery;
  /** Content, envelope id and type of the event or of its second request; or the id of an earlier request, to ask for it. */
  ready: Sendable;
  id: string;
  type: EventType;
  isSecond: boolean;
  /** The id that `beforeSend` was last called with. */
  announced: string | undefined;
  /** Requests sent for the event. */
  attempts: number;
  /** Requests sent with the current id. */
  tries: number;
  /** Consecutive attempts without an answer that count towards a rejection. */
  failures: number;
  /** All consecutive attempts without an answer. */
  unanswered: number;
  /** When the last attempt was sent, and the first of the consecutive ones without an answer (`Gate.awake`). */
  sentAt: number;
  unansweredSince: number | undefined;
  /** An attempt in this run may have been processed although it was not answered. */
  mayHaveArrived: boolean;
  /** The same of an attempt in an earlier run, with the current id. */
  mayHaveArrivedBefore: boolean;
  /** How often the event was sent again with the same id because of a 409. */
  askedAgain: number;
  /** How often the event was answered by something other than the service. */
  interceptions: number;
}

export function newSendState(delivery: Delivery): SendState {
  return {
    delivery,
    ready: delivery.event,
    id: delivery.event.eventId,
    type: delivery.event.type,
    isSecond: false,
    announced: undefined,
    attempts: 0,
    tries: 0,
    failures: 0,
    unanswered: 0,
    sentAt: 0,
    unansweredSince: undefined,
    mayHaveArrived: false,
    mayHaveArrivedBefore: false,
    askedAgain: 0,
    interceptions: 0,
  };
}

/** How the delivery ended. Somebody else than the service may have answered after it has processed the request. */
export function delivered(sending: SendState, outcome: Outcome): Delivered {
  const { id, announced, mayHaveArrived, mayHaveArrivedBefore, interceptions } = sending;
  const mayHaveEffect = mayHaveArrived || mayHaveArrivedBefore || interceptions > 0;
  return { outcome, id, hadNoEffect: outcome.status === 'pending' && announced === id && !mayHaveEffect };
}

export function acknowledged(sending: SendState, outcome: Effect, entityId: string, code: string | undefined): Outcome {
  const { attempts } = sending;
  const isEarlier = code === 'deduplicated' && isOtherContent(sending);
  const found = isEarlier ? 'changed' : code;
  return {
    status: 'acknowledged',
    outcome,
    entityId,
    attempts,
    ...(found === undefined ? {} : { code: found }),
  };
}

/** Whether the event was sent last under the id of an earlier request with other content. */
function isOtherContent({ delivery, id }: SendState): boolean {
  return delivery.earlierRequests.some(
    (earlier) => earlier.id === id && id !== delivery.event.eventId && earlier.sha !== delivery.event.sha,
  );
}

export function rejected(
  { attempts }: SendState,
  why: Omit<Extract<Outcome, { status: 'rejected' }>, 'status' | 'attempts'>,
): Outcome {
  return { status: 'rejected', ...why, attempts };
}

export function pending({ attempts }: SendState): Outcome {
  return { status: 'pending', attempts };
}
