/** The data behind the mapping reference in the documentation. */
import { EVENT_TYPES, type EventType } from '../model.ts';
import { fieldsOf, type Field } from './fields.ts';
import { DEFAULT_POLICIES } from './policies.ts';
import { ENTRY_KEYS } from './schema.ts';
import { TRANSFORMS } from './transforms/index.ts';
import type { TransformExample } from './transforms/transform.ts';

export interface TransformReference {
  readonly name: string;
  readonly usage: string;
  readonly doc: string;
  readonly examples: readonly TransformExample[];
}

export function transformReference(): readonly TransformReference[] {
  return TRANSFORMS.map(({ name, usage, doc, examples }) => ({ name, usage: usage.join(' | '), doc, examples }));
}

/** The fields of each type of event, in the order of the service's documentation. */
export function fieldReference(): readonly { readonly type: EventType; readonly fields: readonly Field[] }[] {
  return EVENT_TYPES.map((type) => ({ type, fields: fieldsOf(type) }));
}

export interface PolicyReference {
  readonly name: keyof typeof DEFAULT_POLICIES;
  readonly types: readonly EventType[];
  readonly choices: readonly string[];
  readonly default: string;
  readonly doc: string;
}

const POLICIES: readonly Omit<PolicyReference, 'types' | 'default'>[] = [
  {
    name: 'if_exists',
    choices: ['reject', 'skip', 'update'],
    doc: 'the record already exists in the service, created by someone else (409)',
  },
  {
    name: 'if_changed',
    choices: ['report', 'ignore', 'update', '[fields]'],
    doc: 'an earlier run created the record, and its content in the export has changed since; a list sends only those fields',
  },
  { name: 'if_missing', choices: ['reject', 'skip', 'create'], doc: 'the record to update does not exist (422)' },
  {
    name: 'if_parent_missing',
    choices: ['block', 'send', 'omit'],
    doc: 'the parent is neither in the input nor acknowledged; `omit` (deals only) sends the event without it',
  },
  {
    name: 'if_both',
    choices: ['reject', 'deal', 'lead'],
    doc: 'a comment names both a lead and a deal: which one to keep',
  },
  {
    name: 'if_edited',
    choices: ['keep', 'overwrite'],
    doc: 'a field that `if_changed` would send has been edited in the service since it was sent',
  },
  {
    name: 'if_contact_exists',
    choices: ['report', 'reject', 'ignore'],
    doc: 'the account has a lead with the same e-mail address or phone number that this migration did not create; `ignore` does not look',
  },
  {
    name: 'duplicates',
    choices: ['reject', 'first', 'last'],
    doc: 'multiple records have the same external id but different content',
  },
];

export function policyReference(): readonly PolicyReference[] {
  return POLICIES.map((policy) => ({
    ...policy,
    types: ENTRY_KEYS.get(policy.name) ?? [],
    default: String(DEFAULT_POLICIES[policy.name]),
  }));
}
