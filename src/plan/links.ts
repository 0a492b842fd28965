import type { Ledger } from '../checkpoint/ledger.ts';
import { shaWords } from '../identity.ts';
import { entityOf, isUpdate, type Entity, type EventType } from '../model.ts';
import { withoutParent } from './changes.ts';
import { FLAG, type EventTable, type State } from './event-table.ts';
import type { Plan } from './plan.ts';
import { RECORD, type RecordTable } from './records.ts';

/** The status of the record that an event depends on. `expected`: it has yet to be sent. */
export type ParentStatus = 'none' | 'exists' | 'expected' | 'held' | 'missing' | 'failed';

/** How events depend on each other: on their parents, and updates on the created event of their own record. */
export class Links {
  readonly #tables: Readonly<Record<EventType, EventTable>>;
  readonly #records: RecordTable;
  readonly #ledger: Ledger;

  constructor(tables: Readonly<Record<EventType, EventTable>>, records: RecordTable, ledger: Ledger) {
    this.#tables = tables;
    this.#records = records;
    this.#ledger = ledger;
  }

  /** The status of the event's parent; for an update, also that of its own created event. */
  parentStatus(type: EventType, ordinal: number): ParentStatus {
    const table = this.#tables[type];
    if (isUpdate(type)) {
      const own = this.createdStatus(entityOf(type), table.key(ordinal)!);
      if (own === 'failed' || own === 'held' || own === 'expected') return own;
    }
    const parent = table.parent(ordinal);
    if (parent === undefined || table.has(ordinal, FLAG.parentOmitted)) return 'none';
    const status = this.#recordStatus(this.#entityOfParent(parent), parent);
    return status === 'missing' && table.has(ordinal, FLAG.sendWithoutParent) ? 'none' : status;
  }

  /** The status of a record's created event only. */
  createdStatus(entity: Entity, key: number): ParentStatus {
    if (this.#ledger.created(key) === 'acknowledged') return 'exists';
    const ordinal = this.#records.created(key);
    if (ordinal !== undefined) return statusOf(this.#tables[`${entity}/created`].state(ordinal));
    return this.#records.has(key, RECORD.invalidCreated) ? 'failed' : 'none';
  }

  /** What an event with the status `held` waits for: the created event of its own record, or its parent. */
  entityNeededBy(type: EventType, ordinal: number): Entity {
    const table = this.#tables[type];
    const own = isUpdate(type) && this.createdStatus(entityOf(type), table.key(ordinal)!) === 'held';
    return own ? entityOf(type) : this.#entityOfParent(table.parent(ordinal)!);
  }

  /** The created events that must be acknowledged before this one is sent: its parent's, and for an update its own. */
  *eventsNeededBy(type: EventType, ordinal: number): Generator<{ type: EventType; ordinal: number }> {
    const table = this.#tables[type];
    const own = isUpdate(type) ? this.#records.created(table.key(ordinal)!) : undefined;
    if (own !== undefined) yield { type: `${entityOf(type)}/created` as EventType, ordinal: own };
    const parent = table.parent(ordinal);
    const above = parent === undefined ? undefined : this.#records.created(parent);
    if (above !== undefined) yield { type: `${this.#entityOfParent(parent!)}/created`, ordinal: above };
  }

  #recordStatus(entity: 'lead' | 'deal', key: number): ParentStatus {
    if (this.#ledger.acknowledgedUpdates(key) > 0 || this.#records.has(key, RECORD.updated)) return 'exists';
    const created = this.createdStatus(entity, key);
    if (created !== 'none') return created;
    const update = this.#records.updated(key);
    if (update !== undefined) return statusOf(this.#tables[`${entity}/updated`].state(update));
    return this.#records.has(key, RECORD.invalid) ? 'failed' : 'missing';
  }

  #entityOfParent(parent: number): 'lead' | 'deal' {
    return this.#records.has(parent, RECORD.deal) ? 'deal' : 'lead';
  }
}

function statusOf(state: State): ParentStatus {
  if (state === 'acknowledged') return 'exists';
  if (state === 'ready' || state === 'retry') return 'expected';
  return state === 'held' || state === 'waiting' ? 'held' : 'failed';
}

/** After the survey: what the whole input decides about each event. Types not among `only` are held. */
export function linkPlan(plan: Plan, only: readonly EventType[]): void {
  for (const table of Object.values(plan.tables)) {
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      if (lacksParent(plan, table, ordinal)) leaveOutParent(plan, table, ordinal);
    }
  }
  plan.matched.matchInvalidUpdates();
  for (const table of Object.values(plan.tables)) {
    if (isUpdate(table.type)) judgeUpdates(plan, table);
    else judgeCreated(plan, table);
    const isHeld = !only.includes(table.type);
    if (isHeld) table.unselected = table.counts.acknowledged;
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      if (table.isOpen(ordinal)) linkToParent(plan, table, ordinal, isHeld);
    }
  }
}

function linkToParent(plan: Plan, table: EventTable, ordinal: number, isHeld: boolean): void {
  const status = plan.links.parentStatus(table.type, ordinal);
  if (isHeld && (status === 'none' || status === 'exists' || status === 'expected' || status === 'held')) {
    table.setState(ordinal, 'held');
  } else if (status === 'held') table.setState(ordinal, 'waiting');
  else if (status === 'failed' || status === 'missing') table.setState(ordinal, 'blocked');
}

function judgeUpdates(plan: Plan, table: EventTable): void {
  plan.precedence.matchById(table);
  for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
    if (table.isOpen(ordinal)) plan.precedence.judge(table, ordinal);
  }
}

function judgeCreated(plan: Plan, table: EventTable): void {
  for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
    const state = table.state(ordinal);
    if (state === 'acknowledged' || state === 'invalid') continue;
    if (plan.records.has(table.key(ordinal), RECORD.conflict)) table.setState(ordinal, 'invalid');
    else if (table.isOpen(ordinal) && plan.precedence.couldOverwrite(table, ordinal))
      table.setState(ordinal, 'blocked');
  }
}

function lacksParent(plan: Plan, table: EventTable, ordinal: number): boolean {
  if (!table.has(ordinal, FLAG.omitMissingParent)) return false;
  const isCurrent = table.isOpen(ordinal) || table.state(ordinal) === 'acknowledged';
  return isCurrent && plan.links.parentStatus(table.type, ordinal) === 'missing';
}

/** `if_parent_missing: omit`; an event not acknowledged yet may have been sent that way before. */
function leaveOutParent(plan: Plan, table: EventTable, ordinal: number): void {
  const sha = omitParent(plan, table, ordinal);
  if (!table.isOpen(ordinal)) return;
  const key = table.key(ordinal)!;
  if (isUpdate(table.type)) {
    if (!plan.ledger.claimUpdate(key, sha)) return;
    plan.matched.add();
    table.setState(ordinal, 'acknowledged');
  } else if (plan.ledger.created(key) === 'rejected' && plan.ledger.hasContent(key, sha)) {
    table.setState(ordinal, 'retry');
  }
}

/** The event goes out without the reference to its parent, and the plan says so. Returns the hash of that content. */
function omitParent(plan: Plan, table: EventTable, ordinal: number): string {
  const alone = withoutParent(plan.read(table.type, ordinal));
  plan.file.replace(table.at(ordinal)!, alone);
  table.flag(ordinal, FLAG.parentOmitted);
  table.shas.set(ordinal, shaWords(alone.sha));
  return alone.sha;
}
