/**
 * Simulated time: replaces the clocks, the timers and the random numbers of this process. Whenever the program waits for
 * nothing but time, time skips to the next timer, so a week passes in milliseconds and the same seed gives the same history.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

const BEGIN = Date.UTC(2026, 0, 5, 8);
const real = { setTimeout, setImmediate, clearTimeout, Date };

/** Repeated timers may be late by this, as in a busy process; less than what the program takes for sleep of the machine. */
const HOP_MS = 10_000;
/** A run that takes longer than this hangs. */
const LONGEST_RUN_MS = 40 * 24 * 60 * 60 * 1000;
/** So long without anything to do and without a timer, in real milliseconds. */
const MOST_IDLE_MS = 5_000;

/** A run that does not end. */
export class Hangs extends Error {
  override readonly name = 'Hangs';
}

class Timer {
  readonly #call: () => void;
  readonly #ms: number;
  readonly repeats: boolean;
  due = 0;

  constructor(call: () => void, ms: number, repeats: boolean) {
    this.#call = call;
    this.#ms = ms > 1 ? ms : 1;
    this.repeats = repeats;
    this.refresh();
  }

  fire(): void {
    if (this.repeats) this.refresh();
    else timers.delete(this);
    this.#call();
  }

  refresh(): this {
    this.due = now + this.#ms;
    timers.add(this);
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  close(): void {
    timers.delete(this);
  }
}

const timers = new Set<Timer>();
/** Monotonic milliseconds. */
let now = 0;
/** The wall clock of this machine less the true time, and how long the monotonic clock stood still while it slept. */
let wallError = 0;
let stoodStill = 0;
let immediates = 0;
let random = generator(1);

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Milliseconds since 1970, by a clock that nobody sets: that of the service. */
export function trueTime(): number {
  return BEGIN + now + stoodStill;
}

/** Begins a history: all clocks and random numbers as at the first one. */
export function beginTime(seed: number): void {
  timers.clear();
  [now, wallError, stoodStill, immediates] = [0, 0, 0, 0];
  random = generator(seed);
}

/** Somebody sets the wall clock of this machine forwards or backwards. */
export function setWallClock(byMs: number): void {
  wallError += byMs;
}

/** The machine sleeps; on some systems the monotonic clock stands still meanwhile. */
export function sleepMachine(ms: number, stands: boolean): void {
  if (stands) stoodStill += ms;
  else now += ms;
}

/** Time passes while nothing runs. */
export function passTime(ms: number): void {
  now += ms;
}

/** Resolves `ms` milliseconds of true time later, whatever the program does. */
export function after(ms: number): Promise<void> {
  return new Promise((resolve) => new Timer(resolve, ms, false));
}

/** Drives time until the work has ended. Rejects with `Hangs` if it never does. */
export async function driveUntil<T>(work: Promise<T>): Promise<T> {
  let ended = false;
  const end = (): void => void (ended = true);
  work.then(end, end);
  const until = now + LONGEST_RUN_MS;
  let idleSince: number | undefined;
  for (;;) {
    await new Promise(real.setImmediate);
    if (ended) return work;
    if (immediates > 0) continue;
    if (now > until) throw new Hangs('the run takes weeks');
    idleSince = fireNext() ? undefined : (idleSince ?? realNow());
    if (realNow() - (idleSince ?? Infinity) > MOST_IDLE_MS) {
      throw new Hangs('the run waits for something that never happens');
    }
  }
}

/** Returns false if there is no timer. */
function fireNext(): boolean {
  let next: Timer | undefined;
  let once: Timer | undefined;
  for (const timer of timers) {
    if (!next || timer.due < next.due) next = timer;
    if (!timer.repeats && (!once || timer.due < once.due)) once = timer;
  }
  if (!next) return false;
  if (next.repeats) {
    now = Math.max(now, next.due, Math.min(once?.due ?? Infinity, now + HOP_MS));
    for (const timer of [...timers]) if (timer.repeats && timer.due <= now) timer.fire();
    return true;
  }
  now = Math.max(now, next.due);
  next.fire();
  return true;
}

class SimulatedDate extends real.Date {
  constructor(...given: number[]) {
    super(...((given.length === 0 ? [SimulatedDate.now()] : given) as [number]));
  }

  static override now(): number {
    return Math.floor(trueTime() + wallError);
  }
}

function timerOf(repeats: boolean) {
  return (call: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Timer =>
    new Timer(() => call(...args), ms, repeats);
}

function clear(timer: unknown): void {
  if (timer instanceof Timer) timer.close();
  else real.clearTimeout(timer as NodeJS.Timeout);
}

function countedImmediate(call: (...args: unknown[]) => void, ...args: unknown[]): NodeJS.Immediate {
  immediates += 1;
  return real.setImmediate(() => {
    immediates -= 1;
    call(...args);
  });
}

function randomBytes(size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)));
}

function randomUUID(): string {
  const hex = randomBytes(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** From now on this process lives in simulated time. */
export function simulateTime(): void {
  Object.assign(globalThis, {
    Date: SimulatedDate,
    setTimeout: timerOf(false),
    setInterval: timerOf(true),
    clearTimeout: clear,
    clearInterval: clear,
    setImmediate: countedImmediate,
  });
  performance.now = () => now;
  Math.random = () => random();
  os.uptime = () => (now + stoodStill) / 1000;
  Object.assign(crypto, { randomUUID, randomBytes });
  syncBuiltinESMExports();
}

/** Real milliseconds, for the budget of a simulation. */
export const realNow = ((): (() => number) => {
  const { hrtime } = process;
  return () => Number(hrtime.bigint() / 1_000_000n);
})();
