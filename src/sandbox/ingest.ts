/** The ingestion webhook (service interface, sections 2.3 to 2.7, 3 and 6). */
import { z } from 'zod';
import { entityOf, EVENT_TYPES, kindOf } from '../kinds/index.ts';
import type { Entity } from '../model.ts';
import { INGEST_CODES, type Acknowledgement } from '../contract.ts';
import type { Fields } from '../service/list-page.ts';
import { dealStages, uuidOf } from './account.ts';
import { timestamp, type ApiCall, type SandboxContext } from './context.ts';
import { Refusal, type Success } from './reply.ts';
import type { AnyRecord } from './store.ts';

/** Records of events without any field. */
export const EMPTY: Readonly<Partial<Record<string, Fields>>> = {
  Lead: { fullName: null, email: null, phoneNumber: null, companyId: null, customParams: {} },
  Deal: {
    ...{ title: null, amount: null, currency: null, ownerId: null, primaryContactId: null },
    ...{ companyIds: [], contactIds: [], customFields: {} },
  },
  Comment: { authorName: null },
};

export const phoneNumber = text(/^\+[1-9]\d{1,14}$/, 'must be E.164');

/** Section 2.3. */
const envelope = z.strictObject({
  id: z.string().min(1),
  type: z.enum(EVENT_TYPES),
  occurred_at: z.string().refine(isIsoTime, 'must be a date or time in ISO 8601').optional(),
  suppress_triggers: z.boolean().optional(),
  data: z.record(z.string(), z.unknown()),
});

/** What the service checks beside the fields of a kind (sections 2.4 to 2.6): E.164, the currency code, exactly one parent. */
const DATA: Readonly<Partial<Record<Entity, z.ZodType>>> = {
  lead: kindOf('lead').data.extend({ phone_number: phoneNumber }),
  deal: kindOf('deal').data.extend({ currency: text(/^[A-Z]{3}$/, 'must be a currency code') }),
  comment: kindOf('comment')
    .data.extend({ external_id: z.string().min(1).optional() })
    .refine((data) => (data['lead_external_id'] === undefined) !== (data['deal_external_id'] === undefined), {
      error: 'exactly one of lead_external_id and deal_external_id is required',
    }),
};

/** Fields of comments, which no documented list shows. */
const UNSHOWN: Readonly<Record<string, string>> = { content: 'content', author_name: 'authorName' };

/** What events may say in `data`, after the check. */
type Data = Readonly<Partial<Record<string, string>>> & {
  readonly custom_params?: object;
  readonly custom_fields?: object;
};

function text(pattern: RegExp, error: string) {
  return z.string().regex(pattern, error).optional();
}

/** Processes one event. Its changes are applied and in the journal before the answer is sent. Throws a `Refusal`. */
export function ingest({ context, body, suppressTriggers }: ApiCall, token: string | undefined): Success {
  if (token !== context.ingestToken.reveal()) {
    throw new Refusal(403, INGEST_CODES.authFailed, 'the ingestion token is missing or invalid');
  }
  if (!body.ok) throw new Refusal(body.status, INGEST_CODES.invalidPayload, body.error);
  const event = parse(envelope, body.value, []);
  const known = context.store.processed(event.id);
  const done = known
    ? { entity: known.kind, id: known.id, outcome: 'none', deduplicated: true }
    : { ...write(context, event), deduplicated: false };
  if (!known && event.suppress_triggers !== true && !suppressTriggers) context.triggersFired += 1;
  return { status: 200, body: { status: 'processed', ...done } };
}

type Event = z.infer<typeof envelope>;

/** Section 3: created events only create, updated events only update. A known comment is not created again (section 2.6). */
function write(context: SandboxContext, event: Event): Pick<Acknowledgement, 'entity' | 'id' | 'outcome'> {
  const { store } = context;
  const noun = entityOf(event.type);
  const kind = kindOf(noun).acknowledgedAs;
  const data = parse<unknown>(DATA[noun] ?? kindOf(noun).data, event.data, ['data']) as Data;
  const externalId = data.external_id ?? null;
  const before = externalId === null ? undefined : store.find(kind, externalId);
  if (before && kind === 'Comment') {
    store.write({ kind, event: { id: event.id, record: before.id } });
    return { entity: kind, id: before.id, outcome: 'none' };
  }
  const named = `external_id: ${noun} "${externalId}"`;
  if (before && event.type.endsWith('/created')) {
    throw new Refusal(409, INGEST_CODES.alreadyExists, `${named} already exists`);
  }
  if (!before && event.type.endsWith('/updated')) {
    throw new Refusal(422, INGEST_CODES.notFound, `${named} does not exist`);
  }
  const at = timestamp(context);
  // Ids are derived from external ids (or from the event, if there is none), so that two rehearsals can be compared.
  const source = externalId === null ? ['event', event.id] : [externalId];
  const old: Fields = { ...EMPTY[kind], ...before };
  const fields: Fields = { ...old, ...fieldsOf(context, noun, data, old) };
  const record: AnyRecord = {
    ...fields,
    ...(kind === 'Deal' ? dealFields(context, data, fields) : {}),
    ...(kind === 'Lead' ? { customParams: { ...(old.customParams as object), ...data.custom_params } } : {}),
    id: before?.id ?? uuidOf(kind, ...source),
    externalId,
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
    revision: (before?.revision ?? 0) + 1,
    occurredAt: event.occurred_at ?? before?.occurredAt ?? null,
  };
  store.write({ kind, record, event: { id: event.id, record: record.id } });
  return { entity: kind, id: record.id, outcome: before ? 'updated' : 'created' };
}

