import type { Fields } from '../service/lists.ts';
import type { Difference, EntityResult } from './differences.ts';
import type { ExpectedFields } from './expected.ts';
import { COMPARED, likeness, type Checked } from './fields.ts';
import type { WrittenRecord } from './written.ts';

/** The field that names another record, by an id that the service does not show. */
export const PARENT = 'lead_external_id';

/** What is known of a record that was asked for. */
export interface Known {
  readonly entity: Checked;
  readonly externalId: string;
  readonly written: WrittenRecord;
  readonly expected: ExpectedFields;
  readonly leadIds: ReadonlyMap<string, string>;
}

/** Compares field by field, counts in `result`, and returns what is not plainly the same. `record`: what came, if anything. */
export function compareRecord(result: EntityResult, known: Known, record: Fields | undefined): Difference[] {
  const { entity, externalId, written, expected, leadIds } = known;
  result.read_back += 1;
  const told = {
    entity,
    external_id: externalId,
    service_id: written.serviceId,
    written_at: new Date(written.at).toISOString(),
    updated_at: typeof record?.updatedAt === 'string' ? record.updatedAt : '',
  };
  if (!record) {
    result.missing += 1;
    return [{ ...told, field: '', verdict: 'missing', expected: '', actual: '' }];
  }
  const differences: Difference[] = [];
  const isEdited = wasEdited(record, written);
  COMPARED[entity].forEach((field, index) => {
    const should = expected[index];
    if (!should) return;
    // A parent that is not ours has an id that we were never told.
    const value = field.sent === PARENT ? leadIds.get(should.value) : should.value;
    const actual = field.shown === undefined ? undefined : record[field.shown];
    const like = value === undefined ? 'not_comparable' : likeness(field, value, actual);
    const isChanged = (written.changed & (1 << index)) !== 0;
    const verdict = like !== 'different' ? like : isChanged ? 'changed' : isEdited ? 'edited' : 'different';
    result.fields[field.name]![verdict] += 1;
    if (verdict === 'same' || verdict === 'not_comparable') return;
    differences.push({ ...told, field: field.name, verdict, expected: value ?? '', actual: shownText(actual) });
  });
  return differences;
}

function shownText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What the service does with a record of its own accord, right after it was created. */
const SETTLING_MS = 5_000;
/** How far this machine's clock and the service's may be apart. */
const CLOCKS_APART_MS = 60_000;

function wasEdited(record: Fields, written: WrittenRecord): boolean {
  const updated = timeOf(record.updatedAt);
  const created = timeOf(record.createdAt);
  if (written.onlyCreated && !Number.isNaN(created)) return updated - created > SETTLING_MS;
  return updated - written.at > CLOCKS_APART_MS;
}

function timeOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}
