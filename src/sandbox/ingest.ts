import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { EVENT_TYPES, type EventType } from '../model.ts';
import { commentData, dealData, INGEST_CODES, leadData, type Acknowledgement } from '../service/contract.ts';
import { uuidOf } from './account.ts';
import type { CommentRecord, DealRecord, LeadRecord } from './store.ts';
import { enveloped, timestamp, type ApiCall, type SandboxContext } from './context.ts';

/** Section 2.3. */
const envelope = z.strictObject({
  id: z.string().min(1),
  type: z.enum(EVENT_TYPES),
  occurred_at: z.iso.datetime({ offset: true }).optional(),
  suppress_triggers: z.boolean().optional(),
  data: z.record(z.string(), z.unknown()),
});
type IncomingEvent = z.infer<typeof envelope>;

/** Checks that the shared schemas do not make: E.164, the currency code, exactly one parent. */
const lead = leadData.extend({
  phone_number: z
    .string()
    .regex(/^\+[1-9]\d{1,14}$/, 'must be E.164')
    .optional(),
});
const deal = dealData.extend({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code')
    .optional(),
});
const comment = commentData
  .extend({ external_id: z.string().min(1).optional() })
  .refine((data) => (data.lead_external_id === undefined) !== (data.deal_external_id === undefined), {
    error: 'exactly one of lead_external_id and deal_external_id is required',
  });

export interface IngestResponse {
  readonly status: 200 | 400 | 409 | 413 | 422;
  readonly body: object;
}

/** An answer other than 200; nothing has been changed. */
class Refusal extends Error {
  readonly reply: IngestResponse;

  constructor(status: IngestResponse['status'], code: string, message: string) {
    super(message);
    this.reply = { status, body: enveloped(code, message) };
  }
}

/**
 * Processes one event (service interface, sections 2.3 to 2.7, 3 and 6). Both credentials have been checked. Its
 * changes are applied and in the journal before the answer is sent.
 */
export async function ingest(context: SandboxContext, call: ApiCall): Promise<IngestResponse> {
  try {
    return { status: 200, body: await process(context, call) };
  } catch (error) {
    if (error instanceof Refusal) return error.reply;
    throw error;
  }
}

async function process(context: SandboxContext, call: ApiCall): Promise<Acknowledgement> {
  if (call.tooLarge) throw new Refusal(413, INGEST_CODES.invalidPayload, 'the body is larger than 10 MB');
  if (!call.body.ok) throw new Refusal(400, INGEST_CODES.invalidPayload, call.body.error);
  const event = parse(envelope, call.body.value, '');
  const known = context.store.processed(event.id);
  if (known) {
    const entity = known.kind as Acknowledgement['entity'];
    return { status: 'processed', entity, id: known.id, outcome: 'none', deduplicated: true };
  }
  const done = await HANDLERS[event.type](context, event);
  if (event.suppress_triggers !== true && !call.suppressTriggers) context.triggersFired += 1;
  return { status: 'processed', ...done, deduplicated: false };
}

type IngestResult = Pick<Acknowledgement, 'entity' | 'id' | 'outcome'>;

const HANDLERS: Record<EventType, (context: SandboxContext, event: IncomingEvent) => Promise<IngestResult>> = {
  'lead/created': writeLead,
  'lead/updated': writeLead,
  'deal/created': writeDeal,
  'deal/updated': writeDeal,
  'comment/created': writeComment,
};

async function writeLead(context: SandboxContext, event: IncomingEvent): Promise<IngestResult> {
  const data = parse(lead, event.data, 'data');
  const before = strict(event.type, 'lead', data.external_id, context.store.find('Lead', data.external_id));
  const record: LeadRecord = {
    ...kept(context, event, 'Lead', data.external_id, before),
    fullName: data.full_name ?? before?.fullName ?? null,
    email: data.email ?? before?.email ?? null,
    phoneNumber: data.phone_number ?? before?.phoneNumber ?? null,
    companyId: before?.companyId ?? null,
    customParams: { ...before?.customParams, ...(data.custom_params as JsonObject | undefined) },
  };
  await context.store.save('Lead', record, event.id);
  return { entity: 'Lead', id: record.id, outcome: before ? 'updated' : 'created' };
}

async function writeDeal(context: SandboxContext, event: IncomingEvent): Promise<IngestResult> {
  const data = parse(deal, event.data, 'data');
  const before = strict(event.type, 'deal', data.external_id, context.store.find('Deal', data.external_id));
  const contact =
    data.lead_external_id === undefined ? before?.primaryContactId : parentOf(context, 'Lead', data.lead_external_id);
  const stage = stageOf(context, data.stage_id, data.stage_name) ?? before ?? initialStage(context);
  const record: DealRecord = {
    ...kept(context, event, 'Deal', data.external_id, before),
    title: data.title ?? before?.title ?? null,
    amount: data.amount ?? before?.amount ?? null,
    currency: data.currency ?? before?.currency ?? null,
    pipelineId: stage.pipelineId,
    stageId: stage.stageId,
    ownerId: ownerOf(context, data.owner_id, data.owner_name) ?? before?.ownerId ?? null,
    primaryContactId: contact ?? null,
    companyIds: before?.companyIds ?? [],
    contactIds: contact ? [contact] : [],
    customFields: { ...before?.customFields, ...(data.custom_fields as JsonObject | undefined) },
  };
  await context.store.save('Deal', record, event.id);
  return { entity: 'Deal', id: record.id, outcome: before ? 'updated' : 'created' };
}

