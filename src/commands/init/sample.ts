/** The beginning of an export: the cells of its records, and of the lists in them. */
import { isObject, KEY, recordsByKey, type JsonObject, type JsonValue } from '../../json.ts';
import { textOf } from '../../mapping/values/result.ts';
import type { Source } from '../../input/source.ts';
import { meaningOf } from './words.ts';

/** Records read of an export. */
const MAX_RECORDS = 20_000;
/** Characters of a value that are kept: enough to tell what a text is. */
const MAX_LENGTH = 500;
/** SQLite allows 2,000 columns in a table. */
export const MAX_COLUMNS = 1900;

/** The records, or the elements of a list inside them. */
export interface RawTable {
  readonly list: string | undefined;
  /** The columns, by name: the places of their cells, the list that they stand in, and records with several elements of it. */
  readonly columns: Map<string, RawColumn>;
  /** The number of the record, and its cells by column. */
  readonly rows: (string | number | null)[][];
}

interface RawColumn {
  readonly at: number;
  readonly list: string | undefined;
  several: number;
  main?: MainElement;
  /** The name beside the value, in a list of names and values. */
  readonly label: string | undefined;
  /** Records have other names in this place, so it is no column. */
  isMixed?: boolean;
}

/** How a list tells its main element: by a flag, or by its type. */
export interface MainElement {
  /** Its key and value: `is_primary`, `true`. */
  readonly flag: string;
  readonly value: string;
  /** Records in which it is not the first element. */
  later: number;
  /** Elements of the longest list. */
  most: number;
}

export interface ExportSample {
  /** The records first. */
  readonly tables: readonly RawTable[];
  /** All records were read. */
  readonly whole: boolean;
  readonly unreadable: number;
  /** Why the first of these cannot be read. */
  readonly why: string | undefined;
}

/** Throws the `UserError` of a source that cannot be read with its settings. */
export async function readSample(source: Source): Promise<ExportSample> {
  const main: RawTable = { list: undefined, columns: new Map(), rows: [] };
  const lists = new Map<string, RawTable>();
  const names = source.columns.map((name, index) => nameOf(source, name, index));
  for (const name of names) columnAt(main, name);
  let [unreadable, why]: [number, string | undefined] = [0, undefined];
  const sample = (whole: boolean): ExportSample => ({ tables: [main, ...lists.values()], whole, unreadable, why });
  for await (const batch of source.batches()) {
    if (main.rows.length >= MAX_RECORDS) return sample(false);
    for (const item of batch) {
      if (item.kind !== 'row') {
        unreadable += 1;
        why ??= item.issue.message;
        continue;
      }
      const record = main.rows.length;
      if (source.kind === 'tree') addRecord(main, lists, record, item.raw);
      else
        addRow(
          main,
          record,
          (item.raw as readonly string[]).map((text, index) => ({ name: names[index] ?? '', text })),
        );
    }
  }
  return sample(true);
}

/** A header that occurs several times is told apart by its position, as in the mapping. */
function nameOf({ columns, duplicateColumns }: Source, name: string, index: number): string {
  if (!duplicateColumns.has(name)) return name;
  return `${name}#${columns.slice(0, index + 1).filter((each) => each === name).length}`;
}

interface Leaf {
  readonly name: string;
  readonly text: string | undefined;
  readonly list?: string;
  readonly several?: boolean;
  readonly main?: MainElement | undefined;
  readonly label?: string;
}

/** Adds a record in JSON. The elements of its lists become rows of tables of their own, too. */
function addRecord(main: RawTable, lists: Map<string, RawTable>, record: number, value: JsonValue): void {
  addRow(main, record, [...leavesOf(value), ...pairsIn(value)]);
  for (const [path, list] of listsIn(value, '', true)) {
    const table = lists.get(path) ?? { list: path, columns: new Map(), rows: [] };
    lists.set(path, table);
    // What a record by its key has in common with others by theirs: notes by their contacts.
    const key = path === RECORD ? [{ name: `${RECORD}.${KEY}`, text: textOf((value as JsonObject)[KEY]) }] : [];
    for (const element of list) addRow(table, record, [...key, ...leavesOf(element)]);
  }
}

/** The scalars in a value by path (of a scalar itself, `.`); of a list, its main element, or its first one. */
function* leavesOf(value: JsonValue, path = '', within: Pick<Leaf, 'list' | 'several' | 'main'> = {}): Generator<Leaf> {
  if (isNamedId(value)) {
    yield { name: `${path}[0]`, text: textOf(value[0]) };
    yield { name: `${path}[1]`, text: textOf(value[1]), label: path.replace(/(?<=.)_?ids?$/i, '') };
  } else if (Array.isArray(value)) {
    const elements = value as readonly JsonValue[];
    const main = within.list === undefined ? mainOf(elements) : undefined;
    const element = elements[main?.at ?? 0];
    if (element !== undefined && !Array.isArray(element)) {
      const several = within.several || elements.length > 1;
      yield* leavesOf(element, path, { list: within.list ?? path, several, main: main?.element });
    }
  } else if (isObject(value)) {
    const list = path === '' ? RECORD : path;
    const keyed = keyedIn(value);
    if (keyed && list !== RECORD) yield { name: `${list}.${KEY}`, text: textOf(keyed[0]![KEY]), list, several: true };
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined && !(keyed && isObject(member)))
        yield* leavesOf(member, path === '' ? key : `${path}.${key}`, within);
    }
  } else yield { name: path === '' ? '.' : path, text: textOf(value), ...within };
}

