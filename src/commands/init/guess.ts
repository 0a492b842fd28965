/** The entries that the tables need, with the external ids of their records. */
import { numberText, ofText } from '../../report/words/numbers.ts';
import {
  countOf,
  fillOf,
  isComplete,
  isKey,
  isUnique,
  plainColumns,
  valueIn,
  type Column,
  type Table,
} from './columns.ts';
import { assign, columnsOf, namesOther, type Assignment, type RoleFound } from './matrix/assign.ts';
import { type RoleCandidate } from './matrix/settle.ts';
import { keyOf as nameAsKey } from './evidence.ts';
import { kindsOf } from './kinds/kinds.ts';
import type { TableKinds } from './kinds/signs.ts';
import { createdAt, isDescription, isId, isJobs, isNotes, texts } from './matrix/content.ts';
import { again, idOfPerson, keyOf, personKey, type Key } from './kinds/keys.ts';
import { isSure, type Reference } from './relations/references.ts';
import {
  headerScore,
  isKind,
  isOfFirm,
  isRemarks,
  isStaff,
  NAMES,
  RECORD_KINDS,
  type RecordKind,
  type Role,
} from './matrix/roles.ts';

/** Records that become events of a kind. */
export interface EntryDraft extends Assignment {
  readonly table: Table;
  /** The external id of its records. */
  readonly key: Key | undefined;
  /** Added to its ids, which are also those of other records of the kind or, of a deal, those of its person. */
  readonly prefix: { readonly text: string; readonly why: string } | undefined;
  /** Rows that are a person and a deal: there is a draft of both kinds. */
  readonly twin: boolean;
  /** A column with notes about records of another kind, which are their parents. */
  readonly notes?: Notes;
  /** Other rows of the table are records of another kind: these have a value here. */
  readonly only?: Column | undefined;
  /** Why this was not certain, if so. */
  readonly doubt: string | undefined;
}

export interface Notes {
  readonly of: RecordKind;
  readonly column: Column;
  /** Why they stay a custom field, unless the user wants comments. */
  readonly instead?: string | undefined;
  /** The user has decided so. */
  readonly isSettled?: boolean;
}

/** The entries that the tables need, parents first. */
export function guessDrafts(
  tables: readonly Table[],
  references: readonly Reference[],
  answered: ReadonlyMap<Table, ReadonlySet<RecordKind>> = new Map(),
): EntryDraft[] {
  const kinds = kindsOf(tables, references, answered);
  nameColumns(kinds);
  const drafts: EntryDraft[] = [];
  for (const kind of RECORD_KINDS) {
    for (const table of tables) {
      const own = kinds.get(table)!;
      const found = own.get(kind);
      if (!found) continue;
      table.nouns = [...new Set([kind, ...table.nouns.filter((noun) => own.has(noun as RecordKind))])];
      const only = own.size > 1 ? apart(own, kind, table) : undefined;
      const deal = own.has('lead') && !only ? own.get('deal')?.assignment : undefined;
      const block = deal && kind === 'deal' ? blockOf(found.assignment) : [];
      const assigned = withOnly(block.length > 0 ? assign(table, kind, references, block) : found.assignment);
      const assignment =
        kind === 'deal'
          ? withTitle(assigned, table, deal && own.get('lead')!.assignment.roles, references)
          : withText(assigned, table, references);
      const row = { ...assignment, table, twin: deal !== undefined, only: only ?? block[0], doubt: found.doubt };
      const person = drafts.find((each) => each.table === table && each.kind === 'lead');
      const key =
        deal && kind === 'lead'
          ? personKey(row, deal.roles.get('id')?.column, references)
          : (deal && person && idOfPerson(row, person)) || keyOf(row, references);
      // The id of a group is that of no record in it.
      const roles = key?.column?.pair ? new Map([...row.roles].filter(([role]) => role !== 'id')) : row.roles;
      drafts.push(apartFrom(drafts, { ...row, roles, key: again(key, row), prefix: undefined }));
    }
  }
  return [...drafts, ...tables.flatMap((table) => notesIn(table, drafts))];
}

