/** Control totals: how many deals there are, and their amounts, in the export, in the plan and in the service. */
import type { Entity } from '../../model.ts';
import { DecimalSum } from '../../decimal.ts';
import { counted } from '../words/numbers.ts';

/** So many groups are kept apart; all others are one group for each currency, without names. */
export const MOST_GROUPS = 1_000;

/**
 * The parts of the deals that are counted, as prefixes of the figures: all that the export has, those with a line in the
 * plan, the outcomes, which add up to all, what this run has still to send (`due`), what it leaves for later, and those of the
 * acknowledged ones that the service has with other values than the export, or that somebody else made (`differing`).
 */
const PARTS = [
  ...(['', 'planned_', 'acknowledged_', 'invalid_', 'rejected_', 'blocked_', 'pending_'] as const),
  ...(['due_', 'later_', 'differing_'] as const),
] as const;
export type Part = (typeof PARTS)[number];

/** Amounts are exact sums in plain notation (`1200.50`). */
type ControlFigures = Readonly<Record<`${Part}count`, number> & Record<`${Part}amount`, string>>;

/** The common values of a group of deals: names in the old CRM and in the account; null where there is none. */
export interface GroupNames {
  readonly from_pipeline: string | null;
  readonly from_stage: string | null;
  readonly from_owner: string | null;
  readonly pipeline: string | null;
  readonly stage: string | null;
  readonly owner: string | null;
  readonly currency: string | null;
  /** Everything in the currency that is beyond `MOST_GROUPS`. */
  readonly others?: true;
}

/**
 * The deals of one group, by their created events in the present input and with the amounts that they have there. A duplicate
 * is not counted beside the deal that it repeats.
 */
export interface ControlTotal extends GroupNames, ControlFigures {
  readonly entity: Entity;
  /** How many of all have no amount here because it could not be read. */
  readonly unread_amounts: number;
}

/** Sums of counts and amounts, part by part. */
export class ControlSum {
  unread = 0;
  readonly #sums = Object.fromEntries(PARTS.map((part) => [part, { count: 0, amount: new DecimalSum() }])) as Record<
    Part,
    { count: number; readonly amount: DecimalSum }
  >;

  static of(totals: readonly ControlTotal[]): ControlSum {
    const sum = new ControlSum();
    for (const total of totals) {
      for (const part of PARTS) sum.add(part, total[`${part}count`], total[`${part}amount`]);
      sum.unread += total.unread_amounts;
    }
    return sum;
  }

  add(part: Part, count: number, amount: number | string): void {
    const sum = this.#sums[part];
    sum.count += count;
    sum.amount.add(amount);
  }

  get figures(): ControlFigures {
    const figures = PARTS.flatMap((part): [string, string | number][] => [
      [`${part}count`, this.#sums[part].count],
      [`${part}amount`, this.#sums[part].amount.toString()],
    ]);
    return Object.fromEntries(figures) as ControlFigures;
  }
}

/** The totals by the result of `keyOf`, in order of first occurrence. */
export function groupTotals(
  totals: readonly ControlTotal[],
  keyOf: (total: ControlTotal) => string,
): ReadonlyMap<string, readonly ControlTotal[]> {
  const groups = new Map<string, ControlTotal[]>();
  for (const total of totals) {
    const key = keyOf(total);
    const group = groups.get(key);
    if (group) group.push(total);
    else groups.set(key, [total]);
  }
  return groups;
}

/** `1 deal has an unreadable amount and counts as 0`; empty if there are none. */
export function unreadText(totals: readonly ControlTotal[]): string {
  const { unread } = ControlSum.of(totals);
  if (unread === 0) return '';
  return `${counted(unread, 'deal')} ${unread === 1 ? 'has an unreadable amount and counts' : 'have unreadable amounts and count'} as 0`;
}

export function currencyText({ currency }: GroupNames): string {
  return currency ?? 'no currency';
}
