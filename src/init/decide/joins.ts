/** Ways from a record to the lead or deal that it belongs to: by ids, addresses or numbers, over at most two hops; by names only where no id is. */
import type { TransformSpec, ValueSpec } from '../../mapping/spec.ts';
import type { Column, Table } from '../facts/facts.ts';
import { idOf, isId, isStaff, type Key } from './kinds.ts';
import { literal, saysSo, type Reference } from '../facts/relations.ts';
import { LEVELS, WAYS, type RecordKind } from '../know/roles.ts';
import { sumOf, type Reason } from './score.ts';

/** What a way leads to: the records of a table that become leads or deals. */
export interface ParentTarget {
  readonly table: Table;
  readonly kind: RecordKind;
  readonly key: Key;
}

export interface Way {
  readonly by: 'id' | 'address' | 'name' | 'shared';
  readonly target: ParentTarget;
  readonly value: ValueSpec;
  /** Of its own record, the one that is compared. */
  readonly column: Column | undefined;
  readonly reference: Reference | undefined;
  /** The column there, and where the way goes: `contacts.Contact Id`. */
  readonly to: string;
  /** Values that are found, of those in the sample. */
  readonly found: number;
  readonly of: number;
  readonly reasons: readonly Reason[];
  readonly points: number;
  /** The value is in the column itself, and only says which record; a lookup finds nothing where it is of another kind. */
  readonly isPlain: boolean;
  /** Several records there may have it. */
  readonly isAmbiguous: boolean;
}

/** How both sides are reached: from a record with the value of `own`, the one whose `match` is the same. */
interface JoinStep {
  readonly from: Column;
  readonly own: ValueSpec;
  readonly to: Table;
  readonly match: ValueSpec;
  readonly there: Column;
  readonly reference: Reference;
  readonly isBack: boolean;
  readonly isUnique: boolean;
}

export function valueOf({ name, pair, list }: Column, ...apply: readonly TransformSpec[]): ValueSpec {
  if (pair) return { list: [...pair], apply: [{ join: ' ' }, ...apply] };
  if (list !== undefined) return { from: name, apply: [{ at: 0 }, ...apply] };
  return apply.length === 0 ? name : { from: name, apply };
}

function withApply(value: ValueSpec, apply: readonly TransformSpec[] = []): ValueSpec {
  if (apply.length === 0) return value;
  return typeof value === 'string' ? { from: value, apply } : { ...value, apply: [...(value.apply ?? []), ...apply] };
}

/** `inner`: the elements of a list that have their own ids, which is the only list that a way leads to. */
function stepsFrom(table: Table, references: readonly Reference[], inner?: Key): JoinStep[] {
  return references.flatMap((reference): JoinStep[] => {
    const { from, to, by, isUnique } = reference;
    const own = valueOf(from, ...by.apply);
    const match = valueOf(to, ...(by.key ?? []));
    const isInner = to.table.list !== undefined && to === inner?.columns[0];
    if (from.table === table && (to.table.list === undefined || isInner)) {
      const there = { to: to.table, match: isInner ? inner.value : match, there: to };
      return [{ from, own, ...there, reference, isBack: false, isUnique: isUnique || isInner }];
    }
    // The other one names this record, and not what both name.
    if (to !== idOf(table) || !isUnique || from.table.list !== undefined) return [];
    const there = { to: from.table, match: own, there: from };
    return [{ from: to, own: match, ...there, reference, isBack: true, isUnique: isOnce(from) }];
  });
}

const isOnce = ({ distinct, filled }: Column): boolean => distinct >= filled * LEVELS.all;

/** The best ways first. `entries`: tables whose records become something themselves, over which no way leads. */
export function waysTo(
  table: Table,
  target: ParentTarget,
  references: readonly Reference[],
  entries: ReadonlySet<Table>,
): Way[] {
  if (table === target.table) return [];
  const steps = stepsFrom(table, references, target.key);
  const ways = steps.filter(({ to }) => to === target.table).map((step) => wayBy(table, target, [step]));
  for (const first of steps) {
    const isOther = first.to !== target.table && first.to !== table && !entries.has(first.to);
    if (!isOther || isStaff(first.from) || !isId(first.from)) continue;
    for (const second of stepsFrom(first.to, references)) {
      const isOn = second.to === target.table && second.isUnique && isId(second.from) && !isStaff(second.from);
      if (isOn && !(first.isBack && second.isBack) && second.from !== first.there)
        ways.push(wayBy(table, target, [first, second]));
    }
  }
  return [...nestedWay(table, target), ...ways.filter(isAllowed)].sort((a, b) => b.points - a.points);
}

/** In one record: the holder of a list, or the first element of the list beside it. */
function nestedWay(table: Table, target: ParentTarget): Way[] {
  const { list, source } = target.table;
  const isHolder = table.holder === target.table;
  const isBeside = table.holder !== undefined && table.holder === target.table.holder;
  const [key, ...more] = target.key.columns;
  const isInside = table.list !== undefined && `${table.list}.`.startsWith(`${list ?? '?'}.`);
  if ((!isHolder && !isBeside) || !key || more.length > 0 || isInside) return [];
  const path = isHolder ? `$.${key.name}` : `$.${list!}.${key.name}`;
  const what = isHolder ? 'the record around it' : 'the first one beside it';
  const reasons = [
    { what, points: WAYS.nested + (isHolder ? WAYS.id : 0) },
    { what: 'all records', points: WAYS.fill },
  ];
  return [
    {
      ...{ target, column: undefined, reference: undefined, reasons, points: sumOf(reasons) },
      ...{ found: table.records, of: table.records, isPlain: true, isAmbiguous: isBeside },
      by: isHolder ? 'id' : 'shared',
      value: isHolder ? path : { from: path, apply: [{ at: 0 }] },
      to: `${list ?? source}.${key.name}`,
    },
  ];
}

