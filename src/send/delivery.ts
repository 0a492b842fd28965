/** One request about a record, sent until it has an answer; and how that ended. */
import { parseJson, type JsonObject } from '../json.ts';
import type { Effect, EventType } from '../model.ts';

/** A request about a record: always the same body under the same id. */
export interface Delivery {
  /** The envelope id. */
  readonly id: string;
  readonly type: EventType;
  readonly externalId: string;
  /** The canonical JSON of its data. */
  readonly content: string;
  readonly occurredAt?: string | undefined;
  /** A request of an earlier run under this id may have arrived. */
  readonly mayHaveArrivedBefore: boolean;
  /** An earlier run gave its event up, or saw it refused. */
  readonly wasRejected: boolean;
  /** Another request about the event went out before, in this run. */
  readonly isFollowUp?: boolean;
  /** Its place in the order of the run: of the requests that could be sent, the first goes first. */
  readonly place: number;
}

/** What it says, which only a failure asks for. */
export function dataOf({ content }: Delivery): JsonObject {
  return parseJson(content) as JsonObject;
}

/** `attempts`: the requests spent on it. */
export type Delivered = { readonly attempts: number } & (
  | {
      readonly kind: 'acknowledged';
      readonly outcome: Effect;
      readonly serviceId: string;
      readonly deduplicated: boolean;
      /** An earlier attempt of this run may have arrived. */
      readonly mayHaveArrived: boolean;
    }
  /** The service refused it, so it has had no effect. `exists`, `missing`: its record (409, 422 not_found). */
  | ({ readonly kind: 'refused'; readonly why: 'exists' | 'missing' | 'other' } & Failure)
  /** No definite answer, although it was sent again and again: it may have arrived. */
  | ({ readonly kind: 'failed' } & Failure)
  /** The run is stopping. `hadNoEffect`: no attempt reached the service, or all were refused. */
  | { readonly kind: 'pending'; readonly hadNoEffect: boolean }
);

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly httpStatus?: number | undefined;
  readonly field?: string | undefined;
  readonly hint?: string | undefined;
}

/** A request while it is being sent, until it has an answer. Times as in `Lane`. */
export interface Sending {
  /** Requests sent. */
  readonly attempts: number;
  /** Consecutive attempts without an answer that count towards a rejection. */
  readonly failures: number;
  /** All consecutive attempts without an answer. */
  readonly unanswered: number;
  /** When the last attempt was sent, and the first of the consecutive ones without an answer. */
  readonly sentAt: number;
  readonly unansweredSince?: number | undefined;
  /** An attempt in this run may have been processed although it was not answered. */
  readonly mayHaveArrived: boolean;
  /** How often it was sent again because of a 409. */
  readonly askedAgain: number;
  /** How often it was answered by something other than the service. */
  readonly interceptions: number;
}

export const UNSENT: Sending = {
  ...{ attempts: 0, failures: 0, unanswered: 0, sentAt: 0 },
  ...{ mayHaveArrived: false, askedAgain: 0, interceptions: 0 },
};

/** The run is stopping. Somebody else than the service may have answered after it has processed the request. */
export function pendingAfter({ attempts, mayHaveArrived, interceptions }: Sending, delivery: Delivery): Delivered {
  const mayHaveEffect = mayHaveArrived || delivery.mayHaveArrivedBefore || interceptions > 0;
  return { kind: 'pending', hadNoEffect: !mayHaveEffect, attempts };
}
