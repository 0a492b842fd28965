/** The beginnings of all exports as tables of an SQLite database in memory: what `init` wants to know of them it asks by select. */
import type { ValueSpec } from '../../mapping/spec.ts';
import { Database } from '../../store/sqlite.ts';
import { columnOf, countEach, countOf, firstValues, MAX_ELEMENTS, type Table } from './columns.ts';
import { isDayFirst } from './dates.ts';
import { partOf, type Export } from './open-export.ts';
import { type RawTable } from './raw-table.ts';
import { ABOUT, isAttributes, placeOf } from './named/pairs.ts';
import { meaningOf, NO_VALUE, nounsOf, type Concept, type Noun } from './words.ts';

/** Texts that do so only in many cells. */
const PERHAPS_NO_VALUE = ['-', '--', '—'];
const MIN_DASHES = 0.02;

export interface Samples {
  readonly db: Database;
  /** The records of each export, each followed by the lists in them. */
  readonly tables: readonly Table[];
  /** Texts that stand for no value, and in how many cells. */
  readonly missing: ReadonlyMap<string, number>;
}

/** The values of all columns that could name a record, by the number of their column. */
const SAMPLES = {
  name: 'samples',
  applicationId: 0,
  version: 1,
  tables: 'create table keys (value text, key integer, folded integer);',
};

/**
 * A table for each export, and for each list in its records. `sources`: their names; of exports of one structure, those of all.
 * `noValue`: further texts that stand for no value.
 */
export function loadSamples(
  exports: readonly Export[],
  sources: ReadonlyMap<Export['source'], string>,
  noValue: readonly string[],
  /** The only texts that do, as the user has decided. */
  given?: readonly string[],
): Samples {
  const db = Database.inMemory(SAMPLES);
  const missing = new Map<string, number>();
  const texts = new Set(given ?? [...NO_VALUE, ...noValue, ...PERHAPS_NO_VALUE]);
  const perhaps = given ? [] : PERHAPS_NO_VALUE;
  for (const { sample, source } of exports) {
    for (const table of sample.tables) {
      const { columns, rows } = table;
      for (const [name, { at }] of columns) {
        const own = source.kind === 'tree' && !given ? falseIn(table, name, at) : 0;
        if (own > 0) missing.set('false', (missing.get('false') ?? 0) + own);
        const counts = countEach(rows.map((row) => (texts.has(row[at] as string) ? (row[at] as string) : undefined)));
        for (const [value, n] of [...counts].sort()) {
          const isRare = n < 3 || n < rows.length * MIN_DASHES;
          if (!isRare || !perhaps.includes(value)) missing.set(value, (missing.get(value) ?? 0) + n);
        }
      }
    }
  }
  const tables = exports.flatMap((from, at) => {
    const load = (each: Export, name: string) => tablesOf(db, each, exports, sources.get(each.source)!, name, missing);
    const own = load(from, `t${at}`);
    const apart = (from.family?.members ?? []).map((each, part) => load(each, `t${at}_part${part}`));
    for (const table of apart.length > 0 ? own : [])
      table.members = apart.map((each) => each.find(({ list }) => list === table.list));
    return own;
  });
  return { db, missing, tables };
}

/** Odoo writes `false` for no value: how often, in a column that also has other values than true and false, or lists and objects. */
function falseIn({ columns, rows }: RawTable, name: string, at: number): number {
  const values = rows.map((row) => row[at]);
  if (!values.includes('false') || values.includes('true')) return 0;
  const isOther = (value: string | number | null | undefined): boolean => !!value && value !== 'false';
  const hasParts = [...columns.keys()].some((each) => each.startsWith(`${name}[`) || each.startsWith(`${name}.`));
  return hasParts || values.some(isOther) ? values.filter((value) => value === 'false').length : 0;
}

