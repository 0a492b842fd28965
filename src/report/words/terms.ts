/** The words for types, outcomes, fields and waits, on the terminal and on pages. */
import { ENTITIES, fieldNamed, isUpdate, kindOfType, KINDS } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';

/** Keys of an entry of the mapping beside its fields. */
const ENTRY_KEYS: Readonly<Record<string, string>> = {
  stage_pipeline: 'pipeline of the stage',
  occurred_at: 'time in the audit log',
  priority: 'order of sending',
  when: 'condition',
  each: 'list of records',
};

/** Why a run sends nothing at the moment. */
export const WAITS = {
  rate: 'limit reached',
  rate_limited: 'rate-limited by the service (429)',
  outage: 'service down',
  retry: 'waiting to send events again',
  credentials: 'credentials refused',
  intercepted: 'refused on the way to the webhook',
} as const;
export type WaitReason = keyof typeof WAITS;

/** What the events of the ingestion webhook cannot contain, as far as is published (service interface, sections 2 and 4.2). */
export const NOT_MIGRATED: readonly (readonly [what: string, why: string])[] = [
  ...KINDS.flatMap(({ notMigrated }) => notMigrated),
  ['Original creation dates', 'the new CRM dates records by their arrival; custom fields can keep the old dates'],
  ...(ENTITIES.includes('company')
    ? []
    : [
        ['Companies, and notes on companies', 'custom fields of people can keep the names of their companies'] as const,
      ]),
  [
    'Tags, products, payment terms, activities and files as records of their own',
    'ingestion has no events for them; whether other routes fire automations is not published',
  ],
];

export const NOT_UNDONE: readonly string[] = [
  'a record that was sent cannot be deleted',
  'a field that was sent cannot be emptied',
  'a comment that was sent can be neither corrected nor deleted',
];

/** `Leads` */
export function typeName(type: EventType): string {
  return capital(wordsOf(type)[1]);
}

/** The noun for one event of the type: `lead`. */
export function typeNoun(type: EventType): string {
  return wordsOf(type)[0];
}

function wordsOf(type: EventType): readonly [one: string, several: string] {
  const [one, several] = kindOfType(type).words;
  return isUpdate(type) ? [`update of a ${one}`, `updates of ${several}`] : [one, several];
}

/** `e-mail address`; the name itself where there are no other words. */
export function fieldWords(field: string): string {
  return Object.hasOwn(ENTRY_KEYS, field) ? ENTRY_KEYS[field]! : (fieldNamed(field)?.words ?? field);
}

/** The same, also of a custom field: `custom field “origin”`. */
export function fieldText(field: string): string {
  const [, custom] = /^custom_(?:params|fields)\.(.*)$/s.exec(field) ?? [];
  if (custom === '*') return 'other custom fields';
  return custom === undefined ? fieldWords(field) : `custom field “${custom}”`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
