// Lost without it: the sums that a customer signs could differ from what is sent.
import { describe, expect, it } from 'vitest';
import type { Summary } from '../../src/report/figures/summary.ts';
import type { EventCounts } from '../../src/model.ts';
import { mapping, project, rowsIn } from '../e2e/harness.ts';

const REFERENCES = `references:
  pipelines: { Retail: Sales, Resale: Partners }
  stages: { Talking: Qualified, Signed: Won }
  owners: { Ada: Ada Lovelace, Gone: null }
`;
const HEAD = 'id,title,lead,pipeline,stage,owner,currency,amount\n';

async function totalsOf(deals: readonly (readonly string[])[]) {
  const rows = deals.map((cells) => `${cells.map((cell) => `"${cell}"`).join(',')}\n`).join('');
  const data =
    'external_id: id, title: title, amount: { from: amount, apply: [number] }, currency: currency, lead_external_id: lead, stage_name: stage, owner_name: owner';
  const { service, state, summary, told, edit } = await project({
    'mapping.yaml': mapping(
      {
        people: 'type: lead/created, data: { external_id: id, full_name: name }',
        deals: `type: deal/created, stage_pipeline: pipeline, duplicates: first, data: { ${data} }`,
      },
      REFERENCES,
    ),
    'people.csv': 'id,name\np,Somebody\n',
    'deals.csv': HEAD + rows,
  });
  const run = (...options: string[]) => summary('--max-errors', '100%', '--max-rejections-in-a-row', '0', ...options);
  return { service, state, run, told, edit };
}

/** Sums over all groups. Amounts in 10 ** -4. */
function sumOf({ totals }: Summary, ...parts: readonly string[]): { count: number; amount: bigint } {
  let [count, amount] = [0, 0n];
  for (const total of totals) {
    for (const part of parts) {
      count += total[`${part}count`]!;
      amount += scaled(total[`${part}amount`]!);
    }
  }
  return { count, amount };
}

function scaled(decimal: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,4}))?$/.exec(decimal)!;
  return BigInt(sign + whole + fraction.padEnd(4, '0'));
}

const OUTCOMES = {
  acknowledged: ['acknowledged_'],
  invalid: ['invalid_'],
  rejected: ['rejected_'],
  blocked: ['blocked_'],
  pending: ['to_send_', 'later_'],
} as const;
const PENDING = OUTCOMES.pending;

/** Every outcome of the groups is that of the deals, and count and amount are the sums of their outcomes. */
function expectToAddUp(summary: Summary): void {
  const deals = summary.by_type['deal/created'] as EventCounts;
  for (const [outcome, parts] of Object.entries(OUTCOMES))
    expect(sumOf(summary, ...parts).count, outcome).toBe(deals[outcome as keyof typeof OUTCOMES]);
  expect(sumOf(summary, '').count).toBe(deals.total - deals.duplicates);
  expect(sumOf(summary, '').amount).toBe(sumOf(summary, ...Object.values(OUTCOMES).flat()).amount);
}

