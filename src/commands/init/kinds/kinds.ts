/** What the records of each table are: decided last, from the best assignments and from who refers to whom. */
import { ofText } from '../../../report/words/numbers.ts';
import { assign, columnsOf } from '../matrix/assign.ts';
import { SURE } from '../matrix/settle.ts';
import { countOf, isIn, isKey, isUnique, pathOf, plainColumns, type Column, type Table } from '../columns.ts';
import { isId } from '../matrix/content.ts';
import { isSure, type Reference } from '../relations/references.ts';
import { CONTACTS, isStaff, type RecordKind, type Role } from '../matrix/roles.ts';
import { noteNouns } from './nouns.ts';
import { Signs, type TableKinds } from './signs.ts';

/** The kinds of all tables: people first, then deals, which may refer to them, then comments on both. `answered`: what the user says. */
export function kindsOf(
  tables: readonly Table[],
  references: readonly Reference[],
  answered: ReadonlyMap<Table, ReadonlySet<RecordKind>>,
): Map<Table, TableKinds> {
  const kinds = new Map<Table, TableKinds>(tables.map((table) => [table, new Map()]));
  const has = (kind: RecordKind): boolean => [...kinds.values()].some((found) => found.has(kind));
  noteNouns(tables, references, answered);
  const filled = tables.filter(({ rows, attributes }) => rows > 0 && attributes === undefined);
  // Lists before the lists and records that they are in: the columns of those that become events are theirs.
  const lists = filled.filter(({ list }) => list !== undefined);
  const ofLists = lists
    .sort((a, b) => b.list!.split('.').length - a.list!.split('.').length)
    .map((table) => {
      withoutLists(table, kinds);
      const each = new Signs(table, references, kinds);
      if (!areAddresses(table, references)) each.people();
      each.deals();
      each.comments();
      return each;
    });
  for (const table of tables) if (table.list === undefined) withoutLists(table, kinds);
  // Those of which most is known first, in whatever order the files are named.
  const rolesIn = (table: Table): number => assign(table, 'deal', references).roles.size;
  const records = filled.filter(({ list }) => list === undefined).sort((a, b) => rolesIn(b) - rolesIn(a));
  const signs = records.map((table) => new Signs(table, references, kinds));
  for (const each of signs) each.people();
  withoutLinks(kinds, references);
  for (const each of signs) each.deals();
  for (const each of signs) each.dealsByRelations();
  withoutParts(kinds, references);
  for (const each of signs) each.comments();
  for (const each of signs) each.peopleByRelations();
  // Where no table has people: those with addresses, and at last companies.
  if (!has('lead')) {
    for (const each of signs) each.peopleByAddress();
    for (const each of signs) each.dealsByRelations();
  }
  if (has('deal') || has('comment'))
    for (const [at, each] of signs.entries()) each.companies(dealsWithoutPeople(records[at]!, kinds, references));
  for (const each of signs) each.comments();
  for (const each of ofLists) each.dealsByRelations();
  for (const each of signs) each.noteUnusedDeal();
  noteSubjects(kinds, references);
  for (const [table, given] of answered)
    kinds.set(table, new Map([...given].map((kind) => [kind, { assignment: assign(table, kind, references) }])));
  if (answered.size > 0 || has('lead') || has('deal')) return kinds;
  addSomething(kinds, references);
  for (const each of ofLists) each.dealsByRelations();
  for (const each of signs) each.comments();
  return kinds;
}

/** Whether nearly all elements of a list repeat an address or a number of the record that contains them. */
function areAddresses(table: Table, references: readonly Reference[]): boolean {
  const { sql, rows, parent } = table;
  const isRepeated = (each: Column, above: Column): boolean =>
    countOf(table, `from ${sql} a join ${parent!.sql} b using (record) where a.${each.sql} = b.${above.sql}`) >
    rows * 0.8;
  const above = plainColumns(parent!);
  return columnsOf(assign(table, 'lead', references).roles, ...CONTACTS).some((own) =>
    above.some((each) => isRepeated(own, each)),
  );
}

