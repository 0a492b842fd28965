/** The entries that the tables need, with the external ids of their records. */
import { counted, numberText, ofText } from '../../terminal/numbers.ts';
import type { ValueSpec } from '../../mapping/spec.ts';
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
import { namesOther, referred, type Assignment } from './assign.ts';
import { figuresOf, keyOf as nameAsKey, quoted } from './evidence.ts';
import { kindsOf } from './kinds/kinds.ts';
import type { TableKinds } from './kinds/signs.ts';
import { isJobs, isNotes, texts } from './content.ts';
import { firstOf, joined, type Reference } from './references.ts';
import { namesNoun, nounsOf, type Concept } from './words.ts';
import { headerScore, RECORD_KINDS, type RecordKind, type Role } from './roles.ts';

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

/** A column with ids, or what stands for one, and why. */
interface Key {
  readonly value: ValueSpec;
  readonly column?: Column;
  readonly why?: string;
  /** That a record occurs in several rows, in figures. */
  readonly repeats?: string;
  /** What else these rows have is sent of the first one only: they are no deals. */
  readonly isOnce?: true;
  /** Of exports with the same columns, one for each day or year, the last one has what is true now. */
  readonly keep?: 'last';
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
      const assigned = deal ? withoutJob(found.assignment, table) : withText(found.assignment, table, references);
      const assignment = kind === 'deal' ? withKey(assigned, table) : assigned;
      const row = { ...assignment, table, twin: deal !== undefined, only, doubt: found.doubt };
      const person = drafts.find((each) => each.table === table && each.kind === 'lead');
      const key =
        deal && kind === 'lead'
          ? personKey(row, deal.roles.get('id')?.column, references)
          : (deal && person && idOfPerson(row, person)) || keyOf(row, references);
      drafts.push(apartFrom(drafts, { ...row, key: again(key, row), prefix: undefined }));
    }
  }
  return [...drafts, ...tables.flatMap((table) => notesIn(table, drafts))];
}

/** Columns of notes, for the timeline of their record: of rows that are a person and a deal, that of the deal. */
function notesIn(table: Table, drafts: readonly EntryDraft[]): EntryDraft[] {
  const own = drafts.filter((draft) => draft.table === table);
  const { kind, only, key, roles } = own.find((draft) => draft.kind === 'deal') ?? own[0] ?? {};
  if (kind === undefined || only || own.some((draft) => draft.kind === 'comment')) return [];
  const used = own.flatMap(({ roles }) => [...roles.values()].map(({ column }) => column));
  // Of people in several rows, the number of the row.
  const id = key?.column ?? roles?.get('id')?.column;
  // Steps of a task are no notes about it.
  const hasComments = drafts.some((draft) => draft.kind === 'comment' && draft.table.only?.as !== 'parts');
  return table.columns
    .filter((column) => isNotes(column, kind) && !used.includes(column))
    .map((column): EntryDraft => {
      const instead = hasComments
        ? 'other records are the comments'
        : fillOf(column) <= 0.5
          ? `${ofText(column.filled, table.rows)} have one`
          : undefined;
      return {
        ...{ kind: 'comment', table, twin: false, doubt: undefined },
        key: id && isKey(id) ? { value: valueIn(id), column: id } : undefined,
        prefix: { text: `${nameAsKey(column.name)}-`, why: 'that of the record' },
        roles: new Map([['content', { column, score: 1, others: [] }]]),
        candidates: new Map(),
        notes: { of: kind, column, instead },
      };
    });
}

