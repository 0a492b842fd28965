/** What tells the records of an entry apart: their id; without one, what stands for it, which the user is asked about. */
import type { ValueSpec } from '../../mapping/spec.ts';
import { numberText, ofText } from '../../report/words/numbers.ts';
import type { Field } from './draft.ts';
import type { Column, Table } from '../facts/facts.ts';
import { choiceOf, isCompany, quoted, type FieldContext } from './fields.ts';
import { valueOf } from './joins.ts';
import type { Key } from './kinds.ts';
import { LEVELS } from '../know/roles.ts';
import { STAND_INS } from '../know/texts.ts';
import { isSure, reasonsFor } from './score.ts';

export interface KeyFound {
  readonly key: Key;
  readonly fields: readonly Field[];
}

/** Undefined if nothing tells them apart. `person`: what tells the person of the same row apart. */
export function keyOf(context: FieldContext, person?: Key): KeyFound | undefined {
  const { found, table, isBoth } = context;
  const { taken } = found.assignment;
  const id = taken.get('id');
  const isOfDeal = person === undefined && found.kind === 'lead' && id !== undefined && isBoth === true;
  if (id && !isOfDeal) {
    const [value, columns] = [valueOf(id.column), [id.column]];
    const field = idField(context, value, columns, id.column.is.twice === 0 ? '' : 'repeats', id);
    return { key: { value, columns }, fields: [...(found.kind === 'comment' ? [] : repeats(table, columns)), field] };
  }
  const options = (STAND_INS[found.kind] ?? []).flatMap((roles) => {
    const all = roles.map((role) => (role === 'company' ? table.columns.find(isCompany) : taken.get(role)?.column));
    const columns = all.filter((column) => column !== undefined && column.list === undefined) as Column[];
    return columns.length < roles.length ? [] : [{ columns, share: table.distinctOf(columns) }];
  });
  const best = options.find(({ share }) => share >= LEVELS.all) ?? [...options].sort((a, b) => b.share - a.share)[0];
  if (isOfDeal && (!best || best.share < LEVELS.half)) return keyOf({ ...context, isBoth: false }, person);
  if (person && table.distinctOf(person.columns) >= (best?.share ?? 0))
    return { key: person, fields: [idField(context, person.value, person.columns, 'no id: that of the person')] };
  if (!best) return undefined;
  const { columns, share } = best;
  const names = columns.map(({ name }) => name);
  const value = columns.length === 1 ? valueOf(columns[0]!) : { list: names, apply: [{ join: ' / ' }] };
  const apart =
    share >= LEVELS.all ? '' : `, and ${numberText(Math.round(share * 100))} % of the records are told apart`;
  const said = `no id: ${columns.map(quoted).join(' and ')}${apart}`;
  return { key: { value, columns }, fields: [...repeats(table, columns), idField(context, value, columns, said)] };
}

function idField(
  { table, found }: FieldContext,
  value: ValueSpec,
  columns: readonly Column[],
  why: string,
  id?: Parameters<typeof isSure>[0],
): Field {
  const isUnsure = id !== undefined && !isSure({ ...id, next: undefined });
  const filled = ofText(columns[0]!.filled, table.records);
  return {
    ...{ key: 'external_id', place: 'data', value, columns },
    doubt: id === undefined ? 'set' : isUnsure || why ? 'check' : undefined,
    said: why || (isUnsure ? `by its values, not by its header; ${filled}` : `unique in ${filled}`),
    ...(id && { why: reasonsFor('id', id.column, found.kind).reasons }),
    choices: (found.assignment.near.get('id') ?? []).map(({ column }) => choiceOf('id', column)),
  };
}

/** Of several rows with one id, one is kept. */
function repeats(table: Table, columns: readonly Column[]): Field[] {
  const [{ distinct, filled }, ...more] = columns as readonly [Column, ...Column[]];
  const share = more.length === 0 ? distinct / Math.max(1, filled) : table.distinctOf(columns);
  const said = 'several rows have one id: the first is kept';
  const field = { key: 'duplicates', place: 'settings', value: 'first', columns: [], doubt: 'check', said } as const;
  return share > 1 - LEVELS.hint / 10 ? [] : [field];
}
