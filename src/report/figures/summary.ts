/** The final summary of a run: what `--json` prints, and what `status` and the report are told of its end. */
import { systemClock } from '../../clock.ts';
import { STAGED } from '../../kinds/index.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import type { Effect, Entity, EventCounts, EventType } from '../../model.ts';
import {
  countDue,
  countRecords,
  countWaiting,
  countWhere,
  outcomesOf,
  priorityProgress,
  totalOf,
} from '../../plan/counts.ts';
import type { CountedState, RecordCounts, WaitingCounts } from '../../plan/counts.ts';
import { storedDigest } from '../../plan/digest.ts';
import type { ChangeCounts } from '../../plan/known/changes-file.ts';
import { DIFFERENCE_CODES, firstChanged, type ChangedPlace } from '../../plan/known/judge-known.ts';
import { estimateSeconds, type Rate } from '../../rate.ts';
import type { Sender } from '../../send/sender.ts';
import type { Database } from '../../store/sqlite.ts';
import { countOmitted, type ExcessOmission, type OmittedCounts } from '../../survey/omitted.ts';
import type { Survey } from '../../survey/survey.ts';
import { readDocument } from '../files/documents.ts';
import { readPilot, type PilotCounts } from '../files/pilot.ts';
import { prioritiesOf, type PriorityCounts } from './counts.ts';
import { DEAL_CELLS, type DealGroup } from './deals.ts';
import { codeCount, type Ending } from './ending.ts';
import type { PlanFigures } from './plan-figures.ts';

export const REPORT_FILE = 'report.html';

/** A count and an exact amount, in plain notation (`1200.50`), for each cell of the table of deals. */
type CellFigures = Readonly<Record<`${string}count`, number> & Record<`${string}amount`, string>>;

/** The deals of one group, by the names that they have in common. */
export type ControlTotal = CellFigures &
  Readonly<Record<`${'from_' | ''}${'pipeline' | 'stage' | 'owner'}` | 'currency', string | null>> & {
    readonly entity: Entity;
    /** Everything in the currency that has no group of its own. */
    readonly others?: true;
    /** How many have no amount here because it could not be read. */
    readonly unread_amounts: number;
    readonly differing: number;
    readonly unknown: number;
  };

/** What `--json` prints, with the profile of the input; the document `summary` of the plan, for `status` and the report. */
export interface Summary {
  /** Empty if the survey could not start; then all counts are 0 and the reason is `not_started`. */
  readonly migration: string;
  readonly dry_run: boolean;
  readonly exit: Ending;
  readonly base_url: string | null;
  readonly started_at: string;
  readonly finished_at: string;
  readonly records: RecordCounts;
  /** `gone` is not part of the total; `changed` is part of `acknowledged`. */
  readonly events: EventCounts & { readonly gone: number; readonly changed: number };
  /** The first acknowledged records that are not as the input says. */
  readonly first_changed: readonly ChangedPlace[];
  /** Only if earlier runs sent something, and the service could be read. */
  readonly changes?: ChangeCounts;
  readonly by_type: Readonly<Record<EventType, EventCounts>>;
  readonly outcomes: Readonly<Record<Effect, number>>;
  readonly this_run: {
    readonly requests: number;
    readonly events_sent: number;
    /** Second requests about an event, as `if_exists` and `if_missing` want them. */
    readonly follow_ups: number;
    readonly retries: number;
    readonly rate_limited: number;
    readonly already_acknowledged: number;
    /** With --adopt: what the service says it had processed already. */
    readonly adopted: number;
    readonly seconds: number;
  };
  readonly errors_by_code: Readonly<Record<string, number>>;
  readonly warnings_by_code: Readonly<Record<string, number>>;
  /** Pending events that were selected, by type and by what they wait for. */
  readonly waiting: WaitingCounts;
  /** Rows that became no event (`left_out.csv`), by source and reason. */
  readonly skipped: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Values left out of events (`left_out.csv`), by type, field and reason. */
  readonly omitted: OmittedCounts;
  /** Of these, the fields of which more values would be left out than `--max-omitted` allows. */
  readonly over_max_omitted: readonly ExcessOmission[];
  /** The deals of the input by old and new stage, pipeline and owner, and by currency; the largest groups first. */
  readonly totals: readonly ControlTotal[];
  /** What `--pilot` chose; null without it. */
  readonly pilot: PilotCounts | null;
  /** The highest first; at most `MOST_PRIORITIES` of them. */
  readonly priorities: readonly PriorityCounts[];
  /** The plan: its digest (null where there is none), and how many events of the input it has. */
  readonly plan: { readonly digest: string | null; readonly events: number };
  /** Time to send the pending events at the configured rate. */
  readonly estimate_seconds: number;
  readonly files: { readonly checkpoint: string | null; readonly errors: string; readonly report: string | null };
}

/** `db`: of a plan. Undefined until its run has ended. */
export function readSummary(db: Database): Summary | undefined {
  return readDocument(db, 'summary') as Summary | undefined;
}

/** How a run went, beside what its databases say. */
export interface RunFacts {
  readonly mapping: Pick<Mapping, 'migration' | 'sha256'>;
  readonly survey: Survey;
  readonly dryRun: boolean;
  readonly ending: Ending;
  readonly startedAt: Date;
  /** When it started, by the monotonic clock. */
  readonly began: number;
  readonly baseUrl: string | null;
  readonly rate: Rate;
  readonly requests: number;
  /** Undefined if nothing was sent. */
  readonly sender: Sender | undefined;
  readonly overMaxOmitted: readonly ExcessOmission[];
  readonly files: Summary['files'];
}

