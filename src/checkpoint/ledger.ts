import { ByteColumn, ShaColumn, Uint32Column } from '../columns.ts';
import { shaWords, type ShaWords } from '../identity.ts';
import { entityOf, EVENT_TYPES, isUpdate, type EventType } from '../model.ts';
import type { FieldHashes } from './field-hashes.ts';
import { IF_CHANGED, type ComparedLine, type SentLine, type SettledLine } from './lines.ts';
import { RecordNumbers } from './record-numbers.ts';

const NONE = 0;
const ACKNOWLEDGED = 1;
const REJECTED = 2;
/** An acknowledged update that an update in the input has been matched with. */
const CLAIMED = 3;
/** An acknowledged update that `if_changed` made: no update in the input is matched with it. */
const MADE = 4;

/** A request whose answer is not recorded: its id, and the hash of its content. */
export interface PendingSend {
  readonly id: string;
  readonly sha: string;
}

/**
 * The checkpoint in memory: what was acknowledged or rejected about each record, and a hash of its content; no field
 * values. Keys are numbers of `records`, which the plan shares.
 */
export class Ledger {
  readonly records = new RecordNumbers();
  /** Acknowledged events of the input, without updates that `if_changed` made. */
  acknowledged = 0;
  settled = 0;

  readonly #created = new ByteColumn();
  readonly #createdSha = new ShaColumn();
  /** Per key the number of its newest update + 1; `#previous` links it to the one before, in the same way. */
  readonly #newest = new Uint32Column();
  readonly #previous = new Uint32Column();
  readonly #updateSha = new ShaColumn();
  readonly #updateId = new ShaColumn();
  readonly #updateStatus = new ByteColumn();
  #updates = 0;
  /** Content that `if_changed` sent or found last; few. */
  readonly #sinceCreated = new Map<number, string>();
  /** Requests without a recorded answer, by `sendKey`. */
  readonly #pendingSends = new Map<number, readonly PendingSend[]>();
  readonly #fields: Map<number, FieldHashes> | undefined;

  /** `keepFields`: only needed if a mapping's `if_changed` lists fields. */
  constructor({ keepFields }: { keepFields: boolean }) {
    this.#fields = keepFields ? new Map() : undefined;
  }

  /** The number of the record an event is about; an event without external id is identified by its own id. */
  keyOf(type: EventType, externalId: string | null, id: string): number {
    return externalId === null ? this.records.internEvent(id) : this.records.intern(entityOf(type), externalId);
  }

  sent({ id, type, external_id, content_sha: sha }: SentLine): void {
    const send = sendKey(type, this.keyOf(type, external_id, id));
    const others = this.#pendingSends.get(send)?.filter((other) => other.id !== id) ?? [];
    this.#pendingSends.set(send, [...others, { id, sha }]);
  }

  settle(line: SettledLine): void {
    const key = this.keyOf(line.type, line.external_id, line.id);
    this.settled += 1;
    this.#removePending(key, line);
    if (line.code === IF_CHANGED) this.#settleSinceCreated(key, line);
    else if (isUpdate(line.type)) this.#settleUpdate(key, line);
    else this.#settleCreated(key, line);
  }

  compared({ type, external_id, content_sha: sha }: ComparedLine): void {
    this.#sinceCreated.set(this.records.intern(entityOf(type), external_id), sha);
  }

  created(key: number): 'none' | 'acknowledged' | 'rejected' {
    const status = this.#created.get(key);
    return status === ACKNOWLEDGED ? 'acknowledged' : status === REJECTED ? 'rejected' : 'none';
  }

  /** Whether the record's created event, or what `if_changed` sent or found after it, had this content. */
  hasContent(key: number, sha: string): boolean {
    const since = this.#sinceCreated.get(key);
    return since === undefined ? this.#createdSha.equals(key, shaWords(sha)) : since === sha;
  }

  /** Hashes per field as last sent; undefined unless fields are kept. */
  fields(key: number): FieldHashes | undefined {
    return this.#fields?.get(key);
  }

  /** Acknowledged updates of the record, including those that `if_changed` made. */
  acknowledgedUpdates(key: number): number {
    return this.#countUpdates(key, isAcknowledged);
  }

  /** The same, of this content only. */
  acknowledgedUpdatesOf(key: number, sha: string): number {
    const words = shaWords(sha);
    return this.#countUpdates(key, (status, update) => isAcknowledged(status) && this.#updateSha.equals(update, words));
  }

  /** Takes one acknowledged update of this content, each only once; false if there is none (left). */
  claimUpdate(key: number, sha: string): boolean {
    const update = this.#findUpdate(key, sha, ACKNOWLEDGED);
    if (update === undefined) return false;
    this.#updateStatus.set(update, CLAIMED);
    return true;
  }

