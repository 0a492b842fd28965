/** Whose values are ids, addresses or names of another table: as they are, or by one of a few extractors. */
import type { Column, Table } from './facts.ts';
import { fold, nounsOf, type Noun } from './headers.ts';
import { NOUNS } from '../know/words.ts';
import { EXTRACTORS, FOLDINGS, type Extractor } from '../know/extractors.ts';
import { LEVELS, type FactName, type RecordKind } from '../know/roles.ts';

export interface Reference {
  readonly from: Column;
  readonly to: Column;
  readonly by: Extractor;
  /** Distinct values that are found in the other table, and all that were looked at. */
  readonly found: number;
  readonly of: number;
  readonly share: number;
  /** The values of the other column tell its records apart. */
  readonly isUnique: boolean;
  /** Both are small numbers, as in every table. */
  readonly isByChance: boolean;
  /** A column beside the id says which records it is of: with these values, those of the other table. */
  readonly type?: { readonly column: Column; readonly values: readonly string[] } | undefined;
}

/** Longer values are texts. */
const MAX_VALUE = 250;
/** Distinct values of a column that are looked up. */
const MAX_LOOKED_UP = 500;
const MAX_TYPES = 12;
const MOST_KEYS = 100;

/** All pairs of columns of different tables with common values, where those of the second one tell records apart. */
export function relations(tables: readonly Table[]): Reference[] {
  if (tables.length < 2) return [];
  const keys = tables.flatMap(keysOf);
  const places = new Map<string, Set<number>>();
  keys.forEach((key, at) => {
    const foldings = Object.entries(FOLDINGS).filter(([, [fact]]) => key.is[fact] > LEVELS.half);
    for (const value of key.counts!.keys())
      for (const each of [value, ...foldings.map(([folding, [, by]]) => `${folding} ${by(value)}`)])
        places.set(each, (places.get(each) ?? new Set()).add(at));
  });
  const columns = tables.flatMap((table) => table.columns);
  const found = columns.filter(mayRefer).flatMap((from) => referencesOf(from, keys, places));
  const backs = new Map<Column, Reference[]>();
  for (const each of found) backs.set(each.from, [...(backs.get(each.from) ?? []), each]);
  // Of two columns that name each other, the one that a header calls an id of the other table does; or that of which more is found.
  const isBackwards = ({ from, to, share, isUnique }: Reference): boolean => {
    const back = backs.get(to)?.find((each) => each.to === from);
    if (!isUnique || !back || from.distinct < from.filled * LEVELS.all) return false;
    const [says, saysBack] = [saysSo(from, to.table), saysSo(to, from.table)];
    return says === saysBack ? back.share > share : saysBack;
  };
  const typed = found.filter((each) => !isBackwards(each)).map((each) => ({ ...each, type: typeBeside(each) }));
  noteFacts(typed);
  return typed;
}

/** Of a wide table, the first ones, and those that are complete before others. */
function keysOf({ columns }: Table): Column[] {
  return columns
    .filter(isKey)
    .sort((a, b) => b.is.key - a.is.key)
    .slice(0, MOST_KEYS);
}

function isKey({ counts, filled, distinct, date, separators, is, meaning: { concepts } }: Column): boolean {
  if (!counts || filled < 2 || date || is.flag > LEVELS.most || is.prose > LEVELS.half || is.html > 0) return false;
  if (concepts.has('company') && concepts.has('id')) return true;
  return distinct >= filled * LEVELS.half && !(separators && is.decimal > LEVELS.hint);
}

function mayRefer({ filled, date, separators, is, examples }: Column): boolean {
  const isText = examples.some(({ length }) => length > MAX_VALUE) || is.html > LEVELS.hint || is.prose > LEVELS.half;
  return filled > 0 && !date && !isText && !(separators && is.decimal > LEVELS.half) && is.flag < LEVELS.all;
}

function valuesOf({ counts, sample }: Column): readonly string[] {
  return counts ? [...counts.keys()].slice(0, MAX_LOOKED_UP) : [...new Set(sample)];
}

function referencesOf(
  from: Column,
  keys: readonly Column[],
  places: ReadonlyMap<string, ReadonlySet<number>>,
): Reference[] {
  const values = valuesOf(from);
  const best = new Map<Column, Reference>();
  for (const by of EXTRACTORS) {
    const alike = values.filter((value) => by.like.test(value));
    if (alike.length === 0 || (by.key !== undefined && from.is[FOLDINGS[by.fold!][0]] < LEVELS.half)) continue;
    const hits = new Map<number, number>();
    for (const value of alike) {
      const own = by.take(value).flatMap((part) => [...(places.get(by.fold ? `${by.fold} ${part}` : part) ?? [])]);
      for (const at of new Set(own)) hits.set(at, (hits.get(at) ?? 0) + 1);
    }
    for (const [at, found] of hits) {
      const to = keys[at]!;
      const share = found / values.length;
      if (share < LEVELS.hint || (best.get(to)?.share ?? 0) >= share - LEVELS.hint || isSame(from, to)) continue;
      const isUnique = to.distinct >= to.filled * LEVELS.all;
      const isByChance = isSmall(from) && isSmall(to);
      best.set(to, { from, to, by, found, of: values.length, share, isUnique, isByChance });
    }
  }
  return [...best.values()];
}

