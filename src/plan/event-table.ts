import { ByteColumn, Uint32Column } from '../keys.ts';
import { ShaColumn, shaWords } from '../checkpoint/ledger.ts';
import type { EventType } from '../model.ts';

/**
 * Where an event stands.
 * - `ready`: to be sent. `retry`: rejected by an earlier run and unchanged since, so tried last.
 * - `held`: not to be sent by this run (`--only`, `--limit`, `--pick`, or a parent that is held).
 * - the others are outcomes.
 */
export const STATES = [
  'ready',
  'retry',
  'held',
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
  /** Acknowledged earlier with other content. */
  changed: 1,
  /** `if_changed` sends an update for it: the next event of the `updated` table. */
  derives: 2,
  /** `if_parent_missing: send`. */
  sendWithoutParent: 4,
  /** `if_parent_missing: omit`. */
  omitMissingParent: 8,
  /** Its parent is nowhere, so the reference is left out. */
  parentOmitted: 16,
  /** A duplicate with other content than the one that counts. */
  dropped: 32,
  /** What is wrong with it stands in the report already. */
  reported: 64,
} as const;

/** The numbers of an event's record and of its parent, and the hash of its content. */
export interface About {
  readonly key?: number | undefined;
  readonly parent?: number | undefined;
  readonly sha?: string;
}

/** All events of one type in reading order, 18 bytes each: no texts. Ordinals count from 0. */
export class EventTable {
  readonly type: EventType;
  size = 0;
  readonly counts: Record<State, number> = {
    ready: 0,
    retry: 0,
    held: 0,
    acknowledged: 0,
    duplicate: 0,
    invalid: 0,
    rejected: 0,
    blocked: 0,
  };
  readonly #states = new ByteColumn();
  readonly #flags = new ByteColumn();
  /** Numbers of the record and of its parent, + 1; 0 is none. */
  readonly #keys = new Uint32Column();
  readonly #parents = new Uint32Column();
  readonly shas = new ShaColumn();
  /** The `n` of event ids where it is not 0. */
  readonly n = new Map<number, number>();

  constructor(type: EventType) {
    this.type = type;
  }

  add(state: State, flags: number, { key, parent, sha }: About): number {
    const ordinal = this.size;
    this.size += 1;
    this.#states.set(ordinal, NUMBER_OF[state]);
    this.counts[state] += 1;
    if (flags !== 0) this.#flags.set(ordinal, flags);
    if (key !== undefined) this.#keys.set(ordinal, key + 1);
    if (parent !== undefined) this.#parents.set(ordinal, parent + 1);
    if (sha !== undefined) this.shas.set(ordinal, shaWords(sha));
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
    const key = this.#keys.get(ordinal);
    return key === 0 ? undefined : key - 1;
  }

  /** Whether an event is about this record. */
  holds(key: number): boolean {
    for (let ordinal = 0; ordinal < this.size; ordinal += 1) if (this.key(ordinal) === key) return true;
    return false;
  }

  parent(ordinal: number): number | undefined {
    const parent = this.#parents.get(ordinal);
    return parent === 0 ? undefined : parent - 1;
  }
}