/** The column that tells the rows of a kind, where rows are a person or a deal and never both. */
function apart(found: TableKinds, kind: RecordKind, table: Table): Column | undefined {
  const roles = found.get('lead')?.assignment.roles;
  const person = (roles?.get('email') ?? roles?.get('full') ?? roles?.get('last'))?.column;
  const amount = found.get('deal')?.assignment.roles.get('amount')?.column;
  if (!person || !amount) return undefined;
  const both = countOf(table, `from ${table.sql} where ${person.sql} is not null and ${amount.sql} is not null`);
  return both > 0 ? undefined : kind === 'lead' ? person : amount;
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

/** The id that the lines of a record repeat is that of the record, whatever it is called. */
function withKey(assignment: Assignment, table: Table): Assignment {
  const column = table.columns.find(({ name }) => name === table.only?.key);
  if (!column) return assignment;
  const others = [...assignment.roles].filter(([role, found]) => role !== 'id' && found.column !== column);
  return { ...assignment, roles: new Map([...others, ['id', { column, score: 1, others: [] }]]) };
}

/** Beside a person, a column that is called `Title` alone and has jobs is theirs, as a name of people is, and not the name of a deal. */
function withoutJob(assignment: Assignment, table: Table): Assignment {
  const found = assignment.roles.get('title');
  if (!found || !isOfPerson(found.column)) return assignment;
  const roles = new Map([...assignment.roles].filter(([role]) => role !== 'title'));
  const [next, ...others] = found.others.filter(
    ({ column }) => headerScore('title', column, 'deal') > 0.4 && !isOfPerson(column),
  );
  if (next) return { ...assignment, roles: roles.set('title', { ...next, others }) };
  const company = plainColumns(table).find(
    ({ meaning, is }) => meaning.concepts.has('company') && !meaning.concepts.has('id') && is.words > 0.8,
  );
  const candidates = company ? [{ column: company, score: 0 }] : [];
  return { ...assignment, roles, candidates: new Map([...assignment.candidates, ['title', candidates]]) };
}

function isOfPerson(title: Column): boolean {
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

/** Of deals without an id, in rows that are a person each: that of the person. */
function idOfPerson({ roles }: Recognised, { key, roles: own }: EntryDraft): Key | undefined {
  const column = [own.get('email')?.column, own.get('full')?.column].find((each) => each?.name === key?.value);
  const why = 'no column has ids of deals, so that of the person is used';
  return column && isKey(column) && !roles.has('id') ? { value: column.name, column, why } : undefined;
}

type Recognised = Omit<EntryDraft, 'key' | 'prefix'>;

function keyOf(row: Recognised, references: readonly Reference[]): Key | undefined {
  const { roles, kind, table } = row;
  const id = roles.get('id')?.column;
  const isOfPeople = nounsOf(table.list ?? table.source).includes('lead') || id?.known?.get(kind) === 'id';
  const people = kind === 'lead' && !(id && isOfPeople) ? recurringIn(row) : undefined;
  // The number of a booking is no number of who booked, unless others refer to it.
  if (id && !(people && isUnique(id) && referred(id, references) === 0)) return { value: valueIn(id), column: id };
  // Notes need no id.
  if (kind === 'comment') return undefined;
  if (!people) return severalKey(row) ?? (kind === 'lead' ? personalKey(roles) : undefined);
  const key = personalKey(roles, id && `${quoted(id)} counts records and no people`)!;
  return { ...key, repeats: repeatsText(people), isOnce: true };
}

/** The column with which people recur, if they do so by their address or number and their name together. */
function recurringIn({ roles }: Recognised): Column | undefined {
  const names = (['full', 'first', 'last'] as const).flatMap((role) => roles.get(role)?.column ?? []);
  return (['email', 'phone'] as const)
    .flatMap((role) => roles.get(role)?.column ?? [])
    .find((own) => {
      if (own.list !== undefined || own.distinct > own.filled * 0.8 || fillOf(own) < 0.5 || names.length === 0)
        return false;
      const all = [own, ...names].map(({ sql }) => sql).join(', ');
      const pairs = countOf(
        own.table,
        `from (select distinct ${all} from ${own.table.sql} where ${own.sql} is not null)`,
      );
      return pairs < own.distinct * 1.1;
    });
}

/** Records of several exports of one structure: they come again in later ones, or people without an id in any. */
function again(key: Key | undefined, { table, roles, kind }: Recognised): Key | undefined {
  const { family } = table.from;
  if (!key || !family) return key;
  if (family.again !== undefined) return { ...key, repeats: key.repeats ?? family.again, keep: 'last' };
  const telling = roles.get('email')?.column ?? roles.get('full')?.column;
  if (kind !== 'lead' || key.column || key.repeats || !telling || isUnique(telling)) return key;
  return { ...key, repeats: repeatsText(telling), keep: 'last' };
}

function repeatsText({ distinct, filled }: Column): string {
  return `${numberText(distinct)} people in ${numberText(filled)} records`;
}

/** Of people in rows of deals: the id of the row, or of people who are in several rows, what they have in common. */
function personKey(row: Recognised, deal: Column | undefined, references: readonly Reference[]): Key | undefined {
  const { roles, table } = row;
  const own = roles.get('id')?.column;
  if (own && own !== deal) return keyOf(row, references);
  const columns = (['email', 'phone', 'full'] as const).flatMap((role) => roles.get(role)?.column ?? []);
  // An address that most have tells people apart better than their names.
  const best = columns.find(({ filled }) => filled > table.rows / 2) ?? columns[0];
  // `buyer.id` beside `buyer.email`, `Customer ID` beside `Email`: as many as there are people.
  const theirs = plainColumns(table).find(
    (column) =>
      best &&
      column !== deal &&
      column.meaning.concepts.has('id') &&
      namesNoun('lead', column.meaning.concepts) &&
      isComplete(column) &&
      Math.abs(column.distinct - best.distinct) <= best.distinct * 0.1,
  );
  if (theirs) return { value: theirs.name, column: theirs, ...(!isUnique(theirs) && { repeats: repeatsText(theirs) }) };
  if (deal && (!best || (isUnique(best) && !table.members))) return { value: deal.name, column: deal };
  const key = personalKey(roles);
  return key && best && { ...key, repeats: repeatsText(best) };
}

/** The first of these that a person has. `instead`: why no column is taken. */
function personalKey(roles: Assignment['roles'], instead = 'no column looks like an id'): Key | undefined {
  const columns = (['email', 'phone', 'full', 'last'] as const).flatMap((role) => roles.get(role)?.column ?? []);
  const complete = columns.findIndex(isComplete);
  const used = complete < 0 ? columns : columns.slice(0, complete + 1);
  if (used.length === 0) return undefined;
  const figures = used.map((each) => `${quoted(each)} (${figuresOf('id', each)})`).join(', or else ');
  // As alternatives with settings, so that the others, which have fields of their own, are not warned of as passed over.
  const values = used.map((each) => (used.length > 1 ? { from: valueIn(each) } : valueIn(each)));
  return { value: firstOf(values), why: `${instead}, so people are told apart by ${figures}` };
}

/** The fewest columns that tell records apart together; of people, at most two of those that say who they are and where. */
function severalKey({ roles, table, kind }: Recognised): Key | undefined {
  // Amounts change.
  const plain = plainColumns(table).filter((column) => column.distinct > 1 && !isAmount(column));
  const own = ROLES_OF_KEY[kind].flatMap((role) => plain.find((each) => each === roles.get(role)?.column) ?? []);
  const isLead = kind === 'lead';
  if (isLead && own.some(isKey)) return undefined;
  const meant = (concept: Concept): Column[] =>
    plain.filter(({ meaning: { concepts } }) => concepts.has(concept) && !concepts.has('id')).slice(0, 6);
  const distinctOf = (text: string): number =>
    countOf(table, `from (select distinct ${text} value from ${table.sql}) where trim(value) <> ''`);
  // The title of a deal comes first; where people live helps only beside who they are.
  const able = isLead ? [...own, ...meant('address')] : [...own, ...plain].filter(isComplete);
  const firsts = isLead ? [...meant('company'), ...own] : able.slice(0, 1);
  const best = firsts.map((first) => extended([first], able.slice(0, 25))).sort((a, b) => b.n - a.n)[0];
  const alone = isLead && own.length > 0 ? distinctOf(`coalesce(${own.map(({ sql }) => sql).join(', ')}, '')`) : 0;
  if (!best || (best.n < table.rows * 0.9 && best.n <= alone)) return undefined;
  const left = table.rows - best.n;
  const rest =
    left > 0
      ? `, and ${counted(left, 'record')} cannot be told from others by them`
      : `: ${numberText(best.n)} records, ${numberText(best.n)} distinct`;
  const verb = best.columns.length === 1 ? 'is used as one' : 'are used as one';
  const why = `no column looks like an id, so ${best.columns.map(quoted).join(' and ')} ${verb}${rest}`;
  return { value: joined(best.columns, ' / '), why };

  function extended(columns: readonly Column[], more: readonly Column[]): { columns: readonly Column[]; n: number } {
    const [least, most] = isLead ? [2, 2] : [1, 4];
    const textOf = (some: readonly Column[]): string =>
      some.map(({ sql }) => `coalesce(${sql}, '')`).join(` || ' ' || `);
    const n = distinctOf(textOf(columns));
    if (columns.length === most || (columns.length >= least && n === table.rows)) return { columns, n };
    const [next] = more
      .filter((each) => !columns.includes(each))
      .map((each) => ({ each, n: distinctOf(textOf([...columns, each])) }))
      .sort((a, b) => b.n - a.n);
    if (!next || (columns.length >= least && next.n <= n)) return { columns, n };
    return extended([...columns, next.each], more);
  }
}

function isAmount({ is, meaning: { concepts } }: Column): boolean {
  return is.number > 0.8 && (is.decimal > 0 || is.money > 0 || (concepts.has('amount') && !concepts.has('id')));
}

/** Those that tell records apart, best first. */
const ROLES_OF_KEY: Readonly<Record<RecordKind, readonly Role[]>> = {
  lead: ['email', 'full', 'phone', 'last', 'first'],
  deal: ['title', 'created'],
  comment: [],
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
  const repeats = `${ofText(shared, table.rows)} are also in ${source}`;
  if (isSame) return { ...draft, key: { ...key, repeats } };
  const why = `${numberText(shared)} ids are also in ${source}, of other records: two number ranges`;
  return { ...draft, prefix: { text, why } };
}

/** The first earlier export of the kind that has some of the same ids. */
function clashWith(earlier: readonly EntryDraft[], { table, kind, roles, key }: EntryDraft) {
  const id = key?.column ?? roles.get('email')?.column;
  for (const other of earlier) {
    const theirs = other.key?.column ?? other.roles.get('email')?.column;
    if (!id || !theirs || other.kind !== kind || other.table === table) continue;
    const pairs = `from ${table.sql} a join ${other.table.sql} b on a.${id.sql} = b.${theirs.sql}`;
    const shared = countOf(table, pairs);
    const by = IDENTITIES.find((role) => roles.has(role) && other.roles.has(role));
    const [mine, its] = by ? [roles.get(by)!.column.sql, other.roles.get(by)!.column.sql] : [];
    const isSame = by !== undefined && countOf(table, `${pairs} where lower(a.${mine!}) = lower(b.${its!})`) > 0;
    if (shared > 0) return { other: other.table, shared, isSame };
  }
  return undefined;
}
