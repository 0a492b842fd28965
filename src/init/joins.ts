/** Which column of a record refers to the records of another export, for its id or for a name. */
import type { ExportColumn } from './columns.ts';
import type { EntryLine } from './entry-text.ts';
import type { Guess } from './guess.ts';
import type { ExportKind } from './kinds.ts';
import { lookupOf, referenceText, shareOf, type Reference } from './references.ts';
import type { Role } from './roles.ts';
import { foldHeader } from './value-text.ts';

/** Values found for a join: almost all. If only the beginning of the other export was read, a third. */
const MIN_SHARE = 0.9;
const MIN_SHARE_OF_PART = 1 / 3;
/** The same for a column with the name of the other export's id, unless that is just `id`. */
const MIN_SHARE_OF_NAMED = 0.5;

const KEYS = ['id', 'email', 'full_name', 'title'] as const satisfies readonly Role[];

/** What is known of all exports. */
export interface KnownExports {
  readonly guesses: readonly Guess[];
  readonly references: readonly Reference[];
}

export interface JoinSearch {
  /** By id if possible, otherwise by e-mail address, otherwise by name. */
  readonly join: Reference | undefined;
  /** The best overlaps that are not enough for a join, or are possible by chance. */
  readonly candidates: readonly Reference[];
}

/** Searches all columns of `from`, and of the lists in its records, for the ids, e-mail addresses and names of `to`. */
export function findJoin(
  from: Guess,
  to: Guess,
  references: readonly Reference[],
  isAble = (_column: ExportColumn) => true,
): JoinSearch {
  const own = from.roles.get('id')?.column;
  const ofPair = references.filter(
    (each) => each.to.table === to.table && isWithin(each.from, from) && each.from !== own && isAble(each.from),
  );
  const candidates: Reference[] = [];
  for (const role of KEYS) {
    const key = to.roles.get(role)?.column;
    if (!key || (role === 'title' && !key.unique)) continue;
    const found = ofPair.filter((each) => each.to === key).sort((a, b) => shareOf(b) - shareOf(a));
    const named = found.filter((each) => role !== 'id' || !isNumberRange(key) || refersTo(each.from, to));
    const asId = named.find((each) => isNamedAs(each) && shareOf(each) >= MIN_SHARE_OF_NAMED);
    const best = asId ?? named[0];
    const enough = to.table.whole ? MIN_SHARE : MIN_SHARE_OF_PART;
    if (asId || (best && shareOf(best) >= enough)) return { join: best, candidates: [] };
    candidates.push(...found);
  }
  return { join: undefined, candidates: candidates.sort((a, b) => shareOf(b) - shareOf(a)).slice(0, 3) };
}

function isWithin({ table }: ExportColumn, { table: own }: Guess): boolean {
  return table === own || table.parent === own;
}

function isNamedAs({ from, to }: Reference): boolean {
  const header = foldHeader(from.name);
  return header === foldHeader(to.name) && !/^(?:id|guid|uuid|key|nr|no|code|name)$/.test(header);
}

/** Short whole numbers: any other column of small numbers is among them by chance. */
export function isNumberRange({ values }: ExportColumn): boolean {
  return values.every((value) => /^\d{1,7}$/.test(value));
}

/** Whether a column, or the list that it is in, is named after the kind of records or their id: `Contact ID`, `person_id`. */
export function refersTo({ name, table: { list } }: ExportColumn, to: Guess): boolean {
  const header = foldHeader(`${list ?? ''} ${name}`);
  const id = to.roles.get('id')?.column;
  return foldHeader(name) === foldHeader(id?.name ?? '') || KIND_NAMES[to.kind]?.test(header) === true;
}

const KIND_NAMES: Readonly<Record<string, RegExp>> = {
  leads: /contact|lead|person|people|party|client|customer|kund|kontakt|contatt|anagrafic|prospect|^who id/,
  companies: /compan|account|organi[sz]ation|\borg\b|aziend|firm|unternehmen|entreprise|empresa/,
  stages: /stage|phase|status|fase|stato/,
  deals: /deal|opportun|trattativ|potential|affar|geschaft|vorgang|verkauf|^what id/,
  users:
    /owner|user|agent|assigned|author|creat|utent|benutzer|betreuer|bearbeiter|verantwortlich|responsab|proprietari|manager|\brep\b/,
};

export interface NameJoin {
  /** The column with the ids. */
  readonly column: ExportColumn;
  /** The column of the other export with the names. */
  readonly name: ExportColumn;
  line(key: string): EntryLine;
}

/** The roles of the columns with the names, best first. `optional`: records without a match have no name. */
const NAMES = {
  owner: { kind: 'users', roles: ['email', 'full_name'], optional: false },
  author: { kind: 'users', roles: ['full_name', 'email'], optional: true },
  stage: { kind: 'stages', roles: ['stage', 'label'], optional: false },
  company: { kind: 'companies', roles: ['company'], optional: true },
} as const satisfies Record<string, { kind: ExportKind; roles: readonly Role[]; optional: boolean }>;

const OWNER = /owner|owned|assigned|responsab|manager|\brep\b|agent|verantwortlich|betreuer|proprietari/;
const ANY = /(?:)/;

/** Names for ids, looked up in exports of users, companies and stages. Owners are rather looked up by a column with such a name. */
export function nameJoin(
  guess: Guess,
  { guesses, references }: KnownExports,
  of: keyof typeof NAMES,
): NameJoin | undefined {
  const { kind, roles, optional } = NAMES[of];
  for (const header of of === 'owner' ? [OWNER, ANY] : [ANY]) {
    for (const to of guesses.filter((each) => each.kind === kind)) {
      const columnOf = (role: Role): ExportColumn | undefined => to.roles.get(role)?.column;
      const [first, last] = [columnOf('first_name'), columnOf('last_name')];
      const [name] = roles.flatMap((role) => (role === 'full_name' && last) || (columnOf(role) ?? []));
      const join = name && findJoin(guess, to, references, (column) => header.test(foldHeader(column.name))).join;
      if (!join || join.to === name) continue;
      const figures = referenceText(join, guess.kind, to.source);
      const take = first && name === last ? { list: [first.name, name.name], apply: [{ join: ' ' }] } : name.name;
      const value = lookupOf(join, to.source, take, optional);
      const comment = join.found === join.of ? figures : `check: ${figures}`;
      return { column: join.from, name, line: (key) => ({ key, value, comment }) };
    }
  }
  return undefined;
}
