import type { Outcome } from '../model.ts';
import { entityOf, type EventType, type Sendable } from '../model.ts';
import type { Account } from '../service/account.ts';
import { INGEST_CODES } from '../service/contract.ts';
import type { FileDigest } from '../source/source.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import { TOOL } from '../version.ts';
import type { Delivery } from './delivery.ts';

/** What a record that exists already is refused with. */
const EXISTS: ReadonlySet<string> = new Set([INGEST_CODES.alreadyExists, 'http_409']);

export interface RunStart {
  readonly migration: string;
  readonly baseUrl: string;
  readonly account: Account;
  readonly mappingSha256: string;
  readonly inputs: readonly FileDigest[];
}

/** What the checkpoint has of requests: written before each goes out, and settled when it was answered. */
export class Requests {
  readonly #db: Database;
  readonly #hasher: FieldHasher;
  #run = 0;

  constructor(db: Database, hasher: FieldHasher) {
    this.#db = db;
    this.#hasher = hasher;
  }

  /** Binds a new checkpoint to the account, adds the run, and remembers what the survey read back. In one transaction. */
  begin({ migration, baseUrl, account, mappingSha256, inputs }: RunStart): void {
    const db = this.#db;
    const now = new Date().toISOString();
    db.run(
      `insert or ignore into checkpoint.migration (id, name, base_url, pipeline_ids, user_ids, created_at)
       values (1, ?, ?, ?, ?, ?)`,
      migration,
      baseUrl,
      JSON.stringify(account.pipelines.map(({ id }) => id)),
      JSON.stringify(account.users.map(({ id }) => id)),
      now,
    );
    this.#run = db.insert(
      'insert into checkpoint.run (tool, mapping_sha256, inputs, field_key, at) values (?, ?, ?, ?, ?)',
      TOOL,
      mappingSha256,
      JSON.stringify(inputs),
      this.#hasher.keyId,
      now,
    );
    db.run(
      `insert into checkpoint.request (id, run, origin, type, entity, external_id, for_id, for_type, content, fields,
         status, service_id, sent_at, settled_at)
       select lower(hex(randomblob(16))), ?, 'read', type, entity, external_id, event_id, type, content, fields,
         'acknowledged', service_id, ?, ? from reading`,
      this.#run,
      now,
      now,
    );
  }

  /**
   * Adds the request that is about to be sent, or says that it goes out once more. One that may have arrived keeps its place
   * among the requests about its record, and what it may have set; one that was refused or skipped has had no effect. Returns
   * whether it may have arrived before.
   */
  opened({ event, second }: Delivery, { id, type, ready }: { id: string; type: EventType; ready: Sendable }): boolean {
    const isSecond = id === second?.id;
    // An earlier request that is asked for is in the checkpoint already.
    if (id !== event.eventId && !isSecond) return true;
    const mayHaveArrived = this.#db.get(
      `select 1 from checkpoint.request where id = ? and had_no_effect = 0 and status <> 'acknowledged'`,
      id,
    );
    const origin = event.isChange ? 'change' : isSecond ? 'second' : 'input';
    this.#db.run(
      `insert into checkpoint.request (id, run, origin, type, entity, external_id, for_id, for_type, content, fields,
         status, sent_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)
       on conflict (id) do update set status = 'open', run = excluded.run, sent_at = excluded.sent_at,
         settled_at = null, outcome = null, code = null, had_no_effect = 0,
         n = case when had_no_effect = 1 or status = 'acknowledged' then (select max(n) + 1 from checkpoint.request) else n end,
         fields = case when had_no_effect = 1 or status = 'acknowledged'
             or (select field_key from checkpoint.run where id = request.run) <> ? then excluded.fields
           else json_patch(fields, excluded.fields) end`,
      id,
      this.#run,
      origin,
      type,
      entityOf(type),
      event.externalId ?? null,
      event.eventId,
      event.isChange ? type : event.type,
      event.sha,
      entityOf(type) === 'comment' ? '{}' : JSON.stringify(this.#hasher.hashesOf(ready.data)),
      new Date().toISOString(),
      this.#hasher.keyId,
    );
    if (isSecond) this.#refused(event.eventId, 'second_request');
    return mayHaveArrived !== undefined;
  }

  /** Nothing that was sent under this id has reached the service, or all of it was refused: it is sent again as if for the first time. */
  hadNoEffect(id: string): void {
    this.#db.run('update checkpoint.request set had_no_effect = 1 where id = ?', id);
  }

  /** Records an outcome under the id of the request that had it. An update that was skipped for want of a record has set nothing. */
  settled({ event }: Delivery, id: string, outcome: Exclude<Outcome, { status: 'pending' }>): void {
    const isAcknowledged = outcome.status === 'acknowledged';
    this.#db.run(
      `update checkpoint.request set status = ?, outcome = ?, service_id = ?, code = ?, attempts = attempts + ?,
         had_no_effect = ?, settled_at = ? where id = ?`,
      outcome.status,
      isAcknowledged ? outcome.outcome : null,
      isAcknowledged && outcome.entityId !== '' ? outcome.entityId : null,
      outcome.code ?? (event.isChange ? 'if_changed' : null),
      outcome.attempts,
      Number(isAcknowledged ? outcome.code === INGEST_CODES.notFound : outcome.refused === true),
      new Date().toISOString(),
      id,
    );
    // There is no such record, so no earlier update of it without an answer can have set anything.
    if (outcome.code === INGEST_CODES.notFound && event.externalId !== undefined) {
      this.#db.run(
        `update checkpoint.request set had_no_effect = 1
         where entity = ? and external_id = ? and type = ? and status <> 'acknowledged'`,
        entityOf(event.type),
        event.externalId,
        event.type,
      );
    }
    const isDefinite = isAcknowledged || outcome.refused === true;
    if (!isDefinite || event.isChange) return;
    if (id !== event.eventId) this.#refused(event.eventId, 'already_exists');
    if (!event.type.endsWith('/created') || event.externalId === undefined) return;
    // Of several requests to create a record only one can have had an effect. The service has just said which, or, of a record
    // that exists already, that none of them has. Another refusal says nothing about the others.
    if (!isAcknowledged && !EXISTS.has(outcome.code)) return;
    this.#db.run(
      `update checkpoint.request set status = 'rejected', had_no_effect = 1, settled_at = ?
       where entity = ? and external_id = ? and type = ? and id <> ? and status <> 'acknowledged' and had_no_effect = 0`,
      new Date().toISOString(),
      entityOf(event.type),
      event.externalId,
      event.type,
      id,
    );
  }

  /** A request that was refused, so that another one is sent in its place. */
  #refused(id: string, code: string): void {
    this.#db.run(
      `update checkpoint.request set status = 'rejected', had_no_effect = 1, code = ?, settled_at = ?
       where id = ? and status = 'open'`,
      code,
      new Date().toISOString(),
      id,
    );
  }
}
