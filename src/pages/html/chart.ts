import { totalOfBin, type Bin, type Periods } from '../timeline.ts';
import { html, type Markup } from './markup.ts';

const WIDTH = 960;
const HEIGHT = 260;
const LEFT = 56;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 34;
/** Width of a pause between two periods, in bins. */
const PAUSE = 1.5;
const LAYERS = ['lead', 'deal', 'comment', 'rejected'] as const satisfies readonly (keyof Bin)[];

interface ChartColumn {
  readonly at: number;
  readonly x: number;
  readonly bin: Bin;
}

/** Factor from counts to displayed values: a rate per minute, unless that would be an extrapolation. */
export function rateFactor(step: number): number {
  return step < 60 ? 1 : 60 / step;
}

/**
 * Events settled per minute as stacked columns; long pauses are cut out and marked. `limit`: events per minute, drawn as a
 * line. `timezone`: of the labels; if absent, that of this machine.
 */
export function throughputChart(
  { step, periods }: Periods,
  { limit, timezone }: { readonly limit?: number | undefined; readonly timezone?: string | undefined } = {},
): Markup {
  const slots = periods.reduce((sum, { bins }) => sum + bins.length, 0) + PAUSE * (periods.length - 1);
  const slot = Math.min(48, (WIDTH - LEFT - RIGHT) / slots);
  const columns: ChartColumn[] = [];
  const pauses: number[] = [];
  let x = LEFT;
  periods.forEach(({ from, bins }, index) => {
    if (index > 0) {
      pauses.push(x + (PAUSE * slot) / 2);
      x += PAUSE * slot;
    }
    for (const [place, bin] of bins.entries()) {
      columns.push({ at: from + place * step, x, bin });
      x += slot;
    }
  });
  const perMinute = rateFactor(step);
  const highest = Math.max(...columns.map(({ bin }) => totalOfBin(bin))) * perMinute;
  const line = limit === undefined ? undefined : (limit * step * perMinute) / 60;
  const top = niceCeiling(Math.max(highest, line ?? 0));
  const y = (rate: number): number => HEIGHT - BOTTOM - (rate / top) * (HEIGHT - TOP - BOTTOM);
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" class="chart" aria-hidden="true" focusable="false">
    ${[0, 0.25, 0.5, 0.75, 1].map((part) => gridLine(y(top * part), top * part))}
    ${columns.map((column) => stack(column, slot, perMinute, y))}
    ${pauses.map(
      (at) =>
        html`<line class="pause" x1="${at.toFixed(1)}" x2="${at.toFixed(1)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" />`,
    )}
    ${line === undefined ? undefined : limitLine(y(line))} ${labels(columns, step, slot, timezone)}
  </svg>`;
}

function limitLine(y: number): Markup {
  return html`<line class="limit" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" />`;
}

function gridLine(y: number, rate: number): Markup {
  return html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" /><text
      class="axis"
      x="${LEFT - 8}"
      y="${(y + 4).toFixed(1)}"
      text-anchor="end"
      >${shortNumber(rate)}</text
    >`;
}

function stack({ x, bin }: ChartColumn, slot: number, perMinute: number, y: (rate: number) => number): Markup {
  const gap = slot > 6 ? 1.5 : slot > 3 ? 0.5 : 0;
  let below = 0;
  const parts: Markup[] = [];
  for (const layer of LAYERS) {
    const rate = bin[layer] * perMinute;
    if (rate === 0) continue;
    const high = y(below + rate);
    const height = (y(below) - high).toFixed(2);
    const width = (slot - gap).toFixed(2);
    parts.push(
      html`<rect class="${layer}" x="${x.toFixed(2)}" y="${high.toFixed(2)}" width="${width}" height="${height}" />`,
    );
    below += rate;
  }
  return html`${parts}`;
}

function labels(columns: readonly ChartColumn[], step: number, slot: number, timezone: string | undefined): Markup[] {
  const every = Math.max(1, Math.ceil(110 / slot));
  const days = columns.length === 0 ? 0 : columns.at(-1)!.at - columns[0]!.at;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(days > 86_400 && { day: 'numeric', month: 'short' }),
    ...(step < 86_400 && { hour: '2-digit', minute: '2-digit' }),
    ...(step < 60 && { second: '2-digit' }),
    ...(timezone !== undefined && { timeZone: timezone }),
  });
  return columns
    .filter((_, index) => index % every === 0 && (index === 0 || index + every / 2 <= columns.length))
    .map(
      ({ at, x }) => html`<text class="axis" x="${x.toFixed(1)}" y="${HEIGHT - 12}">${format.format(at * 1000)}</text>`,
    );
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