/** Columns of notes, for the timeline of their record: of rows that are a person and a deal, that of the deal. */
function notesIn(table: Table, drafts: readonly EntryDraft[]): EntryDraft[] {
  const own = drafts.filter((draft) => draft.table === table);
  // Where only some of the people have a deal, it is about them.
  const { kind, only, key, roles } = own.find((draft) => draft.kind === 'deal' && !draft.only) ?? own[0] ?? {};
  if (kind === undefined || only || own.some((draft) => draft.kind === 'comment')) return [];
  const used = own.flatMap(({ roles }) => [...roles.values()].map(({ column }) => column));
  // Of people in several rows, the number of the row.
  const id = key?.column ?? roles?.get('id')?.column;
  // Steps of a task are no notes about it.
  const hasComments = drafts.some((draft) => draft.kind === 'comment' && draft.table.only?.as !== 'parts');
  // `Note 1`, `Note 2`: one field again and again, of which all is what the fullest is.
  const stem = ({ name }: Column): string => name.replace(/\d+/, '#');
  const alike = (column: Column): Column[] => table.columns.filter((each) => stem(each) === stem(column));
  return table.columns
    .filter(
      (column) => column.filled > 0 && alike(column).some((each) => isNotes(each, kind)) && !used.includes(column),
    )
    .map((column): EntryDraft => {
      const instead = hasComments
        ? 'other records already become comments'
        : Math.max(...alike(column).map(fillOf)) <= 0.5
          ? `only ${ofText(column.filled, table.rows)} records have one`
          : undefined;
      return {
        ...{ kind: 'comment', table, twin: false, doubt: undefined },
        key: id && isKey(id) ? { value: key?.value ?? valueIn(id), column: id } : undefined,
        prefix: { text: `${nameAsKey(column.name)}-`, why: 'they are the ids of the records' },
        roles: new Map([['content', { column, score: 1, others: [] }]]),
        candidates: new Map(),
        notes: { of: kind, column, instead },
      };
    });
}

/** The column that tells the rows of a kind, where rows are a person or a deal and never both. */
function apart(found: TableKinds, kind: RecordKind, table: Table): Column | undefined {
  const roles = found.get('lead')?.assignment.roles;
  const [person] = columnsOf(roles, 'email', 'full', 'last');
  const amount = found.get('deal')?.assignment.roles.get('amount')?.column;
  if (!person || !amount) return undefined;
  const both = countOf(table, `from ${table.sql} where ${person.sql} is not null and ${amount.sql} is not null`);
  return both > 0 ? undefined : kind === 'lead' ? person : amount;
}

/** Of deals that only some people in their rows have: the columns that are filled in the same rows, the title first. */
function blockOf({ roles }: Assignment): Column[] {
  const [title, amount] = columnsOf(roles, 'title', 'amount');
  if (!title || !amount || fillOf(title) > 0.9) return [];
  const { table } = title;
  const block = plainColumns(table).filter(
    (each) =>
      each.filled === title.filled &&
      countOf(table, `from ${table.sql} where (${each.sql} is null) <> (${title.sql} is null)`) === 0,
  );
  return block.length > 2 && block.includes(amount) ? [title, ...block.filter((each) => each !== title)] : [];
}

/** Where one column is left that may have the names of people or authors, or the time of a record, it is proposed. */
function withOnly({ kind, roles, candidates }: Assignment): Assignment {
  // A start is no creation, but where nothing else is earlier it stands for one.
  const isEarliest = (column: Column): boolean =>
    createdAt(column) > 0.4 && [...column.meaning.concepts].every((each) => each === 'happened' || each === 'date');
  const found = (['full', 'author', 'created', 'happened'] as const).flatMap((role): [Role, RoleFound][] => {
    const [only, ...more] = candidates.get(role) ?? [];
    const isTime = role === 'created' || role === 'happened';
    const isOther =
      roles.has(role) ||
      !only ||
      more.length > 0 ||
      (headerScore(role, only.column, kind) < 0 && !(isTime && isEarliest(only.column))) ||
      (!isTime && only.column.is.person < 0.7) ||
      (role === 'full' && (roles.has('first') || roles.has('last')));
    return isOther ? [] : [[role, { ...only, others: [] }]];
  });
  return { kind, roles: new Map([...roles, ...found]), candidates };
}