function tablesOf(
  db: Database,
  from: Export,
  exports: readonly Export[],
  source: string,
  name: string,
  missing: ReadonlyMap<unknown, number>,
): Table[] {
  const tables: Table[] = [];
  from.sample.tables.forEach((raw, index) => {
    const sql = `${name}_${index}`;
    fill(db, sql, raw, missing);
    const { list, rows } = raw;
    const parent = list === undefined ? undefined : tables[0];
    const table: Table = {
      db,
      from,
      source,
      list,
      parent,
      columns: [],
      rows: rows.length,
      whole: from.sample.whole,
      nouns: list === undefined || list === '$' ? nounsIn(from, source, exports) : nounsOf(lastOf(list)),
      ...(from.type && list === undefined && { only: from.type }),
      ...(raw.groups && { groups: raw.groups }),
      attributes: isAttributes(raw) ? { by: raw.pairs.by!, names: raw.pairs.names.size } : undefined,
      settled: new Set(),
      falseIsNone: missing.has('false'),
      sql,
    };
    const attributes = new Map(
      from.sample.tables.flatMap((each) => (isAttributes(each) ? [[each.list, each] as const] : [])),
    );
    const labels = labelsOf([...attributes.values()], exports);
    const named = [...raw.columns.values()].flatMap(({ pair, ...own }) => {
      const of = pair && attributes.get(pair.list);
      const placed = of && placeOf({ ...own, pair }, raw, of);
      return placed && (placed.main?.most ?? 0) <= MAX_ELEMENTS ? [{ ...own, ...placed }] : [];
    });
    const plain = [...raw.columns].flatMap(([name, { pair, ...own }]) =>
      pair || named.some((each) => each.name === name) ? [] : [{ ...own, name }],
    );
    const data = [...plain, ...named].map(({ at, places: _, ...own }) => ({
      ...own,
      sql: `c${at}`,
      isInPairs: list === undefined && own.label === undefined && attributes.has(own.list),
    }));
    // With a comma between the cells, the dates may be American.
    const values = data.flatMap((each) => firstValues(table, each.sql).slice(0, 200));
    const dayFirst = from.source.delimiter !== ',' || isDayFirst(values);
    const hasHeader = from.settings.columns === undefined;
    const constantOf = (name: string): string | undefined => {
      const { sql: cell } = data.find((each) => each.name === name) ?? {};
      const all =
        cell === undefined
          ? []
          : db.all<{ v: string }>(`select distinct ${cell} v from ${sql} where ${cell} is not null limit 2`);
      return all.length === 1 ? all[0]!.v : undefined;
    };
    const isOne = (keys: readonly string[], of: string): boolean => {
      const own = keys.map((key) => data.filter((each) => `${each.name}.`.startsWith(`${of}.${key}.`)));
      if (keys.length === 1 || own.some(({ length }) => length > MAX_TERMS)) return keys.length === 1;
      const filled = own.map((some) => `(${['false', ...some.map((each) => `${each.sql} is not null`)].join(' or ')})`);
      return countOf(table, `from ${sql} where ${filled.join(' + ')} > 1`) === 0;
    };
    const wrappers = wrappersOf(
      data.map((each) => each.name),
      constantOf,
      isOne,
    );
    const prefix = prefixOf(data.map((each) => each.name));
    for (const each of withAlternatives(data, wrappers)) {
      const wrapped = wrappers.get(each.name);
      const label = each.label && (labels.get(each.label) ?? each.label);
      const called = label ?? (wrapped?.called ?? each.name).replace(ENVELOPE, '');
      const header = !hasHeader ? '' : called === '.' || called === '' ? (list ?? '') : called.replace(prefix, '');
      const isWrapper = wrapped !== undefined && (wrapped.called === undefined || wrapped.of === '');
      const column = columnOf(table, { ...each, called, isWrapper }, header, dayFirst);
      const isName = each.name === from.family?.named?.column;
      table.columns.push(isName ? { ...column, date: undefined, separators: undefined, isName } : column);
    }
    tables.push(table);
  });
  return tables;
}

