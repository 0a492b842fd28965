import type { FieldHasher } from '../checkpoint/field-hashes.ts';
import type { Ledger } from '../checkpoint/ledger.ts';
import type { LoadedCheckpoint } from '../checkpoint/load.ts';
import { contentSha, eventId, shaWords } from '../identity.ts';
import { canonicalJson } from '../json.ts';
import type { Policies } from '../mapping/mapping.ts';
import {
  entityOf,
  EVENT_TYPES,
  isUpdate,
  type Entity,
  type EventType,
  type Invalid,
  type Planned,
  type RecordText,
  type Ready,
  type Sendable,
} from '../model.ts';
import { changedFields, updatedTypeOf, updateOf } from './changes.ts';
import { PlanDigest } from './digest.ts';
import { EventTable, FLAG, type IndexEntry, type State } from './event-table.ts';
import { Links } from './links.ts';
import { planChanged, type PlanFile } from './plan-file.ts';
import { Precedence } from './precedence.ts';
import { RECORD, RecordTable } from './records.ts';
import { Updates } from './updates.ts';

/** What the plan decides about an event when the survey adds it. */
export interface Verdict {
  readonly ordinal: number;
  readonly state: State;
  /** Acknowledged earlier with different content, and the mapping does not say to send it again. */
  readonly changed: boolean;
  /** A duplicate with different content than the one that counts. */
  readonly dropped: boolean;
}

/**
 * Every event of the input: what it is in `plan.ndjson`, and here its place in that file, its state, its record and
 * parent, and the hash of its content. The survey fills it; everything afterwards reads from it.
 */
export class Plan {
  readonly tables: Readonly<Record<EventType, EventTable>>;
  readonly links: Links;
  readonly precedence: Precedence;
  readonly file: PlanFile;
  readonly #migration: string;
  readonly #ledger: Ledger;
  readonly #hasher: FieldHasher;
  readonly #policies: readonly Policies[];
  readonly #records = new RecordTable();
  readonly #updates = new Updates();
  /** Comments without id that occur again: how many there are, by the number of the first. */
  readonly #repeats = new Map<number, number>();
  /** Ordinals of created events that are acknowledged but invalid now, by the number of the record. */
  readonly #unmapped = new Map<number, number>();
  #matched = 0;

