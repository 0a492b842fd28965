/** A record in the service, compared field by field with what was sent. */
import { isAlike, valuesOf, type Known } from '../core/known.ts';
import { canonicalJson, isObject, parseJson, type JsonObject, type JsonValue } from '../json.ts';
import { comparedFields, kindOf, type ComparedField } from '../kinds/index.ts';
import type { Entity } from '../model.ts';
import { fold, likeness, textOf } from '../plan/account/fields.ts';
import { readBack } from '../plan/account/read-back.ts';
import { readRecord } from '../plan/known/records.ts';
import { WHOLE } from '../plan/known/wanted.ts';
import type { LiveRecord } from '../report/figures/explanation.ts';
import { whyNotComparable, type FieldVerdict } from '../report/figures/verification.ts';
import type { Account } from '../service/account.ts';
import type { Client } from '../service/client.ts';
import { isFields, type Fields } from '../service/list-page.ts';
import { fieldKeyOf } from '../store/checkpoint.ts';
import { FieldHasher } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';

/** One field of a record: what was to be sent, and what the service shows. */
export interface ComparedValue {
  readonly field: string;
  readonly verdict: FieldVerdict;
  /** Undefined if it is the id of a parent that this migration did not create. */
  readonly expected: string | undefined;
  readonly actual: string;
  /** Why it cannot be compared. */
  readonly reason?: string;
}

/** A field that the mapping sends; of custom fields, one key. */
interface WantedField {
  readonly field: ComparedField;
  readonly name: string;
  readonly key: string | undefined;
  readonly value: JsonValue;
  /** As the service should show it. */
  readonly expected: string | undefined;
  /** What was sent is known by the hash of this value, under this name. */
  readonly known: readonly [name: string, value: JsonValue];
}

/** A record that we wrote. */
interface WrittenRecord {
  /** When its last write was settled, in milliseconds since 1970. */
  readonly at: number;
  /** It was written only once, by its created event: the service's createdAt is the time of our write. */
  readonly onlyCreated: boolean;
  readonly known: Known;
}

export class RecordComparison {
  readonly #db: Database;
  readonly #hasher: FieldHasher;
  readonly #pipelines: ReadonlyMap<string, string>;
  readonly #region: string | undefined;

  /** `db`: plan and checkpoint. `region`: the country of phone numbers that the service shows without a country code. */
  constructor(db: Database, { pipelines }: Account, region?: string) {
    this.#db = db;
    this.#region = region;
    const key = fieldKeyOf(db);
    // Without the key of the checkpoint, no hash in it says anything.
    this.#hasher = key === undefined ? FieldHasher.random() : new FieldHasher(key);
    const stages = pipelines.flatMap(({ id, stages: own }) =>
      own.map((stage) => [stage.id.toLowerCase(), id] as const),
    );
    this.#pipelines = new Map(stages);
  }

