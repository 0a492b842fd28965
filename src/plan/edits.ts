/** `if_edited`: before the updates that `if_changed` makes, finds out what somebody has edited in the service meanwhile. */
import { AppendLog } from '../append-log.ts';
import { fieldsOf, type FieldHasher } from '../checkpoint/field-hashes.ts';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import { settledLines } from '../checkpoint/read.ts';
import { wasEdited } from '../compare/edited.ts';
import { COMPARED, textOf, type Checked } from '../compare/fields.ts';
import { lastSent, recordKey, type LastSent } from '../compare/last-sent.ts';
import { readBack } from '../compare/read-back.ts';
import { compareField, type ThreeWayVerdict } from '../compare/three-way.ts';
import { csvLine } from '../csv.ts';
import type { JsonValue } from '../json.ts';
import { entityOf, isUpdate, type EventType, type Planned } from '../model.ts';
import type { ErrorReport } from '../report/error-report.ts';
import type { ChangeCounts } from '../report/summary.ts';
import type { Client } from '../service/client.ts';
import type { Fields } from '../service/list-page.ts';
import type { StateDir } from '../state-dir.ts';
import { withoutAnyField, withoutFields } from './changes.ts';
import { FLAG } from './event-table.ts';
import type { Plan } from './plan.ts';
import { reportIssue } from './verdicts.ts';

export const CHANGES_FILE = 'changes.csv';

const CHANGE_COLUMNS = ['record', 'external_id', 'service_id', 'field', 'in_service', 'in_export', 'verdict'];

/** The field that refers to a lead by its external id; the service shows the lead's own id. */
const LEAD_FIELD = 'lead_external_id';

export interface EditsJob {
  readonly plan: Plan;
  readonly report: ErrorReport;
  readonly hasher: FieldHasher;
  readonly state: StateDir;
  readonly output: StateDir;
  /** By the index of the entry. */
  readonly overwrites: (entry: number) => boolean;
  readonly client: Client;
  readonly concurrency: number;
}

/** An update that `if_changed` makes. */
interface DerivedUpdate {
  readonly type: EventType;
  readonly ordinal: number;
  readonly externalId: string;
}

/**
 * After `Plan.link`: reads the records back that `if_changed` would update, leaves out of each update what the service has
 * already and what somebody edited there, and lists every changed field in `changes.csv`. A record that was deleted in the service
 * is an error of its update. Returns the counts of records.
 */
export async function keepEdits(job: EditsJob): Promise<Omit<ChangeCounts, 'new' | 'gone'>> {
  const counts = { changed: 0, edited: 0, in_conflict: 0, not_compared: [] as string[] };
  const notShown = new Set<string>();
  const log = await AppendLog.open(job.output.file(CHANGES_FILE), { keepBytes: 0 });
  try {
    await log.append(csvLine(CHANGE_COLUMNS), { durable: false });
    for (const entity of ['lead', 'deal'] as const) {
      const updates = derivedUpdates(job.plan, `${entity}/updated`);
      for await (const compared of compareAll(job, entity, updates)) {
        await log.append(compared.lines.join(''), { durable: false });
        if (compared.lines.length > 0) counts.changed += 1;
        if (compared.verdicts.some((verdict) => verdict === 'edited' || verdict === 'conflict')) counts.edited += 1;
        if (compared.verdicts.includes('conflict')) counts.in_conflict += 1;
        for (const field of compared.notShown) notShown.add(field);
      }
    }
  } finally {
    await log.close();
  }
  return { ...counts, not_compared: [...notShown].sort() };
}

function derivedUpdates(plan: Plan, type: 'lead/updated' | 'deal/updated'): readonly DerivedUpdate[] {
  const table = plan.tables[type];
  const found: DerivedUpdate[] = [];
  for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
    if (!table.has(ordinal, FLAG.derived) || !table.isOpen(ordinal)) continue;
    found.push({ type, ordinal, externalId: plan.read(type, ordinal).externalId! });
  }
  return found;
}

