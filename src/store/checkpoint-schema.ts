import { COMBINED } from '../kinds/index.ts';
import type { Schema } from './sqlite.ts';

export const CHECKPOINT_FILE = 'checkpoint.db';

/**
 * `checkpoint.db`: requests and their answers, nothing of the input. No table has a value of a record: only external ids, ids of the
 * service, and hashes.
 */
export const CHECKPOINT: Schema = {
  name: 'checkpoint',
  applicationId: 0x63726d63,
  version: 6,
  json: {
    migration: ['pipeline_ids', 'user_ids'],
    run: ['inputs'],
    record: ['fields', 'creation', 'open', 'others'],
  },
  tables: `
-- What this checkpoint belongs to. One row, written before the first event is sent.
create table migration (
  id integer primary key check (id = 1),
  name text not null,
  base_url text not null,
  pipeline_ids text not null,    -- JSON; the same account has at least one of them
  user_ids text not null,        -- JSON
  is_adopted integer not null default 0,       -- 1: begun with --adopt, after another checkpoint was lost
  created_at text not null
) strict;

-- One run that sent events.
create table run (
  id integer primary key,
  tool text not null,
  mapping_sha256 text not null,
  inputs text not null,          -- JSON: path, sha256 and rows of each file
  field_key text not null,       -- the key of its field hashes
  at text not null,              -- ISO 8601: when its survey had ended
  waits text                     -- JSON: why it sends nothing, other than for its own rate limit; null while it sends
) strict;

-- What the service may have of a record, by all that was sent and answered (core/known). It alone decides what is sent next.
-- A table with rowids, since its rows are large: the requests of one commit change the pages at its end, wherever their external ids are.
create table record (
  entity text not null,
  external_id text not null,
  type text not null,            -- of the event that was last sent about it, as the mapping says it
  existence text not null check (existence in ('no', 'maybe', 'yes')),
  whose text not null check (whose in ('ours', 'other')),
  is_acknowledged integer not null default 0,  -- 1: an event about it was acknowledged
  service_id text,
  fields text not null,          -- JSON: for each field the hashes of the values that it may have
  creation text,                 -- JSON: the id under which it was first tried to be created, and every body that went out under it
  open text,                     -- JSON: the last request without a definite answer
  others text,                   -- JSON, as fields: what updates may have set, should it be somebody else's
  missing text,                  -- hash of the update that was refused because there is no such record
  content text,                  -- hash of all that was wanted of it; null while any of that is uncertain
  rejected text,                 -- hash of what was wanted of it when it was last rejected
  code text,                     -- of that rejection, or why it was skipped
  field_key text not null,       -- the key of its hashes
  primary key (entity, external_id)
) strict;
-- Has all that the survey asks of each event, and that ids.csv says.
create index record_acknowledged on record (entity, external_id, content, code, type, service_id) where is_acknowledged = 1;
create index record_service on record (service_id, entity, external_id) where service_id is not null;

-- Which comments of the input went out in a combined comment, by each body that did, from before it first went out.
create table part (
  carrier text not null,         -- external id of the combined comment
  body text not null,            -- hash of the body, as \`record.fields\` has it
  external_id text not null,     -- of the comment
  position integer not null,     -- from 0
  parent text not null,          -- of the combined comment: \`lead 17\`
  content text not null,         -- hash of the comment
  field_key text not null,       -- the key of that hash
  primary key (carrier, body, external_id)
) strict, without rowid;
create index part_of on part (external_id);

-- The comments that a combined one has, or may have, brought to the service: those of every body that its record may have. Only what is in
-- all of them is there for certain. The cross join keeps SQLite from going through all records for one comment.
create view carried as
  select p.carrier, p.body, p.external_id, p.position, p.parent, p.content, p.field_key, r.type, r.service_id,
    r.is_acknowledged = 1 and r.existence = 'yes' and not exists (
      select 1 from json_each(r.fields, '$.content') f where not exists (
        select 1 from part q where q.carrier = p.carrier and q.body = f.value and q.external_id = p.external_id)) as is_certain
  from part p cross join record r on r.entity = '${COMBINED}' and r.external_id = p.carrier
  where r.existence <> 'no' and (r.whose = 'other' or exists (
    select 1 from json_each(r.fields, '$.content') f where f.value in (p.body, '?')));

-- What was sent and answered: history for people, which decides nothing.
create table request (
  n integer primary key,         -- in the order of sending
  id text not null,              -- the envelope id
  run integer not null references run,
  type text not null,            -- as sent
  entity text not null,
  external_id text not null,
  status text not null check (status in ('open', 'acknowledged', 'rejected')),
  outcome text,                  -- created, updated or none
  service_id text,
  code text,
  attempts integer not null default 0,
  sent_at text not null,
  settled_at text,
  unique (entity, external_id, id)
) strict;
create index request_settled on request (settled_at) where settled_at is not null;

create view sent as
  select id, type, external_id, status, outcome, service_id, code, attempts, sent_at, settled_at from request;

-- Who holds run.lock; the row of a process that was killed stays.
create table holder (
  id integer primary key check (id = 1),
  pid integer not null,
  host text not null,
  at text not null,
  command text not null
) strict;

-- When the latest HTTP requests were answered, for a run that soon follows this one.
create table answer (
  n integer primary key,
  wall real,                     -- milliseconds since 1970; null while it is on its way
  up real                        -- milliseconds since the machine started
) strict;

-- Single values: the key of field hashes, what X-RateLimit-Limit said last, and what the last 429 asked for.
create table setting (name text primary key, value text not null) strict;
`,
};