  /** What the input wants of a record; undefined if it has no valid event of it. */
  wanted(entity: Entity, externalId: string): readonly WantedField[] | undefined {
    const event = this.#db.get<{ data: string }>(
      `select data from event
        where entity = ? and external_id = ? and data is not null and state not in ('invalid', 'duplicate')`,
      entity,
      externalId,
    );
    if (!event) return undefined;
    const data = parseJson(event.data) as JsonObject;
    const { isUpdatable } = kindOf(entity);
    return comparedFields(entity).flatMap((field): WantedField[] => {
      const { name, sent, isCustom } = field;
      const value = data[sent];
      if (value === undefined) return [];
      if (isCustom) {
        return Object.entries(value as JsonObject).map(([key, inner]) => {
          const path = `${sent}.${key}`;
          return { field, name: path, key, value: inner!, expected: textOf(inner), known: [path, inner!] };
        });
      }
      const known = isUpdatable ? ([sent, value] as const) : ([WHOLE, event.data] as const);
      const expected = this.#shownAs(field, textOf(value));
      return expected === undefined && name === 'pipeline'
        ? []
        : [{ field, name, key: undefined, value, expected, known }];
    });
  }

  /** The service shows the pipeline of a stage, and its own id of a parent. */
  #shownAs({ name, parent }: ComparedField, text: string | undefined): string | undefined {
    if (name === 'pipeline') return this.#pipelines.get(text?.toLowerCase() ?? '');
    if (parent === undefined) return text;
    const sql = `select service_id as id from checkpoint.record where entity = ? and external_id = ?`;
    return this.#db.get<{ id: string | null }>(sql, parent, text ?? '')?.id ?? undefined;
  }

  written(entity: Entity, externalId: string): WrittenRecord {
    const { known } = readRecord(this.#db, this.#hasher, { entity, external_id: externalId });
    const { count, last, outcome } = this.#db.get<{ count: number; last: string | null; outcome: string | null }>(
      `select count(*) as count, max(settled_at) as last, max(outcome) as outcome from checkpoint.request
        where entity = ? and external_id = ? and status <> 'rejected'`,
      entity,
      externalId,
    )!;
    return { at: Date.parse(last ?? ''), onlyCreated: count === 1 && outcome === 'created', known };
  }

  /** Fields that the mapping does not send are left out. */
  compare(wanted: readonly WantedField[], written: WrittenRecord, record: Fields): ComparedValue[] {
    return wanted.map((each) => {
      const { name: field, expected } = each;
      const actual = shownIn(each.field, record, each.key);
      const like = this.#likeness(each, actual, shownIn(each.field, record));
      const isOff = like === 'different' || like === 'other_form';
      const verdict = isOff ? this.#difference(each, written, record, actual, like) : like;
      const reason = verdict === 'not_comparable' ? { reason: whyNotComparable(each.field) } : {};
      return { field, verdict, expected, actual: shownText(actual), ...reason };
    });
  }

  #likeness({ field, key, value, expected }: WantedField, actual: unknown, whole: unknown): FieldVerdict {
    if (key === undefined)
      return expected === undefined ? 'not_comparable' : likeness(field, expected, actual, this.#region);
    if (whole === undefined) return 'not_comparable';
    if (!isObject(whole)) return 'other_form';
    if (actual === undefined) return 'different';
    const isSame = canonicalJson(value) === canonicalJson(actual as JsonValue);
    // A number may come back as text.
    return isSame || fold(expected ?? '') === fold(shownText(actual)) ? 'same' : 'different';
  }

  #difference(
    { field: { name, sent, parent }, known }: WantedField,
    written: WrittenRecord,
    record: Fields,
    actual: unknown,
    like: 'different' | 'other_form',
  ): FieldVerdict {
    const set = valuesOf(written.known, known[0]);
    if (!set.includes(this.#hasher.hashOf(...known))) return 'changed';
    if (like === 'other_form') return like;
    const isComparable =
      name === sent && parent === undefined && (typeof actual === 'string' || typeof actual === 'number');
    const isOurs = isComparable && set.some((hash) => isAlike(hash, this.#hasher.hashOf(sent, actual)));
    return !isOurs && wasEdited(record, written) ? 'edited' : 'different';
  }
}

/** What an answer has of a field: under the first of its names that it has, and of an object that stands for a record its id. */
function shownIn({ checked, form }: ComparedField, record: Fields, key?: string): unknown {
  const name = checked.find((each) => record[each] !== undefined);
  const value = name === undefined ? undefined : record[name];
  if (key !== undefined) return isObject(value) ? value[key] : value;
  return form === 'id' && isFields(value) ? value.id : value;
}

function shownText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** How long after creating a record the service may still update it itself. */
const SETTLING_MS = 5_000;
/** Maximum difference between the clocks of this machine and the service. */
const CLOCKS_APART_MS = 60_000;

/** Whether the service says that a record was updated after our last write. An edit soon after it is not noticed. */
function wasEdited(record: Fields, written: WrittenRecord): boolean {
  const timeOf = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN);
  const [created, updated] = [timeOf(record.createdAt), timeOf(record.updatedAt)];
  if (written.onlyCreated && !Number.isNaN(created)) return updated - created > SETTLING_MS;
  return updated - written.at > CLOCKS_APART_MS;
}

/**
 * Reads an acknowledged record back. A text says why the service does not show it (403, merged). Throws a `UserError` if the service cannot
 * be used.
 */
export async function readLive(
  comparison: RecordComparison,
  client: Client,
  entity: Entity,
  { externalId, serviceId }: { readonly externalId: string; readonly serviceId: string },
): Promise<LiveRecord | string> {
  for await (const { record, instead } of readBack(client, entity, [serviceId], { atLeast: 1, concurrency: 1 })) {
    if (instead) return instead.message;
    if (!record) break;
    const wanted = comparison.wanted(entity, externalId) ?? [];
    const others = comparedFields(entity)
      .filter((field) => !wanted.some((each) => each.field === field))
      .map((field) => ({ field: field.name, verdict: 'not_sent', actual: shownText(shownIn(field, record)) }) as const);
    return {
      found: true,
      updated_at: typeof record.updatedAt === 'string' ? record.updatedAt : null,
      fields: [
        ...comparison.compare(wanted, comparison.written(entity, externalId), record),
        ...others.filter(({ actual }) => actual !== ''),
      ],
    };
  }
  return { found: false, updated_at: null, fields: [] };
}
