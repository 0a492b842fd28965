/** Real surveys of events that a test writes as data, in a state directory of their own. Tests ask the plan in SQL. */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeDirectory } from '../directory.ts';
import { eventId } from '../../src/core/identity.ts';
import { answered, opened } from '../../src/core/known.ts';
import { Halt } from '../../src/halt.ts';
import type { JsonObject } from '../../src/json.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { policiesOf, type Policies } from '../../src/mapping/policies.ts';
import { COMBINED, EVENT_TYPES, isUpdate } from '../../src/kinds/index.ts';
import type { EventType } from '../../src/model.ts';
import { EVENT_ROWS, type EventRow } from '../../src/plan/events.ts';
import type { State } from '../../src/model.ts';
import { storeParts } from '../../src/plan/rows/combine.ts';
import { countGone } from '../../src/plan/known/gone.ts';
import { dueEvents } from '../../src/plan/order/turns.ts';
import { readRecord } from '../../src/plan/known/records.ts';
import { WHOLE, wantedOf } from '../../src/plan/known/wanted.ts';
import { defaultAccount } from '../../src/sandbox/account.ts';
import { SendLog } from '../../src/send/log.ts';
import { runSettings } from '../../src/settings/run-settings.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { openCheckpoint, openFieldHasher } from '../../src/store/checkpoint.ts';
import type { Database } from '../../src/store/sqlite.ts';
import { beginPlan } from '../../src/survey/plan-file.ts';
import { surveyInput } from '../../src/survey/survey.ts';

/** What the entry and the record say about an event, beside its data. */
export interface About {
  readonly priority?: number;
  readonly occurredAt?: string;
  /** Its record cannot be mapped. */
  readonly isInvalid?: boolean;
  /** `when` excludes it. */
  readonly isExcluded?: boolean;
}

export interface Given extends About {
  readonly type: EventType;
  readonly data: JsonObject;
}

export const event = (type: EventType, data: JsonObject, about: About = {}): Given => ({ type, data, ...about });

export const lead = (id: string, about?: About & { readonly name?: string }): Given => {
  const { name, ...rest } = about ?? {};
  return event('lead/created', { external_id: id, ...(name === undefined ? {} : { full_name: name }) }, rest);
};
export const deal = (id: string, parent: string | undefined, about?: About): Given =>
  event('deal/created', { external_id: id, ...(parent === undefined ? {} : { lead_external_id: parent }) }, about);
export const note = (id: string, parent: string, about?: About): Given =>
  event('comment/created', { external_id: id, content: 'x', deal_external_id: parent }, about);

const CUSTOM = '{ n: n, city: city, size: size }';
const DATA: Readonly<Record<EventType, string>> = {
  'lead/created': `{ external_id: ids.lead_created, full_name: full_name, custom_params: ${CUSTOM} }`,
  'lead/updated': `{ external_id: ids.lead_updated, full_name: full_name, custom_params: ${CUSTOM} }`,
  'deal/created': `{ external_id: ids.deal_created, title: title, lead_external_id: lead_external_id, custom_fields: ${CUSTOM} }`,
  'deal/updated': `{ external_id: ids.deal_updated, title: title, lead_external_id: lead_external_id, custom_fields: ${CUSTOM} }`,
  'comment/created':
    '{ external_id: ids.comment_created, content: content, lead_external_id: lead_external_id, deal_external_id: deal_external_id }',
};

/** On which types a policy may stand. */
const POLICIES: { readonly [P in keyof Policies]?: readonly EventType[] } = {
  duplicates: ['lead/created', 'deal/created', 'comment/created'],
  if_changed: ['lead/created', 'lead/updated', 'deal/created', 'deal/updated'],
  if_parent_missing: ['deal/created', 'deal/updated'],
};

/** `combine`: the most parts of a combined comment. */
type Rules = Partial<Policies> & { readonly combine?: number | undefined };

