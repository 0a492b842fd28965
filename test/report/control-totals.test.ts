import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ControlSum, controlTotalsText, type ControlTotal, type GroupNames } from '../../src/report/control-totals.ts';
import { writeReport } from '../../src/pages/html/page.ts';
import { hostileWith } from '../pages/hostile.ts';
import { stateDirectory } from '../state.ts';

const NAMES: GroupNames = {
  from_pipeline: 'Retail',
  from_stage: 'Talking',
  from_owner: 'Ada',
  pipeline: 'Sales',
  stage: 'Qualified',
  owner: 'Ada Lovelace',
  currency: 'EUR',
};

/** The deals of a group, as their amounts by outcome. */
function total(
  names: Partial<GroupNames>,
  { acknowledged = [], invalid = [], pending = [] }: Record<string, number[]>,
): ControlTotal {
  const sum = new ControlSum();
  const parts = [
    ['acknowledged_', acknowledged],
    ['invalid_', invalid],
    ['pending_', pending],
  ] as const;
  for (const [part, amounts] of parts) {
    for (const amount of amounts) {
      sum.add('', 1, amount);
      sum.add(part, 1, amount);
      if (part !== 'invalid_') sum.add('planned_', 1, amount);
    }
  }
  return {
    entity: 'deal',
    ...NAMES,
    ...names,
    ...sum.figures,
    unread_amounts: invalid.filter((amount) => amount === 0).length,
  };
}

const TOTALS = [
  total({}, { acknowledged: [1_000_000.1, 0.2], invalid: [0] }),
  total({ from_stage: 'Signed', stage: 'Won' }, { acknowledged: [5], pending: [7] }),
  total({ from_owner: '<b>Eve</b>', owner: null, currency: 'USD' }, { invalid: [3.5] }),
];

describe('control totals in the terminal', () => {
  it('have one line for each currency', () => {
    expect(controlTotalsText(TOTALS, 90).split('\n')).toEqual([
      'deals  in export        amount  in plan        amount  acknowledged        amount',
      'EUR            5  1,000,012.30        4  1,000,012.30             3  1,000,005.30',
      'USD            1          3.50        0          0.00             0          0.00',
      '1 deal counts without an amount, because it could not be read',
    ]);
  });

  it('have one column for each currency where the terminal is narrow', () => {
    expect(controlTotalsText(TOTALS, 50).split('\n').slice(0, 7)).toEqual([
      'deals                  EUR   USD',
      'in export                5     1',
      'amount        1,000,012.30  3.50',
      'in plan                  4     0',
      'amount        1,000,012.30  0.00',
      'acknowledged             3     0',
      'amount        1,000,005.30  0.00',
    ]);
  });

  it('name the five most frequent currencies, and how many more there are', () => {
    const totals = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'NOK'].map((currency) =>
      total({ currency }, { pending: [1] }),
    );
    const lines = controlTotalsText(totals, 100).split('\n');
    expect(lines).toHaveLength(7);
    expect(lines.at(-1)).toBe('and 2 more currencies: see report.html');
  });

  it('are absent where there are no deals', () => {
    expect(controlTotalsText([], 80)).toBe('');
  });
});

async function rowsOf(totals: readonly ControlTotal[]): Promise<{ page: string; rows: string[] }> {
  const state = await stateDirectory(hostileWith({ totals }));
  const page = await readFile(await writeReport(state, state, { withValues: false }), 'utf8');
  const section = /<section id="totals".*?<\/section>/s.exec(page)?.[0] ?? '';
  const rows = [...section.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) =>
    row
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  return { page, rows };
}

describe('control totals in the report', () => {
  it('are tables by stage and by owner that add up for each currency', async () => {
    const { rows } = await rowsOf(TOTALS);
    const sums = [
      'All EUR 5 1,000,012.30 4 1,000,012.30 3 1,000,005.30 1 invalid : 0.00 1 not sent yet : 7.00',
      'All USD 1 3.50 0 0.00 0 0.00 1 invalid : 3.50',
    ];
    expect(rows).toEqual([
      'Old stage New stage Currency In the export In the plan In the service Not in the service',
      'Retail / Signed Sales / Won EUR 2 12.00 2 12.00 1 5.00 1 not sent yet : 7.00',
      'Retail / Talking Sales / Qualified EUR 3 1,000,000.30 2 1,000,000.30 2 1,000,000.30 1 invalid : 0.00',
      'Retail / Talking Sales / Qualified USD 1 3.50 0 0.00 0 0.00 1 invalid : 3.50',
      ...sums,
      'Old owner New owner Currency In the export In the plan In the service Not in the service',
      '&lt;b&gt;Eve&lt;/b&gt; – USD 1 3.50 0 0.00 0 0.00 1 invalid : 3.50',
      'Ada Ada Lovelace EUR 5 1,000,012.30 4 1,000,012.30 3 1,000,005.30 1 invalid : 0.00 1 not sent yet : 7.00',
      ...sums,
    ]);
  });

  it('link what is missing to the section that says why', async () => {
    const { page } = await rowsOf(TOTALS);
    for (const [text, target] of [
      ['1 invalid', 'errors'],
      ['1 not sent yet', 'left-behind'],
    ] as const) {
      expect(page).toContain(`<a href="#${target}">${text}</a>`);
      expect(page).toContain(`<section id="${target}"`);
    }
  });

  it('are left out where there are none', async () => {
    expect((await rowsOf([])).rows).toEqual([]);
  });
});