  /** `policies`: of the mapping's entries. */
  constructor(options: {
    migration: string;
    checkpoint: Pick<LoadedCheckpoint, 'ledger' | 'hasher'>;
    policies: readonly Policies[];
    file: PlanFile;
  }) {
    this.#migration = options.migration;
    this.#ledger = options.checkpoint.ledger;
    this.#hasher = options.checkpoint.hasher;
    this.#policies = options.policies;
    this.file = options.file;
    this.tables = Object.fromEntries(EVENT_TYPES.map((type) => [type, new EventTable(type)])) as Plan['tables'];
    this.links = new Links(this.tables, this.#records, this.#ledger);
    this.precedence = new Precedence(this, this.#updates, this.#ledger);
  }

  /** Events acknowledged earlier that the input no longer has. */
  get gone(): number {
    return this.#ledger.acknowledged - this.#matched;
  }

  /** Events acknowledged earlier whose content is different now. */
  get changed(): number {
    let changed = 0;
    for (const table of Object.values(this.tables)) {
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        if (table.has(ordinal, FLAG.changed) && table.state(ordinal) === 'acknowledged') changed += 1;
      }
    }
    return changed;
  }

  /** Of every event of the input that could be sent (see `PlanDigest`). */
  digest(): string {
    const digest = new PlanDigest();
    for (const { type, ordinal } of this.#listed()) digest.add(type, this.tables[type].shas.get(ordinal));
    return digest.value();
  }

  /** How many events of the input could be sent. */
  get listed(): number {
    let count = 0;
    for (const _ of this.#listed()) count += 1;
    return count;
  }

  /** Every event of the input that could be sent, by type in reading order. */
  *events(): Generator<Planned, void, undefined> {
    for (const { type, ordinal } of this.#listed()) yield this.read(type, ordinal);
  }

  addInvalid(event: Invalid): void {
    const key = event.externalId === undefined ? undefined : this.#key(entityOf(event.type), event.externalId);
    const table = this.tables[event.type];
    const isThere = key !== undefined && !isUpdate(event.type) && this.#isUnmatched(key);
    if (isThere) {
      this.#unmapped.set(key, table.size);
      this.#matched += 1;
    }
    if (key !== undefined) this.#records.mark(key, RECORD.invalid);
    table.add({ state: isThere ? 'acknowledged' : 'invalid', key });
  }

  /** Events acknowledged earlier whose record can no longer be mapped: each counts as acknowledged, and has an error. */
  get unmapped(): number {
    return this.#unmapped.size;
  }

  /** `record`: the one that the event comes from. */
  add(event: Ready, record: RecordText): Verdict {
    if (event.externalId === undefined) return this.#addNameless(event, record);
    const key = this.#key(entityOf(event.type), event.externalId);
    return isUpdate(event.type) ? this.#addUpdate(event, key, record) : this.#addCreated(event, key, record);
  }

  /** The event with this ordinal, as it goes out. Throws a `UserError` (exit 3) where the file is not what was written. */
  read(type: EventType, ordinal: number): Planned {
    const table = this.tables[type];
    const at = table.at(ordinal);
    if (at === undefined) throw new Error(`${type} ${ordinal} has no line in the plan`);
    const event = this.file.read(at);
    if (event.type !== type || !table.shas.equals(ordinal, shaWords(event.sha))) {
      throw planChanged(this.file.path, 'an event has different content');
    }
    return event;
  }

  /** The ordinals of the events of one type that are in this state now, as they are asked for. */
  *inState(type: EventType, state: State): Generator<number, void, undefined> {
    const table = this.tables[type];
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) if (table.state(ordinal) === state) yield ordinal;
  }

  /** The envelope id of an event that was added under this ordinal. */
  idOf(event: Sendable, ordinal: number): string {
    const table = this.tables[event.type];
    return this.#id(event, table.wholeIds.get(ordinal) ?? table.n.get(ordinal) ?? 0);
  }

  /** The id under which the checkpoint settles an event: that of all its content, even if it goes out with less. */
  wholeIdOf(event: Sendable, ordinal: number): string {
    return this.tables[event.type].wholeIds.get(ordinal) ?? this.idOf(event, ordinal);
  }

  /** The id of the second request that `if_exists: update` or `if_missing: create` would send for the event with this id. */
  secondId(event: Sendable, type: EventType, id: string): string {
    return this.#id({ ...event, type }, id);
  }

  /**
   * The content (its hash) of an earlier request about the same record whose answer is unknown; of several, one that is
   * not this event's: had this very event arrived, the service would know its id.
   */
  earlierSend(event: Sendable, id: string): string | undefined {
    const shas = this.#ledger.unansweredShas(event.type, this.#ledger.keyOf(event.type, event.externalId ?? null, id));
    return shas.find((sha) => sha !== event.sha) ?? shas[0];
  }

  /** After the survey: what the whole input decides about each event. Types not among `only` are held. */
  link(only: readonly EventType[]): void {
    for (const table of Object.values(this.tables)) {
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        if (this.#lacksParent(table, ordinal)) this.#leaveOutParent(table, ordinal);
      }
    }
    for (const table of Object.values(this.tables)) {
      if (isUpdate(table.type)) this.#judgeUpdates(table);
      else this.#rejectConflicts(table);
      const isHeld = !only.includes(table.type);
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        if (table.isOpen(ordinal)) this.#linkToParent(table, ordinal, isHeld);
      }
    }
  }

  /**
   * Puts what is `left` of an update that `if_changed` makes in its place; if that is nothing, it is not sent. `isSettled`: with it
   * the record has the content of the export, as far as the mapping wants; otherwise the next run looks at the record again.
   */
  narrow(event: Planned, ordinal: number, left: Planned | undefined, isSettled: boolean): void {
    const { type } = event;
    const table = this.tables[type];
    if (left === event) return;
    if (left === undefined) {
      table.setState(ordinal, 'duplicate');
      this.withdraw(type, ordinal);
      return;
    }
    const key = table.key(ordinal)!;
    const own = contentSha(left.content);
    const before = this.#ledger.acknowledgedUpdatesOf(key, event.sha) + this.#ledger.acknowledgedUpdatesOf(key, own);
    const whole = table.wholeIds.get(ordinal) ?? this.#id(event, `if_changed ${before}`);
    table.wholeIds.set(ordinal, whole);
    const narrowed = isSettled ? left : { ...left, sha: own };
    table.shas.set(ordinal, shaWords(narrowed.sha));
    if (!left.parent) table.flag(ordinal, FLAG.parentOmitted);
    if (this.#ledger.rejectedUpdate(key, narrowed.sha)) table.setState(ordinal, 'retry');
    this.file.replace(table.at(ordinal)!, narrowed);
  }

  /** Whether the input has a record of which an earlier run sent the created event with this id. */
  hasRecord(type: EventType, externalId: string | null, id: string): boolean {
    const key = this.#ledger.keyOf(type, externalId, id);
    return this.#records.created(key) !== undefined || this.#records.has(key, RECORD.invalid);
  }

  /** Removes the line of an event that cannot be sent after all. */
  withdraw(type: EventType, ordinal: number): void {
    const table = this.tables[type];
    this.file.blank(table.at(ordinal)!);
    table.forgetLine(ordinal);
  }

  /** Records a rejection of this run. `refused`: by the service itself, so that the event has had no effect. */
  settleRejected(type: EventType, ordinal: number, refused: boolean): void {
    this.settle(type, ordinal, 'rejected');
    if (refused) this.tables[type].clear(ordinal, FLAG.uncertain);
    else this.tables[type].flag(ordinal, FLAG.uncertain);
  }

  /** Records what became of an event of this run. */
  settle(type: EventType, ordinal: number, state: 'acknowledged' | 'rejected' | 'blocked' | 'held'): void {
    const table = this.tables[type];
    table.setState(ordinal, state);
    const key = table.key(ordinal);
    if (state === 'acknowledged' && isUpdate(type) && key !== undefined) this.#records.mark(key, RECORD.updated);
  }

  /** An event just acknowledged, whose record has different content: counts as changed unless the mapping ignores that. */
  settleChanged(event: Sendable, ordinal: number): void {
    if (this.#policies[event.entry]!.if_changed !== 'ignore') this.tables[event.type].flag(ordinal, FLAG.changed);
  }

  /** Whether the records in conflict with this one are from another source: its ids may mean other records. */
  collides(type: EventType, ordinal: number): boolean {
    return this.#records.has(this.tables[type].key(ordinal), RECORD.collision);
  }

  /** The number of a record; undefined if neither the input nor the checkpoint has it. */
  findRecord(entity: Entity, externalId: string): number | undefined {
    return this.#ledger.records.find(entity, externalId);
  }

  *#listed(): Generator<{ readonly type: EventType; readonly ordinal: number }, void, undefined> {
    for (const type of EVENT_TYPES) {
      const table = this.tables[type];
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        if (table.at(ordinal) !== undefined && !table.has(ordinal, FLAG.derived)) yield { type, ordinal };
      }
    }
  }

  #addCreated(event: Ready, key: number, record: RecordText): Verdict {
    const table = this.tables[event.type];
    const previous = this.#records.created(key);
    if (previous === undefined) return this.#addFirst(event, key, record);
    const about = { key, sha: event.sha };
    if (table.shas.equals(previous, shaWords(event.sha))) return this.#enter(table, { ...about, state: 'duplicate' });
    const policy = this.#policies[event.entry]!.duplicates;
    if (policy === 'first') return { ...this.#enter(table, { ...about, state: 'duplicate' }), dropped: true };
    if (policy === 'last') {
      const update = this.#updates.derived(key);
      if (update !== undefined) this.tables[updatedTypeOf(event.type)].setState(update, 'duplicate');
      if (table.state(previous) === 'acknowledged') this.#matched -= 1;
      table.setState(previous, 'duplicate');
      return this.#addFirst(event, key, record);
    }
    this.#records.mark(key, RECORD.conflict);
    const isCollision = this.read(event.type, previous).place.source !== event.place.source;
    if (isCollision) this.#records.mark(key, RECORD.collision);
    return this.#enter(table, { ...about, state: 'invalid' });
  }

  #addFirst(event: Ready, key: number, record: RecordText): Verdict {
    const table = this.tables[event.type];
    this.#records.setCreated(key, table.size);
    this.#takeOverFromUnmapped(table, key);
    const judged = this.#judgeCreated(event, key);
    if (judged.state === 'acknowledged') this.#matched += 1;
    const verdict = this.#enterWithLine(event, record, { key, state: judged.state, flags: judged.flags });
    if (judged.update) this.#addDerived(judged.update, key, record);
    return verdict;
  }

  /** Whether a record was acknowledged, and no other event of the input has been matched with that. */
  #isUnmatched(key: number): boolean {
    return (
      this.#ledger.created(key) === 'acknowledged' &&
      this.#records.created(key) === undefined &&
      !this.#unmapped.has(key)
    );
  }

