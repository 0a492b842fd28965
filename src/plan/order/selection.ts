/** The options that leave events of the plan for a later run. */
import { UserError } from '../../errors.ts';
import type { EntryHead } from '../../mapping/mapping.ts';
import type { EventType } from '../../model.ts';
import type { NamedRecord } from '../../settings/run-settings.ts';
import type { Database } from '../../store/sqlite.ts';

/** `--only`: events of other types than these are left for a later run. Throws a `UserError` if no entry has any of them. */
export function holdOtherTypes(db: Database, only: readonly EventType[], entries: readonly EntryHead[]): void {
  const mapped = [...new Set(entries.map(({ type }) => type))];
  if (!mapped.some((type) => only.includes(type))) {
    throw new UserError(`--only ${only.join(',')}: no entry of the mapping has such events`, {
      hint: `its events are ${mapped.join(', ')}; a change of a sent record is selected by the created event of that record`,
    });
  }
  db.run(
    `update event set is_chosen = 0, state = case when state in ('ready', 'retry') then 'held' else state end
     where type not in (select value from json_each(?))`,
    JSON.stringify(only),
  );
}

/** `--pick`: sends these records with their children, and the parents of all of them. Throws a `UserError`. */
export function holdUnpicked(db: Database, picks: readonly NamedRecord[]): void {
  db.exec('create temp table chosen (event integer primary key)');
  for (const { entity, externalId } of picks) {
    if (!db.get('select 1 from event where entity = ? and external_id = ?', entity, externalId)) {
      throw new UserError(`--pick ${entity}:${externalId}: the input has no such ${entity}`, {
        hint: 'ID is the external_id that the mapping gives the record',
      });
    }
    db.run(
      `insert or ignore into chosen
       with recursive family (entity, external_id) as (
         values (?, ?)
         union
         select e.entity, e.external_id from event e join family f on e.parent_entity = f.entity and e.parent_id = f.external_id
         where e.external_id is not null)
       select e.id from event e join family f on e.entity = f.entity and e.external_id = f.external_id
       union
       select e.id from event e join family f on e.parent_entity = f.entity and e.parent_id = f.external_id`,
      entity,
      externalId,
    );
  }
  holdOthers(db);
}

/** The events `c` that must be acknowledged before an event `e` is sent: they create its record, and its parent. */
const NEEDS = `join event c on c.type = c.entity || '/created' and c.state <> 'duplicate'
    and c.entity in (select name from kind where not is_note)
    and ((c.entity = e.entity and c.external_id = e.external_id) or (c.entity = e.parent_entity and c.external_id = e.parent_id))`;

/** Adds to the table `chosen` the parents of what it has, and their parents, and holds everything else. */
export function holdOthers(db: Database): void {
  db.exec(`
    insert or ignore into chosen
      with recursive needed (event) as (
        select event from chosen
        union
        select c.id from needed n join event e on e.id = n.event ${NEEDS})
      select event from needed;
    update event set is_chosen = 0, state = case when state in ('ready', 'retry', 'waiting') then 'held' else state end
    where id not in (select event from chosen);
    drop table chosen;
  `);
}
