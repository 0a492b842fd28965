/** Comments of one parent that go as one (`combine`). A combined comment is an event whose parts are rows of the input. */
import { COMBINED } from '../../kinds/index.ts';
import { contentSha, eventId } from '../../core/identity.ts';
import { LIMITS } from '../../contract.ts';
import { canonicalJson, parseJson, type JsonObject } from '../../json.ts';
import { combineOf, type Combine } from '../../mapping/values/combine.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { oversized } from '../body-size.ts';
import { setState } from '../events.ts';
import { addProblem } from '../problems.ts';
import { issueOf } from '../../vocabulary/words.ts';

const TYPE = `${COMBINED}/created` as const;
/** What ids and names around the text may take of a body. */
const FRAME_BYTES = 64 * 1024;
/** More rows than any combined comment has parts. */
const PAGE = 5_000;

/** How comments of an entry whose mapping no longer combines stand in what was sent before. */
const NOT_COMBINED = combineOf({ heading: '' });

export interface CombineJob {
  readonly db: Database;
  readonly migration: string;
  readonly hasher: FieldHasher;
  /** Of all entries. */
  readonly entries: readonly { readonly combine: Combine | undefined; readonly policies: Policies }[];
}

interface PartRow {
  readonly n: number;
  /** Parts of one combined comment, or comments of one parent. */
  readonly together: string;
  readonly id: number;
  readonly external_id: string;
  readonly record: number;
  readonly entry: number;
  readonly occurred_at: string | null;
  readonly own_priority: number | null;
  readonly heading: string | null;
  readonly data: string;
}

const PART = `e.id, e.external_id, e.record, e.entry, e.occurred_at, e.own_priority, e.heading, e.data`;

/**
 * Every comment that a combined one carried, or may have carried, stays part of it: it is never sent again, whatever became of the
 * others. What was sent alone stays alone. All others whose entry says so are combined by parent, in the order of their time.
 */
export function combineComments(job: CombineJob): void {
  const { db, entries } = job;
  const combining = entries.flatMap(({ combine }, entry) => (combine ? [entry] : []));
  if (combining.length === 0 && !db.get('select 1 from checkpoint.part limit 1')) return;
  db.exec(
    `create temp table bound as
       select row_number() over (order by p.carrier, p.position) as n, p.carrier as together, e.id
       from checkpoint.carried p join event e on e.entity = '${COMBINED}' and e.external_id = p.external_id and e.state = 'ready'`,
  );
  db.run(
    `create temp table loose as
       select row_number() over (order by e.parent_entity, e.parent_id, julianday(e.occurred_at) is null, julianday(e.occurred_at), e.id) as n,
         e.parent_entity || ' ' || e.parent_id as together, e.id
       from event e
       where e.entity = '${COMBINED}' and e.state = 'ready' and e.entry in (select value from json_each(?))
         and e.id not in (select id from temp.bound)
         and not exists (select 1 from checkpoint.record r where r.entity = '${COMBINED}' and r.external_id = e.external_id
           and r.existence <> 'no')`,
    JSON.stringify(combining),
  );
  for (const parts of groupsIn(db, 'bound')) combineAgain(job, parts);
  for (const comments of groupsIn(db, 'loose')) {
    for (const parts of cut(comments, combineOfFirst(job, comments))) {
      combineInto(job, parts, freeId(db, parts[0]!.external_id));
    }
  }
  // Acknowledged as part of another comment, but its row can no longer be mapped.
  db.exec(`
    update event set state = 'acknowledged', code = 'unmapped'
      where entity = '${COMBINED}' and state = 'invalid' and data is null and external_id in (
        select external_id from checkpoint.carried where is_acknowledged = 1);
    drop table temp.bound; drop table temp.loose;
  `);
}

