/** The lines of an entry that refer to records of other exports: parents and owners. */
import type { NamedGuess } from './entries.ts';
import type { EntryLine } from './entry-text.ts';
import type { ExportColumn } from './head.ts';
import { findJoin, overlapText, shareOf, type Overlap } from './joins.ts';
import { foldHeader } from './value-text.ts';

export interface Parent {
  readonly found: FoundParent | undefined;
  /** Overlaps that are not enough for a join. */
  readonly candidates: readonly { readonly to: NamedGuess; readonly overlap: Overlap }[];
}

interface FoundParent {
  readonly to: NamedGuess;
  readonly join: Overlap;
}

/** The best join to one of several exports, by id before e-mail address before name. */
export function parentOf(guess: NamedGuess, to: readonly NamedGuess[]): Parent {
  const searches = to.map((other) => ({ to: other, ...findJoin(guess, other) }));
  const found = searches.flatMap(({ to: other, join }) => (join ? [{ to: other, join }] : []));
  const byId = found.filter(({ to: other, join }) => join.match === other.roles.get('id'));
  // Two exports may number their records alike: then the name of the column decides.
  const isNamed = ({ join }: FoundParent): number =>
    Number(foldHeader(join.column.name) === foldHeader(join.match.name));
  const best = (byId.length > 0 ? byId : found).sort(
    (a, b) => shareOf(b.join) - shareOf(a.join) || isNamed(b) - isNamed(a),
  )[0];
  return {
    found: best,
    candidates: searches.flatMap(({ to: other, candidates }) => candidates.map((overlap) => ({ to: other, overlap }))),
  };
}

/** The line of a parent's id; commented out, with the candidates and their figures, if there is no join. */
export function parentLine(key: string, { found, candidates }: Parent, records: string): EntryLine[] {
  if (found) return [{ key, ...joinValue(found, records) }];
  const noun = key === 'deal_external_id' ? 'deal' : 'lead';
  const [first] = candidates;
  if (!first && noun === 'deal') return [];
  const figures = candidates.map(
    ({ to, overlap }) => `\`${overlap.column.name}\`: ${overlapText(overlap, 'values', to.source)}`,
  );
  const why = `set this: no column contains the id of its ${noun}`;
  return [
    {
      key: `# ${key}`,
      value: first ? joinValue({ to: first.to, join: first.overlap }, records).value : 'Contact ID',
      comment: figures.length > 0 ? `${why} in almost all records; ${figures.join('; ')}` : why,
    },
  ];
}

function joinValue({ to, join }: FoundParent, records: string): { value: unknown; comment: string } {
  const id = to.roles.get('id');
  const prefix = to.prefix && { prefix: to.prefix.text };
  const several = join.separator === undefined ? [] : [{ split: join.separator }, { at: 0 }];
  const figures = overlapText(join, join.separator === undefined ? records : 'values', to.source);
  const comment =
    `${join.found === join.of ? '' : 'check: '}${figures}` +
    (join.separator === undefined ? '' : '; a cell has several values: the first one is used');
  if (!id || join.match === id) {
    const apply = [...several, ...(prefix ? [prefix] : [])];
    return { value: apply.length > 0 ? { from: join.column.name, apply } : join.column.name, comment };
  }
  const take = prefix ? { from: id.name, apply: [prefix] } : id.name;
  return {
    value: lookup(to, join, take, several),
    comment: `${comment}; looked up by ${join.match.name}, because no column contains the id`,
  };
}

function lookup({ source }: NamedGuess, join: Overlap, take: unknown, several: readonly unknown[] = []): unknown {
  const fold = join.lowercase ? ['lowercase'] : [];
  const value = (name: string, apply: readonly unknown[]): unknown => (apply.length > 0 ? { from: name, apply } : name);
  return {
    lookup: {
      source,
      match: value(join.match.name, fold),
      with: value(join.column.name, [...several, ...fold]),
      take,
    },
  };
}

/** The owner's e-mail address, looked up in an export of users. */
export function ownerJoin(
  guess: NamedGuess,
  all: readonly NamedGuess[],
): { readonly column: ExportColumn; readonly email: ExportColumn; readonly line: EntryLine } | undefined {
  const users = all.find(({ kind }) => kind === 'users');
  const email = users?.roles.get('email');
  const join = users && findJoin(guess, users).join;
  if (!users || !email || !join) return undefined;
  const figures = overlapText(join, 'deals', users.source);
  const comment = join.found === join.of ? figures : `check: ${figures}`;
  return { column: join.column, email, line: { key: 'owner_name', value: lookup(users, join, email.name), comment } };
}
