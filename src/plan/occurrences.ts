import { eventId } from '../identity.ts';
import type { EventType } from '../model.ts';
import type { Database } from '../store/sqlite.ts';

/**
 * Updates of one record with the same content, and comments without an id that are the same, are separate events: their
 * occurrence is part of their ids.
 */
export function numberOccurrences(db: Database, migration: string): void {
  const repeated = db.all<{
    id: number;
    type: EventType;
    external_id: string | null;
    occurred_at: string | null;
    data: string;
    n: number;
  }>(`
    select id, type, external_id, occurred_at, data, n from (
      select id, type, external_id, occurred_at, data, row_number() over (
        partition by type, external_id, content, case when external_id is null then occurred_at end order by id) - 1 as n
      from event where data is not null and (external_id is null or type in ('lead/updated', 'deal/updated')))
    where n > 0`);
  for (const { id, type, external_id: externalId, occurred_at: occurredAt, data: content, n } of repeated) {
    const identity = { migration, type, content, n };
    const of = { externalId: externalId ?? undefined, occurredAt: occurredAt ?? undefined };
    db.run('update event set event_id = ? where id = ?', eventId({ ...identity, ...of }), id);
  }
}
