/** A kind of record. Each kind has one file, and everything else about it is derived from that file. */
import { z } from 'zod';
import type { EventType } from '../model.ts';

/**
 * In which forms the service may show a value. `folded`: in another letter case. `number`: in whole cents. `id`: an id of the service.
 * `exact`: an id of the old CRM. `text`: in another Unicode form, or with other spaces.
 */
export type Form = 'text' | 'folded' | 'phone' | 'number' | 'id' | 'exact';

/** One field in the `data` of a kind's events. */
export interface FieldFacts {
  readonly schema: z.ZodType;
  /** Its description in the mapping reference. */
  readonly doc: string;
  /** What people read instead of its name; the name itself by default. */
  readonly words?: string;
  /** The treatment of a value that cannot be read, unless the mapping sets `on_error`; `reject` by default. */
  readonly onError?: 'omit';
  /** The name of the kind whose records it names by their external ids. */
  readonly parent?: string;
  /** The field that is sent in place of this name: an id of the service (service interface, section 2.5). */
  readonly sentAs?: string;
  /** `text` by default. */
  readonly form?: Form;
  /** Its name in the answers of the service (service interface, section 2.2); undefined if the service does not show it. */
  readonly shownAs?: string;
  /**
   * Names under which an answer may have it all the same. Only `verify` looks: the service may set such a field by itself, so it
   * decides no update.
   */
  readonly checkedAs?: readonly string[];
  /** A further field of the answers that it decides, such as the pipeline of a stage. */
  readonly decides?: { readonly name: string; readonly shownAs: string };
}

/** Parts of the program that are about one kind: people in the account, names of stages and owners, combined comments. */
export type KindFeature = 'contacts' | 'pipelines' | 'combine';

/** Fields that a created record usually has. A warning says how many records lack them. */
export interface UsualFields {
  readonly fields: readonly string[];
  /** Whether a record lacks them, in SQL over its `data`. */
  readonly lacks: string;
  /**
   * Where some such records are usual: whether as many are worth a warning. `reads`: whether the mapping reads a field from the input.
   */
  readonly isSaid?: (
    counts: { readonly count: number; readonly of: number },
    reads: (field: string) => boolean,
  ) => boolean;
}

export interface KindFacts {
  /** As in the types of events, in `--pick` and in the databases. */
  readonly name: string;
  /** One record, and several. */
  readonly words: readonly [one: string, several: string];
  /** The field by which people know a record. */
  readonly namedBy: string;
  /** The name of the record in an answer that acknowledges its event (service interface, section 2.7). */
  readonly acknowledgedAs: string;
  /** Whether the service accepts updates. Without them, a record is sent once, and compared as a whole. */
  readonly isUpdatable: boolean;
  /**
   * A note about its parent. The service dates it by its arrival, so notes about one parent go one after the other, by their time. It
   * may lack an id, has the priority of its parent, and nothing depends on it.
   */
  readonly isNote?: boolean;
  /** Exactly one parent; otherwise at most one. */
  readonly needsParent?: boolean;
  /** Where the service lists such records, and under `ROUTE/{id}` shows one; undefined if it does neither. */
  readonly route?: string;
  /** The path of its route is published without methods (service interface, section 4.3): a service that shows none is no error. */
  readonly isRouteUncertain?: boolean;
  readonly features?: readonly KindFeature[];
  /** What its events cannot carry (service interface, sections 2 and 4.2), and why: for the report. */
  readonly notMigrated?: readonly (readonly [what: string, why: string])[];
  readonly fields: Readonly<Record<string, FieldFacts>>;
  /** By the code of the warning (vocabulary/input). */
  readonly expects?: Readonly<Record<string, UsualFields>>;
}

/**
 * `id`: the record's own id. `parent`: that of another record. `number`: a JavaScript number. `custom`: free keys one level deeper,
 * whose values keep their type. All others are text.
 */
export type FieldType = 'id' | 'parent' | 'text' | 'number' | 'custom';

export interface KindField extends FieldFacts {
  readonly name: string;
  readonly type: FieldType;
  readonly isRequired: boolean;
}

/** A field that names the parent, such as `lead_external_id`, and the kind of the parent. */
export interface ParentField {
  readonly field: string;
  readonly kind: string;
}

export interface Kind extends Omit<KindFacts, 'fields'> {
  /** The types of its events, in the order in which they are sent. */
  readonly types: readonly EventType[];
  readonly features: readonly KindFeature[];
  readonly notMigrated: readonly (readonly [what: string, why: string])[];
  readonly fields: readonly KindField[];
  readonly expects: Readonly<Record<string, UsualFields>>;
  /** Where the data of an event names several, the last one counts. */
  readonly parents: readonly ParentField[];
  /** The schema of `data`. Rules of single values are in `FIELD_RULES`. */
  readonly data: z.ZodObject;
  /** The field whose keys are free, if there is one. */
  readonly custom: string | undefined;
}

export function defineKind(definition: KindFacts): Kind {
  const { name, isUpdatable, features = [], notMigrated = [], expects = {} } = definition;
  const fields = Object.entries(definition.fields).map(([field, each]) => ({
    ...each,
    name: field,
    type: typeOf(field, each),
    isRequired: !each.schema.safeParse(undefined).success,
  }));
  return {
    ...definition,
    features,
    notMigrated,
    expects,
    fields,
    types: [`${name}/created`, ...(isUpdatable ? [`${name}/updated` as const] : [])],
    parents: fields.flatMap(({ name: field, parent }) => (parent === undefined ? [] : [{ field, kind: parent }])),
    data: z.strictObject(Object.fromEntries(fields.map(({ name: field, schema }) => [field, schema]))),
    custom: fields.find(({ type }) => type === 'custom')?.name,
  };
}

function typeOf(name: string, { parent, schema }: FieldFacts): FieldType {
  if (name === 'external_id') return 'id';
  if (parent !== undefined) return 'parent';
  if (schema.safeParse(1).success) return 'number';
  return schema.safeParse({}).success ? 'custom' : 'text';
}

export const text = z.string();

/** An id with NUL, which JSON can contain, would be another one in a database. */
const externalId = text.refine((value) => !value.includes('\0'), { error: 'the id contains a NUL character' });

/** The record's own id. `kind`: its name. */
export function ownId(kind: string, { isOptional = false } = {}): FieldFacts {
  const schema = isOptional ? externalId.optional() : externalId.min(1);
  return { schema, doc: `id of the ${kind} in the old CRM`, words: 'id in the old CRM' };
}

/** The id of the parent. `parent`: the name of its kind. */
export function parentId(parent: string, shown: Pick<FieldFacts, 'shownAs' | 'checkedAs'>): FieldFacts {
  const schema = externalId.optional();
  const doc = `id of the parent ${parent} in the old CRM`;
  return { schema, doc, words: `${parent} that it belongs to`, parent, form: 'exact', ...shown };
}

/** Free keys, whose values keep their type. */
export const CUSTOM: FieldFacts = {
  schema: z.looseObject({}).optional(),
  doc: 'custom fields, by name; `"*": rest` takes what nothing else of the event uses',
  onError: 'omit',
};