function* groupsIn(db: Database, table: 'bound' | 'loose'): Generator<readonly PartRow[]> {
  let group: PartRow[] = [];
  for (let last = 0; ;) {
    const rows = db.all<PartRow>(
      `select t.n, t.together, ${PART} from temp.${table} t join event e on e.id = t.id
       where t.n > ? order by t.n limit ${PAGE}`,
      last,
    );
    for (const row of rows) {
      if (group.length > 0 && group[0]!.together !== row.together) {
        yield group;
        group = [];
      }
      group.push(row);
    }
    if (rows.length === 0) break;
    last = rows.at(-1)!.n;
  }
  if (group.length > 0) yield group;
}

/** As many as `max` allows and one body has room for. */
function* cut(comments: readonly PartRow[], { separator, max }: Combine): Generator<readonly PartRow[]> {
  const room = LIMITS.bodyBytes - FRAME_BYTES;
  let parts: PartRow[] = [];
  let bytes = 0;
  for (const comment of comments) {
    const size = Buffer.byteLength(JSON.stringify(textOf(comment) + separator));
    if (parts.length > 0 && (parts.length === max || bytes + size > room)) {
      yield parts;
      [parts, bytes] = [[], 0];
    }
    parts.push(comment);
    bytes += size;
  }
  if (parts.length > 0) yield parts;
}

function textOf({ heading, data }: PartRow): string {
  const { content } = parseJson(data) as { content: string };
  return heading === null || heading === '' ? content : `${heading}\n${content}`;
}

function combineOfFirst({ entries }: CombineJob, parts: readonly PartRow[]): Combine {
  return entries[parts[0]!.entry]!.combine ?? NOT_COMBINED;
}

/** The id of the first part with `+`, and more of them where a comment of the export has that id. */
function freeId(db: Database, first: string): string {
  for (let id = `${first}+`; ; id += '+') {
    const isTaken = db.get(
      `select 1 where exists (select 1 from event where entity = '${COMBINED}' and external_id = ?)
         or exists (select 1 from part where external_id = ?)
         or exists (select 1 from checkpoint.record r where r.entity = '${COMBINED}' and r.external_id = ? and r.existence <> 'no')`,
      id,
      id,
      id,
    );
    if (!isTaken) return id;
  }
}

/** Makes one event of these: that of the first one, of which the others become rows. */
function combineInto(job: CombineJob, parts: readonly PartRow[], externalId: string): void {
  const { db, migration, hasher } = job;
  const base = parts[0]!;
  const { separator } = combineOfFirst(job, parts);
  const datas = parts.map(({ data }) => parseJson(data) as JsonObject);
  const { author_name: author, ...rest } = datas[0]!;
  const data = {
    ...rest,
    ...(datas.every((each) => each['author_name'] === author) && author !== undefined && { author_name: author }),
    external_id: externalId,
    content: parts.map(textOf).join(separator),
  };
  const content = canonicalJson(data);
  for (const [position, part] of parts.entries()) {
    const { id, external_id, record, entry } = part;
    db.run(
      'insert into part (event, position, external_id, record, entry, content, field_key) values (?, ?, ?, ?, ?, ?, ?)',
      ...[base.id, position, external_id, record, entry, hasher.hashOf(COMBINED, part.data), hasher.keyId],
    );
    db.run('insert or ignore into row_of (event, record, entry) values (?, ?, ?)', base.id, record, entry);
    if (id === base.id) continue;
    for (const table of ['problem', 'omission']) db.run(`update ${table} set event = ? where event = ?`, base.id, id);
    db.run('delete from event where id = ?', id);
  }
  const priorities = parts.flatMap(({ own_priority: priority }) => priority ?? []);
  db.run(
    `update event set external_id = ?, is_derived = 0, rows = ?, own_priority = ?, data = ?, content = ?, event_id = ? where id = ?`,
    externalId,
    parts.length,
    priorities.length > 0 ? Math.max(...priorities) : null,
    content,
    contentSha(TYPE, content),
    eventId({ migration, type: TYPE, externalId, content }),
    base.id,
  );
  for (const issue of oversized(content)) {
    setState(db, base.id, 'invalid', issue.code);
    addProblem(db, { event: base.id, record: base.record }, issue);
  }
}

/**
 * The comment that has carried these. Once it was acknowledged, its parts decide whether it is as the input says, and not its text: a
 * part that is gone, or another heading, is no change. Without an answer it is sent again.
 */
