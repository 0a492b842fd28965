import { EVENT_TYPES, kindOfType } from '../../kinds/index.ts';
import type { EntryHead } from '../../mapping/mapping.ts';
import type { Database } from '../../store/sqlite.ts';
import { EVENT_ROWS, pagesOf, type EventRow, type PlannedEvent } from '../events.ts';
import { addProblem } from '../problems.ts';
import { unusedText, type UnusedCode } from '../../report/words/unused.ts';
import { issueOf } from '../../report/words/words.ts';
import type { Problem } from '../../problem.ts';

/** The status of the record that an event depends on. `expected`: it has yet to be sent. */
type ParentStatus = 'exists' | 'expected' | 'held' | 'missing' | 'failed';

/**
 * The status of an event's parent: from the answer to an earlier run, or else from the state of its event in the input. An update that was
 * skipped because its record is missing has not created it.
 */
const PARENT = `
  case when e.parent_id is null then null
  when exists (
    select 1 from checkpoint.record q where q.entity = e.parent_entity and q.external_id = e.parent_id
      and q.is_acknowledged = 1) then 'exists'
  else coalesce((
    select case c.state when 'acknowledged' then 'missing'
      when 'ready' then 'expected' when 'retry' then 'expected' when 'held' then 'held' when 'waiting' then 'held'
      else 'failed' end
    from event c where c.entity = e.parent_entity and c.external_id = e.parent_id and c.state <> 'duplicate'
    order by c.state = 'invalid', c.id limit 1), 'missing') end`;

const STATUS_OF_ONE = `select ${PARENT} as parent from event e where e.id = ?`;

/** The current status of the parent of an event that has one. */
export function parentStatus(db: Database, id: number): ParentStatus {
  return db.get<{ parent: ParentStatus }>(STATUS_OF_ONE, id)!.parent;
}

/**
 * Blocks events whose parent failed or is missing, and lets events wait whose parent this run leaves out.
 * A statement for each type, parents first: the state of a child depends on that of its parent, which the statement before has
 * written. One recursive statement would have to compute both at once.
 */
export function judgeParents(db: Database, entries: readonly EntryHead[]): void {
  const sendsWithout = entries
    .filter(({ policies }) => policies.if_parent_missing === 'send')
    .map(({ index }) => index);
  for (const type of EVENT_TYPES.filter((each) => kindOfType(each).parents.length > 0)) {
    if (!entries.some((entry) => entry.type === type)) continue;
    db.run(
      `update event set (state, code) = (
         select case when parent = 'failed' then 'blocked'
             when parent = 'missing' and not isSent then 'blocked'
             when parent = 'held' then 'waiting' else event.state end,
           case when parent = 'failed' then 'parent_failed' when parent = 'missing' and not isSent then 'parent_missing' end
         from (select ${PARENT} as parent, e.entry in (select value from json_each(?)) as isSent
           from event e where e.id = event.id))
       where type = ? and state in ('ready', 'retry') and parent_id is not null`,
      JSON.stringify(sendsWithout),
      type,
    );
  }
}

/** Reports every blocked event, and names the record that it depends on. */
export function reportBlocked(db: Database): void {
  const rows = `${EVENT_ROWS} where e.state = 'blocked' and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<EventRow & { readonly code: BlockedCode }>(db, rows)) {
    for (const event of page) {
      const issue = blockedIssue(db, event, event.code);
      const similar = event.code === 'parent_missing' && issue.hint === undefined ? similarId(db, event) : undefined;
      const hint = `the input has \`${similar}\`, which differs only by damage: export both files again, as text`;
      addProblem(
        db,
        { event: event.id, record: event.record_id },
        similar === undefined ? issue : issue.with({ hint }),
      );
    }
  }
  db.exec('drop table if exists temp.plain_id');
}

export type BlockedCode = 'parent_failed' | 'parent_missing';

/** Why an event cannot be sent, and the record that it depends on. */
export function blockedIssue(db: Database, event: PlannedEvent, code: BlockedCode): Problem {
  const name = `${event.parent_entity} \`${event.parent_id ?? ''}\``;
  const field = kindOfType(event.type).parents.find(({ kind }) => kind === event.parent_entity)!.field;
  if (code === 'parent_missing' && wasSkipped(db, event))
    return issueOf('parent_missing/skipped', name).with({ field });
  const row = code === 'parent_missing' ? unusedRow(db, event) : undefined;
  const issue = row
    ? issueOf('parent_missing/unused', name, row.place, unusedText(row.code, row.why))
    : issueOf(code, name);
  return issue.with({ field });
}

/**
 * An id without what other programs change in it: zeros before a number, decimals behind it, letter case, blanks and invisible
 * characters, the form of accents (of composed letters or not), the quotes of a formula.
 */
function plainId(id: string): string {
  return id
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Cf}="]+/gu, '')
    .replace(/(\d)\.0$/, '$1')
    .replace(/^0+/, '');
}

/** An id in the input that differs from that of a missing parent only by what other programs change. */
function similarId(db: Database, { parent_entity: entity, parent_id: id }: PlannedEvent): string | undefined {
  db.define('plain_id', (text) => plainId(String(text)));
  db.exec(`
    create temp table if not exists plain_id as
    select entity, external_id, plain_id(external_id) as plain from plan.event
    where external_id is not null and entity in (select name from kind where not is_note) and state <> 'invalid';
    create index if not exists temp.plain_id_of on plain_id (entity, plain)`);
  return db.get<{ external_id: string }>(
    `select external_id from temp.plain_id where entity = ?1 and plain = plain_id(?2) and plain <> '' limit 1`,
    entity,
    id,
  )?.external_id;
}

/** The row of the missing parent, if the export has one. */
function unusedRow(db: Database, { parent_entity: entity, parent_id: id }: PlannedEvent) {
  return db.get<{ place: string; code: UnusedCode; why: string | null }>(
    `select r.place, u.code, u.why from unused u join row r on r.id = u.record
      where u.entity = ? and u.external_id = ? order by u.id desc limit 1`,
    entity,
    id,
  );
}

/** Whether the missing parent is in the input: then `if_missing: skip` skipped its update. */
function wasSkipped(db: Database, { parent_entity: entity, parent_id: id }: PlannedEvent): boolean {
  const parent = `select 1 from event where entity = ? and external_id = ? and state = 'acknowledged' limit 1`;
  return db.get(parent, entity, id) !== undefined;
}
