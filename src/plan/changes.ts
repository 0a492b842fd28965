import { contentSha } from '../identity.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import type { EventType, Planned } from '../model.ts';
import { CUSTOM_FIELDS } from '../store/field-hashes.ts';

/** Fields whose names in the mapping are not those of the event: ids are sent instead. */
export const SENT_AS: Readonly<Record<string, string>> = { stage_name: 'stage_id', owner_name: 'owner_id' };

/** The canonical JSON of an event's data with these fields (names as in `fieldsOf`); undefined if there are none. */
export function dataWith(externalId: string, fields: Iterable<readonly [string, JsonValue]>): string | undefined {
  const data: Record<string, JsonValue> = { external_id: externalId };
  let count = 0;
  for (const [name, value] of fields) {
    count += 1;
    const outer = CUSTOM_FIELDS.find((custom) => name.startsWith(`${custom}.`));
    if (outer === undefined) data[name] = value;
    else {
      // Any name is a key like any other, `__proto__` too.
      const inner = (data[outer] ??= Object.create(null) as JsonObject) as Record<string, JsonValue>;
      inner[name.slice(outer.length + 1)] = value;
    }
  }
  return count === 0 ? undefined : canonicalJson(data);
}

/** An update that changes nothing: its answer has the service id of the record. */
export function dataWithout(externalId: string): string {
  return canonicalJson({ external_id: externalId });
}

/** The event without the reference to its parent. */
export function withoutParent(event: Planned): Planned {
  const { lead_external_id: _lead, deal_external_id: _deal, ...data } = event.data;
  const { parent: _parent, ...rest } = event;
  const content = canonicalJson(data);
  return { ...rest, data, content, sha: contentSha(content) };
}

/** The type of an update of the record that an event of type `lead/created` or `deal/created` is about. */
export function updatedTypeOf(type: EventType): 'lead/updated' | 'deal/updated' {
  return type === 'lead/created' ? 'lead/updated' : 'deal/updated';
}

/** Whether `if_changed` lists a field: by its name, by that of the custom fields, or by that of one of them. */
export function isListed(name: string, listed: readonly string[]): boolean {
  const dot = name.indexOf('.');
  const [outer, inner] = dot < 0 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
  return listed.some((item) => {
    const sent = SENT_AS[item] ?? item;
    return sent === name || (inner !== undefined && (sent === outer || sent === inner));
  });
}
