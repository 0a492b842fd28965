/** Deals by stage: what the export has and what the service has, as bars with their amounts. Owners are folded. */
import { grouped } from '../../../decimal.ts';
import { isAmount, type Cell, type Cells, type Section } from '../../figures/figures.ts';
import { numberText } from '../../words/numbers.ts';
import { capital } from '../../words/terms.ts';
import type { PageData } from '../page-data.ts';
import { dataTable, externalText, html, section, type Markup, type TableCell } from '../html.ts';

/** Undefined until the run has ended, and where there are no deals. */
export function stages({ figures: { sections } }: PageData): Markup | undefined {
  const [byStage, byOwner] = ['stages', 'owners'].map((id) => sections.find((each) => each.id === id));
  if (!byStage) return undefined;
  return section(
    'stages',
    byStage.title,
    ...byStage.notes.map((note) => html`<p>${note}</p>`),
    legend([
      ['export', byStage.columns[1]!.head],
      ['acknowledged', byStage.columns[3]!.head],
    ]),
    barTable(byStage),
    byOwner &&
      html`<details>
        <summary>${byOwner.title}</summary>
        ${barTable(byOwner)}
      </details>`,
  );
}

function barTable({ title, columns, rows, totals }: Section): Markup {
  const most = Math.max(1, ...rows.map(([, exported]) => Number(exported)));
  const heads = [0, 1, 3, 5].map((at) => capital(columns[at]!.head));
  return dataTable(
    html`<span class="unseen">${title}</span>`,
    heads,
    rows.map((row) => barRow(row, most)),
    ...totals.map((row) => barRow(row, undefined)),
  );
}

/** `most`: the number of deals that is as long as the column; without it, there are no bars. */
function barRow([name, exported, amount, there, amountThere, equal]: Cells, most: number | undefined): TableCell[] {
  const text = externalText(name as string, 160);
  return [
    most === undefined ? text : html`${text}${bars(Number(exported), Number(there), most)}`,
    sumCell(exported!, amount!),
    sumCell(there!, amountThere!),
    equal === '✓'
      ? html`<span class="tick" role="img" aria-label="equal">✓</span>`
      : html`<a class="no" href="#missing">${equal as string}</a>`,
  ];
}

function sumCell(count: Cell, amount: Cell): TableCell {
  const text = isAmount(amount) ? `${amount.currency ?? ''} ${grouped(amount.amount)}` : '';
  return { right: html`${numberText(Number(count))}<br /><span class="soft">${externalText(text, 60)}</span>` };
}

function bars(exported: number, there: number, most: number): Markup {
  const width = (count: number): string => ((count / most) * 1000).toFixed(1);
  return html`<svg class="pair" viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">
    <rect class="export" width="${width(exported)}" height="8" />
    <rect class="acknowledged" y="10" width="${width(there)}" height="8" />
  </svg>`;
}

/** What the colours of a chart mean: style classes with their names. */
function legend(entries: readonly (readonly [style: string, name: string])[]): Markup {
  return html`<ul class="legend" aria-hidden="true">
    ${entries.map(([style, name]) => html`<li><i class="${style}"></i>${name}</li>`)}
  </ul>`;
}
