/** State directories for tests of what reads them: the two databases with the rows that a test gives. */
import { randomUUID } from 'node:crypto';
import { contentSha } from '../src/identity.ts';
import { canonicalJson, type JsonObject } from '../src/json.ts';
import { entityOf, type EventType } from '../src/model.ts';
import type { StoredAccount } from '../src/service/account.ts';
import { StateDir } from '../src/state-dir.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from '../src/store/checkpoint-schema.ts';
import { FieldHasher } from '../src/store/field-hashes.ts';
import { COUNTING_INDEX, PLAN, PLAN_FILE, PLAN_INDEXES } from '../src/store/plan-schema.ts';
import { Database } from '../src/store/sqlite.ts';

/** When everything happened. */
export const AT = '2026-01-31T12:00:00.000Z';

interface GivenEvent {
  readonly state?: string;
  /** The values of the record; `data` if absent. A list belongs to the columns of its source. */
  readonly raw?: JsonObject | readonly string[] | null;
  readonly source?: string;
  readonly line?: number;
  readonly parent?: readonly [entity: 'lead' | 'deal', externalId: string];
  readonly isChange?: boolean;
  readonly occurredAt?: string;
  /** The id of the event and the hash of its content, where two events shall share them. */
  readonly eventId?: string;
}

interface GivenRequest {
  readonly origin?: 'input' | 'second' | 'change' | 'read';
  readonly status?: 'open' | 'acknowledged' | 'rejected';
  readonly hadNoEffect?: boolean;
  readonly outcome?: string | null;
  readonly serviceId?: string | null;
  readonly code?: string;
  readonly forType?: EventType;
  /** The content of the event that it stands for, if it is not that of the request. */
  readonly forData?: JsonObject;
  readonly at?: string;
}

export class StateOf {
  readonly dir: StateDir;
  readonly plan: Database;
  readonly checkpoint: Database;
  readonly hasher = new FieldHasher('0123456789abcdef');
  readonly #files = new Map<string, number>();
  #records = 0;

  private constructor(dir: StateDir) {
    this.dir = dir;
    this.plan = Database.open(dir.file(PLAN_FILE), PLAN);
    this.checkpoint = Database.open(dir.file(CHECKPOINT_FILE), CHECKPOINT);
    this.checkpoint.exec('pragma journal_mode = wal; pragma synchronous = off');
    this.plan.exec('pragma synchronous = off');
  }

  static async create(path: string): Promise<StateOf> {
    return new StateOf(await StateDir.create(path));
  }

  /** The account that the survey read, and to which the checkpoint belongs. */
  account(account: StoredAccount, migration: string): this {
    this.plan.run(`insert into document values ('account', ?)`, JSON.stringify(account));
    const pipelines = JSON.stringify(account.pipelines.map(({ id }) => id));
    const users = JSON.stringify(account.users.map(({ id }) => id));
    const row = 'insert into migration values (1, ?, ?, ?, ?, ?)';
    this.checkpoint.run(row, migration, account.base_url, pipelines, users, AT);
    this.checkpoint.run(`insert into setting values ('field_key', ?)`, this.hasher.key);
    this.checkpoint.run(`insert into run values (1, 'test', '', '[]', ?, ?)`, this.hasher.keyId, AT);
    return this;
  }

  /** A table with these columns in `<name>.csv`, or without columns JSON records in `<name>.json`. */
  source(name: string, columns: readonly string[] = []): this {
    const kind = columns.length > 0 ? 'table' : 'tree';
    const path = `${name}.${kind === 'table' ? 'csv' : 'json'}`;
    const source = this.plan.insert(
      'insert into source (name, kind, columns) values (?, ?, ?)',
      name,
      kind,
      JSON.stringify(columns),
    );
    this.#files.set(name, this.plan.insert('insert into file (source, path) values (?, ?)', source, path));
    return this;
  }

  /** Returns the id of its row. `data`: null if it is invalid. */
  event(type: EventType, id: string | null, data: JsonObject | null, given: GivenEvent = {}): number {
    const { state = 'acknowledged', source = [...this.#files.keys()][0]!, raw = data, parent } = given;
    this.#records += 1;
    const record = this.plan.insert(
      'insert into record (file, line, number, raw) values (?, ?, ?, ?)',
      this.#files.get(source)!,
      given.line ?? this.#records + 1,
      this.#records,
      raw === null ? null : JSON.stringify(raw),
    );
    const text = data === null ? null : canonicalJson({ ...(id === null ? {} : { external_id: id }), ...data });
    return this.plan.insert(
      `insert into event (event_id, type, entity, external_id, record, entry, occurred_at, data, content, parent_entity,
        parent_id, state, is_change) values (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`,
      given.eventId ?? randomUUID(),
      type,
      entityOf(type),
      id,
      record,
      given.occurredAt ?? null,
      text,
      text === null ? null : contentSha(text),
      parent?.[0] ?? null,
      parent?.[1] ?? null,
      state,
      given.isChange ? 1 : 0,
    );
  }

  problem(event: number, code: string, message: string, { kind = 'map', field = '', hint = '' } = {}): void {
    this.plan.run(
      `insert into problem (event, record, kind, code, severity, field, message, hint, at)
        select id, record, ?, ?, 'error', ?, ?, ?, ? from event where id = ?`,
      kind,
      code,
      field,
      message,
      hint === '' ? null : hint,
      AT,
      event,
    );
  }

  omission(event: number, field: string, original: string, reason: string): void {
    this.plan.run(
      `insert into omission (event, record, field, original, code, reason)
        select id, record, ?, ?, 'bad_value', ? from event where id = ?`,
      field,
      original,
      reason,
      event,
    );
  }

  /** An acknowledged event of the input, unless `given` says more. Returns its id. */
  request(type: EventType, id: string, data: JsonObject, given: GivenRequest = {}): string {
    const { origin = 'input', status = 'acknowledged', forType = type, forData = data } = given;
    const isApplied = status === 'acknowledged';
    const eventId = randomUUID();
    this.checkpoint.run(
      `insert into request (id, run, origin, type, entity, external_id, for_id, for_type, content, fields, status,
        had_no_effect, outcome, service_id, code, attempts, sent_at, settled_at)
        values (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)`,
      eventId,
      origin,
      type,
      entityOf(type),
      id,
      origin === 'input' ? eventId : 'the event of the input',
      forType,
      contentSha(canonicalJson({ external_id: id, ...forData })),
      JSON.stringify(this.hasher.hashesOf(data)),
      status,
      given.hadNoEffect ? 1 : 0,
      given.outcome === undefined ? (isApplied ? 'created' : null) : given.outcome,
      given.serviceId ?? null,
      given.code ?? null,
      given.at ?? AT,
      status === 'open' ? null : (given.at ?? AT),
    );
    return eventId;
  }

  /** Completes the plan as a survey does. */
  close(): StateDir {
    this.plan.exec(PLAN_INDEXES + COUNTING_INDEX);
    this.plan.close();
    this.checkpoint.close();
    return this.dir;
  }
}
