import { EVENT_TYPES, type EventType } from '../model.ts';
import { inTurns } from './comment-order.ts';
import { priorityOf } from './event-table.ts';
import type { Plan } from './plan.ts';
import { isCounted, Priorities } from './priorities.ts';

/** How far the events of one priority are. */
export interface PriorityProgress {
  readonly priority: number;
  /** Acknowledged ones, those that this run sends, and those that cannot be sent; not those that it excludes. */
  readonly events: number;
  acknowledged: number;
  /** Events that this run still has to send. */
  left: number;
  /** When the last of them was settled; undefined before, and if this run had none to send. */
  doneAt: Date | undefined;
}

/** An event whose turn it is. */
export interface DueEvent {
  readonly type: EventType;
  readonly ordinal: number;
  /** `retry`: an earlier run saw it rejected. */
  readonly state: 'ready' | 'retry';
  /** Counted from 0. */
  readonly place: number;
  readonly progress: PriorityProgress;
}

/** Ordinals of the events to send of one type, by priority, and where each priority begins. */
interface DueOrdinals {
  readonly ordinals: Uint32Array;
  readonly starts: readonly number[];
}

/**
 * The order in which a run sends its events: by priority, within a priority by type, within a type first what was never
 * tried, and then as in the files. Comments of one parent go by time (see `inTurns`).
 */
export class SendOrder {
  /** The highest first. */
  readonly priorities: readonly PriorityProgress[];
  readonly #plan: Plan;
  readonly #tables: Plan['tables'];
  readonly #ranks: Priorities;

  /** To be created when the state of every event is decided. */
  constructor(plan: Plan) {
    this.#plan = plan;
    this.#tables = plan.tables;
    this.#ranks = new Priorities(plan.tables);
    this.priorities = this.#count();
  }

  /** Every event to send. `lanes`: how many parents take turns where their comments are sent. */
  *turns(lanes: number): Generator<DueEvent, void, undefined> {
    let place = 0;
    const due = new Map(EVENT_TYPES.map((type) => [type, this.#dueOrdinals(type)]));
    const uncertain = new Map(EVENT_TYPES.map((type) => [type, [...this.#plan.precedence.uncertain(type)]]));
    for (const [index, progress] of this.priorities.entries()) {
      for (const [type, { ordinals, starts }] of due) {
        const events = ordinals.subarray(starts[index], starts[index + 1]);
        for (const { ordinal, state } of this.#ofType(type, events, uncertain.get(type)!, lanes)) {
          yield { type, ordinal, state, place, progress };
          place += 1;
        }
      }
    }
  }

  /** Records that an event whose turn it was has ended. One that is not settled, because the run stops, is still left. */
  ended({ type, ordinal, progress }: DueEvent): void {
    const table = this.#tables[type];
    if (table.isOpen(ordinal)) return;
    if (table.state(ordinal) === 'acknowledged') progress.acknowledged += 1;
    progress.left -= 1;
    if (progress.left === 0) progress.doneAt = new Date();
  }

  /**
   * The events of one type and priority: first updates that may have arrived (see `Precedence`), last what was rejected
   * before. `uncertain`: such updates of any priority.
   */
  *#ofType(
    type: EventType,
    events: Uint32Array,
    uncertain: readonly number[],
    lanes: number,
  ): Generator<Pick<DueEvent, 'ordinal' | 'state'>> {
    const table = this.#tables[type];
    const first = uncertain.length === 0 ? [] : uncertain.filter((ordinal) => events.includes(ordinal));
    for (const ordinal of first) yield { ordinal, state: table.state(ordinal) === 'retry' ? 'retry' : 'ready' };
    for (const state of ['ready', 'retry'] as const) {
      const found = events.filter((ordinal) => table.state(ordinal) === state && !first.includes(ordinal));
      const inOrder = type === 'comment/created' ? inTurns(table, found, lanes) : found;
      for (const ordinal of inOrder) yield { ordinal, state };
    }
  }

  #count(): PriorityProgress[] {
    const byRank = new Map<number, { -readonly [K in keyof PriorityProgress]: PriorityProgress[K] }>();
    for (const type of EVENT_TYPES) {
      const table = this.#tables[type];
      for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
        const state = table.state(ordinal);
        if (!isCounted(table, ordinal) || state === 'held' || state === 'waiting') continue;
        const rank = this.#ranks.rank(type, ordinal);
        let counts = byRank.get(rank);
        if (!counts) {
          counts = { priority: priorityOf(rank), events: 0, acknowledged: 0, left: 0, doneAt: undefined };
          byRank.set(rank, counts);
        }
        counts.events += 1;
        if (state === 'acknowledged') counts.acknowledged += 1;
        if (table.isOpen(ordinal)) counts.left += 1;
      }
    }
    return [...byRank.values()].sort((one, other) => other.priority - one.priority);
  }

  /** A counting sort: the events of a priority keep the order of the files. */
  #dueOrdinals(type: EventType): DueOrdinals {
    const table = this.#tables[type];
    const levels = new Map(this.priorities.map(({ priority }, index) => [priority, index]));
    const levelOf = (ordinal: number): number => levels.get(priorityOf(this.#ranks.rank(type, ordinal)))!;
    const starts = new Array<number>(levels.size + 1).fill(0);
    for (let ordinal = 0; ordinal < table.size; ordinal += 1)
      if (table.isOpen(ordinal)) starts[levelOf(ordinal) + 1]! += 1;
    for (let level = 0; level < levels.size; level += 1) starts[level + 1]! += starts[level]!;
    const ordinals = new Uint32Array(starts[levels.size]!);
    const next = [...starts];
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      if (table.isOpen(ordinal)) ordinals[next[levelOf(ordinal)]!++] = ordinal;
    }
    return { ordinals, starts };
  }
}
