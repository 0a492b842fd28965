/**
 * What makes two events the same: the id under which the service recognises a resend, and hashes of what is sent, by
 * which a rerun recognises what it already sent.
 */
import { createHash, hash } from 'node:crypto';
import { canonicalJson, isObject, type JsonObject, type JsonValue } from './json.ts';
import type { EventType } from './model.ts';

/** Namespace of this program's UUIDv5 event ids; changing it would make every rerun a new migration. */
const NAMESPACE = Buffer.from('8d2f6c1e5b0a4c0f9a3e7d41c6b25e90', 'hex');

export interface EventIdentity {
  readonly migration: string;
  readonly type: EventType;
  /** Absent for comments that the old CRM gave no id; then `occurredAt` takes part. */
  readonly externalId: string | undefined;
  readonly data: JsonObject;
  readonly occurredAt: string | undefined;
  /** Tells apart events that are otherwise the same: see `pipeline/plan.ts`. */
  readonly n: number;
}

/** The envelope id: UUIDv5 over the canonical JSON of `[migration, type, external_id, data, n]`. */
export function eventId(event: EventIdentity): string {
  const parts: JsonValue[] = [event.migration, event.type, event.externalId ?? null, event.data, event.n];
  if (event.externalId === undefined && event.occurredAt !== undefined) parts.push(event.occurredAt);
  return uuidV5(canonicalJson(parts));
}

/** RFC 9562, section 5.5. */
function uuidV5(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name, 'utf8').digest();
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** 128 bits over the data as sent, 32 hexadecimal digits. */
export function contentSha(data: JsonObject): string {
  return hash('sha256', canonicalJson(data), 'hex').slice(0, 32);
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
