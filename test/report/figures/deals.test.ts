// Lost without it: the table of deals could not add up.
import { describe, expect, it } from 'vitest';
import { dealTable, signedSections, stagesSection } from '../../../src/report/figures/deal-table.ts';
import { DEAL_CELLS, DealSum, type DealCell, type DealGroup } from '../../../src/report/figures/deals.ts';
import { isAmount, type Cell, type Cells } from '../../../src/report/figures/figures.ts';

const NAMES = {
  from_pipeline: 'Retail',
  from_stage: 'Talking',
  from_owner: 'Ada',
  pipeline: 'Sales',
  stage: 'Qualified',
  owner: 'Ada Lovelace',
  currency: 'EUR',
  others: false,
};

/** The deals of a group, as their amounts by what became of them. */
function group(names: Partial<DealGroup>, amounts: Partial<Record<DealCell, readonly number[]>>): DealGroup {
  const sum = new DealSum();
  for (const [cell, own] of Object.entries(amounts)) {
    for (const amount of own) for (const at of ['export', cell] as DealCell[]) sum.add(at, amount);
  }
  return { ...NAMES, ...names, sum };
}

const GROUPS = [
  group({}, { acknowledged: [1_000_000.1, 0.2], blocked: [40] }),
  group({ from_stage: 'Signed', stage: 'Won' }, { acknowledged: [5], 'to send': [7] }),
  group({ from_stage: 'New', stage: null, pipeline: null }, { invalid: [9] }),
  group({ from_owner: '<b>Eve</b>', owner: null, currency: 'USD' }, { acknowledged: [3.5] }),
];
const MANY = Array.from({ length: 40 }, (_, at) => {
  const currency = at % 2 ? 'EUR' : 'USD';
  return group({ from_stage: `Stage ${at}`, currency }, { 'to send': [at + 1], blocked: [0.5] });
});

function texts(rows: readonly Cells[]): string[] {
  const text = (cell: Cell): string => (isAmount(cell) ? cell.amount : String(cell));
  return rows.map((row) => row.map(text).join(' '));
}

describe('the table of deals', () => {
  it.each([
    ['stage', GROUPS, 60],
    ['owner', GROUPS, 60],
    ['stage', MANY, 8],
    ['owner', MANY, 1],
  ] as const)('by %s adds up: its rows to the row of all, and each row to what the export has', (by, groups, most) => {
    const { rows, all } = dealTable(groups, by, most);
    for (const { currency, sum } of all) {
      const own = DealSum.of(rows.filter((row) => row.currency === currency).map((row) => row.sum));
      for (const cell of DEAL_CELLS)
        expect([own.count(cell), own.amount(cell)]).toEqual([sum.count(cell), sum.amount(cell)]);
    }
    for (const { sum } of [...rows, ...all]) expect(sum.isAll(...DEAL_CELLS.slice(1))).toBe(true);
    expect(rows.length).toBeLessThanOrEqual(most + all.length);
  });

  it('has in a dry run what can be sent, on the screen and on the page, with a tick only where that is all', () => {
    const groups = [group({}, { 'to send': [5, 6], blocked: [7] }), group({ from_stage: 'Won' }, { 'to send': [8] })];
    const screen = stagesSection(groups, true)!;
    expect(texts([...screen.rows, ...screen.totals])).toEqual([
      'Talking -> Sales / Qualified 3 18.00 2 11.00',
      'Won -> Sales / Qualified 1 8.00 1 8.00',
      'all, EUR 4 26.00 3 19.00',
    ]);
    const [page] = signedSections(groups, true);
    expect(page!.columns.map(({ head }) => head)).toEqual(['stage', '', 'export', '', 'to send', 'blocked', 'equal']);
    expect(texts([...page!.rows, ...page!.totals])).toEqual([
      'Talking -> Sales / Qualified 3 18.00 2 11.00 1 no',
      'Won -> Sales / Qualified 1 8.00 1 8.00 0 ✓',
      'all, EUR 4 26.00 3 19.00 1 no',
    ]);
  });

  it('of a run is one line where the service has all of them, and says which stage has no new name', () => {
    const sent = group({}, { acknowledged: [5, 7.5] });
    expect(stagesSection([sent], false)!.notes).toEqual(['Deals by stage: 2, EUR 12.50, equal to the export']);
    sent.sum.differing = 1;
    expect(stagesSection([sent], false)!.notes.join()).toMatch(/1 deal .*changes\.csv/);
    expect(signedSections([sent], false)[0]!.rows[0]!.at(-1)).not.toBe('✓');
    expect(texts(stagesSection(GROUPS, false)!.rows)).toContainEqual(
      expect.stringContaining('New -> (no new name yet)'),
    );
    expect([stagesSection([], true), signedSections([], true)]).toEqual([undefined, []]);
  });
});
