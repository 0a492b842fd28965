import type { Ledger } from '../checkpoint/ledger.ts';
import { entityOf, isUpdate, type Entity, type EventType } from '../model.ts';
import { FLAG, type EventTable, type State } from './event-table.ts';
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
    return this.#records.has(key, RECORD.invalid) ? 'failed' : 'none';
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
    return update === undefined ? 'missing' : statusOf(this.#tables[`${entity}/updated`].state(update));
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
