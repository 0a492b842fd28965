import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { stagesSection } from '../../src/report/figures/stages.ts';
import { screenOf } from '../../src/report/print/terminal.ts';
import { ControlSum, type ControlTotal, type GroupNames } from '../../src/report/files/control-totals.ts';
import { writeReport } from '../../src/report/print/page/page.ts';
import { hostileWith } from './print/hostile.ts';
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
      if (part === 'pending_') sum.add('due_', 1, amount);
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

describe('control totals on a screen', () => {
  const shownIn = (totals: readonly ControlTotal[], columns: number, isDryRun = false): string[] => {
    const section = stagesSection(totals, isDryRun)!;
    const verdict = { word: 'DRY RUN', text: '', mood: 'done', details: [] } as const;
    const [, ...lines] = screenOf({ verdict, sections: [section] }, { columns });
    return lines.map((line) => line.map(({ text }) => text).join('')).filter((line) => line !== '');
  };

  it('have a row for each stage and currency, and a sum for each currency', () => {
    const lines = shownIn(TOTALS, 100).join('\n');
    expect(lines).toMatch(/all .* EUR +5 +1,000,012.30 +3 +1,000,005.30/);
    expect(lines).toMatch(/all +USD +1 +3.50 +0 +0.00/);
    expect(lines).toContain('1 amount unreadable');
  });

  it.each([60, 80, 120])('fit into %i columns, with the amounts of every sum', (columns) => {
    const lines = shownIn(TOTALS, columns);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines.join('\n')).toContain('1,000,005.30');
  });

  it('of many stages show the largest, and the others as one row with their sum', () => {
    const many = Array.from({ length: 40 }, (_, at) => total({ from_stage: `Stage ${at}` }, { pending: [at + 1] }));
    const lines = shownIn(many, 80, true).join('\n');
    expect(lines).toMatch(/32 more stages +32 +528.00 +32 +528.00/);
    expect(lines).toMatch(/all, EUR +40 +820.00 +40 +820.00/);
  });

  it('of currencies that differ have no sum across them', () => {
    const many = Array.from({ length: 40 }, (_, at) =>
      total({ from_stage: `Stage ${at}`, currency: at % 2 ? 'EUR' : 'USD' }, { pending: [1] }),
    );
    expect(shownIn(many, 80, true).join('\n')).toMatch(/32 more stages +32 +32\n/);
  });

  it('are one line where the service has all of them', () => {
    const [line] = shownIn([total({}, { acknowledged: [5, 7.5] })], 80);
    expect(line).toContain('2, EUR 12.50, equal to the export');
  });

  it('are absent where there are no deals', () => {
    expect(stagesSection([], true)).toBeUndefined();
  });
});

async function rowsOf(totals: readonly ControlTotal[]): Promise<{ page: string; rows: string[] }> {
  const state = await stateDirectory(hostileWith({ totals }));
  const page = await readFile(writeReport(state, state, { withValues: false }).path, 'utf8');
  const section = /<section id="stages".*?<\/section>/s.exec(page)?.[0] ?? '';
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
      'All 5 EUR 1,000,012.30 3 EUR 1,000,005.30 1 to fix, 1 not sent yet',
      'All 1 USD 3.50 0 USD 0.00 1 to fix',
    ];
    expect(rows).toEqual([
      'Old stage → new stage In the export In the service Equal',
      'Retail / Talking → Sales / Qualified 3 EUR 1,000,000.30 2 EUR 1,000,000.30 1 to fix',
      'Retail / Signed → Sales / Won 2 EUR 12.00 1 EUR 5.00 1 not sent yet',
      'Retail / Talking → Sales / Qualified 1 USD 3.50 0 USD 0.00 1 to fix',
      ...sums,
      'Old owner → new owner In the export In the service Equal',
      'Ada → Ada Lovelace 5 EUR 1,000,012.30 3 EUR 1,000,005.30 1 to fix, 1 not sent yet',
      '&lt;b&gt;Eve&lt;/b&gt; → – 1 USD 3.50 0 USD 0.00 1 to fix',
      ...sums,
    ]);
  });

  it('link what is missing to the list that says why, and mark what is equal', async () => {
    const { page } = await rowsOf(TOTALS);
    expect(page).toMatch(/href="#missing">1 not sent yet</);
    expect(page).toContain('<section id="missing"');
    expect((await rowsOf([total({}, { acknowledged: [5, 7.5] })])).page).toMatch(/role="img" aria-label="equal"/);
  });

  it('are left out where there are none', async () => {
    expect((await rowsOf([])).rows).toEqual([]);
  });
});
