/** What the checkpoint gets of requests: committed before each goes out, and again when it was answered. */
import type { Known } from '../core/known.ts';
import type { EventType } from '../model.ts';
import { writeRecord, type Ended, type RecordKey } from '../plan/known/records.ts';
import type { WantedEvent } from '../plan/known/wanted.ts';
import type { Account } from '../service/account.ts';
import type { FileDigest } from '../input/source.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import { TOOL } from '../version.ts';
import type { Delivered, Delivery } from './delivery.ts';

export interface RunStart {
  readonly migration: string;
  readonly baseUrl: string;
  readonly account: Account;
  readonly mappingSha256: string;
  readonly inputs: readonly FileDigest[];
  /** `--adopt`: another checkpoint of this migration was lost. */
  readonly isAdopted: boolean;
}

/** The record of an event that is being sent. */
export interface RecordOf extends RecordKey {
  /** Of the event. */
  readonly type: EventType;
  readonly wanted: WantedEvent;
}

export class SendLog {
  readonly #db: Database;
  readonly #hasher: FieldHasher;
  #run = 0;

  constructor(db: Database, hasher: FieldHasher) {
    this.#db = db;
    this.#hasher = hasher;
  }

  /** Binds a new checkpoint to the account and adds the run. In a transaction of the caller. */
  begin({ migration, baseUrl, account, mappingSha256, inputs, isAdopted }: RunStart): void {
    const db = this.#db;
    const now = new Date().toISOString();
    const [pipelines, users] = [account.pipelines, account.users].map((all) => JSON.stringify(all.map(({ id }) => id)));
    db.run(
      `insert or ignore into checkpoint.migration (id, name, base_url, pipeline_ids, user_ids, created_at)
       values (1, ?, ?, ?, ?, ?)`,
      ...[migration, baseUrl, pipelines!, users!, now],
    );
    if (isAdopted) db.run('update checkpoint.migration set is_adopted = 1');
    const run = { tool: TOOL, mapping_sha256: mappingSha256, field_key: this.#hasher.keyId, at: now };
    this.#run = db.add('checkpoint.run', { ...run, inputs: JSON.stringify(inputs) });
  }

  /** Whether an earlier checkpoint of this migration was lost: what is deduplicated may have been sent by it. */
  get isAdopted(): boolean {
    return this.#db.get('select 1 from checkpoint.migration where is_adopted = 1') !== undefined;
  }

  /** Before the request goes out. `known`: what is known of its record from now on. In a transaction of the caller. */
  opened(record: RecordOf, known: Known, { id, type }: Delivery): void {
    writeRecord(this.#db, this.#hasher, record, known, { ...record.wanted, type: record.type });
    this.#db.run(
      `insert into checkpoint.request (id, run, type, entity, external_id, status, sent_at) values (?, ?, ?, ?, ?, 'open', ?)
       on conflict (entity, external_id, id) do update set status = 'open', run = excluded.run, sent_at = excluded.sent_at, settled_at = null,
         outcome = null, code = null`,
      ...[id, this.#run, type, record.entity, record.external_id, new Date().toISOString()],
    );
  }

  /** When it was answered, or was given up. `ended`: if that ends its event. In a transaction of the caller. */
  answered(record: RecordOf, known: Known, { id }: Delivery, answer: Delivered, ended: Ended | undefined): void {
    writeRecord(this.#db, this.#hasher, record, known, { ...record.wanted, type: record.type }, ended);
    const isAcknowledged = answer.kind === 'acknowledged';
    const wasNotProcessed = answer.kind === 'refused' || (answer.kind === 'pending' && answer.hadNoEffect);
    const code =
      answer.kind === 'pending' ? null : isAcknowledged ? (answer.deduplicated ? 'deduplicated' : null) : answer.code;
    this.#db.run(
      `update checkpoint.request set status = ?, outcome = ?, service_id = ?, code = ?, attempts = attempts + ?, settled_at = ?
       where entity = ? and external_id = ? and id = ?`,
      isAcknowledged ? 'acknowledged' : wasNotProcessed ? 'rejected' : 'open',
      ...(isAcknowledged ? [answer.outcome, answer.serviceId] : [null, null]),
      ...[code, answer.attempts, answer.kind === 'pending' ? null : new Date().toISOString()],
      ...[record.entity, record.external_id, id],
    );
  }

  /** An event ended without a request. In a transaction of the caller. */
  ended(record: RecordOf, known: Known, ended: Ended): void {
    writeRecord(this.#db, this.#hasher, record, known, { ...record.wanted, type: record.type }, ended);
  }
}
