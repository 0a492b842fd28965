/** One page for people: `report.html`. */
import { hash } from 'node:crypto';
import { REPORT_FILE } from '../../figures/summary.ts';
import type { StateDir } from '../../../files/state-dir.ts';
import { writeWhole } from '../../../files/write-lines.ts';
import { TOOL } from '../../../version.ts';
import type { PageFigures } from '../../figures/page.ts';
import { visible } from '../../words/visible.ts';
import { readPageData, type PageData, type PageOptions } from '../page-data.ts';
import { banner, cover, signing, signOff, titleOf, verdict } from './cover.ts';
import { mapping, notMigrated, notUsed } from './mapping.ts';
import { html, raw, section, figureSection, time, type Markup } from '../html.ts';
import { stages } from './stages.ts';
import { STYLE } from './style.ts';

/** No scripts and nothing loaded from elsewhere; only this style sheet, by its hash. */
const POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'`;

type PagePart = readonly [id: string, title: string, part: (data: PageData) => Markup | undefined];

/** In the order of the customer's questions. */
const PARTS: readonly PagePart[] = [
  ['exports', 'Files', figured('exports')],
  ['verdict', 'Result', verdict],
  ['stages', 'Deals by stage', stages],
  // Printed, the first pages are what is signed.
  ['sign', '', signOff],
  ['missing', 'What is missing', missing],
  ['skipped', 'Skipped rows', figured('skipped')],
  ['not-in-export', 'Not in this export', figured('not-in-export')],
  ['assumed', 'Assumed', figured('assumed')],
  ['verified', 'Compared with the service', figured('verified')],
  ['not-carried', 'What cannot be migrated', notMigrated],
  ['mapping', 'Mapping', mapping],
  ['not-used', 'Columns and files that are not migrated', notUsed],
  ['signing', 'Sign-off', signing],
];

/** For those who put right what is wrong: with codes and places. */
const APPENDIX: readonly PagePart[] = [
  ['outcome', 'Outcome by type', figured('outcome')],
  ['priorities', 'By priority', figured('priorities')],
  ['errors', 'Errors by cause', figured('errors')],
  ['omitted', 'Values left out', figured('omitted')],
  ['warnings', 'Warnings', figured('warnings')],
];

function figured(id: string): PagePart[2] {
  return ({ figures }) => {
    const found = figures.sections.find((each) => each.id === id);
    return found && figureSection(found);
  };
}

export interface WrittenPage {
  readonly path: string;
  readonly figures: PageFigures;
}

function missing(data: PageData): Markup {
  const is = data.isDryRun ? 'can be sent' : 'is in the service';
  const skipped = data.figures.sections.some(({ id }) => id === 'skipped')
    ? ' “Rows skipped” lists those that become none.'
    : '';
  const nothing = html`<p>Nothing: every event ${is}.${skipped}</p>`;
  return figured('missing')(data) ?? section('missing', 'What is missing, and who acts', nothing);
}

/**
 * Writes `report.html` into `output` (the state directory, or `dry-run/` in it) from the databases. Returns its path and its figures.
 */
export function writeReport(state: StateDir, output: StateDir, options: PageOptions): WrittenPage {
  const path = output.file(REPORT_FILE);
  const data = readPageData(state, output, options);
  writeWhole(path, reportPage(data));
  return { path, figures: data.figures };
}

function reportPage(data: PageData): string {
  const parts = shownOf(PARTS, data);
  const appendix = shownOf(APPENDIX, data);
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
        ${banner(data)} ${cover(data)}
        <nav aria-label="Contents">
          <ul>
            ${parts.filter(({ title }) => title !== '').map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
            <li><a href="#appendix">Appendix</a></li>
          </ul>
        </nav>
        <main>
          ${parts.map(({ content }) => content)}
          <details id="appendix">
            <summary>Appendix: codes, places, values left out, warnings</summary>
            ${appendix.map(({ content }) => content)}
          </details>
        </main>
        <footer><p>${written(data)}. ${contained(data)}</p></footer>
      </body>
    </html> `;
  // Characters that cannot be seen, such as those that reverse a text, by their code points.
  return visible(page.toString().toWellFormed());
}

function shownOf(parts: readonly PagePart[], data: PageData): { id: string; title: string; content: Markup }[] {
  return parts.flatMap(([id, title, part]) => {
    const content = part(data);
    return content ? [{ id, title, content }] : [];
  });
}

function written({ now, timezone }: PageData): Markup {
  return html`Written ${time(now.toISOString(), timezone)} by ${TOOL}`;
}

function contained({ withValues }: PageData): string {
  return withValues
    ? 'This page contains field values of records: handle it like the exports.'
    : 'This page contains external ids of records and names of stages, pipelines and owners, but no other field values.';
}
