import { entityOf, type EventType } from '../model.ts';

/** Number of events settled in one period of time. */
export interface Bin {
  lead: number;
  deal: number;
  comment: number;
  rejected: number;
}

/** Possible bin widths in seconds; each divides the next, so that bins can be merged. */
const STEPS = [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400, 604_800] as const;
/** If there are more bins, they are merged into wider ones, so that memory stays bounded. */
const MAX_BINS = 4_000;

/** Settled events over time, in bins that become wider as the migration takes longer. */
export class Timeline {
  #step: number = STEPS[0];
  #bins = new Map<number, Bin>();

  /** `at` is ISO 8601; an invalid time is ignored. */
  add(at: string, type: EventType, status: 'acknowledged' | 'rejected'): void {
    const seconds = Date.parse(at) / 1000;
    if (Number.isNaN(seconds)) return;
    const bin = this.#bin(Math.floor(seconds / this.#step));
    bin[status === 'rejected' ? 'rejected' : entityOf(type)] += 1;
    if (this.#bins.size > MAX_BINS) this.#widen();
  }

  /** The periods in which events were settled since then (seconds since 1970), without the long pauses between them. */
  periods(maxBins = 60, since = -Infinity): Periods {
    const starts = [...this.#bins.keys()]
      .map((index) => index * this.#step)
      .filter((start) => start >= since)
      .sort((a, b) => a - b);
    const longPause = Math.max(120, (starts.length * this.#step) / 4);
    const spans: { from: number; to: number }[] = [];
    for (const start of starts) {
      const last = spans.at(-1);
      if (last && start - last.to <= longPause) last.to = start + this.#step;
      else spans.push({ from: start, to: start + this.#step });
    }
    const active = spans.reduce((sum, { from, to }) => sum + to - from, 0);
    const step = STEPS.find((each) => each >= this.#step && active / each <= maxBins) ?? STEPS.at(-1)!;
    return { step, periods: spans.map((span) => this.#gather(span, step)) };
  }

  #gather(span: { from: number; to: number }, step: number): Period {
    const first = Math.floor(span.from / step);
    const count = Math.ceil(span.to / step) - first;
    const bins = Array.from({ length: count }, emptyBin);
    for (const [index, bin] of this.#bins) {
      const start = index * this.#step;
      if (start >= span.from && start < span.to) merge(bins[Math.floor(start / step) - first]!, bin);
    }
    return { from: first * step, bins };
  }

  #bin(index: number): Bin {
    let bin = this.#bins.get(index);
    if (!bin) this.#bins.set(index, (bin = emptyBin()));
    return bin;
  }

  #widen(): void {
    const wider = STEPS[STEPS.indexOf(this.#step as (typeof STEPS)[number]) + 1];
    if (wider === undefined) return;
    const factor = wider / this.#step;
    const narrow = this.#bins;
    this.#step = wider;
    this.#bins = new Map();
    for (const [index, bin] of narrow) merge(this.#bin(Math.floor(index / factor)), bin);
  }
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

export function totalOfBin(bin: Bin): number {
  return bin.lead + bin.deal + bin.comment + bin.rejected;
}

function emptyBin(): Bin {
  return { lead: 0, deal: 0, comment: 0, rejected: 0 };
}

function merge(into: Bin, bin: Bin): void {
  for (const name of Object.keys(into) as (keyof Bin)[]) into[name] += bin[name];
}
