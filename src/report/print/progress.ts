import cliProgress from 'cli-progress';
import { rowsOf, upAndClear, type Console } from './console.ts';
import { cutTo, padded } from './layout.ts';
import { numberText } from '../words/numbers.ts';
import { countText, isSerious, progressLogLine, statusLine, waitingText, type WaitingState } from './progress-text.ts';
import { ProgressTracker, type ProgressView } from './progress-tracker.ts';

export interface Progress {
  stop(): void;
}

const LINE_EVERY_MS = 60_000;
const UPDATE_EVERY_MS = 1_000;
const BAR_EVERY_MS = 250;

/** The line of one event type; on a narrow terminal, without a bar. */
const WIDE = '{type}  {bar}  {count} {percentage} %{rejected}';
const NARROW = '{type} {count} {percentage} %';
const SHORTEST_BAR = 8;
const LONGEST_BAR = 40;
/** The width beside type, bar and count: spaces, `100 %`, and room for `12,345 rejected`. */
const BESIDE = 28;

/** Bars on a terminal, otherwise one line per minute. The time left is never estimated below what the rate permits. */
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
    if (down && !wasDown) console.say(waitingText(down, pace.now));
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

/** One bar per event type, and a line below them. None is wider than the terminal, so that none wraps. */
function startBars(console: Console, terminal: NodeJS.WriteStream, tracker: ProgressTracker): Progress {
  const lines: string[] = [];
  const bars = new cliProgress.MultiBar({
    // As if it were of any width: lines are cut there, and colours counted as text.
    stream: { isTTY: true, columns: Infinity, write: (text: string) => terminal.write(text) } as NodeJS.WriteStream,
    format: (
      options,
      params,
      payload: { readonly line: number; readonly format: string; readonly barsize: number },
    ) => {
      const { line, format, barsize } = payload;
      return (lines[line] = cutTo(
        cliProgress.Format.Formatter({ ...options, format, barsize }, params, payload),
        console.columns - 1,
      ));
    },
    barCompleteChar: '█',
    barIncompleteChar: '░',
    autopadding: true,
    hideCursor: true,
    clearOnComplete: false,
    gracefulExit: false,
    forceRedraw: true,
    linewrap: true,
  });
  const showCursor = (): void => void terminal.write('\u001b[?25h');
  process.once('exit', showCursor);
  const types = tracker.types();
  const typeBars = types.map(({ total }, line) => bars.create(total, 0, { line, format: '' }));
  const status = bars.create(1, 0, { line: types.length, format: '{text}' });
  const refresh = (): void => {
    const [counts, pace] = [tracker.types(), tracker.pace()];
    const width = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));
    const [name, count] = [width(counts.map(({ type }) => type)), width(counts.map(countText))];
    const barsize = Math.min(LONGEST_BAR, console.columns - 1 - name - count - BESIDE);
    for (const [at, each] of counts.entries()) {
      typeBars[at]!.update(each.acknowledged + each.rejected, {
        format: barsize < SHORTEST_BAR ? NARROW : WIDE,
        barsize,
        type: padded(each.type, name),
        count: countText(each).padStart(count),
        rejected: each.rejected === 0 ? '' : `  ${console.paint('red', `${numberText(each.rejected)} rejected`)}`,
      });
    }
    const text = statusLine(pace, console.columns - 1);
    status.update(0, { text: isSerious(pace) ? console.paint('yellow', text) : text });
  };
  refresh();
  // Clears the rest of the screen, or remains of the bars would show beside a shorter line.
  console.overBars = (line) => bars.log(`\u001b[0J${line}\n`);
  const timer = setInterval(refresh, BAR_EVERY_MS).unref();
  // A terminal that has become narrower continues the bars in further rows, which the next drawing would leave behind.
  const resized = (): void => {
    terminal.write(upAndClear(rowsOf(lines.join('\n'), console.columns) - 1) + '\n'.repeat(lines.length - 1));
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
