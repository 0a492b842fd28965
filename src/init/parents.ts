/** The lines of an entry that refer to the lead or deal that a record belongs to. */
import { numberText } from '../numbers.ts';
import type { EntryLine } from './entry-text.ts';
import type { NamedGuess } from './guess.ts';
import type { ExportColumn } from './head.ts';
import { findJoin, overlapText, shareOf, type Overlap } from './joins.ts';
import { foldHeader } from './value-text.ts';

export interface Parent {
  readonly kind: 'leads' | 'deals';
  readonly found: FoundParent | undefined;
  /** Overlaps that are not enough for a join, as text, and the value of the best one. */
  readonly candidates: readonly { readonly value: unknown; readonly figures: string }[];
}

interface FoundParent {
  /** The columns of the record that it uses. */
  readonly columns: readonly ExportColumn[];
  readonly value: unknown;
  readonly comment: string;
}

interface Join {
  readonly to: NamedGuess;
  readonly join: Overlap;
}

/** By id before e-mail address before name; otherwise through an export of links, otherwise through the company. */
export function parentOf(guess: NamedGuess, kind: Parent['kind'], all: readonly NamedGuess[]): Parent {
  const targets = all.filter((other) => other.kind === kind && other.source !== guess.source);
  const searches = targets.map((to) => ({ to, ...findJoin(guess, to) }));
  const joins = searches.flatMap(({ to, join }) => (join ? [{ to, join }] : []));
  return {
    kind,
    found: direct(guess, joins) ?? throughLinks(guess, targets, all) ?? throughCompany(guess, targets),
    candidates: searches.flatMap(({ to, candidates }) =>
      candidates.map((overlap) => ({
        value: joinValue(guess, { to, join: overlap }).value,
        figures: `\`${overlap.column.name}\`: ${overlapText(overlap, 'values', to.source)}`,
      })),
    ),
  };
}

/** The line of a parent's id; commented out, with the candidates and their figures, if there is no join. */
export function parentLine(key: string, { kind, found, candidates }: Parent): EntryLine[] {
  if (found) return [{ key, value: found.value, comment: found.comment }];
  const [first] = candidates;
  if (!first && kind === 'deals') return [];
  const why = `set this: no column contains the id of its ${kind.slice(0, -1)}`;
  const figures = candidates.map((each) => each.figures).join('; ');
  return [
    {
      key: `# ${key}`,
      value: first ? first.value : 'Contact ID',
      comment: first ? `${why} in almost all records; ${figures}` : why,
    },
  ];
}

/** The best join; where its column is empty, that of another export (`Contact ID`, otherwise `Lead ID`). */
function direct(guess: NamedGuess, joins: readonly Join[]): FoundParent | undefined {
  const byId = joins.filter(({ to, join }) => join.match === to.roles.get('id'));
  // Two exports may number their records alike: then the name of the column decides.
  const isNamed = ({ join }: Join): number => Number(foldHeader(join.column.name) === foldHeader(join.match.name));
  const [best, ...others] = (byId.length > 0 ? [...byId] : [...joins]).sort(
    (a, b) => shareOf(b.join) - shareOf(a.join) || isNamed(b) - isNamed(a),
  );
  if (!best) return undefined;
  const used = [best];
  for (const each of others) {
    const whole = used.some(({ join }) => join.column.facts.filled === guess.export.rows);
    if (!whole && used.every(({ join }) => join.column !== each.join.column)) used.push(each);
  }
  const values = used.map((each) => joinValue(guess, each));
  return {
    columns: used.map(({ join }) => join.column),
    value: values.length > 1 ? { from: values.map(({ value }) => value) } : values[0]!.value,
    comment: values.map(({ comment }) => comment).join('; '),
  };
}

