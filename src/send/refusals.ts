/** What follows the refusal of a request, by the service or by something on the way. No I/O. */
import { EXIT } from '../errors.ts';
import type { HaltReason } from '../halt.ts';
import { isUpdate, CUSTOM_FIELDS } from '../kinds/index.ts';
import { INGEST_CODES } from '../contract.ts';
import type { Intercepted, Refused, Unauthorised } from '../service/reply.ts';
import { dataOf, type Delivered, type SendState } from './delivery.ts';
import { isObject, type JsonObject } from '../json.ts';

/** How often a request that was answered 409 is sent again with the same id, to learn whether the record is ours. */
const MAX_ASKED_AGAIN = 2;

/**
 * The end of a refused request; undefined if it is sent once more. A 409 after an attempt that may have arrived does not tell who created
 * the record, because the first attempt may still be in progress: the service answers `deduplicated` if it has processed
 * that id (service interface, section 6.3); otherwise the record is somebody else's.
 */
export function refused(sending: SendState, attempt: Refused): Delivered | undefined {
  const { delivery, mayHaveArrived, attempts } = sending;
  const { status, code, message } = attempt;
  const field = attempt.field ?? namedField(message, dataOf(delivery));
  const exists = status === 409 && (code === INGEST_CODES.alreadyExists || code === 'http_409');
  const mayBeOurs = mayHaveArrived || delivery.mayHaveArrivedBefore;
  if (exists && mayBeOurs && sending.askedAgain < MAX_ASKED_AGAIN) return undefined;
  const isMissing = status === 422 && code === INGEST_CODES.notFound && isUpdate(delivery.type);
  const why = exists ? 'exists' : isMissing ? 'missing' : 'other';
  return { kind: 'refused', why, code, message, httpStatus: status, field, attempts };
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
export function wrongTarget(attempt: Intercepted): HaltReason {
  if (attempt.status === 403) return credentialsRefused(attempt);
  return {
    code: 'wrong_base_url',
    message: `no ingestion webhook at this base URL (${attempt.status}): ${attempt.message}`,
    hint: 'compare the base URL with the ingestion URL in the dashboard, then rerun',
    exitCode: EXIT.stopped,
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

export function intercepted({ attempts }: SendState, { status, code, message }: Intercepted): Delivered {
  const hint =
    'not an answer of the ingestion webhook: a firewall or proxy may refuse this event; rerun once it may pass';
  return { kind: 'failed', code, message, hint, httpStatus: status, attempts };
}

/**
 * The field of an event that a message of the service names; messages of the webhook may name the wrong field (service interface, section
 * 7.3). It is the first field whose name is a word of the message. A custom field must be in quotes or follow the name of all custom
 * fields, because its name may be any word. Undefined if there is none.
 */
export function namedField(message: string, data: JsonObject): string | undefined {
  const found = Object.entries(data)
    .flatMap(([name, value]) => [
      { text: name, field: name },
      ...(CUSTOM_FIELDS.includes(name) && isObject(value) ? Object.keys(value).flatMap((key) => forms(name, key)) : []),
    ])
    .map(({ text, field }) => ({ field, length: text.length, at: placeOf(text, message) }))
    .filter(({ at }) => at >= 0);
  return found.sort((one, other) => one.at - other.at || other.length - one.length)[0]?.field;
}

function forms(name: string, key: string): { readonly text: string; readonly field: string }[] {
  const field = `${name}.${key}`;
  return [field, `"${key}"`, `'${key}'`, `\`${key}\``].map((text) => ({ text, field }));
}

/** The index of a text in another as a word of its own; -1 if there is none. */
function placeOf(word: string, text: string): number {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = `${text[at - 1] ?? ''}${text[at + word.length] ?? ''}`;
    if (!/[\p{L}\p{N}_]/u.test(around)) return at;
  }
  return -1;
}
