import { isObject, parseJson, type JsonObject, type JsonValue } from '../../json.ts';
import { CUSTOM_FIELDS, isUpdate, STAGED } from '../../kinds/index.ts';
import type { Entity, EventType } from '../../model.ts';
import { fieldsOf } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { numberText } from '../../report/words/numbers.ts';
import { mergeInto, setMerged } from './merge.ts';
import { groupsOf } from '../events.ts';
import { addProblem } from '../problems.ts';
import { issueOf } from '../../report/words/words.ts';

/** How many rows became how many records. */
interface FoldCounts {
  readonly rows: number;
  readonly records: number;
}

interface FoldRow {
  readonly n: number;
  /** The record. */
  readonly together: string;
  readonly id: number;
  readonly type: EventType;
  readonly entity: Entity;
  readonly external_id: string;
  readonly record: number;
  readonly entry: number;
  readonly occurred_at: string | null;
  readonly data: string | null;
  readonly own_priority: number | null;
  readonly deal_group: number | null;
  readonly amount: string | null;
  readonly place: string;
}

/** In the order in which they are folded. */
const ROWS = `
  select t.n, t.together, e.id, e.type, e.entity, e.external_id, e.record, e.entry, e.occurred_at, e.data, e.own_priority,
    e.deal_group, e.amount, r.place
  from temp.row_to_fold t join event e on e.id = t.id join row r on r.id = e.record
  where t.n > ? order by t.n limit ?`;

/**
 * One record, one event: the created row of a record and all its updated rows become one event with the fold of their fields.
 * Later entries of the mapping and later rows win; an absent value overrides nothing. If one row of a record cannot be mapped, the whole
 * record is invalid: an older value must not be sent because the newer one was unreadable. Created rows are never folded into each other
 * (see `judgeDuplicates`).
 */
export function foldRows(db: Database): void {
  db.exec(`
    create temp table several as
      select e.entity, e.external_id from (
        select entity, external_id from event
        where external_id is not null and entity in (select name from kind where is_updatable)
        group by entity, external_id having count(*) > 1) s
      join event e on e.entity = s.entity and e.external_id = s.external_id
      group by e.entity, e.external_id having max(e.type like '%/updated') = 1;
    create unique index temp.several_key on several (entity, external_id);
    create temp table row_to_fold (n integer primary key, id integer not null, together text not null);
    insert into temp.row_to_fold
      select row_number() over (order by e.entity, e.external_id, e.entry, e.id), e.id, e.entity || ' ' || e.external_id
      from several s join event e on e.entity = s.entity and e.external_id = s.external_id where e.state <> 'duplicate';
  `);
  for (const group of groupsOf<FoldRow>(db, ROWS)) foldGroup(db, group);
  // Control totals count deals that this migration creates.
  db.exec(
    `drop table several; drop table row_to_fold; update event set deal_group = null, amount = null where entity = '${STAGED}' and type = '${STAGED}/updated'`,
  );
}

/** The records of several rows, and their rows. */
export function countFolded(db: Database): FoldCounts {
  return db.get<FoldCounts>(`
    select count(*) as records, ifnull(sum(rows), 0) as rows from event
    where id in (select event from row_of) and rows > 1 and entity in (select name from kind where is_updatable)`)!;
}

function foldGroup(db: Database, rows: readonly FoldRow[]): void {
  const created = rows.filter(({ type }) => !isUpdate(type));
  const base = created[0] ?? rows[0]!;
  // Of several created rows with other content, the others stay invalid events of their own.
  const own = rows.filter((row) => row === base || isUpdate(row.type));
  mergeInto(db, base.id, own);
  const occurredAt = base.occurred_at ?? own.findLast(({ occurred_at: at }) => at !== null)?.occurred_at ?? null;
  db.run(
    'update event set occurred_at = ?, deal_group = ?, amount = ? where id = ?',
    occurredAt,
    isUpdate(base.type) || base.deal_group === null ? null : groupOf(db, own),
    own.findLast(({ amount }) => amount !== null)?.amount ?? null,
    base.id,
  );
  const unmapped = own.filter(({ data }) => data === null);
  if (unmapped.length > 0) rejectAll(db, base, own, unmapped);
  else setFold(db, { ...base, occurred_at: occurredAt }, own);
}

function setFold(db: Database, base: FoldRow, rows: readonly FoldRow[]): void {
  const data: Record<string, JsonValue> = {};
  const entries: Record<string, number> = {};
  for (const row of rows) {
    const own = parseJson(row.data!) as JsonObject;
    for (const [name, value] of Object.entries(own)) {
      data[name] = CUSTOM_FIELDS.includes(name) && isObject(value) ? over(data[name], value) : value!;
    }
    for (const [field] of fieldsOf(own)) entries[field] = row.entry;
  }
  const others = Object.fromEntries(Object.entries(entries).filter(([, entry]) => entry !== base.entry));
  setMerged(db, base, data);
  if (Object.keys(others).length > 0)
    db.run('update event set field_entries = ? where id = ?', JSON.stringify(others), base.id);
}

/** Keys of custom fields are fields. A name such as `__proto__` is a key like any other. */
function over(below: JsonValue | undefined, above: JsonObject): JsonObject {
  const fields = Object.create(null) as Record<string, JsonValue | undefined>;
  for (const part of [below, above]) {
    if (isObject(part)) for (const [name, value] of Object.entries(part)) fields[name] = value;
  }
  return fields;
}

/** How many rows a message names. */
const MOST_PLACES = 10;

/** Every row is listed, so that each can be corrected. */
function rejectAll(db: Database, base: FoldRow, rows: readonly FoldRow[], unmapped: readonly FoldRow[]): void {
  db.run(`update event set data = null, state = 'invalid' where id = ?`, base.id);
  const places = unmapped.slice(0, MOST_PLACES).map(({ place }) => place);
  if (unmapped.length > MOST_PLACES) places.push(`${numberText(unmapped.length - MOST_PLACES)} more`);
  const issue = issueOf('row_invalid', places.join(', '));
  for (const { data, record } of rows) if (data !== null) addProblem(db, { event: base.id, record }, issue);
}

const NAMES = 'from_pipeline from_stage from_owner pipeline stage owner currency is_rest'.split(' ');

/** The group of the control totals to which a deal of several rows belongs: each name as the last row with one says. */
function groupOf(db: Database, rows: readonly FoldRow[]): number {
  const groups = rows.flatMap(({ deal_group: id }) =>
    id === null ? [] : db.all<Record<string, string | number | null>>('select * from deal_group where id = ?', id),
  );
  const merged = NAMES.map((name) => groups.findLast((group) => group[name] !== null)?.[name] ?? null);
  const same = groups.find((group) => NAMES.every((name, at) => group[name] === merged[at]));
  if (same) return same['id'] as number;
  const where = NAMES.map((name) => `${name} is ?`).join(' and ');
  const known = db.get<{ id: number }>(`select id from deal_group where ${where}`, ...merged);
  return known?.id ?? db.add('deal_group', Object.fromEntries(NAMES.map((name, at) => [name, merged[at]])));
}
