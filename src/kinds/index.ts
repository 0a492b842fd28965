/** What the rest of the program asks about kinds, types of events and their fields. */
import type { JsonObject } from '../json.ts';
import type { Entity, EventType, ParentRef } from '../model.ts';
import { allKinds } from './all.ts';
import type { Form, Kind, KindFeature, KindField } from './kind.ts';

export type { UsualFields, FieldType, Kind, KindField } from './kind.ts';

/** In the order in which they are sent. */
export const KINDS = allKinds();
export const ENTITIES: readonly Entity[] = KINDS.map(({ name }) => name);
export const EVENT_TYPES: readonly EventType[] = KINDS.flatMap(({ types }) => types);

const BY_NAME = new Map(KINDS.map((kind) => [kind.name, kind]));
const BY_TYPE = new Map(KINDS.flatMap((kind) => kind.types.map((type) => [type, kind] as const)));
const FIELDS = new Map(KINDS.flatMap(({ fields }) => fields.map((field) => [field.name, field] as const)));

export function kindOf(entity: Entity): Kind {
  return BY_NAME.get(entity)!;
}

export function kindOfType(type: EventType): Kind {
  return BY_TYPE.get(type)!;
}

export function isEventType(type: string): type is EventType {
  return BY_TYPE.has(type as EventType);
}

export function entityOf(type: EventType): Entity {
  return kindOfType(type).name;
}

export function isUpdate(type: EventType): boolean {
  return type.endsWith('/updated');
}

function nameWith(feature: KindFeature): Entity {
  return KINDS.find(({ features }) => features.includes(feature))!.name;
}

/** The kinds that a part of the program is about: people in the account, pipelines with control totals, combined comments. */
export const PERSON = nameWith('contacts');
export const STAGED = nameWith('pipelines');
export const COMBINED = nameWith('combine');

/** A field by its name, which has one meaning in all kinds. */
export function fieldNamed(name: string): KindField | undefined {
  return FIELDS.get(name);
}

/** Fields with free keys one level deeper. */
export const CUSTOM_FIELDS: readonly string[] = KINDS.flatMap(({ custom }) => custom ?? []);

/** Of names that are resolved, the field that is sent in their place. */
export const SENT_AS: Readonly<Record<string, string>> = Object.fromEntries(
  [...FIELDS.values()].flatMap(({ name, sentAs }) => (sentAs === undefined ? [] : [[name, sentAs]])),
);

/** The parent of an event, according to its data. */
export function parentOf(type: EventType, data: JsonObject): ParentRef | undefined {
  const named = kindOfType(type).parents.findLast(({ field }) => typeof data[field] === 'string');
  return named && { entity: named.kind, externalId: data[named.field] as string };
}

/** SQL for what people call the record of an event: its name, title or text. `event`: the alias of its row. */
export function nameInSql(event: string): string {
  const fields = new Set(KINDS.map(({ namedBy }) => namedBy));
  return `coalesce(${[...fields].map((field) => `json_extract(${event}.data, '$.${field}')`).join(', ')})`;
}

/** A field of a record that can be compared with what the service shows. */
export interface ComparedField {
  readonly name: string;
  /** The field of the event's data that decides it. */
  readonly sent: string;
  /** Undefined if the service does not show it. */
  readonly shown: string | undefined;
  /** The names under which `verify` looks for it in an answer; none if it has nowhere to look. */
  readonly checked: readonly string[];
  /** Free keys: those that were sent are compared. */
  readonly isCustom: boolean;
  readonly form: Form;
  /** The kind whose record it names: the service shows its own id of that record. */
  readonly parent: Entity | undefined;
}

/** The kinds that the service shows, or may show. Other records cannot be read back. */
export const CHECKED: readonly Entity[] = KINDS.filter(({ route }) => route !== undefined).map(({ name }) => name);

const COMPARED = new Map(KINDS.map((kind) => [kind.name, comparedOf(kind)]));

function comparedOf({ route, fields }: Kind): readonly ComparedField[] {
  if (route === undefined) return [];
  return fields
    .filter(({ name, sentAs }) => name !== 'external_id' && sentAs === undefined)
    .flatMap(({ name, type, shownAs: shown, checkedAs, form = 'text', parent, decides }) => {
      const checked = checkedAs ?? (shown === undefined ? [] : [shown]);
      const own = { name, sent: name, shown, checked, isCustom: type === 'custom' };
      const decided = decides && { ...own, name: decides.name, shown: decides.shownAs, checked: [decides.shownAs] };
      return [
        { ...own, form: parent === undefined ? form : ('id' as const), parent },
        ...(decided ? [{ ...decided, form, parent: undefined }] : []),
      ];
    });
}

export function comparedFields(entity: Entity): readonly ComparedField[] {
  return COMPARED.get(entity) ?? [];
}

/** Whether the service shows this field of such records (service interface, section 2.2). */
export function isShownField(entity: Entity, field: string): boolean {
  return comparedFields(entity).some(({ sent, shown }) => sent === field && shown !== undefined);
}
