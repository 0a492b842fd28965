/** The figures of `status`: progress, and the command that resumes. */
import type { CountedState } from '../../plan/counts.ts';
import type { RunWait } from '../../store/checkpoint.ts';
import { DRY_RUN } from '../../files/state-dir.ts';
import { shortPath } from '../../files/paths.ts';
import { REPORT_FILE } from './summary.ts';
import { counted, numberText } from '../words/numbers.ts';
import { clockText, dateText, durationText, untilText } from '../words/times.ts';
import { WAITS, type WaitReason } from '../words/terms.ts';
import { countsSection, prioritiesSection } from './counts.ts';
import {
  column,
  present,
  sectionOf,
  type Figures,
  type Mood,
  type Cells,
  type Section,
  type Headline,
} from './figures.ts';
import type { Status } from './read-status.ts';

export interface StatusFound {
  readonly status: Status;
  readonly states: readonly CountedState[];
  readonly now: Date;
  /** The command that resumes the run; undefined where there is nothing to resume. */
  readonly resume: string | undefined;
}

export function statusFigures({ status, states, now, resume }: StatusFound): Figures {
  return {
    verdict: verdictOf(status, now),
    sections: present([
      countsSection(states),
      prioritiesSection(status.priorities, now),
      activitySection(status, now, status.running ? undefined : resume),
    ]),
  };
}

function verdictOf(status: Status, now: Date): Headline {
  const { migration, base_url: baseUrl, running, last_run: last, waits_for: wait, basis } = status;
  const details = migration === null ? [] : [`${migration} -> ${baseUrl ?? 'no service yet'}`];
  const verdict = (word: string, text: string, mood: Mood): Headline => ({ word, text, mood, details });
  if (running && wait) return verdict(WAITS[wait.reason as WaitReason].toUpperCase(), waitText(wait, now), 'failed');
  if (running) {
    const since = new Date(running.at);
    const who = `process ${running.pid} on ${running.host}`;
    return verdict(
      'RUNNING',
      ` since ${clockText(since, now)} (${durationText((now.getTime() - since.getTime()) / 1000)}): ${who}`,
      'done',
    );
  }
  if (last) {
    const at = dateText(new Date(last.finished_at));
    if (status.dry_run) return verdict('NOT STARTED', `   ${at}: ${last.result}`, 'partly');
    const word = last.exit.code === 0 ? 'DONE' : last.exit.code === 1 ? 'FINISHED' : 'STOPPED';
    const mood = last.exit.code === 0 ? 'done' : last.exit.code === 1 ? 'partly' : 'failed';
    return verdict(word, ` ${at}, exit code ${last.exit.code}: ${last.result.replace(AGAIN, '')}`, mood);
  }
  if (basis === 'unknown totals' && status.begun_at !== null) {
    return verdict('NO PLAN', ': plan.db was purged or lost. A run writes it again and sends nothing twice.', 'partly');
  }
  // Before the first request it may have been declined.
  if (basis === 'under way' && status.begun_at !== null) {
    return verdict('KILLED', ': the last run ended unexpectedly (kill -9, or a power cut). Nothing is lost.', 'failed');
  }
  return verdict('NOT STARTED', ': nothing has been sent yet', 'partly');
}

/** The result begins as the verdict does. */
const AGAIN = /^(?:Done: |Finished, but |Stopped before the end: )/;

function activitySection(status: Status, now: Date, resume: string | undefined): Section {
  const { running, basis, last_answer: last, per_minute: perMinute, state, events } = status;
  const { dry_run: dryRun, begun_at: begun } = status;
  const rows: Cells[] = [];
  if (basis === 'unknown totals' && begun !== null) {
    rows.push([
      'Counts',
      `${counted(events.acknowledged, 'event')} acknowledged, ${numberText(events.rejected)} rejected; there is no plan, so the total is unknown`,
      '',
    ]);
  }
  if (last !== null) {
    const ago = (now.getTime() - Date.parse(last)) / 1000;
    rows.push([
      'Last answer',
      `${ago < 2 ? 'just now' : `${durationText(ago)} ago`} (${dateText(new Date(last))})`,
      '',
    ]);
  }
  if (running && basis === 'under way' && begun === null) {
    rows.push([
      'Now',
      `${leftText(status, now)}; nothing is sent yet: the run may be waiting for an answer on its terminal`,
      '',
    ]);
  } else if (running && basis === 'under way') {
    rows.push(['Rate', `${numberText(Math.round(perMinute))}/min recently, ${leftText(status, now)}`, '']);
  } else if (running) rows.push(['Now', 'reading the exports; the counts are from the previous run', '']);
  if (resume !== undefined) rows.push([begun === null ? 'Start' : 'Resume', '', resume]);
  const folder = shortPath(dryRun ? `${state}/${DRY_RUN}` : state);
  if (basis === 'ended') rows.push(['Report', `${folder}/${REPORT_FILE}`, '']);
  rows.push(['Log', `${folder}/run.log`, '']);
  return sectionOf({
    id: 'activity',
    columns: [column('label'), column('text'), column('command')],
    rows,
  });
}

/** `960 left, about 34 min (until 09:03)`; during an outage nobody knows the end. */
function leftText({ left, seconds_left: seconds }: Status, now: Date): string {
  const text = `${numberText(left)} to send`;
  return seconds === null ? text : `${text}, about ${durationText(seconds)} (${untilText(seconds, now)})`;
}

/** ` for 20 min (500 internal: out of memory)` */
function waitText({ since, because }: RunWait, now: Date): string {
  const cause = because ? ` (${because})` : '';
  return ` for ${durationText((now.getTime() - Date.parse(since)) / 1000)}${cause}`;
}
