/** One page for people: `report.html`. */
import { REPORT_FILE } from '../../report/summary.ts';
import { writeWhole, type StateDir } from '../../files/state-dir.ts';
import { TOOL } from '../../version.ts';
import { visible } from '../../terminal/visible.ts';
import { readPageData, type PageData, type PageOptions } from '../page-data.ts';
import { controlTotals } from './control-totals.ts';
import { banner, head, titleOf } from './head.ts';
import { mapping, notUsed } from './mapping.ts';
import { figures, notInService, outcome } from './outcome.ts';
import { exportsSection } from '../../figures/exports.ts';
import { skippedSection } from '../../figures/skipped.ts';
import { figureSection, html, raw, time, type Markup } from '../../print/html.ts';
import { blockedChains, duplicates, errorsByCode, notMigrated, omissions, warnings } from './problems.ts';
import { STYLE } from './style.ts';

/** No scripts and nothing loaded from elsewhere; only the inline style sheet. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const PARTS: readonly (readonly [id: string, title: string, part: (data: PageData) => Markup | undefined])[] = [
  ['outcome', 'Outcome by type', outcome],
  ['totals', 'Control totals', controlTotals],
  ['left-behind', 'What was not migrated', notInService],
  ['errors', 'Errors by cause', errorsByCode],
  ['chains', 'Blocked events', blockedChains],
  ['skipped', 'Rows skipped', skipped],
  ['exports', 'Files', files],
  ['duplicates', 'Duplicates', duplicates],
  ['omitted', 'Values left out', omissions],
  ['not-used', 'Columns and files not carried', notUsed],
  ['warnings', 'Warnings', warnings],
  ['mapping', 'Mapping', mapping],
  ['not-carried', 'What cannot be migrated', notMigrated],
];

/**
 * Writes `report.html` into `output` (the state directory, or `dry-run/` in it) from the databases, and returns its path.
 */
export async function writeReport(state: StateDir, output: StateDir, options: PageOptions): Promise<string> {
  const path = output.file(REPORT_FILE);
  await writeWhole(path, reportPage(readPageData(state, output, options)));
  return path;
}

function skipped({ skipped: rows }: PageData): Markup | undefined {
  const found = skippedSection(rows);
  return found && figureSection(found);
}

function files({ exports }: PageData): Markup | undefined {
  return exports.length === 0 ? undefined : figureSection(exportsSection(exports));
}

function reportPage(data: PageData): string {
  const parts = PARTS.flatMap(([id, title, part]) => {
    const content = part(data);
    return content ? [{ id, title, content }] : [];
  });
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>${titleOf(data)}</title>
        ${raw(`<style>${STYLE}</style>`)}
      </head>
      <body>
        ${banner(data)} ${head(data)}
        <nav aria-label="Contents">
          <ul>
            ${parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
          </ul>
        </nav>
        <main>${figures(data)} ${parts.map(({ content }) => content)}</main>
        <footer><p>${written(data)}. ${contained(data)}</p></footer>
      </body>
    </html> `;
  // Characters that cannot be seen, such as those that reverse a text, by their code points.
  return visible(page.toString().toWellFormed());
}

function written({ now, timezone }: PageData): Markup {
  return html`Written ${time(now.toISOString(), timezone)} by ${TOOL}`;
}

function contained({ withValues }: PageData): string {
  return withValues
    ? 'This page contains field values of records: handle it like the exports.'
    : 'This page contains external ids of records and names of stages, pipelines and owners, but no other field values.';
}
