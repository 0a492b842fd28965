/**
 * The service interface as data: paths, headers, bodies and codes, each with the section of the service interface that
 * defines it. No I/O.
 */
import { z } from 'zod';
import { oneLine, visible } from './report/words/visible.ts';
import { isCurrency } from './kinds/currencies.ts';

/** Section 8. */
export const LIMITS = {
  requestsPerWindow: 100,
  windowSeconds: 60,
  bodyBytes: 10_000_000,
  pageSize: 100,
} as const;

/** Section 4. Paths are relative to the base URL. */
export const PATHS = {
  ingest: '/webhooks/ingest',
  pipelines: '/pipelines',
  platformUsers: '/platform-users',
  leads: '/leads',
  deals: '/deals',
  comments: '/comments',
  health: '/health',
  version: '/version',
  /** The reference of every route and field, for people; it decides where this program differs. */
  reference: '/docs/partners',
} as const;

/** Sections 4.2, 5 and 8; lower case, as undici and Node give them. */
export const HEADERS = {
  apiKey: 'x-api-key',
  suppressTriggers: 'x-suppress-triggers',
  limit: 'x-ratelimit-limit',
  remaining: 'x-ratelimit-remaining',
  reset: 'x-ratelimit-reset',
  retryAfter: 'retry-after',
} as const;

/** The headers of answers that are read; the others are dropped. */
export const ANSWER_HEADERS = [
  ...[HEADERS.limit, HEADERS.remaining, HEADERS.reset, HEADERS.retryAfter],
  ...(['date', 'location', 'deprecation', 'sunset', 'link'] as const),
] as const;
export type AnswerHeaders = Partial<Record<(typeof ANSWER_HEADERS)[number], string>>;

/**
 * Section 2.7: the only body that acknowledges an event. It has no `success`; errors have `success: false` (section 7.3). The id is printed
 * and written to tables, so characters that a terminal would interpret are shown as code points.
 */
export const acknowledgement = z.looseObject({
  success: z.literal(true).optional(),
  status: z.literal('processed'),
  entity: z.string(),
  id: z
    .string()
    .min(1)
    .transform((id) => oneLine(visible(id))),
  outcome: z.enum(['created', 'updated', 'none']),
  deduplicated: z.boolean(),
});
export type Acknowledgement = z.infer<typeof acknowledgement>;

/** Section 7.3: error codes of the webhook that are handled specially. */
export const INGEST_CODES = {
  alreadyExists: 'already_exists',
  notFound: 'not_found',
  parentNotFound: 'parent_not_found',
  unresolvedReference: 'unresolved_reference',
  invalidPayload: 'invalid_payload',
  authFailed: 'webhook_auth_failed',
  internal: 'internal',
} as const;

/** One `@`, nothing that only quoted local parts may have (RFC 5322, section 3.4.1), and a domain whose labels are not empty. No mailbox has an accent of its own, such as the dot that `lowercase` leaves of `İ`. */
const EMAIL =
  /^[^\s\p{C}\u0300-\u036f@<>()[\],;:"\\]+@[^\s\p{C}\u0300-\u036f@<>()[\],;:"\\./]+(?:\.[^\s\p{C}\u0300-\u036f@<>()[\],;:"\\./]+)*$/u;

/**
 * Whether the text of a field is valid. The phone number format is the service's (section 2.4). The mapping applies these rules, since
 * it decides what happens to an invalid value.
 */
export const FIELD_RULES = {
  email: (value: string) => EMAIL.test(value),
  phone_number: (value: string) => /^\+[1-9]\d{1,14}$/.test(value),
  currency: isCurrency,
  content: (value: string) => value.trim() !== '',
} as const;
