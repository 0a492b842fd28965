/** Creates CRM records for the POST routes. The canonical and the legacy routes format the answers differently. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { HEADERS, LIMITS } from '../service/contract.ts';
import { TEMPLATES } from './examples.ts';
import { publicRecord, type PublicRecord } from './present.ts';
import type { RecordKind } from './store.ts';
import { timestamp, type ApiCall, type SandboxContext } from './context.ts';

export type CreatableKind = Exclude<RecordKind, 'Comment'>;
export type DocumentKind = Extract<RecordKind, 'Quote' | 'Contract'>;

/** `code` is used by the routes that answer with an envelope. */
export type CreateResponse =
  | { readonly status: 201; readonly body: PublicRecord }
  | { readonly status: 400 | 409 | 413 | 422; readonly code: string; readonly message: string };

const document = z.looseObject({ dealId: z.string(), templateId: z.string() });

const bodies = {
  Lead: z.looseObject({
    fullName: z.string().optional(),
    phoneNumber: z
      .string()
      .regex(/^\+[1-9]\d{1,14}$/, 'must be E.164')
      .optional(),
    email: z.string().optional(),
    companyId: z.string().optional(),
  }),
  Deal: z.looseObject({
    title: z.string().optional(),
    pipelineId: z.string().optional(),
    stageId: z.string().optional(),
    primaryContactId: z.string().optional(),
    amount: z.number().optional(),
    currency: z.string().optional(),
    companyIds: z.array(z.string()).optional(),
    contactIds: z.array(z.string()).optional(),
  }),
  Company: z.looseObject({}),
  Activity: z.looseObject({}),
  Quote: document,
  Contract: document,
  Message: z.looseObject({}),
};

/** What a new record has beside what the caller sent (service interface, section 3). */
const INITIAL: Readonly<Partial<Record<CreatableKind, JsonObject>>> = {
  Quote: { status: 'DRAFT' },
  Contract: { status: 'DRAFT' },
  Message: { status: 'PENDING', media: [] },
};

interface CachedResponse {
  readonly request: string;
  readonly response: CreateResponse;
  readonly at: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Creates records, each Idempotency-Key at most once within 24 hours (service interface, section 8). */
export class Creator {
  readonly #context: SandboxContext;
  readonly #responses = new Map<string, CachedResponse>();

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  /** `fields`: what the path says about the record. */
  create(kind: CreatableKind, call: ApiCall, headers: Headers, fields: JsonObject = {}): Promise<CreateResponse> {
    return this.once(`${kind} ${JSON.stringify(fields)}`, call, headers, (value) => this.#create(kind, value, fields));
  }

  /** Sends a document that exists. */
  send(kind: DocumentKind, id: string, call: ApiCall, headers: Headers): Promise<CreateResponse> {
    return this.once(`send ${id}`, call, headers, async () => {
      const context = this.#context;
      const record = context.store.get(kind, id)!;
      const sent = { fields: { ...record.fields, status: 'SENT' }, revision: record.revision + 1 };
      await context.store.save(kind, { ...record, ...sent, updatedAt: timestamp(context) });
      context.triggersFired += 1;
      return { status: 201, body: publicRecord(context, kind, id)! };
    });
  }

  /** Does `make` with the body, once per Idempotency-Key. `what`: the kind of operation, which is part of the request. */
  async once(
    what: string,
    call: ApiCall,
    headers: Headers,
    make: (value: unknown) => CreateResponse | Promise<CreateResponse>,
  ): Promise<CreateResponse> {
    if (call.tooLarge) return invalid('the body is larger than 10 MB', 413);
    if (!call.body.ok) return invalid(call.body.error);
    const key = headers.get(HEADERS.idempotencyKey);
    if (key === null) return make(call.body.value);
    if (key.length > LIMITS.idempotencyKeyLength) return invalid('Idempotency-Key is longer than 255 characters');

    const request = `${what} ${JSON.stringify(call.body.value)}`;
    const now = this.#context.now();
    const before = this.#responses.get(key);
    if (before && now - before.at < DAY_MS) {
      if (before.request === request) return before.response;
      const message = 'this Idempotency-Key was used before with a different body';
      return { status: 422, code: 'IDEMPOTENCY_KEY_MISMATCH', message };
    }
    const response = await make(call.body.value);
    if (response.status === 201) this.#responses.set(key, { request, response, at: now });
    return response;
  }

  async #create(kind: CreatableKind, value: unknown, fields: JsonObject): Promise<CreateResponse> {
    const parsed = bodies[kind].safeParse(value);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      return invalid(`${issue.path.join('.') || 'body'}: ${issue.message}`);
    }
    const context = this.#context;
    const at = timestamp(context);
    const kept = { id: randomUUID(), externalId: null, createdAt: at, updatedAt: at, revision: 1, occurredAt: null };
    if (kind === 'Lead') {
      const lead = bodies.Lead.parse(value);
      await context.store.save('Lead', {
        ...kept,
        fullName: lead.fullName ?? null,
        email: lead.email ?? null,
        phoneNumber: lead.phoneNumber ?? null,
        companyId: lead.companyId ?? null,
        customParams: {},
      });
    } else if (kind === 'Deal') {
      const deal = bodies.Deal.parse(value);
      const places = context.account.pipelines
        .filter(({ type }) => type === 'DEAL')
        .flatMap((pipeline) => pipeline.stages.map((stage) => ({ pipelineId: pipeline.id, stageId: stage.id })));
      const place = places.find(
        ({ pipelineId, stageId }) =>
          pipelineId === (deal.pipelineId ?? pipelineId) && stageId === (deal.stageId ?? stageId),
      );
      if (!place) return conflict('pipelineId and stageId do not match a stage of a deal pipeline');
      if (deal.primaryContactId !== undefined && !context.store.get('Lead', deal.primaryContactId)) {
        return conflict(`primaryContactId: lead ${deal.primaryContactId} does not exist`);
      }
      await context.store.save('Deal', {
        ...kept,
        ...place,
        title: deal.title ?? null,
        amount: deal.amount ?? null,
        currency: deal.currency ?? null,
        ownerId: context.account.users[0]?.id ?? null,
        primaryContactId: deal.primaryContactId ?? null,
        companyIds: deal.companyIds ?? [],
        contactIds: deal.contactIds ?? (deal.primaryContactId === undefined ? [] : [deal.primaryContactId]),
        customFields: {},
      });
    } else {
      const unknown =
        kind === 'Quote' || kind === 'Contract' ? this.#unknownIn(kind, document.parse(value)) : undefined;
      if (unknown !== undefined) return conflict(unknown);
      await context.store.save(kind, { ...kept, fields: { ...(value as JsonObject), ...fields, ...INITIAL[kind] } });
    }
    // Native writes always start automations; there is no header to suppress them.
    context.triggersFired += 1;
    return { status: 201, body: publicRecord(context, kind, kept.id)! };
  }

  #unknownIn(kind: DocumentKind, { dealId, templateId }: z.infer<typeof document>): string | undefined {
    if (!this.#context.store.get('Deal', dealId)) return `dealId: deal ${dealId} does not exist`;
    const type = kind.toUpperCase();
    const known = TEMPLATES.some((template) => template.id === templateId && template.type === type);
    return known ? undefined : `templateId: ${templateId} is not a template of type ${type}`;
  }
}

function invalid(message: string, status: 400 | 413 = 400): CreateResponse {
  return { status, code: 'BAD_REQUEST', message };
}

function conflict(message: string): CreateResponse {
  return { status: 409, code: 'CONFLICT', message };
}
