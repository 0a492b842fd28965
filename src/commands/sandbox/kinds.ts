/** The kinds of records as data: what a caller may send, what a record becomes by itself, and what the sandbox has from the start. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { dealStages, uuidOf } from './account.ts';
import type { Fields } from '../../service/list-page.ts';
import type { SandboxContext } from './context.ts';

export interface Resource {
  readonly id: string;
  readonly [field: string]: unknown;
}

interface NewRecord {
  /** The body; an object with any fields by default. */
  readonly body?: z.ZodObject;
  /** The fields of a new record, or a conflict in words; by default those of the body. */
  readonly make?: (body: Fields, context: SandboxContext) => Fields | string;
  /** Fields that the service does not show (service interface, section 2.2). */
  readonly hides?: readonly string[];
  /** The only fields that it shows. */
  readonly shows?: readonly string[];
}

/** Records of events without any field. */
export const EMPTY = {
  Lead: { fullName: null, email: null, phoneNumber: null, companyId: null, customParams: {} },
  Deal: {
    ...{ title: null, amount: null, currency: null, ownerId: null, primaryContactId: null },
    ...{ companyIds: [], contactIds: [], customFields: {} },
  },
  Comment: { authorName: null },
} as const;

export const E164 = /^\+[1-9]\d{1,14}$/;
const text = z.string().optional();
const texts = z.array(z.string()).optional();
const ofTexts = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, text]));

/** What callers can create or see in part (sections 2.2, 2.8 and 3). */
export const RULES: Readonly<Partial<Record<string, NewRecord>>> = {
  Lead: {
    body: z.object({
      ...ofTexts('fullName', 'email', 'companyId'),
      phoneNumber: z.string().regex(E164, 'must be E.164').optional(),
    }),
    make: (body) => ({ ...EMPTY.Lead, ...body }),
    hides: ['customParams'],
  },
  Deal: {
    body: z.object({
      ...ofTexts('title', 'pipelineId', 'stageId', 'primaryContactId', 'currency', 'status'),
      amount: z.number().optional(),
      companyIds: texts,
      contactIds: texts,
    }),
    make: (body, { account }) => {
      const { pipelineId, stageId, primaryContactId: contact } = body;
      const stage = dealStages(account).find(
        (each) => each.pipelineId === (pipelineId ?? each.pipelineId) && each.id === (stageId ?? each.id),
      );
      if (!stage) return 'pipelineId and stageId do not match a stage of a deal pipeline';
      const contactIds = contact === undefined ? [] : [contact];
      return { ...EMPTY.Deal, contactIds, ...body, pipelineId: stage.pipelineId, stageId: stage.id };
    },
    hides: ['title', 'customFields'],
  },
  Quote: document('QUOTE'),
  Contract: document('CONTRACT'),
  Message: {
    make: (body) => {
      // A text that is not a phone number reaches nobody.
      const reached = body.to === undefined || (typeof body.to === 'string' && E164.test(body.to));
      return { ...body, states: ['PENDING', 'SENT', ...(reached ? ['DELIVERED', 'READ'] : ['FAILED'])] };
    },
  },
  Session: {
    body: z.looseObject({ ...ofTexts('operatorRef', 'displayName'), phoneNumberIds: texts }),
    make: (_, context) => ({
      token: `session_${randomBytes(24).toString('base64url')}`,
      expiresAt: new Date(context.now() + 60 * 60 * 1000).toISOString(),
    }),
    shows: ['token', 'expiresAt'],
  },
  Template: { hides: ['onceSent'] },
};

/** The kinds that fields of any body refer to, by an id or, in the plural, by a list of ids. */
export const REFERENCES: Readonly<Partial<Record<string, string>>> = {
  companyId: 'Company',
  leadId: 'Lead',
  contactId: 'Lead',
  primaryContactId: 'Lead',
  dealId: 'Deal',
  pipelineId: 'Pipeline',
  stageId: 'Stage',
  conversationId: 'Conversation',
  phoneNumberId: 'PhoneNumber',
};

