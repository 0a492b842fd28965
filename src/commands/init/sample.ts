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

/** Records of an export that have one of these values in a column, or any value, or none. */
export interface RecordType {
  readonly from: string;
  readonly is: readonly string[] | 'present' | 'absent';
  /** Those that have another value. */
  readonly isNot?: true;
  /** Parts of the others, or records among lines that are none. */
  readonly as?: 'parts' | 'records';
  /** What the lines are that are no records. */
  readonly others?: string;
  /** Where such lines continue a record, the column with its id. */
  readonly key?: string;
}

/** The records, or the elements of a list inside them. */
export interface RawTable {
  readonly list: string | undefined;
  /** The columns, by name: the places of their cells, the list that they stand in, and records with several elements of it. */
  readonly columns: Map<string, RawColumn>;
  /** The number of the record, and its cells by column. */
  readonly rows: (string | number | null)[][];
  /** Of elements that are a name and a value each. */
  readonly pairs: Pairs;
  /** Its records are groups of columns of a row: the headers of each group. Its own columns are called like those of the first one. */
  readonly groups?: readonly (readonly string[])[];
}

/** The names in a list of names and values. */
export interface Pairs {
  readonly names: Map<string, number>;
  /** Elements whose name another one of the same list has, too. */
  twice: number;
  /** Elements whose value is an address, or a number of a person: a list of one of these alone is no list of names. */
  emails: number;
  phones: number;
  /** Where the name of an element is: `field.ref`. */
  by?: string;
  /** The first element of each name, and the other members of elements that differ where the name is the same. */
  readonly firsts: Map<string, JsonObject>;
  readonly own: Set<string>;
}

interface RawColumn {
  readonly at: number;
  readonly list: string | undefined;
  several: number;
  main?: MainElement;
  /** Its name in a list of names and values; what is beside an id, `[4, "Proposal"]`, is called after it. */
  readonly label: string | undefined;
  readonly pair: Pair | undefined;
  /** The paths at which it is in some record: `answers[2].text`. */
  readonly places: Set<string>;
}

/** The list of names and values of a value, and its path in it: `answers.text`. */
interface Pair {
  readonly list: string;
  readonly path: string;
}

