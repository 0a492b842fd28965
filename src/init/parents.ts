/** The lines of an entry that refer to the lead or deal that a record belongs to. */
import { numberText } from '../numbers.ts';
import { countOf, pathOf, type ExportColumn } from './columns.ts';
import type { EntryLine } from './entry-text.ts';
import type { Guess } from './guess.ts';
import { findJoin, isNumberRange, refersTo } from './joins.ts';
import { firstOf, lookupOf, referenceText, shareOf, type Reference } from './references.ts';
import { foldHeader } from './value-text.ts';

/** What is known of all exports. */
export interface KnownExports {
  readonly guesses: readonly Guess[];
  readonly references: readonly Reference[];
}

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
  const parents = (['deals', 'leads'] as const).map((kind) => parentOf(guess, kind, known));
  const ids = known.references.filter((each) => {
    const to = known.guesses.find(({ table }) => table === each.to.table);
    return each.from.table === guess.table && each.separator === undefined && each.to === to?.roles.get('id')?.column;
  });
  const shareOfAll = (column: ExportColumn): number =>
    ids.reduce((sum, each) => sum + (each.from === column && isParent(each, known) ? shareOf(each) : 0), 0);
  return parents.map((parent) => {
    if (parent.found) return parent;
    const found = ids.filter((each) => {
      const to = known.guesses.find(({ table, kind }) => table === each.to.table && kind === parent.kind);
      if (!to || (to.kind !== 'deals' && to.kind !== 'leads')) return false;
      const isAny =
        ANY_RECORD.test(foldHeader(each.from.name)) && shareOfAll(each.from) > 0.9 && shareOfAll(each.from) < 1.1;
      return !isNumberRange(each.to) || isAny;
    });
    const [best] = found.sort((a, b) => shareOf(b) - shareOf(a));
    if (!best) return parent;
    const used = found.filter(({ from }) => from === best.from);
    const values = used.map((each) => {
      const to = known.guesses.find(({ table }) => table === each.to.table)!;
      return { value: lookupOf(each, to.source, takenId(to, each.to), { optional: true }), to };
    });
    return {
      ...parent,
      found: {
        columns: [best.from],
        taken: [best.from],
        value: values.length > 1 ? { from: values.map(({ value }) => value) } : values[0]!.value,
        isOptional: true,
        comment: `${used.map((each, index) => referenceText(each, 'values', values[index]!.to.source)).join('; ')}; the others have none`,
      },
    };
  });
}

function isParent({ to }: Reference, { guesses }: KnownExports): boolean {
  return guesses.some(({ table, kind }) => table === to.table && (kind === 'deals' || kind === 'leads'));
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
  const [best, ...others] = (byId.length > 0 ? [...byId] : [...joins]).sort(
    (a, b) => shareOf(b.join) - shareOf(a.join) || isNamed(b) - isNamed(a),
  );
  if (!best) return undefined;
  const used = [best];
  for (const each of others) {
    const isWhole = used.some(({ join }) => join.from.whole);
    if (!isWhole && used.every(({ join }) => join.from !== each.join.from)) used.push(each);
  }
  const values = used.map((each) => joinValue(guess, each));
  return {
    columns: used.map(({ join }) => join.from),
    taken: used.flatMap(({ join }) => (firstOf(join).length === 0 ? [join.from] : [])),
    value: values.length > 1 ? { from: values.map(({ value }) => value) } : values[0]!.value,
    isSure: values.every(({ isSure }) => isSure),
    comment: [...new Set(values.map(({ comment }) => comment))].join('; '),
  };
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
    value: lookupOf(join, to.source, takenId(to, id)),
    isSure: isSure && join.to.email,
    comment: `${comment}; looked up by ${join.to.name}, because no column contains the id`,
  };
}

function takenId({ prefix }: Guess, id: ExportColumn): unknown {
  return prefix ? { from: id.name, apply: [{ prefix: prefix.text }] } : id.name;
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
  const own = guess.roles.get('id')?.column;
  const sure = (each: Reference): boolean =>
    shareOf(each) >= MIN_OF_THIRD && each.separator === undefined && !each.lowercase;
  for (const to of targets) {
    const id = to.roles.get('id')?.column;
    for (const via of id ? guesses : []) {
      if (!THIRDS.includes(via.kind) || via.table === guess.table) continue;
      const on = references.filter(
        (each) => each.to === id && each.from.table === via.table && sure(each) && isNamed(each, to),
      );
      const back = references.filter(
        (each) =>
          sure(each) &&
          ((each.to === own && each.from.table === via.table && isNamed(each, guess)) ||
            (each.from.table === guess.table &&
              each.to.table === via.table &&
              each.to === via.roles.get('id')?.column &&
              isNamed(each, via))),
      );
      for (const second of on) {
        const first = back.find((each) => each.from !== second.from && each.to !== second.from);
        if (!first) continue;
        const [match, column] = first.to === own ? [first.from, own] : [first.to, first.from];
        const found = countOf(
          guess.table.db,
          `from ${guess.table.sql} where ${column.sql} in (select ${match.sql} from ${via.table.sql} where ${second.from.sql} is not null)`,
        );
        if (found === 0) continue;
        const figures = `${numberText(found)} of ${numberText(guess.table.rows)} ${guess.kind} are in ${via.source}`;
        return { columns: [], taken: [], ...viaValue(via, [match, column], takenId(to, second.from), figures) };
      }
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
  guess: Guess,
  targets: readonly Guess[],
  { references }: KnownExports,
): FoundParent | undefined {
  if (guess.kind !== 'deals') return undefined;
  const thirds = (column: ExportColumn): ExportColumn[] =>
    references.flatMap((each) =>
      each.from === column && shareOf(each) >= MIN_OF_THIRD && each.to.unique ? [each.to] : [],
    );
  for (const to of targets) {
    const id = to.roles.get('id')?.column;
    for (const column of id ? guess.table.columns : []) {
      const header = foldHeader(column.name);
      const named = to.table.columns.find(({ name }) => COMPANY.test(header) && foldHeader(name) === header);
      const keys = thirds(column).filter((key) => !isNumberRange(key));
      const match = named ?? to.table.columns.find((each) => thirds(each).some((key) => keys.includes(key)));
      if (!match || match === id) continue;
      const found = countOf(
        guess.table.db,
        `from ${guess.table.sql} where ${column.sql} in (select ${match.sql} from ${to.table.sql})`,
      );
      if (found === 0 || found < column.filled * MIN_OF_THIRD) continue;
      const figures = `${numberText(found)} of ${numberText(column.filled)} deals are of a company that ${to.source} have, by ${match.name}`;
      return { columns: [], taken: [], ...viaValue(to, [match, column], takenId(to, id!), figures) };
    }
  }
  return undefined;
}

function viaValue(
  { source }: Guess,
  [match, own]: readonly [ExportColumn, ExportColumn],
  take: unknown,
  figures: string,
): { value: unknown; comment: string } {
  const lookup = { source, match: match.name, with: own.name, take, if_missing: 'skip', if_many: 'first' };
  return { value: { lookup }, comment: `${figures}; if it has several, the first one is used` };
}
