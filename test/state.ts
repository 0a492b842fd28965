/** State directories for tests of what reads them: the two databases with the rows that a test gives. */
import { randomUUID } from 'node:crypto';
import { temporaryDirectory } from './directory.ts';
import { contentSha } from '../src/core/identity.ts';
import { canonicalJson, type JsonObject } from '../src/json.ts';
import { entityOf, kindOfType } from '../src/kinds/index.ts';
import type { EventType, State } from '../src/model.ts';
import { WHOLE } from '../src/plan/known/wanted.ts';
import type { UnusedCode } from '../src/report/words/unused.ts';
import { hintFor } from '../src/report/words/words.ts';
import { storeDocument, type Documents, type SurveySnapshot } from '../src/report/files/documents.ts';
import { notStarted, type Summary } from '../src/report/figures/summary.ts';
import type { Account } from '../src/service/account.ts';
import { StateDir } from '../src/files/state-dir.ts';
import { noteWait, type RunWait } from '../src/store/checkpoint.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from '../src/store/checkpoint-schema.ts';
import { FieldHasher } from '../src/store/field-hashes.ts';
import { COUNTING_INDEX, PLAN, PLAN_FILE, PLAN_INDEXES } from '../src/store/plan-schema.ts';
import { Database } from '../src/store/sqlite.ts';
import type { ProblemKind } from '../src/problem.ts';

/** When everything happened, unless a test says otherwise. */
export const AT = '2026-01-31T12:00:00.000Z';

interface EventRow {
  readonly state?: string;
  /** The values of the record; `data` if absent. A list belongs to the columns of its source. */
  readonly raw?: JsonObject | readonly string[] | null;
  readonly source?: string;
  /** 0 for a record without a line. */
  readonly line?: number;
  /** The number of the record in its file. */
  readonly number?: number;
  readonly parent?: readonly [entity: 'lead' | 'deal', externalId: string];
  readonly code?: string;
  readonly priority?: number;
  readonly isChosen?: boolean;
  readonly sends?: EventType;
  readonly occurredAt?: string;
  /** Of a deal: the names of its group, and its amount. */
  readonly deal?: Partial<DealNames> & { readonly amount?: string };
  /** The id of the event and the hash of its content, where two events shall share them. */
}

const DEAL_NAMES = ['from_pipeline', 'from_stage', 'from_owner', 'pipeline', 'stage', 'owner', 'currency'] as const;
type DealNames = Record<(typeof DEAL_NAMES)[number], string | null>;

interface ProblemRow {
  readonly kind?: string;
  readonly severity?: 'error' | 'warning';
  readonly field?: string;
  readonly hint?: string;
  /** Of a record that became no event. */
  readonly record?: number;
}

interface RequestRow {
  readonly run?: number;
  readonly status?: 'open' | 'acknowledged' | 'rejected';
  readonly outcome?: string | null;
  readonly serviceId?: string | null;
  readonly code?: string;
  /** What the event wants that it stands for, if that is not what the request sends. */
  readonly wanted?: JsonObject;
  readonly at?: string;
}

/** Fills a state directory row by row. A database that no row is given for is not created. */
export class StateOf {
  readonly dir: StateDir;
  readonly hasher = new FieldHasher('0123456789abcdef');
  readonly #files = new Map<string, number>();
  readonly #groups = new Map<string, number>();
  #plan: Database | undefined;
  #checkpoint: Database | undefined;
  #records = 0;

  private constructor(dir: StateDir) {
    this.dir = dir;
  }

  static async create(path: string): Promise<StateOf> {
    return new StateOf(await StateDir.create(path));
  }

  get plan(): Database {
    if (!this.#plan) {
      this.#plan = Database.open(this.dir.file(PLAN_FILE), PLAN);
      this.#plan.exec('pragma journal_mode = memory; pragma synchronous = off');
    }
    return this.#plan;
  }

  get checkpoint(): Database {
    if (!this.#checkpoint) {
      this.#checkpoint = Database.open(this.dir.file(CHECKPOINT_FILE), CHECKPOINT);
      this.#checkpoint.exec('pragma journal_mode = wal; pragma synchronous = off');
    }
    return this.#checkpoint;
  }

  /** The account that the survey read, and to which the checkpoint belongs. */
  account({ base_url: baseUrl, ...account }: Account & { base_url: string }, migration: string): this {
    this.plan.run(`insert into document values ('account', ?)`, JSON.stringify(account));
    return this.belongsTo(migration, baseUrl, { account }).run(AT);
  }

