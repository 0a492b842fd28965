import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import type { Console } from './console.ts';
import { EVENT_TYPES, type EventType } from './model.ts';

/** What progress is drawn from, asked for whenever it is drawn. */
export interface ProgressView {
  readonly plan: {
    readonly tables: Readonly<
      Record<EventType, { readonly size: number; readonly counts: Readonly<Record<string, number>> }>
    >;
  };
}

export interface Progress {
  stop(): void;
}

const LINE_EVERY_MS = 60_000;
const BAR_EVERY_MS = 250;

/** Bars on a terminal, a line a minute elsewhere. */
export function startProgress(console: Console, view: ProgressView): Progress {
  return console.isTerminal ? startBars(console, view) : startLines(console, view);
}

interface Standing {
  readonly total: number;
  readonly settled: number;
  readonly acknowledged: number;
  readonly failed: number;
}

function standingOf(view: ProgressView, type: EventType): Standing {
  const { size, counts } = view.plan.tables[type];
  const acknowledged = counts.acknowledged ?? 0;
  const open = (counts.ready ?? 0) + (counts.retry ?? 0) + (counts.held ?? 0);
  return { total: size, settled: size - open, acknowledged, failed: (counts.rejected ?? 0) + (counts.blocked ?? 0) };
}

function startLines(console: Console, view: ProgressView): Progress {
  const say = (): void => {
    const parts = EVENT_TYPES.flatMap((type) => {
      const { total, acknowledged, failed } = standingOf(view, type);
      return total === 0 ? [] : [`${type} ${acknowledged}/${total}${failed > 0 ? ` (${failed} failed)` : ''}`];
    });
    console.say(parts.join(', '));
  };
  const timer = setInterval(say, LINE_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}

function startBars(console: Console, view: ProgressView): Progress {
  const bars = new MultiBar(
    {
      format: '{type}  {bar}  {value}/{total}  {failed} failed',
      stream: process.stderr,
      hideCursor: true,
      clearOnComplete: false,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  const width = Math.max(...EVENT_TYPES.map((type) => type.length));
  const drawn = EVENT_TYPES.flatMap((type): { type: EventType; bar: SingleBar }[] => {
    const { total } = standingOf(view, type);
    return total === 0 ? [] : [{ type, bar: bars.create(total, 0, { type: type.padEnd(width), failed: 0 }) }];
  });
  const draw = (): void => {
    for (const { type, bar } of drawn) {
      const { settled, failed } = standingOf(view, type);
      bar.update(settled, { failed });
    }
  };
  console.overBars = (line) => bars.log(`${line}\n`);
  const timer = setInterval(draw, BAR_EVERY_MS).unref();
  return {
    stop() {
      clearInterval(timer);
      draw();
      bars.stop();
      console.overBars = undefined;
    },
  };
}