/** How a list tells its main element: by a flag, or by its type; or one of its values, by its name. */
export interface MainElement {
  /** Its key and value: `is_primary`, `true`. */
  readonly flag: string;
  readonly value: string;
  /** Records in which it is not the first element. */
  later: number;
  /** Elements of the longest list. */
  most: number;
  /** Where it is in some record; undefined if it may be anywhere. */
  readonly places?: readonly number[];
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
  const main = newTable(undefined);
  const lists = new Map<string, RawTable>();
  const names = source.columns.map((name, index) => nameOf(source, name, index));
  for (const name of names) columnAt(main, name);
  let [unreadable, why]: [number, string | undefined] = [0, undefined];
  const sample = (whole: boolean): ExportSample => ({
    tables: withoutSingles(main, [...lists.values()]),
    whole,
    unreadable,
    why,
  });
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

/** Where most values are in lists of one element each, as converters of XML write them, these lists say nothing. */
function withoutSingles(main: RawTable, lists: readonly RawTable[]): RawTable[] {
  const isSingle = ({ list, rows }: RawTable): boolean =>
    new Set(rows.map(([record]) => record)).size === rows.length &&
    !lists.some((each) => each.list!.startsWith(`${list!}.`) || list!.startsWith(`${each.list!}.`));
  const singles = lists.filter((each) => each.list !== RECORD && isSingle(each));
  const names = singles.map(({ list }) => list);
  const others = [...main.columns.values()].filter(({ list }) => !names.includes(list));
  if (singles.length < MIN_SINGLES || singles.length <= others.length) return [main, ...lists];
  const columns = [...main.columns].map(([name, own]) => {
    const { list, pair } = own;
    if (list === undefined || pair || !names.includes(list)) return [name, own] as const;
    return [`${list}[0]${name.slice(list.length)}`, { ...own, list: undefined }] as const;
  });
  return [{ ...main, columns: new Map(columns) }, ...lists.filter((each) => !singles.includes(each))];
}

const MIN_SINGLES = 3;

export function newTable(list: string | undefined): RawTable {
  return {
    list,
    columns: new Map(),
    rows: [],
    pairs: { names: new Map(), twice: 0, emails: 0, phones: 0, firsts: new Map(), own: new Set() },
  };
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
  readonly pair?: Pair;
  readonly place?: string;
}

/** Adds a record in JSON. The elements of its lists become rows of tables of their own, too. */
function addRecord(main: RawTable, lists: Map<string, RawTable>, record: number, value: JsonValue): void {
  const tableOf = (path: string): RawTable => {
    const table = lists.get(path) ?? newTable(path);
    lists.set(path, table);
    return table;
  };
  addRow(main, record, [...leavesOf(value), ...pairsIn(value, (path) => tableOf(path).pairs)]);
  for (const [path, list] of listsIn(value, '', true)) {
    const table = tableOf(path);
    // What a record by its key has in common with others by theirs: notes by their contacts.
    const key = path === RECORD ? [{ name: `${RECORD}.${KEY}`, text: textOf((value as JsonObject)[KEY]) }] : [];
    for (const element of list) addRow(table, record, [...key, ...leavesOf(element)]);
  }
}

/** The scalars in a value by path (of a scalar itself, `.`); of a list, those of its main element, or the first one at each path. */
function* leavesOf(value: JsonValue, path = '', within: Pick<Leaf, 'list' | 'several' | 'main'> = {}): Generator<Leaf> {
  if (isNamedId(value)) {
    yield { name: `${path}[0]`, text: textOf(value[0]) };
    yield { name: `${path}[1]`, text: textOf(value[1]), label: path.replace(/(?<=.)_?ids?$/i, '') };
  } else if (Array.isArray(value)) {
    const elements = value as readonly JsonValue[];
    const own = { ...within, list: within.list ?? path };
    const main = within.list === undefined ? mainOf(elements) : undefined;
    if (main) yield* leavesOf(elements[main.at]!, path, { ...own, several: true, main: main.element });
    else yield* firstOfEach(elements.flatMap((each) => (Array.isArray(each) ? [] : [...leavesOf(each, path, own)])));
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

/** Of the values at one path, the first one, as the mapping reads it. */
function firstOfEach(leaves: readonly Leaf[]): Iterable<Leaf> {
  const first = new Map<string, Leaf>();
  for (const leaf of leaves) {
    const known = first.get(leaf.name);
    if (leaf.text?.trim()) first.set(leaf.name, known ? { ...known, several: true } : leaf);
  }
  return first.values();
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

export const NAMES =
  /^(?:field_?)?(?:name|key|label|code|property|attribute|question|title|ref|type|_?id)$|^(?:id_?|custom_?)+field(?:_?id)?$/i;
/** Of an element that is a name and a value, and not a record with both. */
const MAX_MEMBERS = 8;
export const VALUES = /^(?:field_?)?(?:value|values|answer|text)$/i;
const EMAIL = /^\S+@\S+$/;
const PHONE = /^[+(\d][\d\s().\-/]{5,}$/;

/**
 * The elements of lists of names and values, `[{ name: Email, value: … }, …]`: one by one. `noted`: the names of a list.
 */
function* pairsIn(value: JsonValue, noted: (path: string) => Pairs): Generator<Leaf> {
  for (const [path, list] of listsIn(value)) {
    const seen = new Set<string>();
    for (const [at, element] of list.entries()) {
      const pair = isObject(element) ? pairOf(element) : undefined;
      if (!pair) break;
      const { by, name, held } = pair;
      const names = noted(path);
      names.by ??= by;
      names.names.set(name, (names.names.get(name) ?? 0) + 1);
      const first = names.firsts.get(name) ?? (element as JsonObject);
      names.firsts.set(name, first);
      for (const [key, member] of Object.entries(element as JsonObject))
        if (key !== held[0] && !/(?:values?|answer|text)$/i.test(key) && !isObject(member) && member !== first[key])
          names.own.add(key);
      if (seen.has(name)) names.twice += 1;
      seen.add(name);
      const found = scalarIn(held[1], `${path}[${at}].${held[0]}`);
      if (!found) continue;
      if (EMAIL.test(found.text ?? '')) names.emails += 1;
      if (PHONE.test(found.text ?? '')) names.phones += 1;
      const place = found.name;
      const plain = place.replace(`${path}[${at}]`, path);
      yield { ...found, name: `${plain} (${name})`, label: name, place, pair: { list: path, path: plain } };
    }
  }
}

/** The name and the value of an element: its name may be one level deeper, and its value called after its type. */
function pairOf(element: JsonObject): { by: string; name: string; held: [string, JsonValue] } | undefined {
  const members = Object.entries(element) as [string, JsonValue][];
  const held =
    members.find(([key]) => key === element['type']) ??
    members
      .filter(([key]) => VALUES.test(key))
      .sort(([a, one], [b, other]) => Number(isEncoded(one)) - Number(isEncoded(other)) || b.length - a.length)[0];
  if (!held || members.length > MAX_MEMBERS) return undefined;
  const inner = members.flatMap(([key, member]) =>
    key === held[0] ? [] : namesIn(member).map((each) => ({ ...each, by: `${key}.${each.by}` })),
  );
  const [own] = [...namesIn(element).filter(({ by }) => by !== held[0]), ...inner].sort(byPlace);
  return own && { ...own, held };
}

/** Of monday.com: JSON in a text, `"{\"index\":2}"`, beside what people read. */
function isEncoded(value: JsonValue): boolean {
  return value === null || (typeof value === 'string' && /^(?:\{.*\}|\[.*\]|".*")$/s.test(value));
}

/** The names of an object, best first: a name before a code, and that before an id. */
function namesIn(holder: JsonValue): { by: string; name: string }[] {
  return Object.entries(isObject(holder) ? holder : {})
    .flatMap(([by, text]) =>
      NAMES.test(by) && (typeof text === 'string' || typeof text === 'number') ? [{ by, name: String(text) }] : [],
    )
    .sort(byPlace);
}

/** The text of a value, which may be a list or an object with the value itself. */
function scalarIn(value: JsonValue, name: string): Leaf | undefined {
  if (Array.isArray(value)) {
    const first = value.length > 0 ? scalarIn(value[0] as JsonValue, `${name}[0]`) : undefined;
    return first && { ...first, several: value.length > 1 };
  }
  if (!isObject(value)) return { name, text: textOf(value) };
  // `{ number: 12 }`
  const [only, ...others] = Object.keys(value);
  const by =
    value['value'] !== undefined ? 'value' : (namesIn(value)[0]?.by ?? (others.length === 0 ? only : undefined));
  return by === undefined ? undefined : scalarIn(value[by]!, `${name}.${by}`);
}

const NAME_KEYS = ['name', 'label', 'question', 'title', 'key', 'ref', 'type'] as const;

function byPlace(a: { readonly by: string }, b: { readonly by: string }): number {
  const placeOf = ({ by }: { readonly by: string }): number => {
    const at = NAME_KEYS.findIndex((each) => by.toLowerCase().endsWith(each));
    return at >= 0 ? at : NAME_KEYS.length + (by.toLowerCase().endsWith('field') ? 0 : 1);
  };
  return placeOf(a) - placeOf(b);
}

/** Where the values of a name are, in a list of names and values: at a place of their own, alone at their path, or beside their name. */
export function placeOf(
  { at: own, label, places, pair: { list, path } }: RawColumn & { readonly pair: Pair },
  { columns }: RawTable,
  { pairs: { by } }: RawTable,
): { readonly name: string; readonly list: string | undefined; readonly main?: MainElement } {
  const [first, ...more] = places;
  const others = [...columns.values()].filter((each) => each.at !== own && each.pair?.path === path);
  if (more.length === 0 && !others.some((each) => each.places.has(first!))) return { name: first!, list: undefined };
  if (others.length === 0) return { name: path, list };
  const at = [...places].map((place) => Number(/\[(\d+)\]/.exec(place.slice(list.length))![1]));
  const main = { flag: by!, value: label!, later: 1, most: at.length, places: at.sort((a, b) => a - b) };
  return { name: `${path} (${label!})`, list, main };
}

/**
 * Whether the elements of a list are values of the record around them: each has a name, once in a record, that others have, too, and
 * what else it has is that of all elements of the name, but for ids and times.
 */
export function isAttributes({ rows, pairs: { names, twice, emails, phones, by, own } }: RawTable): boolean {
  const found = [...names.values()].reduce((sum, n) => sum + n, 0);
  const differing = [...own].filter((key) => {
    const { concepts } = meaningOf(key);
    return (
      !concepts.has('id') && (by === 'type' || !(ABOUT.test(key) || concepts.has('date') || concepts.has('created')))
    );
  });
  return (
    found > rows.length * 0.9 &&
    names.size > 1 &&
    found >= names.size * 2 &&
    twice < found * 0.05 &&
    Math.max(emails, phones) < found &&
    differing.length < 2
  );
}

/** What stands beside a value and says something about it alone. */
export const ABOUT =
  /^(?:timestamp|versions|source(?:_?id|_?label)?|type|kind|label|primary|is_?(?:primary|default|main)|enum_?(?:code|id)|request_?id|updated_?by_?user_?id|verified|location|selected)$/i;

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
  for (const { name, text, several, main, place, ...own } of cells) {
    const value = text?.trim() ?? '';
    const column = value === '' || name === '' ? undefined : columnAt(table, name, own);
    if (!column) continue;
    row[column.at] = value.slice(0, MAX_LENGTH);
    if (several) column.several += 1;
    if (place !== undefined) column.places.add(place);
    if (main && main.flag === (column.main ??= { ...main, later: 0 }).flag) {
      column.main.later += main.later;
      column.main.most = Math.max(column.main.most, main.most);
    }
  }
}

export function columnAt(
  { columns }: RawTable,
  name: string,
  { list, label, pair }: { readonly [Key in 'list' | 'label' | 'pair']?: RawColumn[Key] } = {},
): RawColumn | undefined {
  const known = columns.get(name);
  if (known !== undefined || name === '' || columns.size >= MAX_COLUMNS) return known;
  const column = { at: columns.size + 1, list, several: 0, label, pair, places: new Set<string>() };
  columns.set(name, column);
  return column;
}
