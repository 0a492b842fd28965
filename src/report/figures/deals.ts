/** Control totals: what became of the deals of the export, and what the service has of them, by their old and new names and currency. */
import { DecimalSum, plainDecimal } from '../../decimal.ts';
import { STAGED } from '../../kinds/index.ts';
import { columnOf, type State } from '../../model.ts';
import type { Database } from '../../store/sqlite.ts';
import { readDocument } from '../files/documents.ts';

/**
 * What deals are counted as: all of the export, and what became of each, which adds up to that. Acknowledged ones count with the values that
 * the service has, all others with those of the export. A duplicate is not counted beside the deal that it repeats.
 */
export const DEAL_CELLS = ['export', 'acknowledged', 'to send', 'later', 'invalid', 'rejected', 'blocked'] as const;
export type DealCell = (typeof DEAL_CELLS)[number];

export class DealSum {
  /** Deals of the export whose amount could not be read. */
  unread = 0;
  /** Acknowledged ones that the service has with other values than the export, or that somebody else made. */
  differing = 0;
  /** Of these, those of which nobody knows the values: they count with those of the export. */
  unknown = 0;
  readonly #cells = new Map<DealCell, { count: number; readonly amount: DecimalSum }>();

  static of(sums: readonly DealSum[]): DealSum {
    const sum = new DealSum();
    for (const each of sums) {
      sum.unread += each.unread;
      sum.differing += each.differing;
      sum.unknown += each.unknown;
      for (const cell of DEAL_CELLS) sum.add(cell, each.amount(cell), each.count(cell));
    }
    return sum;
  }

  add(cell: DealCell, amount: number | string, count = 1): void {
    const sum = this.#cells.get(cell) ?? { count: 0, amount: new DecimalSum() };
    this.#cells.set(cell, sum);
    sum.count += count;
    sum.amount.add(amount);
  }

  count(cell: DealCell): number {
    return this.#cells.get(cell)?.count ?? 0;
  }

