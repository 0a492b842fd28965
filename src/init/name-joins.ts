/** Names for ids, looked up in exports of users, companies and stages. */
import type { ExportColumn } from './columns.ts';
import type { EntryLine } from './entry-text.ts';
import type { Guess } from './guess.ts';
import { findJoin } from './joins.ts';
import type { ExportKind } from './kinds.ts';
import type { KnownExports } from './parents.ts';
import { lookupOf, referenceText } from './references.ts';
import type { Role } from './roles.ts';
import { foldHeader } from './value-text.ts';

export interface NameJoin {
  /** The column with the ids. */
  readonly column: ExportColumn;
  /** The column of the other export with the names. */
  readonly name: ExportColumn;
  line(key: string): EntryLine;
}

/** The owner of a deal, by e-mail address if the export of users has it. */
export function ownerJoin(guess: Guess, known: KnownExports): NameJoin | undefined {
  const owner = /owner|owned|assigned|responsab|manager|\brep\b|agent|verantwortlich|betreuer|proprietari/;
  const search: NameSearch = { kind: 'users', roles: ['email', 'full_name'] };
  return nameJoin(guess, known, { ...search, header: owner }) ?? nameJoin(guess, known, search);
}

/** `author`: the column that is used unless it has ids. */
export function authorJoin(guess: Guess, known: KnownExports, author: ExportColumn | undefined): NameJoin | undefined {
  const found = nameJoin(guess, known, { kind: 'users', roles: ['full_name', 'email'], optional: true });
  return author === undefined || found?.column === author ? found : undefined;
}

export function stageJoin(guess: Guess, known: KnownExports): NameJoin | undefined {
  return nameJoin(guess, known, { kind: 'stages', roles: ['stage', 'label'] });
}

export function companyJoin(guess: Guess, known: KnownExports): NameJoin | undefined {
  return nameJoin(guess, known, { kind: 'companies', roles: ['company'], optional: true });
}

interface NameSearch {
  readonly kind: ExportKind;
  readonly roles: readonly Role[];
  /** Only columns with such a name. */
  readonly header?: RegExp;
  /** Records without a match have no name. */
  readonly optional?: boolean;
}

function nameJoin(guess: Guess, { guesses, references }: KnownExports, search: NameSearch): NameJoin | undefined {
  const isAble = ({ name }: ExportColumn): boolean => search.header?.test(foldHeader(name)) !== false;
  for (const to of guesses.filter(({ kind }) => kind === search.kind)) {
    const [first, last] = [to.roles.get('first_name')?.column, to.roles.get('last_name')?.column];
    const name = search.roles
      .flatMap((role) => (role === 'full_name' && last) || (to.roles.get(role)?.column ?? []))
      .at(0);
    const { join } = name ? findJoin(guess, to, references, isAble) : {};
    if (!join || !name || join.to === name) continue;
    const figures = referenceText(join, guess.kind, to.source);
    const take = first && name === last ? { list: [first.name, name.name], apply: [{ join: ' ' }] } : name.name;
    const value = lookupOf(join, to.source, take, { optional: search.optional });
    const comment = join.found === join.of ? figures : `check: ${figures}`;
    return { column: join.from, name, line: (key) => ({ key, value, comment }) };
  }
  return undefined;
}
