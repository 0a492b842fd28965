/** Names for ids, looked up in exports of users, companies and stages. */
import type { EntryLine } from './entry-text.ts';
import type { NamedGuess } from './guess.ts';
import type { ExportColumn } from './head.ts';
import { findJoin, overlapText } from './joins.ts';
import type { ExportKind } from './nouns.ts';
import { lookupValue } from './parents.ts';
import type { ColumnRole } from './roles.ts';
import { foldHeader } from './value-text.ts';

export interface NameJoin {
  /** The column with the ids. */
  readonly column: ExportColumn;
  /** The column of the other export with the names. */
  readonly name: ExportColumn;
  line(key: string): EntryLine;
}

/** The owner of a deal, by e-mail address if the export of users has it. */
export function ownerJoin(guess: NamedGuess, all: readonly NamedGuess[]): NameJoin | undefined {
  const owner = /owner|owned|assigned|responsab|manager|\brep\b|agent|verantwortlich|betreuer|proprietari/;
  return (
    nameJoin(guess, all, { kind: 'users', roles: ['email', 'full_name'], header: owner }) ??
    nameJoin(guess, all, { kind: 'users', roles: ['email', 'full_name'] })
  );
}

/** `author`: the column that is used unless it has ids. */
export function authorJoin(
  guess: NamedGuess,
  all: readonly NamedGuess[],
  author: ExportColumn | undefined,
): NameJoin | undefined {
  const found = nameJoin(guess, all, { kind: 'users', roles: ['full_name', 'email'], optional: true });
  return author === undefined || found?.column === author ? found : undefined;
}

export function stageJoin(guess: NamedGuess, all: readonly NamedGuess[]): NameJoin | undefined {
  return nameJoin(guess, all, { kind: 'stages', roles: ['stage', 'label'] });
}

export function companyJoin(guess: NamedGuess, all: readonly NamedGuess[]): NameJoin | undefined {
  return nameJoin(guess, all, { kind: 'companies', roles: ['company'], optional: true });
}

interface NameSearch {
  readonly kind: ExportKind;
  readonly roles: readonly ColumnRole[];
  /** Only columns with such a name. */
  readonly header?: RegExp;
  /** Records without a match have no name. */
  readonly optional?: boolean;
}

function nameJoin(guess: NamedGuess, all: readonly NamedGuess[], search: NameSearch): NameJoin | undefined {
  const { header } = search;
  const columns = guess.export.columns.filter(({ name }) => header?.test(foldHeader(name)) !== false);
  const from = { ...guess, export: { ...guess.export, columns } };
  for (const to of all.filter(({ kind }) => kind === search.kind)) {
    const name = search.roles.flatMap((role) => to.roles.get(role) ?? []).at(0);
    const join = name && findJoin(from, to).join;
    if (!join || join.match === name) continue;
    const figures = overlapText(join, guess.kind, to.source);
    const value = lookupValue(to, join, name.name, { optional: search.optional });
    const comment = join.found === join.of ? figures : `check: ${figures}`;
    return { column: join.column, name, line: (key) => ({ key, value, comment }) };
  }
  return undefined;
}
