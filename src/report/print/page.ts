/** One page for people: `report.html`, drawn from its figures. */
import { hash } from 'node:crypto';
import { html as template, raw } from 'hono/html';
import { grouped } from '../../decimal.ts';
import type { StateDir } from '../../files/state-dir.ts';
import { writeWhole } from '../../files/write-lines.ts';
import type { LockHolder } from '../../store/lock.ts';
import { readState } from '../../store/open.ts';
import { TOOL } from '../../version.ts';
import { EQUAL } from '../figures/deal-table.ts';
import { isAmount, type Cell, type CellColumn, type Cells, type Mood, type Section } from '../figures/figures.ts';
import { pageFigures, type PageFigures } from '../figures/page.ts';
import { PlanFigures } from '../figures/plan-figures.ts';
import { readStatus } from '../figures/status.ts';
import { readSummary, REPORT_FILE } from '../figures/summary.ts';
import { numberText } from '../words/numbers.ts';
import { capital } from '../words/terms.ts';
import { dateText } from '../words/times.ts';
import { shortened, visible } from '../words/visible.ts';
import { STYLE } from './style.ts';

/** No scripts and nothing loaded from elsewhere; only this style sheet, by its hash. */
const POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'`;

/** Safe HTML, made by `html` and `raw` alone. */
type Markup = ReturnType<typeof raw>;
type Content = Markup | readonly Markup[] | string | number | undefined;

/** Escapes every value that is not `Markup`. Typed without the promises that Hono would take as values too. */
const html = template as (strings: TemplateStringsArray, ...values: readonly Content[]) => Markup;

interface PageOptions {
  /** With messages and values of records. */
  readonly withValues: boolean;
  /** The process of the current run, if there is one. */
  readonly holder?: LockHolder | undefined;
}

/**
 * Writes `report.html` into `output` (the state directory, or `dry-run/` in it) from the databases, both read at one moment. Returns its
 * path and its figures.
 */
export function writeReport(
  state: StateDir,
  output: StateDir,
  options: PageOptions,
): { readonly path: string; readonly figures: PageFigures } {
  const db = readState(state, output);
  try {
    db.exec('begin');
    return drawReport(new PlanFigures(db), state, output, options);
  } finally {
    db.close();
  }
}

/** The same of figures that are read already. */
export function drawReport(
  plan: PlanFigures,
  state: StateDir,
  output: StateDir,
  { withValues, holder }: PageOptions,
): { readonly path: string; readonly figures: PageFigures } {
  const [path, now] = [output.file(REPORT_FILE), new Date()];
  const summary = readSummary(plan.db);
  const isDryRun = summary?.dry_run ?? output.path !== state.path;
  const status = readStatus(plan, { path: output.path, holder, now });
  const figures = pageFigures({ plan, status, summary, isDryRun, withValues, now });
  writeWhole(path, pageOf(figures, withValues, now));
  return { path, figures };
}

/** Sections that follow the box to sign. */
const UNSIGNED: readonly string[] = ['not-in-export', 'assumed', 'verified', 'not-carried', 'not-undone', 'not-used'];

