/** What the records of each table are: decided last, from the best assignments; the name of the file is one more sign. */
import { numberText } from '../../terminal/numbers.ts';
import type { ValueSpec } from '../../mapping/spec.ts';
import { countOf, isComplete, isUnique, type Column, type Table } from './columns.ts';
import { assign, SURE, type Assignment } from './assign.ts';
import { isByChance, shareOf, valueOf, type Reference } from './lines/references.ts';
import type { RecordKind, Role } from './roles.ts';

/** Records that become events of a kind. */
export interface EntryDraft extends Assignment {
  readonly table: Table;
  /** The external id of its records. */
  readonly key: Key | undefined;
  /** Added to its ids, which are also those of other records of the kind or, of a deal, those of its person. */
  readonly prefix: { readonly text: string; readonly why: string } | undefined;
  /** Rows that are a person and a deal: there is a draft of both kinds. */
  readonly twin: boolean;
  /** Why this was not certain, if so. */
  readonly doubt: string | undefined;
}

/** A column with ids, or what stands for one, and why. */
interface Key {
  readonly value: ValueSpec;
  readonly column?: Column;
  readonly why?: string;
  /** A record occurs in several rows. */
  readonly repeats?: true;
}

type TableKinds = Map<RecordKind, { readonly assignment: Assignment; readonly doubt?: string }>;

/** The entries that the tables need, leads first. */
export function guessDrafts(tables: readonly Table[], references: readonly Reference[]): EntryDraft[] {
  const kinds = new Map<Table, TableKinds>();
  for (const table of [...tables].sort((a, b) => Number(a.list === undefined) - Number(b.list === undefined)))
    kinds.set(table, kindsOf(readable(table, kinds), references));
  withoutUsers(kinds, references);
  withoutParts(kinds, references);
  if ([...kinds.values()].every(({ size }) => size === 0)) addSomething(kinds, references);
  nameColumns(kinds);
  const drafts: EntryDraft[] = [];
  for (const kind of ['leads', 'deals', 'comments'] as const) {
    for (const table of tables) {
      const found = kinds.get(table)!.get(kind);
      if (!found) continue;
      table.nouns = [...new Set([kind, ...table.nouns.filter((noun) => kinds.get(table)!.has(noun as RecordKind))])];
      const twin = kinds.get(table)!.has('leads') && kinds.get(table)!.has('deals');
      const row = { ...found.assignment, table, twin, doubt: found.doubt };
      const draft: EntryDraft = {
        ...row,
        key: twin && kind === 'leads' ? personKey(row, kinds) : keyOf(row),
        prefix: undefined,
      };
      drafts.push({ ...draft, prefix: prefixOf(draft, drafts) });
    }
  }
  return drafts;
}

