/** What tables are, by their relations, before the kinds of their records are decided: people, firms, customers, staff, stages. */
import { countsOf, isComplete, isFew, isKey, isUnique, type Column, type Table } from '../columns.ts';
import { isCode, isId, isOfFirms, isWritten, ofAddress } from '../matrix/content.ts';
import { endings } from '../matrix/ends.ts';
import { isSure, namesOf, type Reference } from '../relations/references.ts';
import { CONTACTS, isOfFirm, isStaff, RECORD_KINDS, scoreOf, type RecordKind } from '../matrix/roles.ts';
import { fold, type Concept } from '../words.ts';

/** Corrects what the names of files say. `answered`: what the user says. */
export function noteNouns(
  tables: readonly Table[],
  references: readonly Reference[],
  answered: ReadonlyMap<Table, ReadonlySet<RecordKind>>,
): void {
  notePeople(tables);
  noteFirms(tables, references);
  noteCustomers(tables, references);
  noteStaff(tables, references, answered);
  noteStages(tables, references);
  noteTeam(tables);
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

/** An e-mail address or a telephone number. */
function hasAddress({ columns }: Table): boolean {
  return columns.some((each) => CONTACTS.some((role) => scoreOf(role, each, 'lead') > 0.36));
}

/**
 * Whether records have the ids of people again and again, and a text or a few names: what is known of these has a table of its own, as
 * `E-mail Address` and `Web Site` of each may have.
 */
export function isAboutPeople(table: Table, references: readonly Reference[]): boolean {
  const isTheirs = (each: Reference): boolean =>
    each.from.table === table &&
    isComplete(each.from) &&
    !isUnique(each.from) &&
    isKey(each.to) &&
    isCode(each.to) &&
    isSure(each, 0.95) &&
    !isStaff(each.from) &&
    hasAddress(each.to.table);
  const isKindOfName = (each: Column): boolean =>
    isFew(each) && each.distinct < each.filled / 4 && each.is.spaced > 0.5;
  const isText = hasAddress(table) ? isKindOfName : isWritten;
  return table.columns.some(isText) && references.some(isTheirs);
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
  const isNames = is.email > 0.8 || (is.words > 0.8 && Math.max(is.oneName, is.person) > 0.6 && is.email < 0.2);
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
