import type { JsonValue } from '../json.ts';
import type { Draft, Invalid, Ready } from '../model.ts';
import type { Database, SqlValue } from '../store/sqlite.ts';
import type { DealFigures } from './plan-writer.ts';
import type { Resolution, Resolver } from './resolve.ts';

/** So many groups of deals are kept apart; all others are one group for each currency, without names. */
const MOST_GROUPS = 1_000;

/** The groups of deals for the control totals: at most `MOST_GROUPS`, and then one for each currency. */
export class DealGroups {
  readonly #db: Database;
  readonly #resolver: Resolver;
  readonly #numbers = new Map<string, number>();
  #named = 0;

  constructor(db: Database, resolver: Resolver) {
    this.#db = db;
    this.#resolver = resolver;
  }

  /** Counts a deal as mapped, with its issues. Called for every record. */
  figuresOf(draft: Draft, { issues, omissions }: Ready | Invalid): DealFigures {
    const group = this.#number(draft);
    const isUnread =
      issues.some(({ severity, field }) => severity === 'error' && HOLDING_AMOUNT.includes(field)) ||
      omissions.some(({ field }) => field === 'amount');
    const { amount } = draft.data;
    return { group, amount: isUnread ? '' : typeof amount === 'number' ? String(amount) : null };
  }

  /** The new names depend on nothing else than what makes the key. */
  #number(draft: Draft): number {
    const { data, stagePipeline = '' } = draft;
    const { stage_name: stage = '', owner_name: owner = '', currency = '' } = data;
    const { stage_id: stageId = '', owner_id: ownerId = '' } = data;
    const key = `${stagePipeline}\0${stage as string}\0${owner as string}\0${currency as string}\0${stageId as string}\0${ownerId as string}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#named < MOST_GROUPS) {
      this.#named += 1;
      return this.#enter(key, this.#namesOf(draft));
    }
    const rest = currency as string;
    return this.#numbers.get(rest) ?? this.#enter(rest, { currency: textOf(currency), is_rest: 1 });
  }

  #enter(key: string, group: Readonly<Record<string, SqlValue>>): number {
    const id = this.#db.add('deal_group', group);
    this.#numbers.set(key, id);
    return id;
  }

  #namesOf({ data, place, stagePipeline }: Draft): Readonly<Record<string, SqlValue>> {
    const resolver = this.#resolver;
    const { stage_name: stage, owner_name: owner } = data;
    const pipeline = textOf(stagePipeline);
    const stageId =
      textOf(data.stage_id) ?? idOf(typeof stage === 'string' && resolver.stage(stage, pipeline ?? undefined, place));
    const ownerId = textOf(data.owner_id) ?? idOf(typeof owner === 'string' && resolver.owner(owner, place));
    const found = stageId === null ? undefined : resolver.stageNames(stageId);
    return {
      ...{ from_pipeline: pipeline, from_stage: textOf(stage), from_owner: textOf(owner) },
      ...{ pipeline: found?.pipeline ?? null, stage: found?.stage ?? null, currency: textOf(data.currency) },
      owner: ownerId === null ? null : (resolver.ownerName(ownerId) ?? null),
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