/** Section 5: writes are attributed to the account's owner, whatever the caller sends. */
export const OWNER_FIELDS = ['createdBy', 'ownerId', 'authorId'];

/** A document begins as a draft. Its template decides its status after it is sent. */
function document(type: 'QUOTE' | 'CONTRACT'): NewRecord {
  return {
    body: z.looseObject({ dealId: z.string(), templateId: z.string() }),
    make: (body) =>
      TEMPLATES.some(({ id, type: its }) => id === body.templateId && its === type)
        ? { ...body, states: ['DRAFT'] }
        : `templateId: ${body.templateId as string} is not a template of type ${type}`,
  };
}

/** One for each end that a document can come to (section 3). `onceSent`: its states from then on. */
const TEMPLATES = (
  [
    ['Offer', 'QUOTE', ['SENT', 'VIEWED', 'ACCEPTED']],
    ['Offer, rejected', 'QUOTE', ['SENT', 'VIEWED', 'REJECTED']],
    ['Offer, expired', 'QUOTE', ['SENT', 'EXPIRED']],
    ['Agreement', 'CONTRACT', ['SENT', 'VIEWED', 'SIGNED']],
    ['Agreement, rejected', 'CONTRACT', ['SENT', 'VIEWED', 'REJECTED']],
    ['Agreement, expired', 'CONTRACT', ['SENT', 'EXPIRED']],
  ] as const
).map(([name, type, onceSent]) => ({ id: uuidOf('template', name), name, type, onceSent }));

function named(kind: string, ...names: readonly string[]): Resource[] {
  return names.map((name) => ({ id: uuidOf(kind, name), name }));
}

/** Section 3; how an e-mail goes from one to the next is not published, so there is one in each. */
const EMAIL_STATES = ['PENDING', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'FAILED', 'DROPPED'];

/** How long the address of a file is said to be valid: "short-lived" (section 4.3). */
const SIGNED_URL_S = 300;

/** Records that every account has. Other kinds are empty at first. */
export const GIVEN: Readonly<Partial<Record<string, (context: SandboxContext) => readonly Resource[]>>> = {
  Pipeline: ({ account }) =>
    account.pipelines.map((pipeline) => {
      return { ...pipeline, stages: pipeline.stages.map((stage, order) => ({ ...stage, order })) };
    }),
  Stage: ({ account }) => dealStages(account),
  /** The first name as `fullName`, further names in the other name fields that users can have. */
  User: ({ account }) =>
    account.users.map(({ names: [fullName, name, displayName], email = null, id }) => {
      return { id, fullName, name, displayName, email };
    }),
  Template: () => TEMPLATES,
  Tag: () => named('tag', 'VIP'),
  Role: () => named('role', 'Admin', 'Agent'),
  PhoneNumber: () => [{ id: uuidOf('number', '1'), phoneNumber: '+390200000001', label: 'Main' }],
  Conversation: ({ name }) => [{ id: uuidOf('conversation', name), channel: 'webchat' }],
  Message: (context) => [
    {
      id: uuidOf('message', context.name),
      conversationId: uuidOf('conversation', context.name),
      text: 'The signed form',
      status: 'READ',
      media: [
        { signedUrl: `https://files.example.test/form.pdf?expires=${Math.floor(context.now() / 1000) + SIGNED_URL_S}` },
      ],
    },
  ],
  Email: ({ name }) => EMAIL_STATES.map((status) => ({ id: uuidOf('email', name, status), status })),
  ApiLog: ({ name, requests }) =>
    requests
      .filter(({ account, status }) => account === name && status !== undefined)
      .map(({ number, method, path, status, at, body: payload = null, ...about }) => ({
        ...{ id: String(number), method, path, status, statusGroup: `${Math.floor(status! / 100)}xx` },
        ...{ payload, error: about.error ?? null, record: about.record ?? null, outcome: about.outcome ?? null },
        createdAt: new Date(at).toISOString(),
      }))
      .reverse(),
};
