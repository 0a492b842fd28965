import { recordWords, shaWords, type Ledger } from '../checkpoint/ledger.ts';
import { contentSha, eventId } from '../identity.ts';
import { canonicalJson } from '../json.ts';
import { ByteColumn, keyWords, Uint32Column } from '../keys.ts';
import type { Policies } from '../mapping/mapping.ts';
import { entityOf, EVENT_TYPES, isUpdate, type Entity, type EventType, type Invalid, type Ready } from '../model.ts';
import { changedFields, updateOf } from './changes.ts';
import { DamagedPlaces } from './damaged-places.ts';
import { EventTable, FLAG, type About, type State } from './event-table.ts';

/** What the plan says of an event when the survey hands it in. */
export interface Verdict {
  readonly ordinal: number;
  readonly state: State;
  /** Acknowledged earlier with other content, and the mapping does not say to send it again. */
  readonly changed: boolean;
  /** `if_changed` sends this update for it. */
  readonly update?: { readonly event: Ready; readonly ordinal: number };
}

/** What the plan looks at in most events. */
export type Known = Pick<Ready, 'type' | 'entry' | 'externalId' | 'parent' | 'sha'>;

/** The event itself, for the few of which the plan needs more. */
type Whole = () => Ready;

/** How an event stands to its parent. `expected`: the parent is still to be sent. */
export type ParentStanding = 'none' | 'exists' | 'expected' | 'held' | 'missing' | 'failed';

/** Properties of one record, as bits. */
const RECORD = { conflict: 1, invalid: 2, updated: 4, deal: 8 } as const;

/**
 * Every event of the input with its state, without any of its values: the survey fills it, the passes read it again in
 * the same order. Two events of one type about one record have the same key.
 */
export class Plan {
  readonly tables: Readonly<Record<EventType, EventTable>>;
  readonly #migration: string;
  readonly #ledger: Ledger;
  readonly #policies: readonly Policies[];
  readonly #records = new ByteColumn();
  /** Per record the ordinal + 1 of the created event that counts, and of the last updated event. */
  readonly #created = new Uint32Column();
  readonly #updated = new Uint32Column();
  /** Updates of the record (or occurrences of a comment without id) that were not acknowledged before. */
  readonly #places = new Uint32Column();
  /** Only where the checkpoint is damaged. */
  readonly #damaged: DamagedPlaces | undefined;
  /** Content hashes without the parent, for `if_parent_missing: omit`. */
  readonly #withoutParent = new Map<string, string>();
  /** Ordinals of the updates that `if_changed` added, by the created event. */
  readonly #derived = new Map<string, number>();
  #matched = 0;

  constructor(options: { migration: string; ledger: Ledger; policies: readonly Policies[] }) {
    this.#migration = options.migration;
    this.#ledger = options.ledger;
    this.#policies = options.policies;
    this.tables = Object.fromEntries(EVENT_TYPES.map((type) => [type, new EventTable(type)])) as Plan['tables'];
    if (this.#ledger.isDamaged) this.#damaged = new DamagedPlaces(this.#ledger, (event, n) => this.#id(event, n));
  }

  /** Events acknowledged earlier that the input no longer has. */
  get gone(): number {
    return this.#ledger.acknowledged - this.#matched;
  }

  get changed(): number {
    let changed = 0;
    for (const table of Object.values(this.tables)) {
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        // One that a later record took the place of (`duplicates: last`) does not count any more.
        if (table.has(ordinal, FLAG.changed) && table.state(ordinal) === 'acknowledged') changed += 1;
      }
    }
    return changed;
  }

  addInvalid(event: Invalid): Verdict {
    const key = event.externalId === undefined ? undefined : this.#key(entityOf(event.type), event.externalId);
    if (key !== undefined) this.#mark(key, RECORD.invalid);
    return verdict(this.tables[event.type], 'invalid', FLAG.reported, { key });
  }

  add(event: Ready): Verdict;
  add(event: Known, whole: Whole): Verdict;
  add(event: Known, whole: Whole = () => event as Ready): Verdict {
    if (event.externalId === undefined) return this.#addNameless(whole());
    const key = this.#key(entityOf(event.type), event.externalId);
    return isUpdate(event.type) ? this.#addUpdate(event, key, whole) : this.#addCreated(event, key, whole);
  }

  /** The envelope id of an event that was added under this ordinal. */
  idOf(event: Ready, ordinal: number): string {
    return this.#id(event, this.tables[event.type].n.get(ordinal) ?? 0);
  }

  /** The id of the second request that `if_exists: update` or `if_missing: create` would send for an event. */
  secondId(event: Ready, type: EventType, ordinal: number): string {
    return this.#id({ ...event, type }, this.tables[event.type].n.get(ordinal) ?? 0);
  }

