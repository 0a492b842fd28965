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

/** On a narrower terminal, a line has no bar. */
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
  let drawn: string | undefined;
  const draw = (above = ''): void => {
    // A terminal that has become narrower continues the bars in further rows.
    const back = drawn === undefined ? '\u001b[?25l' : upAndClear(rowsOf(drawn, console.columns) - 1);
    drawn = barLines(console, tracker).join('\n');
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
      draw();
      terminal.write('\n');
      showCursor();
      console.overBars = undefined;
      process.off('exit', showCursor);
    },
  };
}

function barLines(console: Console, tracker: ProgressTracker): readonly string[] {
  const [types, pace, room] = [tracker.types(), tracker.pace(), console.columns - 1];
  const width = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));
  const [name, count] = [width(types.map(({ type }) => type)), width(types.map(countText))];
  const length = Math.min(LONGEST_BAR, room - name - count - BESIDE);
  const bars = types.map((each) => {
    const { total, acknowledged, rejected } = each;
    const share = (acknowledged + rejected) / total;
    const full = Math.round(share * length);
    const bar = length < SHORTEST_BAR ? '' : `  ${'█'.repeat(full)}${'░'.repeat(length - full)} `;
    const failed = rejected === 0 ? '' : `  ${console.paint('red', `${numberText(rejected)} rejected`)}`;
    const percentage = `${Math.floor(share * 100)}`.padStart(3);
    return cutTo(`${padded(each.type, name)}${bar} ${countText(each).padStart(count)} ${percentage} %${failed}`, room);
  });
  const text = statusLine(pace, room);
  return [...bars, isSerious(pace) ? console.paint('yellow', text) : text];
}
