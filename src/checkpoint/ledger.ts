import type { FieldHashes } from '../identity.ts';
import { ByteColumn, KeyTable, keyWords, Uint32Column, type KeyWords } from '../keys.ts';
import { entityOf, EVENT_TYPES, isUpdate, type Entity, type EventType } from '../model.ts';
import { IF_CHANGED, type SentLine, type SettledLine } from './lines.ts';

const NONE = 0;
const ACKNOWLEDGED = 1;
const REJECTED = 2;
const CLAIMED = 3;

/** Where the last eight digits of a UUID begin. */
export const LAST_DIGITS = 28;

/** 64 bits of a content hash, or of an id: they are only ever compared within one record. */
export type ShaWords = readonly [first: number, second: number];

/** What is kept of a settled line that no other line about its record bears upon. */
export interface Settled {
  readonly isUpdate: boolean;
  readonly isAcknowledged: boolean;
  /** Of its content. */
  readonly sha: ShaWords;
  readonly id: ShaWords;
}

/** A request whose answer is not recorded. */
interface Unanswered {
  readonly id: string;
  /** Of its content. */
  readonly sha: string;
}

/**
 * The checkpoint in memory: per record what was acknowledged or rejected and a hash of its content; no field values.
 * Keys are numbers of `keys`, which the plan shares.
 */
export class Ledger {
  readonly keys: KeyTable;
  /** Acknowledged events of the mapping, without updates that `if_changed` added. */
  acknowledged = 0;
  settled = 0;
  /** Lines of the file could not be read: what is not here may have been. */
  isDamaged = false;

  readonly #created = new ByteColumn();
  readonly #createdSha = new ShaColumn();
  /** Per key the number of its newest update + 1; updates of one key form a list through `#next`. */
  readonly #newest = new Uint32Column();
  readonly #next = new Uint32Column();
  readonly #updateSha = new ShaColumn();
  readonly #updateId = new ShaColumn();
  readonly #updateStatus = new ByteColumn();
  #updates = 0;
  readonly #ackedUpdates = new Uint32Column();
  /** Contents that `if_changed` sent since; few. */
  readonly #sinceCreated = new Map<number, string>();
  /** Acknowledged updates that `if_changed` sent, by record and content. */
  readonly #derived = new Map<string, number>();
  /** Per key 1 where there was one. */
  readonly #hadUnanswered = new ByteColumn();
  readonly #unanswered = new Map<number, readonly Unanswered[]>();
  /** Per key the ids of updates that had no answer when one that went out later was acknowledged. */
  readonly #overtaken = new Map<number, string[]>();
  readonly #fields: Map<number, FieldHashes> | undefined;

  /** `keepFields`: needed only where a mapping's `if_changed` lists fields. `expected`: about how many records. */
  constructor(options: { keepFields: boolean; expected?: number }) {
    this.keys = new KeyTable(options.expected);
    this.#fields = options.keepFields ? new Map() : undefined;
  }

  /** The number of the record an event is about; an event without external id is known by its own id. */
  keyOf(type: EventType, externalId: string | null, id: string): number {
    return this.keys.intern(recordKey(type, externalId, id));
  }

  sent({ id, type, external_id, content_sha }: SentLine): void {
    const key = this.keyOf(type, external_id, id);
    const others = this.#unansweredOf(type, key).filter((send) => send.id !== id);
    this.#unanswered.set(sendKey(type, key), [...others, { id, sha: content_sha }]);
    this.#hadUnanswered.set(key, 1);
  }

