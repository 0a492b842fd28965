/**
 * Interprets answers of the service, and failures to get one (service interface, sections 2.7 and 7). Pure: no I/O;
 * secrets have been redacted from all texts before.
 */
import { codeOf, EXIT, messageOf, shortageOf } from '../errors.ts';
import { tryParseJson } from '../json.ts';
import { UndecodableBody } from './content-encoding.ts';
import { acknowledgement, HEADERS, INGEST_CODES, type Acknowledgement } from '../contract.ts';
import { isFields } from './list-page.ts';
import { describeBody, errorOf, messageOfPage, shorten, type Reply } from './error-body.ts';
import { issueOf } from '../report/words/words.ts';
import type { ProblemParts } from '../problem.ts';

interface Explained {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** The service understood the request and refused it. Sending the same request again would not help. */
export interface Refused extends Explained {
  readonly kind: 'refused';
  readonly field?: string;
}

export interface RateLimited {
  readonly kind: 'rate_limited';
  /** Milliseconds; undefined if the service did not say. */
  readonly retryAfterMs: number | undefined;
}

export interface Unauthorised extends Explained {
  readonly kind: 'unauthorised';
}

/**
 * 403, 404, 405 or 410 that the webhook itself does not give: a firewall refused this one event, or the base URL or the
 * credentials are wrong.
 */
export interface Intercepted extends Explained {
  readonly kind: 'intercepted';
}

/** No usable answer. A retry may help, and is safe with the same id. */
export interface NoAnswer {
  readonly kind: 'unanswered';
  readonly code: string;
  readonly message: string;
  /** `no`: the request definitely did not reach the service. */
  readonly sent: 'no' | 'maybe';
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** No connection is possible with this configuration (certificate, protocol, address, proxy). */
  readonly setup?: true;
  /** Such a failure does not pass by itself, even if requests succeeded before. */
  readonly lasting?: true;
  /** How to correct the configuration. */
  readonly hint?: string;
}

/** `sent`: whether the request may have reached the service. */
function noAnswer(
  { code, message, hint }: Pick<ProblemParts, 'code' | 'message' | 'hint'>,
  sent: NoAnswer['sent'],
  more: Partial<Omit<NoAnswer, 'kind' | 'code' | 'message' | 'sent'>> = {},
): NoAnswer {
  return { kind: 'unanswered', code, message, sent, ...(hint !== undefined && { hint }), ...more };
}

/** The run stopped before the request was sent. */
interface Withdrawn {
  readonly kind: 'withdrawn';
}

/** How one attempt to send an event ended. */
export type Attempt =
  | { readonly kind: 'acknowledged'; readonly acknowledgement: Acknowledgement }
  | Refused
  | RateLimited
  | Unauthorised
  | Intercepted
  | NoAnswer
  | Withdrawn;

/** How one attempt to call a REST route ended; `reply` is the answer, if there was one. */
export type RestAttempt =
  | { readonly kind: 'answered'; readonly reply: Reply }
  | ((Refused | RateLimited | Unauthorised) & { readonly reply: Reply })
  | (NoAnswer & { readonly reply?: Reply })
  | Withdrawn;

/**
 * An answer of the ingestion webhook to an event about this entity. `now` is the wall clock in milliseconds, for a
 * Retry-After given as a date.
 */
export function readIngestReply(reply: Reply, now: number, entity: string | undefined): Attempt {
  const { status } = reply;
  if (status >= 200 && status < 300) {
    // Only 200 is documented as an acknowledgement (section 4.2): any other success may come from something between.
    const parsed = acknowledgement.safeParse(tryParseJson(reply.body));
    if (status === 200 && parsed.success && parsed.data.entity === entity)
      return { kind: 'acknowledged', acknowledgement: parsed.data };
    return broken(status, noAcknowledgement(reply));
  }
  const { code } = errorOf(reply);
  if ((status === 403 && code !== INGEST_CODES.authFailed) || status === 404 || status === 405 || status === 410) {
    const plain = status === 403 ? 'forbidden' : `http_${status}`;
    return { kind: 'intercepted', status, code: code ?? plain, message: messageOfPage(reply) };
  }
  return readFailure(reply, now);
}

/** The parts of an acknowledgement. The first missing one is named. */
const PARTS = {
  id: 'an id',
  status: 'a status',
  entity: 'an entity',
  outcome: 'an outcome',
  deduplicated: 'deduplicated',
} as const satisfies Readonly<Partial<Record<keyof Acknowledgement, string>>>;

function noAcknowledgement(reply: Reply): string {
  const body = tryParseJson(reply.body);
  const missing = isFields(body) ? Object.entries(PARTS).find(([key]) => !Object.hasOwn(body, key)) : undefined;
  const without = missing === undefined ? '' : ` without ${missing[1]},`;
  return `answered ${reply.status}${without} with ${describeBody(reply)} instead of the documented body`;
}

/** An answer of a REST route. The body of a success must be JSON or empty. */
export function readRestReply(reply: Reply, now: number): RestAttempt {
  const { status } = reply;
  if (status < 200 || status >= 300) return { ...readFailure(reply, now), reply };
  if (reply.body === '' || tryParseJson(reply.body) !== undefined) return { kind: 'answered', reply };
  return { ...broken(status, `answered ${status} with ${describeBody(reply)} instead of JSON`), reply };
}

function readFailure(reply: Reply, now: number): Refused | RateLimited | Unauthorised | NoAnswer {
  const { status } = reply;
  const { code, message, field } = errorOf(reply);
  const retryAfterMs = readRetryAfter(reply.headers, now);
  if (status === 429) return { kind: 'rate_limited', retryAfterMs };
  if (status === 401 || status === 403) {
    return { kind: 'unauthorised', status, code: code ?? (status === 401 ? 'unauthorised' : 'forbidden'), message };
  }
  if (status === 407) return { ...proxyRefusal(), status };
  if (status >= 500 || status === 408 || status === 425) {
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const fallback = status === 500 ? INGEST_CODES.internal : `http_${status}`;
    return noAnswer({ code: code ?? fallback, message }, 'maybe', { status, ...wait });
  }
  if (status < 400) {
    const to = reply.headers.location;
    const where = to === undefined ? '' : ` to ${shorten(to)}`;
    return noAnswer(issueOf('redirected', status, where), 'maybe', { status });
  }
  return { kind: 'refused', status, code: code ?? `http_${status}`, message, ...(field !== undefined && { field }) };
}

/** A proxy did not accept its user name and password: the service was not reached. */
function proxyRefusal(variable?: string): NoAnswer {
  const hint = `check the user name and password of the proxy in ${variable ?? 'HTTPS_PROXY'} (http://user:password@host:port)`;
  return noAnswer(issueOf('proxy_auth', variable), 'no', { setup: true, lasting: true, hint });
}

function broken(status: number, message: string): NoAnswer {
  return noAnswer(issueOf('unexpected_answer', message), 'maybe', { status });
}

/** A year: nothing waits longer, and it can be computed with. */
const LONGEST_RETRY_AFTER_MS = 365 * 24 * 60 * 60 * 1000;

/** Several headers arrive as one, and dates contain commas. */
const WAITS = /[a-z]{3,9}, \d[^,]*|[^,]+/gi;
/** A number this large is a Unix time, not a wait: in seconds, or in milliseconds. */
const UNIX_TIMES = [
  { from: 1e9, to: 1e11, unitMs: 1000 },
  { from: 1e12, to: 1e14, unitMs: 1 },
] as const;

/**
 * The milliseconds to wait, from Retry-After in seconds, as an HTTP date or as a Unix time; the longest of several; undefined if
 * it is absent or invalid. A time is compared with the Date of the same answer if it has one, because the server's clock may
 * differ from ours.
 */
export function readRetryAfter(headers: Reply['headers'], now: number): number | undefined {
  const sent = Date.parse(headers.date ?? '');
  const from = Number.isNaN(sent) ? now : sent;
  const waits = (headers[HEADERS.retryAfter]?.match(WAITS) ?? [])
    .map((value) => waitOf(value.trim(), from))
    .filter((ms) => !Number.isNaN(ms));
  return waits.length === 0 ? undefined : Math.min(Math.max(0, ...waits), LONGEST_RETRY_AFTER_MS);
}

/** NaN if it is none. */
function waitOf(value: string, from: number): number {
  if (value === '') return Number.NaN;
  const number = Number(value);
  if (Number.isNaN(number)) return Date.parse(value) - from;
  const unix = UNIX_TIMES.find((each) => number >= each.from && number < each.to);
  return unix ? number * unix.unitMs - from : number * 1000;
}

/** What came instead of an answer, for people: `500 internal: out of memory`, `no answer within 30 s (--timeout)`. */
export function causeOf({ status, code, message }: NoAnswer): string {
  return status === undefined || message.startsWith('answered ') ? message : `${status} ${code}: ${message}`;
}

/** Why a request was aborted. */
export type Cut = 'timeout' | 'asleep' | 'aborted';

const TOO_LARGE: ReadonlySet<string> = new Set(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW']);

const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Why a certificate is not accepted, by error code; all others of this form are not trusted. */
const CERTIFICATE_ERROR =
  /^(CERT_|CRL_|UNABLE_TO_|ERROR_IN_CERT_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA$|INVALID_PURPOSE$)/;
const CERTIFICATE_MISTAKES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'has been revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host name',
  HOSTNAME_MISMATCH: 'is for another host name',
  UND_ERR_PRX_TLS: 'is for another host name',
};
const SETUP_ERROR = /^(ERR_SSL_|ERR_TLS_|EPROTO$)/;
/** undici gives the status of a proxy in the message alone. */
const TUNNEL_REFUSED = /^Proxy response \((\d{3})\)/;
const REQUEST_ERROR = /^(UND_ERR_INVALID_ARG|ERR_INVALID_URL|ERR_INVALID_CHAR|ERR_INVALID_ARG_\w+)$/;

/**
 * Interprets a request that failed without an answer. Of errors that are not our own only the code is used, because
 * their message, `input` or `cause` may contain the URL with the ingestion token. `proxy`: the variable that names the
 * proxy, if there is one; `timeoutSeconds`: --timeout.
 */
export function readError(error: unknown, cut: Cut | undefined, proxy?: string, timeoutSeconds?: number): NoAnswer {
  if (cut === 'timeout') return noAnswer(issueOf(cut, timeoutSeconds), 'maybe');
  if (cut) return noAnswer(issueOf(cut), 'maybe');
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown } | null)?.cause) ?? 'unknown';
  if (error instanceof UndecodableBody && !error.isTooLarge) {
    return noAnswer(issueOf('unexpected_answer', `the answer cannot be read: ${error.message}`), 'maybe');
  }
  if (TOO_LARGE.has(code) || error instanceof UndecodableBody) {
    return noAnswer(issueOf('too_large'), 'maybe');
  }
  const tunnel = code === 'UND_ERR_ABORTED' ? TUNNEL_REFUSED.exec(messageOf(error))?.[1] : undefined;
  if (tunnel === '407') return proxyRefusal(proxy);
  if (tunnel !== undefined) return noAnswer(issueOf('unreachable/proxy', proxy, tunnel), 'no');
  if (CERTIFICATE_ERROR.test(code) || Object.hasOwn(CERTIFICATE_MISTAKES, code)) return certificateRefusal(code);
  if (SETUP_ERROR.test(code)) return noAnswer(issueOf('tls', code), 'no', { setup: true });
  if (REQUEST_ERROR.test(code)) return noAnswer(issueOf('unsendable', code), 'no', { setup: true });
  if (code === 'EMFILE' || code === 'ENFILE') {
    const { message, hint } = shortageOf(Object.assign(new Error(code), { code }), EXIT.stopped)!;
    return noAnswer(issueOf('too_many_files', message), 'no', { setup: true, lasting: true, hint: hint! });
  }
  if (NEVER_SENT.has(code)) {
    const way = proxy === undefined ? '' : `; ${proxy} is set`;
    return noAnswer(issueOf('unreachable', `${code}${way}`), 'no');
  }
  return noAnswer(issueOf('connection_lost', code), 'maybe');
}

function certificateRefusal(code: string): NoAnswer {
  const mistake = Object.hasOwn(CERTIFICATE_MISTAKES, code) ? CERTIFICATE_MISTAKES[code]! : undefined;
  const issue = mistake === undefined ? issueOf('tls/untrusted', code) : issueOf('tls/mistake', mistake, code);
  return noAnswer(issue, 'no', { setup: true });
}
