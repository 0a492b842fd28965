/** The column that tells of which kind of record an id is. */
import { countsOf, isFew, isOneOf, isUnique, plainColumns, type Column } from '../columns.ts';
import { fold, nounsOf, type Noun } from '../words.ts';
import type { Reference } from './references.ts';

/** The column that says which kind of record an id is of, with its values for each kind; a company stands for its person. */
export interface ParentType {
  readonly column: Column;
  readonly values: ReadonlyMap<Noun, readonly string[]>;
  /** What each value is called. */
  readonly words: ReadonlyMap<string, string>;
}

const PARENTS = ['deal', 'lead', 'company'] as const;
const MAX_TYPES = 12;

/** Columns of few values beside an id. */
export function typesBeside(id: Column): Column[] {
  return id.table.columns.filter(
    (each) =>
      each !== id && each.distinct > 1 && each.distinct <= MAX_TYPES && (isFew(each) || each.filled < MAX_TYPES),
  );
}

export function isCalledType({ meaning: { concepts } }: Column): boolean {
  return concepts.has('type') || concepts.has('parent');
}

/**
 * The words of each value of a type: its own, the name of the table that it is short for (`CLI` of `client`), or those of the record whose
 * id it is, in a table of types.
 */
export function wordsOf(column: Column, references: readonly Reference[]): Map<string, string> {
  const values = [...countsOf(column).keys()];
  const key = references.find(
    ({ from, to, by, share }) =>
      from === column && share === 1 && by.apply.length === 0 && isUnique(to) && to.table.rows <= MAX_ROWS,
  )?.to;
  const texts = column.is.words < 0.8 && key ? plainColumns(key.table).filter(({ is }) => is.words > 0.8) : [];
  const all = texts.map(({ sql }) => `coalesce(${sql}, '')`).join(" || ' ' || ");
  const others = references.flatMap(({ from, to }) => (from.table === column.table && isUnique(to) ? [to.table] : []));
  const named = new Map(
    values.flatMap((value): [string, string][] => {
      const able = new Set(others.flatMap(({ source }) => (isShortFor(value, source) ? [source] : [])));
      return value.length > 1 && able.size === 1 ? [[value, [...able][0]!]] : [];
    }),
  );
  return new Map(
    values.map((value) => {
      const of = all === '' ? '' : `select ${all} words from ${key!.table.sql} where ${isOneOf(key!, [value])}`;
      const own = (new Set(named.values()).size > 1 && named.get(value)) || value;
      return [value, of === '' ? own : column.table.db.get<{ words: string }>(of)!.words];
    }),
  );
}

/** Whether a code is the beginning of a word in the name of a table. */
export function isShortFor(code: string, source: string): boolean {
  const start = fold(code);
  return (
    start !== '' &&
    fold(source)
      .split(' ')
      .some((word) => word.length > start.length && word.startsWith(start))
  );
}

/** Of a table of types. */
const MAX_ROWS = 200;

export function typeOf(id: Column, references: readonly Reference[]): ParentType | undefined {
  for (const column of typesBeside(id)) {
    const words = wordsOf(column, references);
    if ([...words.values()].filter((text) => /\p{L}{2}/u.test(text)).length < words.size * 0.8) continue;
    const all = [...words].map(([value, text]) => ({ value, nouns: nounsOf(text) }));
    const valuesOf = (noun: Noun): string[] => all.flatMap(({ value, nouns }) => (nouns.includes(noun) ? [value] : []));
    const kinds = PARENTS.map((noun) => [noun, valuesOf(noun)] as const).filter(([, values]) => values.length > 0);
    const people = kinds.filter(([noun]) => noun !== 'company').length;
    if (people === 2 || (people === 1 && isCalledType(column))) return { column, values: new Map(kinds), words };
  }
  return undefined;
}
