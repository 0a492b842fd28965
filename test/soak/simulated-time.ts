/**
 * Imported before a program (`node --import`), replaces its clocks and timers: when no request is in flight and no file is
 * being read or written, time skips to the next timer. Otherwise it passes as usual.
 */
import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { SharedTime } from './shared-time.ts';

const time = SharedTime.join(process.env.SHARED_TIME!);
const began = time.monotonic();

class SimulatedTimer {
  readonly #call: () => void;
  readonly #ms: number;
  readonly #repeats: boolean;
  isRef = true;
  due = 0;

  constructor(call: () => void, ms: number, repeats: boolean) {
    this.#call = call;
    this.#ms = ms > 1 ? ms : 0;
    this.#repeats = repeats;
    this.refresh();
  }

  fire(): void {
    if (this.#repeats) this.refresh();
    else timers.delete(this);
    this.#call();
  }

  refresh(): this {
    this.due = time.monotonic() + this.#ms;
    timers.add(this);
    if (this.isRef) pause?.ref();
    if (this.#ms === 0 && pause) resume();
    return this;
  }

  ref(): this {
    this.isRef = true;
    pause?.ref();
    return this;
  }

  unref(): this {
    this.isRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.isRef;
  }

  close(): void {
    timers.delete(this);
  }
}

const timers = new Set<SimulatedTimer>();
let pause: NodeJS.Timeout | undefined;
const real = { setTimeout, setImmediate, clearTimeout, Date };

function timerOf(repeats: boolean) {
  return (call: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): SimulatedTimer =>
    new SimulatedTimer(() => call(...args), ms, repeats);
}

function clear(timer: unknown): void {
  if (timer instanceof SimulatedTimer) timer.close();
  else real.clearTimeout(timer as NodeJS.Timeout);
}

class SimulatedDate extends real.Date {
  constructor(...given: number[]) {
    super(...((given.length === 0 ? [time.wall()] : given) as [number]));
  }

  static override now(): number {
    return Math.floor(time.wall());
  }
}

Object.assign(globalThis, {
  Date: SimulatedDate,
  setTimeout: timerOf(false),
  setInterval: timerOf(true),
  clearTimeout: clear,
  clearInterval: clear,
});
performance.now = () => time.monotonic() - began;
os.uptime = () => time.wall() / 1000;
syncBuiltinESMExports();

const requests = new Set<unknown>();
const request = (message: unknown): unknown => (message as { request: unknown }).request;
subscribe('undici:request:create', (message) => requests.add(request(message)));
subscribe('undici:request:trailers', (message) => requests.delete(request(message)));
subscribe('undici:request:error', (message) => requests.delete(request(message)));

function usesFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}

/** A timer without delay does not wait for the end of a pause. */
function resume(): void {
  real.clearTimeout(pause);
  pause = undefined;
  real.setImmediate(step);
}

/** Turns of the event loop in a row without anything to do: what an event has set off may take several. */
let idle = 0;
/** Turns in a row in which a file was in use: most reads and writes are short, but a busy disk is not worth spinning for. */
let turns = 0;
let steps = 0;

const MOST_TURNS = 20;

function step(): void {
  if (steps++ % 10_000 === 0) time.set('peakMemory', Math.max(time.get('peakMemory'), process.resourceUsage().maxRSS));
  let next: SimulatedTimer | undefined;
  let mayEnd = true;
  for (const timer of timers) {
    if (!next || timer.due < next.due) next = timer;
    if (timer.isRef) mayEnd = false;
  }
  if (next && next.due <= time.monotonic()) {
    idle = 0;
    next.fire();
    real.setImmediate(step);
    return;
  }
  const isUsingFiles = requests.size === 0 && usesFiles();
  turns = isUsingFiles ? turns + 1 : 0;
  if (!next || mayEnd || requests.size > 0 || turns > MOST_TURNS) {
    idle = 0;
    time.refresh();
    pause = real.setTimeout(resume, 1);
    if (mayEnd) pause.unref();
    return;
  }
  idle = isUsingFiles ? 0 : idle + 1;
  if (idle > 3) {
    time.refresh();
    time.skip('awake', Math.max(0, next.due - time.monotonic()));
  }
  real.setImmediate(step);
}
real.setImmediate(step);
