import { TOOL } from '../../version.ts';
import type { Standing } from '../standing.ts';
import { ENDINGS } from '../text.ts';
import type { Findings } from './findings.ts';
import { html, trusted, type Markup } from './markup.ts';
import { figures, leftBehind, outcome, throughput } from './outcome.ts';
import { foreign, time } from './parts.ts';
import { chains, duplicates, errorsByCode, notCarried, omissions, warnings } from './problems.ts';
import { STYLE } from './style.ts';

/** Nothing may be loaded from anywhere, nothing may run; only the page's own style counts. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The whole report as one page of HTML. */
export function reportPage(findings: Findings): string {
  const { standing, withValues, writtenAt } = findings;
  const { migration = 'unknown' } = standing;
  const title = `${standing.summary?.dry_run ? 'Survey' : 'Migration'} report: ${migration}`;
  const parts: readonly (readonly [string, string, Markup | undefined])[] = [
    ['outcome', 'Outcome by type', outcome(findings)],
    ['left-behind', 'What was not migrated', leftBehind(findings)],
    ['throughput', 'Throughput', throughput(findings)],
    ['errors', 'Causes', errorsByCode(findings)],
    ['chains', 'Blocked chains', chains(findings)],
    ['duplicates', 'Duplicates', duplicates(findings)],
    ['omitted', 'Values left out', omissions(findings)],
    ['warnings', 'Warnings', warnings(findings)],
    ['not-carried', 'What cannot be carried', notCarried()],
  ];
  const present = parts.filter(([, , part]) => part !== undefined);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <style>
          ${trusted(STYLE)}
        </style>
      </head>
      <body>
        <header>
          <p class="eyebrow">${standing.summary?.dry_run ? 'Survey report' : 'Migration report'}</p>
          <h1>${foreign(migration)}</h1>
          ${state(standing)} ${facts(findings)}
        </header>
        <nav aria-label="Contents">
          <ul>
            ${present.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}
          </ul>
        </nav>
        <main>${notice(standing)} ${damage(standing)} ${figures(findings)} ${present.map(([, , part]) => part!)}</main>
        <footer>
          <p>
            Written ${time(writtenAt.toISOString())} by ${TOOL}.
            ${
              withValues
                ? 'This page holds field values of records: treat it like the exports themselves.'
                : 'This page holds external ids of records, but none of their other values.'
            }
          </p>
        </footer>
      </body>
    </html> `.text;
}

function state({ basis, summary }: Standing): Markup {
  if (basis !== 'ended' || !summary) return html`<p class="state warn">Not finished</p>`;
  const { code, reason } = summary.exit;
  const words = ENDINGS[reason] ?? `Stopped before its end (${reason}); a rerun goes on from there.`;
  const good = code === 0 ? 'good' : code === 1 ? 'warn' : 'bad';
  return html`<p class="state ${good}">${summary.dry_run ? surveyed(code) : words}</p>`;
}

function surveyed(code: number): string {
  return code === 0
    ? 'Survey only: no problems found, nothing was sent.'
    : 'Survey only: problems found, nothing was sent.';
}

function facts({ standing }: Findings): Markup {
  const { baseUrl, summary, history, survey } = standing;
  const begun = history.header?.created_at ?? summary?.started_at ?? survey?.at;
  const rows: [string, Markup][] = [
    ['Service', baseUrl === undefined ? html`none (offline)` : foreign(baseUrl)],
    ['Begun', time(begun)],
    ['Last run', html`${time(summary?.started_at ?? survey?.at)} – ${time(summary?.finished_at)}`],
  ];
  if (history.lastAt) rows.push(['Last answer', time(history.lastAt)]);
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

function damage({ history }: Standing): Markup | undefined {
  return history.damageText === undefined ? undefined : html`<p class="notice">${history.damageText}</p>`;
}

function notice({ basis }: Standing): Markup | undefined {
  if (basis === 'ended') return undefined;
  return html`<p class="notice">
    The last run is under way or ended without a word (a power cut, kill -9).
    ${
      basis === 'under way'
        ? 'The counts are those of its survey, moved on by what the checkpoint has since; what waits for a rejected record still counts as pending.'
        : 'No survey of it is there, so only what was answered is counted.'
    }
    A rerun goes on from there.
  </p>`;
}