/** Where no column is sure to have the texts of comments, the best one is proposed. */
function withText({ kind, roles, candidates }: Assignment, table: Table, references: readonly Reference[]): Assignment {
  if (kind !== 'comment' || roles.has('content') || roles.has('subject')) return { kind, roles, candidates };
  const taken = [...roles.values()].map(({ column }) => column);
  const near = candidates.get('content') ?? [];
  const longest = plainColumns(table)
    .filter(
      (column) => texts(column) > 0 && column.length > 12 && !taken.includes(column) && !namesOther(column, references),
    )
    .sort((a, b) => b.length - a.length)
    .map((column) => ({ column, score: 0 }));
  const [best, ...others] = near.length > 0 ? near : longest;
  return { kind, roles: best ? new Map([...roles, ['content', { ...best, others }]]) : roles, candidates };
}

/**
 * Beside a person, a column that is called `Title` alone and has jobs is theirs, as a name of people is, and not the name of a deal.
 * Where no column is sure to have one, the only text that nothing speaks against is proposed; beside a person the best such one, and
 * only then the company.
 */
function withTitle(
  assignment: Assignment,
  table: Table,
  person: Assignment['roles'] | undefined,
  references: readonly Reference[],
): Assignment {
  const found = assignment.roles.get('title');
  const names = columnsOf(person, ...NAMES);
  const isTheirs = (column: Column): boolean => person !== undefined && (names.includes(column) || isJobOrName(column));
  // Where the stage or the owner is open, what may be one is no title.
  const [stage, owner] = (['stage', 'owner'] as const).map((role) => assignment.candidates.get(role)?.[0]?.column);
  if (found && !isTheirs(found.column)) return assignment;
  const roles = new Map([...assignment.roles].filter(([role]) => role !== 'title'));
  // A job that rows have which are no people is what they are about.
  const jobs = plainColumns(table).filter(
    ({ meaning: { concepts }, is }) => !person && concepts.has('job') && !concepts.has('id') && is.words > 0.8,
  );
  const named = [...(found?.others ?? []), ...(assignment.candidates.get('title') ?? [])];
  // A text is no title, whatever else is, and the name of another record names no deal.
  const near = [...named, ...jobs.map((column) => ({ column, score: 0 }))].filter(
    ({ column }) =>
      // The id of another record, which some have.
      (!isId(column) || isComplete(column)) &&
      !([stage, owner].includes(column) && isKind(column)) &&
      column.is.prose < 0.5 &&
      !isRemarks(column) &&
      !isNotes(column, 'deal') &&
      (person || !namesOther(column, references)),
  );
  // `Umzug Aachen` looks like a name: who has the deal is known there.
  const isOfPerson = (each: Reference): boolean =>
    each.from.table === table && isUnique(each.to) && isSure(each, 0.8) && each.to.table.nouns.includes('lead');
  const arePeople = !(person ? roles.has('owner') : references.some(isOfPerson));
  const able = near
    .filter(({ column }) => mayBeTitle(column, references, arePeople) && !isTheirs(column))
    .filter(({ column }) => !person || headerScore('title', column, 'deal') >= 0);
  const fitting = able.filter(({ column }) => !isType(column));
  const full = near.filter(({ column }) => fillOf(column) > 0.9);
  // What all other columns leave over says what a deal is about, if no word says that it is something else.
  const isOnly = ({ column }: RoleCandidate): boolean =>
    able.length === 1
      ? column.meaning.concepts.size === 0 && column.distinct > 3
      : !person &&
        full.length === 1 &&
        full[0]!.column === column &&
        column.distinct > 3 &&
        !isStaff(column) &&
        !column.team;
  const left = (able.length === 1 ? able : near).filter(isOnly);
  const [next, ...others] = fitting.length > 0 ? fitting : left;
  const isMostDistinct = next && others.every(({ column }) => column.distinct < next.column.distinct / 2);
  if (next && (person || isMostDistinct)) return { ...assignment, roles: roles.set('title', { ...next, others }) };
  const company = plainColumns(table).find((each) => isOfFirm(each) && each.is.words > 0.8);
  // A kind of thing says more than where it is.
  const last = near.filter((each) => !able.includes(each));
  const candidates = company && (person || near.length === 0) ? [{ column: company, score: 0 }] : [...able, ...last];
  return { ...assignment, roles, candidates: new Map([...assignment.candidates, ['title', candidates]]) };
}