/** Where nothing shows what any records are, the longest export becomes leads, so that there is something to correct. */
function addSomething(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  const [table] = [...kinds.keys()].filter(({ list }) => list === undefined).sort((a, b) => b.rows - a.rows);
  const doubt = 'set this: nothing shows what these records are; leads are only an example';
  if (table) kinds.get(table)!.set('leads', { assignment: assign(table, 'leads', references), doubt });
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

/** Without the columns of lists whose elements become events of their own. */
function readable(table: Table, kinds: ReadonlyMap<Table, TableKinds>): Table {
  const lists = [...kinds].flatMap(([each, found]) => (each.parent === table && found.size > 0 ? [each.list!] : []));
  if (lists.length === 0) return table;
  table.columns.splice(
    0,
    table.columns.length,
    ...table.columns.filter(({ list }) => list === undefined || !lists.includes(list)),
  );
  return table;
}

function kindsOf(table: Table, references: readonly Reference[]): TableKinds {
  const kinds: TableKinds = new Map();
  const is = (noun: Table['nouns'][number]): boolean => table.nouns.includes(noun);
  if (table.rows === 0 || is('others')) return kinds;
  const [leads, deals, comments] = (['leads', 'deals', 'comments'] as const).map((kind) =>
    assign(table, kind, references),
  );
  const of = (assignment: Assignment, ...roles: readonly Role[]): number =>
    Math.max(...roles.map((role) => assignment.roles.get(role)?.score ?? 0));
  const name = of(leads!, 'full', 'last');
  const contact = of(leads!, 'email', 'phone');
  const isList = table.list !== undefined;
  // Without a header, content is all there is.
  const least = table.columns.every(({ meaning }) => meaning.words.length === 0) ? 0.2 : 0.5;
  const isOther = is('users') || is('companies');
  if (name > least && contact > 0.5 && !isOther) kinds.set('leads', { assignment: leads! });
  else if (is('leads') && !isList && Math.max(name, contact) > 0.5) kinds.set('leads', { assignment: leads! });
  else if (contact > 0.8 && leads!.roles.has('id') && !isList && !isOther && !is('deals') && !is('comments')) {
    if (name > 0.36 || leads!.roles.get('id')!.score > 0.4)
      kinds.set('leads', { assignment: leads!, doubt: 'only addresses or numbers tell that these are people' });
  }
  const [amount, stage, title] = [of(deals!, 'amount'), of(deals!, 'stage', 'outcome'), of(deals!, 'title')];
  const signs = [amount > 0.5, stage > 0.5, title > 0.5].filter(Boolean).length;
  if (
    !is('users') &&
    !is('companies') &&
    !is('comments') &&
    ((amount > 0.5 && stage > (least < 0.5 ? least : 0.6)) ||
      (is('deals') && !is('stages') && amount > 0.35 && stage > 0.35))
  ) {
    kinds.set('deals', { assignment: deals! });
  } else if (is('deals') && !is('stages') && !isList && signs >= 2) kinds.set('deals', { assignment: deals! });
  if (kinds.size === 2 && !isTwin(leads!, deals!)) kinds.delete('leads');
  const text = of(comments!, 'content', 'subject');
  const refers = references.some((each) => each.from.table === table && shareOf(each) > 0.3 && isUnique(each.to));
  const isNote = is('comments')
    ? text > 0.36 || of(comments!, 'happened') > 0.7
    : of(comments!, 'content') > 0.55 && amount < 0.6 && (refers || isList) && comments!.roles.size >= (isList ? 3 : 2);
  if (isNote && kinds.size === 0) kinds.set('comments', { assignment: comments! });
  return kinds;
}

/** Rows are a person and a deal only with a name of the person that is no title, and an address that is not the owner's. */
function isTwin(leads: Assignment, deals: Assignment): boolean {
  const [name, title] = [leads.roles.get('full') ?? leads.roles.get('last'), deals.roles.get('title')];
  const [email, owner] = [leads.roles.get('email'), deals.roles.get('owner')];
  const isName = name !== undefined && (name.column !== title?.column || name.column.is.person > 0.7);
  return isName && (email === undefined || email.column !== owner?.column);
}

/** People to whom others refer as their owner or author are users, where others are the leads. */
function withoutUsers(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  const leads = [...kinds].filter(([, found]) => found.has('leads')).map(([table]) => table);
  for (const table of leads) {
    const byOwners = references.filter(
      (each) => each.to.table === table && shareOf(each) > 0.7 && !isByChance(each) && isStaff(each.from),
    );
    const byOthers = references.filter(
      (each) => each.to.table === table && shareOf(each) > 0.7 && !isByChance(each) && !isStaff(each.from),
    );
    if (byOwners.length > 0 && byOthers.length === 0 && leads.length > 1) kinds.get(table)!.delete('leads');
  }
  // Addresses of people who are in another export are no people of their own.
  const isDoubtful = (table: Table): boolean => kinds.get(table)!.get('leads')?.doubt !== undefined;
  if (leads.some((table) => !isDoubtful(table)))
    for (const table of leads) if (isDoubtful(table)) kinds.get(table)!.delete('leads');
}

/** Whether a header names somebody who works with the records. */
export function isStaff({ meaning: { concepts } }: Column): boolean {
  return concepts.has('owner') || concepts.has('user') || concepts.has('author') || concepts.has('modified');
}

/** Deals whose people are in another export are no people themselves. Line items and payments of deals are no deals. */
function withoutParts(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  const keysOf = (table: Table, kind: RecordKind): Column[] =>
    (['id', 'email'] as const).flatMap((role) => kinds.get(table)?.get(kind)?.assignment.roles.get(role)?.column ?? []);
  for (const [table, found] of kinds) {
    if (!found.has('deals')) continue;
    const refers = (kind: RecordKind): boolean =>
      [...kinds].some(
        ([other, its]) =>
          other !== table &&
          its.has(kind) &&
          references.some(
            (each) =>
              each.from.table === table &&
              each.to.table === other &&
              keysOf(other, kind).includes(each.to) &&
              shareOf(each) > 0.4 &&
              !isByChance(each),
          ),
      );
    const hasPeople = [...kinds].some(([other, its]) => other !== table && its.has('leads') && its.size === 1);
    if (found.has('leads') && (refers('leads') || (hasPeople && !hasPerson(found)))) found.delete('leads');
    if (refers('deals') && !table.nouns.includes('deals')) found.delete('deals');
  }
}

/** Whether the rows have a person with a name and an address. */
function hasPerson(found: TableKinds): boolean {
  const roles = found.get('leads')!.assignment.roles;
  return (roles.get('full')?.score ?? 0) > SURE && roles.has('email');
}

type Recognised = Omit<EntryDraft, 'key' | 'prefix'>;

function keyOf({ roles, table, kind }: Recognised): Key | undefined {
  const id = roles.get('id')?.column;
  if (id) return { value: table.list === undefined ? valueOf(id) : id.name, column: id };
  return kind === 'leads' ? personalKey(roles) : kind === 'deals' ? uniqueKey(roles, table) : undefined;
}

/** Of people in rows of deals: the id of the row, or of people who are in several rows, what they have in common. */
function personKey(row: Recognised, kinds: ReadonlyMap<Table, TableKinds>): Key | undefined {
  const { roles, table } = row;
  const deal = kinds.get(table)!.get('deals')!.assignment.roles.get('id')?.column;
  const own = roles.get('id')?.column;
  if (own && own !== deal) return keyOf(row);
  const [best] = (['email', 'full', 'phone'] as const)
    .flatMap((role) => roles.get(role)?.column ?? [])
    .sort((a, b) => b.filled - a.filled);
  if (deal && (!best || isUnique(best))) return { value: deal.name, column: deal };
  const key = personalKey(roles);
  const why = best && isUnique(best) ? 'no column has ids' : 'people are in several rows, and no column has their ids';
  return key && { ...key, why, repeats: true };
}

/** The first of these that a person has. */
function personalKey(roles: Assignment['roles']): Key | undefined {
  const columns = (['email', 'phone', 'full', 'last'] as const).flatMap((role) => roles.get(role)?.column ?? []);
  const complete = columns.findIndex(isComplete);
  const used = complete < 0 ? columns : columns.slice(0, complete + 1);
  if (used.length === 0) return undefined;
  const names = used.map(({ name, list }) => (list === undefined ? name : { from: name, apply: [{ at: 0 }] }));
  return { value: names.length === 1 ? names[0]! : { from: names }, why: 'no column has a unique id' };
}

/** The fewest columns that are unique together. */
function uniqueKey(roles: Assignment['roles'], table: Table): Key | undefined {
  const of = (role: Role) => roles.get(role)?.column ?? [];
  const ofParents = table.columns.filter(({ meaning: { concepts } }) => concepts.has('id') && concepts.has('person'));
  const preferred = [of('title'), ofParents, of('created'), of('amount')].flat();
  const able = [...new Set([...preferred, ...table.columns.filter(({ distinct }) => distinct > 1)])].filter(
    (each) => isComplete(each) && each.list === undefined,
  );
  const chosen: Column[] = [];
  let distinct = 0;
  while (chosen.length < 4 && distinct < table.rows) {
    const distinctWith = (each: Column): number =>
      countOf(table, `from (select distinct ${[...chosen, each].map(({ sql }) => sql).join(', ')} from ${table.sql})`);
    const first =
      chosen.length === 0 && able[0] ? [able[0]] : able.filter((each) => !chosen.includes(each)).slice(0, 25);
    const [best] = first.map((each) => ({ each, n: distinctWith(each) })).sort((a, b) => b.n - a.n);
    if (!best || best.n <= distinct) break;
    chosen.push(best.each);
    distinct = best.n;
  }
  if (chosen.length === 0) return undefined;
  const value =
    chosen.length === 1
      ? chosen[0]!.name
      : { template: chosen.map(({ name }) => `{${name.replace(/[{}]/g, '$&$&')}}`).join(' / ') };
  const rest =
    distinct === table.rows
      ? `but ${chosen.length === 1 ? 'this is unique' : 'these are unique together'}`
      : `and these leave ${numberText(table.rows - distinct)} records alike`;
  return { value, why: `no column has a unique id, ${rest}` };
}

/** What tells whether two records with the same id are the same. */
const IDENTITIES = ['email', 'full', 'last', 'title', 'content', 'subject'] as const;

/** For ids that are also those of other records of an earlier export of the kind: both number their records. */
function prefixOf(draft: EntryDraft, earlier: readonly EntryDraft[]): EntryDraft['prefix'] {
  const { table, kind, roles } = draft;
  const id = roles.get('id')?.column;
  if (!id) return undefined;
  const text = `${table.list?.replaceAll('.', '-') ?? table.source}-`;
  const lead = earlier.find((each) => each.table === table && each.kind === 'leads');
  if (kind === 'deals' && lead?.key?.column === id)
    return { text: 'deal-', why: 'the person of the row has the same id without it' };
  for (const other of earlier.filter((each) => each.kind === kind)) {
    const theirs = other.roles.get('id')?.column;
    if (!theirs || other.table === table) continue;
    const pairs = `from ${table.sql} a join ${other.table.sql} b on a.${id.sql} = b.${theirs.sql}`;
    const shared = countOf(table, pairs);
    const by = IDENTITIES.find((role) => roles.has(role) && other.roles.has(role));
    const same =
      by === undefined
        ? 0
        : countOf(
            table,
            `${pairs} where lower(a.${roles.get(by)!.column.sql}) = lower(b.${other.roles.get(by)!.column.sql})`,
          );
    if (shared > 0 && same === 0)
      return { text, why: `${shared} ids are also in ${other.table.source}, of other records: two number ranges` };
  }
  return undefined;
}
