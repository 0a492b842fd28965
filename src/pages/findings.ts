/** What was not accepted, and what was left out: by cause, with examples. */
import type { Entity, EventType } from '../model.ts';
import { countOmissions, RECORD, type OmissionCount } from '../report/omitted.ts';
import type { Database } from '../store/sqlite.ts';

/** Codes and fields that are listed; all others are counted together. */
const MOST_GROUPS = 40;
const MOST_CHAINS = 20;
const MOST_EXAMPLES = 5;

/** Where a record is in the exports. */
interface ExamplePlace {
  readonly file: string;
  readonly line: number;
  readonly record: number;
  readonly externalId: string | null;
}

interface ErrorExample extends ExamplePlace {
  /** Null for records that became no event. */
  readonly type: EventType | null;
  readonly field: string | null;
  /** Contains field values. */
  readonly message: string;
  /** Contains field values. */
  readonly hint: string | null;
}

/** Errors with the same code. */
export interface CodeGroup {
  readonly kind: string;
  readonly code: string;
  readonly count: number;
  /** How many concern events of each type; those of whole records under an empty name. */
  readonly types: Readonly<Record<string, number>>;
  readonly examples: readonly ErrorExample[];
}

/** A record that was not accepted, and the events that depend on it, directly or indirectly. */
interface BlockedChain {
  readonly entity: Entity;
  readonly externalId: string;
  /** Why it was not accepted; null if it is neither in the input nor acknowledged. */
  readonly code: string | null;
  readonly count: number;
  readonly types: Readonly<Record<string, number>>;
}

/** Values of a field left out for the same reason. */
interface OmissionGroup extends OmissionCount {
  readonly examples: readonly (ExamplePlace & {
    /** A field value. */
    readonly original: string;
  })[];
}

export interface Findings {
  /** Errors of events that are not acknowledged, and of records that became no event; the most frequent first. */
  readonly errors: readonly CodeGroup[];
  readonly errorCount: number;
  /** The longest first. */
  readonly chains: readonly BlockedChain[];
  readonly chainCount: number;
  /** The most frequent first. */
  readonly omissions: readonly OmissionGroup[];
  readonly omissionCount: number;
  /** Records dropped in favour of another record with the same external id. */
  readonly dropped: { readonly count: number; readonly examples: readonly ExamplePlace[] };
  readonly warnings: readonly { readonly code: string; readonly count: number }[];
}

export function readFindings(db: Database): Findings {
  const errors = countErrors(db);
  const chains = readChains(db);
  const omitted = countOmissions(db);
  const isDropped = ({ field, code }: OmissionCount): boolean => field === RECORD && code !== 'orphan';
  const fields = omitted.filter((each) => !isDropped(each));
  const dropped = omitted.filter(isDropped);
  return {
    errors: errors.slice(0, MOST_GROUPS).map((group) => ({ ...group, examples: errorExamples(db, group) })),
    errorCount: total(errors),
    chains: chains.map(({ types, ...chain }) => ({ ...chain, types: countsIn(types) })),
    chainCount: chains[0]?.of ?? 0,
    omissions: fields.slice(0, MOST_GROUPS).map((group) => ({ ...group, examples: omissionExamples(db, group) })),
    omissionCount: total(fields),
    dropped: {
      count: total(dropped),
      examples: dropped.flatMap((group) => omissionExamples(db, group)).slice(0, MOST_EXAMPLES),
    },
    warnings: db.all(`
      select code, sum(count) as count from problem where severity = 'warning' group by code order by 2 desc, 1 limit ${MOST_GROUPS}`),
  };
}

/** Errors of events that are not acknowledged, and of records that became no event. */
const IS_COUNTED = `p.severity = 'error' and coalesce(e.state, 'invalid') in ('invalid', 'rejected', 'retry', 'blocked')`;

type CountedErrors = Omit<CodeGroup, 'examples'>;

function countErrors(db: Database): CountedErrors[] {
  return db
    .all<Omit<CountedErrors, 'types'> & { readonly types: string }>(
      `
    select kind, code, sum(count) as count, json_group_object(type, count) as types
    from (
      select p.kind, p.code, coalesce(e.type, '') as type, count(*) as count
      from problem p left join event e on e.id = p.event
      where ${IS_COUNTED}
      group by 1, 2, 3)
    group by kind, code order by 3 desc, code`,
    )
    .map(({ types, ...group }) => ({ ...group, types: countsIn(types) }));
}

function errorExamples(db: Database, { kind, code }: CountedErrors): ErrorExample[] {
  return db.all(
    `
    select coalesce(f.path, '') as file, coalesce(r.line, 0) as line, coalesce(r.number, 0) as record,
      e.type, e.external_id as externalId, p.field, p.message, p.hint
    from problem p left join event e on e.id = p.event
      left join record r on r.id = coalesce(p.record, e.record) left join file f on f.id = r.file
    where ${IS_COUNTED} and p.kind = ? and p.code = ?
    order by p.id limit ${MOST_EXAMPLES}`,
    kind,
    code,
  );
}

/**
 * Counts every blocked event under the record at the head of its chain: the parent that it needs, or that parent's parent.
 * The `+` keep SQLite from looking for a record among all blocked ones.
 */
function readChains(db: Database): (Omit<BlockedChain, 'types'> & { readonly types: string; readonly of: number })[] {
  return db.all(`
    with recursive blocked as materialized (
      select id, type, entity, external_id, parent_entity as on_entity, parent_id as on_id
      from event where state = 'blocked'
        and type in ('lead/created', 'lead/updated', 'deal/created', 'deal/updated', 'comment/created')),
    step as (
      select type, on_entity as entity, on_id as id, count(*) as count, 1 as steps
      from blocked where on_id is not null group by 1, 2, 3
      union all
      select step.type, parent.on_entity, parent.on_id, step.count, steps + 1
      from step join event on event.entity = step.entity and event.external_id = step.id
          and +event.state = 'blocked'
        join blocked parent on parent.id = event.id
      where steps < 4),
    head as (
      select entity, id, type, sum(count) as count from step
      where not exists (
        select 1 from event where event.entity = step.entity and event.external_id = step.id
          and +event.state = 'blocked')
      group by 1, 2, 3)
    select longest.*, (
        select p.code from event e join problem p on p.event = e.id and p.severity = 'error'
        where e.entity = longest.entity and e.external_id = longest.externalId order by p.id limit 1) as code
    from (
      select entity, id as externalId, sum(count) as count, json_group_object(type, count) as types, count(*) over () as "of"
      from head group by entity, id order by 3 desc, 2 limit ${MOST_CHAINS}) longest`);
}

function omissionExamples(db: Database, { type, field, code }: OmissionCount): OmissionGroup['examples'] {
  return db.all(
    `
    select f.path as file, r.line, r.number as record, iif(o.field = '${RECORD}', o.original, e.external_id) as externalId, o.original
    from omission o left join event e on e.id = o.event join record r on r.id = o.record join file f on f.id = r.file
    where o.field = ? and o.code = ? and coalesce(e.type, '') = ? order by o.id limit 3`,
    field,
    code,
    type,
  );
}

function countsIn(json: string): Readonly<Record<string, number>> {
  return JSON.parse(json) as Readonly<Record<string, number>>;
}

function total(groups: readonly { readonly count: number }[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}