/** As when it is printed: the box to sign follows what is missing. */
function pageOf(figures: PageFigures, withValues: boolean, now: Date): string {
  const { kind, title, banner, facts, sections, mapping, appendix, sign } = figures;
  const signed = sections.filter(({ id }) => !UNSIGNED.includes(id));
  const rest = sections.filter(({ id }) => UNSIGNED.includes(id));
  const notUsed = sections.find(({ id }) => id === 'not-used');
  const named = [
    ...sections.filter(({ id }) => id !== 'owners' && !id.startsWith('example')),
    { id: 'mapping', title: 'Mapping' },
  ];
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>${kind}: ${title}</title>
        ${raw(`<style>${STYLE}</style>`)}
      </head>
      <body>
        ${banner === null ? undefined : html`<p class="banner" role="note"><span>${banner}</span></p>`}
        <header>
          <p class="eyebrow">${kind}</p>
          <h1>${text(title)}</h1>
          <dl class="facts">
            ${facts.map(
              ([name, value]) =>
                html`<dt>${name}</dt>
                  <dd>${text(value)}</dd> `,
            )}
          </dl>
        </header>
        ${verdictOf(figures)}
        <nav aria-label="Contents">
          <ul>
            ${[...named, { id: 'appendix', title: 'Appendix' }].map((each) => html`<li><a href="#${each.id}">${each.title}</a></li> `)}
          </ul>
        </nav>
        <main>
          ${signed.map(sectionOf)} ${sections.some(({ id }) => id === 'missing') ? undefined : nothingMissing(figures)}
          ${sign === null ? undefined : signBox(sign)} ${rest.filter((each) => each !== notUsed).map(sectionOf)}
          <section id="mapping" aria-labelledby="mapping-title">
            <h2 id="mapping-title">How the exports were mapped</h2>
            ${mapping.map(
              (each) =>
                html`<h3>${rich(each.title)}</h3>
                  ${tableOf(each)}`,
            )}
          </section>
          ${notUsed && sectionOf(notUsed)}
          <details id="appendix">
            <summary>Appendix: codes, places, values left out, warnings</summary>
            ${appendix.map(sectionOf)}
          </details>
        </main>
        <footer>
          <p>
            Written ${dateText(now, { timeZoneName: 'short' })} by ${TOOL}. ${withValues ? WITH_VALUES : WITHOUT_VALUES}
          </p>
        </footer>
      </body>
    </html> `;
  // Characters that cannot be seen, such as those that reverse a text, by their code points.
  return visible(page.toString().toWellFormed());
}

const WITH_VALUES = 'This page contains field values of records: handle it like the exports.';
const WITHOUT_VALUES =
  'This page contains the ids of records in the old CRM, and names of stages, pipelines and owners, but no other field values.';

const LEVELS: Readonly<Record<Mood, string>> = { done: 'good', partly: 'warn', failed: 'bad' };

/** In one sentence, and three numbers. */
function verdictOf({ verdict, tiles }: PageFigures): Markup {
  return html`<section id="verdict" aria-label="Result">
    <p class="state ${LEVELS[verdict.mood]}" role="status">${verdict.text}</p>
    <ul class="tiles">
      ${tiles.map(
        ({ count, what, parts, mood }) =>
          html`<li class="${mood === undefined ? '' : LEVELS[mood]}">
            <b>${numberText(count)}</b> ${what} ${parts.map((part) => html`<small>${part}</small> `)}
          </li> `,
      )}
    </ul>
  </section>`;
}

function nothingMissing({ dry_run: isDryRun, sections }: PageFigures): Markup {
  const is = isDryRun ? 'can be sent' : 'is in the service';
  const skipped = sections.some(({ id }) => id === 'skipped') ? ' “Rows skipped” lists those that become none.' : '';
  const title = 'What is missing, and who acts';
  return html`<section id="missing" aria-labelledby="missing-title">
    <h2 id="missing-title">${title}</h2>
    <p>Nothing: every record ${is}.${skipped}</p>
  </section>`;
}

/** Who signs for what: for print. On the screen, a line says so. */
function signBox(sign: string): Markup {
  return html`<section id="sign" aria-labelledby="sign-title">
    <h2 id="sign-title">Sign-off</h2>
    <p>${sign}</p>
    <p class="screen">Print this page to sign it.</p>
    <div class="lines">
      ${['For the customer', 'For the migration team'].map(
        (who) => html`<div><b>${who}</b><span>Name</span><span>Date</span><span>Signature</span></div> `,
      )}
    </div>
  </section>`;
}

function sectionOf(section: Section): Markup {
  const { id, title, notes } = section;
  const content = html`${tableOf(section)} ${notes.map((note) => html`<p>${rich(note)}</p> `)}`;
  if (id === 'owners')
    return html`<details id="owners">
      <summary>${title}</summary>
      ${content}
    </details> `;
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${rich(title)}</h2>
    ${content}
  </section> `;
}

/** As a customer reads the cells of the table of deals. */
const HEADS: Readonly<Record<string, string>> = {
  export: 'In the export',
  acknowledged: 'In the service',
  'to send': 'Ready to send',
};

