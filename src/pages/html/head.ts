/** What the page is about, and where the migration stands. */
import { SANDBOX } from '../../settings/credentials.ts';
import { numberText } from '../../terminal/numbers.ts';
import { durationText } from '../../terminal/times.ts';
import { perMinute } from '../../rate.ts';
import type { PageData } from '../page-data.ts';
import { othersText } from '../../figures/pace.ts';
import { waitSentence } from '../../figures/status.ts';
import { externalText, html, time, type Markup } from '../../print/html.ts';

export function titleOf({ status, isDryRun }: PageData): string {
  return `${isDryRun ? 'Dry run report' : 'Migration report'}: ${status.migration ?? 'unknown'}`;
}

/** Repeated on every printed page: nobody may take the page for that of the migration. */
export function banner({ status, isDryRun }: PageData): Markup | undefined {
  const isRehearsal = status.base_url === SANDBOX;
  if (!isDryRun && !isRehearsal) return undefined;
  const what = isRehearsal ? 'Rehearsal in the sandbox' : 'Dry run';
  const sent = isDryRun ? 'nothing was sent' : 'nothing was sent to the real service';
  return html`<p class="banner" role="note">
    <span><b>${what}:</b> ${sent}</span>
  </p>`;
}

export function head(data: PageData): Markup {
  const { status, isDryRun } = data;
  return html`<header>
    <p class="eyebrow">${isDryRun ? 'Report of a dry run' : 'Migration report'}</p>
    <h1>${externalText(status.migration ?? 'unknown')}</h1>
    <p class="state ${level(data)}" role="status">${standing(data)}</p>
    <dl class="facts">
      ${[...facts(data), ...present(data)].map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    ${notice(data)}
  </header>`;
}

function standing({ status: { basis, running, last_run: last }, isDryRun }: PageData): string {
  if (running)
    return basis === 'under way' ? 'Sending' : 'A survey is in progress; the counts are from the previous run';
  if (!last) return 'Not finished';
  return `${isDryRun ? 'Dry run. ' : ''}${last.result}`;
}

function level({ status: { running, last_run: last, waits_for: wait } }: PageData): 'good' | 'warn' | 'bad' {
  if (running) return wait ? 'warn' : 'good';
  if (!last) return 'warn';
  const { code } = last.exit;
  return code === 0 ? 'good' : code === 1 ? 'warn' : 'bad';
}

type Fact = readonly [name: string, value: Markup | string];

function facts({ status, survey, isDryRun, timezone }: PageData): Fact[] {
  const { base_url: baseUrl, begun_at: begun, last_answer: answered, last_run: last } = status;
  const began = last?.started_at ?? survey?.at;
  const hasAnswers = !isDryRun && answered !== null;
  return [
    ['Service', service(baseUrl)],
    ['Started', time(isDryRun ? began : (begun ?? began), timezone)],
    ['Last run', html`${time(began, timezone)} – ${time(last?.finished_at, timezone)}`],
    ...(hasAnswers ? [['Last answer', time(answered, timezone)] as const] : []),
    ['Times', `in the time zone ${timezone}`],
  ];
}

function service(baseUrl: string | null): Markup {
  if (baseUrl === null) return html`none (offline)`;
  return baseUrl === SANDBOX ? html`the sandbox, a local stand-in` : externalText(baseUrl);
}

/** What a run is doing at present. */
function present({ status, survey, now }: PageData): Fact[] {
  const { running, basis, waits_for: wait, others, left, per_minute: recently, seconds_left: seconds } = status;
  if (!running || basis !== 'under way' || !survey) return [];
  const ends = seconds === null ? '' : `, about ${durationText(seconds)}`;
  return [
    [
      'Rate',
      `${numberText(Math.round(recently))} a minute recently; --rate allows ${numberText(perMinute(survey.rate))}`,
    ],
    ['Events', `${numberText(left)} left${ends}`],
    ['Waits for', wait ? waitSentence(wait, now) : 'nothing'],
    ...(others ? [['Others', othersText(others)] as Fact] : []),
  ];
}

function notice({ status: { basis, running } }: PageData): Markup | undefined {
  if (running || basis === 'ended') return undefined;
  return html`<p class="notice">
    The last run ended unexpectedly (a power cut, kill -9).
    ${basis === 'under way' ? '' : 'Its plan is not there, so only events with an answer are counted.'} Rerun to resume.
  </p>`;
}
