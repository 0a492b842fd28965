import { Uint32Column } from '../columns.ts';
import { PRIORITIES, type EventType } from '../model.ts';
import { rankOf, type EventTable } from './event-table.ts';
import type { Plan } from './plan.ts';

const LEADS = ['lead/created', 'lead/updated'] as const;
const DEALS = ['deal/created', 'deal/updated'] as const;
const COMMENTS = ['comment/created'] as const;

const USUAL = rankOf(PRIORITIES.usual);
/** Of comments, one of which at least has no priority of its own. */
const AS_PARENT = 0xffffffff;

/**
 * The priority of every event, as its rank (see `rankOf`). It belongs to the record: all events about one record have the
 * same, so that they keep their order.
 *
 * - A record has the highest priority that its events set, or else that of its parent, or else 0.
 * - A parent has at least the priority of what hangs on it.
 * - The comments of one parent have the highest priority that they set; where one sets none, that of the parent.
 *
 * Duplicates and invalid events do not count; events that were acknowledged, or that this run does not send, do: the
 * priority of a record is the same in every run.
 */
export class Priorities {
  readonly #tables: Plan['tables'];
  readonly #isSet: boolean;
  /** By record number, 0 where there is none: what its own events set, what hangs on it, and its comments. */
  readonly #own = new Uint32Column();
  readonly #below = new Uint32Column();
  readonly #comments = new Uint32Column();

  constructor(tables: Plan['tables']) {
    this.#tables = tables;
    this.#isSet = Object.values(tables).some(({ hasPriorities }) => hasPriorities);
    if (this.#isSet) this.#spread();
  }

  rank(type: EventType, ordinal: number): number {
    if (!this.#isSet) return USUAL;
    const table = this.#tables[type];
    if (type !== 'comment/created') return this.#rankOfRecord(table.key(ordinal)!);
    const parent = table.parent(ordinal);
    // Of an event that was acknowledged and can no longer be mapped.
    if (parent === undefined) return USUAL;
    const rank = this.#comments.get(parent);
    return rank === AS_PARENT ? this.#rankOfRecord(parent) : rank;
  }

  /** Up the families, so that no child goes before its parent, then down to records that set none. */
  #spread(): void {
    const [own, below, comments] = [this.#own, this.#below, this.#comments];
    for (const { parent, rank } of this.#counted(COMMENTS)) {
      raise(below, parent, rank);
      raise(comments, parent, rank === 0 ? AS_PARENT : rank);
    }
    for (const { key, rank } of this.#counted([...DEALS, ...LEADS])) raise(own, key, rank);
    for (const { key, parent } of this.#counted(DEALS)) {
      raise(below, parent, Math.max(own.get(key), below.get(key)));
    }
    for (const { key, parent } of this.#counted(DEALS)) {
      if (parent === undefined) continue;
      if (own.get(key) === 0) own.set(key, this.#rankOfRecord(parent));
      // An update can name another parent than the one from which the deal takes its priority.
      raise(below, parent, this.#rankOfRecord(key));
    }
  }

  #rankOfRecord(key: number): number {
    return Math.max(this.#own.get(key) || USUAL, this.#below.get(key));
  }

  *#counted(types: readonly EventType[]): Generator<{ key: number; parent: number | undefined; rank: number }> {
    for (const type of types) {
      const table = this.#tables[type];
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        if (!isCounted(table, ordinal)) continue;
        yield { key: table.key(ordinal)!, parent: table.parent(ordinal), rank: table.rank(ordinal) };
      }
    }
  }
}

/** Whether an event has a place in the order, or had one in an earlier run. */
export function isCounted(table: EventTable, ordinal: number): boolean {
  const state = table.state(ordinal);
  return state !== 'invalid' && state !== 'duplicate';
}

function raise(column: Uint32Column, key: number | undefined, rank: number): void {
  if (key !== undefined && rank > column.get(key)) column.set(key, rank);
}
