/** Number and amount of the deals by stage and currency: as sent, and as the service shows them. */
import { comparedFields, STAGED } from '../../kinds/index.ts';
import { DecimalSum } from '../../decimal.ts';
import type { StageTotal } from '../../figures/verification.ts';
import type { Account } from '../../service/account.ts';
import type { Fields } from '../../service/list-page.ts';

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
  add(expected: readonly ({ readonly value: string } | undefined)[], record: Fields | undefined): void {
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
