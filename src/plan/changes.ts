import { CUSTOM_FIELDS, fieldsOf, type FieldHasher, type FieldHashes } from '../checkpoint/field-hashes.ts';
import { contentSha } from '../identity.ts';
import { canonicalJson, isObject, type JsonObject, type JsonValue } from '../json.ts';
import type { EventType, Planned, Ready, Sendable } from '../model.ts';
import { parentOf } from './prepare.ts';

/** Fields whose names in the mapping are not those of the event: ids are sent instead. */
export const SENT_AS: Readonly<Record<string, string>> = { stage_name: 'stage_id', owner_name: 'owner_id' };

/**
 * The fields listed by `if_changed` whose value is different from what was last sent (`before`, from the checkpoint).
 * Fields that no longer have a value cannot be sent, so they are not included.
 */
export function changedFields(
  event: Ready,
  listed: readonly string[],
  before: FieldHashes,
  hasher: FieldHasher,
): string[] {
  return [...fieldsOf(event.data)]
    .filter(([name, value]) => isListed(name, listed) && !hasher.matches(before[name], name, value))
    .map(([name]) => name);
}

/** The update that gives an acknowledged record the event's current content: all of it, or only the listed fields. */
export function updateOf(event: Ready, fields: 'all' | readonly string[]): Ready {
  const { parent: _parent, ...rest } = event;
  const type = updatedTypeOf(event.type);
  if (fields === 'all') return { ...rest, type };
  const data = pick(event.data, fields);
  const content = canonicalJson(data);
  return { ...rest, type, data, content, sha: contentSha(content) };
}

/** The update without these fields (names as in `fieldsOf`): itself if it has none of them, undefined if it has no others. */
export function withoutFields(event: Planned, fields: ReadonlySet<string>): Planned | undefined {
  const names = Array.from(fieldsOf(event.data), ([name]) => name);
  const left = names.filter((name) => !fields.has(name));
  if (left.length === names.length) return event;
  if (left.length === 0) return undefined;
  const data = pick(event.data, left);
  const { parent: _parent, ...rest } = event;
  const parent = parentOf(event, data);
  return { ...rest, ...(parent && { parent }), data, content: canonicalJson(data), isPartial: true };
}

/** An update that changes nothing: its answer has the service id of the record. */
export function withoutAnyField(event: Planned): Planned {
  const { parent: _parent, ...rest } = event;
  const data = pick(event.data, []);
  return { ...rest, data, content: canonicalJson(data), isPartial: true };
}

/** The event without the reference to its parent. */
export function withoutParent<T extends Sendable>(event: T): T {
  const { lead_external_id: _lead, deal_external_id: _deal, ...data } = event.data;
  const { parent: _parent, ...rest } = event;
  const content = canonicalJson(data);
  return { ...rest, data, content, sha: contentSha(content) } as T;
}

/** The type of an update of the record that an event of type `lead/created` or `deal/created` is about. */
export function updatedTypeOf(type: EventType): 'lead/updated' | 'deal/updated' {
  return type === 'lead/created' ? 'lead/updated' : 'deal/updated';
}

function isListed(name: string, listed: readonly string[]): boolean {
  const dot = name.indexOf('.');
  const [outer, inner] = dot < 0 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
  return listed.some((item) => {
    const sent = SENT_AS[item] ?? item;
    return sent === name || (inner !== undefined && (sent === outer || sent === inner));
  });
}

function pick(data: JsonObject, fields: readonly string[]): JsonObject {
  const picked: Record<string, JsonValue | undefined> = { external_id: data.external_id };
  for (const [name, value] of Object.entries(data)) {
    if (fields.includes(name)) picked[name] = value;
    if (!CUSTOM_FIELDS.includes(name) || !isObject(value)) continue;
    const inner = Object.entries(value).filter(([key]) => fields.includes(`${name}.${key}`));
    if (inner.length > 0) picked[name] = Object.fromEntries(inner);
  }
  return picked;
}
