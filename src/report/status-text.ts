/** What `status` says: pure, from what the state directory showed. */
import type { LockHolder } from '../state-dir.ts';
import { RECENT_MS, type Standing } from './standing.ts';
import { REPORT_FILE, type EventCounts } from './summary.ts';
import { clockText, countsTable, counted, durationText, ENDINGS, shortPath } from './text.ts';

/** A look at a migration. */
export interface Status {
  readonly standing: Standing;
  /** The run that is going on. */
  readonly holder: LockHolder | undefined;
  /** ISO 8601: since when that run waits for the service to answer. */
  readonly downSince: string | undefined;
  /** The state directory. */
  readonly path: string;
  readonly now: Date;
}

export function statusText(status: Status, columns: number): string {
  const { standing, path } = status;
  const { migration = 'unknown', baseUrl, basis, byType, events } = standing;
  const parts = [
    `${migration} -> ${baseUrl ?? 'no service yet'}\n${stateText(status)}`,
    basis === 'unknown totals'
      ? `${counted(events.acknowledged, 'event')} acknowledged, ${events.rejected} rejected; no survey tells of how many`
      : countsTable({ by_type: byType, events: { ...events, gone: 0, changed: 0 } }, columns),
    activityText(status),
    standing.history.damageText ?? '',
  ];
  if (basis === 'ended') parts.push(`report   ${shortPath(`${path}/${REPORT_FILE}`)}`);
  return parts.filter((part) => part !== '').join('\n\n');
}

function stateText({ standing, holder, now }: Status): string {
  const { basis, summary, history, survey } = standing;
  if (holder) {
    const since = new Date(holder.at);
    const who = `process ${holder.pid} on ${holder.host}`;
    return `running: ${who}, since ${clockText(since, now)} (${durationText((now.getTime() - since.getTime()) / 1000)})`;
  }
  if (basis === 'ended' && summary) {
    const { reason, code } = summary.exit;
    const ending = ENDINGS[reason] ?? `Stopped (${reason}); rerun to resume.`;
    return `not running; the last run ended ${clockText(new Date(summary.finished_at), now)} with exit code ${code}. ${ending}`;
  }
  if (history.runs.length === 0 && !survey) return 'not running; nothing was sent yet';
  return 'not running; its last run ended without a word (killed, or a power cut): rerun to resume, nothing is lost';
}

function activityText(status: Status): string {
  const { standing, holder, downSince, now } = status;
  const { history, left } = standing;
  const lines: string[] = [];
  if (history.lastAt !== undefined) {
    const ago = (now.getTime() - Date.parse(history.lastAt)) / 1000;
    lines.push(`last answer ${ago < 2 ? 'just now' : `${durationText(ago)} ago`} (${history.lastAt})`);
  }
  if (holder && standing.basis === 'under way') {
    const rate = perMinute(status);
    const seconds = rate > 0 ? (left / rate) * 60 : undefined;
    const eta =
      seconds === undefined
        ? ''
        : `, about ${durationText(seconds)} (until ${clockText(new Date(now.getTime() + seconds * 1000), now)})`;
    lines.push(`${Math.round(rate)} a minute over the last minutes, ${left.toLocaleString('en')} left${eta}`);
  } else if (holder) lines.push('surveying: the counts are those of the run before');
  if (holder && downSince !== undefined) {
    const seconds = (now.getTime() - Date.parse(downSince)) / 1000;
    lines.push(`the service is down for ${durationText(seconds)}; the run waits and goes on by itself`);
  }
  return lines.join('\n');
}

/** Settled events a minute over the last five, or since the run's survey if that is later (a minute at least). */
function perMinute({ standing, now }: Status): number {
  const since = standing.survey ? now.getTime() - Date.parse(standing.survey.at) : RECENT_MS;
  return (standing.recent * 60_000) / Math.min(RECENT_MS, Math.max(60_000, since));
}

/** The same for machines. */
export function statusJson(status: Status): object {
  const { standing, holder, downSince, path } = status;
  const { migration, baseUrl, basis, byType, events, history, summary, left } = standing;
  const total: EventCounts = events;
  return {
    migration: migration ?? null,
    base_url: baseUrl ?? null,
    state: path,
    running: holder ?? null,
    /** `ended`, `under way` (running or killed), or `unknown totals`. */
    basis,
    events: total,
    by_type: byType,
    left,
    per_minute: holder ? Math.round(perMinute(status) * 10) / 10 : 0,
    last_answer: history.lastAt ?? null,
    service_down_since: holder ? (downSince ?? null) : null,
    last_run: summary ? { exit: summary.exit, started_at: summary.started_at, finished_at: summary.finished_at } : null,
  };
}
