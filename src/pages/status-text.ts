/** The output of `status`. Pure. */
import type { RunWait } from '../store/checkpoint.ts';
import type { LockHolder } from '../store/lock.ts';
import { counted, numberText } from '../terminal/numbers.ts';
import { resultText } from '../report/ending.ts';
import { REPORT_FILE, type PriorityCounts } from '../report/summary.ts';
import { clockText, countsTable, durationText, prioritiesTable, shortPath } from '../report/text.ts';
import { WAITS, type WaitReason } from '../report/words.ts';
import { othersText, paceOf, type RunPace } from './progress-text.ts';
import type { MigrationStatus } from './status.ts';

/** Everything that `status` shows. */
export interface StatusView {
  readonly status: MigrationStatus;
  /** The process of the current run, if there is one. */
  readonly holder: LockHolder | undefined;
  /** The state directory. */
  readonly path: string;
  readonly now: Date;
}

export function statusText(view: StatusView, columns: number): string {
  const { status, path } = view;
  const { migration = 'unknown', baseUrl, basis, byType, events } = status;
  const parts = [
    `${migration} -> ${baseUrl ?? '(no service yet)'}\n${stateText(view)}`,
    basis === 'unknown totals'
      ? `${counted(events.acknowledged, 'event')} acknowledged, ${numberText(events.rejected)} rejected; the total is unknown`
      : countsTable({ by_type: byType, events }, columns),
    prioritiesTable(prioritiesNow(view), view.now),
    activityText(view),
  ];
  if (basis === 'ended') parts.push(`report   ${shortPath(`${path}/${REPORT_FILE}`)}`);
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Whether the last run ended without a summary. */
function hasDied({ status, holder }: StatusView): boolean {
  return !holder && status.basis !== 'ended' && (status.survey ?? status.firstAt) !== undefined;
}

function stateText(view: StatusView): string {
  const { status, holder, now } = view;
  const { summary } = status;
  if (holder) {
    const since = new Date(holder.at);
    const who = `process ${holder.pid} on ${holder.host}`;
    return `running: ${who} since ${clockText(since, now)} (${durationText((now.getTime() - since.getTime()) / 1000)})`;
  }
  if (summary) {
    const at = clockText(new Date(summary.finished_at), now);
    return `not running; the last run ended ${at} with exit code ${summary.exit.code}. ${resultText(summary)}`;
  }
  return hasDied(view)
    ? 'not running; the last run ended unexpectedly (killed, or a power cut). Nothing is lost; rerun to resume.'
    : 'not running; nothing has been sent yet';
}

function activityText(view: StatusView): string {
  const { status, holder, now } = view;
  const lines: string[] = [];
  if (status.lastAt !== undefined) {
    const ago = (now.getTime() - Date.parse(status.lastAt)) / 1000;
    lines.push(`last answer ${ago < 2 ? 'just now' : `${durationText(ago)} ago`} (${status.lastAt})`);
  }
  if (holder && status.basis === 'under way') {
    lines.push(`${numberText(Math.round(paceNow(view).perMinute))}/min recently, ${leftText(view)}`);
  } else if (holder) lines.push('the survey is in progress; the counts are from the previous run');
  if (holder && status.others) lines.push(othersText(status.others));
  if (holder && status.wait) lines.push(`waits: ${waitText(status.wait, now)}`);
  return lines.join('\n');
}

/** `960 left, about 34 min (until 09:03)` */
function leftText(view: StatusView): string {
  const { secondsLeft } = paceNow(view);
  const left = `${numberText(view.status.left)} left`;
  if (secondsLeft === undefined) return left;
  const end = clockText(new Date(view.now.getTime() + secondsLeft * 1000), view.now);
  return `${left}, about ${durationText(secondsLeft)} (until ${end})`;
}

/** `service down, for 20 min (500 internal: out of memory)` */
export function waitText({ reason, since, because }: RunWait, now: Date): string {
  const cause = because ? ` (${because})` : '';
  return `${WAITS[reason as WaitReason]}, for ${durationText((now.getTime() - Date.parse(since)) / 1000)}${cause}`;
}

/** As the progress of the run itself shows it: over the last five minutes, or since its survey if that is later. */
export function paceNow({ status, holder }: StatusView, left = status.left): RunPace {
  const { basis, survey, recent } = status;
  if (!holder || basis !== 'under way' || !survey) return { perMinute: 0, secondsLeft: undefined };
  return paceOf(recent, left, survey.rate);
}

/** The priorities; of a run under way, those with events left will be done if it goes on as it does. */
export function prioritiesNow(view: StatusView): PriorityCounts[] {
  const { status, now } = view;
  let sum = 0;
  return status.priorities.map(({ left, ...counts }) => {
    sum += left;
    const { secondsLeft } = paceNow(view, sum);
    if (left === 0 || secondsLeft === undefined) return counts;
    return { ...counts, done_at: new Date(now.getTime() + secondsLeft * 1000).toISOString() };
  });
}

/** The output of `status --json`. */
export function statusJson(view: StatusView): object {
  const { status, holder, path } = view;
  const { migration, baseUrl, basis, byType, events, summary, left, lastAt, wait, others } = status;
  return {
    migration: migration ?? null,
    base_url: baseUrl ?? null,
    state: path,
    running: holder ?? null,
    /** `ended`, `under way` (running or killed), or `unknown totals`. */
    basis,
    events: summary?.events ?? events,
    by_type: byType,
    priorities: prioritiesNow(view),
    left,
    per_minute: Math.round(paceNow(view).perMinute * 10) / 10,
    last_answer: lastAt ?? null,
    /** What others take of the limit of the API key: requests per window, of how many. */
    others: (holder && others) ?? null,
    /** Other than for the rate limit; `reason` is a key of `WAITS`. */
    waits_for: (holder && wait) ?? null,
    last_run: summary ? { exit: summary.exit, started_at: summary.started_at, finished_at: summary.finished_at } : null,
  };
}
