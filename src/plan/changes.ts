import { wholeOf } from '../core/known.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import { CUSTOM_FIELDS, SENT_AS } from '../kinds/index.ts';

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
export function isListed(name: string, listed: readonly string[]): boolean {
  return listed.some((item) => (SENT_AS[item] ?? item) === wholeOf(name));
}
