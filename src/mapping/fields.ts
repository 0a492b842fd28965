/** The fields of each event's data, taken from the schemas of the service (service interface, sections 2.4 to 2.6). */
import type { z } from 'zod';
import { type EventType, entityOf } from '../model.ts';
import { commentData, dealData, leadData } from '../contract.ts';
import type { OnError } from './spec.ts';

/**
 * `id`: the record's own id. `parent`: the id of another record. `number`: a JavaScript number. `custom`: free keys one
 * level deeper, whose values keep their type. All others are text.
 */
export type FieldKind = 'id' | 'parent' | 'text' | 'number' | 'custom';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  /** The default for values that cannot be read. */
  readonly onError: OnError;
  readonly doc: string;
}

const SCHEMAS = { lead: leadData, deal: dealData, comment: commentData } as const;

const CUSTOM = 'custom fields, by name; `"*": rest` takes what nothing else of the event uses';

const DOCS: Readonly<Record<string, string>> = {
  full_name: 'name',
  email: 'e-mail address',
  phone_number: 'phone number in E.164 format; use the `phone` transform',
  custom_params: CUSTOM,
  title: 'title',
  amount: 'plain decimal number; use the `number` transform for other notations',
  currency: 'ISO 4217 currency code, past ones (`ITL`, `HRK`) included',
  lead_external_id: 'id of the parent lead in the old CRM',
  deal_external_id: 'id of the parent deal in the old CRM',
  stage_id: 'UUID of the stage',
  stage_name: 'name of the stage in the old CRM; resolved through `references`',
  owner_id: 'UUID of the user',
  owner_name: 'name of the owner in the old CRM; resolved through `references`',
  custom_fields: CUSTOM,
  content: 'text of the comment',
  author_name: 'name of the author',
};

const OMITTED_WHEN_UNREADABLE = new Set(['phone_number', 'email', 'custom_params', 'custom_fields']);

export function fieldsOf(type: EventType): readonly Field[] {
  return FIELDS[entityOf(type)];
}

const FIELDS = {
  lead: readFields('lead'),
  deal: readFields('deal'),
  comment: readFields('comment'),
};

function readFields(entity: keyof typeof SCHEMAS): readonly Field[] {
  return Object.entries(SCHEMAS[entity].shape).map(([name, schema]) => ({
    name,
    kind: kindOf(name, schema),
    required: !schema.safeParse(undefined).success,
    onError: OMITTED_WHEN_UNREADABLE.has(name) ? 'omit' : 'reject',
    doc: name === 'external_id' ? `id of the ${entity} in the old CRM` : DOCS[name]!,
  }));
}

function kindOf(name: string, schema: z.ZodType): FieldKind {
  if (name === 'external_id') return 'id';
  if (name.endsWith('_external_id')) return 'parent';
  if (schema.safeParse(1).success) return 'number';
  return schema.safeParse({}).success ? 'custom' : 'text';
}
