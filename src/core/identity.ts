/**
 * What identifies an event: the id by which the service recognises a resend, and the content hashes by which a rerun
 * recognises what was sent already.
 */
import { hash } from 'node:crypto';
import type { EventType } from '../model.ts';

/** Namespace of the UUIDv5 event ids. If it changed, a rerun would send every event again under another id. */
const NAMESPACE = Buffer.from('8d2f6c1e5b0a4c0f9a3e7d41c6b25e90', 'hex');

export interface EventIdentity {
  readonly migration: string;
  readonly type: EventType;
  readonly externalId: string;
  /** The canonical JSON of the data as sent. */
  readonly content: string;
}

/** The envelope id of a create or comment: UUIDv5 over the canonical JSON of `[migration, type, external_id, data, 0]`. */
export function eventId({ migration, type, externalId, content }: EventIdentity): string {
  return uuidV5(`[${JSON.stringify(migration)},${JSON.stringify(type)},${JSON.stringify(externalId)},${content},0]`);
}

/** RFC 9562, section 5.5. */
function uuidV5(name: string): string {
  const hex = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(name)]), 'hex');
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** 128 bits over the type and the canonical JSON of the data, 32 hexadecimal digits. */
export function contentSha(type: EventType, content: string): string {
  return shortSha(`${type} ${content}`);
}

/** 128 bits over a text, 32 hexadecimal digits. */
export function shortSha(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}