interface ComparedRecord {
  readonly verdicts: readonly ThreeWayVerdict[];
  readonly notShown: readonly string[];
  /** Of `changes.csv`. */
  readonly lines: readonly string[];
}

const NOTHING: ComparedRecord = { verdicts: [], notShown: [], lines: [] };

async function* compareAll(
  job: EditsJob,
  entity: Checked,
  updates: readonly DerivedUpdate[],
): AsyncGenerator<ComparedRecord, void, undefined> {
  if (updates.length === 0) return;
  const { plan, state, hasher, client, concurrency } = job;
  const atLeast = plan.tables[`${entity}/created`].counts.acknowledged;
  const checkpoint = state.file(CHECKPOINT_FILE);
  const wanted = new Set(updates.map(({ externalId }) => recordKey(entity, externalId)));
  const sent = await lastSent(checkpoint, hasher.keyId, wanted);
  const byServiceId = new Map<string, DerivedUpdate[]>();
  for (const update of updates) {
    const serviceId = sent.get(recordKey(entity, update.externalId))?.serviceId;
    if (serviceId) byServiceId.set(serviceId, [...(byServiceId.get(serviceId) ?? []), update]);
    else yield learnServiceId(job, entity, update);
  }
  const records = new Map<string, Fields | undefined>();
  for await (const { serviceId, record } of readBack(client, entity, byServiceId.keys(), { atLeast, concurrency })) {
    records.set(serviceId, record && shownOnly(entity, record));
  }
  const leads = await shownLeads(checkpoint, records.values());
  for (const [serviceId, record] of records) {
    for (const update of byServiceId.get(serviceId)!) {
      const event = job.plan.read(update.type, update.ordinal);
      const known = sent.get(recordKey(entity, update.externalId))!;
      if (record) yield judge(job, entity, update, event, known, record, leads);
      else yield await reportDeleted(job, entity, update, event, serviceId);
    }
  }
}

/**
 * A record that was acknowledged without a service id (skipped) cannot be read back. Under `keep` its update
 * goes out without the fields that the service shows; the answer has the id, by which the next run compares them.
 */
function learnServiceId(
  { plan, report, overwrites }: EditsJob,
  entity: Checked,
  { type, ordinal, externalId }: DerivedUpdate,
): ComparedRecord {
  const event = plan.read(type, ordinal);
  if (overwrites(event.entry)) return NOTHING;
  const shown = new Set(COMPARED[entity].filter((field) => field.shown !== undefined).map(({ sent }) => sent));
  plan.narrow(event, ordinal, withoutFields(event, shown) ?? withoutAnyField(event), false);
  // The record is not what the export says after this run.
  const [created] = plan.links.eventsNeededBy(type, ordinal);
  if (created) plan.tables[created.type].flag(created.ordinal, FLAG.changed);
  const message = `the service id of the ${entity} \`${externalId}\` is not known yet, so it cannot be compared`;
  report.warning({ severity: 'warning', kind: 'map', code: 'not_compared', message }, event.place);
  const names = Array.from(fieldsOf(event.data), ([name]) => name).filter((name) => shown.has(name));
  return {
    ...NOTHING,
    lines: names.map((name) => csvLine([entity, externalId, '', name, '', textOf(event.data[name]), 'not compared'])),
  };
}