  /** An earlier row of the same record could not be mapped, and this one can: the acknowledgement belongs to this one. */
  #takeOverFromUnmapped(table: EventTable, key: number): void {
    const invalid = this.#unmapped.get(key);
    if (invalid === undefined) return;
    this.#unmapped.delete(key);
    this.#matched -= 1;
    table.setState(invalid, 'invalid');
  }

  /** What `if_changed` sends for a record acknowledged earlier. */
  #addDerived(update: Ready, key: number, record: RecordText): void {
    const table = this.tables[update.type];
    table.n.set(table.size, `if_changed ${this.#ledger.acknowledgedUpdatesOf(key, update.sha)}`);
    this.#records.setUpdated(key, table.size);
    this.#updates.addDerived(key, table.size);
    const state = this.#ledger.rejectedUpdate(key, update.sha) ? 'retry' : 'ready';
    table.add({ state, flags: FLAG.derived, key, sha: update.sha, at: this.file.append(update, record, true, true) });
  }

  #judgeCreated(event: Ready, key: number): { state: State; flags: number; update?: Ready } {
    const before = this.#ledger.created(key);
    if (before === 'none') return { state: 'ready', flags: 0 };
    const policies = this.#policies[event.entry]!;
    const same =
      this.#ledger.hasContent(key, event.sha) ||
      (policies.if_parent_missing === 'omit' && this.#ledger.hasContent(key, withoutParent(event).sha));
    if (before !== 'acknowledged') return { state: same ? 'retry' : 'ready', flags: 0 };
    const policy = policies.if_changed;
    if (same || policy === 'ignore') return { state: 'acknowledged', flags: 0 };
    if (policy === 'report') return { state: 'acknowledged', flags: FLAG.changed };
    if (policy === 'update') return { state: 'acknowledged', flags: 0, update: updateOf(event, 'all') };
    const fields = changedFields(event, policy, this.#ledger.fields(key) ?? {}, this.#hasher);
    if (fields.length === 0) return { state: 'acknowledged', flags: 0 };
    return { state: 'acknowledged', flags: 0, update: updateOf(event, fields) };
  }

  #addUpdate(event: Ready, key: number, record: RecordText): Verdict {
    const table = this.tables[event.type];
    const sha = shaWords(event.sha);
    const n = this.#updates.add(key, table.size, (ordinal) => table.shas.equals(ordinal, sha));
    if (n > 0) table.n.set(table.size, n);
    this.#records.setUpdated(key, table.size);
    const isAcknowledged = this.#ledger.claimUpdate(key, event.sha);
    if (isAcknowledged) this.#matched += 1;
    const open = this.#ledger.rejectedUpdate(key, event.sha) ? 'retry' : 'ready';
    const state = isAcknowledged ? 'acknowledged' : open;
    // Only after an earlier run may a later update be acknowledged first.
    const mayLoseFields = !isAcknowledged && this.#ledger.hasSentUpdate(event.type, key);
    return this.#enterWithLine(event, record, { key, state }, mayLoseFields);
  }

  /** A comment without an id in the old CRM: the n-th of identical ones is identified by its event id. */
  #addNameless(event: Ready, record: RecordText): Verdict {
    const table = this.tables[event.type];
    const first = this.#ledger.keyOf(event.type, null, this.#id(event, 0));
    let key = first;
    if (this.#records.created(first) !== undefined) {
      const n = this.#repeats.get(first) ?? 1;
      this.#repeats.set(first, n + 1);
      table.n.set(table.size, n);
      key = this.#ledger.keyOf(event.type, null, this.#id(event, n));
    }
    this.#records.setCreated(key, table.size);
    const before = this.#ledger.created(key);
    if (before === 'acknowledged') this.#matched += 1;
    const state = before === 'acknowledged' ? 'acknowledged' : before === 'rejected' ? 'retry' : 'ready';
    return this.#enterWithLine(event, record, { key, state });
  }

  #enter(table: EventTable, entry: IndexEntry): Verdict {
    const changed = ((entry.flags ?? 0) & FLAG.changed) !== 0;
    return { ordinal: table.add(entry), state: entry.state, changed, dropped: false };
  }

  /** An event that could be sent: it gets a line in the file. */
  #enterWithLine(event: Ready, record: RecordText, entry: IndexEntry, mayLoseFields = false): Verdict {
    const { type, sha, parent, priority, occurredAt } = event;
    const at = this.file.append(event, record, false, mayLoseFields);
    const flags = (entry.flags ?? 0) | (parent ? PARENT_FLAGS[this.#policies[event.entry]!.if_parent_missing] : 0);
    const { state, key } = entry;
    const time = type === 'comment/created' && occurredAt !== undefined ? Date.parse(occurredAt) : undefined;
    const place = { parent: this.#parentKey(event), at, priority, time };
    return this.#enter(this.tables[type], { state, flags, key, sha, ...place });
  }

  #linkToParent(table: EventTable, ordinal: number, isHeld: boolean): void {
    const status = this.links.parentStatus(table.type, ordinal);
    if (isHeld && (status === 'none' || status === 'exists' || status === 'expected' || status === 'held')) {
      table.setState(ordinal, 'held');
    } else if (status === 'held') table.setState(ordinal, 'waiting');
    else if (status === 'failed' || status === 'missing') table.setState(ordinal, 'blocked');
  }

  #judgeUpdates(table: EventTable): void {
    this.precedence.matchById(table);
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      if (table.isOpen(ordinal)) this.precedence.judge(table, ordinal);
    }
  }

  #rejectConflicts(table: EventTable): void {
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      const state = table.state(ordinal);
      if (state === 'acknowledged' || state === 'invalid') continue;
      if (this.#records.has(table.key(ordinal), RECORD.conflict)) table.setState(ordinal, 'invalid');
    }
  }

  #lacksParent(table: EventTable, ordinal: number): boolean {
    if (!table.has(ordinal, FLAG.omitMissingParent)) return false;
    const isCurrent = table.isOpen(ordinal) || table.state(ordinal) === 'acknowledged';
    return isCurrent && this.links.parentStatus(table.type, ordinal) === 'missing';
  }

  /** `if_parent_missing: omit`; an event not acknowledged yet may have been sent that way before. */
  #leaveOutParent(table: EventTable, ordinal: number): void {
    const sha = this.#omitParent(table, ordinal);
    if (!table.isOpen(ordinal)) return;
    const key = table.key(ordinal)!;
    if (isUpdate(table.type)) {
      if (!this.#ledger.claimUpdate(key, sha)) return;
      this.#matched += 1;
      table.setState(ordinal, 'acknowledged');
    } else if (this.#ledger.created(key) === 'rejected' && this.#ledger.hasContent(key, sha)) {
      table.setState(ordinal, 'retry');
    }
  }

  /** The event goes out without the reference to its parent, and the plan says so. Returns the hash of that content. */
  #omitParent(table: EventTable, ordinal: number): string {
    const alone = withoutParent(this.read(table.type, ordinal));
    this.file.replace(table.at(ordinal)!, alone);
    table.flag(ordinal, FLAG.parentOmitted);
    table.shas.set(ordinal, shaWords(alone.sha));
    return alone.sha;
  }

  #parentKey(event: Sendable): number | undefined {
    if (!event.parent) return undefined;
    const key = this.#key(event.parent.entity, event.parent.externalId);
    if (event.parent.entity === 'deal') this.#records.mark(key, RECORD.deal);
    return key;
  }

  #key(entity: Entity, externalId: string): number {
    return this.#ledger.records.intern(entity, externalId);
  }

  #id(event: Sendable, n: number | string): string {
    const { type, externalId, content, occurredAt } = event;
    return eventId({ migration: this.#migration, type, externalId, content, occurredAt, n });
  }
}

const PARENT_FLAGS = { block: 0, send: FLAG.sendWithoutParent, omit: FLAG.omitMissingParent } as const;

function withoutParent<T extends Sendable>(event: T): T {
  const { lead_external_id: _lead, deal_external_id: _deal, ...data } = event.data;
  const { parent: _parent, ...rest } = event;
  const content = canonicalJson(data);
  return { ...rest, data, content, sha: contentSha(content) } as T;
}
