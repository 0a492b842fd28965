import { STAGED } from '../kinds/index.ts';
import { ControlSum, type ControlTotal, type GroupNames } from '../report/control-totals.ts';
import type { Database } from '../store/sqlite.ts';
import { outcomeOf, type State } from './states.ts';

interface GroupRow extends Omit<GroupNames, 'others'> {
  readonly id: number;
  readonly is_rest: number;
}

/** The groups of deals with their present outcomes, the largest first. Duplicates are not counted. */
export function controlTotals(db: Database): ControlTotal[] {
  const groups = db.all<GroupRow>('select * from deal_group');
  const sums = new Map(groups.map(({ id }) => [id, new ControlSum()]));
  // Amounts are summed here: sums of decimals in SQL are not exact.
  const deals = db.each<{ id: number; state: State; data: number; amount: string | null }>(`
    select deal_group as id, state, data is not null as data, amount
    from event where deal_group is not null and state <> 'duplicate'`);
  for (const { id, state, data, amount } of deals) {
    const sum = sums.get(id)!;
    if (amount === '') sum.unread += 1;
    const isPlanned = data === 1 && state !== 'invalid';
    for (const part of ['', `${outcomeOf(state) as 'pending'}_`, ...(isPlanned ? ['planned_'] : [])] as const) {
      sum.add(part as 'planned_', 1, amount ? Number(amount) : 0);
    }
  }
  const totals = groups.map(({ id, is_rest: isRest, ...names }): ControlTotal => {
    const { figures, unread } = sums.get(id)!;
    return { entity: STAGED, ...names, ...(isRest && { others: true }), ...figures, unread_amounts: unread };
  });
  return totals
    .filter(({ count }) => count > 0)
    .sort((a, b) => Number(a.others ?? 0) - Number(b.others ?? 0) || b.count - a.count);
}
