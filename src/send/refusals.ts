/** Applies the mapping's policies to an event that the service refused. No I/O. */
import { isUpdate, type Outcome } from '../model.ts';
import { INGEST_CODES } from '../service/contract.ts';
import type { Refused } from '../service/reply.ts';
import { acknowledged, rejected, type SendState } from './delivery.ts';

/**
 * The outcome of a refused event, or undefined if its second request is to be sent. `if_exists` and `if_missing` decide
 * about records that already exist or do not exist yet (service interface, sections 3 and 7.3).
 */
export function applyPolicies(sending: SendState, attempt: Refused): Outcome | undefined {
  const { delivery, isSecond, type } = sending;
  const { policies, earlierSend } = delivery;
  const { status, code, message, field } = attempt;
  let hint: string | undefined;
  if (status === 409 && (code === INGEST_CODES.alreadyExists || code === `http_${status}`)) {
    if (sending.mayHaveArrived) return acknowledged(sending, 'none', '', 'replayed');
    if (!isSecond) {
      if (earlierSend === 'other') return acknowledged(sending, 'none', '', 'changed');
      // The earlier run may have sent the second request too. It is sent again: with the same id that is harmless.
      if (policies.if_exists === 'update' && useSecondRequest(sending)) {
        sending.isReplay = earlierSend === 'same';
        return undefined;
      }
      if (earlierSend === 'same') return acknowledged(sending, 'none', '', 'replayed');
      if (policies.if_exists === 'skip') return acknowledged(sending, 'none', '', INGEST_CODES.alreadyExists);
      hint = 'set `if_exists: skip` to keep such records, or `if_exists: update` to overwrite them';
    }
  }
  if (status === 422 && code === INGEST_CODES.notFound && isUpdate(type) && !isSecond) {
    if (policies.if_missing === 'skip') return acknowledged(sending, 'none', '', INGEST_CODES.notFound);
    if (policies.if_missing === 'create' && useSecondRequest(sending)) return undefined;
    hint = 'set `if_missing: skip` to drop such updates, or `if_missing: create` to create the record';
  }
  const more = { ...(field === undefined ? {} : { field }), ...(hint === undefined ? {} : { hint }) };
  return rejected(sending, { code, message, httpStatus: status, ...more });
}

/** Switches to the event's second request; returns false if it has none. */
function useSecondRequest(sending: SendState): boolean {
  const { second } = sending.delivery;
  if (!second) return false;
  Object.assign(sending, { ...second, isSecond: true, tries: 0, failures: 0, unanswered: 0, mayHaveArrived: false });
  return true;
}
