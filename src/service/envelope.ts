import type { EventType } from '../model.ts';
import { HEADERS, type Acknowledgement } from '../contract.ts';

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

const ENTITIES: Readonly<Record<string, Acknowledgement['entity']>> = {
  lead: 'Lead',
  deal: 'Deal',
  comment: 'Comment',
};

/** The entity that an acknowledgement of this event names. */
export function entityIn(body: Envelope): Acknowledgement['entity'] | undefined {
  const type = body.slice(body.lastIndexOf('"type":"') + '"type":"'.length);
  return ENTITIES[type.slice(0, type.indexOf('/'))];
}
