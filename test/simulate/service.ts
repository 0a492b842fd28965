/**
 * A model of the service, from its published rules alone (the service interface): strict creates and updates, ids that are
 * processed once, parents, a sliding window. It knows nothing of the program, and notes what no client may do.
 */
import { trueTime } from './time.ts';

export type Entity = 'lead' | 'deal' | 'comment';
export type Value = string | number;

/** A record of the service. Fields have the names of events; custom fields as `custom_params.city`. */
export interface ServiceRecord {
  readonly entity: Entity;
  readonly serviceId: string;
  readonly externalId: string | undefined;
  readonly fields: Map<string, Value>;
  /** Who made it, the fields that a person set last, and what these were before. */
  readonly madeBy: 'us' | 'somebody';
  readonly edited: Map<string, Value>;
  readonly unedited: Map<string, Value | undefined>;
  readonly createdAt: number;
  updatedAt: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How an account answers where the published rules leave it open. */
export interface Habits {
  /** Requests per window. */
  readonly limit: number;
  readonly countsRefused: boolean;
  /** Items of a list page at most. */
  readonly pageSize: number;
  readonly saysTotal: boolean;
  /** Whether GET /deals/{id} exists. */
  readonly hasSingleDeals: boolean;
  /** Writes e-mail addresses in lower case and amounts as text with cents. */
  readonly normalises: boolean;
}

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly occurred_at?: string;
  readonly suppress_triggers?: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What somebody else has called their records. */
export const SOMEBODYS = 'somebody else';

export const KEY = 'key-of-the-account';
export const TOKEN = 'ingest_token';
export const WINDOW_MS = 60_000;
/** Stages of the only pipeline, by name. */
export const STAGES: ReadonlyMap<string, string> = new Map(
  ['New', 'Won', 'Lost'].map((name, index) => [name, `00000000-0000-4000-8000-00000000000${index}`]),
);
const PIPELINE = '00000000-0000-4000-8000-000000000100';

/** Names of fields in REST answers (section 2.2); custom fields are not shown. */
export const SHOWN: Readonly<Record<string, string>> = {
  full_name: 'fullName',
  email: 'email',
  phone_number: 'phoneNumber',
  title: 'title',
  amount: 'amount',
  stage_id: 'stageId',
  lead_external_id: 'primaryContactId',
};

export class Service {
  readonly habits: Habits;
  readonly records: ServiceRecord[] = [];
  /** What no client may do, and what must never happen to a record. */
  readonly violations: string[] = [];
  /** Events that took effect, in their order. */
  readonly log: { readonly id: string; readonly type: string; readonly data: Envelope['data'] }[] = [];
  /** Whether an update that the program makes of its own accord may overwrite what a person edited before this run. */
  mayOverwrite = false;
  /** Requests to the webhook that were not refused. */
  accepted = 0;
  /** The ids of the events that have arrived in this run, whatever the answer. */
  readonly arrived = new Set<string>();
  /** The children that may name a parent that does not exist. */
  mayLackParents: readonly Entity[] = [];
  /** Requests per window of another client with the same key. */
  foreign = 0;
  /** Whether our own requests may exceed the limit: others use the key, or the clock of this machine was set. */
  mayExceed = false;
  readonly #processed = new Map<string, { readonly entity: string; readonly id: string }>();
  readonly #arrivals: number[] = [];
  /** Of this run. */
  #ours: number[] = [];
  /** Requests per minute that the run is told not to exceed. */
  #rate: number | undefined;
  #foreignUntil = 0;
  #nextId = 1;

  constructor(habits: Habits) {
    this.habits = habits;
  }

  find(entity: Entity, externalId: string): ServiceRecord | undefined {
    return this.records.find((record) => record.entity === entity && record.externalId === externalId);
  }

  /** Whether a record has or had this id. */
  hasEverHad(serviceId: string): boolean {
    return Number(serviceId.split('-')[1]) < this.#nextId;
  }

  /** Whether an event with this id took effect. */
  hasProcessed(id: string): boolean {
    return this.#processed.has(id);
  }

  beginRun(rate: number | undefined): void {
    this.arrived.clear();
    this.#rate = rate;
    this.#ours = [];
  }

  /** A request as it arrives. */
  handle(method: string, path: string, headers: Readonly<Record<string, string>>, body: string | undefined): Answer {
    if (path === '/health' || path === '/version') return answer(200, { status: 'ok' });
    if (headers['x-api-key'] !== KEY) return answer(401, { error: 'unknown API key' });
    this.#judgeRate(trueTime());
    const limits = this.#count();
    if (limits.refused) {
      const left = Math.ceil((limits.freeAt - trueTime()) / 1000);
      return answer(429, failure('RATE_LIMITED', 'too many requests'), {
        ...limits.headers,
        'retry-after': String(Math.max(1, left)),
      });
    }
    const found = this.#route(method, path, headers, body);
    return { ...found, headers: { ...found.headers, ...limits.headers } };
  }

