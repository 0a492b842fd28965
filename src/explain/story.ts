/** The story of one record, from the files of a state directory alone: nothing is written, and no lock is taken. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isObject, type JsonObject } from '../json.ts';
import { entityOf, isUpdate, type EventType, type Place, type Planned } from '../model.ts';
import { earlierSources, type SourceShapes } from '../plan/earlier-input.ts';
import { readPlan } from '../plan/plan-file.ts';
import type { NamedRecord } from '../settings.ts';
import { StateDir } from '../state-dir.ts';
import { ERRORS_FILE, Fates, type ErrorLine, type EventFate, type EventKey } from './fates.ts';
import { omissionsOf, rejectedRecord, type LeftOut, type OmittedRow } from './rows.ts';

const MOST_RELATIVES = 5;

/** As `--json` prints it. */
export interface RecordStory {
  /** `lead:51000301` */
  readonly record: string;
  /** Of its first event; `gone` if an earlier run sent it and the plan does not have it. */
  readonly state: EventFate | 'gone';
  readonly service_id: string | null;
  /** `at`: when it was written, ISO 8601. */
  readonly plan: { readonly file: string; readonly at: string; readonly dry_run: boolean };
  /** In the order of the plan; then those that are not part of it because they are invalid. */
  readonly events: readonly EventStory[];
  /** Records with its external id that were not used (`duplicates`), or whose updates are superseded. */
  readonly dropped: readonly LeftOut[];
  readonly parent: Relative | null;
  readonly children: {
    readonly count: number;
    readonly by_state: Readonly<Partial<Record<EventFate, number>>>;
    readonly first: readonly Relative[];
  };
  readonly answers: readonly ServiceAnswer[];
}

export interface EventStory extends Place {
  readonly type: EventType;
  readonly state: EventFate;
  /** Made by `if_changed` from the created event. */
  readonly is_derived: boolean;
  /** Acknowledged with other content than it has in the input now. */
  readonly has_changed: boolean;
  /** By column or key; null where it is not known any more. */
  readonly raw: JsonObject | null;
  /** As planned; null if it is invalid. */
  readonly data: JsonObject | null;
  readonly occurred_at: string | null;
  readonly errors: readonly ErrorLine[];
  readonly omitted: readonly LeftOut[];
}

/** The parent or a child. `state`: null for a parent of which nothing is known. */
export interface Relative {
  readonly record: string;
  readonly name: string;
  readonly state: EventFate | null;
  readonly file: string | null;
  readonly line: number | null;
}

/** `at`: null for a request whose answer is not recorded. */
export interface ServiceAnswer {
  readonly at: string | null;
  readonly type: EventType;
  readonly event_id: string;
  readonly status: 'acknowledged' | 'rejected' | 'unanswered';
  readonly outcome: string | null;
  readonly code: string | null;
  readonly service_id: string | null;
}

/** An event of a parent or child. */
interface RelativeEvent extends EventKey {
  readonly name: string;
  readonly isPlanned: boolean;
}

/** What the state directory knows about a record, and its events of the plan. */
export interface Told {
  readonly story: RecordStory;
  readonly planned: readonly Planned[];
}

/** Undefined if neither the plan, the newest one, nor the checkpoint or the error report knows the record. */
export async function storyOf(state: StateDir, plan: string, record: NamedRecord): Promise<Told | undefined> {
  const output = await StateDir.existing(dirname(plan));
  const isDryRun = output.path !== state.path;
  const { planned, parent, children } = await familyOf(plan, record);
  const errorFiles = [output.file(ERRORS_FILE), ...(isDryRun ? [state.file(ERRORS_FILE)] : [])];
  const fates = await Fates.read(state, errorFiles, record, [...children, ...(parent ? [parent] : [])]);
  if (planned.length === 0 && fates.isUnknown) return undefined;
  const events = await eventsOf(output, record, planned, fates);
  const omitted = await omissionsOf(output, record, new Set(events.map(({ source }) => source)));
  const told = events.map((event) => withOmissions(event, omitted));
  const relatives = children.map((child) => relative(child, fates));
  const byState: Partial<Record<EventFate, number>> = {};
  for (const { state: fate } of relatives) if (fate) byState[fate] = (byState[fate] ?? 0) + 1;
  const story: RecordStory = {
    record: `${record.entity}:${record.externalId}`,
    state: told[0]?.state ?? 'gone',
    service_id: fates.settled.findLast(({ entity_id: id }) => id)?.entity_id ?? null,
    plan: { file: plan, at: (await stat(plan)).mtime.toISOString(), dry_run: isDryRun },
    events: told,
    dropped: omitted.filter(({ field }) => field === '(record)'),
    parent: parent ? relative(parent, fates) : null,
    children: { count: relatives.length, by_state: byState, first: relatives.slice(0, MOST_RELATIVES) },
    answers: answersOf(fates),
  };
  return { story, planned };
}

