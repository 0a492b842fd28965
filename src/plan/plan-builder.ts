import { shaWords } from '../identity.ts';
import { entityOf, isUpdate, type Entity, type Invalid, type RecordText, type Ready, type Sendable } from '../model.ts';
import { changedFields, updatedTypeOf, updateOf, withoutParent } from './changes.ts';
import { FLAG, type EventTable, type IndexEntry, type State } from './event-table.ts';
import type { Plan } from './plan.ts';
import { RECORD } from './records.ts';

/** What the plan decides about an event when the survey adds it. */
export interface Verdict {
  readonly ordinal: number;
  readonly state: State;
  /** Acknowledged earlier with different content, and the mapping does not say to send it again. */
  readonly changed: boolean;
  /** A duplicate with different content than the one that counts. */
  readonly dropped: boolean;
}

/** Adds the events of the input to a plan, one by one in reading order. `linkPlan` follows when all are there. */
export class PlanBuilder {
  readonly #plan: Plan;
  readonly #ledger: Plan['ledger'];
  readonly #records: Plan['records'];
  readonly #updates: Plan['updates'];
  readonly #matched: Plan['matched'];
  /** Comments without id that occur again: how many there are, by the number of the first. */
  readonly #repeats = new Map<number, number>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#ledger = plan.ledger;
    this.#records = plan.records;
    this.#updates = plan.updates;
    this.#matched = plan.matched;
  }

  addInvalid(event: Invalid): void {
    const key = event.externalId === undefined ? undefined : this.#key(entityOf(event.type), event.externalId);
    const table = this.#plan.tables[event.type];
    const entry: IndexEntry = { state: 'invalid', key };
    if (key === undefined) return void table.add(entry);
    this.#records.mark(key, RECORD.invalid);
    if (isUpdate(event.type)) {
      this.#matched.addInvalidUpdate(key, table, table.add(entry));
    } else {
      this.#records.mark(key, RECORD.invalidCreated);
      const isThere = this.#matched.addUnmapped(key, table.size);
      table.add(isThere ? { ...entry, state: 'acknowledged' } : entry);
    }
  }

  /** `record`: the one that the event comes from. */
  add(event: Ready, record: RecordText): Verdict {
    if (event.externalId === undefined) return this.#addNameless(event, record);
    const key = this.#key(entityOf(event.type), event.externalId);
    return isUpdate(event.type) ? this.#addUpdate(event, key, record) : this.#addCreated(event, key, record);
  }

  #addCreated(event: Ready, key: number, record: RecordText): Verdict {
    const table = this.#plan.tables[event.type];
    const previous = this.#records.created(key);
    if (previous === undefined) return this.#addFirst(event, key, record);
    const about = { key, sha: event.sha };
    if (table.shas.equals(previous, shaWords(event.sha))) return this.#enter(table, { ...about, state: 'duplicate' });
    const policy = this.#plan.policies[event.entry]!.duplicates;
    if (policy === 'first') return { ...this.#enter(table, { ...about, state: 'duplicate' }), dropped: true };
    if (policy === 'last') {
      const update = this.#updates.derived(key);
      if (update !== undefined) this.#plan.tables[updatedTypeOf(event.type)].setState(update, 'duplicate');
      if (table.state(previous) === 'acknowledged') this.#matched.remove();
      table.setState(previous, 'duplicate');
      return this.#addFirst(event, key, record);
    }
    this.#records.mark(key, RECORD.conflict);
    const isCollision = this.#plan.read(event.type, previous).place.source !== event.place.source;
    if (isCollision) this.#records.mark(key, RECORD.collision);
    return this.#enter(table, { ...about, state: 'invalid' });
  }

  #addFirst(event: Ready, key: number, record: RecordText): Verdict {
    const table = this.#plan.tables[event.type];
    this.#records.setCreated(key, table.size);
    this.#matched.releaseUnmapped(key, table);
    const judged = this.#judgeCreated(event, key);
    if (judged.state === 'acknowledged') this.#matched.add();
    const verdict = this.#enterWithLine(event, record, { key, state: judged.state, flags: judged.flags });
    if (judged.update) this.#addDerived(judged.update, key, record);
    return verdict;
  }

  /** What `if_changed` sends for a record acknowledged earlier. */
  #addDerived(update: Ready, key: number, record: RecordText): void {
    const table = this.#plan.tables[update.type];
    table.n.set(table.size, `if_changed ${this.#ledger.acknowledgedUpdatesOf(key, update.sha)}`);
    this.#records.setUpdated(key, table.size);
    this.#updates.addDerived(key, table.size);
    const state = this.#ledger.rejectedUpdate(key, update.sha) ? 'retry' : 'ready';
    table.add({
      state,
      flags: FLAG.derived,
      key,
      sha: update.sha,
      at: this.#plan.file.append(update, record, true, true),
    });
  }

  #judgeCreated(event: Ready, key: number): { state: State; flags: number; update?: Ready } {
    const before = this.#ledger.created(key);
    if (before === 'none') return { state: 'ready', flags: 0 };
    const policies = this.#plan.policies[event.entry]!;
    const same =
      this.#ledger.hasContent(key, event.sha) ||
      (policies.if_parent_missing === 'omit' && this.#ledger.hasContent(key, withoutParent(event).sha));
    if (before !== 'acknowledged') return { state: same ? 'retry' : 'ready', flags: 0 };
    const policy = policies.if_changed;
    if (same || policy === 'ignore') return { state: 'acknowledged', flags: 0 };
    if (policy === 'report') return { state: 'acknowledged', flags: FLAG.changed };
    if (policy === 'update') return { state: 'acknowledged', flags: 0, update: updateOf(event, 'all') };
    const fields = changedFields(event, policy, this.#ledger.fields(key) ?? {}, this.#plan.hasher);
    if (fields.length === 0) return { state: 'acknowledged', flags: 0 };
    return { state: 'acknowledged', flags: 0, update: updateOf(event, fields) };
  }

  #addUpdate(event: Ready, key: number, record: RecordText): Verdict {
    const table = this.#plan.tables[event.type];
    const sha = shaWords(event.sha);
    const n = this.#updates.add(key, table.size, (ordinal) => table.shas.equals(ordinal, sha));
    if (n > 0) table.n.set(table.size, n);
    this.#records.setUpdated(key, table.size);
    const isAcknowledged = this.#ledger.claimUpdate(key, event.sha);
    if (isAcknowledged) this.#matched.add();
    const open = this.#ledger.rejectedUpdate(key, event.sha) ? 'retry' : 'ready';
    const state = isAcknowledged ? 'acknowledged' : open;
    // Only after an earlier run may a later update be acknowledged first.
    const mayLoseFields = !isAcknowledged && this.#ledger.hasSentUpdate(event.type, key);
    return this.#enterWithLine(event, record, { key, state }, mayLoseFields);
  }

  /** A comment without an id in the old CRM: the n-th of identical ones is identified by its event id. */
  #addNameless(event: Ready, record: RecordText): Verdict {
    const table = this.#plan.tables[event.type];
    const first = this.#ledger.keyOf(event.type, null, this.#plan.id(event, 0));
    let key = first;
    if (this.#records.created(first) !== undefined) {
      const n = this.#repeats.get(first) ?? 1;
      this.#repeats.set(first, n + 1);
      table.n.set(table.size, n);
      key = this.#ledger.keyOf(event.type, null, this.#plan.id(event, n));
    }
    this.#records.setCreated(key, table.size);
    const before = this.#ledger.created(key);
    if (before === 'acknowledged') this.#matched.add();
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
    const at = this.#plan.file.append(event, record, false, mayLoseFields);
    const flags = (entry.flags ?? 0) | (parent ? PARENT_FLAGS[this.#plan.policies[event.entry]!.if_parent_missing] : 0);
    const { state, key } = entry;
    const time = type === 'comment/created' && occurredAt !== undefined ? Date.parse(occurredAt) : undefined;
    const parentKey = this.#parentKey(event);
    return this.#enter(this.#plan.tables[type], { state, flags, key, parent: parentKey, sha, at, priority, time });
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
}

const PARENT_FLAGS = { block: 0, send: FLAG.sendWithoutParent, omit: FLAG.omitMissingParent } as const;