  belongsTo(
    migration: string,
    baseUrl: string,
    { account, at = AT }: { account?: Account; at?: string | undefined } = {},
  ): this {
    const ids = (list: readonly { readonly id: string }[] = []): string => JSON.stringify(list.map(({ id }) => id));
    const row = [migration, baseUrl, ids(account?.pipelines), ids(account?.users), at] as const;
    this.checkpoint.run(
      'insert into migration (id, name, base_url, pipeline_ids, user_ids, created_at) values (1, ?, ?, ?, ?, ?)',
      ...row,
    );
    this.checkpoint.run(`insert into setting values ('field_key', ?)`, this.hasher.key);
    return this;
  }

  /** A run that began then. */
  run(at: string): this {
    const row = "insert into run (tool, mapping_sha256, inputs, field_key, at) values ('test', '', '[]', ?, ?)";
    this.checkpoint.run(row, this.hasher.keyId, at);
    return this;
  }

  /** A table with these columns in `<name>.csv`, or without columns JSON records in `<name>.json`. */
  source(name: string, columns: readonly string[] = [], path = `${name}.${columns.length > 0 ? 'csv' : 'json'}`): this {
    const kind = columns.length > 0 ? 'table' : 'tree';
    const row = [name, kind, JSON.stringify(columns)] as const;
    const source = this.plan.insert('insert into source (name, kind, columns) values (?, ?, ?)', ...row);
    this.#files.set(name, this.plan.insert('insert into file (source, path) values (?, ?)', source, path));
    return this;
  }

  has(source: string): boolean {
    return this.#files.has(source);
  }

