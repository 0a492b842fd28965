/** `if_contact_exists`: what the survey does about people who are in the account already. */
import { rmSync } from 'node:fs';
import { readBack } from '../compare/read-back.ts';
import { csvHead, csvLine } from '../files/csv.ts';
import type { Policies } from '../mapping/policies.ts';
import type { Place, Planned } from '../model.ts';
import type { Client } from '../service/client.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import { writeLines } from '../files/write-lines.ts';
import { EVENT_ROWS, pagesOf, plannedOf, setState, type EventRow } from './events.ts';
import { addProblem } from './problems.ts';

export const MATCHES_FILE = 'matches.csv';

const COLUMNS = ['external_id', 'source', 'file', 'line', 'service_id', 'matched', 'name_in_service'];

const FIELDS = ['email', 'phone_number'] as const;
type ContactField = (typeof FIELDS)[number];

const NOUNS = { email: 'e-mail address', phone_number: 'phone number' } as const;

interface MatchingJob {
  readonly db: Database;
  readonly hasher: FieldHasher;
  readonly policies: readonly Policies[];
  /** Of `matches.csv`. */
  readonly path: string;
  /** Reads the names that the matching leads have in the service; without it they stay empty. */
  readonly service: { readonly client: Client; readonly leads: number; readonly concurrency: number } | undefined;
}

/** A lead of the input, and a lead of the account that may be the same person. */
interface Match {
  readonly externalId: string;
  readonly place: Place;
  readonly serviceId: string;
  readonly fields: readonly ContactField[];
}

/**
 * Lists the leads of the input that share an address or number with a lead of the account that this migration did not make.
 * Those whose entry says `reject` become invalid, unless a request about them was sent before; the others are a warning.
 */
export async function judgeContacts(job: MatchingJob): Promise<void> {
  const { db, hasher, policies } = job;
  rmSync(job.path, { force: true });
  if (!db.get('select 1 from contact limit 1')) return;
  findMaybeOurs(db, hasher);
  const matches: Match[] = [];
  const leads = `${EVENT_ROWS}
    where e.type = 'lead/created' and e.state in ('ready', 'retry', 'acknowledged') and e.data is not null
      and e.id > ? order by e.id limit 500`;
  for (const page of pagesOf<EventRow>(db, leads)) {
    for (const row of page) {
      const policy = policies[row.entry]!.if_contact_exists;
      if (policy === 'ignore') continue;
      const found = matchesOf(db, hasher, row);
      if (found.length === 0) continue;
      matches.push(...found);
      reportMatch(db, row, found, policy === 'reject' && !isOurs(db, row));
    }
  }
  db.exec('drop table maybe_ours');
  if (matches.length > 0) await writeMatches(job, matches);
}

/**
 * Leads of this migration of which the service's id is not known: a request about them is open, or was acknowledged without an
 * id (skipped, or replayed). Each lead of the account that has what was sent of one of them may be ours.
 */
function findMaybeOurs(db: Database, hasher: FieldHasher): void {
  db.exec('create temp table maybe_ours (service_id text primary key)');
  db.run(
    `insert or ignore into maybe_ours
     with sent as (
       select substr(value.value, 13) as hash, field.key as field
       from checkpoint.record r, json_each(r.fields) field, json_each(field.value) value
       where r.entity = 'lead' and r.service_id is null and r.field_key = ? and field.key in ('email', 'phone_number')
         and length(value.value) > 1)
     select service_id from sent join contact on field = 'email' and hash = email
     union select service_id from sent join contact on field = 'phone_number' and hash = phone_number`,
    hasher.keyId,
  );
  // Of a record that was there already, nothing was sent: it is known by what the input says of it.
  const skipped = `${EVENT_ROWS} join checkpoint.record q on q.entity = e.entity and q.external_id = e.external_id
    where e.type = 'lead/created' and q.is_acknowledged = 1 and q.service_id is null and e.data is not null and e.id > ?
    order by e.id limit 500`;
  for (const page of pagesOf<EventRow>(db, skipped)) {
    for (const row of page) {
      for (const id of foundBy(db, hasher, plannedOf(row)).keys()) {
        db.run('insert or ignore into maybe_ours (service_id) values (?)', id);
      }
    }
  }
}

/** The leads of the account that share an address or number with this one and that this migration cannot have made. */
function matchesOf(db: Database, hasher: FieldHasher, row: EventRow): Match[] {
  const event = plannedOf(row);
  const { place, externalId = '' } = event;
  return [...foundBy(db, hasher, event)].flatMap(([serviceId, fields]) =>
    isMadeHere(db, serviceId) ? [] : [{ externalId, place, serviceId, fields }],
  );
}

function foundBy(db: Database, hasher: FieldHasher, { data }: Planned): ReadonlyMap<string, readonly ContactField[]> {
  const found = new Map<string, ContactField[]>();
  for (const field of FIELDS) {
    const value = data[field];
    if (value === undefined) continue;
    const sql =
      field === 'email'
        ? 'select service_id from contact where email = ?'
        : 'select service_id from contact where phone_number = ?';
    for (const { service_id: id } of db.all<{ service_id: string }>(sql, hasher.normalHashOf(field, value))) {
      found.set(id, [...(found.get(id) ?? []), field]);
    }
  }
  return found;
}

function isMadeHere(db: Database, serviceId: string): boolean {
  const made = `select 1 from checkpoint.record where service_id = ? and entity = 'lead'
    union all select 1 from maybe_ours where service_id = ?`;
  return db.get(made, serviceId, serviceId) !== undefined;
}

/** A request about the lead was acknowledged, or may have arrived. */
function isOurs(db: Database, { state, external_id: externalId }: EventRow): boolean {
  if (state === 'acknowledged') return true;
  return (
    db.get(
      `select 1 from checkpoint.record where entity = 'lead' and external_id = ? and (existence <> 'no' or open is not null)`,
      externalId,
    ) !== undefined
  );
}

function reportMatch(db: Database, row: EventRow, matches: readonly Match[], isRejected: boolean): void {
  const about = { event: row.id, record: row.record_id };
  const message = matchText(matches);
  if (!isRejected) {
    addProblem(db, about, { severity: 'warning', kind: 'map', code: 'contact_in_account', message });
    return;
  }
  setState(db, row.id, 'invalid', 'contact_exists');
  addProblem(db, about, { severity: 'error', kind: 'map', code: 'contact_exists', message });
}

function matchText(matches: readonly Match[]): string {
  const [first] = matches;
  const fields = FIELDS.filter((field) => matches.some((match) => match.fields.includes(field)));
  const what = fields.map((field) => NOUNS[field]).join(' and ');
  const more = matches.length === 1 ? '' : ` and ${matches.length - 1} more`;
  return `the account already has a lead with the ${what} of \`${first!.externalId}\`: ${first!.serviceId}${more}`;
}

async function writeMatches({ path, service }: MatchingJob, matches: readonly Match[]): Promise<void> {
  const names = new Map<string, string>();
  if (service) {
    const ids = new Set(matches.map(({ serviceId }) => serviceId));
    const options = { atLeast: service.leads, concurrency: service.concurrency };
    for await (const { serviceId, record } of readBack(service.client, 'lead', ids, options)) {
      names.set(serviceId, typeof record?.fullName === 'string' ? record.fullName : '');
    }
  }
  writeLines(path, csvHead(COLUMNS), matches, ({ externalId, place, serviceId, fields }) =>
    csvLine([externalId, place.source, place.file, place.line, serviceId, fields.join(' '), names.get(serviceId)]),
  );
}