function judge(
  job: EditsJob,
  entity: Checked,
  { ordinal }: DerivedUpdate,
  event: Planned,
  sent: LastSent,
  record: Fields,
  leads: ShownLeads,
): ComparedRecord {
  const verdicts: ThreeWayVerdict[] = [];
  const notShown: string[] = [];
  const lines: string[] = [];
  const dropped = new Set<string>();
  const overwrites = job.overwrites(event.entry);
  const { acknowledged, unanswered, serviceId } = sent;
  const known = { acknowledged, unanswered, isEdited: wasEdited(record, sent) };
  for (const [name, value] of fieldsOf(event.data)) {
    const shown = shownValue(entity, name, record, leads);
    const verdict = compareField(name, value, shown, known, job.hasher);
    const isSent = verdict === 'changed' || verdict === 'not_shown' || (verdict === 'conflict' && overwrites);
    if (!isSent) dropped.add(name);
    if (verdict === 'unchanged') continue;
    verdicts.push(verdict);
    if (verdict === 'not_shown') notShown.push(name);
    const said = verdict !== 'conflict' ? verdict : overwrites ? 'conflict, overwritten' : 'conflict, kept';
    const cells = [textOf(shown) ?? '', textOf(value) ?? '', said];
    lines.push(csvLine([entity, event.externalId, serviceId, name, ...cells]));
  }
  job.plan.narrow(event, ordinal, withoutFields(event, dropped), overwrites || !verdicts.includes('conflict'));
  return { verdicts, notShown, lines };
}

async function reportDeleted(
  { plan, report }: EditsJob,
  entity: Checked,
  { type, ordinal }: DerivedUpdate,
  event: Planned,
  serviceId: string,
): Promise<ComparedRecord> {
  const message = `the ${entity} \`${event.externalId}\` was deleted in the service, so its update cannot be sent`;
  const hint = 'remove the record from the export, or set `if_changed: ignore`';
  plan.tables[type].setState(ordinal, 'invalid');
  const issue = { severity: 'error', kind: 'resolve', code: 'deleted_in_service', message, hint } as const;
  await reportIssue(plan, report, event, ordinal, issue);
  plan.withdraw(type, ordinal);
  return { ...NOTHING, lines: [csvLine([entity, event.externalId, serviceId, '', '', '', 'deleted'])] };
}

/** Only the fields that are compared stay in memory. */
function shownOnly(entity: Checked, record: Fields): Fields {
  const names = ['createdAt', 'updatedAt', ...COMPARED[entity].flatMap(({ shown }) => shown ?? [])];
  return Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]]));
}

/** The leads that deals of the service refer to. */
interface ShownLeads {
  /** By service id, of the leads of this migration. */
  readonly externalIds: ReadonlyMap<string, string>;
  /** Whether the service ids of all leads of this migration are known: then any other lead is not of this migration. */
  readonly areAllKnown: boolean;
}

/**
 * A lead is shown by its id in the service; one that this migration did not make stays as it is, and so is an edit. Undefined if
 * it may be any of the leads whose service ids are not known.
 */
function shownValue(entity: Checked, name: string, record: Fields, leads: ShownLeads): JsonValue | undefined {
  const shown = COMPARED[entity].find(({ sent }) => sent === name)?.shown;
  const value = shown === undefined ? undefined : (record[shown] as JsonValue | undefined);
  if (name !== LEAD_FIELD || typeof value !== 'string') return value;
  return leads.externalIds.get(value) ?? (leads.areAllKnown ? value : undefined);
}

async function shownLeads(checkpoint: string, records: Iterable<Fields | undefined>): Promise<ShownLeads> {
  const shown = COMPARED.deal.find(({ sent }) => sent === LEAD_FIELD)!.shown!;
  const ids = new Set([...records].map((record) => record?.[shown]));
  const externalIds = new Map<string, string>();
  const unknown = new Set<string>();
  if (![...ids].some((id) => typeof id === 'string')) return { externalIds, areAllKnown: true };
  for await (const { type, external_id: externalId, entity_id: id, status } of settledLines(checkpoint)) {
    if (externalId === null || entityOf(type) !== 'lead' || status === 'rejected') continue;
    if (id) unknown.delete(externalId);
    else if (!isUpdate(type)) unknown.add(externalId);
    if (id && ids.has(id)) externalIds.set(id, externalId);
  }
  return { externalIds, areAllKnown: unknown.size === 0 };
}
