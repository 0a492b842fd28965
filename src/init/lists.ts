/** Lists in JSON records: addresses by their type, other scalars joined, the rest whole. Nothing is cut to its first element in silence. */
import { numberText } from '../numbers.ts';
import { countOf, isFew, pathOf, type ExportColumn, type Table } from './columns.ts';
import type { EntryLine } from './entry-text.ts';
import { foldHeader, keyOf } from './value-text.ts';

/** More types of addresses than these are sent as JSON. */
const MAX_TYPES = 8;

/** The value of an e-mail address or phone number, and what is said about it: in a list the primary one, or else the first. */
export function addressOf(column: ExportColumn): {
  from: string;
  apply: readonly unknown[];
  comment: string | undefined;
} {
  const { list, columns } = column.table;
  if (list === undefined) return { from: column.name, apply: [], comment: undefined };
  const several = recordsWithSeveral(column.table);
  const comment =
    several === 0
      ? undefined
      : `check: ${numberText(several)} records have several; this is the first, all are custom fields`;
  const primary = columns.find(({ name }) => /primary|default|\bmain\b|principal/.test(foldHeader(name)));
  if (!primary) return { from: pathOf(column), apply: [{ at: 0 }], comment };
  const jsonata = `[$[$boolean(${step(primary.name)})].${step(column.name)}, ${step(column.name)}][0]`;
  return {
    from: list,
    apply: [{ jsonata }],
    comment: comment?.replace('the first', `the one that is \`${primary.name}\``),
  };
}

/** Custom fields for a list in the records, as far as its values are not used otherwise. `used`: columns with an address. */
export function listLines(list: Table, used: ReadonlySet<ExportColumn | undefined>): EntryLine[] {
  const path = list.list!;
  const key = keyOf(path);
  const filled = list.columns.filter(({ filled }) => filled > 0);
  const [only] = filled;
  if (!only) return [];
  const address = filled.find((column) => used.has(column));
  if (address && recordsWithSeveral(list) === 0 && filled.length === 1) return [];
  if (only.name === '.' && filled.length === 1) return [{ key, value: { from: path, apply: [{ join: ', ' }] } }];
  const type =
    address && filled.find((column) => /type|label|kind|location/.test(foldHeader(column.name)) && isType(column));
  const whole =
    [...(type?.few().keys() ?? [])].every((value) => /^[\w .-]+$/.test(value)) && type?.filled === list.rows;
  if (!address || !type || !whole) return [{ key, value: { from: path, as: 'json' } }];
  const stem = key.replace(/s$/, '');
  return [...type.few().keys()].map((value) => ({
    key: `${stem}_${keyOf(value)}`,
    value: {
      from: path,
      apply: [{ jsonata: `$join($[${step(type.name)}='${value}'].${step(address.name)}, ', ')` }],
    },
  }));
}

function isType(column: ExportColumn): boolean {
  return column.distinct <= MAX_TYPES && (isFew(column) || column.filled < MAX_TYPES * 3);
}

function recordsWithSeveral({ db, sql }: Table): number {
  return countOf(db, `from (select record from ${sql} group by record having count(*) > 1)`);
}

/** A key of an element in JSONata. */
function step(name: string): string {
  return name
    .split('.')
    .map((part) => (/^[a-z_]\w*$/i.test(part) ? part : `\`${part}\``))
    .join('.');
}