  /** The same, of any content. */
  claimAnyUpdate(key: number): boolean {
    for (const update of this.#updatesOf(key)) {
      if (this.#updateStatus.get(update) !== ACKNOWLEDGED) continue;
      this.#updateStatus.set(update, CLAIMED);
      return true;
    }
    return false;
  }

  /** Whether the update with this id was acknowledged. */
  hasAcknowledgedUpdate(key: number, id: string): boolean {
    const words = idWords(id);
    return (
      this.#countUpdates(key, (status, update) => isAcknowledged(status) && this.#updateId.equals(update, words)) > 0
    );
  }

  /** Whether an update of the record was sent before, whatever became of it. */
  hasSentUpdate(type: EventType, key: number): boolean {
    return this.#newest.get(key) !== NONE || this.#pendingSends.has(sendKey(type, key));
  }

  /**
   * Whether an update of this content was sent but not acknowledged: it may have arrived all the same. Requests without a
   * recorded answer whose ids `isOther` says to be those of other updates do not count.
   */
  mayHaveArrived(type: EventType, key: number, sha: ShaWords, isOther: (id: string) => boolean): boolean {
    const isSame = (status: number, update: number) => status === REJECTED && this.#updateSha.equals(update, sha);
    if (this.#countUpdates(key, isSame) > 0) return true;
    const pending = this.#pendingSends.get(sendKey(type, key)) ?? [];
    return pending.some((send) => {
      const [first, second] = shaWords(send.sha);
      return first === sha[0] && second === sha[1] && !isOther(send.id);
    });
  }

  /** Whether an update of other content than these was sent but not acknowledged: it may have arrived all the same. */
  mayHaveArrivedOther(type: EventType, key: number, known: readonly ShaWords[]): boolean {
    const isOther = ([first, second]: ShaWords): boolean => !known.some((sha) => sha[0] === first && sha[1] === second);
    const isOpen = (status: number, update: number): boolean =>
      status === REJECTED && isOther(this.#updateSha.get(update));
    return this.#countUpdates(key, isOpen) > 0 || this.unanswered(type, key).some(({ sha }) => isOther(shaWords(sha)));
  }

  rejectedUpdate(key: number, sha: string): boolean {
    return this.#findUpdate(key, sha, REJECTED) !== undefined;
  }

  /** Requests whose answers were never recorded. */
  unanswered(type: EventType, key: number): readonly PendingSend[] {
    return this.#pendingSends.get(sendKey(type, key)) ?? [];
  }

  /** An acknowledgement shows the content of the record; a rejection only shows what one request did not do. */
  #removePending(key: number, { type, id, status }: SettledLine): void {
    const send = sendKey(type, key);
    const others = this.#pendingSends.get(send)?.filter((other) => other.id !== id);
    if (others === undefined) return;
    if (others.length > 0 && status === 'rejected') this.#pendingSends.set(send, others);
    else this.#pendingSends.delete(send);
  }

  #settleCreated(key: number, { status, content_sha: sha, fields }: SettledLine): void {
    if (this.#created.get(key) === ACKNOWLEDGED) return;
    this.#createdSha.set(key, shaWords(sha));
    this.#created.set(key, status === 'acknowledged' ? ACKNOWLEDGED : REJECTED);
    if (status !== 'acknowledged') return;
    this.acknowledged += 1;
    this.#fields?.set(key, fields);
  }

  #settleUpdate(key: number, { id, status, content_sha: sha }: SettledLine): void {
    const update = this.#findUpdate(key, sha, REJECTED) ?? this.#addUpdate(key, sha);
    this.#updateId.set(update, idWords(id));
    this.#updateStatus.set(update, status === 'acknowledged' ? ACKNOWLEDGED : REJECTED);
    if (status === 'acknowledged') this.acknowledged += 1;
  }

  #settleSinceCreated(key: number, { status, content_sha: sha, fields }: SettledLine): void {
    if (status !== 'acknowledged') return;
    this.#sinceCreated.set(key, sha);
    this.#updateStatus.set(this.#addUpdate(key, sha), MADE);
    this.#fields?.set(key, { ...this.#fields.get(key), ...fields });
  }

  #addUpdate(key: number, sha: string): number {
    const update = this.#updates;
    this.#updates += 1;
    this.#updateSha.set(update, shaWords(sha));
    this.#previous.set(update, this.#newest.get(key));
    this.#newest.set(key, update + 1);
    return update;
  }

  #findUpdate(key: number, sha: string, status: number): number | undefined {
    const words = shaWords(sha);
    for (const update of this.#updatesOf(key)) {
      if (this.#updateStatus.get(update) === status && this.#updateSha.equals(update, words)) return update;
    }
    return undefined;
  }

  #countUpdates(key: number, counts: (status: number, update: number) => boolean): number {
    let count = 0;
    for (const update of this.#updatesOf(key)) if (counts(this.#updateStatus.get(update), update)) count += 1;
    return count;
  }

  /** Newest first. */
  *#updatesOf(key: number): Generator<number, void, undefined> {
    for (let link = this.#newest.get(key); link !== NONE; link = this.#previous.get(link - 1)) yield link - 1;
  }
}

function isAcknowledged(status: number): boolean {
  return status === ACKNOWLEDGED || status === CLAIMED || status === MADE;
}

/** 60 bits of an event id: without the digit that is the version of UUIDs. */
function idWords(id: string): ShaWords {
  return [Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(9, 13) + id.slice(15, 18), 16)];
}

function sendKey(type: EventType, key: number): number {
  return key * EVENT_TYPES.length + EVENT_TYPES.indexOf(type);
}
