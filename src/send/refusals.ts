/** Words for refusals, by the service or by something on the way. No I/O. */
import { EXIT } from '../errors.ts';
import type { HaltReason } from '../halt.ts';
import { CUSTOM_FIELDS } from '../kinds/index.ts';
import type { Intercepted, Unauthorised } from '../service/reply.ts';
import type { Delivered } from './delivery.ts';
import { isObject, type JsonObject } from '../json.ts';

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

/** The end of one event that somebody on the way refuses. */
export function notTheWebhook({ status, code, message }: Intercepted, attempts: number): Delivered {
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