/** The records that have a list have what is in it, too. */
function isSame(from: Column, to: Column): boolean {
  if (from.table === to.table) return true;
  const [a, b] = [from.table, to.table];
  if (a.export !== b.export || (a.list === undefined) === (b.list === undefined)) return false;
  const [inner, outer] = a.list === undefined ? [to, from] : [from, to];
  return outer.list !== undefined && outer.name === `${inner.table.list}.${inner.name}`;
}

function isSmall({ is, counts, table }: Column): boolean {
  const most = Math.max(100, 3 * table.records);
  return is.digits > LEVELS.all && [...(counts?.keys() ?? [])].every((value) => !(Number(value) >= most));
}

/** Whether the value of a column says that its records are those of this table: `Deal`, `contacts`. */
function namesTable(value: string, { nouns, source }: Table): boolean {
  const own = nounsOf(value);
  return own.some((noun) => nouns.includes(noun)) || fold(source).startsWith(fold(value));
}

function mayBeType({ is, distinct, date }: Column): boolean {
  return is.few > 0 && distinct > 1 && distinct <= MAX_TYPES && !date;
}

/** A column of a few values beside an id that says of which table it is: it says so by name, or all others match nothing. */
function typeBeside({ from, to, by }: Reference): Reference['type'] {
  const { table } = from;
  if (from.is.few === 1 && from.distinct < 3) return undefined;
  const keys = new Set(to.counts!.keys());
  const at = table.columns.indexOf(from);
  for (const [place, column] of table.columns.entries()) {
    if (column === from || !mayBeType(column)) continue;
    const shares = new Map<string, { found: number; all: number }>();
    for (const row of table.raw.rows) {
      const [value, type] = [row[at], row[place]];
      if (value === undefined || type === undefined) continue;
      const { found, all } = shares.get(type) ?? { found: 0, all: 0 };
      shares.set(type, { found: found + (by.take(value).some((part) => keys.has(part)) ? 1 : 0), all: all + 1 });
    }
    const shareOf = (type: string): number => shares.get(type)!.found / shares.get(type)!.all;
    const own = [...shares.keys()].filter((type) => shareOf(type) >= LEVELS.most);
    const others = [...shares.keys()].filter((type) => !own.includes(type));
    const named = own.filter((type) => namesTable(type, to.table));
    const isApart = others.length > 0 && others.every((type) => shareOf(type) <= LEVELS.hint);
    const isCalled = column.meaning.concepts.has('type');
    if (named.length > 0 && named.length < shares.size && (isApart || isCalled)) return { column, values: named };
    if (own.length > 0 && isApart && isCalled) return { column, values: own };
  }
  return undefined;
}

/** Whether a header says that a column names records of this table, which may be known to be of a kind. */
export function saysSo({ meaning: { concepts } }: Column, { nouns: own }: Table, kind?: RecordKind): boolean {
  const nouns: readonly Noun[] = kind ? [...own, kind] : own;
  const says = (noun: Noun): boolean => NOUNS[noun].some((concept) => concepts.has(concept));
  if (nouns.some(says)) return true;
  const isOther = (['lead', 'deal', 'company', 'user'] as const).some(says);
  return concepts.has('parent') ? !isOther : nouns.includes('company') && says('lead');
}

const FACT_OF: Readonly<Partial<Record<Noun, FactName>>> = {
  user: 'toUser',
  stage: 'toStage',
  lead: 'toLead',
  deal: 'toDeal',
  company: 'toCompany',
  other: 'toOther',
};

/** What refers to what, as facts of the columns. */
function noteFacts(references: readonly Reference[]): void {
  for (const each of references) {
    const { from, to, share, isUnique } = each;
    if (!isUnique || share < LEVELS.half || (each.isByChance && !saysSo(from, to.table))) continue;
    const raise = ({ is }: Column, fact: FactName): void => void (is[fact] = Math.max(is[fact], share));
    const fact = to.table.nouns.map((noun) => FACT_OF[noun]).find((one) => one !== undefined);
    if (fact) raise(from, fact);
    if (to.is.email < LEVELS.half && to.is.phone < LEVELS.half) raise(to, 'referred');
  }
}

/** A text as a regular expression. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
