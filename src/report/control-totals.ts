/** Control totals: how many deals there are, and their amounts, in the export, in the plan and in the service. */
import type { Entity } from '../model.ts';
import { DecimalSum, grouped } from '../decimal.ts';
import { fittingTable } from '../terminal/layout.ts';
import { numberText } from '../terminal/numbers.ts';

/** So many groups are kept apart; all others are one group for each currency, without names. */
export const MOST_GROUPS = 1_000;

/**
 * The parts of the deals that are counted, as prefixes of the figures: all that the export has, those with a line in the
 * plan, and the outcomes, which add up to all.
 */
const PARTS = ['', 'planned_', 'acknowledged_', 'invalid_', 'rejected_', 'blocked_', 'pending_'] as const;
export type Part = (typeof PARTS)[number];

/** Amounts are exact sums in plain notation (`1200.50`). */
type Figures = Readonly<Record<`${Part}count`, number> & Record<`${Part}amount`, string>>;

/** What the deals of a group have in common: names in the old CRM and in the account; null where there is none. */
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
export interface ControlTotal extends GroupNames, Figures {
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

  get figures(): Figures {
    const figures = PARTS.flatMap((part): [string, string | number][] => [
      [`${part}count`, this.#sums[part].count],
      [`${part}amount`, this.#sums[part].amount.toString()],
    ]);
    return Object.fromEntries(figures) as Figures;
  }
}

/** The totals by what `keyOf` returns, in the order in which that comes first. */
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

/** `3 deals count without an amount, which could not be read`; empty if there are none. */
export function unreadText(totals: readonly ControlTotal[]): string {
  const { unread } = ControlSum.of(totals);
  if (unread === 0) return '';
  const deals = unread === 1 ? '1 deal counts' : `${numberText(unread)} deals count`;
  return `${deals} without an amount, because it could not be read`;
}

const MOST_CURRENCIES = 5;

/** The totals of each currency in a few lines; empty if there are no deals. */
export function controlTotalsText(totals: readonly ControlTotal[], columns: number): string {
  const currencies = [...groupTotals(totals, currencyText)];
  if (currencies.length === 0) return '';
  const heads = ['deals', 'in export', 'amount', 'in plan', 'amount', 'acknowledged', 'amount'];
  const rows = currencies.slice(0, MOST_CURRENCIES).map(([currency, group]) => {
    const { figures } = ControlSum.of(group);
    const shown = (['', 'planned_', 'acknowledged_'] as const).flatMap((part) => [
      numberText(figures[`${part}count`]),
      grouped(figures[`${part}amount`]),
    ]);
    return [currency, ...shown];
  });
  const left = currencies.length - rows.length;
  return [
    fittingTable([heads, ...rows], columns),
    ...(left > 0 ? [`and ${left} more ${left === 1 ? 'currency' : 'currencies'}: see report.html`] : []),
    ...(unreadText(totals) === '' ? [] : [unreadText(totals)]),
  ].join('\n');
}

/** Known to `terminal/screen`, which leaves it out where it does not fit. */
const BY_STAGE = 'deals by old and new stage';
const MOST_STAGES = 15;

/** What becomes of each stage of the old CRM, with the deals in it; empty if no deal has one, or if there are too many. */
export function stagesText(totals: readonly ControlTotal[], columns: number): string {
  const nameOf = (pipeline: string | null, stage: string | null): string =>
    [pipeline, stage].filter((name) => name !== null).join(' / ') || '–';
  const pathOf = (total: ControlTotal): readonly [string, string, string] => [
    nameOf(total.from_pipeline, total.from_stage),
    nameOf(total.pipeline, total.stage),
    currencyText(total),
  ];
  const groups = [...groupTotals(totals, (total) => JSON.stringify(pathOf(total))).values()];
  if (groups.length > MOST_STAGES || totals.every(({ from_stage: from, stage }) => (from ?? stage) === null)) return '';
  const rows = groups.map((group) => {
    const [from, to, currency] = pathOf(group[0]!);
    const { figures } = ControlSum.of(group);
    return [`  ${from}`, to, currency, numberText(figures.count), grouped(figures.amount)];
  });
  return `${BY_STAGE}\n${fittingTable([['  old', 'new', '', 'in export', 'amount'], ...rows], columns)}`;
}

export function currencyText({ currency }: GroupNames): string {
  return currency ?? 'no currency';
}
