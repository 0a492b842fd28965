import type { FieldHashes } from '../identity.ts';
import { ByteColumn, KeyTable, keyWords, Uint32Column, type KeyWords } from '../keys.ts';
import { entityOf, EVENT_TYPES, isUpdate, type Entity, type EventType } from '../model.ts';
import { IF_CHANGED, type SentLine, type SettledLine } from './lines.ts';

const NONE = 0;
const ACKNOWLEDGED = 1;
const REJECTED = 2;
const CLAIMED = 3;

/** Where the last eight digits of a UUID begin. */
const LAST_DIGITS = 28;

/** A power of two; more than are ever in flight together. */
const RECENT = 256;

/** A request whose answer is not recorded. */
interface Unanswered {
  readonly id: string;
  readonly type: EventType;
  readonly key: number;
  /** Of its content. */
  readonly sha: string;
}

/** Where a record's requests without an answer are: the only one among the recent ones, or all of them in the list. */
const RECENTLY = 1;
const LISTED = 2;

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
  readonly #updateId = new ShaColumn(LAST_DIGITS);
  readonly #updateStatus = new ByteColumn();
  #updates = 0;
  readonly #ackedUpdates = new Uint32Column();
  /** Contents that `if_changed` sent since; few. */
  readonly #sinceCreated = new Map<number, string>();
  /** Per key; 0 where there are none. */
  readonly #whereUnanswered = new ByteColumn();
  readonly #unanswered = new Map<number, readonly Unanswered[]>();
  /**
   * The requests sent last, by a hash of their ids. Nearly every answer follows soon: it is found here, with its key, and
   * the list is left alone.
   */
  readonly #recent = new Array<Unanswered | undefined>(RECENT).fill(undefined);
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

  sent(line: SentLine): void {
    const { id, type } = line;
    const key = this.keyOf(type, line.external_id, id);
    const send = { id, type, key, sha: line.content_sha };
    if (this.#whereUnanswered.get(key) === NONE) {
      const place = placeOf(id);
      const earlier = this.#recent[place];
      if (earlier) this.#list(earlier);
      this.#recent[place] = send;
      this.#whereUnanswered.set(key, RECENTLY);
    } else {
      this.#listRecent(key);
      this.#list(send);
    }
  }

  settle(line: SettledLine): void {
    const { id } = line;
    const place = placeOf(id);
    const send = this.#recent[place];
    let key: number;
    if (send && send.id === id && send.type === line.type) {
      key = send.key;
      this.#recent[place] = undefined;
      this.#whereUnanswered.set(key, NONE);
    } else {
      key = this.keyOf(line.type, line.external_id, id);
      if (this.#whereUnanswered.get(key) !== NONE) this.#answered(key, line, id);
    }
    this.settled += 1;
    if (line.code === IF_CHANGED) this.#settleSinceCreated(key, line);
    else if (isUpdate(line.type)) this.#settleUpdate(key, line, id);
    else this.#settleCreated(key, line);
  }

  created(key: number): 'none' | 'acknowledged' | 'rejected' {
    const status = this.#created.get(key);
    return status === ACKNOWLEDGED ? 'acknowledged' : status === REJECTED ? 'rejected' : 'none';
  }

  /** Whether the record's created event, or what `if_changed` sent after it, had this content. */
  hasContent(key: number, sha: string): boolean {
    const since = this.#sinceCreated.get(key);
    return since === undefined ? this.#createdSha.equals(key, sha) : since === sha;
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
    const update = this.#findUpdate(key, sha, ACKNOWLEDGED);
    if (update < 0) return false;
    this.#updateStatus.set(update, CLAIMED);
    return true;
  }

  rejectedUpdate(key: number, sha: string): boolean {
    return this.#findUpdate(key, sha, REJECTED) >= 0;
  }

  /** The contents of requests whose answers were never recorded. */
  unansweredShas(type: EventType, key: number): readonly string[] {
    return this.#unansweredOf(type, key).map(({ sha }) => sha);
  }

  /** Whether an update of this event id was acknowledged; not for those that `if_changed` added. */
  isAcknowledged(key: number, id: string): boolean {
    for (let link = this.#newest.get(key); link !== NONE; link = this.#next.get(link - 1)) {
      if (this.#updateStatus.get(link - 1) !== REJECTED && this.#updateId.equals(link - 1, id)) return true;
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
    this.#listRecent(key);
    return this.#unanswered.get(sendKey(type, key)) ?? [];
  }

  /** Sees to it that a record has no request among the recent ones. */
  #listRecent(key: number): void {
    if (this.#whereUnanswered.get(key) !== RECENTLY) return;
    const place = this.#recent.findIndex((send) => send?.key === key);
    this.#list(this.#recent[place]!);
    this.#recent[place] = undefined;
  }

  /** As the last of its record. */
  #list(send: Unanswered): void {
    const record = sendKey(send.type, send.key);
    const earlier = this.#unanswered.get(record);
    this.#unanswered.set(record, earlier ? [...earlier.filter(({ id }) => id !== send.id), send] : [send]);
    this.#whereUnanswered.set(send.key, LISTED);
  }

  /** An acknowledgement tells what the record holds; a rejection only what one request did not do. */
  #answered(key: number, line: SettledLine, id: string): void {
    this.#listRecent(key);
    const record = sendKey(line.type, key);
    const sends = this.#unanswered.get(record);
    if (!sends) return;
    const isOnly = sends.length === 1 && sends[0]!.id === id;
    const others = isOnly ? [] : sends.filter((send) => send.id !== id);
    if (others.length > 0 && line.status === 'rejected') this.#unanswered.set(record, others);
    else this.#unanswered.delete(record);
    if (others.length === 0 || line.status === 'rejected' || !isUpdate(line.type)) return;
    this.#overtaken.set(key, [...(this.#overtaken.get(key) ?? []), ...others.map((send) => send.id)]);
  }

  #settleCreated(key: number, line: SettledLine): void {
    const acknowledged = line.status === 'acknowledged';
    if (this.#created.get(key) === ACKNOWLEDGED) return;
    if (acknowledged) this.acknowledged += 1;
    this.#created.set(key, acknowledged ? ACKNOWLEDGED : REJECTED);
    this.#createdSha.set(key, line.content_sha);
    if (acknowledged) this.#fields?.set(key, line.fields);
  }

  #settleSinceCreated(key: number, line: SettledLine): void {
    if (line.status !== 'acknowledged') return;
    this.#sinceCreated.set(key, line.content_sha);
    this.#ackedUpdates.set(key, this.#ackedUpdates.get(key) + 1);
    this.#fields?.set(key, { ...this.#fields.get(key), ...line.fields });
  }

  #settleUpdate(key: number, line: SettledLine, id: string): void {
    const acknowledged = line.status === 'acknowledged';
    let update = this.#findUpdate(key, line.content_sha, REJECTED);
    if (update < 0) {
      update = this.#updates;
      this.#updates += 1;
      this.#updateSha.set(update, line.content_sha);
      this.#next.set(update, this.#newest.get(key));
      this.#newest.set(key, update + 1);
    }
    this.#updateId.set(update, id);
    this.#updateStatus.set(update, acknowledged ? ACKNOWLEDGED : REJECTED);
    if (!acknowledged) return;
    this.acknowledged += 1;
    this.#ackedUpdates.set(key, this.#ackedUpdates.get(key) + 1);
  }

  #findUpdate(key: number, sha: string, status: number): number {
    for (let link = this.#newest.get(key); link !== NONE; link = this.#next.get(link - 1)) {
      if (this.#updateStatus.get(link - 1) === status && this.#updateSha.equals(link - 1, sha)) return link - 1;
    }
    return -1;
  }
}

