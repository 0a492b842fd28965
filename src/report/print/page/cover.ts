/** The subject of the page, and the progress of the migration. */
import { SANDBOX } from '../../../settings/credentials.ts';
import { numberText } from '../../words/numbers.ts';
import type { Mood } from '../../figures/figures.ts';
import type { PageData } from '../page-data.ts';
import { externalText, html, time, type Markup } from '../html.ts';

export function titleOf(data: PageData): string {
  return `${kindOf(data)}: ${nameOf(data)}`;
}

function kindOf({ status, isDryRun }: PageData): string {
  if (isDryRun) return 'Dry run report';
  return status.base_url === SANDBOX ? 'Rehearsal report' : 'Migration report';
}

function nameOf({ status, mapping }: PageData): string {
  return mapping?.title ?? status.migration ?? 'unknown';
}

/** Repeated on every printed page, so that nobody mistakes it for the result of the migration. */
export function banner({ status, isDryRun }: PageData): Markup | undefined {
  const isRehearsal = status.base_url === SANDBOX;
  if (!isDryRun && !isRehearsal) return undefined;
  const what = isRehearsal ? 'Rehearsal in the sandbox' : 'Dry run';
  const sent = isDryRun ? 'nothing was sent' : 'nothing was sent to the real service';
  return html`<p class="banner" role="note">
    <span><b>${what}:</b> ${sent}</span>
  </p>`;
}

export function cover(data: PageData): Markup {
  return html`<header>
    <p class="eyebrow">${kindOf(data)}</p>
    <h1>${externalText(nameOf(data))}</h1>
    <dl class="facts">
      ${facts(data).map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    ${notice(data)}
  </header>`;
}

const LEVELS: Readonly<Record<Mood, string>> = { done: 'good', partly: 'warn', failed: 'bad' };

/** The verdict in one sentence, and three numbers. */
export function verdict({ figures }: PageData): Markup {
  const { verdict: found, tiles } = figures;
  return html`<section id="verdict" aria-labelledby="verdict-title">
    <h2 id="verdict-title">Result</h2>
    <p class="state ${LEVELS[found.mood]}" role="status">${found.text}</p>
    <ul class="figures">
      ${tiles.map(
        ({ count, what, parts, mood }) =>
          html`<li class="${mood === undefined ? '' : LEVELS[mood]}">
            <b>${numberText(count)}</b> ${what} ${parts.map((part) => html`<small>${part}</small>`)}
          </li> `,
      )}
    </ul>
  </section>`;
}

type Fact = readonly [name: string, value: Markup | string];

function facts({ status, summary, survey, mapping, isDryRun, timezone }: PageData): Fact[] {
  const { migration, base_url: baseUrl, begun_at: begun, last_run: last } = status;
  const { customer = null, title = null } = mapping ?? {};
  const digest = summary?.plan.digest ?? null;
  const began = (isDryRun ? undefined : begun) ?? last?.started_at ?? survey?.at;
  return [
    ...(customer === null ? [] : [['Customer', externalText(customer)] as const]),
    ...(title === null ? [] : [['Migration', externalText(migration ?? 'unknown')] as const]),
    ['New CRM', service(baseUrl)],
    ['Began', time(began, timezone)],
    ...(last ? [['Ended', time(last.finished_at, timezone)] as const] : []),
    ...(digest === null ? [] : [['Plan', html`<span class="id">${digest}</span>`] as const]),
  ];
}

function service(baseUrl: string | null): Markup {
  if (baseUrl === null) return html`none: the account was not read`;
  return baseUrl === SANDBOX ? html`the sandbox, a local stand-in` : externalText(baseUrl);
}

function notice({ status: { basis, running } }: PageData): Markup | undefined {
  if (running || basis === 'ended') return undefined;
  return html`<p class="notice">
    The last run ended unexpectedly (a power cut, kill -9).
    ${basis === 'under way' ? '' : 'Its plan is missing, so only events with an answer are counted.'} Rerun to resume.
  </p>`;
}

/** On the screen, this line replaces the box for signatures. */
export function signing(): Markup {
  return html`<section id="signing" aria-labelledby="signing-title" class="screen">
    <h2 id="signing-title">Sign-off</h2>
    <p>Print this page to sign it: the box for names, date and signature follows the deals by stage.</p>
  </section>`;
}

/** Who signs for what: for print. */
export function signOff({ isDryRun, summary, status }: PageData): Markup {
  const digest = summary?.plan.digest ?? null;
  const plan = digest === null ? 'the plan of this page' : html`plan <span class="id">${digest}</span>`;
  const what = isDryRun
    ? html`Nothing was sent. I have checked this page, and ${plan} may be sent.`
    : status.base_url === SANDBOX
      ? html`This was a rehearsal of ${plan}. I have checked this page, and the migration may be carried out like this.`
      : html`I have checked this page, and accept what was sent of ${plan}.`;
  return html`<section id="sign" aria-labelledby="sign-title" class="sign">
    <h2 id="sign-title">Sign-off</h2>
    <p>${what}</p>
    <div class="lines">
      ${['For the customer', 'For the migration team'].map(
        (who) =>
          html`<div>
            <b>${who}</b>
            <span>Name</span><span>Date</span><span>Signature</span>
          </div>`,
      )}
    </div>
  </section>`;
}
