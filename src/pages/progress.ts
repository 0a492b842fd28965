import { MultiBar } from 'cli-progress';
import { rowsOf, upAndClear, type Console } from '../console.ts';
import { progressLines, progressLogLine, waitingText, type WaitingState } from './progress-text.ts';
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
  const terminal = console.barTerminal;
  return terminal ? startBars(console, terminal, tracker) : startLines(console, tracker);
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

function startBars(console: Console, terminal: NodeJS.WriteStream, tracker: ProgressTracker): Progress {
  let lines: readonly string[] = [];
  let drawn: readonly string[] = [];
  const bars = new MultiBar({
    format: (_options, _params, payload: { line: number }) => lines[payload.line] ?? '',
    // As if it were of any width: lines are cut there, and colours counted as text. None is wider than the terminal.
    stream: { isTTY: true, columns: Infinity, write: (text: string) => terminal.write(text) } as NodeJS.WriteStream,
    hideCursor: true,
    clearOnComplete: false,
    gracefulExit: false,
    forceRedraw: true,
    linewrap: true,
  });
  bars.on('redraw-post', () => (drawn = lines));
  const showCursor = (): void => void terminal.write('\u001b[?25h');
  process.once('exit', showCursor);
  const refresh = (): void => {
    lines = progressLines(tracker.types(), tracker.pace(), console.columns, (style, text) =>
      console.paint(style, text),
    );
  };
  refresh();
  for (const line of lines.keys()) bars.create(1, 0, { line });
  // Clears the rest of the screen, or remains of the bars would show beside a shorter line.
  console.overBars = (line) => bars.log(`\u001b[0J${line}\n`);
  const timer = setInterval(refresh, BAR_EVERY_MS).unref();
  // A terminal that has become narrower continues the bars in further rows, which the next drawing would leave behind.
  const resized = (): void => {
    terminal.write(upAndClear(rowsOf(drawn.join('\n'), console.columns) - 1) + '\n'.repeat(drawn.length - 1));
    refresh();
    bars.update();
  };
  terminal.on('resize', resized);
  return {
    stop() {
      clearInterval(timer);
      terminal.off('resize', resized);
      refresh();
      bars.update();
      bars.stop();
      console.overBars = undefined;
      process.off('exit', showCursor);
    },
  };
}
