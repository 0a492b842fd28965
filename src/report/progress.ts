import { MultiBar } from 'cli-progress';
import { styleText } from 'node:util';
import type { Console } from '../console.ts';
import { EVENT_TYPES, type EventType } from '../model.ts';
import {
  progressLines,
  progressLogLine,
  RateMeter,
  waitingText,
  type ProgressSnapshot,
  type Colorize,
  type TypeProgress,
  type WaitingState,
} from './progress-text.ts';
import type { Rate } from '../settings.ts';

/** The state that progress is drawn from, read each time it is drawn. */
export interface ProgressView {
  readonly plan: {
    readonly tables: Readonly<
      Record<EventType, { readonly size: number; readonly counts: Readonly<Record<string, number>> }>
    >;
  };
  readonly deliverer: {
    status(): { readonly waiting?: { readonly reason: WaitingState['reason']; readonly nextInMs: number } };
  };
}

export interface Progress {
  stop(): void;
}

const LINE_EVERY_MS = 60_000;
const UPDATE_EVERY_MS = 1_000;
const BAR_EVERY_MS = 250;

/** Bars on a terminal, otherwise one line per minute. The time left is never estimated below what `allowed` permits. */
export function startProgress(console: Console, view: ProgressView, allowed: Rate): Progress {
  const tracker = new ProgressTracker(view, allowed);
  return console.isTerminal && process.env.TERM !== 'dumb' ? startBars(console, tracker) : startLines(console, tracker);
}

/** Tracks what a single reading cannot show: the rate, and how long the run has been waiting. */
class ProgressTracker {
  readonly #view: ProgressView;
  readonly #meter: RateMeter;
  #waitingSince: { reason: string; at: number } | undefined;

  constructor(view: ProgressView, allowed: Rate) {
    this.#view = view;
    this.#meter = new RateMeter(allowed);
    this.pace();
  }

  types(): TypeProgress[] {
    return EVENT_TYPES.flatMap((type) => {
      const { size: total, counts } = this.#view.plan.tables[type];
      if (total === 0) return [];
      const { acknowledged = 0, rejected = 0, ready = 0, retry = 0, held = 0, waiting = 0 } = counts;
      return [{ type, total, acknowledged, rejected, settled: total - ready - retry - held - waiting }];
    });
  }

  pace(): ProgressSnapshot {
    const now = performance.now();
    const types = this.types();
    const sum = (key: 'acknowledged' | 'rejected'): number => types.reduce((total, each) => total + each[key], 0);
    const left = EVENT_TYPES.reduce((total, type) => {
      const { ready = 0, retry = 0 } = this.#view.plan.tables[type].counts;
      return total + ready + retry;
    }, 0);
    const measured = this.#meter.measure(now, sum('acknowledged') + sum('rejected'), left);
    return { ...measured, left, waiting: this.#waiting(now), now: new Date() };
  }

  #waiting(now: number): WaitingState | undefined {
    const { waiting } = this.#view.deliverer.status();
    if (!waiting) this.#waitingSince = undefined;
    else if (this.#waitingSince?.reason !== waiting.reason) this.#waitingSince = { reason: waiting.reason, at: now };
    return waiting && { ...waiting, forMs: now - this.#waitingSince!.at };
  }
}

function startLines(console: Console, tracker: ProgressTracker): Progress {
  let wasDown: WaitingState | undefined;
  let printedAt = performance.now();
  const update = (): void => {
    const pace = tracker.pace();
    const down = pace.waiting?.reason === 'outage' ? pace.waiting : undefined;
    if (down && !wasDown) console.say(waitingText(down));
    if (!down && wasDown) console.say('the service is back');
    wasDown = down;
    if (performance.now() - printedAt < LINE_EVERY_MS) return;
    printedAt = performance.now();
    console.say(progressLogLine(tracker.types(), pace));
  };
  const timer = setInterval(update, UPDATE_EVERY_MS).unref();
  return {
    stop() {
      clearInterval(timer);
      update();
    },
  };
}

function startBars(console: Console, tracker: ProgressTracker): Progress {
  let lines: readonly string[] = [];
  const bars = new MultiBar({
    format: (_options, _params, payload: { line: number }) => lines[payload.line] ?? '',
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: false,
    gracefulExit: false,
    forceRedraw: true,
    linewrap: true,
  });
  const showCursor = (): void => void process.stderr.write('\u001b[?25h');
  process.once('exit', showCursor);
  const refresh = (): void => {
    lines = progressLines(tracker.types(), tracker.pace(), console.columns, colorize);
  };
  refresh();
  for (const line of lines.keys()) bars.create(1, 0, { line });
  // Clears the rest of the screen, or remains of the bars would show beside a shorter line.
  console.overBars = (line) => bars.log(`\u001b[0J${line}\n`);
  const timer = setInterval(refresh, BAR_EVERY_MS).unref();
  return {
    stop() {
      clearInterval(timer);
      refresh();
      bars.update();
      bars.stop();
      console.overBars = undefined;
      process.off('exit', showCursor);
    },
  };
}

const colorize: Colorize = (colour, text) => (process.env.NO_COLOR ? text : styleText(colour, text));
