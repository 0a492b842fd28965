import type { EventType, Sendable } from '../model.ts';
import { HEADERS } from './contract.ts';

/** Triggers are suppressed twice, in the envelope and by header (section 2.3). */
export const INGEST_HEADERS = { 'content-type': 'application/json', [HEADERS.suppressTriggers]: 'true' } as const;

declare const made: unique symbol;

/**
 * What goes over the wire: one event per request, in canonical JSON (service interface, section 2.3). Only `envelope`
 * makes one, and there is none that would fire triggers.
 */
export type Envelope = string & { readonly [made]: true };

/** `type` where the event is sent as another type than its own (a created event as an update, or the reverse). */
export function envelope(event: Sendable, id: string, type: EventType = event.type): Envelope {
  const occurredAt = event.occurredAt === undefined ? '' : `"occurred_at":${JSON.stringify(event.occurredAt)},`;
  const rest = `"id":${JSON.stringify(id)},${occurredAt}"suppress_triggers":true,"type":"${type}"`;
  return `{"data":${event.content},${rest}}` as Envelope;
}
