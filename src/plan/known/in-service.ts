import {
  valuesOf,
  type Hash,
  type Known,
  ABSENT,
  isAlike,
  UNKNOWN,
  type ShownField,
  type ShownFields,
} from '../../core/known.ts';
import type { JsonValue } from '../../json.ts';
import { comparedFields, type ComparedField } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import type { Fields } from '../../service/list-page.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { shown } from '../account/forms.ts';
import type { Subject } from './wanted.ts';

interface ShownParents {
  /**
   * What the service shows of a field: undefined if it does not show it, null if it has no value. A parent is shown by its id in
   * the service; one that this migration did not make stays as it is, and so is an edit. Undefined if it may be any of the
   * parents whose service ids are not known.
   */
  valueOf(name: string, record: Fields): JsonValue | undefined;
}

/** The meaning of a field that names a parent, from the knowledge of the record that has it. */
type ReadParent = (serviceId: string, known: Known) => string | undefined;

/** The parents that these records of the service name. The result is a function of one record and the knowledge of it. */
export function shownParents(
  db: Database,
  hasher: FieldHasher,
  entity: Entity,
  records: readonly (Fields | undefined)[],
): (known: Known) => ShownParents {
  const fields = comparedFields(entity);
  const readers = new Map(
    fields.flatMap((field) =>
      field.parent === undefined || field.shown === undefined
        ? []
        : [[field.name, parentReader(db, hasher, { ...field, parent: field.parent, shown: field.shown }, records)]],
    ),
  );
  return (known) => ({
    valueOf(name, record) {
      const field = fields.find(({ sent }) => sent === name)?.shown;
      const value = field === undefined ? undefined : (record[field] as JsonValue | undefined);
      const reader = readers.get(name);
      return reader && typeof value === 'string' ? reader(value, known) : value;
    },
  });
}

function parentReader(
  db: Database,
  hasher: FieldHasher,
  { name, parent, shown }: ComparedField & { readonly parent: Entity; readonly shown: string },
  records: readonly (Fields | undefined)[],
): ReadParent {
  const ids = [...new Set(records.map((record) => record?.[shown]))].filter((id) => typeof id === 'string');
  const found = db.all<{ service_id: string; external_id: string }>(
    `select service_id, external_id from checkpoint.record
     where entity = ? and service_id in (select value from json_each(?))`,
    parent,
    JSON.stringify(ids),
  );
  const externalIds = new Map(found.map((row) => [row.service_id, row.external_id]));
  const areAllKnown = ids.length === 0 || !hasNameless(db, parent);
  let ours: ReadonlySet<Hash> | undefined;
  /** With `if_parent_missing: send`, a record may name a parent that somebody else made, whose id is unknown. */
  const isOurs = (hash: Hash): boolean => (ours ??= hashesOf(db, hasher, name, parent)).has(hash);
  return (serviceId, known) => {
    const sent = valuesOf(known, name).filter((hash) => hash.length > 1);
    return externalIds.get(serviceId) ?? (areAllKnown && sent.every(isOurs) ? serviceId : undefined);
  };
}

/** Of the external ids of the records whose service ids are known, as values of this field. */
function hashesOf(db: Database, hasher: FieldHasher, field: string, entity: Entity): ReadonlySet<Hash> {
  const records = db.each<{ external_id: string }>(
    `select external_id from checkpoint.record where entity = ? and service_id is not null`,
    entity,
  );
  const hashes = new Set<Hash>();
  for (const { external_id: externalId } of records) hashes.add(hasher.hashOf(field, externalId));
  return hashes;
}

/** Whether one of them was acknowledged without an id of the service (skipped). */
function hasNameless(db: Database, entity: Entity): boolean {
  const nameless = `select 1 from checkpoint.record where entity = ? and is_acknowledged = 1 and service_id is null limit 1`;
  return db.get(nameless, entity) !== undefined;
}

export interface RecordInService {
  readonly fields: ShownFields;
  /** What the service shows of each field, for people. */
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** A record as the service shows it, for the core. `region`: the country of phone numbers without a country code. */
export function recordInService(
  entity: Entity,
  record: Fields,
  {
    subject,
    parents,
    hasher,
    region,
  }: {
    readonly subject: Subject;
    readonly parents: ShownParents;
    readonly hasher: FieldHasher;
    readonly region: string | undefined;
  },
): RecordInService {
  const fields: Record<string, ShownField> = {};
  const values = new Map<string, JsonValue>();
  for (const { name, sent: field, shown: shownAs } of comparedFields(entity)) {
    if (name !== field || shownAs === undefined) continue;
    const value = parents.valueOf(field, record);
    if (value === undefined) continue;
    values.set(field, value);
    const wanted = subject.wanted.values.get(field);
    const set = valuesOf(subject.known, field);
    const hashes = wanted === undefined ? set : [...set, subject.wanted.fields.get(field)!];
    const mayBe = (what: JsonValue | null): boolean =>
      what === null
        ? set.includes(ABSENT) || set.includes(UNKNOWN)
        : hashes.some((hash) => isAlike(hash, hasher.hashOf(field, what)));
    const found = shown(field, value, { mayBe, wanted, region });
    fields[field] =
      found.kind === 'value' ? { kind: 'value', hash: hasher.hashOf(field, found.value) } : { kind: found.kind };
  }
  return { fields, values };
}