function wayBy(table: Table, target: ParentTarget, steps: readonly JoinStep[]): Way {
  const { from, own, reference } = steps[0]!;
  const last = steps.at(-1)!;
  const { key } = target;
  const isKey = steps.length === 1 && !last.isBack && key.columns.length === 1 && last.there === key.columns[0];
  const isPlain = isKey && reference.by.key === undefined;
  const taken = steps.map((_, at) => steps[at + 1]?.own ?? key.value);
  const value = isPlain
    ? withApply(own, key.apply)
    : steps.reduce<ValueSpec>((with_, step, at) => lookup(step, with_, taken[at]!), own);
  const by = waySort(last, isKey, steps);
  const reasons = reasonsOf(table, target, steps, by);
  const list = last.to.list === undefined ? '' : `#${last.to.list}`;
  return {
    ...{ by, target, value, column: from, reference, reasons, points: sumOf(reasons), isPlain },
    ...{ found: reference.found, of: reference.of },
    to: `${last.to.source}${list}.${last.there.name}`,
    isAmbiguous: !steps.every(({ isUnique }) => isUnique),
  };
}

function lookup({ to, match, isUnique, isBack }: JoinStep, own: ValueSpec, take: ValueSpec): ValueSpec {
  return { lookup: { source: to.source, match, with: own, take, ...(isBack && !isUnique && { if_many: 'first' }) } };
}

function waySort({ there, isBack }: JoinStep, isKey: boolean, steps: readonly JoinStep[]): Way['by'] {
  if (isKey && isId(there)) return 'id';
  if (steps.some(({ from, there: other }) => isNamed(from) || isNamed(other))) return 'name';
  if (there.is.email >= LEVELS.half || there.is.phone >= LEVELS.half) return 'address';
  // Over the company, people and deals only share it.
  return isBack === steps.length < 2 ? 'id' : 'shared';
}

/** Words, not an id that others have. */
export function isNamed({ is, pair, meaning: { concepts } }: Column): boolean {
  const isWords = pair !== undefined || is.words >= LEVELS.most;
  return isWords && Math.max(is.code, is.email, is.uuid) < LEVELS.half && !concepts.has('id');
}

function reasonsOf(
  table: Table,
  { table: there, kind }: ParentTarget,
  steps: readonly JoinStep[],
  by: Way['by'],
): Reason[] {
  const [{ from, isBack, reference }] = steps as readonly [JoinStep, ...JoinStep[]];
  const isDirect = steps.length === 1 && !isBack;
  const named = isBack ? table : steps.length === 1 ? there : reference.to.table;
  const isSaid = saysSo(isBack ? reference.from : from, named, isDirect ? kind : undefined);
  const isChance = steps.some(
    (each) =>
      each.reference.isByChance && !saysSo(each.reference.from, each.reference.to.table, isDirect ? kind : undefined),
  );
  const share = steps.reduce((all, each) => all * (each.isBack ? LEVELS.most : each.reference.share), 1);
  const fill = from.filled / Math.max(1, table.records);
  const all: readonly (readonly [what: string, points: number, is: boolean])[] = [
    [`by ${by} of a ${kind}`, WAYS[by], true],
    ['share that is found', WAYS.share * share, true],
    ['records with a value', WAYS.fill * fill, true],
    ['the other one has its id', WAYS.back, isBack],
    ['over a third table', WAYS.hop, steps.length > 1],
    [SAID, WAYS.said, isSaid],
    ['its header names who works with it', WAYS.staff, steps.some((each) => isStaff(each.from))],
    ['small numbers are in every table', WAYS.chance, isChance],
  ];
  return all.flatMap(([what, points, is]) => (is ? [{ what, points }] : []));
}

const SAID = 'its header says so';

/** By a name only where the header says whose name it is and no two have it; by what several share, only what says that it is an id. */
function isAllowed({ by, column, reasons, isAmbiguous, target }: Way): boolean {
  const isSaid = reasons.some(({ what }) => what === SAID);
  if (by === 'name') return isSaid && !isAmbiguous && column !== undefined && column.is.prose < LEVELS.some;
  if (by !== 'shared') return true;
  const concepts = column?.meaning.concepts;
  const isIds = concepts !== undefined && (concepts.has('id') || concepts.has('parent'));
  return isIds && (concepts.has('company') || isSaid) && target.kind === 'lead';
}

/** The value of a column only where a column beside it says that it is of these records. */
export function typedValue(column: Column, type: NonNullable<Reference['type']>): ValueSpec {
  const values = type.values.map(literal).join('|');
  const pattern = type.values.length === 1 ? `^${values} (.+)$` : `^(?:${values}) (.+)$`;
  return { template: `{${type.column.name}} {${column.name}}`, apply: [{ extract: pattern }] };
}
