import { KINDS } from '../kinds/index.ts';
import { STATE_IN_SQL } from '../model.ts';
import { UNUSED, type UnusedReason } from '../report/words/unused.ts';
import type { Schema } from './sqlite.ts';

export const PLAN_FILE = 'plan.db';

const KIND_ROWS = KINDS.map(
  ({ name, isNote = false, isUpdatable }, rank) => `('${name}', ${rank}, ${Number(isNote)}, ${Number(isUpdatable)})`,
).join(',\n  ');

const UNUSED_ROWS = Object.entries(UNUSED as Readonly<Record<string, UnusedReason>>)
  .map(
    ([code, { words, isTold, isCorrectable, isShared = false }]) =>
      `('${code}', '${words}', ${Number(isTold)}, ${Number(isCorrectable)}, ${Number(isShared)})`,
  )
  .join(',\n  ');

/** The file of a `row r` for people, in a sheet with the cell that a problem `p` or a value left out `o` is about: `crm.xlsx#Deals!C17`. */
export function placedFile(of: 'p' | 'o'): string {
  return `r.path || ifnull('!' || ifnull(${of}.cell, r.cell) || r.line, '')`;
}

/** Of a `file f`: what is asked of it by its id, so that a view can also be joined to what may have no record. */
const ofFile = (id: string, what: string): string => `(select ${what} from file f where f.id = ${id})`;
/** A line of a file, in a sheet with the cell in which its record begins: `contacts.csv:17`, `crm.xlsx#Deals!A17`. */
const placeIn = (id: string, line: string): string => ofFile(id, `f.path || ifnull('!' || f.cell, ':') || ${line}`);

/** The columns of the plan's table `event`: what the input wants of a record, folded from its rows, and what becomes of it. */
export const EVENT = {
  /** In the order of reading, of its first row. */
  id: 'integer primary key',
  type: 'text not null',
  entity: 'text not null',
  /** Null where an invalid event has none. */
  external_id: 'text',
  /** 1: a comment that has no id in the export (plan/comment-ids). */
  is_derived: 'integer not null default 0',
  /** Of its first row. */
  record: 'integer not null references record',
  /** Of several, all are in row_of. */
  rows: 'integer not null default 1',
  /** Of the mapping, from 0: of its first row. */
  entry: 'integer not null',
  /** JSON, of several rows: the entry that set each field, where it is not that of the first row. */
  field_entries: 'text',
  occurred_at: 'text',
  /** JSON, exactly as the body carries it; null if the event is invalid. */
  data: 'text',
  /** Hash of type and data. */
  content: 'text',
  parent_entity: 'text',
  parent_id: 'text',
  /** What its entry sets. */
  own_priority: 'integer',
  priority: 'integer not null default 0',
  /** Of a comment that may be combined with others: what stands above its text. */
  heading: 'text',
  /** See plan/events. */
  state: 'text not null',
  /** Why it has this state, where that is not plain. */
  code: 'text',
  /** What is sent of it next, if not its own type: an update of what is there. */
  sends: 'text',
  /** 0: left out by --only, --pick or --pilot. */
  is_chosen: 'integer not null default 1',
  deal_group: 'integer references deal_group',
  /** Of a deal: decimal digits; null if it has none, '' if it could not be read. */
  amount: 'text',
} as const;
export type EventColumn = keyof typeof EVENT;

/**
 * `plan.db`: every event exactly as it will be sent, the record that it comes from, and everything that the survey and the
 * run found out about it. Every survey writes it anew.
 */
