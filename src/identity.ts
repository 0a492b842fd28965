/**
 * What identifies an event: the id by which the service recognises a resend, and the content hashes by which a rerun
 * recognises what was sent already.
 */
import { hash } from 'node:crypto';
import type { EventType } from './model.ts';

/** Namespace of the UUIDv5 event ids. If it changed, a rerun would send every event again under another id. */
const NAMESPACE = Buffer.from('8d2f6c1e5b0a4c0f9a3e7d41c6b25e90', 'hex');

export interface EventIdentity {
  readonly migration: string;
  readonly type: EventType;
  /** Absent for comments that have no id in the old CRM; then `occurredAt` is part of the identity. */
  readonly externalId: string | undefined;
  /** The canonical JSON of the data as sent. */
  readonly content: string;
  readonly occurredAt: string | undefined;
  /** Distinguishes requests that are otherwise the same: see src/README.md. */
  readonly n: number | string;
}

/** The envelope id: UUIDv5 over the canonical JSON of `[migration, type, external_id, data, n]`. */
export function eventId(event: EventIdentity): string {
  const { migration, type, externalId, content, occurredAt, n } = event;
  const before = `${JSON.stringify(migration)},${JSON.stringify(type)},${JSON.stringify(externalId ?? null)}`;
  const at = externalId === undefined && occurredAt !== undefined ? `,${JSON.stringify(occurredAt)}` : '';
  return uuidV5(`[${before},${content},${JSON.stringify(n)}${at}]`);
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
