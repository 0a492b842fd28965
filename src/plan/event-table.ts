import { ByteColumn, Float64Column, ShaColumn, Uint32Column } from '../columns.ts';
import { shaWords } from '../identity.ts';
import { PRIORITIES, type EventType } from '../model.ts';

/**
 * The state of an event.
 * - `ready`: to be sent. `retry`: rejected by an earlier run and unchanged since, so tried last.
 * - `held`: not selected by `--pilot`, `--limit`, `--pick` or `--only`. `waiting`: selected, but its parent is held or waiting.
 * - The other states are outcomes.
 */
export const STATES = [
  'ready',
  'retry',
  'held',
  'waiting',
  'acknowledged',
  'duplicate',
  'invalid',
  'rejected',
  'blocked',
] as const;
export type State = (typeof STATES)[number];

const NUMBER_OF = Object.fromEntries(STATES.map((state, index) => [state, index])) as Readonly<Record<State, number>>;

/** Properties of one event, as bits. */
export const FLAG = {
  /** Acknowledged earlier with different content. */
  changed: 1,
  /** An update that `if_changed` creates: it is not in the input, so it is not part of the plan's digest. */
  derived: 2,
  /** `if_parent_missing: send`. */
  sendWithoutParent: 4,
  /** `if_parent_missing: omit`. */
  omitMissingParent: 8,
  /** Its parent was not found, so its line in the plan does not refer to it. */
  parentOmitted: 16,
  /** Later acknowledged updates of its record have set all its fields. */
  superseded: 32,
  /** An update that an earlier request may have delivered, although the service did not acknowledge it. */
  uncertain: 64,
} as const;

/** What the index contains about one event. */
export interface IndexEntry {
  readonly state: State;
  /** Bits of `FLAG`. */
  readonly flags?: number;
  /** Record numbers of the event's record and of its parent. */
  readonly key?: number | undefined;
  readonly parent?: number | undefined;
  readonly sha?: string;
  /** Where its line begins in the plan; undefined if it has none. */
  readonly at?: number | undefined;
  /** Undefined where the entry sets none. */
  readonly priority?: number | undefined;
  /** When it happened, in milliseconds since 1970: the order among comments of one parent. */
  readonly time?: number | undefined;
}

/** Priorities as numbers above 0, so that 0 means none. */
const RANK_OF_ZERO = 1 - PRIORITIES.lowest;

export function rankOf(priority: number): number {
  return priority + RANK_OF_ZERO;
}

export function priorityOf(rank: number): number {
  return rank - RANK_OF_ZERO;
}

/**
 * All events of one type in reading order, 26 bytes each, 4 more where the entries set priorities, and 8 more for a
 * comment that has a time. Ordinals count from 0.
 */
export class EventTable {
  readonly type: EventType;
  size = 0;
  /** Acknowledged events that `--pilot`, `--limit`, `--pick` or `--only` does not select. */
  unselected = 0;
  readonly counts: Record<State, number> = {
    ready: 0,
    retry: 0,
    held: 0,
    waiting: 0,
    acknowledged: 0,
    duplicate: 0,
    invalid: 0,
    rejected: 0,
    blocked: 0,
  };
  readonly #states = new ByteColumn();
  readonly #flags = new ByteColumn();
  /** Record numbers of the record and its parent, and positions in the plan, + 1; 0 means none. */
  readonly #keys = new Uint32Column();
  readonly #parents = new Uint32Column();
  readonly #places = new Float64Column();
  readonly #ranks = new Uint32Column();
  /** + 0.5, so that 0 means none. */
  readonly #times = new Float64Column();
  /** Whether an event has a priority of its own. */
  hasPriorities = false;
  readonly shas = new ShaColumn();
  /** The `n` of event ids, by ordinal, if it is not 0. */
  readonly n = new Map<number, number | string>();
  /** Of updates that go out without some of their fields: the ids that they have as a whole. */
  readonly wholeIds = new Map<number, string>();

  constructor(type: EventType) {
    this.type = type;
  }

  add({ state, flags = 0, key, parent, sha, at, priority, time }: IndexEntry): number {
    const ordinal = this.size;
    this.size += 1;
    this.#states.set(ordinal, NUMBER_OF[state]);
    this.counts[state] += 1;
    if (flags !== 0) this.#flags.set(ordinal, flags);
    if (key !== undefined) this.#keys.set(ordinal, key + 1);
    if (parent !== undefined) this.#parents.set(ordinal, parent + 1);
    if (sha !== undefined) this.shas.set(ordinal, shaWords(sha));
    if (at !== undefined) this.#places.set(ordinal, at + 1);
    if (time !== undefined) this.#times.set(ordinal, time + 0.5);
    if (priority !== undefined) {
      this.#ranks.set(ordinal, rankOf(priority));
      this.hasPriorities = true;
    }
    return ordinal;
  }

  state(ordinal: number): State {
    return STATES[this.#states.get(ordinal)]!;
  }

  setState(ordinal: number, state: State): void {
    this.counts[this.state(ordinal)] -= 1;
    this.counts[state] += 1;
    this.#states.set(ordinal, NUMBER_OF[state]);
  }

  has(ordinal: number, flag: number): boolean {
    return (this.#flags.get(ordinal) & flag) !== 0;
  }

  flag(ordinal: number, flag: number): void {
    this.#flags.set(ordinal, this.#flags.get(ordinal) | flag);
  }

  key(ordinal: number): number | undefined {
    return lessOne(this.#keys.get(ordinal));
  }

  parent(ordinal: number): number | undefined {
    return lessOne(this.#parents.get(ordinal));
  }

  clear(ordinal: number, flag: number): void {
    this.#flags.set(ordinal, this.#flags.get(ordinal) & ~flag);
  }

  /** Where the event's line begins in the plan. */
  at(ordinal: number): number | undefined {
    return lessOne(this.#places.get(ordinal));
  }

  /** The event's own priority (see `rankOf`); 0 where its entry sets none. */
  rank(ordinal: number): number {
    return this.#ranks.get(ordinal);
  }

  /** Comparable: a later event has a higher one, and one without a time the highest. */
  time(ordinal: number): number {
    const stored = this.#times.get(ordinal);
    return stored === 0 ? Infinity : stored;
  }

  forgetLine(ordinal: number): void {
    this.#places.set(ordinal, 0);
  }

  /** Whether the event has still to be sent in this run. */
  isOpen(ordinal: number): boolean {
    const state = this.state(ordinal);
    return state === 'ready' || state === 'retry';
  }

  /** Whether an event is about this record. */
  hasEventOf(key: number): boolean {
    for (let ordinal = 0; ordinal < this.size; ordinal += 1) if (this.key(ordinal) === key) return true;
    return false;
  }
}

function lessOne(stored: number): number | undefined {
  return stored === 0 ? undefined : stored - 1;
}
