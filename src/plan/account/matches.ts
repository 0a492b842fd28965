/** `if_contact_exists`: how the survey treats people who are in the account already. */
import { PERSON } from '../../kinds/index.ts';
import { rmSync } from 'node:fs';
import { readBack } from './read-back.ts';
import { csvHead, csvLine } from '../../files/csv.ts';
import type { StateDir } from '../../files/state-dir.ts';
import type { Policies } from '../../mapping/policies.ts';
import type { Client } from '../../service/client.ts';
import type { FieldHasher } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { writeLines } from '../../files/write-lines.ts';
import { addProblem, rejectEvent } from '../problems.ts';
import { issueOf } from '../../report/words/words.ts';

export const MATCHES_FILE = 'matches.csv';

const COLUMNS = ['external_id', 'source', 'file', 'line', 'service_id', 'matched', 'name_in_service'];

const NOUNS: Readonly<Record<string, string>> = { email: 'e-mail address', phone_number: 'phone number' };

interface MatchingJob {
  readonly db: Database;
  readonly hasher: FieldHasher;
  readonly policies: readonly Policies[];
  /** Of `matches.csv`. */
  readonly output: Pick<StateDir, 'file'>;
  /** Reads the names that the matching leads have in the service; without it they stay empty. */
  readonly client: Client | undefined;
  /** How many leads the account has. */
  readonly contacts: number | undefined;
  readonly settings: { readonly concurrency: number };
}

/** A lead of the input, and a lead of the account that may be the same person. */
interface Match {
  readonly event: number;
  readonly record: number;
  readonly external_id: string;
  readonly entry: number;
  /** 1: a request about the lead was acknowledged, or may have arrived. */
  readonly is_ours: 0 | 1;
  readonly source: string;
  readonly file: string;
  readonly line: number;
  readonly service_id: string;
  /** What they share, separated by spaces. */
  readonly fields: string;
  /** In the service. */
  readonly name: string | null;
}

/**
 * Lists the leads of the input that share an address or number with a lead of the account that this migration did not make.
 * Those whose entry says `reject` become invalid, unless a request about them was sent before; the others are a warning.
 */
export async function judgeContacts(job: MatchingJob): Promise<void> {
  const { db, hasher, policies } = job;
  const path = job.output.file(MATCHES_FILE);
  rmSync(path, { force: true });
  if (!db.get('select 1 from contact limit 1')) return;
  db.define('contact_hash', (field, value) =>
    value === null ? null : hasher.normalHashOf(String(field), String(value)),
  );
  findMaybeOurs(db, hasher.keyId);
  findMatches(db, policies);
  db.exec('drop table maybe_ours');
  let last: Match[] = [];
  for (const match of db.all<Match>(`${MATCHES} order by m.event, m.fields`)) {
    if (match.event !== last[0]?.event) {
      report(db, policies, last);
      last = [];
    }
    last.push(match);
  }
  report(db, policies, last);
  await readNames(job);
  writeMatches(db, path);
}

/** After --adopt: leads of the account that the service has said are ours are no other people. */
export function forgetOwnMatches(db: Database, path: string): void {
  const ours = `exists (select 1 from checkpoint.record q where q.service_id = match.service_id and q.entity = '${PERSON}')`;
  if (db.run(`delete from match where ${ours}`) === 0) return;
  db.run(`delete from problem where code = 'contact_in_account' and event not in (select event from match)`);
  writeMatches(db, path);
}

/** The number of leads of the input that may be in the account already (`matches.csv`). */
export function countMatches(db: Database): number {
  const codes = `('contact_in_account', 'contact_exists')`;
  return db.get<{ count: number }>(`select count(*) as count from problem where code in ${codes}`)!.count;
}

/** The contacts that `lead` (with `id` and `data`) shares something with. */
const SHARED = `
  select lead.id, c.service_id, 'email' as field
    from lead cross join contact c on c.email = contact_hash('email', lead.data ->> 'email')
  union all
  select lead.id, c.service_id, 'phone_number'
    from lead cross join contact c on c.phone_number = contact_hash('phone_number', lead.data ->> 'phone_number')`;

/**
 * Leads of this migration whose id in the service is unknown: a request about them is open, or was acknowledged without an id (skipped, or
 * replayed). A lead of the account with the values that were sent may be one of ours. For a record that existed already, nothing was sent,
 * so the values of the input count.
 */
