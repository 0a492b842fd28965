/** Deals by stage: what the export has and what became of it, with bars and amounts. Owners are folded. */
import { grouped } from '../../../decimal.ts';
import { EQUAL } from '../../figures/deal-table.ts';
import { isAmount, type Cell, type Cells, type Section } from '../../figures/figures.ts';
import { numberText } from '../../words/numbers.ts';
import { capital } from '../../words/terms.ts';
import type { PageData } from '../page-data.ts';
import { dataTable, externalText, html, section, type Markup, type TableCell } from '../html.ts';

/** Undefined where there are no deals. */
export function stages({ figures: { sections } }: PageData): Markup | undefined {
  const [byStage, byOwner] = ['stages', 'owners'].map((id) => sections.find((each) => each.id === id));
  if (!byStage) return undefined;
  return section(
    'stages',
    byStage.title,
    ...byStage.notes.map((note) => html`<p>${note}</p>`),
    dealTable(byStage),
    byOwner &&
      html`<details>
        <summary>${byOwner.title}</summary>
        ${dealTable(byOwner)}
      </details>`,
  );
}

/** As a customer reads the cells of the table. */
const HEADS: Readonly<Record<string, string>> = {
  '': 'Old name → new name',
  export: 'In the export',
  acknowledged: 'In the service',
  'to send': 'Ready to send',
};

/** Of more rows, bars say nothing. */
const MOST_BARS = 12;

function dealTable({ title, columns, rows, totals }: Section): Markup {
  const at = columns.findIndex(({ kind }) => kind === 'number');
  const most = rows.length > MOST_BARS ? 0 : Math.max(...rows.map((row) => Number(row[at])));
  const line = (row: Cells, isTotal: boolean): TableCell[] => [
    nameCell(row, [Number(row[at]), Number(row[at + 2])], isTotal ? 0 : most),
    ...columns.flatMap(({ kind }, index): TableCell[] => {
      if (kind === 'label') return [row[index] as string];
      return kind === 'number' ? [sumCell(row[index]!, row[index + 1]!)] : [];
    }),
    row.at(-1) === EQUAL
      ? html`<span class="tick" role="img" aria-label="equal">✓</span>`
      : html`<a class="no" href="#missing">${row.at(-1) as string}</a>`,
  ];
  // The head of a number with an amount is that of the amount.
  const heads = columns.filter(({ kind }, index) => kind !== 'number' || columns[index + 1]?.kind !== 'amount');
  return dataTable(
    html`<span class="unseen">${title}</span>`,
    heads.map(({ head }, index) => (index === 0 || head !== '' ? (HEADS[head] ?? capital(head)) : 'Currency')),
    rows.map((row) => line(row, false)),
    ...totals.map((row) => line(row, true)),
  );
}

/** `most`: the number of deals that is as long as the column; if it is 0, there are no bars. */
function nameCell([name]: Cells, [exported, there]: readonly [number, number], most: number): Markup {
  const text = externalText((name as string).replace(' -> ', ' → '), 160);
  const width = (count: number): string => ((count / most) * 1000).toFixed(1);
  return most === 0
    ? text
    : html`${text}<svg class="pair" viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">
          <rect class="export" width="${width(exported)}" height="8" />
          <rect class="acknowledged" y="10" width="${width(there)}" height="8" />
        </svg>`;
}

function sumCell(count: Cell, amount: Cell): TableCell {
  if (count === 0) return { right: '–' };
  if (!isAmount(amount)) return Number(count);
  return { right: html`${numberText(Number(count))}<br /><span class="soft">${grouped(amount.amount)}</span>` };
}
