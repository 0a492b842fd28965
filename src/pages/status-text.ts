/** The output of `status`. Pure. */
import type { RunWait } from '../store/checkpoint.ts';
import { counted, numberText } from '../terminal/numbers.ts';
import { REPORT_FILE } from '../report/summary.ts';
import { clockText, countsTable, durationText, prioritiesTable, shortPath } from '../report/text.ts';
import { WAITS, type WaitReason } from '../vocabulary/terms.ts';
import { othersText } from './progress-text.ts';
import type { Status } from './status.ts';

export function statusText(status: Status, now: Date, columns: number): string {
  const { migration, base_url: baseUrl, state, basis, events } = status;
  const parts = [
    `${migration ?? 'unknown'} -> ${baseUrl ?? '(no service yet)'}\n${stateText(status, now)}`,
    basis === 'unknown totals'
      ? `${counted(events.acknowledged, 'event')} acknowledged, ${numberText(events.rejected)} rejected; the total is unknown`
      : countsTable(status, columns),
    prioritiesTable(status.priorities, now),
    activityText(status, now),
  ];
  if (basis === 'ended') parts.push(`report   ${shortPath(`${state}/${REPORT_FILE}`)}`);
  return parts.filter((part) => part !== '').join('\n\n');
}

function stateText({ running, last_run: last, basis, begun_at: begun }: Status, now: Date): string {
  if (running) {
    const since = new Date(running.at);
    const who = `process ${running.pid} on ${running.host}`;
    return `running: ${who} since ${clockText(since, now)} (${durationText((now.getTime() - since.getTime()) / 1000)})`;
  }
  if (last) {
    const at = clockText(new Date(last.finished_at), now);
    return `not running; the last run ended ${at} with exit code ${last.exit.code}. ${last.result}`;
  }
  return basis === 'under way' || begun !== null
    ? 'not running; the last run ended unexpectedly (killed, or a power cut). Nothing is lost; rerun to resume.'
    : 'not running; nothing has been sent yet';
}

function activityText(status: Status, now: Date): string {
  const { running, basis, last_answer: last, per_minute: perMinute, others, waits_for: wait } = status;
  const lines: string[] = [];
  if (last !== null) {
    const ago = (now.getTime() - Date.parse(last)) / 1000;
    lines.push(`last answer ${ago < 2 ? 'just now' : `${durationText(ago)} ago`} (${last})`);
  }
  if (running && basis === 'under way') {
    lines.push(`${numberText(Math.round(perMinute))}/min recently, ${leftText(status, now)}`);
  } else if (running) lines.push('the survey is in progress; the counts are from the previous run');
  if (others) lines.push(othersText(others));
  if (wait) lines.push(`waits: ${waitText(wait, now)}`);
  return lines.join('\n');
}

/** `960 left, about 34 min (until 09:03)` */
function leftText({ left, seconds_left: seconds }: Status, now: Date): string {
  const text = `${numberText(left)} left`;
  if (seconds === null) return text;
  const end = clockText(new Date(now.getTime() + seconds * 1000), now);
  return `${text}, about ${durationText(seconds)} (until ${end})`;
}

/** `service down, for 20 min (500 internal: out of memory)` */
export function waitText({ reason, since, because }: RunWait, now: Date): string {
  const cause = because ? ` (${because})` : '';
  return `${WAITS[reason as WaitReason]}, for ${durationText((now.getTime() - Date.parse(since)) / 1000)}${cause}`;
}
