/** The entries that the tables need, with the external ids of their records. */
import { numberText } from '../../terminal/numbers.ts';
import type { ValueSpec } from '../../mapping/spec.ts';
import { countOf, isComplete, isUnique, type Column, type Table } from './columns.ts';
import type { Assignment } from './assign.ts';
import { kindsOf, type TableKinds } from './kinds.ts';
import { placeholder, valueOf, type Reference } from './lines/references.ts';
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

/** The entries that the tables need, leads first. */
export function guessDrafts(
  tables: readonly Table[],
  references: readonly Reference[],
  answered: ReadonlyMap<Table, ReadonlySet<RecordKind>> = new Map(),
): EntryDraft[] {
  const kinds = kindsOf(tables, references, answered);
  nameColumns(kinds);
  const drafts: EntryDraft[] = [];
  for (const kind of ['leads', 'deals', 'comments'] as const) {
    for (const table of tables) {
      const found = kinds.get(table)!.get(kind);
      if (!found) continue;
      table.nouns = [...new Set([kind, ...table.nouns.filter((noun) => kinds.get(table)!.has(noun as RecordKind))])];
      const twin = kinds.get(table)!.has('leads') && kinds.get(table)!.has('deals');
      const row = {
        ...(twin ? withoutJob(found.assignment, table) : found.assignment),
        table,
        twin,
        doubt: found.doubt,
      };
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

/** Beside a person, a column that is called `Title` alone is their job, not the name of a deal. */
function withoutJob(assignment: Assignment, { columns }: Table): Assignment {
  const title = assignment.roles.get('title')?.column;
  const isJob =
    title?.meaning.words.length === 1 && title.meaning.concepts.has('title') && title.meaning.concepts.has('job');
  if (!isJob) return assignment;
  const roles = new Map(assignment.roles);
  roles.delete('title');
  const [company] = columns.filter(
    ({ meaning: { concepts }, is, list }) =>
      concepts.has('company') && !concepts.has('id') && is.words > 0.8 && list === undefined,
  );
  const candidates = company ? [{ column: company, score: 0 }] : [];
  return { ...assignment, roles, candidates: new Map([...assignment.candidates, ['title', candidates]]) };
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

type Recognised = Omit<EntryDraft, 'key' | 'prefix'>;

function keyOf({ roles, table, kind }: Recognised): Key | undefined {
  const id = roles.get('id')?.column;
  if (id) return { value: table.list === undefined ? valueOf(id) : id.name, column: id };
  return kind === 'leads'
    ? (uniqueNames(roles, table) ?? personalKey(roles))
    : kind === 'deals'
      ? uniqueKey(roles, table)
      : undefined;
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
  // `buyer.id` beside `buyer.email`, `Customer ID` beside `Email`: as many as there are people.
  const above = (name: string): string => name.slice(0, name.lastIndexOf('.') + 1);
  const theirs = table.columns.find(
    (column) =>
      best &&
      column !== deal &&
      column.meaning.concepts.has('id') &&
      (column.meaning.concepts.has('person') ||
        column.meaning.concepts.has('customer') ||
        (above(best.name) !== '' && above(best.name) === above(column.name))) &&
      column.list === undefined &&
      isComplete(column) &&
      column.distinct >= best.distinct * 0.9 &&
      column.distinct <= best.distinct * 1.1,
  );
  if (theirs) return { value: theirs.name, column: theirs, ...(!isUnique(theirs) && { repeats: true as const }) };
  if (deal && (!best || isUnique(best))) return { value: deal.name, column: deal };
  const key = personalKey(roles);
  const why = best && isUnique(best) ? 'no column has ids' : 'people are in several rows, and no column has their ids';
  return key && { ...key, why, repeats: true };
}

/** Two columns that tell people apart together, of whom no single one does: where they live helps only beside who they are. */
function uniqueNames(roles: Assignment['roles'], table: Table): Key | undefined {
  const plain = table.columns.filter(({ list, meaning }) => list === undefined && !meaning.concepts.has('id'));
  const meant = (concept: 'company' | 'address') =>
    plain.filter(({ meaning }) => meaning.concepts.has(concept)).slice(0, 6);
  const of = (['email', 'full', 'phone', 'last', 'first'] as const).flatMap((role) => roles.get(role)?.column ?? []);
  if (of.some((column) => isUnique(column) && isComplete(column))) return undefined;
  const who = [...new Set([...meant('company'), ...of])].filter(({ list }) => list === undefined);
  const pairs = who.flatMap((a, at) => [...who.slice(at + 1), ...meant('address')].map((b) => [a, b]));
  const distinctOf = (text: string): number =>
    countOf(table, `from (select distinct ${text} value from ${table.sql}) where trim(value) <> ''`);
  const filled = ({ sql }: Column): string => `coalesce(${sql}, '')`;
  const [best] = pairs
    .map((columns) => ({ columns, n: distinctOf(columns.map(filled).join(` || ' ' || `)) }))
    .sort((a, b) => b.n - a.n);
  const alone = of.length === 0 ? 0 : distinctOf(`coalesce(${of.map(({ sql }) => sql).join(', ')}, '')`);
  if (!best || (best.n < table.rows * 0.9 && best.n <= alone)) return undefined;
  const rest =
    best.n === table.rows
      ? 'but these are unique together'
      : `and these leave ${numberText(table.rows - best.n)} records alike`;
  return {
    value: { list: best.columns.map(({ name }) => name), apply: [{ join: ' ' }] },
    why: `no column has a unique id, ${rest}`,
  };
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
  const value = chosen.length === 1 ? chosen[0]!.name : { template: chosen.map(placeholder).join(' / ') };
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