export function summaryOf(plan: PlanFigures, facts: RunFacts): Summary {
  const { mapping, survey, sender, rate } = facts;
  const { db, states, deals } = plan;
  const finished = new Date();
  const byType = outcomesOf(states);
  const stored = storedDigest(db);
  return {
    ...headOf(facts, finished),
    migration: mapping.migration,
    base_url: facts.baseUrl,
    records: countRecords(db),
    events: {
      ...totalOf(Object.values(byType)),
      // What a run sends is in its input.
      gone: survey.changes?.gone ?? 0,
      changed: DIFFERENCE_CODES.reduce((sum, code) => sum + codeCount(states, code), 0),
    },
    first_changed: firstChanged(db),
    ...(survey.changes && { changes: survey.changes }),
    by_type: byType,
    outcomes: sender?.outcomes ?? { created: 0, updated: 0, none: 0 },
    this_run: {
      ...{ ...NO_REQUESTS, ...sender?.counters, requests: facts.requests },
      already_acknowledged: countWhere(survey.states, ({ state }) => state === 'acknowledged'),
      adopted: sender?.adopted ?? 0,
      seconds: secondsSince(facts.began),
    },
    errors_by_code: countCodes(db, 'error'),
    warnings_by_code: countCodes(db, 'warning'),
    waiting: countWaiting(db),
    skipped: skippedCounts(plan),
    omitted: countOmitted(db),
    over_max_omitted: facts.overMaxOmitted,
    totals: deals.map(controlTotal),
    pilot: readPilot(db) ?? null,
    priorities: plannedPriorities(states, rate, finished, (priority) => sender?.endedAt.get(priority)),
    plan: { digest: stored?.digest ?? null, events: stored?.listed ?? 0 },
    estimate_seconds: estimateSeconds(countDue(states), rate),
    files: facts.files,
  };
}

const NO_REQUESTS = { requests: 0, events_sent: 0, follow_ups: 0, retries: 0, rate_limited: 0 };

/** What `--json` prints if a run ended before its survey was complete. Nothing was sent. */
export function notStarted(facts: Pick<RunFacts, 'dryRun' | 'ending' | 'startedAt' | 'began'>): Summary {
  return {
    ...headOf(facts, new Date()),
    migration: '',
    base_url: null,
    records: { read: 0, mapped: 0, skipped: 0, unreadable: 0 },
    events: { ...totalOf([]), gone: 0, changed: 0 },
    first_changed: [],
    ...{ by_type: {}, outcomes: { created: 0, updated: 0, none: 0 } },
    this_run: { ...NO_REQUESTS, already_acknowledged: 0, adopted: 0, seconds: secondsSince(facts.began) },
    ...{ errors_by_code: {}, warnings_by_code: {}, waiting: {}, skipped: {}, omitted: {} },
    ...{ over_max_omitted: [], totals: [], pilot: null, priorities: [] },
    plan: { digest: null, events: 0 },
    estimate_seconds: 0,
    files: { checkpoint: null, errors: '', report: null },
  };
}

function headOf({ dryRun, ending, startedAt }: Pick<RunFacts, 'dryRun' | 'ending' | 'startedAt'>, finished: Date) {
  const times = { started_at: startedAt.toISOString(), finished_at: finished.toISOString() };
  return { dry_run: dryRun, exit: ending, ...times };
}

/** The priorities, and when each was (`endedAt`) or will be done if sending goes on at `now`. */
export function plannedPriorities(
  states: readonly CountedState[],
  rate: Rate,
  now: Date,
  endedAt?: (priority: number) => Date | undefined,
): PriorityCounts[] {
  return prioritiesOf(priorityProgress(states), now, (events) => estimateSeconds(events, rate), endedAt);
}

function countCodes(db: Database, severity: 'error' | 'warning'): Readonly<Record<string, number>> {
  const rows = db.all<{ code: string; count: number }>(
    'select code, sum(count) as count from problem where severity = ? group by code order by 2 desc, 1',
    severity,
  );
  return Object.fromEntries(rows.map(({ code, count }) => [code, count]));
}

function skippedCounts({ skipped }: PlanFigures): Summary['skipped'] {
  const counts: Record<string, Record<string, number>> = {};
  for (const { source, reason, count } of skipped) (counts[source] ??= {})[reason] = count;
  return counts;
}

function controlTotal({ sum, others, ...names }: DealGroup): ControlTotal {
  const cells = DEAL_CELLS.flatMap((cell) => {
    const name = cell === 'export' ? '' : `${cell.replace(' ', '_')}_`;
    return [
      [`${name}count`, sum.count(cell)],
      [`${name}amount`, sum.amount(cell)],
    ] as const;
  });
  return {
    entity: STAGED,
    ...names,
    ...(others && { others }),
    ...Object.fromEntries(cells),
    ...{ unread_amounts: sum.unread, differing: sum.differing, unknown: sum.unknown },
  } as ControlTotal;
}

/** Not by the wall clock, which can be set during a run. */
function secondsSince(began: number): number {
  return Math.round((systemClock.monotonic() - began) / 100) / 10;
}
