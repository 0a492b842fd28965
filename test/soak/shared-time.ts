/**
 * A simulated clock that several processes share through a file: real time, plus the time that a run has skipped because it
 * had nothing to do but wait, plus the time that the machine was asleep.
 */
import { openSync, readSync, writeSync } from 'node:fs';

/** Three doubles. */
const SLOTS = { awake: 0, asleep: 1, peakMemory: 2 } as const;
type Slot = keyof typeof SLOTS;

export class SharedTime {
  readonly #file: number;
  /** As last read or written. */
  readonly #values = new Float64Array(Object.keys(SLOTS).length);

  private constructor(file: number) {
    this.#file = file;
  }

  /** A clock that shows `wall` (milliseconds since 1970) now. */
  static begin(path: string, wall: number): SharedTime {
    const time = new SharedTime(openSync(path, 'w+'));
    for (const slot of ['peakMemory', 'asleep'] as const) time.set(slot, 0);
    time.set('awake', wall - realTime());
    return time;
  }

  static join(path: string): SharedTime {
    const time = new SharedTime(openSync(path, 'r+'));
    time.refresh();
    return time;
  }

  /** Reads what other processes have changed. */
  refresh(): void {
    readSync(this.#file, this.#values, 0, this.#values.byteLength, 0);
  }

  /** Milliseconds, without those asleep. */
  monotonic(): number {
    return realTime() + this.get('awake');
  }

  /** Milliseconds since 1970. */
  wall(): number {
    return this.monotonic() + this.get('asleep');
  }

  get(slot: Slot): number {
    return this.#values[SLOTS[slot]]!;
  }

  /** At any time, only one process changes a slot. */
  set(slot: Slot, value: number): void {
    this.#values[SLOTS[slot]] = value;
    writeSync(this.#file, this.#values, SLOTS[slot] * 8, 8, SLOTS[slot] * 8);
  }

  skip(slot: 'awake' | 'asleep', ms: number): void {
    this.set(slot, this.get(slot) + ms);
  }
}

/** Milliseconds, the same in all processes of this machine. */
function realTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