/** Leaves out the columns of lists whose elements become events of their own. */
function withoutLists(table: Table, kinds: ReadonlyMap<Table, TableKinds>): void {
  const own = [...kinds].flatMap(([each, found]) => (found.size > 0 && isIn(each, table) ? [each] : []));
  const lists = own.map(({ list }) => list!);
  const groups = new Set(own.flatMap((each) => each.groups?.flat() ?? []));
  const kept = table.columns.filter(
    (each) => !groups.has(each.name) && !lists.some((list) => `${pathOf(each)}.`.startsWith(`${list}.`)),
  );
  table.columns.splice(0, table.columns.length, ...kept);
}

/**
 * Where nothing shows what any records are: what texts belong to becomes deals, or else the longest export leads, so that there is
 * something to correct.
 */
function addSomething(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  const isOfText = ({ from, to }: Reference): boolean =>
    isKey(to) &&
    isId(to) &&
    !isStaff(from) &&
    !to.table.nouns.includes('user') &&
    from.table.columns.some(({ is }) => is.prose > 0.6);
  const [about] = references
    .filter((each) => each.to.table.list === undefined && isSure(each, 0.9) && isOfText(each))
    .sort((a, b) => b.from.distinct - a.from.distinct);
  const isRecords = ({ list, attributes }: Table): boolean => list === undefined && attributes === undefined;
  const [longest] = [...kinds.keys()].filter(isRecords).sort((a, b) => b.rows - a.rows);
  if (!about && [...kinds.values()].some(({ size }) => size > 0)) return;
  const [table, kind] = about ? [about.to.table, 'deal' as const] : [longest, 'lead' as const];
  const doubt = `set this: nothing shows what these records are; ${kind}s are only an example`;
  if (table) kinds.get(table)!.set(kind, { assignment: assign(table, kind, references), doubt });
}

/**
 * Deals whose people are in another export are no people themselves, and people about whom another export has deals are no deals:
 * their amount is a budget. Line items and payments of deals are no deals.
 */
function withoutParts(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  for (const [table, found] of kinds) {
    if (!found.has('deal')) continue;
    const others = [...kinds].filter(([other]) => other !== table);
    // Of two that name each other, what less is known of is a part: the work that an offer has led to.
    const sizeOf = ({ table: of }: Column): number => kinds.get(of)!.get('deal')?.assignment.roles.size ?? 0;
    const isReverse = (each: Reference): boolean =>
      references.some(
        ({ from, to, share }) =>
          from.table === each.to.table &&
          to.table === each.from.table &&
          ((from === each.to && to === each.from && share > each.share) ||
            (isKey(to) && share > 0.9 && sizeOf(from) > 0 && sizeOf(to) > sizeOf(from))),
      );
    const refers = (from: Table, of: RecordKind, its: TableKinds, least: number): boolean => {
      const roles = its.get(of)?.assignment.roles;
      const keys = [roles?.get('id')?.column, roles?.get('email')?.column];
      return references.some(
        (each) => each.from.table === from && keys.includes(each.to) && isSure(each, least) && !isReverse(each),
      );
    };
    const people = others.flatMap(([other, its]) => (its.has('lead') && its.size === 1 ? [other] : []));
    const name = found.get('lead')?.assignment.roles.get('full')?.column;
    const areKnown = references.some(
      (each) => each.from === name && people.includes(each.to.table) && each.to.is.words > 0.8 && isSure(each, 0.98),
    );
    if (found.size > 1 && areKnown) found.delete('lead');
    const isCalled = table.nouns.includes('deal');
    const isAbout = ([other, its]: readonly [Table, TableKinds]): boolean => {
      const roles = its.get('deal')?.assignment.roles;
      return (roles?.has('title') || roles?.has('stage')) === true && refers(other, 'lead', found, 0.9);
    };
    if (found.has('lead') && !isCalled && others.some(isAbout)) found.delete('deal');
    const refersTo = (kind: RecordKind): boolean => others.some(([, its]) => refers(table, kind, its, 0.4));
    if (found.size > 1 && (refersTo('lead') || (people.length > 0 && !hasPerson(found)))) found.delete('lead');
    if (refersTo('deal') && !isCalled) found.delete('deal');
  }
}