  /** An exact decimal in plain notation: `1200.50`. */
  amount(cell: DealCell): string {
    return (this.#cells.get(cell)?.amount ?? new DecimalSum()).toString();
  }

  /** Whether deals in these cells are all that the export has, with its values. */
  isAll(...cells: readonly DealCell[]): boolean {
    const count = cells.reduce((sum, cell) => sum + this.count(cell), 0);
    const amount = new DecimalSum();
    for (const cell of cells) amount.add(this.amount(cell));
    return this.differing === 0 && count === this.count('export') && amount.toString() === this.amount('export');
  }
}

/** Names in the old CRM and in the account; null where there is none. */
interface GroupNames {
  readonly from_pipeline: string | null;
  readonly from_stage: string | null;
  readonly from_owner: string | null;
  readonly pipeline: string | null;
  readonly stage: string | null;
  readonly owner: string | null;
  readonly currency: string | null;
}

/** The deals that have these names in common; with `others`, all in the currency that have no group of their own. */
export interface DealGroup extends GroupNames {
  readonly others: boolean;
  readonly sum: DealSum;
}

/** The largest first. */
export function readDeals(db: Database): readonly DealGroup[] {
  const groups = new Map(
    db
      .all<GroupNames & { id: number; is_rest: number }>('select * from deal_group')
      .map(({ id, is_rest: isRest, ...names }) => [id, { ...names, others: isRest === 1, sum: new DealSum() }]),
  );
  if (groups.size === 0) return [];
  const heldBy = readHeld(db);
  const byNames = new Map([...groups.values()].map((group) => [namesKey(group), group]));
  const rows = db.each<{ id: number; of: number; state: State; code: string | null; amount: string | null }>(`
    select id, deal_group as "of", state, code, amount from event where deal_group is not null and state <> 'duplicate'`);
  for (const { id, of, state, code, amount } of rows) {
    const group = groups.get(of)!;
    const [cell, own] = [columnOf(state) as DealCell, amount ? Number(amount) : 0];
    if (amount === '') group.sum.unread += 1;
    group.sum.add('export', own);
    const held = cell === 'acknowledged' ? (heldBy.get(id) ?? (code === null ? undefined : {})) : undefined;
    if (held) group.sum.differing += 1;
    if (held?.isUnknown || code === 'unmapped') group.sum.unknown += 1;
    let there = group;
    if (held?.names) {
      const wanted = { ...group, ...held.names, from_pipeline: null, from_stage: null, from_owner: null };
      there = byNames.get(namesKey(wanted)) ?? { ...wanted, sum: new DealSum() };
      byNames.set(namesKey(wanted), there);
    }
    there.sum.add(cell, held?.amount ?? own);
  }
  return [...new Set([...groups.values(), ...byNames.values()])]
    .filter(({ sum }) => sum.count('export') + sum.count('acknowledged') > 0)
    .sort((a, b) => Number(a.others) - Number(b.others) || b.sum.count('export') - a.sum.count('export'));
}

/** What a group has in the service, whatever its old names are. */
function namesKey({ others, pipeline, stage, owner, currency }: DealGroup): string {
  return JSON.stringify([others, pipeline, stage, owner, currency]);
}

/** The values of a deal that the service has and the export has not, as far as they are known. */
interface HeldDeal {
  readonly names?: Partial<GroupNames>;
  readonly amount?: string;
  readonly isUnknown?: true;
}

/** Acknowledged deals of which the service keeps what was sent, or what somebody set there, and those that somebody else made. */
function readHeld(db: Database): ReadonlyMap<number, HeldDeal> {
  const account = readDocument(db, 'account');
  const namesOf = (field: string, id: string): Partial<GroupNames> | undefined => {
    if (field === 'owner_id') {
      const user = account?.users.find((each) => each.id.toLowerCase() === id.toLowerCase());
      return user && { owner: user.names[0] ?? user.email ?? user.id };
    }
    for (const { name: pipeline, stages } of account?.pipelines ?? []) {
      const stage = stages.find((each) => each.id.toLowerCase() === id.toLowerCase());
      if (stage) return { pipeline, stage: stage.name };
    }
    return undefined;
  };
  const heldAs = (field: string, value: string): HeldDeal => {
    if (field === 'currency') return { names: { currency: value === '' ? null : value } };
    if (field === 'amount') return amountOf(value === '' ? '0' : plainDecimal(value));
    if (value === '') return { names: field === 'owner_id' ? { owner: null } : { pipeline: null, stage: null } };
    const names = namesOf(field, value);
    return names ? { names } : { isUnknown: true };
  };
  const held = new Map<number, HeldDeal>();
  const rows = db.all<{ id: number; field: string; value: string | null }>(`
    select e.id, c.field, iif(c.in_service in ('(not read)', '(not shown)'), c.sent ->> '$', c.in_service) as value
    from change c join event e on e.entity = c.entity and e.external_id = c.external_id and e.deal_group is not null
    where c.entity = '${STAGED}' and e.state = 'acknowledged' and c.field in ('stage_id', 'owner_id', 'amount', 'currency')
      and c.verdict in ('reported', 'ignored', 'emptied', 'not_comparable', 'conflict, kept')
    union all
    select e.id, '', null from checkpoint.record r join event e on e.entity = r.entity and e.external_id = r.external_id
    where r.entity = '${STAGED}' and r.is_acknowledged = 1 and r.code is not null and e.state = 'acknowledged'`);
  for (const { id, field, value } of rows) {
    const before = held.get(id);
    const found: HeldDeal = value === null ? { isUnknown: true } : heldAs(field, value);
    held.set(id, { ...before, ...found, ...(found.names && { names: { ...before?.names, ...found.names } }) });
  }
  return held;
}

function amountOf(amount: string | undefined): HeldDeal {
  return amount === undefined ? { isUnknown: true } : { amount };
}