function joinValue(guess: NamedGuess, { to, join }: Join): { value: unknown; comment: string } {
  const id = to.roles.get('id');
  const prefix = to.prefix && { prefix: to.prefix.text };
  const figures = overlapText(join, join.separator === undefined ? guess.kind : 'values', to.source);
  const comment =
    `${join.found === join.of ? '' : 'check: '}${figures}` +
    (join.separator === undefined ? '' : '; a cell has several values: the first one is used');
  if (!id || join.match === id) {
    const apply = [...oneOfSeveral(join), ...(prefix ? [prefix] : [])];
    return { value: apply.length > 0 ? { from: join.column.name, apply } : join.column.name, comment };
  }
  return {
    value: lookupValue(to, join, takenId(to, id)),
    comment: `${comment}; looked up by ${join.match.name}, because no column contains the id`,
  };
}

function takenId({ prefix }: NamedGuess, id: ExportColumn): unknown {
  return prefix ? { from: id.name, apply: [{ prefix: prefix.text }] } : id.name;
}

/** The transforms that take the first value of a cell. */
function oneOfSeveral({ separator }: Overlap): unknown[] {
  return separator === undefined ? [] : [{ split: separator }, { at: 0 }];
}

/** A lookup of the record that a column refers to. `optional`: without a match, there is no value. */
export function lookupValue(
  { source }: NamedGuess,
  join: Overlap,
  take: unknown,
  options: { readonly optional?: boolean | undefined } = {},
): unknown {
  const fold = join.lowercase ? ['lowercase'] : [];
  const value = (name: string, apply: readonly unknown[]): unknown => (apply.length > 0 ? { from: name, apply } : name);
  return {
    lookup: {
      source,
      match: value(join.match.name, fold),
      with: value(join.column.name, [...oneOfSeveral(join), ...fold]),
      take,
      ...(options.optional === true ? { if_missing: 'skip' } : {}),
    },
  };
}

/** By an export of pairs of ids: the contacts of deals, the deals of notes. */
function throughLinks(
  guess: NamedGuess,
  targets: readonly NamedGuess[],
  all: readonly NamedGuess[],
): FoundParent | undefined {
  const own = guess.roles.get('id');
  for (const via of all.filter(({ kind }) => kind === 'links')) {
    for (const to of targets) {
      const id = to.roles.get('id');
      const back = findJoin(via, guess).join;
      const on = findJoin(via, to).join;
      if (!own || !id || back?.match !== own || on?.match !== id || back.column === on.column) continue;
      const found = [...own.occurrences.keys()].filter((value) => back.column.occurrences.has(value)).length;
      const figures = `${numberText(found)} of ${numberText(own.occurrences.size)} ${guess.kind} are in ${via.source}`;
      return { columns: [], ...viaValue(via, [back.column, own], takenId(to, on.column), figures) };
    }
  }
  return undefined;
}

const COMPANY = /compan|account|organi[sz]ation|aziend|\bfirm|customer|client|kund/;
/** Fewer records with a company that has people are no join. */
const MIN_OF_COMPANIES = 0.5;

/** A person of the same company. */
function throughCompany(guess: NamedGuess, targets: readonly NamedGuess[]): FoundParent | undefined {
  if (guess.kind !== 'deals') return undefined;
  for (const to of targets) {
    for (const column of guess.export.columns) {
      const header = foldHeader(column.name);
      const match = to.export.columns.find(({ name }) => COMPANY.test(header) && foldHeader(name) === header);
      const id = to.roles.get('id');
      if (!match || !id || match === id) continue;
      const [found, of] = [...column.occurrences].reduce(
        ([some, every], [value, count]) => [some + (match.occurrences.has(value) ? count : 0), every + count],
        [0, 0],
      );
      if (found === 0 || found < of * MIN_OF_COMPANIES) continue;
      const figures = `${numberText(found)} of ${numberText(of)} deals are of a company that ${to.source} have, by ${match.name}`;
      return { columns: [], ...viaValue(to, [match, column], takenId(to, id), figures) };
    }
  }
  return undefined;
}

function viaValue(
  { source }: NamedGuess,
  [match, own]: readonly [ExportColumn, ExportColumn],
  take: unknown,
  figures: string,
): { value: unknown; comment: string } {
  const lookup = { source, match: match.name, with: own.name, take, if_missing: 'skip', if_many: 'first' };
  return { value: { lookup }, comment: `check: ${figures}; if it has several, the first one is used` };
}