  settle(line: SettledLine): void {
    const { type, id, content_sha: sha } = line;
    const key = this.keyOf(type, line.external_id, id);
    if (this.#hadUnanswered.get(key) !== 0) this.#answered(key, line);
    if (line.code === IF_CHANGED) this.#settleSinceCreated(key, line);
    else {
      const settled = {
        isUpdate: isUpdate(type),
        isAcknowledged: line.status === 'acknowledged',
        sha: shaWords(sha),
        id: idWords(id),
      };
      const isNew = !settled.isUpdate && settled.isAcknowledged && this.#created.get(key) !== ACKNOWLEDGED;
      if (isNew) this.#fields?.set(key, line.fields);
      this.#settle(key, settled);
    }
  }

  /** As `settle`, for nearly every line, but keeps no fields; false where the line itself is needed. */
  settleWords(record: KeyWords, settled: Settled): boolean {
    const key = this.keys.intern(record);
    if (this.#hadUnanswered.get(key) !== 0) return false;
    this.#settle(key, settled);
    return true;
  }

  created(key: number): 'none' | 'acknowledged' | 'rejected' {
    const status = this.#created.get(key);
    return status === ACKNOWLEDGED ? 'acknowledged' : status === REJECTED ? 'rejected' : 'none';
  }

  /** Whether the record's created event, or what `if_changed` sent after it, had this content. */
  hasContent(key: number, sha: string): boolean {
    const since = this.#sinceCreated.get(key);
    return since === undefined ? this.#createdSha.equals(key, shaWords(sha)) : since === sha;
  }

  /** Hashes per field as last sent; undefined unless fields are kept. */
  fields(key: number): FieldHashes | undefined {
    return this.#fields?.get(key);
  }

  acknowledgedUpdates(key: number): number {
    return this.#ackedUpdates.get(key);
  }

  /** Takes one acknowledged update of this content, each only once; false when there is none (left). */
  claimUpdate(key: number, sha: string): boolean {
    const update = this.#findUpdate(key, shaWords(sha), ACKNOWLEDGED);
    if (update < 0) return false;
    this.#updateStatus.set(update, CLAIMED);
    return true;
  }

  rejectedUpdate(key: number, sha: string): boolean {
    return this.#findUpdate(key, shaWords(sha), REJECTED) >= 0;
  }

  /** How many updates with this content were acknowledged, those that `if_changed` sent among them. */
  acknowledgedUpdatesOf(key: number, sha: string): number {
    const words = shaWords(sha);
    let count = this.#derived.get(`${key} ${sha}`) ?? 0;
    for (let link = this.#newest.get(key); link !== NONE; link = this.#next.get(link - 1)) {
      const isAcknowledged = this.#updateStatus.get(link - 1) !== REJECTED;
      if (isAcknowledged && this.#updateSha.equals(link - 1, words)) count += 1;
    }
    return count;
  }

  /** The contents of requests whose answers were never recorded. */
  unansweredShas(type: EventType, key: number): readonly string[] {
    return this.#unansweredOf(type, key).map(({ sha }) => sha);
  }

  /** Whether an update of this event id was acknowledged; not for those that `if_changed` added. */
  isAcknowledged(key: number, id: string): boolean {
    const words = idWords(id);
    for (let link = this.#newest.get(key); link !== NONE; link = this.#next.get(link - 1)) {
      if (this.#updateStatus.get(link - 1) !== REJECTED && this.#updateId.equals(link - 1, words)) return true;
    }
    return false;
  }

  /** The event ids of updates that went out and have no answer here, whatever was acknowledged since. */
  unansweredUpdates(type: EventType, key: number): readonly string[] {
    const last = this.#unansweredOf(type, key);
    const ids = [...(this.#overtaken.get(key) ?? []), ...last.map(({ id }) => id)];
    return ids.filter((id) => !this.isAcknowledged(key, id));
  }

  #unansweredOf(type: EventType, key: number): readonly Unanswered[] {
    return this.#unanswered.get(sendKey(type, key)) ?? [];
  }

  /** An acknowledgement tells what the record holds; a rejection only what one request did not do. */
  #answered(key: number, { type, id, status }: SettledLine): void {
    const record = sendKey(type, key);
    const others = this.#unansweredOf(type, key).filter((send) => send.id !== id);
    if (others.length > 0 && status === 'rejected') this.#unanswered.set(record, others);
    else this.#unanswered.delete(record);
    if (others.length === 0 || status === 'rejected' || !isUpdate(type)) return;
    this.#overtaken.set(key, [...(this.#overtaken.get(key) ?? []), ...others.map((send) => send.id)]);
  }

  #settleSinceCreated(key: number, line: SettledLine): void {
    this.settled += 1;
    if (line.status !== 'acknowledged') return;
    this.#sinceCreated.set(key, line.content_sha);
    const derived = `${key} ${line.content_sha}`;
    this.#derived.set(derived, (this.#derived.get(derived) ?? 0) + 1);
    this.#ackedUpdates.set(key, this.#ackedUpdates.get(key) + 1);
    this.#fields?.set(key, { ...this.#fields.get(key), ...line.fields });
  }

  #settle(key: number, settled: Settled): void {
    this.settled += 1;
    if (settled.isUpdate) this.#settleUpdate(key, settled);
    else this.#settleCreated(key, settled);
  }

  #settleCreated(key: number, { isAcknowledged, sha }: Settled): void {
    if (this.#created.get(key) === ACKNOWLEDGED) return;
    if (isAcknowledged) this.acknowledged += 1;
    this.#created.set(key, isAcknowledged ? ACKNOWLEDGED : REJECTED);
    this.#createdSha.set(key, sha);
  }

  #settleUpdate(key: number, { isAcknowledged, sha, id }: Settled): void {
    let update = this.#findUpdate(key, sha, REJECTED);
    if (update < 0) {
      update = this.#updates;
      this.#updates += 1;
      this.#updateSha.set(update, sha);
      this.#next.set(update, this.#newest.get(key));
      this.#newest.set(key, update + 1);
    }
    this.#updateId.set(update, id);
    this.#updateStatus.set(update, isAcknowledged ? ACKNOWLEDGED : REJECTED);
    if (!isAcknowledged) return;
    this.acknowledged += 1;
    this.#ackedUpdates.set(key, this.#ackedUpdates.get(key) + 1);
  }

  #findUpdate(key: number, sha: ShaWords, status: number): number {
    for (let link = this.#newest.get(key); link !== NONE; link = this.#next.get(link - 1)) {
      if (this.#updateStatus.get(link - 1) === status && this.#updateSha.equals(link - 1, sha)) return link - 1;
    }
    return -1;
  }
}

/** 64 bits of a content hash, or of an id, per number. */
export class ShaColumn {
  readonly #words = new Uint32Column();

