/** The lines of an entry that refer to the lead or deal that a record belongs to. */
import { numberText } from '../numbers.ts';
import { countOf, pathOf, type ExportColumn } from './columns.ts';
import type { EntryLine } from './entry-text.ts';
import { prefixed, type Guess } from './guess.ts';
import { findJoin, isNumberRange, refersTo, type KnownExports } from './joins.ts';
import { firstOf, lookupOf, referenceText, shareOf, type Reference } from './references.ts';
import { foldHeader } from './value-text.ts';

export interface Parent {
  readonly kind: 'leads' | 'deals';
  readonly found: FoundParent | undefined;
  /** Overlaps that are not enough for a join, as text, and the value of the best one. */
  readonly candidates: readonly { readonly value: unknown; readonly figures: string }[];
}

interface FoundParent {
  /** The columns of the record that it uses, those that it uses whole. */
  readonly columns: readonly ExportColumn[];
  readonly taken: readonly ExportColumn[];
  readonly value: unknown;
  /** Many records have none. */
  readonly isOptional?: boolean;
  /** All records have it. */
  readonly isSure?: boolean;
  readonly comment: string;
}

interface Join {
  readonly to: Guess;
  readonly join: Reference;
}

/** By id before e-mail address before name; otherwise through a third export, otherwise through the company. */
export function parentOf(guess: Guess, kind: Parent['kind'], known: KnownExports): Parent {
  const targets = known.guesses.filter((other) => other.kind === kind && other.table.from !== guess.table.from);
  const searches = targets.map((to) => ({ to, ...findJoin(guess, to, known.references) }));
  const joins = searches.flatMap(({ to, join }) => (join ? [{ to, join }] : []));
  return {
    kind,
    found: direct(guess, joins) ?? throughThird(guess, targets, known) ?? throughCompany(guess, targets, known),
    candidates: searches.flatMap(({ to, candidates }) =>
      candidates.map((join) => ({
        value: joinValue(guess, { to, join }).value,
        figures: `\`${pathOf(join.from)}\`: ${referenceText(join, 'values', to.source)}`,
      })),
    ),
  };
}

/** Headers of columns that refer to records of several kinds. */
const ANY_RECORD = /parent|linked|related|regarding|target|entity|object|record|associated/;

/**
 * The deal and the lead of a comment. A column may have the ids of both (`parent_id`): then each is looked up, and a record
 * whose id is not there has none.
 */
export function parentsOf(guess: Guess, known: KnownExports): Parent[] {
  const targets = known.guesses.filter(({ kind }) => kind === 'deals' || kind === 'leads');
  const ids = known.references.flatMap((join): Join[] => {
    const to = targets.find(({ roles }) => roles.get('id')?.column === join.to);
    return to && join.from.table === guess.table && join.separator === undefined ? [{ to, join }] : [];
  });
  const isAny = ({ from }: Reference): boolean => {
    const share = ids.reduce((sum, { join }) => sum + (join.from === from ? shareOf(join) : 0), 0);
    return ANY_RECORD.test(foldHeader(from.name)) && share > 0.9 && share < 1.1;
  };
  return (['deals', 'leads'] as const).map((kind) => {
    const parent = parentOf(guess, kind, known);
    const [best, ...others] = ids
      .filter(({ to, join }) => to.kind === kind && (!isNumberRange(join.to) || isAny(join)))
      .sort((a, b) => shareOf(b.join) - shareOf(a.join));
    if (parent.found || !best) return parent;
    const columns = [best.join.from];
    const used = [best, ...others.filter(({ join }) => join.from === best.join.from)];
    const value = firstOfValues(
      used.map(({ to, join }) => lookupOf(join, to.source, prefixed(to, join.to.name), true)),
    );
    const figures = used.map(({ to, join }) => referenceText(join, 'values', to.source)).join('; ');
    const comment = `${figures}; the others have none`;
    return { ...parent, found: { columns, taken: columns, value, isOptional: true, comment } };
  });
}

/**
 * The line of a parent's id; commented out, with the candidates and their figures, if there is no join. `inDoubt`: to be
 * checked in any case.
 */
export function parentLine(
  key: string,
  { kind, found, candidates }: Parent,
  { inDoubt = false }: { readonly inDoubt?: boolean } = {},
): EntryLine[] {
  if (found) {
    const mark = found.isSure && !inDoubt ? '' : 'check: ';
    return [{ key, value: found.value, comment: `${mark}${found.comment}` }];
  }
  const [first] = candidates;
  if (!first && kind === 'deals') return [];
  const why = `set this: no column contains the id of its ${kind.slice(0, -1)}`;
  const figures = [...new Set(candidates.map((each) => each.figures))].join('; ');
  const comment = first ? `${why} in almost all records; ${figures}` : why;
  return [{ key, off: true, value: first ? first.value : 'Contact ID', comment }];
}

/** The best join; where its column is empty, that of another export (`Contact ID`, otherwise `Lead ID`). */
function direct(guess: Guess, joins: readonly Join[]): FoundParent | undefined {
  const byId = joins.filter(({ to, join }) => join.to === to.roles.get('id')?.column);
  // Two exports may number their records alike: then the name of the column decides.
  const isNamed = ({ join }: Join): number => Number(foldHeader(join.from.name) === foldHeader(join.to.name));
  const [best, ...others] = [...(byId.length > 0 ? byId : joins)].sort(
    (a, b) => shareOf(b.join) - shareOf(a.join) || isNamed(b) - isNamed(a),
  );
  if (!best) return undefined;
  const used = [best];
  for (const each of others) {
    if (used.every(({ join }) => !join.from.whole && join.from !== each.join.from)) used.push(each);
  }
  const values = used.map((each) => joinValue(guess, each));
  return {
    columns: used.map(({ join }) => join.from),
    taken: used.flatMap(({ join }) => (firstOf(join).length === 0 ? [join.from] : [])),
    value: firstOfValues(values.map(({ value }) => value)),
    isSure: values.every(({ isSure }) => isSure),
    comment: [...new Set(values.map(({ comment }) => comment))].join('; '),
  };
}

