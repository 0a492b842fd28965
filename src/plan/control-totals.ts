import { Float64Column, Uint32Column } from '../columns.ts';
import type { JsonValue } from '../json.ts';
import type { Draft, Invalid, Ready } from '../model.ts';
import { ControlSum, MOST_GROUPS, type ControlTotal, type GroupNames } from '../report/control-totals.ts';
import { outcomeOf } from './counts.ts';
import type { Plan } from './plan.ts';
import type { Resolution, Resolver } from './resolve.ts';

const OTHERS: GroupNames = {
  from_pipeline: null,
  from_stage: null,
  from_owner: null,
  pipeline: null,
  stage: null,
  owner: null,
  currency: null,
  others: true,
};

/**
 * The group and the amount of every deal, by the ordinal of its created event: 12 bytes each. What became of a group is
 * then a query over the index.
 */
export class ControlTotals {
  readonly #resolver: Resolver;
  readonly #groups: GroupNames[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #numberOf = new Uint32Column();
  /** NaN where it could not be read. */
  readonly #amounts = new Float64Column();

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  /** Takes a deal as mapped, and what the survey found about it; it is called per record. */
  add(draft: Draft, { issues, omissions }: Ready | Invalid, ordinal: number): void {
    this.#numberOf.set(ordinal, this.#number(draft));
    const isUnread =
      issues.some(({ severity, field }) => severity === 'error' && HOLDING_AMOUNT.includes(field)) ||
      omissions.some(({ field }) => field === 'amount');
    const { amount } = draft.data;
    if (isUnread) this.#amounts.set(ordinal, NaN);
    else if (typeof amount === 'number') this.#amounts.set(ordinal, amount);
  }

  /** The groups with their present outcomes, the largest first. */
  of({ tables }: Pick<Plan, 'tables'>): ControlTotal[] {
    const table = tables['deal/created'];
    const sums: ControlSum[] = [];
    for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
      const outcome = outcomeOf(table.state(ordinal));
      if (outcome === 'duplicates') continue;
      const sum = (sums[this.#numberOf.get(ordinal)] ??= new ControlSum());
      const read = this.#amounts.get(ordinal);
      const amount = Number.isNaN(read) ? 0 : read;
      if (Number.isNaN(read)) sum.unread += 1;
      sum.add('', 1, amount);
      const part = `${outcome}_` as const;
      sum.add(part, 1, amount);
      if (table.at(ordinal) !== undefined) sum.add('planned_', 1, amount);
    }
    const totals = Object.entries(sums).map(([number, { figures, unread }]): ControlTotal => {
      return { entity: 'deal', ...this.#groups[Number(number)]!, ...figures, unread_amounts: unread };
    });
    return totals.sort((a, b) => Number(a.others ?? 0) - Number(b.others ?? 0) || b.count - a.count);
  }

  /** The new names depend on nothing else than what makes the key. */
  #number(draft: Draft): number {
    const { data, stagePipeline = '' } = draft;
    const { stage_name: stage = '', owner_name: owner = '', currency = '' } = data;
    const { stage_id: stageId = '', owner_id: ownerId = '' } = data;
    const key = `${stagePipeline}\0${stage as string}\0${owner as string}\0${currency as string}\0${stageId as string}\0${ownerId as string}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#groups.length < MOST_GROUPS) return this.#enter(key, this.#namesOf(draft));
    const others = this.#numbers.get(currency as string);
    return others ?? this.#enter(currency as string, { ...OTHERS, currency: textOf(currency) });
  }

  #enter(key: string, names: GroupNames): number {
    this.#numbers.set(key, this.#groups.length);
    return this.#groups.push(names) - 1;
  }

  #namesOf({ data, place, stagePipeline }: Draft): GroupNames {
    const resolver = this.#resolver;
    const { stage_name: stage, owner_name: owner } = data;
    const pipeline = textOf(stagePipeline);
    const stageId =
      textOf(data.stage_id) ?? idOf(typeof stage === 'string' && resolver.stage(stage, pipeline ?? undefined, place));
    const ownerId = textOf(data.owner_id) ?? idOf(typeof owner === 'string' && resolver.owner(owner, place));
    const found = stageId === null ? undefined : resolver.stageNames(stageId);
    return {
      from_pipeline: pipeline,
      from_stage: textOf(stage),
      from_owner: textOf(owner),
      pipeline: found?.pipeline ?? null,
      stage: found?.stage ?? null,
      owner: ownerId === null ? null : (resolver.ownerName(ownerId) ?? null),
      currency: textOf(data.currency),
    };
  }
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function idOf(resolution: Resolution | false): string | null {
  return resolution && resolution.kind === 'resolved' ? resolution.target.id : null;
}

/** Without them, the amount of the deal is not known: its own, or the list of which it is an element. */
const HOLDING_AMOUNT: readonly (string | undefined)[] = ['amount', 'each'];
