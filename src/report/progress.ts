import { MultiBar } from 'cli-progress';
import { styleText } from 'node:util';
import type { Console } from '../console.ts';
import { progressLines, progressLogLine, waitingText, type Colorize, type WaitingState } from './progress-text.ts';
import { ProgressTracker, type ProgressView } from './progress-tracker.ts';

export interface Progress {
  stop(): void;
}

const LINE_EVERY_MS = 60_000;
const UPDATE_EVERY_MS = 1_000;
const BAR_EVERY_MS = 250;

/** Bars on a terminal, otherwise one line per minute. The time left is never estimated below what `allowed` permits. */
export function startProgress(console: Console, view: ProgressView): Progress {
  const tracker = new ProgressTracker(view);
  return console.isTerminal && process.env.TERM !== 'dumb' ? startBars(console, tracker) : startLines(console, tracker);
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
