import { canonicalJson, type JsonObject } from '../json.ts';
import type { EventType, Ready } from '../model.ts';
import { HEADERS } from './contract.ts';

/**
 * Service interface, section 2.3: one event per request. Only `envelope` makes one, and there is none that would fire
 * triggers.
 */
export interface Envelope {
  readonly id: string;
  readonly type: EventType;
  readonly occurred_at?: string;
  readonly suppress_triggers: true;
  readonly data: JsonObject;
}

/** `type` where the event is sent as another type than its own (a created event as an update, or the reverse). */
export function envelope(event: Ready, id: string, type: EventType = event.type): Envelope {
  // In the order of canonical JSON, which then need not sort.
  return {
    data: event.data,
    id,
    ...(event.occurredAt === undefined ? {} : { occurred_at: event.occurredAt }),
    suppress_triggers: true,
    type,
  };
}

/** Triggers are suppressed twice, in the envelope and by header (section 2.3). */
export const INGEST_HEADERS = { 'content-type': 'application/json', [HEADERS.suppressTriggers]: 'true' } as const;

/** What goes over the wire. */
export function ingestBody(event: Envelope): string {
  return canonicalJson({ ...event });
}
