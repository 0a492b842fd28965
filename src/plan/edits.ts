/** `if_edited`: before the updates that `if_changed` makes, finds out what somebody has edited in the service meanwhile. */
import { COMPARED, shownFields, textOf, type Checked } from '../compare/fields.ts';
import { readBack } from '../compare/read-back.ts';
import { compareField, type ThreeWayVerdict } from '../compare/three-way.ts';
import { csvHead, csvLine } from '../csv.ts';
import type { JsonValue } from '../json.ts';
import type { Issue } from '../model.ts';
import type { ChangeCounts } from '../report/summary.ts';
import type { Client } from '../service/client.ts';
import type { Fields } from '../service/list-page.ts';
import { fieldsOf, type FieldHasher } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import { writeLines } from '../write-lines.ts';
import { readRecord, reportChanged, type Doubt, type KnownRecord, type RecordKey } from './changed.ts';
import { dataWith, dataWithout } from './changes.ts';
import { readEvent, setState } from './events.ts';
import { addProblem } from './problems.ts';
import { serviceIdOf, shownLeads, type ShownLeads } from './shown-leads.ts';

export const CHANGES_FILE = 'changes.csv';

const COLUMNS = ['record', 'external_id', 'service_id', 'field', 'in_service', 'in_export', 'verdict'];

export interface EditsJob {
  readonly db: Database;
  readonly hasher: FieldHasher;
  /** Of `changes.csv`. */
  readonly path: string;
  /** By the index of the entry. */
  readonly overwrites: (entry: number) => boolean;
  readonly reportsChanges: (entry: number) => boolean;
  readonly client: Client;
  readonly concurrency: number;
  /** Of `judgeChanged`. */
  readonly doubts: readonly Doubt[];
}

/** A record to read back: the update that `if_changed` makes of it, and what no update may set. */
interface Subject extends RecordKey {
  readonly change: number | undefined;
  readonly doubts: readonly Doubt[];
}

interface Compared {
  readonly verdicts: readonly ThreeWayVerdict[];
  readonly notShown: readonly string[];
  /** Of `changes.csv`. */
  readonly lines: readonly string[];
}

const NOTHING: Compared = { verdicts: [], notShown: [], lines: [] };

/**
 * Reads back the records that `if_changed` would update, and those with fields that are uncertain. Leaves out of each update
 * what the service has already and what somebody edited there, and lists every changed field in `changes.csv`. A record that
 * was deleted in the service is an error of its update. Returns the counts of records.
 */
export async function keepEdits(job: EditsJob): Promise<Omit<ChangeCounts, 'new' | 'gone'>> {
  const reported = countReported(job.db);
  const counts = { changed: reported, reported, edited: 0, in_conflict: 0 };
  const notShown = new Set<string>();
  const lines: string[] = [];
  for (const entity of ['lead', 'deal'] as const) {
    for await (const compared of compareAll(job, entity)) {
      lines.push(...compared.lines);
      if (compared.lines.length > 0) counts.changed += 1;
      if (compared.verdicts.some((verdict) => verdict === 'edited' || verdict === 'conflict')) counts.edited += 1;
      if (compared.verdicts.includes('conflict')) counts.in_conflict += 1;
      for (const field of compared.notShown) notShown.add(field);
    }
  }
  writeLines(job.path, csvHead(COLUMNS), lines, (line) => line);
  return { ...counts, not_compared: [...notShown].sort() };
}

/** Records that have changed, and of which `if_changed` sends nothing. */
function countReported(db: Database): number {
  return db.get<{ count: number }>(
    `select count(*) as count from (
       select distinct e.entity, e.external_id from event e
       where e.state = 'acknowledged' and e.code = 'changed' and not exists (
         select 1 from event c where c.entity = e.entity and c.external_id = e.external_id and c.is_change = 1))`,
  )!.count;
}

/** What could not be read back stays uncertain. */
export function reportDoubts(db: Database, doubts: readonly Doubt[]): void {
  for (const { event, wanted } of doubts) {
    const { record } = db.get<{ record: number }>('select record from event where id = ?', event)!;
    setState(db, event, 'rejected', 'uncertain');
    addProblem(db, { event, record }, { ...UNCERTAIN, ...uncertainText([...wanted.keys()]) });
  }
}