  /** Whether this is the event that the survey saw under this ordinal; if not, the input has changed. */
  isSame(event: Ready, ordinal: number): boolean {
    return this.tables[event.type].shas.equals(ordinal, shaWords(event.sha));
  }

  /** The event as it goes out: without its parent where the plan found that the parent is nowhere. */
  asSent(event: Ready, ordinal: number): Ready {
    return this.tables[event.type].has(ordinal, FLAG.parentOmitted) ? withoutParent(event) : event;
  }

  /**
   * The content (its hash) of an earlier request about the same record whose answer is unknown; of several, one that is
   * not this event's: had this very event arrived, the service would know its id.
   */
  earlierSend(event: Ready, id: string): string | undefined {
    const shas = this.#ledger.unansweredShas(event.type, this.#ledger.keyOf(event.type, event.externalId ?? null, id));
    return shas.find((sha) => sha !== event.sha) ?? shas[0];
  }

  /** How the event stands to the record it hangs on; for an update, to its own created event as well. */
  parentStanding(type: EventType, ordinal: number): ParentStanding {
    const table = this.tables[type];
    if (isUpdate(type)) {
      const own = this.standingOfCreated(type, ordinal);
      if (own === 'failed' || own === 'held' || own === 'expected') return own;
    }
    const parent = table.parent(ordinal);
    if (parent === undefined || table.has(ordinal, FLAG.parentOmitted)) return 'none';
    const standing = this.#standing(this.#parentEntity(parent), parent);
    return standing === 'missing' && table.has(ordinal, FLAG.sendWithoutParent) ? 'none' : standing;
  }

  /** How the record's own created event stands, for an update of it. */
  standingOfCreated(type: EventType, ordinal: number): ParentStanding {
    return this.#standingOfCreated(entityOf(type), this.tables[type].key(ordinal)!);
  }

