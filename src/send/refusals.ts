/** What follows the refusal of an event, by the service or by something on the way. No I/O. */
import { EXIT } from '../errors.ts';
import type { HaltReason } from '../halt.ts';
import { isUpdate, type Outcome } from '../model.ts';
import { INGEST_CODES } from '../service/contract.ts';
import type { Intercepted, Refused, Unauthorised } from '../service/reply.ts';
import { namedField } from './named-field.ts';
import { acknowledged, newSendState, rejected, type SendState } from './delivery.ts';

/** How often an event that was answered 409 is sent again with the same id, to learn whether the record is ours. */
const MAX_ASKED_AGAIN = 2;

/** What follows a refusal: the outcome, the second request, or the same request again. */
export type NextStep = Outcome | 'second' | 'again';

/**
 * Decides what follows a refusal. `if_exists` and `if_missing` decide about records that already exist or do not exist
 * yet (service interface, sections 3 and 7.3).
 *
 * A 409 after an attempt that may have arrived says nothing about who created the record. The same request is sent again:
 * the service answers `deduplicated` if it has processed that id (section 6.3), otherwise the record is somebody else's. If
 * earlier runs sent the record with other content, that is asked for under their ids: what is processed is not done again.
 */
export function applyPolicies(sending: SendState, attempt: Refused): NextStep {
  const { delivery, isSecond, type } = sending;
  const { policies, earlierRequests } = delivery;
  const { status, code, message } = attempt;
  const field = attempt.field ?? namedField(message, sending.ready.data);
  let hint: string | undefined;
  if (status === 409 && (code === INGEST_CODES.alreadyExists || code === `http_${status}`)) {
    const mayBeOurs =
      sending.mayHaveArrived || (!isSecond && earlierRequests.some(({ id }) => id === delivery.event.eventId));
    if (mayBeOurs && sending.askedAgain < MAX_ASKED_AGAIN) return 'again';
    if (!isSecond) {
      if (askForEarlier(sending)) return 'again';
      if (policies.if_exists === 'update' && useSecondRequest(sending)) return 'second';
      if (policies.if_exists === 'skip') return acknowledged(sending, 'none', '', INGEST_CODES.alreadyExists);
      const update = type === 'comment/created' ? '' : ', or `if_exists: update` to overwrite them';
      hint = `set \`if_exists: skip\` to keep such records${update}`;
    }
  }
  if (status === 422 && code === INGEST_CODES.notFound && isUpdate(type) && !isSecond) {
    if (policies.if_missing === 'skip') return acknowledged(sending, 'none', '', INGEST_CODES.notFound);
    if (policies.if_missing === 'create' && useSecondRequest(sending)) return 'second';
    hint = 'set `if_missing: skip` to drop such updates, or `if_missing: create` to create the record';
  }
  const more = {
    refused: true as const,
    ...(field === undefined ? {} : { field }),
    ...(hint === undefined ? {} : { hint }),
  };
  return rejected(sending, { code, message, httpStatus: status, ...more });
}

/** Switches to the id of the next earlier request with other content; returns false if there is none left. */
function askForEarlier(sending: SendState): boolean {
  const { earlierRequests, event } = sending.delivery;
  const others = earlierRequests.filter(({ id }) => id !== event.eventId);
  const next = others[others.findIndex((earlier) => earlier.id === sending.id) + 1];
  if (!next) return false;
  sending.id = next.id;
  return true;
}

/** Switches to the event's second request; returns false if it has none. */
function useSecondRequest(sending: SendState): boolean {
  const { second } = sending.delivery;
  if (!second) return false;
  const fresh = newSendState(sending.delivery);
  Object.assign(sending, { ...fresh, ...second, isSecond: true, attempts: sending.attempts });
  return true;
}

/** Why a run stops whose credentials were refused. */
export function credentialsRefused({ code, status, message }: Unauthorised | Intercepted): HaltReason {
  return {
    code,
    message: `the service refused the credentials (${status}): ${message}`,
    hint:
      status === 401
        ? 'check BACKFILL_API_KEY, then rerun'
        : 'copy the ingestion URL and the API key of the same account from the dashboard, then rerun',
    exitCode: EXIT.stopped,
  };
}

/** Why a run stops whose first events reach something other than the ingestion webhook. */
export function wrongTarget(attempt: Intercepted, hasSettled: boolean): HaltReason {
  if (attempt.status === 403) return credentialsRefused(attempt);
  return {
    code: 'wrong_base_url',
    message: `no ingestion webhook at this base URL (${attempt.status}): ${attempt.message}`,
    hint: 'compare the base URL with the ingestion URL in the dashboard, then rerun',
    exitCode: hasSettled ? EXIT.stopped : EXIT.nothingSent,
  };
}

/** Why a run stops when several events in a row are intercepted: then no single event is at fault. */
export function allIntercepted({ status, message }: Intercepted): HaltReason {
  return {
    code: 'intercepted',
    message: `events are refused (${status}), but not by the ingestion webhook: ${message}`,
    hint: 'check the base URL, the credentials, and any firewall or proxy in between, then rerun',
    exitCode: EXIT.stopped,
  };
}

export function intercepted(sending: SendState, { status, code, message }: Intercepted): Outcome {
  const hint =
    'not an answer of the ingestion webhook: a firewall or proxy may refuse this event; rerun once it may pass';
  return rejected(sending, { code, message, hint, httpStatus: status });
}