export const PLAN: Schema = {
  name: 'plan',
  applicationId: 0x63726d70,
  version: 11,
  // Most of it is written once and read from beginning to end.
  pageSize: 8_192,
  json: {
    source: ['columns'],
    record: ['raw'],
    event: ['field_entries', 'data'],
    shown: ['fields'],
    document: ['content'],
  },
  tables: `
-- The kinds of records (src/kinds).
create table kind (
  name text primary key,
  rank integer not null,         -- in the order of sending, parents first
  is_note integer not null,      -- 1: sent by its time among those of its parent; nothing depends on it
  is_updatable integer not null
) strict, without rowid;
insert into kind values
  ${KIND_ROWS};

-- One export, under the name that the mapping gives it.
create table source (
  id integer primary key,
  name text not null unique,
  kind text not null check (kind in ('table', 'tree')),
  columns text not null,         -- JSON; empty for JSON sources
  records integer not null default 0
) strict;

create table file (
  id integer primary key,
  source integer not null references source,
  path text not null,            -- as messages name it
  cell text                      -- of a sheet: the letter of the column in which its records begin
) strict;

-- A record as it was read.
create table record (
  id integer primary key,        -- in the order of reading
  file integer not null references file,
  line integer not null,         -- of its first line; 0 if it has none
  number integer not null,       -- from 1 in each file
  raw text,                      -- JSON: a list of cells, or an object; null where nothing could be read, or no event came of it
  original text                  -- of a corrected record: the hash of the original, which names it in rejects
) strict;

-- Where the record of the export is in whose place a corrected one was read.
create table replaced (
  record integer primary key references record,
  file integer not null references file,
  line integer not null
) strict;

-- One event per record: see EVENT.
create table event (
  ${Object.entries(EVENT)
    .map(([name, definition]) => `${name} ${definition}`)
    .join(',\n  ')}
) strict;

-- The rows of an event that has several, in the order in which they were folded.
create table row_of (
  event integer not null references event,
  record integer not null references record,
  entry integer not null,
  primary key (event, record, entry)
) strict, without rowid;

-- The comments of the input that a combined comment carries, in their order (plan/combine).
create table part (
  event integer not null references event,
  position integer not null,     -- from 0
  external_id text not null,     -- of the comment
  record integer not null references record,
  entry integer not null,
  content text not null,         -- hash of the comment
  field_key text not null,       -- the key of that hash
  primary key (event, position)
) strict, without rowid;
create index part_of on part (external_id);

create table problem (
  id integer primary key,
  event integer references event,
  record integer references record,        -- null: the input as a whole
  kind text not null,
  code text not null,
  severity text not null check (severity in ('error', 'warning')),
  count integer not null default 1,        -- of a warning about the input as a whole: how many values it is about
  field text,
  cell text,                               -- of a record in a sheet: the letter of the column that the field reads
  message text not null,
  hint text,
  http_status integer,
  attempts integer not null default 0,
  is_repeated integer not null default 0,  -- 1: a warning that the survey before gave already
  at text not null
) strict;
create index problem_of_event on problem (event);

-- A value that is left out of an event.
create table omission (
  id integer primary key,
  event integer not null references event,
  record integer not null references record,
  field text not null,
  original text not null,
  cell text,                     -- as in problem
  code text not null,
  reason text not null
) strict;
create index omission_of_event on omission (event);

-- Why nothing is sent of a row, or of a record in it (src/report/words/unused).
create table unused_code (
  code text primary key,
  words text not null,
  is_told integer not null,
  is_correctable integer not null,
  is_shared integer not null
) strict, without rowid;
insert into unused_code values
  ${UNUSED_ROWS};

-- Rows of which nothing is sent, or not all: why, and which record they would have been, as far as they say it.
create table unused (
  id integer primary key,
  record integer not null references record,
  entity text,
  external_id text,
  code text not null references unused_code,
  why text                       -- in words, beside those of the code
) strict;
create index unused_about on unused (entity, external_id);

-- Deals that are counted together: by old and new pipeline, stage and owner, and by currency.
create table deal_group (
  id integer primary key,
  from_pipeline text, from_stage text, from_owner text,
  pipeline text, stage text, owner text, currency text,
  is_rest integer not null default 0
) strict;

-- What the service showed when a record was read back.
create table shown (
  entity text not null, external_id text not null,
  fields text not null,          -- JSON: for each field its Shown, as in core/known
  primary key (entity, external_id)
) strict, without rowid;

-- Fields of records that were sent before, and that are not as they were: changes.csv.
create table change (
  id integer primary key,
  entity text not null, external_id text not null, service_id text,
  field text not null,
  in_service text, in_export text,
  sent text,                     -- what was last sent, where an earlier plan has it and in_service does not
  verdict text not null          -- \`ignored\` is in no list: \`if_changed\` says that it does not matter
) strict;
create index change_of on change (entity, external_id);

-- What is to be sent, in this order.
create table turn (place integer primary key, event integer not null references event) strict;

-- Hashes of the files for people that the program wrote: only those are ever replaced.
create table written (path text not null, sha256 text not null, primary key (path, sha256)) strict;

-- Leads that the account has, by hashes of their addresses and phone numbers; taken over from plan to plan.
create table contact (service_id text primary key, email text, phone_number text) strict;
create index contact_email on contact (email);
create index contact_phone on contact (phone_number);

-- Leads of the input that may be the same person as one of the account: matches.csv; the fields that they share, separated by spaces.
create table match (
  event integer not null references event,
  service_id text not null,
  fields text not null,
  name text,                     -- in the service
  primary key (event, service_id)
) strict, without rowid;

-- Single values: the key of field hashes of a dry run, the digest, the hash of the mapping, when contacts were read.
create table setting (name text primary key, value text not null) strict;

-- Single documents in JSON: account, summary, mapping in words, profile.
create table document (name text primary key, content text not null) strict;

-- The events of the plan's digest: those of the input that could be sent, whatever was acknowledged before.
create view listed as
  select * from event
  where data is not null and state not in ('invalid', 'duplicate');

-- The rows that a problem is about: all of its event's, where the event as a whole was not accepted.
create view problem_row as
  select p.id as problem, ifnull(w.record, p.record) as record
  from problem p left join event e on e.id = p.event
    left join row_of w on w.event = e.id and e.rows > 1 and p.record = e.record and p.kind in ('send', 'blocked');

-- A record with its place: file (in a sheet with the cell), place (with the line), replaced (that of the original of a corrected record).
create view row as
  select r.id, r.file as file_id, r.line, r.number as record, r.raw, r.original,
    ${ofFile('r.file', '(select s.name from source s where s.id = f.source)')} as source,
    ${ofFile('r.file', '(select s.columns from source s where s.id = f.source)')} as columns,
    ${ofFile('r.file', 'f.path')} as path, ${ofFile('r.file', 'f.cell')} as cell,
    ${ofFile('r.file', "f.path || ifnull('!' || f.cell || r.line, '')")} as file,
    iif(r.line > 0, ${placeIn('r.file', 'r.line')}, ${ofFile('r.file', 'f.path')} || ' record ' || r.number) as place,
    (select ${placeIn('d.file', 'd.line')} from replaced d where d.record = r.id) as replaced
  from record r;

create view events as
  select e.type, e.external_id,
    ${STATE_IN_SQL} as state,
    r.source, r.path as file, r.line, r.record, e.rows, e.occurred_at, e.priority, e.data, r.raw
  from event e join row r on r.id = e.record;

create view problems as
  select p.kind, p.code, p.severity, p.count, e.type, e.external_id, r.source, r.path as file, r.line, p.field, p.message, p.hint
  from problem p left join event e on e.id = p.event left join row r on r.id = p.record;

create view left_out as
  select e.type, r.source, ${placedFile('o')} as file, r.line, e.external_id, o.field, o.original, o.reason
  from omission o join event e on e.id = o.event join row r on r.id = o.record
  union all
  select null, r.source, r.file, r.line, u.external_id, null, null, c.words || ifnull(': ' || u.why, '')
  from unused u cross join unused_code c on c.code = u.code and c.is_told = 1 join row r on r.id = u.record;

-- Rows that became no event, and of which that is told: one for each record that they would have been.
create view skipped as
  select u.record, u.code, iif(c.is_shared, u.why, null) as why
  from unused u cross join unused_code c on c.code = u.code and c.is_told = 1
  where u.record not in (select record from event) and u.record not in (select record from row_of);
`,
};

/** Made once all events are there, which is faster than keeping them up to date. */
export const PLAN_INDEXES = `
create index plan.event_about on event (entity, external_id, type);
create index plan.event_below on event (parent_entity, parent_id) where parent_id is not null;
create index plan.event_of_record on event (record);
`;

/** Over earlier runs, these events are few. Only a statement with these words can read them from their index. */
export const UNACKNOWLEDGED = `state <> 'acknowledged'`;
export const UNACKNOWLEDGED_INDEX = `create index plan.event_unacknowledged on event (state) where ${UNACKNOWLEDGED}`;

/**
 * Made once every event has its state: counts are read from it alone. A sample of the indexes is taken too: without it, SQLite
 * may look for one record among all events of its type.
 */
export const COUNTING_INDEX = `
create index plan.event_counted on event (type, state, code, is_chosen, priority);
pragma analysis_limit = 400;
analyze plan.event;
`;