  /** A person changes a field in the dashboard. */
  edit(record: ServiceRecord, field: string, value: Value): void {
    if (!record.edited.has(field)) record.unedited.set(field, record.fields.get(field));
    record.fields.set(field, value);
    record.edited.set(field, value);
    record.updatedAt = trueTime();
  }

  /** A person deletes a record; the deals of a lead are without one then. */
  delete(record: ServiceRecord): void {
    for (const deal of this.records) {
      if (record.entity !== 'lead' || deal.entity !== 'deal') continue;
      if (deal.fields.get('lead_external_id') !== record.externalId) continue;
      deal.fields.delete('lead_external_id');
      deal.edited.set('lead_external_id', '');
    }
    this.records.splice(this.records.indexOf(record), 1);
  }

  /** A record that another system made by the same external id. */
  addForeign(entity: Entity, externalId: string, fields: Readonly<Record<string, Value>>): void {
    this.#add(entity, externalId, new Map(Object.entries(fields)), 'somebody');
  }

  #add(
    entity: Entity,
    externalId: string | undefined,
    fields: Map<string, Value>,
    madeBy: ServiceRecord['madeBy'],
  ): ServiceRecord {
    const at = trueTime();
    const serviceId = `${entity}-${this.#nextId++}`;
    const [edited, unedited] = [new Map(), new Map()];
    const record = { entity, serviceId, externalId, fields, madeBy, edited, unedited, createdAt: at, updatedAt: at };
    this.records.push(record);
    return record;
  }

  /** Sections 7.2 and 8. */
  #judgeRate(now: number): void {
    if (this.#rate === undefined || this.mayExceed) return;
    this.#ours = [...this.#ours.filter((at) => at > now - WINDOW_MS), now];
    if (this.#ours.length > this.#rate)
      this.violations.push(`more than ${this.#rate} requests arrived within a minute, despite --rate`);
  }

  #count(): { refused: boolean; freeAt: number; headers: Record<string, string> } {
    const now = trueTime();
    if (this.foreign > 0) {
      const step = WINDOW_MS / this.foreign;
      for (let at = Math.max(this.#foreignUntil, now - WINDOW_MS); at <= now; at += step) {
        this.#arrivals.push(at);
        this.#foreignUntil = at + step;
      }
    }
    this.#arrivals.sort((one, other) => one - other);
    while (this.#arrivals.length > 0 && this.#arrivals[0]! <= now - WINDOW_MS) this.#arrivals.shift();
    const { limit, countsRefused } = this.habits;
    const refused = this.#arrivals.length >= limit;
    if (refused && !this.mayExceed) this.violations.push(`more than ${limit} requests arrived within a window`);
    if (!refused || countsRefused) this.#arrivals.push(now);
    return {
      refused,
      freeAt: this.#arrivals[Math.max(0, this.#arrivals.length - limit)]! + WINDOW_MS,
      headers: {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(Math.max(0, limit - this.#arrivals.length)),
        'x-ratelimit-reset': String(Math.ceil((now + WINDOW_MS) / 1000)),
      },
    };
  }

  #route(method: string, path: string, headers: Readonly<Record<string, string>>, body: string | undefined): Answer {
    const url = new URL(path, 'http://service.test');
    const [, collection, id] = url.pathname.split('/');
    if (method === 'POST' && url.pathname === `/webhooks/ingest/${TOKEN}`) return this.#ingest(headers, body ?? '');
    if (method === 'POST') return answer(403, failure('webhook_auth_failed', 'wrong token'));
    if (url.pathname === '/pipelines') {
      const stages = Array.from(STAGES, ([name, stageId]) => ({ id: stageId, name }));
      return this.#page([{ id: PIPELINE, name: 'Sales', type: 'DEAL', stages }], 'pipelines', url);
    }
    if (url.pathname === '/platform-users') return this.#page([{ id: 'u1', name: 'Ada' }], 'users', url);
    const entity = collection === 'leads' ? 'lead' : collection === 'deals' ? 'deal' : undefined;
    if (!entity) return answer(404, { error: 'no such route' });
    const shown = this.records.filter((record) => record.entity === entity);
    if (id === undefined)
      return this.#page(
        shown.map((record) => this.#show(record)),
        collection!,
        url,
      );
    const record = shown.find(({ serviceId }) => serviceId === id);
    if (!record || (entity === 'deal' && !this.habits.hasSingleDeals)) return answer(404, { error: 'no such record' });
    return answer(200, this.#show(record));
  }

  #page(items: readonly object[], name: string, url: URL): Answer {
    const size = Math.min(Number(url.searchParams.get('pageSize') ?? 100), this.habits.pageSize);
    const from = (Number(url.searchParams.get('page') ?? 1) - 1) * size;
    const page = items.slice(from, from + size);
    return answer(200, this.habits.saysTotal ? { [name]: page, total: items.length } : page);
  }

  #show({ entity, serviceId, fields, createdAt, updatedAt }: ServiceRecord): object {
    const shown: Record<string, unknown> = {
      id: serviceId,
      createdAt: new Date(createdAt).toISOString(),
      updatedAt: new Date(updatedAt).toISOString(),
    };
    const names =
      entity === 'lead' ? ['full_name', 'email', 'phone_number'] : ['title', 'amount', 'stage_id', 'lead_external_id'];
    for (const name of names) shown[SHOWN[name]!] = this.#shownValue(name, fields.get(name));
    return shown;
  }

  #shownValue(name: string, value: Value | undefined): unknown {
    if (value === undefined) return null;
    if (name === 'lead_external_id') return this.find('lead', String(value))?.serviceId ?? null;
    if (!this.habits.normalises) return value;
    if (name === 'email') return String(value).toLowerCase();
    return name === 'amount' ? Number(value).toFixed(2) : value;
  }

  /** Sections 2.3 to 2.7, 3, 6 and 7.3. */
  #ingest(headers: Readonly<Record<string, string>>, body: string): Answer {
    const envelope = JSON.parse(body) as Envelope;
    const { id, type, data } = envelope;
    this.arrived.add(id);
    if (envelope.suppress_triggers !== true || headers['x-suppress-triggers'] !== 'true') {
      this.violations.push(`the event ${id} does not suppress triggers`);
    }
    const done = this.#processed.get(id);
    if (done) return this.#accept(done.entity, done.id, 'none', true);
    const [entity, action] = type.split('/') as [Entity, string];
    const externalId = data.external_id as string | undefined;
    const refusal = this.#refusal(entity, data);
    if (refusal) return refusal;
    const existing = externalId === undefined ? undefined : this.find(entity, externalId);
    const kind = `${entity[0]!.toUpperCase()}${entity.slice(1)}`;
    if (action === 'created' && existing) {
      // Section 2.6: repeating the external id of a comment creates no second one.
      if (entity === 'comment') return this.#accept(kind, existing.serviceId, 'none', false);
      return answer(409, failure('already_exists', `${externalId} already exists`));
    }
    if (action === 'updated' && !existing) return answer(422, failure('not_found', `${externalId} does not exist`));
    const fields = flat(data);
    if (envelope.occurred_at !== undefined && entity === 'comment') fields.set('occurred_at', envelope.occurred_at);
    const record = existing ?? this.#add(entity, externalId, new Map(), 'us');
    if (existing) this.#watchEdits(id, existing, fields);
    for (const [name, value] of fields) {
      record.fields.set(name, value);
      record.edited.delete(name);
    }
    record.updatedAt = trueTime();
    this.log.push({ id, type, data });
    this.#processed.set(id, { entity: kind, id: record.serviceId });
    return this.#accept(kind, record.serviceId, existing ? 'updated' : 'created', false);
  }

