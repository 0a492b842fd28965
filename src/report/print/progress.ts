import cliProgress from 'cli-progress';
import { rowsOf, upAndClear, type Console } from './console.ts';
import { cutTo, padded } from './layout.ts';
import { numberText } from '../words/numbers.ts';
import {
  countText,
  isSerious,
  progressLogLine,
  statusLine,
  waitingText,
  type TypeProgress,
  type WaitingState,
} from './progress-text.ts';
import { ProgressTracker, type ProgressView } from './progress-tracker.ts';

export interface Progress {
  stop(): void;
}

const LINE_EVERY_MS = 60_000;
const UPDATE_EVERY_MS = 1_000;
const BAR_EVERY_MS = 250;

/** The line of one event type; on a narrow terminal, without a bar. */
const WIDE = '{type}  {bar}  {count} {percentage} %{rejected}';
const NARROW = '{type} {count} {percentage} %{rejected}';
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
  const showCursor = (): void => void terminal.write('\u001b[?25h');
  let frame = '';
  // The library knows nothing of rows that a terminal has broken since: what it draws is collected, and placed below.
  const stream = { isTTY: true, columns: Infinity, write: (text: string) => (frame += text) };
  const bars = new cliProgress.MultiBar({
    stream: stream as unknown as NodeJS.WriteStream,
    format: (options, params, payload: BarPayload) =>
      cutTo(cliProgress.Format.Formatter({ ...options, ...payload }, params, payload), console.columns - 1),
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: LONGEST_BAR,
    autopadding: true,
    forceRedraw: true,
    linewrap: true,
    gracefulExit: false,
    // Its own timer may fire before the signal that the terminal has another size.
    fps: 1 / 86_400,
  });
  const typeBars = tracker.types().map(({ total }) => bars.create(total, 0));
  const status = bars.create(1, 0, { format: '{text}' });
  let drawn: string | undefined;
  const draw = (above = ''): void => {
    const [types, pace, room] = [tracker.types(), tracker.pace(), console.columns - 1];
    for (const [at, payload] of typePayloads(types, room, console).entries()) {
      typeBars[at]!.update(types[at]!.acknowledged + types[at]!.rejected, payload);
    }
    const text = statusLine(pace, room);
    status.update(0, { text: isSerious(pace) ? console.paint('yellow', text) : text });
    frame = '';
    bars.update();
    // A terminal that has become narrower continues the bars in further rows.
    const back = drawn === undefined ? '\u001b[?25l' : upAndClear(rowsOf(drawn, console.columns) - 1);
    drawn = frame.replace(MOVES, '');
    terminal.write(`${back}${above}${drawn}`);
  };
  process.once('exit', showCursor);
  draw();
  console.overBars = (line) => draw(`${line}\n`);
  let next: NodeJS.Immediate | undefined;
  // In its turn after the signal that the terminal has another size.
  const timer = setInterval(() => (next = setImmediate(draw)), BAR_EVERY_MS).unref();
  return {
    stop() {
      clearInterval(timer);
      clearImmediate(next);
      tracker.recount();
      draw();
      bars.stop();
      terminal.write('\n');
      showCursor();
      console.overBars = undefined;
      process.off('exit', showCursor);
    },
  };
}

/** By which the library moves the cursor and clears lines. */
const MOVES = /\u001b\[\d*[AGK]/g;

interface BarPayload {
  readonly format: string;
  readonly barsize?: number;
}

function typePayloads(types: readonly TypeProgress[], room: number, console: Console): readonly BarPayload[] {
  const width = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));
  const [name, count] = [width(types.map(({ type }) => type)), width(types.map(countText))];
  const barsize = Math.min(LONGEST_BAR, room - name - count - BESIDE);
  return types.map((each) => ({
    ...{ format: barsize < SHORTEST_BAR ? NARROW : WIDE, barsize },
    type: padded(each.type, name),
    count: countText(each).padStart(count),
    rejected: each.rejected === 0 ? '' : `  ${console.paint('red', `${numberText(each.rejected)} rejected`)}`,
  }));
}