/** The first of them that a record has. */
function firstOfValues(values: readonly unknown[]): unknown {
  return values.length > 1 ? { from: values } : values[0];
}

function joinValue(guess: Guess, { to, join }: Join): Pick<FoundParent, 'value' | 'isSure' | 'comment'> {
  const id = to.roles.get('id')?.column;
  const { found, of, separator } = join;
  const several = separator !== undefined || join.from.table.list !== undefined;
  const figures = referenceText(join, several ? 'values' : guess.kind, to.source);
  const isSure = found === of && !several;
  const comment = several ? `${figures}; a record may have several: the first one is used` : figures;
  if (!id || join.to === id) {
    const apply = [...firstOf(join), ...(to.prefix ? [{ prefix: to.prefix.text }] : [])];
    const path = pathOf(join.from);
    return { value: apply.length > 0 ? { from: path, apply } : path, isSure, comment };
  }
  return {
    value: lookupOf(join, to.source, prefixed(to, id.name)),
    isSure: isSure && join.to.email,
    comment: `${comment}; looked up by ${join.to.name}, because no column contains the id`,
  };
}

/** Kinds of exports whose records tie two others together. */
const THIRDS: readonly string[] = ['links', 'companies', 'unknown'];
/** Of the records, fewer that are found are no join. */
const MIN_OF_THIRD = 0.5;

/**
 * By a third export: pairs of ids, such as the contacts of deals, or records that have the ids of both, such as a company
 * with its contact.
 */
function throughThird(
  guess: Guess,
  targets: readonly Guess[],
  { guesses, references }: KnownExports,
): FoundParent | undefined {
  const { table, kind, roles } = guess;
  const own = roles.get('id')?.column;
  const sure = references.filter(
    (each) => shareOf(each) >= MIN_OF_THIRD && each.separator === undefined && !each.lowercase,
  );
  const thirds = guesses.filter((each) => THIRDS.includes(each.kind) && each.table !== table);
  for (const [to, via] of targets.flatMap((to) => thirds.map((via) => [to, via] as const))) {
    const [id, viaId] = [to, via].map((each) => each.roles.get('id')?.column);
    const on = sure.filter((each) => each.to === id && each.from.table === via.table && isNamed(each, to));
    // The columns of the third export and of these records that have the same ids.
    const back = sure.flatMap((each): [ExportColumn, ExportColumn][] => {
      if (each.to === own && each.from.table === via.table && isNamed(each, guess)) return [[each.from, own]];
      return each.to === viaId && each.from.table === table && isNamed(each, via) ? [[each.to, each.from]] : [];
    });
    for (const { from } of on) {
      const columns = back.find((pair) => !pair.includes(from));
      const found = columns ? countFound(columns, `where ${from.sql} is not null`) : 0;
      if (!columns || found === 0) continue;
      const figures = `${numberText(found)} of ${numberText(table.rows)} ${kind} are in ${via.source}`;
      return viaOther(via, columns, prefixed(to, from.name), figures);
    }
  }
  return undefined;
}

/** A reference to small numbers counts only if the column is named after what it refers to. */
function isNamed({ from, to }: Reference, guess: Guess): boolean {
  return !isNumberRange(to) || refersTo(from, guess);
}

const COMPANY = /compan|account|organi[sz]ation|aziend|\bfirm|customer|client|kund/;

/** A person of the same company: both name it in a column with the same header, or by the id of the same third export. */
function throughCompany(
  { kind, table }: Guess,
  targets: readonly Guess[],
  { references }: KnownExports,
): FoundParent | undefined {
  if (kind !== 'deals') return undefined;
  const thirds = (column: ExportColumn): ExportColumn[] =>
    references.flatMap((each) =>
      each.from === column && shareOf(each) >= MIN_OF_THIRD && each.to.unique ? [each.to] : [],
    );
  for (const to of targets) {
    const id = to.roles.get('id')?.column;
    for (const column of id ? table.columns : []) {
      const header = foldHeader(column.name);
      const named = to.table.columns.find(({ name }) => COMPANY.test(header) && foldHeader(name) === header);
      const keys = thirds(column).filter((key) => !isNumberRange(key));
      const match = named ?? to.table.columns.find((each) => thirds(each).some((key) => keys.includes(key)));
      const found = match && match !== id ? countFound([match, column]) : 0;
      if (!match || found === 0 || found < column.filled * MIN_OF_THIRD) continue;
      const figures = `${numberText(found)} of ${numberText(column.filled)} deals are of a company that ${to.source} have, by ${match.name}`;
      return viaOther(to, [match, column], prefixed(to, id!.name), figures);
    }
  }
  return undefined;
}

/** How many records have a value of their column that `match` of the other export has. */
function countFound([match, own]: readonly [ExportColumn, ExportColumn], where = ''): number {
  const others = `select ${match.sql} from ${match.table.sql} ${where}`;
  return countOf(own.table.db, `from ${own.table.sql} where ${own.sql} in (${others})`);
}

function viaOther(
  { source }: Guess,
  [match, own]: readonly [ExportColumn, ExportColumn],
  take: unknown,
  figures: string,
): FoundParent {
  const lookup = { source, match: match.name, with: own.name, take, if_missing: 'skip', if_many: 'first' };
  return { columns: [], taken: [], value: { lookup }, comment: `${figures}; if it has several, the first one is used` };
}
