/** A record as the service shows it, for the core. */
import { ABSENT, isAlike, UNKNOWN, valuesOf, type ShownField, type ShownFields } from '../../core/known.ts';
import { comparedFields } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { shown } from '../compare/shown.ts';
import type { JsonValue } from '../../json.ts';
import type { Fields } from '../../service/list-page.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Subject } from '../wanted.ts';
import type { ShownParents } from './shown-parents.ts';

export interface RecordInService {
  readonly fields: ShownFields;
  /** What the service shows of each field, for people. */
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** `region`: the country of phone numbers without a country code. */
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