/** 64 bits of a content hash, or of an id, per number: they are only ever compared within one record. */
export class ShaColumn {
  readonly #words = new Uint32Column();
  readonly #second: number;

  /** The first eight digits count, and eight from here. */
  constructor(second = 8) {
    this.#second = second;
  }

  set(index: number, sha: string): void {
    this.#words.set(index * 2, hexWord(sha, 0));
    this.#words.set(index * 2 + 1, hexWord(sha, this.#second));
  }

  equals(index: number, sha: string): boolean {
    return (
      this.#words.get(index * 2) === hexWord(sha, 0) && this.#words.get(index * 2 + 1) === hexWord(sha, this.#second)
    );
  }
}

/** Eight digits of lower-case hexadecimal as a number. */
function hexWord(text: string, from: number): number {
  let word = 0;
  for (let at = from; at < from + 8; at += 1) {
    const code = text.charCodeAt(at);
    word = (word << 4) | (code - (code < 0x61 ? 0x30 : 0x57));
  }
  return word >>> 0;
}

function recordKey(type: EventType, externalId: string | null, id: string): KeyWords {
  return externalId === null ? keyWords(`event:${id}`) : recordWords(entityOf(type), externalId);
}

/** The key of a record; one letter leaves the most room for the id (see `keyWords`). */
export function recordWords(entity: Entity, externalId: string): KeyWords {
  return keyWords(entity[0]! + externalId);
}

/** Any will do that differs for most ids; they are UUIDs. */
function placeOf(id: string): number {
  return (id.charCodeAt(2) * 7 + id.charCodeAt(4) * 31 + id.charCodeAt(6) * 127) & (RECENT - 1);
}

function sendKey(type: EventType, key: number): number {
  return key * EVENT_TYPES.length + EVENT_TYPES.indexOf(type);
}