  /** After the survey: what the whole input decides about each event. Types not among `only` are held. */
  link(only: readonly EventType[]): void {
    for (const table of Object.values(this.tables)) {
      const holdAll = !only.includes(table.type);
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        const state = table.state(ordinal);
        const conflict = !isUpdate(table.type) && this.#has(table.key(ordinal), RECORD.conflict);
        if (conflict && state !== 'acknowledged' && state !== 'invalid') table.setState(ordinal, 'invalid');
        else if (state === 'ready' || state === 'retry') this.#linkToParent(table, ordinal, holdAll);
      }
    }
    this.#damaged?.settle();
  }

  /** Records what became of an event of this run. */
  settle(type: EventType, ordinal: number, state: 'acknowledged' | 'rejected' | 'blocked' | 'held'): void {
    const table = this.tables[type];
    table.setState(ordinal, state);
    const key = table.key(ordinal);
    if (state === 'acknowledged' && isUpdate(type) && key !== undefined) this.#mark(key, RECORD.updated);
  }

  /** An event just acknowledged, whose record holds other content: what `if_changed` says comes next. */
  settleChanged(event: Ready, ordinal: number): void {
    if (this.#policies[event.entry]!.if_changed !== 'ignore') this.tables[event.type].flag(ordinal, FLAG.changed);
  }

  /** The created events that must be acknowledged before this one can be: its parent's, and for an update its own. */
  *eventsNeededBy(type: EventType, ordinal: number): Generator<{ type: EventType; ordinal: number }> {
    const table = this.tables[type];
    const own = isUpdate(type) ? this.#createdOrdinal(table.key(ordinal)!) : undefined;
    if (own !== undefined) yield { type: `${entityOf(type)}/created` as EventType, ordinal: own };
    const parent = table.parent(ordinal);
    const above = parent === undefined ? undefined : this.#createdOrdinal(parent);
    if (above !== undefined) yield { type: `${this.#parentEntity(parent!)}/created`, ordinal: above };
  }

  /** The number of a record, or -1 if neither the input nor the checkpoint has it. */
  findRecord(entity: Entity, externalId: string): number {
    return this.#ledger.keys.find(recordWords(entity, externalId));
  }

  /** The created event that counts for a record. */
  #createdOrdinal(key: number): number | undefined {
    const ordinal = this.#created.get(key);
    return ordinal === 0 ? undefined : ordinal - 1;
  }

  #addCreated(event: Known, key: number, whole: Whole): Verdict {
    const table = this.tables[event.type];
    const { sha } = event;
    const previous = this.#createdOrdinal(key);
    const base = { key, parent: this.#parentKey(event), sha };
    if (previous === undefined) return this.#addFirst(event, key, base, whole);
    if (table.shas.equals(previous, shaWords(sha))) return verdict(table, 'duplicate', 0, base);
    const policy = this.#policies[event.entry]!.duplicates;
    if (policy === 'first') return verdict(table, 'duplicate', FLAG.dropped, base);
    if (policy === 'last') {
      const update = this.#derivedOrdinal(event.type, previous);
      if (update !== undefined) this.tables[updatedType(event.type)].setState(update, 'duplicate');
      if (table.state(previous) === 'acknowledged') this.#matched -= 1;
      table.setState(previous, 'duplicate');
      table.flag(previous, FLAG.dropped);
      return this.#addFirst(event, key, base, whole);
    }
    this.#mark(key, RECORD.conflict);
    return verdict(table, 'invalid', 0, base);
  }

  #addFirst(event: Known, key: number, base: About & { readonly sha: string }, whole: Whole): Verdict {
    const table = this.tables[event.type];
    this.#created.set(key, table.size + 1);
    const parentFlags = this.#parentFlags(event, whole);
    const judged = this.#judgeCreated(event, key, whole);
    if (judged.state === 'acknowledged') this.#matched += 1;
    const added = verdict(table, judged.state, judged.flags | parentFlags, base);
    if (!judged.update) return added;
    const updates = this.tables[judged.update.type];
    const updateSha = judged.update.sha;
    this.#number(updates, key);
    // What `if_changed` goes back to was sent before: that its id is known does not say that this one arrived.
    this.#damaged?.see([], { table: updates, key, isAcknowledged: false });
    this.#updated.set(key, updates.size + 1);
    this.#derived.set(`${event.type} ${added.ordinal}`, updates.size);
    const state = this.#ledger.rejectedUpdate(key, updateSha) ? 'retry' : 'ready';
    const ordinal = updates.add(state, 0, { key, sha: updateSha });
    return { ...added, update: { event: judged.update, ordinal } };
  }

  #derivedOrdinal(type: EventType, ordinal: number): number | undefined {
    return this.#derived.get(`${type} ${ordinal}`);
  }

  #judgeCreated(event: Known, key: number, whole: Whole): { state: State; flags: number; update?: Ready } {
    const before = this.#ledger.created(key);
    if (before === 'none') return { state: 'ready', flags: 0 };
    const alone = this.#withoutParent.get(`${event.type} ${this.tables[event.type].size}`);
    const same =
      this.#ledger.hasContent(key, event.sha) || (alone !== undefined && this.#ledger.hasContent(key, alone));
    if (before !== 'acknowledged') return { state: same ? 'retry' : 'ready', flags: 0 };
    const policy = this.#policies[event.entry]!.if_changed;
    if (same || policy === 'ignore') return { state: 'acknowledged', flags: 0 };
    if (policy === 'report') return { state: 'acknowledged', flags: FLAG.changed };
    if (policy === 'update') return { state: 'acknowledged', flags: FLAG.derives, update: updateOf(whole(), 'all') };
    const changed = whole();
    const fields = changedFields(changed, policy, this.#ledger.fields(key) ?? {});
    if (fields.length === 0) return { state: 'acknowledged', flags: 0 };
    return { state: 'acknowledged', flags: FLAG.derives, update: updateOf(changed, fields) };
  }

  #addUpdate(event: Known, key: number, whole: Whole): Verdict {
    const table = this.tables[event.type];
    const { sha } = event;
    const base = { key, parent: this.#parentKey(event), sha };
    const flags = this.#parentFlags(event, whole);
    this.#updated.set(key, table.size + 1);
    const isAcknowledged = this.#ledger.claimUpdate(key, sha);
    if (isAcknowledged) this.#matched += 1;
    else this.#number(table, key);
    if (this.#damaged) {
      const ready = whole();
      const contents = flags === FLAG.omitMissingParent ? [ready, withoutParent(ready)] : [ready];
      this.#damaged.see(contents, { table, key, isAcknowledged });
    }
    if (isAcknowledged) return verdict(table, 'acknowledged', flags, base);
    return verdict(table, this.#ledger.rejectedUpdate(key, sha) ? 'retry' : 'ready', flags, base);
  }

  /** The `n` of the update that comes next in the table. */
  #number(table: EventTable, key: number): void {
    const n = this.#ledger.acknowledgedUpdates(key) + this.#nextPlace(key);
    if (n > 0) table.n.set(table.size, n);
  }

  /** A comment that the old CRM gave no id: the n-th of its kind is known by its event id. */
  #addNameless(event: Ready): Verdict {
    const table = this.tables[event.type];
    const { sha } = event;
    const kind = this.#ledger.keys.intern(keyWords(`nameless:${sha}:${event.occurredAt ?? ''}`));
    const n = this.#nextPlace(kind);
    if (n > 0) table.n.set(table.size, n);
    const key = this.#ledger.keyOf(event.type, null, this.#id(event, n));
    const before = this.#ledger.created(key);
    if (before === 'acknowledged') this.#matched += 1;
    const state = before === 'acknowledged' ? 'acknowledged' : before === 'rejected' ? 'retry' : 'ready';
    return verdict(
      table,
      state,
      this.#parentFlags(event, () => event),
      { key, parent: this.#parentKey(event), sha },
    );
  }

  #linkToParent(table: EventTable, ordinal: number, hold: boolean): void {
    const standing = this.parentStanding(table.type, ordinal);
    if (standing === 'held' || (hold && (standing === 'none' || standing === 'exists' || standing === 'expected'))) {
      table.setState(ordinal, 'held');
    } else if (standing === 'failed') table.setState(ordinal, 'blocked');
    else if (standing === 'missing' && table.has(ordinal, FLAG.omitMissingParent)) this.#omitParent(table, ordinal);
    else if (standing === 'missing') table.setState(ordinal, 'blocked');
  }

  #omitParent(table: EventTable, ordinal: number): void {
    table.flag(ordinal, FLAG.parentOmitted);
    const sha = this.#withoutParent.get(`${table.type} ${ordinal}`)!;
    const key = table.key(ordinal)!;
    if (isUpdate(table.type)) {
      if (!this.#ledger.claimUpdate(key, sha)) return;
      this.#matched += 1;
      table.setState(ordinal, 'acknowledged');
    } else if (this.#ledger.created(key) === 'rejected' && this.#ledger.hasContent(key, sha)) {
      table.setState(ordinal, 'retry');
    }
  }

  #standing(entity: 'lead' | 'deal', key: number): ParentStanding {
    if (this.#ledger.acknowledgedUpdates(key) > 0 || this.#has(key, RECORD.updated)) return 'exists';
    const created = this.#standingOfCreated(entity, key);
    if (created !== 'none') return created;
    const update = this.#updated.get(key);
    return update === 0 ? 'missing' : standingOf(this.tables[`${entity}/updated`].state(update - 1));
  }

  #standingOfCreated(entity: Entity, key: number): ParentStanding {
    if (this.#ledger.created(key) === 'acknowledged') return 'exists';
    const ordinal = this.#createdOrdinal(key);
    if (ordinal !== undefined) return standingOf(this.tables[`${entity}/created`].state(ordinal));
    return this.#has(key, RECORD.invalid) ? 'failed' : 'none';
  }

  #parentEntity(parent: number): 'lead' | 'deal' {
    return this.#has(parent, RECORD.deal) ? 'deal' : 'lead';
  }

  #parentKey(event: Known): number | undefined {
    if (!event.parent) return undefined;
    const key = this.#key(event.parent.entity, event.parent.externalId);
    if (event.parent.entity === 'deal') this.#mark(key, RECORD.deal);
    return key;
  }

  #parentFlags(event: Known, whole: Whole): number {
    if (!event.parent) return 0;
    const policy = this.#policies[event.entry]!.if_parent_missing;
    if (policy === 'send') return FLAG.sendWithoutParent;
    if (policy === 'block') return 0;
    const alone = withoutParent(whole()).sha;
    if (alone !== event.sha) this.#withoutParent.set(`${event.type} ${this.tables[event.type].size}`, alone);
    return FLAG.omitMissingParent;
  }

  #nextPlace(key: number): number {
    const place = this.#places.get(key);
    this.#places.set(key, place + 1);
    return place;
  }

  #key(entity: Entity, externalId: string): number {
    return this.#ledger.keys.intern(recordWords(entity, externalId));
  }

  #mark(key: number, bit: number): void {
    this.#records.set(key, this.#records.get(key) | bit);
  }

  #has(key: number | undefined, bit: number): boolean {
    return key !== undefined && (this.#records.get(key) & bit) !== 0;
  }

  #id(event: Ready, n: number): string {
    const { type, externalId, content, occurredAt } = event;
    return eventId({ migration: this.#migration, type, externalId, content, occurredAt, n });
  }
}

function verdict(table: EventTable, state: State, flags: number, about: About): Verdict {
  return { ordinal: table.add(state, flags, about), state, changed: (flags & FLAG.changed) !== 0 };
}

function updatedType(type: EventType): 'lead/updated' | 'deal/updated' {
  return type === 'lead/created' ? 'lead/updated' : 'deal/updated';
}

function standingOf(state: State): ParentStanding {
  if (state === 'acknowledged') return 'exists';
  if (state === 'ready' || state === 'retry') return 'expected';
  return state === 'held' ? 'held' : 'failed';
}

function withoutParent(event: Ready): Ready {
  const { lead_external_id: _lead, ...data } = event.data;
  const { parent: _parent, ...rest } = event;
  const content = canonicalJson(data);
  return { ...rest, data, content, sha: contentSha(content) };
}
