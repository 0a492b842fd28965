/** One event being sent: the request, its state and its outcome. */
import type { FieldHashes } from '../checkpoint/field-hashes.ts';
import type { PendingSend } from '../checkpoint/ledger.ts';
import type { Policies } from '../mapping/mapping.ts';
import type { Effect, EventType, Outcome, Sendable } from '../model.ts';

/** One event to be sent exactly once. */
export interface Delivery {
  readonly ready: Sendable;
  /** The envelope id; the same for every attempt in every run. */
  readonly id: string;
  /** Of its content, for the checkpoint. */
  readonly fields: FieldHashes;
  /** Requests about this record that earlier runs sent without recording an answer. */
  readonly earlierRequests: readonly PendingSend[];
  /** The request sent instead under `if_exists: update` or `if_missing: create`. */
  readonly second?: {
    readonly type: EventType;
    readonly id: string;
    /** Its content, if it is not that of the event. */
    readonly ready?: Sendable;
  };
  readonly policies: Policies;
  /** Its place in the order of the run: of the events that could be sent, the first goes first. */
  readonly place?: number;
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
  /** How often the event was sent again with the same id because of a 409. */
  askedAgain: number;
  /** How often the event was answered by something other than the service. */
  interceptions: number;
}

export function newSendState(delivery: Delivery): SendState {
  return {
    delivery,
    ready: delivery.ready,
    id: delivery.id,
    type: delivery.ready.type,
    isSecond: false,
    announced: undefined,
    attempts: 0,
    tries: 0,
    failures: 0,
    unanswered: 0,
    sentAt: 0,
    unansweredSince: undefined,
    mayHaveArrived: false,
    askedAgain: 0,
    interceptions: 0,
  };
}

export function acknowledged(sending: SendState, outcome: Effect, entityId: string, code: string | undefined): Outcome {
  const { attempts, ready, delivery } = sending;
  const common = { status: 'acknowledged', outcome, entityId, attempts } as const;
  const earlier = code === 'deduplicated' ? askedFor(sending) : undefined;
  if (earlier) return { ...common, code: 'changed', sha: earlier.sha };
  const sent = ready === delivery.ready ? {} : { sent: ready };
  return { ...common, ...sent, ...(code === undefined ? {} : { code }) };
}

/** The earlier request, with other content, under whose id the event was sent last. */
function askedFor({ delivery, id }: SendState): PendingSend | undefined {
  return delivery.earlierRequests.find((earlier) => earlier.id === id && id !== delivery.id);
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
