/** The words for types, outcomes, fields and waits, on the terminal and on pages. */
import { ENTITIES, fieldNamed, isUpdate, kindOfType, KINDS } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';

/** Keys of an entry of the mapping beside its fields. */
const ENTRY_KEYS: Readonly<Record<string, string>> = {
  stage_pipeline: 'pipeline of the stage',
  occurred_at: 'time of the event, for the audit log',
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

/** What the events of the ingestion webhook cannot contain (service interface, sections 2 and 4.2), and records of no kind. */
export const NOT_MIGRATED: readonly (readonly [what: string, why: string])[] = [
  ['Original creation dates', 'the new CRM dates records by their arrival; it keeps the original time for audit only'],
  ...(ENTITIES.includes('company')
    ? []
    : [['Companies', 'companies are not imported as records; their names can be kept in custom fields'] as const]),
  ...KINDS.flatMap(({ notMigrated }) => notMigrated),
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
