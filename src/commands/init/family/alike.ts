/** Files, sheets and arrays of one structure as one export: what their records are is decided once, over the rows of all. */
import { basename } from 'node:path';
import { numberText } from '../../../report/words/numbers.ts';
import { partOf, type Export, type Family } from '../open-export.ts';
import { columnAt, newTable, type RawTable } from '../raw-table.ts';
import { type ExportSample } from '../sample.ts';
import { commonEnds, fold, meaningOf, nounsOf, type Noun } from '../words.ts';

/** Exports of one structure in place of each: the first of them, with the records of all. */
export function joinAlike(exports: readonly Export[]): Export[] {
  const groups: Export[][] = [];
  for (const each of exports) {
    const own = groups.find(([first]) => isAlike(first!, each));
    if (own) own.push(each);
    else groups.push([each]);
  }
  return groups.map((group) => (group.length === 1 ? group[0]! : joined(inOrder(group))));
}

/** Columns that two exports must have in common, and how many of all these are. */
const MIN_COMMON = 3;
const MIN_SHARE = { table: 0.85, tree: 0.7 };
/** Columns that exports of different kinds do not have in common, whatever the sheets of a workbook are called. */
const MANY_COMMON = 6;

/** The same columns, but for one or two, and names that say nothing else. */
function isAlike(a: Export, b: Export): boolean {
  const { kind } = a.source;
  if (kind !== b.source.kind || a.settings.columns || b.settings.columns) return false;
  const [mine, theirs] = [columnsOf(a), columnsOf(b)];
  const common = [...mine].filter((name) => theirs.has(name));
  const all = mine.size + theirs.size - common.length;
  if (common.length < Math.max(MIN_COMMON, all * MIN_SHARE[kind])) return false;
  const isLong = common.length >= MANY_COMMON;
  const [one, other] = [nounsOfName(a), nounsOfName(b)];
  return mayBeOne(one, other, isLong, isLong && a.path === b.path);
}