  #accept(entity: string, id: string, outcome: string, deduplicated: boolean): Answer {
    this.accepted += 1;
    return answer(200, { status: 'processed', entity, id, outcome, deduplicated });
  }

  #refusal(entity: Entity, data: Envelope['data']): Answer | undefined {
    const { lead_external_id: lead, deal_external_id: deal, stage_id: stage } = data as Record<string, string>;
    if (entity === 'comment' && (lead === undefined) === (deal === undefined)) {
      return answer(400, failure('invalid_payload', 'exactly one parent'));
    }
    const lacksLead = entity !== 'lead' && lead !== undefined && !this.find('lead', lead);
    if (lacksLead || (deal !== undefined && !this.find('deal', deal))) {
      if (!this.mayLackParents.includes(entity))
        this.violations.push(`${entity} ${String(data.external_id)} was sent without its parent`);
      return answer(422, failure('parent_not_found', lacksLead ? `lead ${lead}` : `deal ${deal}`));
    }
    if (stage !== undefined && ![...STAGES.values()].includes(stage)) {
      return answer(422, failure('unresolved_reference', `stage ${stage}`));
    }
    return undefined;
  }

  /** Updates of the program's own accord have random ids (version 4); events of the input have not. */
  #watchEdits(id: string, record: ServiceRecord, fields: ReadonlyMap<string, Value>): void {
    if (this.mayOverwrite || record.madeBy === 'somebody' || id[14] !== '4') return;
    for (const [name, value] of fields) {
      const edited = record.edited.get(name);
      if (edited === undefined || edited === value || SHOWN[name] === undefined) continue;
      this.violations.push(`${record.entity} ${record.externalId}: ${name} was edited in the service, and overwritten`);
    }
  }
}

function flat(data: Envelope['data']): Map<string, Value> {
  const fields = new Map<string, Value>();
  for (const [name, value] of Object.entries(data)) {
    if (name === 'external_id') continue;
    if (typeof value !== 'object') fields.set(name, value as Value);
    else for (const [key, inner] of Object.entries(value as object)) fields.set(`${name}.${key}`, inner as Value);
  }
  return fields;
}

function failure(code: string, message: string): object {
  return { success: false, error: { code, message } };
}

export function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}
