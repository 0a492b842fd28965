/** What the records of each table are: decided last, from the best assignments and from who refers to whom. */
import { ofText } from '../../../terminal/numbers.ts';
import { assign, columnsOf, SURE } from '../assign.ts';
import {
  countOf,
  countsOf,
  isFew,
  isIn,
  isKey,
  isUnique,
  pathOf,
  plainColumns,
  type Column,
  type Table,
} from '../columns.ts';
import { isId, isOfFirms, ofAddress } from '../content.ts';
import { endings } from '../ends.ts';
import { isSure, namesOf, type Reference } from '../relations/references.ts';
import { CONTACTS, isOfFirm, isStaff, RECORD_KINDS, scoreOf, type RecordKind, type Role } from '../roles.ts';
import { fold, type Concept } from '../words.ts';
import { Signs, type TableKinds } from './signs.ts';

/** The kinds of all tables: people first, then deals, which may refer to them, then comments on both. `answered`: what the user says. */
export function kindsOf(
  tables: readonly Table[],
  references: readonly Reference[],
  answered: ReadonlyMap<Table, ReadonlySet<RecordKind>>,
): Map<Table, TableKinds> {
  const kinds = new Map<Table, TableKinds>(tables.map((table) => [table, new Map()]));
  const has = (kind: RecordKind): boolean => [...kinds.values()].some((found) => found.has(kind));
  notePeople(tables);
  noteFirms(tables, references);
  noteCustomers(tables, references);
  noteStaff(tables, references, answered);
  noteStages(tables, references);
  noteTeam(tables);
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

/** The name of a file is weak evidence: rows of people with an address of their own beside a column of companies are no companies. */
function notePeople(tables: readonly Table[]): void {
  for (const table of tables) {
    const isPerson = (column: Column): boolean =>
      !isOfFirm(column) && column.is.person > 0.6 && ofAddress(column) > 0.6;
    if (table.nouns.includes('company') && table.columns.some(isOfFirm) && table.columns.some(isPerson))
      table.nouns = table.nouns.filter((noun) => noun !== 'company');
  }
}

/**
 * Names without any address or number, to which several people each refer by an id, are firms whatever they are called: the `contact` that
 * a `person` is of. What has the addresses of somebody refers to people.
 */
function noteFirms(tables: readonly Table[], references: readonly Reference[]): void {
  const hasAddress = ({ columns }: Table): boolean =>
    columns.some((each) => (['email', 'phone'] as const).some((role) => scoreOf(role, each, 'lead') > 0.36));
  for (const table of tables) {
    if (table.list !== undefined || !table.nouns.includes('lead') || hasAddress(table) || namesOf(table).length > 0)
      continue;
    const own = references.filter((each) => each.to.table === table && isUnique(each.to) && isId(each.to));
    const sure = own.filter((each) => isSure(each, 0.9) && !isStaff(each.from) && each.from.table.list === undefined);
    const isOfPeople = ({ from }: Reference): boolean => namesOf(from.table).length > 0;
    const isOfAddress = ({ from }: Reference): boolean => hasAddress(from.table) && namesOf(from.table).length === 0;
    if (sure.some((each) => isOfPeople(each) && !isUnique(each.from)) && !sure.some(isOfAddress))
      table.nouns = ['company'];
  }
}

/** Where no table is called after people, the `users` are those whom most records name otherwise than as their owner: buyers, requesters. */
function noteCustomers(tables: readonly Table[], references: readonly Reference[]): void {
  if (tables.some(({ nouns, list }) => list === undefined && nouns.includes('lead'))) return;
  for (const table of tables) {
    if (table.list !== undefined || !table.nouns.includes('user')) continue;
    const isTheirs = (each: Reference): boolean =>
      each.to.table === table &&
      each.from.table !== table &&
      isUnique(each.to) &&
      isSure(each, 0.7) &&
      !isStaff(each.from) &&
      // Each of the staff has many records.
      each.from.filled < table.rows * 5 &&
      each.from.distinct > table.rows * 0.4;
    if (references.some(isTheirs)) table.nouns = ['lead'];
  }
}

/**
 * The staff: a few people of no known kind to whom records refer that also have another person, of many more, or whose names or
 * ids a column has again and again. `answered`: a table that becomes nothing may be theirs whatever it is called.
 */
function noteStaff(
  tables: readonly Table[],
  references: readonly Reference[],
  answered: ReadonlyMap<Table, ReadonlySet<RecordKind>>,
): void {
  const isOfPeople = (table: Table): boolean =>
    namesOf(table).length > 0 ||
    table.columns.some(({ is, meaning }) => is.email > 0.8 || (is.person > 0.8 && !meaning.concepts.has('company')));
  const sure = references.filter((each) => isSure(each, 0.9) && isUnique(each.to));
  for (const table of tables) {
    const isNone = answered.get(table)?.size === 0;
    const isMore = (other: Table): boolean => other.rows >= 5 * table.rows && isOfPeople(other);
    const own = sure.filter(({ from, to }) => to.table === table && isFew(from));
    const besideOthers = own.some(
      ({ from, to }) =>
        isId(to) && sure.some((each) => each.from.table === from.table && each.from !== from && isMore(each.to.table)),
    );
    if (table.nouns.includes('user') && table.nouns.includes('lead')) {
      const isTeam = table.rows <= MAX_STAFF && !table.columns.some(({ is, filled }) => filled > 0 && is.email > 0.5);
      table.nouns = [isTeam || besideOthers ? 'user' : 'lead'];
    }
    if (isNone) table.nouns = table.nouns.filter((noun) => !RECORD_KINDS.some((kind) => kind === noun));
    if (table.nouns.length > 0 || table.rows === 0 || table.rows > MAX_STAFF || !isOfPeople(table)) continue;
    const isRepeated = own.length > 0 && own.every(({ from }) => from.filled >= 5 * table.rows) && tables.some(isMore);
    // Small numbers are among those of other tables, too.
    const to = references.filter(
      (each) => each.to.table === table && each.share > 0.9 && isKey(each.to) && !isUnique(each.from),
    );
    const areOwners =
      to.length > 0 &&
      to.every(({ from }) => isStaff(from)) &&
      to.some(({ from }) => from.distinct >= table.rows * 0.7);
    // Suppliers and insurers are referred to like the staff, but each has a domain of its own.
    const areFirms = table.columns.some((each) => each.is.email > 0.8 && isOfFirms(each));
    if (besideOthers || isRepeated || (areOwners && tables.some(isMore)) || (isNone && own.length > 0))
      table.nouns = [areFirms ? 'company' : 'user'];
  }
}

const MAX_STAFF = 60;

/**
 * Columns of several tables with the same few names under different headers, or with their initials: those who have the deals, and who
 * wrote the texts. Initials may also be known from texts that are signed with them: `24/08 TB: wants a new offer`.
 */
function noteTeam(tables: readonly Table[]): void {
  const able = tables.flatMap(({ columns }) => columns.filter(mayBeTeam));
  const texts = tables.flatMap(({ columns }) => columns.filter(({ is }) => is.prose > 0.5));
  const names = new Map(able.map((column) => [column, [...countsOf(column).keys()]]));
  for (const column of able.filter((each) => !isStaff(each))) {
    const own = names.get(column)!;
    const isSame = (other: Column): boolean => {
      const shared = names.get(other)!.filter((name) => own.some((each) => isSameName(each, name))).length;
      return shared > 1 && shared >= Math.max(own.length, names.get(other)!.length) * 0.6;
    };
    const signs = own.every((name) => INITIALS.test(name)) ? own.map(signature) : [];
    const isSigned = ({ values }: Column): boolean =>
      signs.length > 1 && signs.every((sign) => values.some((text) => sign.test(text)));
    const others = able.filter((each) => each.table !== column.table && isElsewhere(each, column));
    const found = others.filter(isSame).sort((a, b) => Number(isStaff(b)) - Number(isStaff(a)))[0];
    const team = found ?? texts.find(isSigned);
    if (team) column.team = team;
  }
}

const TEAM: readonly Concept[] = ['closed', 'created', 'happened', 'name'];
const INITIALS = /^\p{Lu}{2,4}$/u;

/** At the beginning of a line, or after the date there, and before a colon. */
function signature(initials: string): RegExp {
  return new RegExp(`^(?:[\\d.,/: -]+)?${initials}\\s?:`, 'm');
}

/** `BS` and `Avv. Bianca Serra`, too. */
function isSameName(one: string, other: string): boolean {
  const initialsOf = (name: string): string => name.replace(/(?<=\S)\S+|\s+/gu, '').toUpperCase();
  const isShort = (short: string, name: string): boolean => INITIALS.test(short) && initialsOf(name).endsWith(short);
  return fold(one) === fold(other) || isShort(one, other) || isShort(other, one);
}

/** Under another header, or one of those who created the records. */
function isElsewhere(one: Column, { name, meaning }: Column): boolean {
  return fold(one.name) !== fold(name) || meaning.concepts.has('created');
}

/** A few names that repeat, under a header that says nothing else. */
function mayBeTeam(column: Column): boolean {
  const { is, distinct, filled, date, list, meaning } = column;
  const isNames = is.words > 0.8 && Math.max(is.oneName, is.person) > 0.6 && is.email < 0.2;
  // `Abgeschlossen durch` is no date, and `Created Name` is not what was created.
  const isOpen = isStaff(column) || [...meaning.concepts].every((each) => TEAM.includes(each));
  const repeats = distinct > 1 && distinct <= 12 && filled >= distinct * 3;
  return isNames && isOpen && repeats && !date && list === undefined && endings(column).all === 0;
}

/** The steps of a board: a few names in an order, each with an id that many records of another table have. */
function noteStages(tables: readonly Table[], references: readonly Reference[]): void {
  for (const table of tables) {
    const { columns, rows, nouns, list } = table;
    if (nouns.length > 0 || list !== undefined || rows > MAX_STAGES) continue;
    const isNamed = columns.some((column) => isUnique(column) && column.is.words > 0.8 && !isId(column));
    const isOrdered = ({ values }: Column): boolean =>
      values.every((value, at) => at === 0 || Number(value) > Number(values[at - 1]));
    const isTheirs = (each: Reference): boolean =>
      each.to.table === table &&
      each.from.list === undefined &&
      each.from.table.list === undefined &&
      isKey(each.to) &&
      isSure(each, 0.9) &&
      isFew(each.from) &&
      each.from.distinct > 1 &&
      each.from.table.rows > rows * 2 &&
      columns.some((column) => column !== each.to && isKey(column) && isOrdered(column));
    if (isNamed && references.some(isTheirs)) table.nouns = ['stage'];
  }
}

const MAX_STAGES = 30;

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
    const isAbout = ([other, its]: readonly [Table, TableKinds]): boolean =>
      its.get('deal')?.assignment.roles.has('title') === true && refers(other, 'lead', found, 0.9);
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
      const doubt = `check: ${table.source} refers to these and to ${people[0]!.source}: they may be what its deals are about, and no people`;
      if (!other.nouns.includes('lead')) kinds.get(other)!.set('lead', { doubt, ...lead });
    }
  }
}

/** Whether the rows have a person with a name and an address or a number. */
function hasPerson(found: TableKinds): boolean {
  const { roles } = found.get('lead')!.assignment;
  return (roles.get('full')?.score ?? 0) > SURE && (roles.has('email') || roles.has('phone'));
}
