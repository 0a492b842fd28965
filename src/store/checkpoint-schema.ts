import type { Schema } from './sqlite.ts';

export const CHECKPOINT_FILE = 'checkpoint.db';

/**
 * `checkpoint.db`: what was sent and answered, and nothing that the input says. No table has a value of a record: only
 * external ids, ids of the service, and hashes.
 */
export const CHECKPOINT: Schema = {
  name: 'checkpoint',
  applicationId: 0x63726d63,
  version: 1,
  tables: `
-- What this checkpoint belongs to. One row, written before the first event is sent.
create table migration (
  id integer primary key check (id = 1),
  name text not null,
  base_url text not null,
  pipeline_ids text not null,    -- JSON; the same account has at least one of them
  user_ids text not null,        -- JSON
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
  waits_for text,                -- why it sends nothing, other than for its own rate limit; null while it sends
  waits_since text,              -- ISO 8601
  waits_because text             -- what came last instead of an answer, without values of records
) strict;

-- One request about a record, or one reading of it. The row is committed before the request goes out.
create table request (
  n integer primary key,         -- in the order of sending
  id text not null unique,       -- the envelope id
  run integer not null references run,
  origin text not null check (origin in ('input', 'second', 'change', 'read')),
                                 -- input: an event of the input. second: what if_exists or if_missing send for one.
                                 -- change: what if_changed sends. read: the record was read back, nothing was sent
  type text not null,            -- as sent
  entity text not null,
  external_id text,              -- null for comments without one
  for_id text not null,          -- the id of the input's event that it stands for; its own id if there is none
  for_type text not null,
  content text not null,         -- hash of the content of that event as mapped
  fields text not null,          -- JSON: a keyed hash of each value that the request sets
  status text not null check (status in ('open', 'acknowledged', 'rejected')),
  had_no_effect integer not null default 0,  -- 1: refused, or never received, so it has set nothing
  outcome text,                  -- created, updated or none
  service_id text,
  code text,
  attempts integer not null default 0,
  sent_at text not null,
  settled_at text
) strict;
create index request_about on request (entity, external_id);
create index request_for on request (for_id);
create index request_service on request (service_id) where service_id is not null;
create index request_settled on request (settled_at) where settled_at is not null;

create view sent as
  select id, type, external_id, status, outcome, service_id, code, attempts, sent_at, settled_at
  from request where origin <> 'read';

-- Who holds run.lock; the row of a process that was killed stays.
create table holder (id integer primary key check (id = 1), pid integer not null, host text not null, at text not null) strict;

-- Single values: the key of field hashes, and when the last requests were answered, for a run that soon follows this one.
create table setting (name text primary key, value text not null) strict;
`,
};