/** What every kind has: fields that the service shows as they were sent, and the ids of parents. */
function fieldsOf(context: SandboxContext, noun: Entity, data: Data, old: Fields): Fields {
  const { fields, parents } = kindOf(noun);
  const plain = fields.flatMap(({ name, form, shownAs = UNSHOWN[name] }) =>
    shownAs === undefined || form === 'id' || form === 'exact' || !(name in data) ? [] : [[shownAs, data[name]]],
  );
  const named = parents.map(({ field, kind }) => {
    const shownAs = fields.find(({ name }) => name === field)!.shownAs ?? `${kind}Id`;
    return [shownAs, parentOf(context, kind, field, data) ?? old[shownAs] ?? null];
  });
  return Object.fromEntries([...plain, ...named]) as Fields;
}

/** Section 2.5: an id is authoritative, a name must match exactly one. A new deal enters the first stage of the account. */
function dealFields(context: SandboxContext, data: Data, old: Fields): Fields {
  const { users } = context.account;
  const stages = dealStages(context.account);
  const stage = one('stage', data, stages, ({ name }) => [name]);
  const owner = one('owner', data, users, ({ names }) => names);
  const { pipelineId, id: stageId } = stage ?? { pipelineId: old.pipelineId, id: old.stageId };
  if (stageId === undefined && stages.length === 0) {
    throw new Refusal(422, INGEST_CODES.unresolvedReference, 'the account has no deal pipeline with a stage');
  }
  return {
    pipelineId: pipelineId ?? stages[0]!.pipelineId,
    stageId: stageId ?? stages[0]!.id,
    ownerId: owner?.id ?? old.ownerId,
    contactIds: old.primaryContactId === null ? [] : [old.primaryContactId],
    customFields: { ...(old.customFields as object), ...data.custom_fields },
  };
}

/** The service id of the parent that an event names; null if it names none. */
function parentOf(context: SandboxContext, noun: Entity, field: string, data: Data): string | null {
  const externalId = data[field];
  if (externalId === undefined) return null;
  const parent = context.store.find(kindOf(noun).acknowledgedAs, externalId);
  if (parent) return parent.id;
  const message = `${field}: ${noun} "${externalId}" does not exist`;
  throw new Refusal(422, INGEST_CODES.parentNotFound, message);
}

function one<T extends { readonly id: string }>(
  what: 'stage' | 'owner',
  data: Data,
  among: readonly T[],
  namesOf: (each: T) => readonly string[],
): T | undefined {
  const field = data[`${what}_id`] === undefined ? `${what}_name` : `${what}_id`;
  const wanted = data[field];
  if (wanted === undefined) return undefined;
  const found = among.filter((each) =>
    field.endsWith('_id') ? each.id.toLowerCase() === wanted.toLowerCase() : namesOf(each).includes(wanted),
  );
  if (found.length === 1) return found[0]!;
  const why = found.length === 0 ? 'not found' : `ambiguous, ${found.length} matches`;
  throw new Refusal(422, INGEST_CODES.unresolvedReference, `${field}: "${wanted}" is ${why}`);
}

/** A day of a month, of a week or of a year, or a month or a year alone; then a time, and its offset. The hyphens and colons may be absent. */
const ISO =
  /^(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?|-?W(\d{2})(?:-?[1-7])?|-?(\d{3}))?(?:T(\d{2})(?::?([0-5]\d)(?::?[0-5]\d(?:[.,]\d+)?)?)?(?:Z|[+-](\d{2})(?::?[0-5]\d)?)?)?$/i;

/** Any form that ISO 8601 has for a date, or for a date with a time: basic, reduced, by week, by day of the year. */
function isIsoTime(given: string): boolean {
  const [whole, ...parts] = ISO.exec(given) ?? [];
  const [year = 0, month = 1, day = 1, week = 1, dayOfYear = 1, hour = 0, , offset = 0] = parts.map((part) =>
    part === undefined ? undefined : Number(part),
  );
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const isIn = (value: number, least: number, most: number): boolean => value >= least && value <= most;
  return (
    whole !== undefined &&
    exists &&
    isIn(week, 1, 53) &&
    isIn(dayOfYear, 1, 366) &&
    isIn(hour, 0, 24) &&
    isIn(offset, 0, 14)
  );
}

function parse<T>(schema: z.ZodType<T>, value: unknown, at: readonly string[]): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const unknownKey = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [...at, ...issue.path.map(String), ...unknownKey].join('.');
  throw new Refusal(400, INGEST_CODES.invalidPayload, field === '' ? issue.message : `${field}: ${issue.message}`);
}