function combineAgain(job: CombineJob, parts: readonly PartRow[]): void {
  const { db, entries } = job;
  const base = parts[0]!;
  const carrier = base.together;
  combineInto(job, parts, carrier);
  const settled = db.get<{ content: string | null }>(
    `select content from checkpoint.record
     where entity = '${COMBINED}' and external_id = ? and existence = 'yes' and is_acknowledged = 1 and code is null`,
    carrier,
  );
  if (!settled) return;
  db.run('update event set content = ifnull(?, content) where id = ?', settled.content, base.id);
  setState(db, base.id, 'acknowledged');
  reportChangedParts(db, base.id, (entry) => entries[entry]!.policies.if_changed !== 'ignore');
}

/** Whether an event is a combined comment. */
export function isCombined(db: Database, event: number): boolean {
  return db.get('select 1 from part where event = ? limit 1', event) !== undefined;
}

/** Says of each part of an acknowledged comment that it is not, or perhaps not, as it was sent. `isReported`: of parts of this entry. */
export function reportChangedParts(db: Database, event: number, isReported: (entry: number) => boolean): void {
  const changed = db.all<{ external_id: string; carrier: string; record: number; entry: number }>(
    `select p.external_id, c.carrier, p.record, p.entry from part p join checkpoint.part c on c.external_id = p.external_id
     where p.event = ? and c.field_key = p.field_key and c.content <> p.content order by p.position`,
    event,
  );
  for (const { external_id: id, carrier, record } of changed.filter(({ entry }) => isReported(entry))) {
    setState(db, event, 'acknowledged', 'comment_changed');
    addProblem(db, { event, record }, { ...issueOf('comment_changed/part', id, carrier), field: 'content' });
  }
}

/**
 * Which comments a combined comment carries, before it goes out, and again once it is known to be as it went out. `mayBeThere`: an
 * earlier request may have brought them as they were then, so their hashes stay. In a transaction of the caller.
 */
export function storeParts(db: Database, event: number, mayBeThere: boolean): void {
  db.run(
    `insert into checkpoint.part (external_id, carrier, position, content, field_key)
     select p.external_id, e.external_id, p.position, p.content, p.field_key
     from part p join event e on e.id = p.event where p.event = ?1
     on conflict (external_id) do update set position = excluded.position,
       content = iif(?2 and carrier = excluded.carrier, content, excluded.content),
       field_key = iif(?2 and carrier = excluded.carrier, field_key, excluded.field_key), carrier = excluded.carrier`,
    event,
    Number(mayBeThere),
  );
}

/** The combined comment of the plan, or of the checkpoint, that carries a comment of the input. */
export function carrierOf(db: Database, externalId: string): string | undefined {
  return db.get<{ carrier: string }>(
    `select e.external_id as carrier from part p join event e on e.id = p.event where p.external_id = ?
     union all select carrier from checkpoint.carried where external_id = ? limit 1`,
    externalId,
    externalId,
  )?.carrier;
}

/** Comments that are not sent yet, and the requests that they take or would take. */
export interface CombinedFigures {
  readonly comments: number;
  readonly requests: number;
}

/** Also what waits for its parent: before the names are resolved, that may be all of them. */
const UNSENT = `('ready', 'retry', 'blocked')`;

/** Of those that are combined. */
export function combined(db: Database): CombinedFigures {
  return db.get<CombinedFigures>(`
    select ifnull(sum(rows), 0) as comments, count(*) as requests from event
    where type = '${TYPE}' and state in ${UNSENT} and id in (select event from part)`)!;
}

/** Of those that are not, if the mapping said `combine: {}`. */
export function combinable(db: Database): CombinedFigures {
  const { max: most } = combineOf({});
  return db.get<CombinedFigures>(`
    select ifnull(sum(n), 0) as comments, ifnull(sum((n + ${most} - 1) / ${most}), 0) as requests from (
      select count(*) as n from event
      where type = '${TYPE}' and state in ${UNSENT} and id not in (select event from part)
      group by parent_entity, parent_id)`)!;
}
