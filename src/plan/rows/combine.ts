/** Comments of one parent that go as one (`combine`). A combined comment is an event whose parts are rows of the input. */
import { COMBINED } from '../../kinds/index.ts';
import { canonicalJson, parseJson, type JsonObject } from '../../json.ts';
import { combineOf, defaultHeading, type Combine } from '../../mapping/values/combine.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { oversized, roomIn } from './body-size.ts';
import { groupsOf, setState } from '../events.ts';
import { addProblem, rejectEvent } from '../problems.ts';
import { mergeInto, setMerged } from './merge.ts';
import { issueOf } from '../../report/words/words.ts';

const TYPE = `${COMBINED}/created` as const;
/** Nothing has been found yet that keeps these from being sent. */
const SENDABLE = `('ready', 'acknowledged')`;
/** What is appended to the id of the first part. */
const ID_BYTES = 64;

interface CombineJob {
  readonly db: Database;
  readonly hasher: FieldHasher;
  readonly mapping: { readonly timezone: string | undefined };
  /** Of all entries. */
  readonly entries: readonly { readonly combine: Combine | undefined; readonly policies: Policies }[];
}

/** Whether an entry combines comments, or an earlier run has. */
export function mayCombine({ db, entries }: CombineJob): boolean {
  return (
    entries.some(({ combine }) => combine !== undefined) ||
    db.get('select 1 from checkpoint.part limit 1') !== undefined
  );
}

interface PartRow {
  readonly n: number;
  /** The combined comment that has carried it, or its parent. */
  readonly together: string;
  readonly id: number;
  readonly external_id: string;
  readonly record: number;
  readonly entry: number;
  readonly occurred_at: string | null;
  readonly own_priority: number | null;
  /** Null if its entry does not combine. */
  readonly heading: string | null;
  readonly data: string;
}

const PART = `e.id, e.external_id, e.record, e.entry, e.occurred_at, e.own_priority, e.heading, e.data`;

/**
 * A comment that a combined one carried, or may have carried, stays part of it and is never sent again, whatever happened to the others. A
 * comment that was sent alone stays alone. All others whose entry sets `combine` are combined by parent, in the order of their time.
 */
