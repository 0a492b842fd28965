import type { FieldHasher } from '../checkpoint/field-hashes.ts';
import type { Ledger, PendingSend } from '../checkpoint/ledger.ts';
import type { ComparedLine } from '../checkpoint/lines.ts';
import type { LoadedCheckpoint } from '../checkpoint/load.ts';
import { contentSha, eventId, shaWords } from '../identity.ts';
import type { Policies } from '../mapping/mapping.ts';
import { EVENT_TYPES, isUpdate, type Entity, type EventType, type Planned, type Sendable } from '../model.ts';
import { PlanDigest } from './digest.ts';
import { EventTable, FLAG, type State } from './event-table.ts';
import { Links } from './links.ts';
import { Matched } from './matched.ts';
import { planChanged, type PlanFile } from './plan-file.ts';
import { Precedence } from './precedence.ts';
import { RECORD, RecordTable } from './records.ts';
import { Updates } from './updates.ts';

/**
 * Every event of the input: what it is in `plan.ndjson`, and here its place in that file, its state, its record and
 * parent, and the hash of its content. `PlanBuilder` and `linkPlan` fill it; everything afterwards reads from it.
 */
export class Plan {
  readonly tables: Readonly<Record<EventType, EventTable>>;
  readonly records = new RecordTable();
  readonly updates = new Updates();
  readonly links: Links;
  readonly precedence: Precedence;
  readonly file: PlanFile;
  readonly ledger: Ledger;
  readonly hasher: FieldHasher;
  readonly matched: Matched;
  /** Of the mapping's entries. */
  readonly policies: readonly Policies[];
  /** Records that this survey read back, of which nothing has to be sent. */
  readonly compared: ComparedLine[] = [];
  readonly #migration: string;

  constructor(options: {
    migration: string;
    checkpoint: Pick<LoadedCheckpoint, 'ledger' | 'hasher'>;
    policies: readonly Policies[];
    file: PlanFile;
  }) {
    this.#migration = options.migration;
    this.ledger = options.checkpoint.ledger;
    this.hasher = options.checkpoint.hasher;
    this.policies = options.policies;
    this.file = options.file;
    this.tables = Object.fromEntries(EVENT_TYPES.map((type) => [type, new EventTable(type)])) as Plan['tables'];
    this.links = new Links(this.tables, this.records, this.ledger);
    this.precedence = new Precedence(this);
    this.matched = new Matched(this.ledger, this.records, this.updates);
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
    return this.id(event, table.wholeIds.get(ordinal) ?? table.n.get(ordinal) ?? 0);
  }

  /** The id under which the checkpoint settles an event that goes out with less than all its content. */
  wholeIdOf(type: EventType, ordinal: number): string | undefined {
    return this.tables[type].wholeIds.get(ordinal);
  }

  /** The id of the second request that `if_exists: update` or `if_missing: create` would send for the event with this id. */
  secondId(event: Sendable, type: EventType, id: string): string {
    return this.id({ ...event, type }, id);
  }

  /** Requests of earlier runs about the record of the event with this id whose answers are unknown. */
  earlierRequests({ type, externalId }: Sendable, id: string): readonly PendingSend[] {
    return this.ledger.unanswered(type, this.ledger.keyOf(type, externalId ?? null, id));
  }

  /**
   * Puts what is `left` of an update that `if_changed` makes in its place; if that is nothing, it is not sent. `isSettled`: so
   * the record has the content of the export, as far as the mapping wants; otherwise the next run looks at the record again.
   */
  narrow(event: Planned, ordinal: number, left: Planned | undefined, isSettled: boolean): void {
    const { type } = event;
    const table = this.tables[type];
    if (left === event) return;
    if (left === undefined) {
      table.setState(ordinal, 'duplicate');
      this.withdraw(type, ordinal);
      const [created] = isSettled ? this.links.eventsNeededBy(type, ordinal) : [];
      if (created) this.compared.push(this.#comparedLine(created));
      return;
    }
    const key = table.key(ordinal)!;
    const own = contentSha(left.content);
    const before = this.ledger.acknowledgedUpdatesOf(key, event.sha) + this.ledger.acknowledgedUpdatesOf(key, own);
    const whole = table.wholeIds.get(ordinal) ?? this.id(event, `if_changed ${before}`);
    table.wholeIds.set(ordinal, whole);
    const narrowed = isSettled ? left : { ...left, sha: own };
    table.shas.set(ordinal, shaWords(narrowed.sha));
    if (!left.parent) table.flag(ordinal, FLAG.parentOmitted);
    if (this.ledger.rejectedUpdate(key, narrowed.sha)) table.setState(ordinal, 'retry');
    this.file.replace(table.at(ordinal)!, narrowed);
  }

  #comparedLine({ type, ordinal }: { readonly type: EventType; readonly ordinal: number }): ComparedLine {
    const { externalId, sha } = this.read(type, ordinal);
    return { kind: 'compared', type, external_id: externalId!, content_sha: sha };
  }

  /** Whether the input has a record of which an earlier run sent the created event with this id. */
  hasRecord(type: EventType, externalId: string | null, id: string): boolean {
    const key = this.ledger.keyOf(type, externalId, id);
    return this.records.created(key) !== undefined || this.records.has(key, RECORD.invalid);
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
    if (state === 'acknowledged' && isUpdate(type) && key !== undefined) this.records.mark(key, RECORD.updated);
  }

  /** An event just acknowledged, whose record has different content: counts as changed unless the mapping ignores that. */
  settleChanged(event: Sendable, ordinal: number): void {
    if (this.policies[event.entry]!.if_changed !== 'ignore') this.tables[event.type].flag(ordinal, FLAG.changed);
  }

  /** Whether the records in conflict with this one are from another source: its ids may mean other records. */
  collides(type: EventType, ordinal: number): boolean {
    return this.records.has(this.tables[type].key(ordinal), RECORD.collision);
  }

  /** The number of a record; undefined if neither the input nor the checkpoint has it. */
  findRecord(entity: Entity, externalId: string): number | undefined {
    return this.ledger.records.find(entity, externalId);
  }

  *#listed(): Generator<{ readonly type: EventType; readonly ordinal: number }, void, undefined> {
    for (const type of EVENT_TYPES) {
      const table = this.tables[type];
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        if (table.at(ordinal) !== undefined && !table.has(ordinal, FLAG.derived)) yield { type, ordinal };
      }
    }
  }

  /** The envelope id of an event; `n` distinguishes those that are otherwise the same. */
  id(event: Sendable, n: number | string): string {
    const { type, externalId, content, occurredAt } = event;
    return eventId({ migration: this.#migration, type, externalId, content, occurredAt, n });
  }
}
