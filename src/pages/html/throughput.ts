/** Answers over time, as a chart and as numbers. */
import { numberText } from '../../terminal/numbers.ts';
import { durationText } from '../../report/text.ts';
import { capital } from '../../vocabulary/terms.ts';
import { totalOfBin, type Bin, type Timeline } from '../history.ts';
import type { PageData } from '../page-data.ts';
import { dataTable, html, legend, section, time, type Markup } from './parts.ts';

const WIDTH = 960;
const HEIGHT = 260;
const LEFT = 56;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 34;
const WIDEST_BIN = 48;
/** Pauses of more steps than this are cut out; what is left of one is so many bins wide. */
const LONGEST_GAP = 12;
const PAUSE = 1.5;

const LAYERS = [
  ['lead', 'leads'],
  ['deal', 'deals'],
  ['comment', 'comments'],
  ['rejected', 'rejected'],
] as const satisfies readonly (readonly [keyof Bin, string])[];

/** Undefined if nothing was answered. */
export function throughput({ timeline, runs, timezone, isDryRun }: PageData): Markup | undefined {
  const { step, bins } = timeline;
  if (isDryRun || bins.length === 0) return undefined;
  const settled = bins.reduce((sum, bin) => sum + totalOfBin(bin), 0);
  const unit = step === 60 ? 'minute' : step === 1 ? 'second' : durationText(step);
  const shown = step <= 60 ? `events per ${unit}` : `events per minute, in steps of ${unit}`;
  return section(
    'throughput',
    'Throughput over time',
    html`<p>
      ${numberText(settled)} answers from the service, shown as ${shown}. Long pauses are cut out and marked with a
      dashed line.
    </p>`,
    html`<div
      class="wide"
      tabindex="0"
      role="region"
      aria-label="Chart of events answered over time; the numbers are in the table below"
    >
      ${chart(timeline, timezone)}
    </div>`,
    legend(bins.some(({ rejected }) => rejected > 0) ? LAYERS : LAYERS.slice(0, -1)),
    html`<details>
      <summary>Show the numbers</summary>
      ${dataTable(
        `Events answered per ${unit}`,
        ['From', ...LAYERS.map(([, name]) => capital(name))],
        bins.map((bin) => [
          time(new Date(bin.at * 1000).toISOString(), timezone, step < 60),
          ...LAYERS.map(([layer]) => bin[layer]),
        ]),
      )}
    </details>`,
    dataTable(
      'Runs that sent events',
      ['Started', 'Last answer', 'In the service', 'Rejected', 'Duration'],
      runs.map(({ at, last, acknowledged, rejected }) => [
        time(at, timezone),
        time(last, timezone),
        acknowledged,
        rejected,
        { right: durationText((Date.parse(last) - Date.parse(at)) / 1000) },
      ]),
    ),
  );
}

/** Events per minute as stacked columns; those of bins shorter than a minute as they are, not extrapolated. */
function chart({ step, bins }: Timeline, timezone: string): Markup {
  const perMinute = step < 60 ? 1 : 60 / step;
  const gaps = bins.map(({ at }, index) => (index === 0 ? 0 : (at - bins[index - 1]!.at) / step - 1));
  const widths = gaps.map((gap) => 1 + (gap > LONGEST_GAP ? PAUSE : gap));
  const slot = Math.min(WIDEST_BIN, (WIDTH - LEFT - RIGHT) / widths.reduce((sum, width) => sum + width, 0));
  let end = LEFT;
  const columns = bins.map((bin, index) => ({ bin, x: (end += widths[index]! * slot) - slot }));
  const top = niceCeiling(Math.max(...bins.map((bin) => totalOfBin(bin) * perMinute)));
  const y = (rate: number): number => HEIGHT - BOTTOM - (rate / top) * (HEIGHT - TOP - BOTTOM);
  const across = (style: string, at: number): Markup =>
    html`<line class="${style}" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at.toFixed(1)}" y2="${at.toFixed(1)}" />`;
  const pauses = columns.filter((_, index) => gaps[index]! > LONGEST_GAP).map(({ x }) => x - (PAUSE * slot) / 2);
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" class="chart" aria-hidden="true" focusable="false">
    ${[0, 0.25, 0.5, 0.75, 1].map(
      (part) =>
        html`${across('grid', y(top * part))}
          <text class="axis" x="${LEFT - 8}" y="${(y(top * part) + 4).toFixed(1)}" text-anchor="end"
            >${shortNumber(top * part)}</text
          >`,
    )}
    ${columns
      .map(({ bin, x }) => {
        let below = 0;
        return LAYERS.filter(([layer]) => bin[layer] > 0).map(([layer]) => {
          const [from, to] = [y(below), y((below += bin[layer] * perMinute))];
          const width = slot - (slot > 6 ? 1.5 : slot > 3 ? 0.5 : 0);
          return html`<rect
            class="${layer}"
            x="${x.toFixed(2)}"
            y="${to.toFixed(2)}"
            width="${width.toFixed(2)}"
            height="${(from - to).toFixed(2)}"
          />`;
        });
      })
      .flat()}
    ${pauses.map((x) => html`<line class="pause" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" />`)}
    ${labels(
      columns.map(({ bin, x }) => ({ at: bin.at, x })),
      step,
      timezone,
    )}
  </svg>`;
}

const LABEL_WIDTH = 110;

/** The times of columns, as far as there is room for them. */
function labels(
  columns: readonly { readonly at: number; readonly x: number }[],
  step: number,
  timezone: string,
): Markup[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(columns.at(-1)!.at - columns[0]!.at > 86_400 && { day: 'numeric', month: 'short' }),
    ...(step < 86_400 && { hour: '2-digit', minute: '2-digit' }),
    ...(step < 60 && { second: '2-digit' }),
    timeZone: timezone,
  });
  let free = LEFT;
  return columns.flatMap(({ at, x }) => {
    if (x < free || x > WIDTH - LABEL_WIDTH / 2) return [];
    free = x + LABEL_WIDTH;
    return [html`<text class="axis" x="${x.toFixed(1)}" y="${HEIGHT - 12}">${format.format(at * 1000)}</text>`];
  });
}

/** 1, 2, 4 or 8 times a power of ten, at least `value` and at least 4, so that its quarters are short numbers. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return Math.max(4, [1, 2, 4, 8, 10].map((factor) => factor * power).find((nice) => nice >= value) ?? value);
}

function shortNumber(value: number): string {
  return new Intl.NumberFormat('en', {
    maximumFractionDigits: 1,
    notation: value >= 10_000 ? 'compact' : 'standard',
  }).format(value);
}