/** One entry for each type, which all read the same file: events keep the order in which they are given. */
function mappingOf({ combine, ...policies }: Rules): string {
  const entries = EVENT_TYPES.map((type) => {
    // A list names fields of leads.
    const own: [string, unknown][] = Object.entries(policies).filter(
      ([name, value]) =>
        POLICIES[name as keyof Policies]!.includes(type) && (typeof value === 'string' || type.startsWith('lead/')),
    );
    if (combine !== undefined && type === 'comment/created')
      own.push(['combine', { heading: '{ids.comment_created}', max: combine }]);
    return [
      `  - type: ${type}`,
      '    source: events',
      `    when: { all: [{ from: type, equals: ${type} }, { not: { from: is_excluded, present: true } }] }`,
      '    occurred_at: { from: at, apply: [{ date: iso }] }',
      '    priority: { from: priority }',
      ...own.map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`),
      `    data: ${DATA[type]}`,
    ].join('\n');
  });
  const head = 'version: 1\nmigration: planned\ndefaults: { timezone: UTC }\n';
  return `${head}sources: { events: { path: events.ndjson, format: ndjson } }\nevents:\n${entries.join('\n')}\n`;
}

function recordOf({ type, data, priority, occurredAt, isInvalid, isExcluded }: Given): string {
  const { custom_params: params, custom_fields: fields, external_id: id, ...rest } = data;
  const at = isInvalid ? 'never' : occurredAt;
  return JSON.stringify({
    ...{ type, ids: { [type.replace('/', '_')]: id }, is_excluded: isExcluded ? 'yes' : undefined },
    ...rest,
    ...(params as object),
    ...(fields as object),
    priority,
    at,
  });
}

interface Options {
  readonly only?: string;
  readonly pick?: readonly string[];
  readonly pilot?: string;
}

export class Planning {
  readonly state: StateDir;
  readonly #directory: string;
  readonly #mapping: Mapping;
  readonly #plans: Database[] = [];

  private constructor(directory: string, mapping: Mapping, state: StateDir) {
    this.#directory = directory;
    this.#mapping = mapping;
    this.state = state;
  }

  /** Closed and removed after the test. */
  static async create(policies: Rules = {}): Promise<Planning> {
    const directory = makeDirectory();
    const planning = await Planning.in(directory, policies);
    onTestFinished(() => {
      for (const plan of planning.#plans) plan.close();
      rmSync(directory, { recursive: true, force: true });
    });
    return planning;
  }

  static async in(directory: string, policies: Rules = {}): Promise<Planning> {
    const path = join(directory, 'mapping.yaml');
    writeFileSync(path, mappingOf(policies));
    const state = await StateDir.create(join(directory, 'state'));
    return new Planning(directory, await loadMapping(path), state);
  }

  /** The plan may be closed before the end of the test. */
  async survey(events: readonly Given[], options: Options = {}): Promise<Database> {
    const path = join(this.#directory, 'events.ndjson');
    writeFileSync(path, events.map((each) => `${recordOf(each)}\n`).join(''));
    const settings = runSettings({ mapping: join(this.#directory, 'mapping.yaml'), ...options });
    openCheckpoint(this.state).close();
    const db = beginPlan(this.state, this.state);
    const { db: plan } = await surveyInput({
      ...{ settings, mapping: this.#mapping, db, hasher: openFieldHasher(db, settings), account: defaultAccount() },
      ...{ state: this.state, output: this.state, halt: new Halt(), contacts: undefined, client: undefined },
      ...{ warn: () => undefined, agree: async () => undefined },
    });
    this.#plans.push(plan);
    return plan;
  }

  /** As before the first run. */
  forget(): void {
    for (const plan of this.#plans.splice(0)) plan.close();
    for (const name of readdirSync(this.state.path)) rmSync(join(this.state.path, name), { recursive: true });
  }

  /** An earlier run surveyed these events, sent them, and they ended like this. Returns the names of those that it sent. */
  async settle(events: readonly Given[], status: Status = 'acknowledged'): Promise<readonly string[]> {
    return this.sent(await this.survey(events), status);
  }

  /** The events of this plan were sent, and ended like this. Closes the plan. Returns their names. */
  sent(db: Database, status: Status = 'acknowledged'): readonly string[] {
    const { baseUrl, account } = { baseUrl: 'http://127.0.0.1:1', account: defaultAccount() };
    const hasher = openFieldHasher(db, { dryRun: false });
    const log = new SendLog(db, hasher);
    const all = EVENT_TYPES.map((type) => policiesOf({ type }));
    log.begin({ migration: 'planned', baseUrl, account, mappingSha256: '', inputs: [], isAdopted: false });
    const rows = db.all<EventRow>(`${EVENT_ROWS} where e.state in ('ready', 'retry') order by e.id`);
    for (const row of rows) {
      const { type, entity, external_id: externalId, data: content } = row;
      const wanted = wantedOf(row, all, hasher);
      const record = { entity, external_id: externalId!, type, wanted };
      const { known } = readRecord(db, hasher, record);
      const kind = isUpdate(row.sends ?? type) ? 'update' : 'create';
      const id =
        kind === 'update' ? randomUUID() : eventId({ migration: 'planned', type, externalId: externalId!, content });
      const request = { kind, id, fields: Object.fromEntries(wanted.fields) } as const;
      const delivery = {
        id,
        type,
        externalId: externalId!,
        data: {},
        content,
        mayHaveArrivedBefore: false,
        wasRejected: false,
        place: 1,
      };
      log.opened(record, opened(known, request), delivery);
      if (entity === COMBINED) storeParts(db, row.id, request.fields[WHOLE]!, { isNew: known.exists === 'no' });
      if (status === 'open') continue;
      const isAcknowledged = status !== 'rejected';
      const deduplicated = status === 'deduplicated' && known.exists === 'maybe';
      const answer = isAcknowledged ? { ...ACKNOWLEDGED, deduplicated } : REFUSED;
      const circumstances = { content: wanted.content, isShown: () => true, isAdopted: false };
      log.answered(record, answered(known, request, answer, circumstances), delivery, answer, {
        isAcknowledged,
        code: isAcknowledged ? undefined : 'odd',
      });
    }
    db.close();
    return rows.map(({ entity, external_id: id }) => `${entity} ${id}`);
  }
}

/** `deduplicated`: acknowledged, those that had no answer before as repeated. */
export type Status = 'acknowledged' | 'deduplicated' | 'rejected' | 'open';

const ACKNOWLEDGED = {
  kind: 'acknowledged',
  outcome: 'created',
  serviceId: 'e',
  mayHaveArrived: false,
  attempts: 1,
} as const;
const REFUSED = { kind: 'refused', why: 'other', code: 'odd', message: 'odd', attempts: 1 } as const;

/** The plan of a survey of these events that follows no other run. */
export async function planOf(events: readonly Given[], policies: Partial<Policies> = {}): Promise<Database> {
  return (await Planning.create(policies)).survey(events);
}

/** The external ids of the events to send, in their order; an update is marked with a `+`. */
export function turnsOf(db: Database): string[] {
  return db
    .all<{ name: string }>(
      `select external_id || case when e.type like '%/updated' then '+' else '' end as name
       from turn t join event e on e.id = t.event order by t.place`,
    )
    .map(({ name }) => name);
}

/** What the plan decided of every event, in the order of reading. */
export interface Judged {
  readonly events: readonly JudgedEvent[];
  /** What is sent, in its order. */
  readonly turns: readonly string[];
  /** Records that an earlier run acknowledged and that the input lacks. */
  readonly gone: number;
}

interface JudgedEvent {
  readonly type: EventType;
  readonly id: string | null;
  readonly state: State;
  /** Of an event that was sent before. */
  readonly code: string | null;
  readonly priority: number;
  /** Null if it could not be mapped. */
  readonly data: JsonObject | null;
  /** The ids of the comments that it carries, in their order. */
  readonly parts: readonly string[];
}

export function judgedIn(db: Database): Judged {
  type Row = Omit<JudgedEvent, 'data' | 'parts'> & { readonly data: string; readonly parts: string };
  const rows = db.all<Row>(`
    select type, external_id as id, state, iif(code in ('comment_changed', 'uncertain', 'unmapped'), code, null) as code,
      iif(state in ('invalid', 'duplicate'), 0, priority) as priority, ifnull(data, 'null') as data,
      (select json_group_array(p.external_id) from (select * from part where event = event.id order by position) p) as parts
    from event order by event.id`);
  return {
    events: rows.map((row) => ({
      ...row,
      data: JSON.parse(row.data) as JsonObject | null,
      parts: JSON.parse(row.parts) as string[],
    })),
    turns: Array.from(dueEvents(db), ({ type, external_id: id }) => `${type} ${id}`),
    gone: countGone(db).gone,
  };
}

/** States by type, in the order of reading. */
export function statesOf(db: Database): Partial<Record<EventType, State[]>> {
  const states: Partial<Record<EventType, State[]>> = {};
  for (const { type, state } of db.all<{ type: EventType; state: State }>(
    'select type, state from event order by id',
  )) {
    (states[type] ??= []).push(state);
  }
  return states;
}