describe('control totals', () => {
  it('add up whatever becomes of the deals, in a dry run, a pilot, the run and a rerun', async () => {
    let state = 7;
    const pick = <T>(list: readonly T[]): T => list[(state = (state * 48_271) % 2_147_483_647) % list.length]!;
    const deals = Array.from({ length: 400 }, (_, index): string[] => {
      const id = pick([`d${index}`, `d${index}`, `d${index}`, 'd0', 'd1', '']);
      const names = [pick(['Retail', 'Resale', '']), pick(['Talking', 'Signed', 'Nowhere']), pick(['Ada', 'Gone', ''])];
      const amount = pick(['', 'x', '0', '-3.10', '0.1', '19.99', '1,234.5678', '999,999,999,999.9', `${index}.07`]);
      return [id, 'a', pick(['p', 'p', 'p', 'missing']), ...names, pick(['EUR', 'USD', '']), amount];
    });
    const { service, state: path, run } = await totalsOf(deals);
    const refusal = {
      kind: 'status',
      status: 400,
      when: { event: { type: 'deal/created' }, probability: 0.3 },
    } as const;

    const dry = await run('--dry-run');
    expectToAddUp(dry);
    expect(dry.by_type['deal/created']).toMatchObject({ acknowledged: 0 });
    for (const outcome of ['duplicates', 'invalid', 'blocked', 'pending'] as const) {
      expect(dry.by_type['deal/created']![outcome], outcome).toBeGreaterThan(10);
    }
    const pilot = await run('--pilot', '9');
    expectToAddUp(pilot);
    expect(sumOf(pilot, 'acknowledged_').count).toBeGreaterThan(3);
    expect(sumOf(pilot, 'acknowledged_').count).toBeLessThanOrEqual(9);
    // What is due in a run, and what it leaves for later.
    expect(sumOf(dry, 'later_').count).toBe(0);
    expect(sumOf(pilot, 'to_send_').count).toBe(0);
    const next = await run('--pilot', '90', '--dry-run');
    expect(sumOf(next, 'to_send_').count).toBeGreaterThan(0);
    service.setFaults({ rules: [refusal] });
    const refused = await run();
    expectToAddUp(refused);
    expect(sumOf(refused, 'rejected_').count).toBeGreaterThan(10);
    service.setFaults({ rules: [] });
    const whole = await run();
    expectToAddUp(whole);
    expect(sumOf(whole, 'acknowledged_')).toEqual(sumOf(dry, ...PENDING));
    expect(sumOf(whole, '')).toEqual(sumOf(dry, ''));
    const again = await run();
    expect(again.this_run.events_sent).toBe(0);
    expect(again.totals).toEqual(whole.totals);

    const planned = await rowsIn<{ amount: string | null }>(
      path(),
      `select data ->> '$.amount' as amount from events
       where type = 'deal/created' and data is not null and state not in ('invalid', 'duplicate')`,
    );
    const sent = sumOf(whole, 'acknowledged_', 'blocked_');
    expect(sent.count).toBe(planned.length);
    // Of each id, the first valid row; the amounts that can be read, exactly.
    const amounts = planned.map(({ amount }) => scaled(String(amount ?? 0)));
    expect(sent.amount).toBe(amounts.reduce((sum, each) => sum + each, 0n));
  });

  it('do not call a deal equal to the export that was sent with other values', async () => {
    const deal = ['p', 'Retail', 'Talking', 'Ada', 'EUR'];
    const { run, told, edit } = await totalsOf([
      ['1', 'a', ...deal, '10.50'],
      ['2', 'b', ...deal, '20'],
    ]);
    await run();
    expect((await told()).stdout).toContain('2, EUR 30.50, equal to the export');
    await edit('deals.csv', (text) => text.replace('"20"', '"99"'));
    const changed = await run();
    expect(changed.totals).toMatchObject([
      { amount: '109.50', acknowledged_amount: '30.50', differing: 1, unknown: 0 },
    ]);
    const { stdout } = await told();
    expect(stdout).not.toContain('equal to the export');
    expect(stdout).toMatch(/2 +109\.50 +2 +30\.50/);
  });

  it('sum up what is beyond 1,000 groups as one group for each currency, without names', async () => {
    const deals = Array.from({ length: 1_100 }, (_, index) => [
      `d${index}`,
      'a',
      'p',
      'Retail',
      'Talking',
      'Ada',
      'EUR',
      '1.5',
    ]);
    for (const [index, deal] of deals.entries()) {
      deal[5] = `Owner ${index}`;
      if (index % 4 === 0) deal[6] = 'USD';
    }
    const { run } = await totalsOf(deals);
    const summary = await run('--dry-run');
    expect(summary.totals).toHaveLength(1_002);
    expectToAddUp(summary);
    const others = { others: true, from_owner: null, owner: null, from_stage: null };
    expect(summary.totals.slice(-2)).toMatchObject([
      { ...others, currency: 'EUR', count: 75, amount: '112.50' },
      { ...others, currency: 'USD', count: 25, amount: '37.50' },
    ]);
  });
});
