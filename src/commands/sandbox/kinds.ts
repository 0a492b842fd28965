/** The kinds of records as data: what a caller may send, and what the sandbox has from the start. */
import { z } from 'zod';
import { dealStages, uuidOf } from './account.ts';
import type { Fields } from '../../service/list-page.ts';
import type { SandboxContext } from './context.ts';

export interface Resource {
  readonly id: string;
  readonly [field: string]: unknown;
}

interface NewRecord {
  readonly body: z.ZodObject;
  /** The fields of a new record, or a conflict in words. */
  readonly make: (body: Fields, context: SandboxContext) => Fields | string;
  /** Fields that the service does not show (service interface, section 2.2). */
  readonly hides: readonly string[];
}

/** Records of events without any field. */
export const EMPTY: Readonly<Partial<Record<string, Fields>>> = {
  Lead: { fullName: null, email: null, phoneNumber: null, companyId: null, customParams: {} },
  Deal: {
    ...{ title: null, amount: null, currency: null, ownerId: null, primaryContactId: null },
    ...{ companyIds: [], contactIds: [], customFields: {} },
  },
  Comment: { authorName: null },
};

export const E164 = /^\+[1-9]\d{1,14}$/;
const text = z.string().optional();
const texts = z.array(z.string()).optional();
const ofTexts = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, text]));

/** What callers can create or see in part (sections 2.2 and 2.8). Of other kinds, a body may have any fields. */
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
};

/** The kinds that fields of any body refer to, by an id or, in the plural, by a list of ids. */
export const REFERENCES: Readonly<Partial<Record<string, string>>> = {
  companyId: 'Company',
  contactId: 'Lead',
  primaryContactId: 'Lead',
};

/** Section 5: writes are attributed to the account's owner, whatever the caller sends. */
export const OWNER_FIELDS = ['createdBy', 'ownerId', 'authorId'];

/** Records that every account has. Other kinds are empty at first. */
export const GIVEN: Readonly<Partial<Record<string, (context: SandboxContext) => readonly Resource[]>>> = {
  Pipeline: ({ account }) =>
    account.pipelines.map((pipeline) => {
      return { ...pipeline, stages: pipeline.stages.map((stage, order) => ({ ...stage, order })) };
    }),
  /** The first name as `fullName`, further names in the other name fields that users can have. */
  User: ({ account }) =>
    account.users.map(({ names: [fullName, name, displayName], email = null, id }) => {
      return { id, fullName, name, displayName, email };
    }),
  Tag: () => [{ id: uuidOf('tag', 'VIP'), name: 'VIP' }],
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