/** Where most deals reach a record of a table and no person, also not by its own people: how many. */
function dealsWithoutPeople(
  company: Table,
  kinds: ReadonlyMap<Table, TableKinds>,
  references: readonly Reference[],
): string | undefined {
  const isA = ({ table }: Column, kind: RecordKind): boolean => kinds.get(table)!.has(kind);
  const own = references.filter(({ to, ...each }) => to.table === company && isKey(to) && isSure({ to, ...each }, 0.9));
  for (const { from, to } of own.filter((each) => isA(each.from, 'deal') && !isA(each.from, 'lead'))) {
    const { table, sql } = from;
    const isOfPerson = (each: Reference): boolean =>
      each.from.table === table && isA(each.to, 'lead') && isUnique(each.to) && isSure(each, 0.5);
    // A few suppliers of all deals are not whom these are with.
    if (
      isStaff(from) ||
      from.distinct < from.filled / 5 ||
      references.some((each) => isOfPerson(each) && !isStaff(each.from))
    )
      continue;
    const people = own.filter((each) => each.to === to && isA(each.from, 'lead'));
    const known = people.map(
      (each) => `select ${each.from.sql} from ${each.from.table.sql} where ${each.from.sql} is not null`,
    );
    const without = countOf(
      table,
      `from ${table.sql} where ${[`${sql} is not null`, ...known.map((ids) => `${sql} not in (${ids})`)].join(' and ')}`,
    );
    if (without > table.rows / 2) return `${ofText(without, table.rows)} records of ${table.source}`;
  }
  return undefined;
}

/** Rows that repeat the name of a person beside their id or number, as links and logs of calls do, are not these people. */
function withoutLinks(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  const personal = (table: Table, ...roles: readonly Role[]): (Column | undefined)[] => {
    const found = kinds.get(table)!.get('lead')?.assignment.roles;
    return roles.map((role) => found?.get(role)?.column);
  };
  for (const [table, found] of kinds) {
    const named = personal(table, 'email', 'full');
    const own = references.filter((each) => each.from.table === table && each.share > 0.9 && isUnique(each.to));
    const isLink = own.some(({ from, to }) => {
      const isTheirs = !isUnique(from) && personal(to.table, 'id', 'phone').includes(to);
      return isTheirs && own.some((each) => named.includes(each.from) && each.to.table === to.table);
    });
    if (isLink) found.delete('lead');
  }
}

/** Of two tables of people to which the same deals refer, the smaller one may be what they are about: vacancies with a contact. */
function noteSubjects(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  for (const [table, found] of kinds) {
    if (!found.has('deal') || found.has('lead')) continue;
    const isOfPeople = ({ from, to, ...rest }: Reference): boolean =>
      from.table === table && isUnique(to) && isId(to) && isSure({ from, to, ...rest }, 0.8) && !isStaff(from);
    const own = references.filter((each) => isOfPeople(each) && kinds.get(each.to.table)!.has('lead'));
    const people = [...new Set(own.map(({ to }) => to.table))].sort((a, b) => b.rows - a.rows);
    for (const other of people.slice(1)) {
      const lead = kinds.get(other)!.get('lead')!;
      const doubt = `check: ${table.source} refers to these records and to ${people[0]!.source}: these may be what its deals are about, not people`;
      if (!other.nouns.includes('lead')) kinds.get(other)!.set('lead', { doubt, ...lead });
    }
  }
}

/** Whether the rows have a person with a name and an address or a number. */
function hasPerson(found: TableKinds): boolean {
  const { roles } = found.get('lead')!.assignment;
  const isNamed = (['full', 'last'] as const).some((role) => (roles.get(role)?.score ?? 0) > SURE);
  return isNamed && (roles.has('email') || roles.has('phone'));
}