  /** Returns the id of its row. */
  record({ source = [...this.#files.keys()][0]!, raw = null, line, number }: EventRow = {}): number {
    this.#records += 1;
    const at = [this.#files.get(source)!, line ?? this.#records + 1, number ?? this.#records] as const;
    const row = 'insert into record (file, line, number, raw) values (?, ?, ?, ?)';
    return this.plan.insert(row, ...at, raw === null ? null : JSON.stringify(raw));
  }

  /** Returns the id of its row. `data`: null if it is invalid. */
  event(type: EventType, id: string | null, data: JsonObject | null, given: EventRow = {}): number {
    const { state = 'acknowledged', raw = data, parent } = given;
    const text = data === null ? null : canonicalJson({ ...(id === null ? {} : { external_id: id }), ...data });
    const event = this.plan.insert(
      `insert into event (type, entity, external_id, record, entry, occurred_at, data, content, parent_entity,
        parent_id, state, code, priority, is_chosen, sends) values (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[type, entityOf(type), id, this.record({ ...given, raw })],
      ...[given.occurredAt ?? null, text, text === null ? null : contentSha(type, text)],
      ...[parent?.[0] ?? null, parent?.[1] ?? null, state, given.code ?? null, given.priority ?? 0],
      ...[given.isChosen === false ? 0 : 1, given.sends ?? null],
    );
    if (given.deal) this.#count(event, given.deal);
    return event;
  }

  #count(event: number, { amount, ...names }: NonNullable<EventRow['deal']>): void {
    const row = DEAL_NAMES.map((name) => names[name] ?? null);
    const key = JSON.stringify(row);
    const sql = `insert into deal_group (${DEAL_NAMES.join(', ')}) values (?, ?, ?, ?, ?, ?, ?)`;
    const group = this.#groups.get(key) ?? this.plan.insert(sql, ...row);
    this.#groups.set(key, group);
    this.plan.run('update event set deal_group = ?, amount = ? where id = ?', group, amount ?? null, event);
  }

  /** `event`: null if its record became none, or for the input as a whole. */
  problem(event: number | null, code: string, message: string, given: ProblemRow = {}): void {
    const { kind = 'map', severity = 'error', field = null, record } = given;
    const hint = given.hint ?? hintFor({ severity, kind: kind as ProblemKind, code }) ?? null;
    const of = event === null ? (record ?? null) : this.#recordOf(event);
    this.plan.run(
      `insert into problem (event, record, kind, code, severity, field, message, hint, at)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[event, of, kind, code, severity, field, message, hint, AT],
    );
  }

  omission(event: number, field: string, original: string, reason: string, code = 'bad_value'): void {
    this.plan.run(
      'insert into omission (event, record, field, original, code, reason) values (?, ?, ?, ?, ?, ?)',
      ...[event, this.#recordOf(event), field, original, code, reason],
    );
  }

  unused(event: number, code: UnusedCode, externalId: string, why: string): void {
    this.plan.run(
      'insert into unused (record, entity, external_id, code, why) select record, entity, ?, ?, ? from event where id = ?',
      ...[externalId, code, why, event],
    );
  }

  /** An acknowledged request, unless `given` says more, and what is known of its record then. Returns its id. */
  request(type: EventType, id: string, data: JsonObject, given: RequestRow = {}): string {
    const { status = 'acknowledged', wanted = data, at = AT } = given;
    const eventId = randomUUID();
    this.checkpoint.run(
      `insert into request (id, run, type, entity, external_id, status, outcome, service_id, code, attempts, sent_at, settled_at)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)`,
      ...[eventId, given.run ?? 1, type, entityOf(type), id, status],
      given.outcome === undefined ? (status === 'acknowledged' ? 'created' : null) : given.outcome,
      ...[given.serviceId ?? null, given.code ?? null, at, status === 'open' ? null : at],
    );
    this.#know(type, id, data, { ...given, status, wanted });
    return eventId;
  }

  #know(
    type: EventType,
    id: string,
    data: JsonObject,
    { status, wanted, serviceId, code }: RequestRow & { readonly wanted: JsonObject },
  ): void {
    const key = [entityOf(type), id] as const;
    const before = this.checkpoint.get<{ fields: string; is_acknowledged: number; service_id: string | null }>(
      'select fields, is_acknowledged, service_id from record where entity = ? and external_id = ?',
      ...key,
    );
    const isAcknowledged = status === 'acknowledged';
    const fields = JSON.parse(before?.fields ?? '{}') as Record<string, string[]>;
    // What cannot be updated is known as a whole.
    const whole = canonicalJson({ external_id: id, ...data });
    const hashes = kindOfType(type).isUpdatable
      ? this.hasher.hashesOf(data)
      : { [WHOLE]: this.hasher.hashOf(WHOLE, whole) };
    for (const [name, hash] of status === 'rejected' ? [] : Object.entries(hashes)) {
      fields[name] = isAcknowledged || !before ? [hash] : [...(fields[name] ?? ['-']), hash];
    }
    const sha = contentSha(type, canonicalJson({ external_id: id, ...wanted }));
    this.checkpoint.run(
      `insert or replace into record (entity, external_id, type, existence, whose, is_acknowledged, service_id, fields, content,
        rejected, code, field_key) values (?, ?, ?, ?, 'ours', ?, ?, ?, ?, ?, ?, ?)`,
      ...[...key, type, isAcknowledged || before?.is_acknowledged ? 'yes' : status === 'open' ? 'maybe' : 'no'],
      ...[Number(isAcknowledged || before?.is_acknowledged === 1), serviceId ?? before?.service_id ?? null],
      ...[JSON.stringify(fields), isAcknowledged ? sha : null, status === 'rejected' ? sha : null],
      ...[isAcknowledged ? null : (code ?? null), this.hasher.keyId],
    );
  }

  /** Completes the plan as a survey does. */
  close(): StateDir {
    this.#plan?.exec(PLAN_INDEXES + COUNTING_INDEX);
    this.#plan?.close();
    this.#checkpoint?.close();
    return this.dir;
  }

  #recordOf(event: number): number {
    return this.plan.get<{ record: number }>('select record from event where id = ?', event)!.record;
  }
}

/** Where a record is: `contacts.csv:17`, or `notes.json#3` for one without a line. */
type At = `${string}:${number}` | `${string}#${number}`;

interface GivenProblem extends Omit<ProblemRow, 'record'> {
  readonly code: string;
  readonly message?: string;
  /** Of a record that became no event. */
  readonly at?: At;
}

export interface GivenEvent extends Pick<EventRow, 'parent' | 'code' | 'priority' | 'isChosen' | 'sends' | 'deal'> {
  readonly type?: EventType;
  readonly state: State;
  readonly id?: string;
  /** So many equal ones, with ids of their own. */
  readonly times?: number;
  readonly at?: At;
  readonly problem?: GivenProblem;
  readonly omitted?: readonly { readonly field: string; readonly original: string; readonly code: string }[];
}

export interface GivenAnswer extends Pick<RequestRow, 'code'> {
  readonly type?: EventType;
  readonly id?: string;
  readonly status?: 'acknowledged' | 'rejected';
  readonly at: string;
}

/** A whole state as data, for what shows its counts. */
export interface GivenState {
  readonly events?: readonly GivenEvent[];
  /** Of records that became no event, or of the input as a whole. */
  readonly problems?: readonly GivenProblem[];
  readonly survey?: Partial<SurveySnapshot>;
  readonly summary?: Partial<Summary>;
  readonly mapping?: Documents['mapping'];
  readonly inputs?: Documents['inputs'];
  readonly migration?: { readonly name?: string; readonly base_url?: string; readonly created_at?: string };
  /** Without any, there is no checkpoint. */
  readonly runs?: readonly {
    readonly at: string;
    readonly answers: readonly GivenAnswer[];
    readonly waits?: Partial<RunWait> & Pick<RunWait, 'reason' | 'since'>;
  }[];
  /** Since when a process holds the lock. */
  readonly holder?: string;
}

/** A state directory that goes with the test. A plan is written if there are events, a survey or a summary. */
export async function stateDirectory(given: GivenState = {}): Promise<StateDir> {
  const state = await StateOf.create(temporaryDirectory());
  if (given.events ?? given.survey ?? given.summary) state.plan.transaction(() => fillPlan(state, given));
  if (given.runs) state.checkpoint.transaction(() => fillCheckpoint(state, given));
  return state.close();
}

const RECORDS = { read: 0, mapped: 0, skipped: 0, unreadable: 0 };

function fillPlan(state: StateOf, { events = [], problems = [], survey, summary, mapping, inputs }: GivenState): void {
  let lastId = 0;
  const placeOf = (at: At = `input.csv:${lastId + 2}`): EventRow => {
    const [, path, sign, number] = /^(.*)([:#])(\d+)$/s.exec(at)!;
    if (!state.has(path!)) state.source(path!, ['id'], path);
    const isLine = sign === ':';
    return { source: path!, line: isLine ? Number(number) : 0, number: Number(number) - (isLine ? 1 : 0), raw: [] };
  };
  for (const { type = 'lead/created', id, times = 1, at, problem, omitted = [], ...given } of events) {
    for (let n = 0; n < times; n += 1) {
      lastId += 1;
      const data = given.state === 'invalid' ? null : {};
      const event = state.event(type, id ?? `r${lastId}`, data, { ...given, ...placeOf(at) });
      if (problem) state.problem(event, problem.code, problem.message ?? '', problem);
      for (const { field, original, code } of omitted) state.omission(event, field, original, '', code);
    }
  }
  for (const { code, message = '', at, ...given } of problems) {
    state.problem(null, code, message, { ...given, ...(at ? { record: state.record(placeOf(at)) } : {}) });
  }
  const common = { migration: 'acme', base_url: 'https://crm.example' };
  storeDocument(state.plan, 'survey', {
    ...common,
    mapping: 'acme.yaml',
    at: AT,
    rate: { requests: 100, seconds: 60 },
    options: [],
    ...survey,
  });
  if (summary) storeDocument(state.plan, 'summary', { ...SUMMARY, ...common, records: RECORDS, ...summary });
  if (mapping) storeDocument(state.plan, 'mapping', mapping);
  if (inputs) storeDocument(state.plan, 'inputs', inputs);
}

/** Of a run that did nothing. */
const ending = { code: 0, reason: 'done' } as const;
const NOTHING = notStarted({ dryRun: false, startedAt: new Date(AT), began: 0, ending });
const SUMMARY: Summary = {
  ...NOTHING,
  finished_at: AT,
  this_run: { ...NOTHING.this_run, seconds: 0 },
};

function fillCheckpoint(state: StateOf, { migration = {}, runs = [], holder }: GivenState): void {
  state.belongsTo(migration.name ?? 'acme', migration.base_url ?? 'https://crm.example', { at: migration.created_at });
  let lastId = 0;
  if (holder !== undefined) state.checkpoint.run("insert into holder values (1, 1, 'here', ?, 'run')", holder);
  for (const [index, { at, answers, waits }] of runs.entries()) {
    state.run(at);
    if (waits) noteWait(state.checkpoint, { because: null, next_at: null, gives_up_at: null, ...waits });
    for (const { type = 'lead/created', id, ...given } of answers) {
      lastId += 1;
      state.request(type, id ?? `r${lastId}`, {}, { ...given, run: index + 1 });
    }
  }
}
