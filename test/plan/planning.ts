/** Real surveys of events that a test writes as data, in a state directory of their own. Tests ask the plan in SQL. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeDirectory } from '../directory.ts';
import { Halt } from '../../src/halt.ts';
import type { JsonObject } from '../../src/json.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import type { Policies } from '../../src/mapping/policies.ts';
import { COMBINED, EVENT_TYPES } from '../../src/kinds/index.ts';
import type { EventType } from '../../src/model.ts';
import type { State } from '../../src/model.ts';
import { countGone } from '../../src/plan/known/gone.ts';
import { dueEvents } from '../../src/plan/order/turns.ts';
import { defaultAccount } from '../../src/sandbox/account.ts';
import type { Delivered, Delivery } from '../../src/send/delivery.ts';
import { SendLog } from '../../src/send/log.ts';
import { Outcomes } from '../../src/send/outcomes.ts';
import { RecordSender } from '../../src/send/record-sender.ts';
import { runSettings } from '../../src/settings/run-settings.ts';
import { StateDir } from '../../src/files/state-dir.ts';
import { openCheckpoint, openFieldHasher } from '../../src/store/checkpoint.ts';
import { Commits } from '../../src/store/commits.ts';
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
  'lead/created': `{ external_id: ids.lead_created, full_name: full_name, email: email, custom_params: ${CUSTOM} }`,
  'lead/updated': `{ external_id: ids.lead_updated, full_name: full_name, custom_params: ${CUSTOM} }`,
  'deal/created': `{ external_id: ids.deal_created, title: title, lead_external_id: lead_external_id, custom_fields: ${CUSTOM} }`,
  'deal/updated': `{ external_id: ids.deal_updated, title: title, lead_external_id: lead_external_id, custom_fields: ${CUSTOM} }`,
  'comment/created':
    '{ external_id: ids.comment_created, content: content, lead_external_id: lead_external_id, deal_external_id: deal_external_id }',
};

/** On which types a policy may stand. */
const POLICIES: { readonly [P in keyof Policies]?: readonly EventType[] } = {
  duplicates: ['lead/created', 'deal/created', 'comment/created'],
  if_exists: ['lead/created', 'deal/created'],
  if_changed: ['lead/created', 'lead/updated', 'deal/created', 'deal/updated'],
  if_parent_missing: ['deal/created', 'deal/updated'],
};

/** `combine`: the most parts of a combined comment. `updates`: the `if_changed` of updated leads, which then have no custom fields. */
type Rules = Partial<Policies> & {
  readonly combine?: number | undefined;
  readonly updates?: Policies['if_changed'] | undefined;
};

/** One entry for each type, which all read the same file: events keep the order in which they are given. */
function mappingOf({ combine, updates, ...policies }: Rules): string {
  const entries = EVENT_TYPES.map((type) => {
    // A list names fields of leads.
    const own: [string, unknown][] = Object.entries(policies).filter(
      ([name, value]) =>
        POLICIES[name as keyof Policies]!.includes(type) &&
        (typeof value === 'string' || type.startsWith('lead/')) &&
        !(updates !== undefined && type === 'lead/updated' && name === 'if_changed'),
    );
    const isOther = updates !== undefined && type === 'lead/updated';
    if (isOther) own.push(['if_changed', updates]);
    if (combine !== undefined && type === 'comment/created')
      own.push(['combine', { heading: '{ids.comment_created}', max: combine }]);
    return [
      `  - type: ${type}`,
      '    source: events',
      `    when: { all: [{ from: type, equals: ${type} }, { not: { from: is_excluded, present: true } }] }`,
      '    occurred_at: { from: at, apply: [{ date: iso }] }',
      '    priority: { from: priority }',
      ...own.map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`),
      `    data: ${isOther ? DATA[type]!.replace(/custom_params: {.*} }/, 'email: email }') : DATA[type]}`,
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

  /** What a sender of this plan needs, beside who delivers. */
  sending(db: Database) {
    const [hasher, account, halt] = [openFieldHasher(db, { dryRun: false }), defaultAccount(), new Halt()];
    const [log, commits] = [new SendLog(db, hasher), new Commits(db)];
    const begun = { baseUrl: 'http://127.0.0.1:1', account, mappingSha256: '', inputs: [], isAdopted: false };
    log.begin({ migration: 'planned', ...begun });
    const base = { db, log, commits, halt, isAdopted: false };
    const outcomes = new Outcomes({ ...base, maxRejectionsInARow: 0, maxRejections: Infinity });
    const policies = this.#mapping.entries.map((entry) => entry.policies);
    return { ...base, hasher, policies, outcomes, migration: 'planned' };
  }

  /** The events of this plan were sent, and ended like this. Closes the plan. Returns their names. */
  async sent(db: Database, status: Status = 'acknowledged'): Promise<readonly string[]> {
    const deliverer = {
      async deliver(delivery: Delivery, beforeSend: () => Promise<void>): Promise<Delivered> {
        await beforeSend();
        return answerTo(delivery, status);
      },
    };
    const sender = new RecordSender({ ...this.sending(db), deliverer });
    const due = [...dueEvents(db)];
    for (const event of due) await sender.send(event);
    // Nothing is read back here.
    db.run('update checkpoint.record set service_id = null');
    db.close();
    return due.map(({ entity, external_id: id }) => `${entity} ${id}`);
  }
}

/** `deduplicated`: acknowledged, those that had no answer before as repeated. */
export type Status = 'acknowledged' | 'deduplicated' | 'rejected' | 'open';

function answerTo({ externalId, mayHaveArrivedBefore }: Delivery, status: Status): Delivered {
  if (status === 'open') return { kind: 'pending', hadNoEffect: false, attempts: 1 };
  if (status === 'rejected') return { kind: 'refused', why: 'other', code: 'odd', message: 'odd', attempts: 1 };
  const deduplicated = status === 'deduplicated' && mayHaveArrivedBefore;
  const answer = { outcome: 'created', serviceId: `s-${externalId}`, deduplicated, mayHaveArrived: false } as const;
  return { kind: 'acknowledged', attempts: 1, ...answer };
}

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
  /** Its time; milliseconds since 1970. Null where it has none, is invalid or a comment. */
  readonly at: number | null;
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
      iif(data is null or entity = '${COMBINED}', null, 1000 * unixepoch(occurred_at)) as at,
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