/** The whole record, which is an object of records itself. */
const RECORD = '$';

/** The records in an object, whose keys are ids. */
function keyedIn(value: JsonValue): readonly JsonObject[] | undefined {
  const records = recordsByKey(value);
  const hasValues = (record: JsonObject): boolean =>
    Object.entries(record).some(([key, member]) => key !== KEY && !isObject(member) && !Array.isArray(member));
  if (records?.length === 0) return undefined;
  return records?.every((record) => KEYS.test(record[KEY] as string) && hasValues(record)) ? records : undefined;
}

/** `12`, `note_7`, `-NtY1lLNKMKqrFtwJztS`. */
const KEYS = /\d|^(?=.*[A-Z].*[a-z].*[A-Z])[\w-]{15,}$/;

function mainOf(list: readonly JsonValue[]): { at: number; element: MainElement } | undefined {
  for (const [at, element] of list.entries()) {
    const [flag, value] = Object.entries(isObject(element) ? element : {}).find(isMain) ?? [];
    if (flag !== undefined && list.length > 1)
      return { at, element: { flag, value: textOf(value)!, later: at > 0 ? 1 : 0, most: list.length } };
  }
  return undefined;
}

/** `{ is_primary: true }`, `{ type: primary }` */
function isMain([key, value]: readonly [string, JsonValue | undefined]): boolean {
  if (typeof value === 'string' && /^(?:primary|main)$/i.test(value)) return true;
  return /^(?:true|t|1|yes|y)$/i.test(textOf(value) ?? '') && meaningOf(key).concepts.has('primary');
}

/** `[4, "Proposal"]`: the id of another record and what it is called. */
function isNamedId(value: JsonValue): value is readonly JsonValue[] & JsonValue {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [id, name] = value as readonly JsonValue[];
  return /^\d+$/.test(textOf(id) ?? '') && typeof name === 'string' && !/^\d*$/.test(name);
}

const NAMES = /^(?:field_?)?(?:name|key|label|code|property|attribute|question|title|id)$/i;
/** Of an element that is a name and a value, and not a record with both. */
const MAX_MEMBERS = 6;
const VALUES = /^(?:field_?)?(?:value|values|answer|text)$/i;

/**
 * The elements of lists of names and values, `[{ name: Email, value: … }, …]`: one by one, each with its name. An
 * element becomes a column where its place has one name in all records.
 */
function* pairsIn(value: JsonValue): Generator<Leaf> {
  for (const [path, list] of listsIn(value)) {
    for (const [at, element] of list.entries()) {
      if (!isObject(element)) break;
      const members = Object.entries(element);
      const [name] = members
        .filter(([key, text]) => NAMES.test(key) && typeof text === 'string')
        .sort(([a], [b]) => placeOf(a) - placeOf(b));
      const held = members.find(([key]) => VALUES.test(key));
      if (!name || !held || members.length > MAX_MEMBERS) break;
      const isWrapped = Array.isArray(held[1]);
      const first = isWrapped ? (held[1] as readonly JsonValue[])[0] : held[1];
      const inner = isObject(first) ? first['value'] : first;
      if (inner === undefined || isObject(inner) || Array.isArray(inner)) continue;
      const own = `${path}[${at}].${held[0]}${isWrapped ? `[0]${isObject(first) ? '.value' : ''}` : ''}`;
      yield { name: own, text: textOf(inner), label: textOf(name[1]) ?? '' };
    }
  }
}

/** A name before a code, and that before an id. */
function placeOf(key: string): number {
  const at = ['name', 'label', 'question', 'title', 'key'].findIndex((each) => key.toLowerCase().endsWith(each));
  return at < 0 ? Infinity : at;
}

/** `isDeep`: also the lists in the elements of lists. */
function* listsIn(value: JsonValue, path = '', isDeep = false): Generator<[path: string, list: readonly JsonValue[]]> {
  if (Array.isArray(value) && !isNamedId(value)) {
    const list = value as readonly JsonValue[];
    yield [path, list];
    for (const element of isDeep ? list : []) if (isObject(element)) yield* listsIn(element, path, isDeep);
  } else if (isObject(value)) {
    const keyed = isDeep ? keyedIn(value) : undefined;
    if (keyed) yield [path === '' ? RECORD : path, keyed];
    for (const [key, member] of Object.entries(keyed ? {} : value)) {
      if (member !== undefined) yield* listsIn(member, path === '' ? key : `${path}.${key}`, isDeep);
    }
  }
}

function addRow(table: RawTable, record: number, cells: readonly Leaf[]): void {
  const row: (string | number | null)[] = [record];
  table.rows.push(row);
  for (const { name, text, list, several, main, label } of cells) {
    const value = text?.trim() ?? '';
    const column = value === '' || name === '' ? undefined : columnAt(table, name, list, label);
    if (!column) continue;
    if (column.label !== label) column.isMixed = true;
    row[column.at] = value.slice(0, MAX_LENGTH);
    if (several) column.several += 1;
    if (main && main.flag === (column.main ??= { ...main, later: 0 }).flag) {
      column.main.later += main.later;
      column.main.most = Math.max(column.main.most, main.most);
    }
  }
}

function columnAt({ columns }: RawTable, name: string, list?: string, label?: string): RawColumn | undefined {
  const known = columns.get(name);
  if (known !== undefined || name === '' || columns.size >= MAX_COLUMNS) return known;
  const column = { at: columns.size + 1, list, several: 0, label };
  columns.set(name, column);
  return column;
}
