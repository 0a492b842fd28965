/** The fields that name the lead and the deal of a record. */
import type { ValueObject, ValueSpec } from '../../mapping/spec.ts';
import { ofText } from '../../report/words/numbers.ts';
import { NOTHING, type Field, type FieldChoice } from './draft.ts';
import type { Column } from '../facts/facts.ts';
import { quoted, type FieldContext } from './fields.ts';
import { typedValue, valueOf, waysTo, type ParentTarget, type Way } from './joins.ts';
import { LEVELS, REFERS, WAYS, type RecordKind } from '../know/roles.ts';

/** A way that is taken, with those that come near and others of the same column. */
interface WayTaken {
  readonly way: Way;
  readonly next: Way | undefined;
  readonly found: number;
  readonly others: readonly Way[];
}

function wayTo(
  kind: RecordKind,
  { table, references, entries }: FieldContext,
  targets: readonly ParentTarget[],
): WayTaken | { readonly near: readonly Way[] } {
  const ways = targets
    .filter((target) => target.kind === kind)
    .flatMap((target) => waysTo(table, target, references, entries))
    .sort((a, b) => b.points - a.points);
  const [way] = ways;
  if (!way || way.points < WAYS.least) return { near: ways.slice(0, 3) };
  const others = ways.filter((each) => each.column !== way.column);
  // One column may name records of several tables: contacts or leads.
  const isSame = (each: Way): boolean =>
    each.column === way.column && each.target !== way.target && each.isPlain && way.isPlain && each.by === 'id';
  const same = new Map(ways.filter(isSame).map((each) => [each.target, each]));
  const found = [way, ...same.values()].reduce((sum, each) => sum + each.found, 0);
  const next = others.find((each) => each.by === way.by && way.points - each.points < WAYS.near);
  return { way, next, found: Math.min(found, way.of), others };
}

/** `lead_external_id`, `deal_external_id`: both for comments. */
export function parentFields(
  context: FieldContext,
  targets: readonly ParentTarget[],
  person: Field | undefined,
): Field[] {
  const { kind } = context.found;
  if (person)
    return [{ ...person, key: 'lead_external_id', doubt: undefined, said: 'the person of the same row', choices: [] }];
  const kinds: readonly RecordKind[] = kind === 'comment' ? ['lead', 'deal'] : ['lead'];
  const taken = kinds.map((each) => wayTo(each, context, targets));
  const columns = taken.flatMap((each) => ('way' in each && each.way.column ? [each.way.column] : []));
  const isMixed = (column: Column | undefined): boolean => columns.filter((each) => each === column).length > 1;
  const isAny = taken.some((each) => 'way' in each);
  return kinds.map((each, at) => {
    const found = taken[at]!;
    return 'way' in found ? wayField(each, found, isMixed(found.way.column)) : noWay(each, context, found.near, !isAny);
  });
}

/** Where few records have the id itself, another way by ids may find more. */
function fuller(column: Column | undefined, others: readonly Way[]): Way | undefined {
  if (!column || column.filled >= column.table.records * LEVELS.most) return undefined;
  return others.find(
    (each) => each.points >= WAYS.least && each.by !== 'name' && (each.column?.filled ?? 0) > column.filled,
  );
}

function wayField(kind: RecordKind, { way, next, found, others }: WayTaken, isMixed: boolean): Field {
  const { by, column, to, of, reference, isAmbiguous } = way;
  const type = reference?.type;
  const more = kind === 'lead' && !isMixed ? fuller(column, others) : undefined;
  const isRarelyFound = found < of * LEVELS.most && !isMixed && !type;
  const isWeak = by !== 'id' || isAmbiguous || [next, more].some(Boolean) || isRarelyFound;
  const shared = column ? `the only one with the same ${quoted(column)}` : 'the first one beside it';
  const value = settled(way, isMixed, type);
  const said = [
    { name: 'by name', shared, id: '', address: '' }[by] || (isAmbiguous ? 'the first of several' : ''),
    type ? `by ${quoted(type.column)}` : `${ofText(found, of)} match ${to}`,
    more ? `else the only one with the same ${quoted(more.column!)}` : '',
    next ? `or ${quoted(next.column ?? column!)}` : '',
  ];
  return {
    ...{ key: `${kind}_external_id`, place: 'data', columns: column ? [column] : [], isLoose: by !== 'id' },
    value: more ? { from: [value, settled(more, false, undefined)] } : value,
    doubt: isWeak ? 'check' : undefined,
    said: said.filter(Boolean).join('; '),
    choices: choicesOf(others),
    why: way.reasons,
  };
}

/** A value that one column has for records of several kinds is only that of its own kind. */
function settled(way: Way, isMixed: boolean, type: NonNullable<Way['reference']>['type']): ValueSpec {
  const { value, column, by, isAmbiguous, target } = way;
  if (type && column && way.isPlain) return typedValue(column, type);
  if (isMixed && way.isPlain && column) {
    const key = target.key.value;
    return { lookup: { source: target.table.source, match: key, with: value, take: key, if_missing: 'skip' } };
  }
  const spec: ValueObject = typeof value === 'string' ? { from: value } : value;
  const isOpen = spec.lookup !== undefined && (by !== 'id' || (isAmbiguous && spec.lookup.if_many === undefined));
  const own = spec.lookup && isMixed ? { ...spec, lookup: { ...spec.lookup, if_missing: 'skip' as const } } : spec;
  return isOpen ? { ...own, on_error: 'omit' } : typeof value === 'string' ? value : own;
}

function choicesOf(ways: readonly Way[]): FieldChoice[] {
  const seen = new Set<Column | undefined>();
  return ways.flatMap(({ column, value, to, found, of }) => {
    if (!column || seen.has(column)) return [];
    seen.add(column);
    return [{ answer: column.name, label: `${column.name} (${ofText(found, of)} match ${to})`, value }];
  });
}

/** Left out, with the columns that may have the id. */
function noWay(kind: RecordKind, { table }: FieldContext, near: readonly Way[], isNeeded: boolean): Field {
  const isId = ({ meaning: { concepts }, filled, date, pair, list }: Column): boolean => {
    const isCalled = concepts.has('id') && !concepts.has('user') && REFERS[kind].some((each) => concepts.has(each));
    return isCalled && filled > 0 && !date && !pair && list === undefined;
  };
  const own = table.columns.find(isId);
  const base = { key: `${kind}_external_id`, place: 'data', choices: choicesOf(near) } as const;
  if (own) {
    const said = `no export has records with the ids in ${quoted(own)}`;
    return { ...base, value: valueOf(own), doubt: 'set', off: !isNeeded, columns: [own], said };
  }
  const [best] = near;
  const perhaps = best?.column ? `; perhaps ${quoted(best.column)}` : '';
  return {
    ...{ ...base, off: true, columns: [], value: best?.value ?? NOTHING, doubt: isNeeded ? 'set' : undefined },
    said: `no column has the id of its ${kind}${perhaps}`,
    ...(best && { why: best.reasons }),
  };
}