function findMaybeOurs(db: Database, keyId: string): void {
  db.exec('create temp table maybe_ours (service_id text primary key)');
  db.run(
    `insert or ignore into maybe_ours
     with sent as (
       select substr(value.value, 13) as hash, field.key as field
       from checkpoint.record r, json_each(r.fields) field, json_each(field.value) value
       where r.entity = '${PERSON}' and r.service_id is null and r.field_key = ? and field.key in ('email', 'phone_number')
         and length(value.value) > 1),
     lead as materialized (
       select e.id, e.data from event e join checkpoint.record q on q.entity = e.entity and q.external_id = e.external_id
       where e.type = '${PERSON}/created' and q.is_acknowledged = 1 and q.service_id is null and e.data is not null)
     select service_id from sent join contact on field = 'email' and hash = email
     union select service_id from sent join contact on field = 'phone_number' and hash = phone_number
     union select service_id from (${SHARED})`,
    keyId,
  );
}

/** Lists the leads of the account that share something with one of the input and that this migration cannot have made. */
function findMatches(db: Database, policies: readonly Policies[]): void {
  const looking = policies.flatMap(({ if_contact_exists: policy }, entry) => (policy === 'ignore' ? [] : [entry]));
  db.run(
    `insert into match (event, service_id, fields)
     with lead as materialized (
       select id, data from event where type = '${PERSON}/created' and state in ('ready', 'retry', 'acknowledged') and data is not null
         and entry in (select value from json_each(?))),
     shared as (${SHARED})
     select id, service_id, group_concat(field, ' ' order by field) from shared
     where service_id not in (select service_id from temp.maybe_ours)
       and not exists (select 1 from checkpoint.record q where q.service_id = shared.service_id and q.entity = '${PERSON}')
     group by id, service_id`,
    JSON.stringify(looking),
  );
}

const MATCHES = `
  select m.event, m.service_id, m.fields, m.name, e.record, ifnull(e.external_id, '') as external_id, e.entry, r.source, r.file, r.line,
    e.state = 'acknowledged' or exists (
      select 1 from checkpoint.record q where q.entity = '${PERSON}' and q.external_id = e.external_id
        and (q.existence <> 'no' or q.open is not null)) as is_ours
  from match m join event e on e.id = m.event join row r on r.id = e.record`;

/** `matches`: of one lead. */
function report(db: Database, policies: readonly Policies[], matches: readonly Match[]): void {
  const [first] = matches;
  if (!first) return;
  const { event, record, entry, is_ours: isOurs, external_id: id, service_id: serviceId } = first;
  const code =
    policies[entry]!.if_contact_exists === 'reject' && isOurs !== 1 ? 'contact_exists' : 'contact_in_account';
  const shared = new Set(matches.flatMap(({ fields }) => fields.split(' ')));
  const what = [...shared].sort().map((field) => NOUNS[field]);
  const more = matches.length === 1 ? '' : ` and ${matches.length - 1} more`;
  const issue = issueOf(code, what.join(' and '), id, `${serviceId}${more}`);
  if (code === 'contact_exists') rejectEvent(db, { id: event, record }, issue);
  else addProblem(db, { event, record }, issue);
}

/** The names that the matching leads have in the service. */
async function readNames({ db, client, contacts, settings: { concurrency } }: MatchingJob): Promise<void> {
  if (!client) return;
  const found = db.all<{ service_id: string }>('select distinct service_id from match');
  const ids = new Set(found.map(({ service_id: id }) => id));
  const options = { atLeast: contacts ?? 0, concurrency };
  for await (const { serviceId, record } of readBack(client, PERSON, ids, options))
    if (typeof record?.fullName === 'string')
      db.run('update match set name = ? where service_id = ?', record.fullName, serviceId);
}

function writeMatches(db: Database, path: string): void {
  rmSync(path, { force: true });
  if (!db.get('select 1 from match limit 1')) return;
  writeLines(
    path,
    csvHead(COLUMNS),
    db.all<Match>(`${MATCHES} order by m.event, m.fields`),
    ({ external_id: id, source, file, line, service_id: serviceId, fields, name }) =>
      csvLine([id, source, file, line, serviceId, fields, name ?? undefined]),
  );
}