export function combineComments(job: CombineJob): void {
  const { db, entries } = job;
  const combining = entries.flatMap(({ combine }, entry) => (combine ? [entry] : []));
  db.exec(`
    create temp table carried_part as
      select e.id, c.carrier, max(c.position) as position, max(c.parent = e.parent_entity || ' ' || e.parent_id) as is_there,
        min(c.is_certain) = 1 and r.code is null as is_settled
      from checkpoint.carried c join event e on e.entity = '${COMBINED}' and e.external_id = c.external_id and e.state in ${SENDABLE}
        join checkpoint.record r on r.entity = '${COMBINED}' and r.external_id = c.carrier
      group by e.id;
    create temp table bound as
      select row_number() over (order by carrier, is_there desc, position, id) as n, carrier as together, id
      from carried_part where is_there or is_settled;
  `);
  reportMoved(db);
  db.run(
    `create temp table loose as
       select row_number() over (order by e.parent_entity, e.parent_id, julianday(e.occurred_at) is null, julianday(e.occurred_at), e.id) as n,
         e.parent_entity || ' ' || e.parent_id as together, e.id
       from event e
       where e.entity = '${COMBINED}' and e.state in ${SENDABLE} and e.entry in (select value from json_each(?))
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
  reportTaken(db);
  // Acknowledged as part of another comment, but its row can no longer be mapped.
  db.exec(`
    update event set state = 'acknowledged', code = 'unmapped'
      where entity = '${COMBINED}' and state = 'invalid' and data is null and external_id in (
        select external_id from checkpoint.carried where is_certain = 1);
    drop table temp.bound; drop table temp.loose; drop table temp.carried_part;
  `);
}

/** A request that was opened for one parent is never completed with comments of another one: whether it has brought them is not known. */
function reportMoved(db: Database): void {
  const moved = db.all<{ id: number; external_id: string; carrier: string; record: number }>(
    `select e.id, e.external_id, m.carrier, e.record from temp.carried_part m join event e on e.id = m.id
     where not m.is_there and not m.is_settled order by e.id`,
  );
  for (const { id, external_id: externalId, carrier, record } of moved) {
    const issue = issueOf('uncertain/part', externalId, carrier).with({ field: 'content' });
    rejectEvent(db, { id, record }, issue, 'rejected');
  }
}

/** The service keeps one comment per id, and under this one it has a combined one. */
function reportTaken(db: Database): void {
  const taken = db.all<{ id: number; external_id: string; record: number }>(
    `select e.id, e.external_id, e.record from event e
     where e.entity = '${COMBINED}' and e.state in ${SENDABLE} and e.external_id in (select carrier from checkpoint.carried)
       and e.id not in (select event from part) order by e.id`,
  );
  for (const { id, external_id: externalId, record } of taken) {
    rejectEvent(db, { id, record }, issueOf('id_of_combined', externalId).with({ field: 'external_id' }));
  }
}

const groupsIn = (db: Database, table: 'bound' | 'loose'): Generator<readonly PartRow[], void, undefined> =>
  groupsOf<PartRow>(
    db,
    `select t.n, t.together, ${PART} from temp.${table} t join event e on e.id = t.id where t.n > ? order by t.n limit ?`,
  );

/** As many as `max` allows and one body has room for. */
function* cut(comments: readonly PartRow[], { separator, max }: Combine): Generator<readonly PartRow[]> {
  let parts: PartRow[] = [];
  let room = 0;
  for (const comment of comments) {
    const size = Buffer.byteLength(JSON.stringify(textOf(comment) + separator));
    if (parts.length > 0 && (parts.length === max || size > room)) {
      yield parts;
      parts = [];
    }
    if (parts.length === 0) room = roomBeside(comment);
    parts.push(comment);
    room -= size;
  }
  yield parts;
}

/** The bytes that a body has for the texts of a combined comment whose first part this is. */
function roomBeside({ data, occurred_at }: PartRow): number {
  const empty = canonicalJson({ ...(parseJson(data) as JsonObject), content: '' });
  return roomIn(empty, { type: TYPE, occurred_at }) - ID_BYTES;
}

function textOf(part: PartRow): string {
  const { heading } = part;
  return heading === null || heading === '' ? bareTextOf(part) : `${heading}\n${bareTextOf(part)}`;
}

function bareTextOf({ data }: PartRow): string {
  return (parseJson(data) as { content: string }).content;
}

function combineOfFirst({ entries }: CombineJob, parts: readonly PartRow[]): Combine {
  return entries[parts[0]!.entry]!.combine ?? combineOf({});
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

/** Makes one event of these: the first one, and the others become its rows. */
function combineInto(job: CombineJob, parts: readonly PartRow[], externalId: string): void {
  const { db, hasher } = job;
  const base = parts[0]!;
  const { separator } = combineOfFirst(job, parts);
  const datas = parts.map(({ data }) => parseJson(data) as JsonObject);
  const { author_name: author, ...rest } = datas[0]!;
  const data = {
    ...rest,
    ...(datas.every((each) => each['author_name'] === author) && author !== undefined && { author_name: author }),
    external_id: externalId,
  };
  const joined = (text: (part: PartRow) => string) => ({ ...data, content: parts.map(text).join(separator) });
  const headed = joined(textOf);
  for (const [position, part] of parts.entries()) {
    const { external_id, record, entry } = part;
    const hashed = { content: hasher.hashOf(COMBINED, part.data), field_key: hasher.keyId };
    db.add('part', { event: base.id, position, external_id, record, entry, ...hashed });
  }
  mergeInto(db, base.id, parts);
  db.run('update event set is_derived = 0 where id = ?', base.id);
  const event = { ...base, type: TYPE };
  // A heading is dispensable: a part that fits only without its heading is sent without it.
  const isTooLarge = oversized(canonicalJson(headed), event).length > 0;
  setMerged(db, event, isTooLarge ? joined(bareTextOf) : headed);
}

/**
 * The comment that has carried these. Once it was acknowledged, its parts decide whether it is as the input says, and not its text: a
 * part that is gone, or another heading, is no change. Without an answer it is sent again; parts whose entry no longer combines keep their
 * times and authors under the headings by default.
 */
function combineAgain(job: CombineJob, parts: readonly PartRow[]): void {
  const { db, entries, mapping } = job;
  const base = parts[0]!;
  const carrier = base.together;
  const headingOf = defaultHeading(mapping.timezone);
  const headed = parts.map((part) => {
    const comment = { data: parseJson(part.data) as JsonObject, occurredAt: part.occurred_at ?? undefined };
    return { ...part, heading: part.heading ?? headingOf(comment) };
  });
  combineInto(job, headed, carrier);
  const settled = db.get<{ content: string | null }>(
    `select content from checkpoint.record
     where entity = '${COMBINED}' and external_id = ? and existence = 'yes' and is_acknowledged = 1 and code is null`,
    carrier,
  );
  if (!settled) return;
  db.run('update event set content = ifnull(?, content) where id = ?', settled.content, base.id);
  concludeParts(db, base.id, (entry) => entries[entry]!.policies.if_changed !== 'ignore');
}

/** Whether an event is a combined comment. */
export function isCombined(db: Database, event: number): boolean {
  return db.get('select 1 from part where event = ? limit 1', event) !== undefined;
}

interface SentPart {
  readonly external_id: string;
  readonly carrier: string;
  readonly record: number;
  readonly entry: number;
  /** It is in every body that the combined comment may have. */
  readonly is_certain: number;
  /** How many of these bodies have it as it is now, as it is not, and as nobody can tell (after `purge`). */
  readonly same: number;
  readonly other: number;
  readonly unreadable: number;
}

/**
 * An acknowledged comment is as its parts are. Says of each part that it is not, or perhaps not, there as the input has it.
 * `isReported`: of parts of this entry.
 */
export function concludeParts(db: Database, event: number, isReported: (entry: number) => boolean): void {
  const parts = db.all<SentPart>(
    `select p.external_id, c.carrier, p.record, p.entry, min(c.is_certain) as is_certain,
       sum(c.field_key = p.field_key and c.content = p.content) as same,
       sum(c.field_key = p.field_key and c.content <> p.content) as other, sum(c.field_key <> p.field_key) as unreadable
     from part p join event e on e.id = p.event
       join checkpoint.carried c on c.external_id = p.external_id and c.carrier = e.external_id
     where p.event = ? group by p.position order by p.position`,
    event,
  );
  let [state, code]: [state: 'acknowledged' | 'rejected', code: string | null] = ['acknowledged', null];
  for (const part of parts) {
    const key = differenceOf(part, isReported(part.entry));
    if (key === undefined) continue;
    const { external_id: id, carrier, record } = part;
    addProblem(db, { event, record }, issueOf(key, id, carrier).with({ field: 'content' }));
    if (key === 'uncertain/part') [state, code] = ['rejected', 'uncertain'];
    else code ??= 'comment_changed';
  }
  setState(db, event, state, code);
}

/** Undefined if it is as the input says, or may be as it is. */
function differenceOf(part: SentPart, isReported: boolean): 'uncertain/part' | 'comment_changed/part' | undefined {
  if (part.is_certain === 0) return 'uncertain/part';
  if (!isReported || part.other + part.unreadable === 0) return undefined;
  return part.same + part.unreadable > 0 ? 'uncertain/part' : 'comment_changed/part';
}

/**
 * Which comments a combined comment carries in the body with this hash, before it goes out. `isNew`: no body of it can be there yet. In a
 * transaction of the caller.
 */
export function storeParts(db: Database, event: number, body: string, { isNew }: { readonly isNew: boolean }): void {
  db.run(
    `delete from checkpoint.part where carrier = (select external_id from event where id = ?) and (body = ? or ?)`,
    event,
    body,
    Number(isNew),
  );
  db.run(
    `insert into checkpoint.part (carrier, body, external_id, position, parent, content, field_key)
     select e.external_id, ?, p.external_id, p.position, e.parent_entity || ' ' || e.parent_id, p.content, p.field_key
     from part p join event e on e.id = p.event where p.event = ?`,
    body,
    event,
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

/** Comments that are not sent yet, and the requests that they need or would need. */
export interface CombinedFigures {
  readonly comments: number;
  readonly requests: number;
}

/** Includes comments that wait for their parent: before names are resolved, that may be all of them. */
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
