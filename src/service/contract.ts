/**
 * The service as data: paths, headers, bodies and codes, each with the section of the service interface it comes from.
 * Nothing here talks to it.
 */
import { createRequire } from 'node:module';
import type * as currencyCodes from 'currency-codes';
import { z } from 'zod';

/** Section 8. */
export const LIMITS = {
  requestsPerWindow: 100,
  windowSeconds: 60,
  bodyBytes: 10 * 1024 * 1024,
  pageSize: 100,
  idempotencyKeyLength: 255,
} as const;

/** Section 4. Paths are relative to the base URL. */
export const PATHS = {
  ingest: '/webhooks/ingest',
  pipelines: '/pipelines',
  platformUsers: '/platform-users',
  leads: '/leads',
  deals: '/deals',
  health: '/health',
  version: '/version',
} as const;

/** Sections 4.2, 5 and 8; lower case, as undici and Node give them. */
export const HEADERS = {
  apiKey: 'x-api-key',
  suppressTriggers: 'x-suppress-triggers',
  idempotencyKey: 'idempotency-key',
  limit: 'x-ratelimit-limit',
  remaining: 'x-ratelimit-remaining',
  reset: 'x-ratelimit-reset',
  retryAfter: 'retry-after',
} as const;

const text = z.string();

/** Section 2.4. */
export const leadData = z.strictObject({
  external_id: text.min(1),
  full_name: text.optional(),
  email: text.optional(),
  phone_number: text.optional(),
  custom_params: z.record(z.string(), z.unknown()).optional(),
});

/** Section 2.5. */
export const dealData = z.strictObject({
  external_id: text.min(1),
  title: text.optional(),
  amount: z.number().optional(),
  currency: text.optional(),
  lead_external_id: text.optional(),
  stage_id: z.guid().optional(),
  stage_name: text.optional(),
  owner_id: z.guid().optional(),
  owner_name: text.optional(),
  custom_fields: z.record(z.string(), z.unknown()).optional(),
});

/** Section 2.6; that exactly one parent is named is checked beside it. */
export const commentData = z.strictObject({
  content: text.min(1),
  external_id: text.optional(),
  author_name: text.optional(),
  lead_external_id: text.optional(),
  deal_external_id: text.optional(),
});

/** Section 2.7: the only body that acknowledges an event. */
export const acknowledgement = z.looseObject({
  status: z.literal('processed'),
  entity: z.enum(['Lead', 'Deal', 'Comment']),
  id: text.min(1),
  outcome: z.enum(['created', 'updated', 'none']),
  deduplicated: z.boolean(),
});
export type Acknowledgement = z.infer<typeof acknowledgement>;

/** Section 7.3: codes of the webhook that decide what happens next. */
export const INGEST_CODES = {
  alreadyExists: 'already_exists',
  notFound: 'not_found',
  parentNotFound: 'parent_not_found',
  unresolvedReference: 'unresolved_reference',
  invalidPayload: 'invalid_payload',
  authFailed: 'webhook_auth_failed',
  internal: 'internal',
} as const;

let currencies: ReadonlySet<string> | undefined;

/** Whether a code is one of ISO 4217; their list is loaded for mappings that have amounts. */
function isCurrency(code: string): boolean {
  currencies ??= new Set((createRequire(import.meta.url)('currency-codes') as typeof currencyCodes).codes());
  return currencies.has(code);
}

/**
 * What the text of a field must be beyond being text, worded as what is wrong with it; undefined when it is right. The
 * form of phone numbers is the service's (section 2.4); the others are what any address or currency code is. The mapping
 * applies them, since it also says what becomes of a value that is refused.
 */
export const FIELD_RULES: Readonly<Record<string, (value: string) => string | undefined>> = {
  external_id: (value) => (value === '' ? 'is empty' : undefined),
  email: (value) => (/^[^\s@]+@[^\s@]+$/.test(value) ? undefined : 'is no e-mail address (one @, no spaces)'),
  phone_number: (value) => (/^\+[1-9]\d{1,14}$/.test(value) ? undefined : 'is not in the form E.164 (`+390612345678`)'),
  currency: (value) => (isCurrency(value) ? undefined : 'is no ISO 4217 code (`EUR`)'),
  content: (value) => (value.trim() === '' ? 'is empty' : undefined),
};

export const FIELD_HINTS: Readonly<Record<string, string>> = {
  email: 'correct the cell, or give the field `on_error: omit`',
  phone_number: 'give the field `apply: [phone]` and a region',
  amount: 'give the field `apply: [{ number: … }]` with the separators of the export',
  currency: 'use a `map` transform to ISO 4217 codes',
};