/** Section 2.6. A comment with a known external id is not created again, even with different content. */
async function writeComment(context: SandboxContext, event: IncomingEvent): Promise<IngestResult> {
  const data = parse(comment, event.data, 'data');
  const known = data.external_id === undefined ? undefined : context.store.find('Comment', data.external_id);
  if (known) {
    await context.store.remember('Comment', known.id, event.id);
    return { entity: 'Comment', id: known.id, outcome: 'none' };
  }
  const { lead_external_id: ofLead, deal_external_id: ofDeal } = data;
  const record: CommentRecord = {
    ...kept(context, event, 'Comment', data.external_id ?? null, undefined),
    content: data.content,
    authorName: data.author_name ?? null,
    leadId: ofLead === undefined ? null : parentOf(context, 'Lead', ofLead),
    dealId: ofDeal === undefined ? null : parentOf(context, 'Deal', ofDeal),
  };
  await context.store.save('Comment', record, event.id);
  return { entity: 'Comment', id: record.id, outcome: 'created' };
}

/** Section 3: created events only create, updated events only update. */
function strict<T>(type: EventType, noun: string, externalId: string, before: T | undefined): T | undefined {
  if (before && type.endsWith('/created')) {
    throw new Refusal(409, INGEST_CODES.alreadyExists, `external_id: ${noun} "${externalId}" already exists`);
  }
  if (!before && type.endsWith('/updated')) {
    throw new Refusal(422, INGEST_CODES.notFound, `external_id: ${noun} "${externalId}" does not exist`);
  }
  return before;
}

function parentOf(context: SandboxContext, kind: 'Lead' | 'Deal', externalId: string): string {
  const parent = context.store.find(kind, externalId);
  if (parent) return parent.id;
  const noun = kind.toLowerCase();
  throw new Refusal(422, INGEST_CODES.parentNotFound, `${noun}_external_id: ${noun} "${externalId}" does not exist`);
}

interface StageRef {
  readonly pipelineId: string;
  readonly stageId: string;
}

/** Section 2.5, rules 1 to 3: an id is authoritative; a name must match exactly one stage. */
function stageOf(context: SandboxContext, id: string | undefined, name: string | undefined): StageRef | undefined {
  const places = context.account.pipelines
    .filter(({ type }) => type === 'DEAL')
    .flatMap((pipeline) => pipeline.stages.map((stage) => ({ ...stage, pipelineId: pipeline.id, stageId: stage.id })));
  if (id !== undefined)
    return one(
      'stage_id',
      id,
      places.filter((stage) => sameId(stage.id, id)),
    );
  if (name !== undefined)
    return one(
      'stage_name',
      name,
      places.filter((stage) => stage.name === name),
    );
  return undefined;
}

/** Section 2.5, rule 4; the first deal pipeline is the default one. */
function initialStage(context: SandboxContext): StageRef {
  const pipeline = context.account.pipelines.find(({ type, stages }) => type === 'DEAL' && stages.length > 0);
  if (pipeline) return { pipelineId: pipeline.id, stageId: pipeline.stages[0]!.id };
  throw new Refusal(422, INGEST_CODES.unresolvedReference, 'the account has no deal pipeline with a stage');
}

function ownerOf(context: SandboxContext, id: string | undefined, name: string | undefined): string | undefined {
  const { users } = context.account;
  if (id !== undefined)
    return one(
      'owner_id',
      id,
      users.filter((user) => sameId(user.id, id)),
    ).id;
  if (name !== undefined)
    return one(
      'owner_name',
      name,
      users.filter(({ names }) => names.includes(name)),
    ).id;
  return undefined;
}

function one<T>(field: string, wanted: string, found: readonly T[]): T {
  if (found.length === 1) return found[0]!;
  const why = found.length === 0 ? 'not found' : `ambiguous, ${found.length} matches`;
  throw new Refusal(422, INGEST_CODES.unresolvedReference, `${field}: "${wanted}" is ${why}`);
}

function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Ids are derived from external ids (or from the event, if there is none), so that two rehearsals can be compared. */
function kept(
  context: SandboxContext,
  event: IncomingEvent,
  kind: 'Lead' | 'Deal' | 'Comment',
  externalId: string | null,
  before: LeadRecord | DealRecord | undefined,
): Pick<LeadRecord, 'id' | 'externalId' | 'createdAt' | 'updatedAt' | 'revision' | 'occurredAt'> {
  const at = timestamp(context);
  return {
    id: before?.id ?? (externalId === null ? uuidOf(kind, 'event', event.id) : uuidOf(kind, externalId)),
    externalId,
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
    revision: (before?.revision ?? 0) + 1,
    occurredAt: event.occurred_at ?? before?.occurredAt ?? null,
  };
}

function parse<T>(schema: z.ZodType<T>, value: unknown, at: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const unknownKey = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [...(at === '' ? [] : [at]), ...issue.path.map(String), ...unknownKey].join('.');
  throw new Refusal(400, INGEST_CODES.invalidPayload, field === '' ? issue.message : `${field}: ${issue.message}`);
}
