/** Records of the input that become no events of the plan. */
import type { UnusedCode } from '../../report/words/unused.ts';
import type { Database } from '../../store/sqlite.ts';
import { kindOfType, KINDS } from '../../kinds/index.ts';
import { parseJson, type JsonObject } from '../../json.ts';
import type { Policies } from '../../mapping/policies.ts';
import { EVENT_ROWS, pagesOf, setContent, type EventRow } from '../events.ts';

interface LeavingOut {
  /** A condition on `event e`. */
  readonly events: string;
  /** Of the condition. */
  readonly values?: readonly string[];
  readonly code: UnusedCode;
  /** What is to be said beside the words of the code, in SQL over `event e`. */
  readonly why: string;
}

/** Takes events out of the plan, and lists their rows. */
export function leaveOut(db: Database, unused: LeavingOut): void {
  listUnused(db, unused);
  db.run(`create temp table out as select e.id as event from event e where ${unused.events}`, ...(unused.values ?? []));
  for (const table of ['problem', 'omission', 'part', 'row_of'])
    db.exec(`delete from ${table} where event in (select event from temp.out)`);
  db.exec('delete from event where id in (select event from temp.out); drop table temp.out');
}

/** Lists the rows of events, or the parts of combined ones, of which nothing is sent. */
export function listUnused(db: Database, { events, values = [], code, why }: LeavingOut): void {
  db.run(
    `insert into unused (record, entity, external_id, code, why)
     select ifnull(w.record, e.record), e.entity, ifnull(w.external_id, e.external_id), ?, ${why}
     from event e left join (
       select event, record, null as external_id from row_of where event not in (select event from part)
       union all select event, record, external_id from part) w on w.event = e.id
     where ${events}`,
    code,
    ...values,
  );
}

const entriesWith = (policies: readonly Policies[], wanted: Policies['if_parent_missing']): number[] =>
  policies.flatMap(({ if_parent_missing: policy }, entry) => (policy === wanted ? [entry] : []));

/** The parent of an event `e` is in neither the input nor the checkpoint. */
const LACKS_PARENT = `e.parent_id is not null
  and not exists (select 1 from event p where p.entity = e.parent_entity and p.external_id = e.parent_id)
  and not exists (select 1 from checkpoint.record q where q.entity = e.parent_entity and q.external_id = e.parent_id
    and q.is_acknowledged = 1)`;

/** `if_parent_missing: omit`: an event whose parent is in neither the input nor the checkpoint goes out without naming it. */
export function omitMissingParents(db: Database, policies: readonly Policies[]): void {
  const entries = entriesWith(policies, 'omit');
  const lacking = `${EVENT_ROWS}
    where e.entry in (select value from json_each(?)) and e.data is not null and ${LACKS_PARENT}
      and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<EventRow>(db, lacking, JSON.stringify(entries))) {
    for (const row of page) {
      const parents = kindOfType(row.type).parents.map(({ field }) => field);
      const given = parseJson(row.data) as JsonObject;
      const data = Object.fromEntries(Object.entries(given).filter(([field]) => !parents.includes(field)));
      setContent(db, row, data);
    }
  }
}

/**
 * `if_parent_missing: skip`: an event whose parent is in neither the input nor the checkpoint is no event of the plan, unless it was
 * acknowledged before. An event that depends on a skipped one lacks its parent, too.
 */
export function skipOrphans(db: Database, policies: readonly Policies[]): void {
  const entries = entriesWith(policies, 'skip');
  // The row of the parent, if it has one.
  const ofRow = (what: string): string =>
    `(select ${what} from unused u join row r on r.id = u.record
      where u.entity = e.parent_entity and u.external_id = e.parent_id limit 1)`;
  for (const { name, parents } of KINDS) {
    if (parents.length === 0) continue;
    leaveOut(db, {
      events: `e.entity = ? and e.entry in (select value from json_each(?)) and e.data is not null and ${LACKS_PARENT}
        and not exists (select 1 from checkpoint.record r where r.entity = e.entity and r.external_id = e.external_id
          and r.is_acknowledged = 1)`,
      values: [name, JSON.stringify(entries)],
      code: 'orphan',
      why: `e.parent_entity || ' \`' || e.parent_id || '\` ' || ifnull(
        ${ofRow(`iif((select is_correctable from unused_code c where c.code = u.code), 'could not be read', 'is left out, too') || ' (' || r.place || ')'`)},
        'is in no export')`,
    });
  }
}
