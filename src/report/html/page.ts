import { SANDBOX } from '../../credentials.ts';
import { TOOL } from '../../version.ts';
import type { MigrationStatus } from '../migration-status.ts';
import { endingText } from '../ending.ts';
import type { ReportData } from './report-data.ts';
import { controlTotals } from './control-totals.ts';
import { html, trusted, type Markup } from './markup.ts';
import { mapping, notUsed } from './mapping.ts';
import { figures, notInService, outcome, throughput } from './outcome.ts';
import { externalText, time } from './parts.ts';
import { chains, duplicates, errorsByCode, notMigrated, omissions, warnings } from './problems.ts';
import { stopText } from './words.ts';
import { STYLE } from './style.ts';

/** No scripts and nothing loaded from elsewhere; only the inline style sheet. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The whole report as one page of HTML. */
export function reportPage(findings: ReportData): string {
  const { status, withValues, timezone, writtenAt } = findings;
  const { migration = 'unknown' } = status;
  const title = `${status.summary?.dry_run ? 'Dry run' : 'Migration'} report: ${migration}`;
  const parts: readonly (readonly [string, string, Markup | undefined])[] = [
    ['outcome', 'Outcome by type', outcome(findings)],
    ['totals', 'Control totals', controlTotals(findings)],
    ['left-behind', 'What was not migrated', notInService(findings)],
    ['throughput', 'Throughput', throughput(findings)],
    ['errors', 'Errors by cause', errorsByCode(findings)],
    ['chains', 'Blocked events', chains(findings)],
    ['duplicates', 'Duplicates', duplicates(findings)],
    ['omitted', 'Values left out', omissions(findings)],
    ['not-used', 'Columns and files not carried', notUsed(findings)],
    ['warnings', 'Warnings', warnings(findings)],
    ['mapping', 'Mapping', mapping(findings)],
    ['not-carried', 'What cannot be migrated', notMigrated()],
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
        ${banner(status)}
        <header>
          <p class="eyebrow">${status.summary?.dry_run ? 'Report of a dry run' : 'Migration report'}</p>
          <h1>${externalText(migration)}</h1>
          ${state(status)} ${facts(findings)}
        </header>
        <nav aria-label="Contents">
          <ul>
            ${present.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}
          </ul>
        </nav>
        <main>${notice(status)} ${damage(status)} ${figures(findings)} ${present.map(([, , part]) => part!)}</main>
        <footer>
          <p>
            Written ${time(writtenAt.toISOString(), timezone)} by ${TOOL}.
            ${
              withValues
                ? 'This page contains field values of records: handle it like the exports.'
                : 'This page contains external ids of records and names of stages, pipelines and owners, but no other field values.'
            }
          </p>
        </footer>
      </body>
    </html> `.text;
}

/** Repeated on every printed page: nobody may take the page for that of the migration. */
function banner({ summary, baseUrl }: MigrationStatus): Markup | undefined {
  const isRehearsal = baseUrl === SANDBOX;
  if (!summary?.dry_run && !isRehearsal) return undefined;
  const what = isRehearsal ? 'Rehearsal in the sandbox' : 'Dry run';
  const sent = summary?.dry_run ? 'nothing was sent' : 'nothing was sent to the real service';
  return html`<p class="banner" role="note">
    <span><b>${what}:</b> ${sent}</span>
  </p>`;
}

function state({ basis, summary }: MigrationStatus): Markup {
  if (basis !== 'ended' || !summary) return html`<p class="state warn">Not finished</p>`;
  const { code, reason } = summary.exit;
  const ending = endingText(summary) ?? `Stopped before the end: ${stopText(reason)}. Rerun to resume.`;
  const good = code === 0 ? 'good' : code === 1 ? 'warn' : 'bad';
  return html`<p class="state ${good}">${summary.dry_run ? `Dry run. ${ending}` : ending}</p>`;
}

function facts({ status, timezone }: ReportData): Markup {
  const { baseUrl, summary, history, survey } = status;
  const started = history.header?.created_at ?? summary?.started_at ?? survey?.at;
  const rows: [string, Markup][] = [
    ['Service', service(baseUrl)],
    ['Started', time(started, timezone)],
    ['Last run', html`${time(summary?.started_at ?? survey?.at, timezone)} – ${time(summary?.finished_at, timezone)}`],
  ];
  if (history.lastAt) rows.push(['Last answer', time(history.lastAt, timezone)]);
  rows.push(['Times', html`in the time zone ${timezone}`]);
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

function service(baseUrl: string | undefined): Markup {
  if (baseUrl === undefined) return html`none (offline)`;
  return baseUrl === SANDBOX ? html`the sandbox, a local stand-in` : externalText(baseUrl);
}

function damage(status: MigrationStatus): Markup | undefined {
  return status.damage === undefined ? undefined : html`<p class="notice">${status.damage}</p>`;
}

function notice({ basis }: MigrationStatus): Markup | undefined {
  if (basis === 'ended') return undefined;
  return html`<p class="notice">
    The last run is still in progress or ended unexpectedly (a power cut, kill -9).
    ${
      basis === 'under way'
        ? 'The counts are from its survey, updated from the checkpoint; events blocked by a rejected record still count as pending.'
        : 'There is no survey of it, so only events with an answer are counted.'
    }
    Rerun to resume.
  </p>`;
}
