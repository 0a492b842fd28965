/** The exports that no preset reads: what they are, their entries, and what the others are good for. */
import { countOf, type Table } from './columns.ts';
import { basename } from 'node:path';
import { nameError } from '../mapping/names.ts';
import { numberText } from '../numbers.ts';
import { guessedEntry } from './entries.ts';
import type { EntryText } from './entry-text.ts';
import { rolesText } from './entry-lines.ts';
import { guess, idOf, type Guess } from './guess.ts';
import type { ExportKind } from './kinds.ts';
import type { Reference } from './references.ts';
import { keyOf } from './value-text.ts';

export interface GuessedEntry extends Guess {
  /** If its records become events. */
  readonly entry: EntryText | undefined;
  /** Whether an entry looks up its records. */
  readonly lookedUp: boolean;
  /** What it is, and what it is used for, as text. */
  readonly finding: string;
}

/** What each export is, under the name of its source, each followed by the lists in its records. `taken`: names of sources of a preset. */
export function nameGuesses(
  tables: readonly Table[],
  references: readonly Reference[],
  names: Iterable<string>,
): Guess[] {
  const taken = new Set(names);
  return tables.flatMap((table) => {
    const several = tables.some((other) => other !== table && other.from.path === table.from.path);
    const source = sourceName(several ? table.from.settings.records! : table.from.path, taken);
    taken.add(source);
    return [table, ...table.lists].map((each) => guess(each, references, source));
  });
}

/** `fitted`: the preset's entries, with the records to which these may refer. */
export function guessOthers(
  plain: readonly Guess[],
  fitted: readonly (EntryText & { readonly parents: readonly Guess[] })[],
  references: readonly Reference[],
): GuessedEntry[] {
  const parents = fitted.flatMap((each) => each.parents);
  const guesses: Guess[] = [];
  for (const each of withPeople([...parents, ...plain], references)) {
    guesses.push({ ...each, prefix: prefixOf(each, guesses) });
  }
  const own = guesses
    .slice(parents.length)
    .map((each) => ({ ...each, entry: guessedEntry(each, { guesses, references }) }));
  return own.map((each) => {
    const others = own.flatMap(({ entry }) => (entry === each.entry ? [] : (entry ?? [])));
    const lookedUp = [...fitted, ...others].some(({ reads }) => reads.has(each.source));
    return { ...each, lookedUp, finding: findingText(each, each.entry !== undefined, lookedUp) };
  });
}

/** Of the name of a source. */
const MOST_CHARACTERS = 40;

function sourceName(path: string, taken: ReadonlySet<string>): string {
  const plain = [...keyOf(basename(path).replace(/(?:\.\w+)+$/, ''))].slice(0, MOST_CHARACTERS).join('');
  let source = plain;
  for (let number = 2; taken.has(source) || nameError(source) !== undefined; number += 1) source = `${plain}_${number}`;
  return source;
}

/** Without an export of people, the companies become the leads. */
function withPeople(guesses: readonly Guess[], references: readonly Reference[]): readonly Guess[] {
  if (guesses.some(({ kind }) => kind === 'leads') || !guesses.some(({ kind }) => kind === 'deals')) return guesses;
  return guesses.map((each): Guess => {
    const name = each.roles.get('company');
    if (each.kind !== 'companies' || !name) return each;
    const id = each.roles.get('id') ?? idOf(each.table, 'companies', references);
    const { roles, ...rest } = guess(each.table, references, each.source, { kind: 'leads' });
    return {
      ...rest,
      roles: new Map([...roles, ['full_name', name], ['id', id ?? { ...name, unnamed: true }]]),
      note: 'check: no export has people, so the companies become the leads',
    };
  });
}

/** What tells whether two records with the same id are the same. */
const IDENTITIES = [
  ['email', 'e-mail address'],
  ['full_name', 'name'],
  ['title', 'title'],
  ['content', 'text'],
  ['subject', 'subject'],
] as const;

/** For ids that are also those of other records of an earlier export of the same kind: both number their records. */
function prefixOf(each: Guess, earlier: readonly Guess[]): Guess['prefix'] {
  const { table, kind, roles } = each;
  const id = roles.get('id')?.column;
  if (!id || (kind !== 'leads' && kind !== 'deals' && kind !== 'comments')) return undefined;
  for (const other of earlier.filter((guess) => guess.kind === kind)) {
    const otherId = other.roles.get('id')?.column;
    if (!otherId) continue;
    const pairs = `from ${table.sql} a join ${other.table.sql} b on a.${id.sql} = b.${otherId.sql}`;
    const shared = countOf(table.db, pairs);
    const [role, by] = IDENTITIES.find(([name]) => roles.has(name) && other.roles.has(name)) ?? [];
    const [mine, theirs] = role ? [roles.get(role)!.column, other.roles.get(role)!.column] : [];
    const isOther =
      mine && theirs
        ? mine.table.list === table.list &&
          theirs.table.list === other.table.list &&
          countOf(table.db, `${pairs} where lower(a.${mine.sql}) = lower(b.${theirs.sql})`) === 0
        : kind === 'comments';
    if (shared === 0 || !isOther) continue;
    const where = other.source === each.source ? (other.table.list ?? other.source) : other.source;
    const same = by === undefined ? '' : `, without one common ${by}`;
    const why = `${numberText(shared)} ids are also in ${where}${same}: two number ranges, so these have a prefix`;
    return { text: `${table.list === undefined ? each.source : keyOf(table.list)}-`, why };
  }
  return undefined;
}

function findingText(
  { kind, roles, note, table: { from, list } }: Guess,
  hasEntry: boolean,
  lookedUp: boolean,
): string {
  const what = `${from.path}${list === undefined ? '' : `, the list \`${list}\``}`;
  if (kind === 'unknown' && !lookedUp) return `${what}: not used, because ${note}`;
  const known = `${what}: recognised as ${kind === 'unknown' ? 'other records' : kind}${roles.size > 0 ? `: ${rolesText(roles)}` : ''}`;
  if (hasEntry) return known;
  return `${known}; ${lookedUp ? LOOKED_UP[kind] : NOT_USED[kind]}`;
}

const LOOKED_UP: Readonly<Partial<Record<ExportKind, string>>> = {
  users: 'owners and authors are looked up in it',
  companies: 'names of companies are looked up in it, for custom fields',
  stages: 'names of stages are looked up in it',
  links: 'leads and deals are looked up in it',
  unknown: 'leads and deals are looked up in it',
};

const NOT_USED: Readonly<Record<ExportKind, string>> = {
  leads: 'not used',
  deals: 'not used',
  comments: 'not used, because it has no column with a text, or none that refers to a lead or deal',
  users: 'not used, because no column has ids of it; it helps to fill in the owners in `references.csv`',
  companies: 'not used, because leads and deals have no ids of it',
  stages: 'not used, because deals have no ids of it; it helps to fill in the stages in `references.csv`',
  links: 'not used, because no entry needs it to find its lead or deal',
  history: 'not used, because the service has only the present values',
  unknown: 'not used',
};
