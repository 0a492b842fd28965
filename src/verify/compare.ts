import { wasEdited } from '../compare/edited.ts';
import type { Fields } from '../service/list-page.ts';
import type { Difference, EntityResult, FieldVerdict } from './differences.ts';
import type { ExpectedFields } from './expected.ts';
import { COMPARED, likeness, type Checked } from '../compare/fields.ts';
import type { WrittenRecord } from './written.ts';

/** The field that refers to the parent by its external id, which the service does not return. */
export const PARENT = 'lead_external_id';

/** A record that was read back, and what is known about it. */
export interface RecordComparison {
  readonly entity: Checked;
  readonly externalId: string;
  readonly written: WrittenRecord;
  readonly expected: ExpectedFields;
  readonly leadIds: ReadonlyMap<string, string>;
}

/** One field of a record: what was to be sent, and what the service shows. */
export interface ComparedValue {
  readonly field: string;
  readonly verdict: FieldVerdict;
  /** Undefined if it is the id of a parent that this migration did not create. */
  readonly expected: string | undefined;
  readonly actual: string;
}

/** Compares a record field by field. Fields that the mapping does not send are left out. */
export function compareFields(known: Omit<RecordComparison, 'externalId'>, record: Fields): ComparedValue[] {
  const { entity, written, expected, leadIds } = known;
  const isEdited = wasEdited(record, written);
  return COMPARED[entity].flatMap((field, index) => {
    const wanted = expected[index];
    if (!wanted) return [];
    // The service id of a parent that this migration did not create is unknown.
    const value = field.sent === PARENT ? leadIds.get(wanted.value) : wanted.value;
    const actual = field.shown === undefined ? undefined : record[field.shown];
    const like = value === undefined ? 'not_comparable' : likeness(field, value, actual);
    const isChanged = (written.changed & (1 << index)) !== 0;
    const verdict = like !== 'different' ? like : isChanged ? 'changed' : isEdited ? 'edited' : 'different';
    return [{ field: field.name, verdict, expected: value, actual: shownText(actual) }];
  });
}

/** Compares a record, updates the counts in `result` and returns the differences. `record`: undefined if missing. */
export function compareRecord(result: EntityResult, known: RecordComparison, record: Fields | undefined): Difference[] {
  const { entity, externalId, written } = known;
  result.read_back += 1;
  const common = {
    entity,
    external_id: externalId,
    service_id: written.serviceId,
    written_at: new Date(written.at).toISOString(),
    updated_at: typeof record?.updatedAt === 'string' ? record.updatedAt : '',
  };
  if (!record) {
    result.missing += 1;
    return [{ ...common, field: '', verdict: 'missing', expected: '', actual: '' }];
  }
  const compared = compareFields(known, record);
  for (const { field, verdict } of compared) result.fields[field]![verdict] += 1;
  return compared
    .filter(({ verdict }) => verdict !== 'same' && verdict !== 'not_comparable')
    .map(({ expected = '', ...value }) => ({ ...common, ...value, expected }));
}

export function shownText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
