/** What the page is about, and where the migration stands. */
import { SANDBOX } from '../../credentials.ts';
import { numberText } from '../../numbers.ts';
import { resultText } from '../../report/ending.ts';
import { durationText } from '../../report/text.ts';
import { WAITS } from '../../report/words.ts';
import { perMinute } from '../../rate.ts';
import type { PageData } from '../page-data.ts';
import { hasDied, leftText, outageText, paceNow, stateText } from '../status-text.ts';
import { externalText, html, time, type Markup } from './parts.ts';

export function titleOf({ status, isDryRun, isAlive }: PageData): string {
  const what = isAlive ? 'Live status' : isDryRun ? 'Dry run report' : 'Migration report';
  return `${what}: ${status.migration ?? 'unknown'}`;
}

/** Repeated on every printed page: nobody may take the page for that of the migration. */
export function banner({ status, isDryRun }: PageData): Markup | undefined {
  const isRehearsal = status.baseUrl === SANDBOX;
  if (!isDryRun && !isRehearsal) return undefined;
  const what = isRehearsal ? 'Rehearsal in the sandbox' : 'Dry run';
  const sent = isDryRun ? 'nothing was sent' : 'nothing was sent to the real service';
  return html`<p class="banner" role="note">
    <span><b>${what}:</b> ${sent}</span>
  </p>`;
}

export function head(data: PageData): Markup {
  const { status, isAlive, isDryRun } = data;
  return html`<header>
    <p class="eyebrow">${isAlive ? 'Live status' : isDryRun ? 'Report of a dry run' : 'Migration report'}</p>
    <h1>${externalText(status.migration ?? 'unknown')}</h1>
    <p class="state ${level(data)}" role="status">${isAlive ? stateText(data) : result(data)}</p>
    <dl class="facts">
      ${[...facts(data), ...(isAlive ? present(data) : [])].map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    ${isAlive ? undefined : notice(data)}
  </header>`;
}

function result({ status: { summary }, isDryRun }: PageData): string {
  if (!summary) return 'Not finished';
  return `${isDryRun ? 'Dry run. ' : ''}${resultText(summary)}`;
}

function level(data: PageData): 'good' | 'warn' | 'bad' {
  const { status, holder, wait } = data;
  if (holder) return wait && wait.reason !== 'rate' ? 'warn' : 'good';
  if (!status.summary) return data.isAlive && hasDied(data) ? 'bad' : 'warn';
  const { code } = status.summary.exit;
  return code === 0 ? 'good' : code === 1 ? 'warn' : 'bad';
}

type Fact = readonly [name: string, value: Markup | string];

function facts({ status, isDryRun, timezone }: PageData): Fact[] {
  const { baseUrl, summary, survey, firstAt, lastAt } = status;
  const began = summary?.started_at ?? survey?.at;
  const hasAnswers = !isDryRun && lastAt !== undefined;
  return [
    ['Service', service(baseUrl)],
    ['Started', time(isDryRun ? began : (firstAt ?? began), timezone)],
    ['Last run', html`${time(began, timezone)} – ${time(summary?.finished_at, timezone)}`],
    ...(hasAnswers ? [['Last answer', time(lastAt, timezone)] as const] : []),
    ...(timezone === undefined ? [] : [['Times', `in the time zone ${timezone}`] as const]),
  ];
}

function service(baseUrl: string | undefined): Markup {
  if (baseUrl === undefined) return html`none (offline)`;
  return baseUrl === SANDBOX ? html`the sandbox, a local stand-in` : externalText(baseUrl);
}

/** What a run is doing at present. */
function present(data: PageData): Fact[] {
  if (!data.holder || data.status.basis !== 'under way') return [];
  const limit = limitPerMinute(data);
  const allowed = limit === undefined ? '' : `; --rate allows ${numberText(limit)}`;
  return [
    ['Rate', `${numberText(Math.round(paceNow(data).perMinute))} a minute recently${allowed}`],
    ['Events', leftText(data)],
    ['Waits for', waitsFor(data)],
  ];
}

function waitsFor({ wait, now }: PageData): string {
  if (!wait) return 'nothing';
  if (wait.reason === 'outage') return outageText(wait, now);
  const seconds = (now.getTime() - wait.since.getTime()) / 1000;
  return `${WAITS[wait.reason]}${wait.reason === 'rate' ? '' : `, for ${durationText(seconds)}`}`;
}

/** What `--rate` of the run allows at present. */
export function limitPerMinute({ status: { survey } }: PageData): number | undefined {
  return survey && perMinute(survey.rate);
}

function notice({ status: { basis } }: PageData): Markup | undefined {
  if (basis === 'ended') return undefined;
  return html`<p class="notice">
    The last run is still in progress or ended unexpectedly (a power cut, kill -9).
    ${basis === 'under way' ? '' : 'Its plan is not there, so only events with an answer are counted.'} Rerun to resume.
  </p>`;
}
