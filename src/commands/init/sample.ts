/** The beginning of an export: the cells of its records, and of the lists in them. */
import { isObject, KEY, recordsByKey, type JsonObject, type JsonValue } from '../../json.ts';
import { textOf } from '../../mapping/values/result.ts';
import type { Source } from '../../input/source.ts';
import { pairsIn } from './named/pairs.ts';
import { addRow, columnAt, newTable, type Leaf, type MainElement, type RawTable } from './raw-table.ts';
import { meaningOf } from './words.ts';

/** Records read of an export. */
const MAX_RECORDS = 20_000;

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
    tables: [main, ...lists.values()],
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

/** A header that occurs several times is told apart by its position, as in the mapping. */
function nameOf({ columns, duplicateColumns }: Source, name: string, index: number): string {
  if (!duplicateColumns.has(name)) return name;
  return `${name}#${columns.slice(0, index + 1).filter((each) => each === name).length}`;
}

/** Adds a record in JSON. The elements of its lists become rows of tables of their own, too. */
function addRecord(main: RawTable, lists: Map<string, RawTable>, record: number, value: JsonValue): void {
  const tableOf = (path: string): RawTable => {
    const table = lists.get(path) ?? newTable(path);
    lists.set(path, table);
    return table;
  };
  addRow(main, record, [...leavesOf(value), ...pairsIn(listsIn(value), (path) => tableOf(path).pairs)]);
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
