import { shortSha } from '../../core/identity.ts';
import { parseJson, type JsonObject } from '../../json.ts';
import type { EventType } from '../../model.ts';
import type { Database } from '../../store/sqlite.ts';
import { EVENT_ROWS, pagesOf, setContent, type EventRow } from '../events.ts';

/**
 * Gives comments without an id one of their own: the hash of parent, time, text, and the occurrence among equal ones. By it the
 * service recognises a comment that is sent again (service interface, section 2.6), also after the state directory was lost
 * or the migration was renamed. Equal ones differ in their author at most, and are numbered by their content, so the order
 * of the rows changes nothing.
 */
export function deriveCommentIds(db: Database): void {
  const nameless = `${EVENT_ROWS}
    where e.external_id is null and e.data is not null and e.id > ? order by e.id limit 500`;
  db.exec('create temp table equal_comment (id integer primary key, same text not null, content text not null)');
  for (const page of pagesOf<EventRow>(db, nameless)) {
    for (const row of page) {
      const { content } = parseJson(row.data) as { content: string };
      const same = JSON.stringify([row.parent_entity, row.parent_id, row.occurred_at, content]);
      db.run('insert into equal_comment (id, same, content) values (?, ?, ?)', row.id, shortSha(same), row.content);
    }
  }
  const numbered = db.all<{ id: number; same: string; n: number }>(
    'select id, same, row_number() over (partition by same order by content, id) - 1 as n from equal_comment',
  );
  for (const { id, same, n } of numbered) setId(db, id, n === 0 ? same : shortSha(`${same} ${n}`));
  db.exec(`
    update event set is_derived = 1 where id in (select id from equal_comment);
    drop table equal_comment;
  `);
}

function setId(db: Database, id: number, externalId: string): void {
  const { type, data } = db.get<{ type: EventType; data: string }>('select type, data from event where id = ?', id)!;
  setContent(db, { id, type }, { ...(parseJson(data) as JsonObject), external_id: externalId });
}
