/** The wanted values of a record, from its event in the plan, for the core. */
import { type Known, wholeOf } from '../../core/known.ts';
import type { Wanted } from '../../core/next.ts';
import { parseJson, type JsonObject, type JsonValue, canonicalJson } from '../../json.ts';
import type { Policies } from '../../mapping/policies.ts';
import { isUpdate, kindOfType, CUSTOM_FIELDS, SENT_AS } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';
import { fieldsOf, type FieldHasher } from '../../store/field-hashes.ts';
import type { RecordKey } from './records.ts';

/** What cannot be updated has one field for the core, under this name: all of its data. */
export const WHOLE = 'content';

export interface WantedRow {
  readonly type: EventType;
  readonly content: string;
  readonly data: string;
  readonly entry: number;
  readonly field_entries: string | null;
}

export interface WantedEvent extends Wanted {
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** An event about a record of which something was sent before. */
export interface Subject extends RecordKey {
  readonly id: number;
  readonly record: number;
  readonly wanted: WantedEvent;
  readonly known: Known;
  /** It was rejected before, and has not changed since. */
  readonly isRetry: boolean;
}

/** `policies`: of all entries. */
export function wantedOf(row: WantedRow, policies: readonly Policies[], hasher: FieldHasher): WantedEvent {
  const { type, content, entry } = row;
  const own = policies[entry]!;
  const isWhole = !kindOfType(type).isUpdatable;
  const data = parseJson(row.data) as JsonObject;
  const values = new Map<string, JsonValue>(isWhole ? [[WHOLE, row.data]] : fieldsOf(data));
  const entries = row.field_entries === null ? {} : (JSON.parse(row.field_entries) as Record<string, number>);
  return {
    mode: isUpdate(type) ? 'update' : 'create',
    content,
    values,
    fields: new Map([...values].map(([field, value]) => [field, hasher.hashOf(field, value)])),
    ifExists: own.if_exists,
    ifMissing: own.if_missing,
    policyOf: (field) => {
      const { if_changed: changed, if_edited: edited } = policies[entries[field] ?? entry]!;
      const listed = typeof changed === 'object' ? (isListed(field, changed) ? 'update' : 'ignore') : changed;
      return { ifChanged: isWhole && listed === 'update' ? 'report' : listed, ifEdited: edited };
    },
  };
}

/** The canonical JSON of an event's data with these fields (names as in `fieldsOf`). */
export function dataWith(externalId: string, fields: Iterable<readonly [string, JsonValue]>): string {
  const data: Record<string, JsonValue> = { external_id: externalId };
  for (const [name, value] of fields) {
    const outer = CUSTOM_FIELDS.find((custom) => name.startsWith(`${custom}.`));
    if (outer === undefined) data[name] = value;
    else {
      // Any name is a key like any other, `__proto__` too.
      const inner = (data[outer] ??= Object.create(null) as JsonObject) as Record<string, JsonValue>;
      inner[name.slice(outer.length + 1)] = value;
    }
  }
  return canonicalJson(data);
}

/** Whether `if_changed` lists a field, by its own name or by the name of the custom fields to which it belongs. */
function isListed(name: string, listed: readonly string[]): boolean {
  return listed.some((item) => (SENT_AS[item] ?? item) === wholeOf(name));
}
