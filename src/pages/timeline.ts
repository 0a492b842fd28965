/** Answers over time, in bins that fit a chart. Pure. */

/** Number of events settled in one period of time. */
export interface Bin {
  lead: number;
  deal: number;
  comment: number;
  rejected: number;
}

export interface Periods {
  /** Width of a bin in seconds. */
  readonly step: number;
  readonly periods: readonly Period[];
}

export interface Period {
  /** Start of the first bin, in seconds since 1970. */
  readonly from: number;
  readonly bins: readonly Bin[];
}

/** Possible bin widths in seconds; each divides the next, so that bins can be merged. */
const STEPS = [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400, 604_800] as const;
/** So many bins are counted at most. */
const MAX_COUNTED = 20_000;

/** The width of the bins in which so many seconds are counted. */
export function stepFor(seconds: number): number {
  return STEPS.find((step) => seconds / step <= MAX_COUNTED) ?? STEPS.at(-1)!;
}

/**
 * Merges bins of `counted` seconds into wider ones, until at most about `maxBins` are left, and cuts out long pauses.
 * `bins`: in their order, each with its start in seconds since 1970.
 */
export function periodsOf(bins: readonly (Bin & { readonly at: number })[], counted: number, maxBins: number): Periods {
  const longPause = Math.max(120, (bins.length * counted) / 4);
  const spans: { from: number; to: number }[] = [];
  for (const { at } of bins) {
    const last = spans.at(-1);
    if (last && at - last.to <= longPause) last.to = at + counted;
    else spans.push({ from: at, to: at + counted });
  }
  const active = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const step = STEPS.find((each) => each >= counted && active / each <= maxBins) ?? STEPS.at(-1)!;
  const periods = spans.map(({ from, to }): Period => {
    const first = Math.floor(from / step);
    const merged = Array.from({ length: Math.ceil(to / step) - first }, emptyBin);
    for (const bin of bins) {
      if (bin.at >= from && bin.at < to) merge(merged[Math.floor(bin.at / step) - first]!, bin);
    }
    return { from: first * step, bins: merged };
  });
  return { step, periods };
}

export function totalOfBin(bin: Bin): number {
  return bin.lead + bin.deal + bin.comment + bin.rejected;
}

function emptyBin(): Bin {
  return { lead: 0, deal: 0, comment: 0, rejected: 0 };
}

function merge(into: Bin, bin: Bin): void {
  for (const name of Object.keys(into) as (keyof Bin)[]) into[name] += bin[name];
}