/** The events of a record, and one event of each record that it belongs to or that belongs to it. */
async function familyOf(plan: string, { entity, externalId }: NamedRecord) {
  const planned: Planned[] = [];
  const children = new Map<string, RelativeEvent>();
  for await (const event of readPlan(plan, externalId)) {
    const { type, parent, externalId: id } = event;
    if (entityOf(type) === entity && id === externalId) planned.push(event);
    else if (parent?.entity === entity && parent.externalId === externalId) {
      const key = id === undefined ? String(children.size) : `${entityOf(type)} ${id}`;
      if (!children.has(key)) children.set(key, relativeEvent(event));
    }
  }
  const ref = planned.find(({ parent }) => parent)?.parent;
  return { planned, children: [...children.values()], parent: ref && (await parentEvent(plan, ref)) };
}

async function parentEvent(plan: string, { entity, externalId }: NamedRecord): Promise<RelativeEvent> {
  for await (const event of readPlan(plan, externalId)) {
    if (entityOf(event.type) === entity && event.externalId === externalId) return relativeEvent(event);
  }
  const place = { source: '', file: '', line: 0, record: 0 };
  return { type: `${entity}/created` as EventType, externalId, sha: '', place, name: '', isPlanned: false };
}

function relativeEvent({ type, externalId, sha, place, data }: Planned): RelativeEvent {
  const name = [data.full_name, data.title, data.content].find((value) => typeof value === 'string') ?? '';
  return { type, ...(externalId === undefined ? {} : { externalId }), sha, place, name, isPlanned: true };
}

function relative({ name, isPlanned, ...event }: RelativeEvent, fates: Fates): Relative {
  const fate = fates.of(event);
  const { file, line } = event.place;
  return {
    record: `${entityOf(event.type)}:${event.externalId ?? ''}`,
    name,
    state: isPlanned || fate !== 'pending' ? fate : null,
    file: isPlanned ? file : null,
    line: isPlanned ? line : null,
  };
}

async function eventsOf(
  output: StateDir,
  record: NamedRecord,
  planned: readonly Planned[],
  fates: Fates,
): Promise<EventStory[]> {
  const shapes = await earlierSources(output);
  const events = planned.map((event): EventStory => {
    const { type, place, sha, data } = event;
    const state = fates.of(event);
    const wasSent = fates.settled.some((line) => line.status === 'acknowledged' && line.content_sha === sha);
    return {
      ...place,
      type,
      state,
      is_derived: event.isDerived,
      has_changed: state === 'acknowledged' && !wasSent,
      raw: namedCells(event, shapes),
      data,
      occurred_at: event.occurredAt ?? null,
      errors: fates.errors.filter((error) => error.event_type === type && isAt(error, place)),
      omitted: [],
    };
  });
  for (const error of fates.errors) {
    if (events.some((event) => event.type === error.event_type && isAt(event, error))) continue;
    // Of an older run, and its event is not part of the plan any more.
    if (error.kind === 'send' || error.kind === 'blocked') continue;
    const { source, file, line, record: number, event_type: type } = error;
    events.push({
      ...{ source, file, line, record: number, type, state: 'invalid', is_derived: false, has_changed: false },
      raw: await rejectedRecord(output, error, record.externalId),
      data: null,
      occurred_at: null,
      errors: fates.errors.filter((other) => other.event_type === type && isAt(other, error)),
      omitted: [],
    });
  }
  return events;
}

function isAt(one: Place, other: Place): boolean {
  return one.source === other.source && one.file === other.file && one.record === other.record;
}

function namedCells({ raw, place }: Planned, shapes: SourceShapes): JsonObject {
  if (isObject(raw)) return raw;
  const columns = shapes[place.source]?.columns ?? [];
  return Object.fromEntries(raw.map((cell, at) => [columns[at] ?? `column ${at + 1}`, cell]));
}

function withOmissions(event: EventStory, all: readonly OmittedRow[]): EventStory {
  const { source, file, line } = event;
  const here = all.filter((row) => row.source === source && row.file === file && row.line === line);
  const isSuperseded = isUpdate(event.type) && here.some(({ reason }) => reason.includes('`superseded`'));
  return {
    ...event,
    state: event.state === 'pending' && isSuperseded ? 'duplicate' : event.state,
    omitted: event.is_derived ? [] : here.filter(({ field }) => field !== '(record)'),
  };
}

function answersOf({ settled, unanswered }: Fates): ServiceAnswer[] {
  const answers = settled.map(({ id, type, status, outcome, code, entity_id, at }): ServiceAnswer => {
    return { at, type, event_id: id, status, outcome, code, service_id: entity_id };
  });
  const open = [...unanswered.values()].map(({ id, type }): ServiceAnswer => {
    return { at: null, type, event_id: id, status: 'unanswered', outcome: null, code: null, service_id: null };
  });
  return [...answers, ...open];
}
