/** What the checkpoint tells of the past: its runs, and the answers over time. */
import type { Database } from '../store/sqlite.ts';

/** One run that sent events. */
export interface RunSpan {
  /** ISO 8601: when its survey ended. */
  readonly at: string;
  readonly acknowledged: number;
  readonly rejected: number;
  /** When it got its last answer. */
  readonly last: string;
}

/** The last twenty of them. */
export function readRuns(db: Database): RunSpan[] {
  return db
    .all<RunSpan>(
      `
    select run.at, sum(status = 'acknowledged') as acknowledged, sum(status = 'rejected') as rejected, max(settled_at) as last
    from checkpoint.request join checkpoint.run on run.id = request.run
    where settled_at is not null
    group by run.id order by run.id desc limit 20`,
    )
    .reverse();
}

/** Answers in one step of time; `at`: its start, in seconds since 1970. */
export interface Bin {
  readonly at: number;
  readonly lead: number;
  readonly deal: number;
  readonly comment: number;
  readonly rejected: number;
}

export interface Timeline {
  /** Width of a bin in seconds. */
  readonly step: number;
  /** In their order; steps without an answer have none. */
  readonly bins: readonly Bin[];
}

/** Widths of bins in seconds; each divides the next. */
const STEPS = [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400, 604_800] as const;
const WIDEST = 604_800;
/** So many bins are read at most to see which width fits. */
const MAX_READ = 20_000;

/** When the service answered. */
export function readTimeline(db: Database, { maxBins = 60 } = {}): Timeline {
  const { seconds } = db.get<{ seconds: number | null }>(
    `select unixepoch(max(settled_at)) - unixepoch(min(settled_at)) as seconds from checkpoint.request
     where settled_at is not null`,
  )!;
  const finest = STEPS.find((step) => (seconds ?? 0) / step <= MAX_READ) ?? WIDEST;
  const binsOf = (step: number): Bin[] =>
    db.all<Bin>(
      `select unixepoch(settled_at) / ?1 * ?1 as at, sum(status = 'rejected') as rejected,
         sum(status = 'acknowledged' and entity = 'lead') as lead,
         sum(status = 'acknowledged' and entity = 'deal') as deal,
         sum(status = 'acknowledged' and entity = 'comment') as comment
       from checkpoint.request where settled_at is not null
       group by 1 order by 1`,
      step,
    );
  const bins = binsOf(finest);
  const fits = (step: number): boolean => new Set(bins.map(({ at }) => Math.floor(at / step))).size <= maxBins;
  const step = STEPS.find((each) => each >= finest && fits(each)) ?? WIDEST;
  return { step, bins: step === finest ? bins : binsOf(step) };
}

export function totalOfBin({ lead, deal, comment, rejected }: Bin): number {
  return lead + deal + comment + rejected;
}