/** No note, no name of another record, and nothing that its header calls otherwise. `arePeople`: nor names of people. */
function mayBeTitle(column: Column, references: readonly Reference[], arePeople: boolean): boolean {
  const header = headerScore('title', column, 'deal');
  const isPerson = arePeople && column.is.person > 0.7 && header <= 0;
  const isNote = isNotes(column, 'deal') || (column.meaning.concepts.has('text') && !isDescription(column));
  // Also one of the people among people and firms.
  const isName = references.some((each) => each.from === column && isUnique(each.to) && isSure(each, 0.9));
  const isOther = isPerson || isNote || isName || isStaff(column) || column.team !== undefined;
  // The product, the vehicle or the house that it is about.
  const isThing = [...column.meaning.concepts].every((each) => each === 'other' || each === 'address');
  return !isOther && column.is.prose < 0.5 && fillOf(column) > 0.5 && (header >= 0 || isThing);
}

/** A kind of thing; some kinds in several words say what a deal is about, if nothing else does. */
function isType(column: Column): boolean {
  return isKind(column) && (column.is.spaced < 0.2 || column.distinct <= 3);
}

function isJobOrName(title: Column): boolean {
  const { words, concepts } = title.meaning;
  const isJob = words.length === 1 && concepts.has('title') && isJobs(title);
  return isJob || (title.is.person > 0.7 && concepts.has('name') && !concepts.has('title') && !concepts.has('deal'));
}

/** Columns of files without a header are called after their roles. */
function nameColumns(kinds: ReadonlyMap<Table, TableKinds>): void {
  for (const [table, found] of kinds) {
    if (table.from.settings.columns === undefined) continue;
    const taken = new Set<string>();
    for (const [role, { column }] of [...found.values()].flatMap(({ assignment }) => [...assignment.roles])) {
      const name = ROLE_NAMES[role] ?? role;
      if (/^column_\d+$/.test(column.name) && !taken.has(name)) column.name = name;
      taken.add(name);
    }
  }
}

const ROLE_NAMES: Readonly<Partial<Record<Role, string>>> = {
  first: 'first_name',
  last: 'last_name',
  full: 'full_name',
  created: 'created_at',
  happened: 'happened_at',
};

/** What tells whether two records with the same id are the same. */
const IDENTITIES = ['email', 'full', 'last', 'title', 'content', 'subject'] as const;

/**
 * A draft whose ids are also those of others: of its person in the same rows, or of an earlier export of the kind. There the same
 * records are sent once, as people in the lists of several years, and others get a prefix, since both exports number theirs.
 */
function apartFrom(earlier: readonly EntryDraft[], draft: EntryDraft): EntryDraft {
  const { table, kind, key } = draft;
  const text = `${table.list?.replaceAll('.', '-') ?? table.source}-`;
  const clash = clashWith(earlier, draft);
  const person = earlier.find((each) => each.table === table && each.kind === 'lead');
  if (kind === 'deal' && key?.column && person && (person.key?.column?.name ?? person.key?.value) === key.column.name) {
    const why = 'the person of the row has the same id without it';
    return { ...draft, prefix: { text: clash ? `deal-${text}` : 'deal-', why } };
  }
  if (!clash || !key) return draft;
  const { other, shared, isSame } = clash;
  const { source } = other;
  const repeats = `${ofText(shared, table.rows)} records are also in ${source}`;
  if (isSame) return { ...draft, key: { ...key, repeats } };
  const why = `${numberText(shared)} of the ids belong to other records in ${source}`;
  return { ...draft, prefix: { text, why } };
}

/** The first earlier export of the kind that has some of the same ids. */
function clashWith(earlier: readonly EntryDraft[], { table, kind, roles, key }: EntryDraft) {
  const id = key?.column ?? roles.get('email')?.column;
  for (const other of earlier) {
    const theirs = other.key?.column ?? other.roles.get('email')?.column;
    if (!id || !theirs || other.kind !== kind || other.table === table) continue;
    const pairs = `from ${table.sql} a join ${other.table.sql} b on a.${id.sql} = b.${theirs.sql}`;
    const shared = countOf(table, `from (select 1 ${pairs} group by a.rowid)`);
    const by = IDENTITIES.find((role) => roles.has(role) && other.roles.has(role));
    const [mine, its] = by ? [roles.get(by)!.column.sql, other.roles.get(by)!.column.sql] : [];
    const isSame = by !== undefined && countOf(table, `${pairs} where lower(a.${mine!}) = lower(b.${its!})`) > 0;
    if (shared > 0) return { other: other.table, shared, isSame };
  }
  return undefined;
}