/** Of more stages, bars say nothing. */
const MOST_BARS = 12;

/** With all of its rows. A number and the amount that follows it are one cell. Hints are for screens. */
function tableOf({ id, title, columns, rows, totals }: Section): Markup | undefined {
  if (rows.length === 0) return undefined;
  const isAmountAt = (at: number): boolean => columns[at]?.kind === 'amount';
  const shown = [...columns.entries()].filter(([at, { kind }]) => kind !== 'hint' && !isAmountAt(at));
  const headOf = (at: number): string => {
    const { head } = columns[isAmountAt(at + 1) ? at + 1 : at]!;
    return HEADS[head] ?? capital(head);
  };
  const number = columns.findIndex(({ kind }) => kind === 'number');
  const most = id === 'stages' && rows.length <= MOST_BARS ? Math.max(...rows.map((row) => Number(row[number]))) : 0;
  const line = (row: Cells, isTotal: boolean): Markup =>
    html`<tr>
      ${shown.map(([at, column]) => {
        const content = isAmountAt(at + 1) ? sumCell(row[at]!, row[at + 1]!) : cellOf(row[at] ?? null, column);
        if (at > 0) return html`<td class="${styleOf(column)}" data-head="${headOf(at)}">${content}</td> `;
        const bars = most === 0 || isTotal ? undefined : barsOf(Number(row[number]), Number(row[number + 2]), most);
        return html`<th scope="row">${content}${bars}</th> `;
      })}
    </tr> `;
  const colourOf = (at: number): Markup | undefined => {
    if (most === 0 || (at !== number && at !== number + 2)) return undefined;
    return html`<i class="${at === number ? '' : 'there'}"></i>`;
  };
  const heads = shown.map(
    ([at, column]) => html`<th scope="col" class="${styleOf(column)}">${colourOf(at)}${headOf(at)}</th> `,
  );
  return html`<table>
    <caption>
      ${rich(title)}
    </caption>
    <thead>
      <tr>
        ${heads}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => line(row, false))}
    </tbody>
    ${
      totals.length === 0
        ? undefined
        : html`<tfoot>
            ${totals.map((row) => line(row, true))}
          </tfoot>`
    }
  </table>`;
}

function styleOf({ kind }: CellColumn): string {
  return kind === 'number' || kind === 'amount' ? 'number' : kind === 'label' ? 'label' : 'text';
}

function cellOf(cell: Cell, { kind }: CellColumn): Content {
  if (cell === null || cell === '') return '–';
  if (typeof cell === 'number') return numberText(cell);
  if (isAmount(cell)) return grouped(cell.amount);
  if (cell === EQUAL) return html`<span class="tick" role="img" aria-label="equal">${EQUAL}</span>`;
  if (kind === 'code' || kind === 'path') return html`<code>${text(cell)}</code>`;
  return rich(cell.replace(' -> ', ' → '));
}

/** `4`, and below it `5,000.00`. */
function sumCell(count: Cell, amount: Cell): Content {
  if (count === 0 || !isAmount(amount)) return '–';
  return html`${numberText(Number(count))}<br /><small>${grouped(amount.amount)}</small>`;
}

/** `most`: the number that is as long as the column. */
function barsOf(exported: number, there: number, most: number): Markup {
  const width = (count: number): string => ((count / most) * 1000).toFixed(1);
  return html`<svg viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">
    <rect width="${width(exported)}" height="8" />
    <rect class="there" y="10" width="${width(there)}" height="8" />
  </svg>`;
}

/** A text from an export or the service: shortened, and isolated for its writing direction. */
function text(content: string, most = 300): Markup {
  return html`<bdi>${shortened(content, most)}</bdi>`;
}

/** Text in backticks, such as a name, is set apart, and lines stay lines. A backtick without a partner is text. */
function rich(content: string): Markup {
  const parts = content.split('`');
  const lines = (part: string): Markup[] =>
    part.split('\n').map((line, at) => html`${at > 0 ? html`<br />` : undefined}${text(line, 2_000)}`);
  if (parts.length % 2 === 0) return html`${lines(content)}`;
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${text(part, 120)}</code>` : html`${lines(part)}`))}`;
}
