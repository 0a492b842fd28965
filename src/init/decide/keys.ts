/** What tells the records of an entry apart: their id; without one, what stands for it, which the user is asked about. */
import type { ValueSpec } from '../../mapping/spec.ts';
import { numberText, ofText } from '../../report/words/numbers.ts';
import type { Field } from './draft.ts';
import type { Column, Table } from '../facts/facts.ts';
import { isCompany, quoted, type FieldContext } from './fields.ts';
import { valueOf } from './joins.ts';
import type { Key } from './kinds.ts';
import { LEVELS, type Role } from '../know/roles.ts';
import { isSure, reasonsFor } from './score.ts';

export interface KeyFound {
  readonly key: Key;
  readonly fields: readonly Field[];
}

/** Roles that may tell records apart together, the best first. */
const STAND_INS: Readonly<Record<string, readonly (readonly (Role | 'company')[])[]>> = {
  lead: [
    ['email'],
    ['full', 'company'],
    ['first', 'last', 'company'],
    ['full', 'email'],
    ['first', 'last'],
    ['full'],
    ['phone'],
    ['company', 'phone'],
  ],
  deal: [['title'], ['title', 'created'], ['title', 'stage'], ['title', 'amount'], ['created', 'amount']],
};

/** Undefined for comments without an id, which need none, and where nothing is there. `person`: the key of the person in the same row. */
export function keyOf(context: FieldContext, person?: Key): KeyFound | undefined {
  const { found, table } = context;
  const { taken } = found.assignment;
  const id = taken.get('id');
  const isOfDeal = person === undefined && found.kind === 'lead' && id !== undefined && context.isBoth;
  if (id && !isOfDeal) {
    const { column } = id;
    const isOnce = column.is.twice === 0;
    const fields = [idField(context, valueOf(column), [column], isOnce ? '' : 'repeats', id)];
    return {
      key: { value: valueOf(column), columns: [column] },
      fields: [...repeats(table, [column], found.kind === 'comment'), ...fields],
    };
  }
  const columnsFor = (roles: readonly (Role | 'company')[]): Column[] | undefined => {
    const all = roles.map((role) => (role === 'company' ? companyOf(table) : taken.get(role)?.column));
    return all.every((column) => column !== undefined && column.list === undefined) ? (all as Column[]) : undefined;
  };
  const options = (STAND_INS[found.kind] ?? []).flatMap((roles) => {
    const columns = columnsFor(roles);
    return columns ? [{ columns, share: table.distinctOf(columns) }] : [];
  });
  const best = options.find(({ share }) => share >= LEVELS.all) ?? [...options].sort((a, b) => b.share - a.share)[0];
  if (isOfDeal && (!best || best.share < LEVELS.half)) return keyOf({ ...context, isBoth: false }, person);
  if (person && table.distinctOf(person.columns) >= (best?.share ?? 0))
    return { key: person, fields: [idField(context, person.value, person.columns, 'no id: that of the person')] };
  if (!best) return undefined;
  const { columns, share } = best;
  const value: ValueSpec =
    columns.length === 1 ? valueOf(columns[0]!) : { list: columns.map(({ name }) => name), apply: [{ join: ' / ' }] };
  const names = columns.map(quoted).join(' and ');
  const many =
    share >= LEVELS.all ? '' : `, and ${numberText(Math.round(share * 100))} % of the records are told apart`;
  return {
    key: { value, columns },
    fields: [...repeats(table, columns), idField(context, value, columns, `no id: ${names}${many}`)],
  };
}

const companyOf = (table: Table): Column | undefined => table.columns.find(isCompany);

function idField(
  { table, found }: FieldContext,
  value: ValueSpec,
  columns: readonly Column[],
  why: string,
  id?: Parameters<typeof isSure>[0],
): Field {
  const [column] = columns;
  const isUnsure = id !== undefined && !isSure({ ...id, next: undefined });
  const filled = ofText(column!.filled, table.records);
  return {
    key: 'external_id',
    place: 'data',
    value,
    columns,
    doubt: id === undefined ? 'set' : isUnsure || why ? 'check' : undefined,
    said: why || (isUnsure ? `by its values, not by its header; ${filled}` : `unique in ${filled}`),
    ...(id && { why: reasonsFor('id', id.column, found.kind).reasons }),
    choices: (found.assignment.near.get('id') ?? []).map((each) => ({
      answer: each.column.name,
      label: each.column.name,
      value: valueOf(each.column),
    })),
  };
}

/** Of several rows with one id, one is kept. */
function repeats(table: Table, columns: readonly Column[], isComment = false): Field[] {
  const share =
    columns.length === 1 ? columns[0]!.distinct / Math.max(1, columns[0]!.filled) : table.distinctOf(columns);
  if (isComment || share > 1 - LEVELS.hint / 10) return [];
  return [
    {
      key: 'duplicates',
      place: 'settings',
      value: 'first',
      columns: [],
      doubt: 'check',
      said: 'several rows have one id: the first is kept',
    },
  ];
}
