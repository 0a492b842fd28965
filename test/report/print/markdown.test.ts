/** A printer that `src` does not know: figures have all that it needs. */
import { expect, it } from 'vitest';
import { isAmount, sectionOf, type Cell, type Figures, type Section } from '../../../src/report/figures/figures.ts';
import { countsSection } from '../../../src/report/figures/counts.ts';

function markdown({ verdict, sections }: Figures): string {
  return [`# ${verdict.word}${verdict.text}`, ...verdict.details, ...sections.map(section)].join('\n\n');
}

function section({ title, columns, rows, totals, notes, limit }: Section): string {
  const shown = rows.slice(0, limit?.most);
  const left = rows.length - shown.length;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    ...(title === '' ? [] : [`## ${title}`, '']),
    line(columns.map(({ head }) => head)),
    line(columns.map(({ kind }) => (kind === 'number' || kind === 'amount' ? '--:' : '---'))),
    ...[...shown, ...totals].map((row) => line(row.map(cell))),
    ...(left > 0 ? ['', `${left} more: see ${limit!.rest}`] : []),
    ...notes.map((note) => `\n${note}`),
  ].join('\n');
}

function cell(value: Cell): string {
  if (isAmount(value)) return `${value.amount} ${value.currency ?? ''}`.trim();
  return value === null ? '' : String(value).replaceAll('|', '\\|');
}

it('is written in a few lines', () => {
  const counts = countsSection([
    { type: 'lead/created', state: 'ready', code: null, is_chosen: 1, priority: 0, count: 3 },
  ]);
  const stages = sectionOf({
    id: 'stages',
    title: 'Deals by stage',
    columns: [
      { head: '', kind: 'text' },
      { head: 'export', kind: 'amount' },
    ],
    rows: [
      ['A | B', { amount: '1.50', currency: 'EUR' }],
      ['C', { amount: '2.00', currency: 'EUR' }],
    ],
    limit: { most: 1, rest: 'report.html' },
  });
  const verdict = { word: 'DRY RUN', text: ': nothing was sent', mood: 'partly', details: [] } as const;
  const text = markdown({ verdict, sections: [counts, stages] });
  expect(text).toContain('# DRY RUN: nothing was sent');
  expect(text).toContain('|  | events | to send |\n| --- | --: | --: |\n| leads | 3 | 3 |');
  expect(text).toContain('| A \\| B | 1.50 EUR |\n\n1 more: see report.html');
});