const UNCERTAIN = { severity: 'error', kind: 'send', code: 'uncertain' } as const;

function uncertainText(fields: readonly string[]): Pick<Issue, 'message' | 'field'> {
  return {
    field: fields[0]!,
    message: `a request that set ${fields.join(', ')} got no answer, so the service may have another value than the export`,
  };
}

async function* compareAll(job: EditsJob, entity: Checked): AsyncGenerator<Compared, void, undefined> {
  const { db, client, concurrency } = job;
  const subjects = subjectsOf(job, entity);
  if (subjects.length === 0) return;
  const byServiceId = new Map<string, Subject[]>();
  for (const subject of subjects) {
    const serviceId = serviceIdOf(db, subject);
    if (serviceId !== undefined) byServiceId.set(serviceId, [...(byServiceId.get(serviceId) ?? []), subject]);
    else yield learnServiceId(job, subject);
  }
  const atLeast = db.get<{ count: number }>(
    `select count(*) as count from event where type = ? and state = 'acknowledged'`,
    `${entity}/created`,
  )!.count;
  const records = new Map<string, Fields | undefined>();
  for await (const { serviceId, record } of readBack(client, entity, byServiceId.keys(), { atLeast, concurrency })) {
    records.set(serviceId, record && shownFields(entity, record));
  }
  const leads = shownLeads(db, job.hasher, records.values());
  for (const [serviceId, record] of records) {
    for (const subject of byServiceId.get(serviceId)!) {
      yield record ? judge(job, subject, serviceId, record, leads) : reportDeleted(job, subject, serviceId);
    }
  }
}

function subjectsOf({ db, doubts }: EditsJob, entity: Checked): Subject[] {
  const changes = db.all<{ id: number; external_id: string }>(
    `select id, external_id from event where type = ? and is_change = 1 and state in ('ready', 'retry')`,
    `${entity}/updated`,
  );
  const subjects = new Map<string, Subject>();
  for (const { id, external_id } of changes) subjects.set(external_id, { entity, external_id, change: id, doubts: [] });
  for (const doubt of doubts.filter(({ key }) => key.entity === entity)) {
    const { external_id } = doubt.key;
    const known = subjects.get(external_id) ?? { entity, external_id, change: undefined, doubts: [] };
    subjects.set(external_id, { ...known, doubts: [...known.doubts, doubt] });
  }
  return [...subjects.values()];
}

/**
 * A record that was acknowledged without a service id (skipped) cannot be read back. Under `keep` its update goes out
 * without the fields that the service shows; the answer has the id, by which the next run compares them.
 */
function learnServiceId(
  { db, overwrites }: EditsJob,
  { entity, external_id: externalId, change, doubts }: Subject,
): Compared {
  reportDoubts(db, doubts);
  if (change === undefined) return NOTHING;
  const event = readEvent(db, change);
  if (overwrites(event.entry)) return NOTHING;
  const shown = new Set(COMPARED[entity].filter((field) => field.shown !== undefined).map(({ sent }) => sent));
  const fields = [...fieldsOf(event.data)];
  const left = fields.filter(([name]) => !shown.has(name));
  db.run('update event set data = ? where id = ?', dataWith(externalId, left) ?? dataWithout(externalId), change);
  // The record is not what the export says after this run.
  db.run(
    `update event set code = 'changed' where record = ? and type = ? and external_id = ? and is_change = 0`,
    event.record,
    `${entity}/created`,
    externalId,
  );
  const message = `the service id of the ${entity} \`${externalId}\` is not known yet, so it cannot be compared`;
  addProblem(
    db,
    { event: change, record: event.record },
    { severity: 'warning', kind: 'map', code: 'not_compared', message },
  );
  return {
    ...NOTHING,
    lines: fields
      .filter(([name]) => shown.has(name))
      .map(([name, value]) => csvLine([entity, externalId, '', name, '', textOf(value), 'not compared'])),
  };
}

