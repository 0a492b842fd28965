/** One page for people: `report.html`, or alive, updated by the server of `status --serve`. */
import { createHash } from 'node:crypto';
import { REPORT_FILE } from '../../report/summary.ts';
import { writeWhole, type StateDir } from '../../state-dir.ts';
import { TOOL } from '../../version.ts';
import { visible } from '../../visible.ts';
import { readPageData, type PageData } from '../page-data.ts';
import { controlTotals } from './control-totals.ts';
import { banner, head, titleOf } from './head.ts';
import { mapping, notUsed } from './mapping.ts';
import { figures, latestAnswers, notInService, outcome } from './outcome.ts';
import { html, raw, time, type Markup } from './parts.ts';
import { chains, duplicates, errorsByCode, notMigrated, omissions, warnings } from './problems.ts';
import { STYLE } from './style.ts';
import { throughput } from './throughput.ts';

/** No scripts and nothing loaded from elsewhere; only the inline style sheet. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Path of the server-sent events, relative to the live page. */
export const EVENTS = 'events';

/** Each event has the sections that have changed, by their ids. Numbers that somebody has unfolded stay so. */
const SCRIPT = `
const lost = document.getElementById('lost');
const source = new EventSource('${EVENTS}');
source.onopen = () => { lost.hidden = true; };
source.onerror = () => { lost.hidden = false; };
source.onmessage = ({ data }) => {
  for (const [id, content] of Object.entries(JSON.parse(data))) {
    const element = document.getElementById(id);
    const isOpen = element.querySelector('details')?.open ?? false;
    element.innerHTML = content;
    const details = element.querySelector('details');
    if (details) details.open = isOpen;
  }
};
`;

/** Of the live page: only its script and its style sheet, and requests to its server. */
export const LIVE_POLICY = [
  "default-src 'none'",
  `script-src '${hash(SCRIPT)}'`,
  `style-src '${hash(STYLE)}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** By the id of the element that contains them; empty where there is nothing to show. */
export type PageSections = Readonly<Record<string, string>>;

const PARTS: readonly (readonly [id: string, title: string, part: (data: PageData) => Markup | undefined])[] = [
  ['outcome', 'Outcome by type', outcome],
  ['totals', 'Control totals', controlTotals],
  ['left-behind', 'What was not migrated', notInService],
  ['throughput', 'Throughput', throughput],
  ['latest', 'Latest events', latestAnswers],
  ['errors', 'Errors by cause', errorsByCode],
  ['chains', 'Blocked events', chains],
  ['duplicates', 'Duplicates', duplicates],
  ['omitted', 'Values left out', omissions],
  ['not-used', 'Columns and files not carried', notUsed],
  ['warnings', 'Warnings', warnings],
  ['mapping', 'Mapping', mapping],
  ['not-carried', 'What cannot be migrated', notMigrated],
];

/** Everything on the page that can change. */
export function sectionsOf(data: PageData): PageSections {
  const parts = PARTS.map(([id, title, part]) => ({ id, title, content: part(data) }));
  const present = parts.filter(({ content }) => content !== undefined);
  const contents = html`<nav aria-label="Contents">
    <ul>
      ${present.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
  </nav>`;
  return {
    'part-head': textOf(html`${head(data)} ${contents}`),
    'part-figures': textOf(figures(data)),
    ...Object.fromEntries(parts.map(({ id, content }) => [`part-${id}`, content ? textOf(content) : ''])),
  };
}

/** With characters that cannot be seen, such as those that reverse a text, by their code points. */
function textOf(markup: Markup): string {
  return visible(markup.toString().toWellFormed());
}

/**
 * Writes `report.html` into `output` (the state directory, or `dry-run/` in it) from the databases, and returns its path.
 * `withValues`: with messages and values of records.
 */
export async function writeReport(
  state: StateDir,
  output: StateDir,
  options: { readonly withValues: boolean },
): Promise<string> {
  const path = output.file(REPORT_FILE);
  await writeWhole(path, reportPage(readPageData(state, output, options)));
  return path;
}

/** The whole page as it is now; the live one is complete without its script. */
export function reportPage(data: PageData): string {
  const { isAlive } = data;
  const { 'part-head': top, ...sections } = sectionsOf(data);
  const policy = html`<meta http-equiv="Content-Security-Policy" content="${POLICY}" />`;
  const lost = html`<p class="notice" id="lost" role="alert" hidden>
    No connection to <code>crm-backfill status --serve</code>: what is shown may be out of date.
  </p>`;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        ${isAlive ? undefined : policy}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>${titleOf(data)}</title>
        ${raw(`<style>${STYLE}</style>`)}
      </head>
      <body>
        ${banner(data)} ${isAlive ? lost : undefined}
        <div id="part-head">${raw(top!)}</div>
        <main>${Object.entries(sections).map(([id, text]) => html`<div id="${id}">${raw(text)}</div> `)}</main>
        <footer><p>${isAlive ? 'Updated every two seconds' : written(data)}. ${contained(data)}</p></footer>
        ${isAlive ? raw(`<script>${SCRIPT}</script>`) : undefined}
      </body>
    </html> `;
  return textOf(page);
}

function written({ now, timezone }: PageData): Markup {
  return html`Written ${time(now.toISOString(), timezone)} by ${TOOL}`;
}

function contained({ withValues }: PageData): string {
  return withValues
    ? 'This page contains field values of records: handle it like the exports.'
    : 'This page contains external ids of records and names of stages, pipelines and owners, but no other field values.';
}