/** Headers; of JSON, the paths of its values, of lists their own. */
function columnsOf({ source, sample }: Export): Set<string> {
  if (source.kind === 'table') return new Set(source.columns.filter(Boolean));
  return new Set([...sample.tables[0]!.columns].map(([name, { list }]) => list ?? name.replace(/\[.*$/s, '')));
}

function nameOf({ path, settings }: Export): string {
  return partOf(settings) ?? basename(path).replace(/\.\w+(?:\.gz)?$/, '');
}

function nounsOfName(each: Export): readonly Noun[] {
  return nounsOf(nameOf(each).replace(/^.*\./s, ''));
}

/**
 * People and users may have the same columns. With many of them, what is called after people, deals or stages may be steps of one
 * pipeline, and in one file whatever it is called.
 */
function mayBeOne(a: readonly Noun[], b: readonly Noun[], isLong: boolean, isOfOne: boolean): boolean {
  const isOther = (noun: Noun): boolean => noun === 'company' || noun === 'user' || (!isOfOne && !STEPS.includes(noun));
  const [mine, theirs] = [a.filter(isOther), b.filter(isOther)];
  const isSame = mine.join() === theirs.join();
  return isSame && (isLong || a.length === 0 || b.length === 0 || a.some((noun) => b.includes(noun)));
}

const STEPS: readonly Noun[] = ['lead', 'deal', 'stage'];

/** By the days or numbers in the names of files, if all have one; others as they are given. */
function inOrder(members: readonly Export[]): readonly Export[] {
  const dayIn = (name: string): string =>
    name.replace(/(?<!\d)(\d\d?)[-_.](\d\d?)[-_.](\d{4})(?!\d)/, (_, day: string, month: string, year: string) =>
      [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-'),
    );
  if (!members.every(({ path }) => /\d/.test(basename(path)))) return members;
  return [...members].sort((a, b) =>
    a.path === b.path ? 0 : dayIn(a.path).localeCompare(dayIn(b.path), 'en', { numeric: true }),
  );
}

function joined(members: readonly Export[]): Export {
  const [first] = members;
  const ends: number[] = [];
  const tables = new Map<string | undefined, RawTable>([[undefined, newTable(undefined)]]);
  for (const { sample } of members) {
    const before = ends.at(-1) ?? 0;
    for (const raw of sample.tables) {
      const all = tables.get(raw.list) ?? newTable(raw.list);
      tables.set(raw.list, all);
      append(all, raw, before);
    }
    ends.push(before + sample.tables[0]!.rows.length);
  }
  const main = tables.get(undefined)!;
  const parts = members.map((_, at) => main.rows.slice(ends[at - 1] ?? 0, ends[at]));
  const key = keyOf(main, parts);
  const names = namesOf(members);
  const column = partOf(first!.settings) === undefined ? '(file)' : first!.settings.sheet ? '(sheet)' : '(list)';
  const named = !key?.isSame && isTelling(names) ? { column, names } : undefined;
  const family: Family = {
    members,
    named,
    again: key?.isSame
      ? `${numberText(key.shared)} of ${numberText(main.rows.length)} records occur again in a later one of ${numberText(members.length)} exports with the same columns`
      : undefined,
    renumbered: key && !key.isSame ? key.column : undefined,
  };
  if (named) {
    const { at } = columnAt(main, column)!;
    parts.forEach((rows, part) => rows.forEach((row) => (row[at] = names[part]!)));
  }
  if (key?.isSame) keepLast(tables, key.column);
  else if (key) {
    const { at } = main.columns.get(key.column)!;
    parts.forEach((rows, part) => rows.forEach((row) => (row[at] = `${part + 1}-${row[at]!}`)));
  }
  const sample: ExportSample = {
    tables: [...tables.values()],
    whole: members.every((each) => each.sample.whole),
    unreadable: members.reduce((sum, each) => sum + each.sample.unreadable, 0),
    why: members.find((each) => each.sample.why !== undefined)?.sample.why,
  };
  return { ...first!, sample, family };
}

/** `before`: records of earlier exports. */
function append(all: RawTable, { columns, rows, pairs }: RawTable, before: number): void {
  const places = [...columns].flatMap(([name, own]) => {
    const column = columnAt(all, name, own);
    if (!column) return [];
    column.several += own.several;
    for (const place of own.places) column.places.add(place);
    if (own.main) {
      const { later, most } = column.main ?? { later: 0, most: 0 };
      column.main = { ...own.main, later: later + own.main.later, most: Math.max(most, own.main.most) };
    }
    return [[own.at, column.at] as const];
  });
  for (const row of rows) {
    const own: (string | number | null)[] = [(row[0] as number) + before];
    for (const [from, to] of places) if (row[from] !== undefined) own[to] = row[from];
    all.rows.push(own);
  }
  for (const [name, n] of pairs.names) all.pairs.names.set(name, (all.pairs.names.get(name) ?? 0) + n);
  for (const count of ['twice', 'emails', 'phones'] as const) all.pairs[count] += pairs[count];
  if (pairs.by !== undefined) all.pairs.by ??= pairs.by;
  for (const key of pairs.own) all.pairs.own.add(key);
}

type Rows = RawTable['rows'];

/**
 * The column that tells the records of each export apart, where its values come again in others: of the same records, whose other
 * values are mostly the same, or of others, because each export numbers its own.
 */
function keyOf(
  { columns }: RawTable,
  parts: readonly Rows[],
): { column: string; shared: number; isSame: boolean } | undefined {
  const all = parts.flat();
  const valuesOf = (rows: Rows, at: number) => new Set(rows.map((row) => row[at]));
  const isKey = (rows: Rows, at: number): boolean =>
    !valuesOf(rows, at).has(undefined) && valuesOf(rows, at).size === rows.length;
  const telling = [...columns.values()].filter(({ at }) => valuesOf(all, at).size > all.length * 0.2);
  for (const [column, { at }] of columns) {
    if (!isNumber(column, all, at) || !parts.every((rows) => isKey(rows, at))) continue;
    const shared = all.length - valuesOf(all, at).size;
    if (shared === 0) continue;
    const others = telling.filter((each) => each.at !== at);
    const before = new Map<unknown, Rows[number]>();
    let [same, compared] = [0, 0];
    for (const row of all) {
      const earlier = before.get(row[at]);
      for (const other of earlier ? others : []) {
        if (!earlier![other.at] || !row[other.at]) continue;
        compared += 1;
        if (earlier![other.at] === row[other.at]) same += 1;
      }
      before.set(row[at], row);
    }
    return { column, shared, isSame: same > compared / 2 };
  }
  return undefined;
}

/** Numbers or codes that a header calls so, or that rise from row to row. */
function isNumber(name: string, rows: Rows, at: number): boolean {
  const { concepts } = meaningOf(name);
  const values = rows.map((row) => String(row[at] ?? ''));
  if (!values.every((value) => /^\S*\d\S*$/.test(value) && !value.includes('@')) || concepts.has('phone')) return false;
  return concepts.has('id') || concepts.has('number') || (at === 1 && concepts.size === 0);
}

/** Of records that come again, the last one. */
function keepLast(tables: ReadonlyMap<string | undefined, RawTable>, column: string): void {
  const main = tables.get(undefined)!;
  const { at } = main.columns.get(column)!;
  const last = new Map(main.rows.map((row) => [row[at], row[0]]));
  const kept = new Set(last.values());
  for (const { rows } of tables.values()) rows.splice(0, rows.length, ...rows.filter(([record]) => kept.has(record)));
}

/** What tells them apart: the names of sheets, or what differs in those of files and arrays. */
function namesOf(members: readonly Export[]): string[] {
  const names = members.map(nameOf);
  if (members[0]!.settings.sheet !== undefined) return names;
  const words = names.map((name) => name.split(/[\s_.-]+/));
  const { start, end } = commonEnds(words, 1);
  return words.map((own) => own.slice(start, own.length - end).join(' '));
}

/** Not so the numbers of pages. */
function isTelling(names: readonly string[]): boolean {
  const words = new Set(names.map((name) => fold(name).replace(/\d+/g, '').trim()));
  const isDated = names.every((name) => /\d{4}/.test(name));
  return isDated || (words.size > 1 && !words.has(''));
}