function judge(job: EditsJob, subject: Subject, serviceId: string, shown: Fields, leads: ShownLeads): Compared {
  const { db, hasher } = job;
  const { entity, external_id: externalId, change, doubts } = subject;
  const known = readRecord(db, hasher, subject);
  const event = change === undefined ? undefined : readEvent(db, change);
  const sent = new Map(event ? fieldsOf(event.data) : []);
  const doubtful = new Map(doubts.flatMap(({ wanted }) => [...wanted]));
  const overwrites = event !== undefined && job.overwrites(event.entry);
  const verdicts: ThreeWayVerdict[] = [];
  const notShown: string[] = [];
  const lines: string[] = [];
  const settled: Record<string, string> = {};
  const left: (readonly [string, JsonValue])[] = [];
  // What the plan has of an event by now may lack fields that an update of its own sets.
  for (const [name, value] of new Map([...wantedFields(known), ...doubtful, ...sent])) {
    const isDoubtful = doubtful.has(name);
    if (change === undefined && !isDoubtful) continue;
    const differs = isDoubtful || sent.has(name) || known.comparison.differences.some(({ field }) => field === name);
    const bases = known.comparison.basesOf(name);
    const inService = leads.valueOf(entity, name, shown, bases);
    const verdict = compareField(name, value, inService, { differs, bases }, hasher);
    if (verdict === 'same') settled[name] = hasher.hashOf(name, value);
    const isSent = verdict === 'changed' || verdict === 'not_shown' || (verdict === 'conflict' && overwrites);
    if (isSent && sent.has(name)) left.push([name, value]);
    if (verdict === 'unchanged') continue;
    verdicts.push(verdict);
    if (verdict === 'not_shown') notShown.push(name);
    const said = verdict !== 'conflict' ? verdict : overwrites ? 'conflict, overwritten' : 'conflict, kept';
    const cells = [textOf(inService) ?? '', textOf(value) ?? '', said];
    lines.push(csvLine([entity, externalId, serviceId, name, ...cells]));
  }
  remember(db, known, serviceId, settled);
  settleDoubts(job, doubts, settled, notShown);
  const data = dataWith(externalId, left);
  if (event && data !== undefined) db.run('update event set data = ? where id = ?', data, event.id);
  // An update with nothing left to set is none.
  else if (event) db.run('delete from event where id = ?', event.id);
  return { verdicts, notShown, lines };
}

/** What the input wants of the record: the last event that sets a field wins. */
function wantedFields({ events }: KnownRecord): Map<string, JsonValue> {
  return new Map(events.flatMap(({ fields }) => [...fields]));
}

/** A value that both sides came to is known from now on. */
function remember(
  db: Database,
  record: KnownRecord,
  serviceId: string,
  fields: Readonly<Record<string, string>>,
): void {
  const [event] = record.events;
  if (!event || Object.keys(fields).length === 0) return;
  db.run(
    `insert into reading (entity, external_id, service_id, event_id, type, content, fields) values (?, ?, ?, ?, ?, ?, ?)`,
    record.entity,
    record.external_id,
    serviceId,
    event.eventId,
    event.type,
    event.content,
    JSON.stringify(fields),
  );
}

/** What the service shows is certain: the value of the export, or another one. */
function settleDoubts(
  { db, reportsChanges }: EditsJob,
  doubts: readonly Doubt[],
  settled: Readonly<Record<string, string>>,
  notShown: readonly string[],
): void {
  for (const doubt of doubts) {
    const hidden = [...doubt.wanted].filter(([field]) => notShown.includes(field));
    if (hidden.length > 0) reportDoubts(db, [{ ...doubt, wanted: new Map(hidden) }]);
    else if ([...doubt.wanted.keys()].some((field) => settled[field] === undefined)) {
      if (reportsChanges(readEvent(db, doubt.event).entry)) reportChanged(db, doubt.event);
    }
  }
}

function reportDeleted(
  { db }: EditsJob,
  { entity, external_id: externalId, change, doubts }: Subject,
  serviceId: string,
): Compared {
  const message = `the ${entity} \`${externalId}\` was deleted in the service, so its update cannot be sent`;
  const issue: Issue = { severity: 'error', kind: 'resolve', code: 'deleted_in_service', message };
  for (const id of change === undefined ? doubts.map(({ event }) => event) : [change]) {
    const { record } = db.get<{ record: number }>('select record from event where id = ?', id)!;
    setState(db, id, 'invalid', 'deleted_in_service');
    addProblem(db, { event: id, record }, issue);
  }
  return { ...NOTHING, lines: [csvLine([entity, externalId, serviceId, '', '', '', 'deleted'])] };
}
