/**
 * What makes two events the same: the id under which the service recognises a resend, and hashes of what is sent, by
 * which a rerun recognises what it already sent.
 */
import { hash } from 'node:crypto';
import { canonicalJson, isObject, type JsonObject, type JsonValue } from './json.ts';
import type { EventType } from './model.ts';

/** Namespace of this program's UUIDv5 event ids; changing it would make every rerun a new migration. */
const NAMESPACE = Buffer.from('8d2f6c1e5b0a4c0f9a3e7d41c6b25e90', 'hex');

export interface EventIdentity {
  readonly migration: string;
  readonly type: EventType;
  /** Absent for comments that the old CRM gave no id; then `occurredAt` takes part. */
  readonly externalId: string | undefined;
  /** The canonical JSON of the data as sent. */
  readonly content: string;
  readonly occurredAt: string | undefined;
  /** Tells apart events that are otherwise the same: see `plan/plan.ts`. */
  readonly n: number;
}

/** The envelope id: UUIDv5 over the canonical JSON of `[migration, type, external_id, data, n]`. */
export function eventId(event: EventIdentity): string {
  const { migration, type, externalId, content, occurredAt, n } = event;
  const before = `${JSON.stringify(migration)},${JSON.stringify(type)},${JSON.stringify(externalId ?? null)}`;
  const at = externalId === undefined && occurredAt !== undefined ? `,${JSON.stringify(occurredAt)}` : '';
  return uuidV5(`[${before},${content},${n}${at}]`);
}

/** RFC 9562, section 5.5. */
function uuidV5(name: string): string {
  const hex = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(name)]), 'hex');
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** 128 bits over the canonical JSON of the data as sent, 32 hexadecimal digits. */
export function contentSha(content: string): string {
  return hash('sha256', content, 'hex').slice(0, 32);
}

/** The first 64 bits of a content hash, as two unsigned words of 32. */
export type ShaWords = readonly [first: number, second: number];

export function shaWords(sha: string): ShaWords {
  return [Number.parseInt(sha.slice(0, 8), 16), Number.parseInt(sha.slice(8, 16), 16)];
}

/** Fields whose first-level keys count as fields of their own. */
export const CUSTOM_FIELDS: readonly string[] = ['custom_params', 'custom_fields'];

/** Every field of an event's data on its own, the custom ones as `custom_params.origin`; external_id is not among them. */
export function* fieldsOf(data: JsonObject): Generator<[name: string, value: JsonValue]> {
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined || name === 'external_id') continue;
    if (CUSTOM_FIELDS.includes(name) && isObject(value)) {
      for (const [key, inner] of Object.entries(value)) if (inner !== undefined) yield [`${name}.${key}`, inner];
    } else {
      yield [name, value];
    }
  }
}

export type FieldHashes = Readonly<Record<string, string>>;

/** A short hash (32 bits) per field: enough to tell that a value changed, not what it was. */
export function fieldHashes(data: JsonObject): FieldHashes {
  const hashes: Record<string, string> = {};
  for (const [name, value] of fieldsOf(data)) hashes[name] = hash('sha256', canonicalJson(value), 'hex').slice(0, 8);
  return hashes;
}
