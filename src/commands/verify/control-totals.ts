/** Number and amount of the deals by stage and currency: as sent, and as the service shows them. */
import { comparedFields, STAGED } from '../../kinds/index.ts';
import { DecimalSum, grouped } from '../../decimal.ts';
import { table } from '../../terminal/layout.ts';
import type { Account } from '../../service/account.ts';
import type { Fields } from '../../service/list-page.ts';
import type { EntityResult } from './differences.ts';
import type { ExpectedFields } from './expected.ts';
import { numberText } from '../../terminal/numbers.ts';

/** Of the deals that were read back: `expected` is what was sent, `found` what the service shows. */
export interface StageTotal {
  /** Names in the account, or the id of a stage that it does not have; null if there is none. */
  readonly pipeline: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly expected_count: number;
  /** Exact, in plain notation: `1200.50`. */
  readonly expected_amount: string;
  readonly found_count: number;
  /** Null if the service does not return amounts. */
  readonly found_amount: string | null;
}

interface StageSums {
  readonly stageId: string;
  readonly currency: string;
  readonly expected: { count: number; readonly amount: DecimalSum };
  readonly found: { count: number; readonly amount: DecimalSum };
}

export class StageTotals {
  readonly #sums = new Map<string, StageSums>();
  #hidesAmounts = false;

  /**
   * Takes a deal that was read back; `record` is undefined if it is missing. Where the mapping sends no stage or currency, the
   * service chooses it; where the service does not return one, the one that was sent counts.
   */
  add(expected: ExpectedFields, record: Fields | undefined): void {
    const fields = comparedFields(STAGED);
    const [stage, currency, amount] = ['stage_id', 'currency', 'amount'].map((name) => {
      const index = fields.findIndex((field) => field.name === name);
      return { sent: expected[index]?.value, shown: record?.[fields[index]!.shown!] };
    });
    this.#count('expected', stage!.sent ?? stage!.shown, currency!.sent ?? currency!.shown, amount!.sent);
    if (!record) return;
    const [foundStage, foundCurrency] = [stage!, currency!].map(({ sent, shown }) =>
      shown === undefined ? sent : shown,
    );
    if (amount!.sent !== undefined && amount!.shown === undefined) this.#hidesAmounts = true;
    this.#count('found', foundStage, foundCurrency, amount!.shown);
  }

  /** In the order of the account's stages, then by currency. */
  list({ pipelines }: Account): StageTotal[] {
    const stages = pipelines.flatMap(({ name: pipeline, stages: own }) =>
      own.map(({ id, name: stage }) => ({ id: id.toLowerCase(), pipeline, stage })),
    );
    const all = [...this.#sums.values()].map((sums) => {
      const index = stages.findIndex(({ id }) => id === sums.stageId);
      return { ...sums, rank: index < 0 ? Infinity : index, place: stages[index] };
    });
    all.sort((a, b) => (a.rank === b.rank ? a.currency.localeCompare(b.currency, 'en') : a.rank - b.rank));
    return all.map(({ stageId, currency, expected, found, place }) => ({
      pipeline: place?.pipeline ?? null,
      stage: place?.stage ?? (stageId || null),
      currency: currency || null,
      expected_count: expected.count,
      expected_amount: expected.amount.toString(),
      found_count: found.count,
      found_amount: this.#hidesAmounts ? null : found.amount.toString(),
    }));
  }

  #count(side: 'expected' | 'found', stage: unknown, currencyValue: unknown, amount: unknown): void {
    const [stageId, currency] = [textOf(stage).toLowerCase(), textOf(currencyValue)];
    const key = `${stageId}\0${currency}`;
    const none = () => ({ count: 0, amount: new DecimalSum() });
    const sums = this.#sums.get(key) ?? { stageId, currency, expected: none(), found: none() };
    this.#sums.set(key, sums);
    sums[side].count += 1;
    if (typeof amount === 'number' || typeof amount === 'string') sums[side].amount.add(amount);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Whether the service shows as many deals and the same amount as were sent. */
export function isBalanced(total: StageTotal): boolean {
  const { expected_count: count, expected_amount: amount, found_count: found, found_amount: shown } = total;
  return count === found && (shown === null || shown === amount);
}

/** The totals as a table that adds up for each currency, and which part of the deals they are about. */
export function stageTotalsText(
  totals: readonly StageTotal[],
  { read_back: read, acknowledged }: EntityResult,
): string {
  const [some, all] = [read, acknowledged].map(numberText);
  const part = read === acknowledged ? `all ${all}` : `${some} of the ${all}`;
  const rows = totals.map((total) => [
    [total.pipeline, total.stage].filter((name) => name !== null).join(' / ') || 'no stage',
    ...cellsOf([total]),
  ]);
  const currencies = [...new Set(totals.map(({ currency }) => currency))];
  const sums = currencies.map((currency) => ['all', ...cellsOf(totals.filter((each) => each.currency === currency))]);
  return [
    `control totals of ${part} acknowledged deals`,
    table([['', '', 'expected', 'amount', 'found', 'amount'], ...rows, ...sums]).replace(/^/gm, '  '),
  ].join('\n');
}

/** Of totals in one currency. */
function cellsOf(totals: readonly StageTotal[]): string[] {
  const counted = (['expected', 'found'] as const).flatMap((side) => {
    const [count, amount] = [totals.reduce((sum, each) => sum + each[`${side}_count`], 0), new DecimalSum()];
    const isShown = totals.every((each) => amount.add(each[`${side}_amount`] ?? ''));
    return [numberText(count), isShown ? grouped(amount.toString()) : '–'];
  });
  return [totals[0]?.currency ?? '–', ...counted];
}