/** What nearly all columns of a table begin with, `Pers_` or `oppo_`, says nothing of any. */
function prefixOf(names: readonly string[]): string {
  const counts = countEach(names.map((name) => /^\p{L}{2,12}_(?=.)/u.exec(name)?.[0]));
  const [prefix, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  return count >= Math.max(MIN_PREFIXED, names.length * 0.8) ? prefix : '';
}

const MIN_PREFIXED = 4;

/** Where the names in lists of names and values are ids of another table, what that calls them. */
function labelsOf(lists: readonly RawTable[], exports: readonly Export[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const { pairs } of lists) {
    for (const { sample } of exports) {
      const { columns, rows } = sample.tables[0]!;
      const name = [...columns].find(([header]) => /^(?:name|title|label)$/i.test(header))?.[1].at;
      const key = [...columns.values()].find(({ at }) => {
        const ids = new Set(rows.map((row) => row[at]));
        return at !== name && [...pairs.names.keys()].every((each) => ids.has(each));
      })?.at;
      if (name === undefined || key === undefined) continue;
      for (const row of rows) labels.set(String(row[key]), String(row[name]));
    }
  }
  return labels;
}

function fill(db: Database, sql: string, { columns, rows }: RawTable, missing: ReadonlyMap<unknown, number>): void {
  const places = [...columns.values()].map(({ at }) => at);
  db.exec(`create table ${sql} (${['record integer', ...places.map((at) => `c${at} text`)].join(', ')})`);
  const insert = `insert into ${sql} values (?${', ?'.repeat(places.length)})`;
  // A flag is false, but not empty.
  const flags = new Set(places.filter((at) => rows.some((row) => row[at] === 'true')));
  const cell = (value: string | number | null | undefined, at: number) =>
    value === undefined || (missing.has(value) && !(value === 'false' && flags.has(at))) ? null : value;
  db.transaction(() => {
    for (const row of rows) db.run(insert, row[0]!, ...places.map((at) => cell(row[at], at)));
  });
}

/** A value that an object only wraps: the path of the object, and whether the column is the value. */
interface Wrapped {
  readonly of: string;
  /** What the column is called without the wrapper; undefined if it only says something about the value. */
  readonly called: string | undefined;
  /** The object has at most one value, under a key for its type. */
  readonly isTyped: boolean;
}

interface ColumnData {
  readonly name: string;
  readonly sql: string;
  readonly list: string | undefined;
}

/** The values of one object by several types as one column: `doubleValue`, `integerValue`. */
function withAlternatives<T extends ColumnData>(
  data: readonly T[],
  wrappers: ReadonlyMap<string, Wrapped>,
): (T & { origin?: ValueSpec })[] {
  const groups = new Map<string, T[]>();
  for (const each of data) {
    const { of, isTyped = false } = wrappers.get(each.name) ?? {};
    const isScalar = isTyped && each.list === undefined && of === each.name.slice(0, each.name.lastIndexOf('.'));
    groups.set(isScalar ? of : each.name, [...(groups.get(isScalar ? of : each.name) ?? []), each]);
  }
  return [...groups].map(([name, own]) => {
    const [first] = own;
    if (own.length === 1) return first!;
    const sql = `coalesce(${own.map((each) => each.sql).join(', ')})`;
    return { ...first!, name, sql, origin: { from: own.map((each) => each.name) } };
  });
}

/**
 * By column, the object that only wraps its value: `{ value, timestamp, versions }`, `{ id, type: number, number }`; of an element
 * of a list, the empty path. `constantOf`: the only value of a column, if it has one. `isOne`: whether an object has at most one of these
 * keys in each record.
 */
function wrappersOf(
  names: readonly string[],
  constantOf: (name: string) => string | undefined,
  isOne: (keys: readonly string[], of: string) => boolean,
): ReadonlyMap<string, Wrapped> {
  const above = (name: string): string[] => name.split('.').map((_, at, parts) => parts.slice(0, at).join('.'));
  const members = new Map<string, Set<string>>();
  for (const name of names)
    above(name).forEach((of, at) =>
      members.set(of, (members.get(of) ?? new Set()).add(name.split('.')[at]!.replace(/\[\d+\]$/, ''))),
    );
  const payloads = new Map<string, string>();
  for (const [of, own] of members) {
    const typed = of !== '' && own.has('type') ? constantOf(`${of}.type`) : undefined;
    const payload = own.has('value') ? 'value' : typed !== undefined && own.has(typed) ? typed : undefined;
    const isAbout = (each: string): boolean =>
      each === payload || ABOUT.test(each) || (payload === typed && each === 'id');
    if (payload !== undefined && own.size > 1 && [...own].every(isAbout)) payloads.set(of, payload);
  }
  const types = typesIn(members, isOne);
  return new Map(
    names.flatMap((name): [string, Wrapped][] => {
      const of = above(name).find((each) => payloads.has(each));
      if (of !== undefined) {
        const path = of === '' ? payloads.get(of)! : `${of}.${payloads.get(of)!}`;
        const called = `${name}.`.startsWith(`${path}.`) ? `${of}${name.slice(path.length)}` : undefined;
        return [[name, { of, called, isTyped: false }]];
      }
      const isTyped = (path: string): boolean => path !== '' && [...members.get(path)!].every((key) => types.has(key));
      const typed = above(name).map(isTyped);
      const called = name.split('.').filter((_, at) => !typed[at]);
      if (!typed.includes(true)) return [];
      return [[name, { of: above(name)[typed.lastIndexOf(true)]!, called: called.join('.'), isTyped: true }]];
    }),
  );
}

/**
 * The keys under which objects hold their one value, by its type: `{ name: { stringValue }, amount: { doubleValue } }`, `{ S }`. Most
 * objects beside each other have one of these, and several have the same.
 */
function typesIn(
  members: ReadonlyMap<string, ReadonlySet<string>>,
  isOne: (keys: readonly string[], of: string) => boolean,
): Set<string> {
  const types = new Set<string>();
  for (const [above, keys] of members) {
    const objects = [...keys].flatMap((key) => {
      const of = above === '' ? key : `${above}.${key}`;
      const own = [...(members.get(of) ?? [])];
      return own.length > 0 && own.every(isVague) && isOne(own, of) ? [own] : [];
    });
    const counts = countEach(objects.flatMap((own) => (own.length === 1 ? own : [])));
    const isMost = objects.length >= MIN_TYPED && objects.length > keys.size / 2;
    if (isMost && Math.max(...counts.values()) > 1) for (const key of objects.flat()) types.add(key);
  }
  return types;
}

const MIN_TYPED = 3;
/** Of one condition in SQL. */
const MAX_TERMS = 100;

/** Not `name` or `id`, which say more about the value than its type. */
function isVague(key: string): boolean {
  return /Value$/.test(key) || [...meaningOf(key).concepts].every((each) => VAGUE.includes(each));
}

const VAGUE: readonly Concept[] = ['amount', 'text', 'date', 'number'];

/** An object around each record. */
const ENVELOPE = /^(?:item|node|_source|record|document|doc|entry|row|element|object)\./i;

/** What arrays are called that hold the records of any API. */
const WRAPPERS =
  /^(?:data|results?|items|records|list|rows|values?|content|hits|elements|documents|docs|nodes|edges|entries)$/i;

/** Whether the name of an array says nothing of its records. */
export function isWrapper(name: string): boolean {
  return WRAPPERS.test(name);
}

/** The last name in a path that says something. */
function lastOf(path: string | undefined): string {
  return path?.split('.').findLast((each) => !WRAPPERS.test(each)) ?? '';
}

/** The nouns of its array or of its file. An array that is called alike in several exports says nothing of one of them. */
function nounsIn(from: Export, source: string, exports: readonly Export[]): readonly Noun[] {
  const { is, as } = from.type ?? {};
  // What is only a part of a record tells of it.
  if (as === 'parts') return ['comment'];
  if (typeof is === 'object' && as !== 'records') return [...new Set(is.flatMap(nounsOf))];
  const array = lastOf(partOf(from.settings));
  const [own, file] = [nounsOf(array), nounsOf(source)];
  const isVague =
    own.every((noun) => noun === 'other' || noun === 'payment') ||
    exports.some((each) => each !== from && lastOf(partOf(each.settings)) === array);
  // `included` in a file of contacts are the users.
  const said = array === '' && file.length > 0 ? [] : typeIn(from);
  const other = said.length > 0 ? said : file;
  return isVague && other.length > 0 ? other : own;
}

/** What the records say of themselves: `{ type: users }`. */
function typeIn({ source, sample }: Export): readonly Noun[] {
  const [main] = sample.tables;
  const at = [...main!.columns].find(([name]) => /^_{0,2}(?:type(?:name)?|object|model)$/i.test(name))?.[1].at;
  const values = new Set(source.kind === 'tree' && at !== undefined ? main!.rows.map((row) => row[at]) : []);
  const [value] = values;
  return values.size === 1 && /^\S+$/.test(String(value)) ? nounsOf(String(value)) : [];
}
