import type { EventType } from '../model.ts';
import { isEventType, kindOfType } from '../kinds/index.ts';
import { HEADERS } from '../contract.ts';

/** Triggers are suppressed twice: in the envelope and by a header (section 2.3). */
export const INGEST_HEADERS = { 'content-type': 'application/json', [HEADERS.suppressTriggers]: 'true' } as const;

declare const brand: unique symbol;

/**
 * The request body of one event, in canonical JSON (service interface, section 2.3). Only `envelope` creates one, and
 * it always suppresses triggers.
 */
export type Envelope = string & { readonly [brand]: true };

/** `content`: the canonical JSON of the data. `occurredAt`: ISO 8601. */
export function envelope(
  event: { readonly content: string; readonly occurredAt?: string | undefined },
  id: string,
  type: EventType,
): Envelope {
  const occurredAt = event.occurredAt === undefined ? '' : `"occurred_at":${JSON.stringify(event.occurredAt)},`;
  const rest = `"id":${JSON.stringify(id)},${occurredAt}"suppress_triggers":true,"type":"${type}"`;
  return `{"data":${event.content},${rest}}` as Envelope;
}

/** What an acknowledgement of this event calls the record. */
export function entityIn(body: Envelope): string | undefined {
  const type = body.slice(body.lastIndexOf('"type":"') + '"type":"'.length);
  const name = type.slice(0, type.indexOf('"'));
  return isEventType(name) ? kindOfType(name).acknowledgedAs : undefined;
}
