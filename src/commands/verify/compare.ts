import { isAlike, valuesOf } from '../../core/known.ts';
import { fold, likeness, textOf } from '../../plan/account/fields.ts';
import { comparedFields, type ComparedField } from '../../kinds/index.ts';
import { canonicalJson, isObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { Entity } from '../../model.ts';
import type { Account } from '../../service/account.ts';
import { isFields, type Fields } from '../../service/list-page.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import type { FieldDifference, EntityResult, FieldVerdict } from '../../report/figures/verification.ts';
import { expectedOf, serviceIdOf, stagePipelinesOf, writtenOf, type Expected, type WrittenRecord } from './expected.ts';
import type { ExpectedFields } from './expected.ts';

/** Verdicts that say of no difference. */
const EQUAL: readonly FieldVerdict[] = ['same', 'normalised', 'not_comparable'];

/** One field of a record: what was to be sent, and what the service shows. */
export interface ComparedValue {
  readonly field: string;
  readonly verdict: FieldVerdict;
  /** Undefined if it is the id of a parent that this migration did not create. */
  readonly expected: string | undefined;
  readonly actual: string;
}

/** What was to be sent, what was, and what of it the service has. */
export class RecordComparison {
  readonly #db: Database;
  readonly #hasher: FieldHasher;
  readonly #stagePipelines: ReadonlyMap<string, string>;
  readonly #region: string | undefined;

  /** `db`: plan and checkpoint. `region`: the country of phone numbers that the service shows without a country code. */
  constructor(db: Database, hasher: FieldHasher, account: Account, region?: string) {
    this.#region = region;
    this.#db = db;
    this.#hasher = hasher;
    this.#stagePipelines = stagePipelinesOf(account);
  }

  /** Undefined if the input has no valid event of the record. */
  expected(entity: Entity, externalId: string): ExpectedFields | undefined {
    return expectedOf(this.#db, entity, externalId, this.#stagePipelines);
  }

  written(entity: Entity, externalId: string): WrittenRecord {
    return writtenOf(this.#db, this.#hasher, entity, externalId);
  }

  /** Compares a record field by field. Fields that the mapping does not send are left out. */
  fields(entity: Entity, expected: ExpectedFields, written: WrittenRecord, record: Fields): ComparedValue[] {
    return comparedFields(entity).flatMap((field, index) => {
      const wanted = expected[index];
      if (!wanted) return [];
      // The service id of a parent that this migration did not create is unknown.
      const value = field.parent === undefined ? wanted.value : serviceIdOf(this.#db, field.parent, wanted.value);
      const actual = shownIn(field, record);
      if (field.isCustom) return [this.#customFields(field, wanted.wanted as JsonObject, written, record)];
      const like = value === undefined ? 'not_comparable' : likeness(field, value, actual, this.#region);
      const verdict =
        like === 'different' || like === 'other_form' ? this.#difference(field, wanted, written, record, like) : like;
      return [{ field: field.name, verdict, expected: value, actual: shownText(actual) }];
    });
  }

  /** Of free keys, those that were sent: the service may have others. */
  #customFields(field: ComparedField, wanted: JsonObject, written: WrittenRecord, record: Fields): ComparedValue {
    const { name, sent } = field;
    const actual = shownIn(field, record) as JsonValue | undefined;
    const found = (verdict: FieldVerdict, keys: readonly string[] = []): ComparedValue => {
      const of = (values: JsonObject): string =>
        canonicalJson(Object.fromEntries(keys.filter((key) => key in values).map((key) => [key, values[key]!])));
      return { field: name, verdict, expected: of(wanted), actual: isObject(actual) ? of(actual) : shownText(actual) };
    };
    if (actual === undefined) return found('not_comparable');
    if (!isObject(actual)) return found('other_form', Object.keys(wanted));
    const differing = Object.keys(wanted).filter((key) => !isSameValue(wanted[key], actual[key]));
    if (differing.length === 0) return found('same');
    const wasSent = differing.every((key) => {
      const part = `${sent}.${key}`;
      return valuesOf(written.known, part).includes(this.#hasher.hashOf(part, wanted[key]!));
    });
    return found(!wasSent ? 'changed' : wasEdited(record, written) ? 'edited' : 'different', differing);
  }

  #difference(
    field: ComparedField,
    wanted: Expected,
    written: WrittenRecord,
    record: Fields,
    like: 'different' | 'other_form',
  ): FieldVerdict {
    const { name, sent, parent } = field;
    const set = valuesOf(written.known, wanted.known[0]);
    if (!set.includes(this.#hasher.hashOf(...wanted.known))) return 'changed';
    if (like === 'other_form') return like;
    const actual = shownIn(field, record);
    const isComparable =
      name === sent && parent === undefined && (typeof actual === 'string' || typeof actual === 'number');
    const isOurs = isComparable && set.some((hash) => isAlike(hash, this.#hasher.hashOf(sent, actual)));
    return !isOurs && wasEdited(record, written) ? 'edited' : 'different';
  }

  /** Compares a record, updates the counts in `result` and returns the differences. `record`: undefined if missing, or merged into another one. */
  record(
    result: EntityResult,
    { entity, externalId, expected }: { entity: Entity; externalId: string; expected: ExpectedFields },
    record: Fields | undefined,
    mergedInto: string | undefined,
  ): FieldDifference[] {
    const written = this.written(entity, externalId);
    result.read_back += 1;
    const updatedAt = typeof record?.updatedAt === 'string' ? record.updatedAt : '';
    const common = { entity, external_id: externalId, ...timesOf(written), updated_at: updatedAt };
    if (!record) {
      result.missing += 1;
      const actual = mergedInto === undefined ? '' : `merged into ${mergedInto}`;
      return [{ ...common, field: '', verdict: 'missing', expected: '', actual }];
    }
    const compared = this.fields(entity, expected, written, record);
    for (const { field, verdict } of compared) result.fields[field]![verdict] += 1;
    if (compared.every(({ verdict }) => EQUAL.includes(verdict))) result.equal += 1;
    return compared
      .filter(({ verdict }) => verdict !== 'same' && verdict !== 'not_comparable')
      .map(({ expected: value = '', ...rest }) => ({ ...common, ...rest, expected: value }));
  }

  /** Counts a record that the service does not let this key read. `why`: what it said. */
  refused(
    result: EntityResult,
    { entity, externalId }: { entity: Entity; externalId: string },
    why: string,
  ): FieldDifference {
    result.refused += 1;
    const times = { ...timesOf(this.written(entity, externalId)), updated_at: '' };
    return { entity, external_id: externalId, ...times, field: '', verdict: 'refused', expected: '', actual: why };
  }
}

/** Of one custom field: a number may come back as text. */
function isSameValue(wanted: JsonValue | undefined, actual: JsonValue | undefined): boolean {
  if (wanted === undefined || actual === undefined) return wanted === actual;
  return canonicalJson(wanted) === canonicalJson(actual) || fold(shownText(textOf(wanted))) === fold(shownText(actual));
}

/** What an answer has of a field: under the first of its names that it has, and of an object that stands for a record its id. */
export function shownIn({ checked, form }: ComparedField, record: Fields): unknown {
  const name = checked.find((each) => record[each] !== undefined);
  const value = name === undefined ? undefined : record[name];
  return form === 'id' && isFields(value) ? value.id : value;
}

function timesOf({ serviceId, at }: WrittenRecord): Pick<FieldDifference, 'service_id' | 'written_at'> {
  return { service_id: serviceId, written_at: new Date(at).toISOString() };
}

export function shownText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** How long after creating a record the service may still update it itself. */
const SETTLING_MS = 5_000;
/** Maximum difference between the clocks of this machine and the service. */
const CLOCKS_APART_MS = 60_000;

/** Whether the service says that a record was updated after our last write. An edit soon after it is not noticed. */
function wasEdited(record: Fields, written: WrittenRecord): boolean {
  const updated = timeOf(record.updatedAt);
  const created = timeOf(record.createdAt);
  if (written.onlyCreated && !Number.isNaN(created)) return updated - created > SETTLING_MS;
  return updated - written.at > CLOCKS_APART_MS;
}

function timeOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}