  set(index: number, [first, second]: ShaWords): void {
    this.#words.set(index * 2, first);
    this.#words.set(index * 2 + 1, second);
  }

  equals(index: number, [first, second]: ShaWords): boolean {
    return this.#words.get(index * 2) === first >>> 0 && this.#words.get(index * 2 + 1) === second >>> 0;
  }
}

export function shaWords(sha: string): ShaWords {
  return [hexWord(sha, 0), hexWord(sha, 8)];
}

function idWords(id: string): ShaWords {
  return [hexWord(id, 0), hexWord(id, LAST_DIGITS)];
}

/** Eight digits of lower-case hexadecimal as a number. */
function hexWord(text: string, from: number): number {
  let word = 0;
  for (let at = from; at < from + 8; at += 1) {
    const code = text.charCodeAt(at);
    word = (word << 4) | (code - (code < 0x61 ? 0x30 : 0x57));
  }
  return word;
}

export function recordKey(type: EventType, externalId: string | null, id: string): KeyWords {
  return externalId === null ? keyWords(`event:${id}`) : recordWords(entityOf(type), externalId);
}

/** The key of a record; one letter leaves the most room for the id (see `keyWords`). */
export function recordWords(entity: Entity, externalId: string): KeyWords {
  return keyWords(entity[0]! + externalId);
}

function sendKey(type: EventType, key: number): number {
  return key * EVENT_TYPES.length + EVENT_TYPES.indexOf(type);
}
