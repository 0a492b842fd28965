/** The score matrix, columns x roles: the assignment with the best sum is taken. What a table is follows from it, last. */
import {
  bothOf,
  countOf,
  fillOf,
  isComplete,
  isKey,
  isNamed,
  isUnique,
  objectOf,
  type Column,
  type Table,
} from './columns.ts';
import { differingByAddress, isId, isRowNumber, keys, ofAddress } from './content.ts';
import { stageBeside } from './ends.ts';
import { isCalledAlike, isSure, namesTable, type Reference } from './relations/references.ts';
import { bestSum } from './best-sum.ts';
import { headerScore, isStaff, NAMES, ROLES_OF, scoreOf, whoseOf, type RecordKind, type Role } from './roles.ts';
import { fold } from './words.ts';

export interface RoleCandidate {
  readonly column: Column;
  readonly score: number;
}

/** The column of a role, and those that come near it. */
export interface RoleFound extends RoleCandidate {
  readonly others: readonly RoleCandidate[];
}

export interface Assignment {
  readonly kind: RecordKind;
  readonly roles: ReadonlyMap<Role, RoleFound>;
  /** Of the roles that are left open: the columns that may have them, best first. */
  readonly candidates: ReadonlyMap<Role, readonly RoleCandidate[]>;
}

/** The columns that have some roles, in the order of these. */
export function columnsOf(roles: Assignment['roles'] | undefined, ...of: readonly Role[]): Column[] {
  return of.flatMap((role) => roles?.get(role)?.column ?? []);
}

type Scores = ReadonlyMap<Role, readonly RoleCandidate[]>;

/** From here on a column has its role; below, the role is left open. */
export const MIN_SCORE = 0.36;
/** From here on it needs no check. */
export const SURE = 0.62;
/** Columns below are no candidates. */
const MIN_CANDIDATE = 0.15;
/** What a deal is about may be one of few products. */
const MIN_TITLE = 0.04;
const MAX_CANDIDATES = 6;

/** `block`: the columns in which all is that is known of a deal: a stage outside is that of the person. */
export function assign(
  table: Table,
  kind: RecordKind,
  references: readonly Reference[],
  block: readonly Column[] = table.columns,
): Assignment {
  const scores = new Map<Role, readonly RoleCandidate[]>();
  for (const role of ROLES_OF[kind]!) {
    const columns = role === 'stage' || role === 'outcome' ? block : table.columns;
    const able = columns.map((column) => ({ column, score: scoreIn(role, column, kind, references) }));
    const sorted = able
      .filter(({ score }) => score >= (role === 'title' ? MIN_TITLE : MIN_CANDIDATE))
      .sort((a, b) => b.score - a.score);
    scores.set(role, sorted.slice(0, MAX_CANDIDATES));
  }
  const taken = new Map<Role, Column>();
  const [first] = scores.get('id')!;
  const id = first && first.score >= MIN_SCORE ? first.column : undefined;
  if (id) taken.set('id', id);
  // A name, a title, an address or a telephone number that is the id is that, too.
  const isPhone = id && id.is.phone > 0.8 && id.is.grouped + id.is.international > 0.5;
  const isKeyOnly = id && !(id.is.words > 0.8 && id.is.code < 0.5) && id.is.email < 0.5 && !isPhone;
  const rest = ROLES_OF[kind]!.filter((role) => role !== 'id');
  const columns = [...new Set(rest.flatMap((role) => scores.get(role)!.map(({ column }) => column)))].filter(
    (column) => !(isKeyOnly && column === id),
  );
  const matrix = rest.map((role) =>
    columns.map((column) => {
      const score = scoreOfTaken(scores, role, column);
      return score >= leastOf(role, column) ? score : 0;
    }),
  );
  bestSum(matrix).forEach((at, row) => {
    if (at !== undefined) taken.set(rest[row]!, columns[at]!);
  });
  settle(kind, taken, scores);
  const used = new Set(taken.values());
  const roles = new Map<Role, RoleFound>();
  const candidates = new Map<Role, readonly RoleCandidate[]>();
  for (const [role, sorted] of scores) {
    const column = taken.get(role);
    const others = sorted.filter((each) => !used.has(each.column) && isCandidate(role, each.column, kind));
    const near = role === 'title' ? others : others.slice(0, 3);
    // An outcome alone is the stage, as sure as it is one.
    const alike = [role, ...(role === 'stage' ? (['outcome'] as const) : [])];
    const score = column ? Math.max(...alike.map((each) => scoreOfTaken(scores, each, column))) : 0;
    if (column) roles.set(role, { column, score: score || MIN_SCORE, others: near });
    else candidates.set(role, near);
  }
  return { kind, roles, candidates };
}

function scoreIn(role: Role, column: Column, kind: RecordKind, references: readonly Reference[]): number {
  const { concepts } = column.meaning;
  if (column.isName && !SHARED.includes(role)) return 0;
  const own = references.filter((each) => each.from === column && isKey(each.to) && isSure(each, 0.8));
  // The id that the lines of a record repeat is that of the record, whatever it is called.
  const { key } = column.table.only ?? {};
  if (role === 'id' && kind === 'deal' && key !== undefined) return Number(column.name === key);
  if (role === 'id') return idScore(column, kind, references, own);
  // A constant names no record. One member may own all records, but not where another column tells them apart; so is it with names.
  const isSame = isConstant(column);
  if (isSame && (role === 'title' || role === 'subject' || role === 'content')) return 0;
  if ((role === 'content' || role === 'subject') && namesOther(column, references)) return 0;
  const isName = NAMES.includes(role);
  const isSteady = isName && isSteadyName(column);
  const more = isName && !isStaff(column) ? Math.max(ofAddress(column), Number(isSteady)) * 0.5 : 0;
  // What differs where another column has one name for each address is what the records are about.
  const isOther = isName && (differingByAddress(column) ?? 0) > 0.5 && column.table.columns.some(isSteadyName);
  const isLess = isOther || (isSame && [...SHARED, ...NAMES].includes(role));
  // What the record has itself comes before what is in a list of it.
  const isListed = column.list !== undefined && (role === 'email' || role === 'phone');
  const score = scoreOf(role, column, kind, more) * (isLess ? 0.6 : isListed ? 0.9 : 1);
  // Ids of other records are no amounts.
  const isOfIds = ({ to, share }: Reference): boolean =>
    share > 0.9 && (to.meaning.concepts.has('id') || to.meaning.concepts.has('number') || isCalledAlike(column, to));
  if (role === 'amount' && (concepts.has('id') || !concepts.has('amount')) && own.some(isOfIds)) return 0;
  if ((role === 'owner' || role === 'author') && isOfParent(column, references)) return 0;
  // Many of those who are people themselves have no deals of others.
  const isOfPeople = ({ to }: Reference): boolean =>
    to.table.nouns.includes('lead') && to.is.person > 0.7 && column.distinct > Math.max(8, to.distinct * 0.3);
  if (role === 'owner' && own.some(isOfPeople)) return 0;
  if ((role === 'owner' || role === 'author') && column.team) return Math.max(score, 0.5);
  const noun = REFERRED[role];
  if (noun === undefined || concepts.has(role === 'stage' ? 'pipeline' : 'created')) return score;
  // However many stages there are, the ids of a table of stages are stages; the ids and addresses of users are members.
  const isOf = own.some(({ to }) => to.table.nouns.includes(noun)) && headerScore(role, column, kind) > -0.3;
  return isOf && !isSame ? 1 - (1 - score) * 0.3 : score;
}

/** Whether it has the same name in all records of an address that several have. */
function isSteadyName(column: Column): boolean {
  return column.is.person > 0.6 && differingByAddress(column) === 0;
}

/** What names another record is no text about it. */
export function namesOther(column: Column, references: readonly Reference[]): boolean {
  return references.some((each) => each.from === column && isKey(each.to) && isSure(each, 0.9));
}

/**
 * The name of a person or a deal beside its id: `Who.Name` beside `Who.Id`, or one that changes with the id and is also in its table.
 */
function isOfParent(column: Column, references: readonly Reference[]): boolean {
  const { table, name } = column;
  const above = objectOf(column);
  const isBeside = ({ from, to }: Reference): boolean =>
    (above !== '' && from.name.startsWith(above) && fold(from.name.slice(above.length)) === 'id') ||
    (from.distinct === column.distinct &&
      !isStaff(column) &&
      references.some((each) => each.from === column && each.to.table === to.table && each.share > 0.9));
  return references.some(
    (each) =>
      each.from.table === table &&
      each.from.name !== name &&
      each.to.table.nouns.some((noun) => noun === 'lead' || noun === 'deal') &&
      isBeside(each) &&
      isKey(each.to) &&
      isSure(each, 0.8),
  );
}

/** Tables to whose ids the columns of a role may refer. */
const REFERRED: Readonly<Partial<Record<Role, Table['nouns'][number]>>> = {
  stage: 'stage',
  owner: 'user',
  author: 'user',
};

/** Without being unique, a column is an id only where its header or other tables say so. `own`: whose ids it has. */
function idScore(
  column: Column,
  kind: RecordKind,
  references: readonly Reference[],
  own: readonly Reference[],
): number {
  const { concepts } = column.meaning;
  // The id of its parent, even if each has only one child: `Contact Id` of deals, where contacts have it, too.
  const isForeign = concepts.has('person') || concepts.has('customer') || concepts.has('deal');
  if (kind === 'comment' && isForeign && !concepts.has('text') && !concepts.has('happened')) return 0;
  const isTheirs = ({ to, by }: Reference): boolean => by.apply.length === 0 && fold(to.name) === fold(column.name);
  if (kind !== 'lead' && concepts.has('person') && !concepts.has('deal') && own.some(isTheirs)) return 0;
  if (kind === 'comment' && column.distinct < column.filled * 0.9) return 0;
  // What repeats where another column tells all records apart is the id of something else.
  const isOfKind = kind === 'lead' ? concepts.has('person') || concepts.has('customer') : concepts.has(kind as 'deal');
  const isIdOfAll = (each: Column): boolean =>
    isKey(each) &&
    (keys(each) > 0.4 || (keys(each) > 0 && referred(each, references) > 0.4)) &&
    headerScore('id', each, kind) > -0.7;
  if (!isUnique(column) && (own.length > 0 || !isOfKind) && column.distinct < column.filled * 0.9) {
    if (column.table.columns.some(isIdOfAll)) return 0;
  }
  // `Child ID` of enquiries is that of the children, although each has only one enquiry.
  const isOfOther = ({ to }: Reference): boolean =>
    isUnique(to) &&
    !namesTable(column, column.table) &&
    (namesTable(column, to.table) || (isCalledAlike(column, to) && isFirst(to) && !isFirst(column)));
  if (own.some(isOfOther) && column.table.columns.some((each) => each !== column && isIdOfAll(each))) return 0;
  const more = referred(column, references);
  // In a file of lines, with one more the next ones would be others.
  const isFound = column.table.from.source.kind === 'tree' || column.table.from.settings.columns !== undefined;
  if (more === 0 && !isFound && headerScore('id', column, kind) <= 0 && isRowNumber(column)) return 0;
  if (!isUnique(column) && more === 0 && headerScore('id', column, kind) < 0.85) return 0;
  // What others refer to is the id, and no other one beside it.
  const isForeignKey = (each: Column): boolean =>
    references.some((one) => one.from === each && isKey(one.to) && isSure(one, 0.8));
  const isTheirId = (each: Column): boolean =>
    isIdOfAll(each) && keys(each) > 0.4 && referred(each, references) > 0.4 && !isForeignKey(each);
  return (
    scoreOf('id', column, kind, more) *
    (more === 0 && kind !== 'comment' && column.table.columns.some(isTheirId) ? 0.85 : 1)
  );
}

function isFirst(column: Column): boolean {
  return column.table.columns[0] === column;
}

/** Content is all that an unknown header leaves. */
function leastOf(role: Role, { meaning, table, is }: Column): number {
  // Names of houses and firms are like some of people.
  if (role === 'owner' && meaning.concepts.size === 0 && Math.max(is.person, is.email) < 0.95) return MIN_SCORE;
  if (!isNamed(table)) return 0.2;
  return meaning.concepts.size === 0 && BY_CONTENT.includes(role) ? 0.3 : MIN_SCORE;
}

/** Roles that every deal has, so that a column that nothing speaks against may be shown as theirs, to be checked. */
const BY_CONTENT: readonly Role[] = ['title', 'owner', 'created'];

/** What records have in common with others. */
const SHARED: readonly Role[] = ['stage', 'pipeline', 'owner', 'author'];

/**
 * A constant is no candidate, but for a currency. For what records have in common, neither are columns that differ in most of them or
 * whose header means something else: a customer's address is no owner.
 */
function isCandidate(role: Role, column: Column, kind: RecordKind): boolean {
  if (role === 'currency') return true;
  if (!SHARED.includes(role)) return !isConstant(column);
  const { concepts } = column.meaning;
  const isOther = concepts.size > 0 && !concepts.has('id') && headerScore(role, column, kind) <= 0;
  return column.distinct > 1 && column.distinct <= column.filled * 0.8 && !isOther;
}

function isConstant({ distinct, filled }: Column): boolean {
  return distinct === 1 && filled > 6;
}

/**
 * How sure others refer to a column: the best of the shares. The ids of other records refer to nothing. A column may have the ids of
 * several tables; but numbers are in others by chance.
 */
export function referred(column: Column, references: readonly Reference[]): number {
  const least = column.is.digits > 0.9 || !isId(column) ? 0.8 : 0.3;
  const shares = references.flatMap((each) =>
    each.to === column &&
    (!isKey(each.from) || each.isSpread || namesTable(each.from, column.table)) &&
    isSure(each, least)
      ? [each.share]
      : [],
  );
  return 0.5 * Math.max(0, ...shares);
}

/** A first or a last name alone is the full name; an outcome alone is the stage. */
function settle(kind: RecordKind, taken: Map<Role, Column>, scores: Scores): void {
  if (kind === 'lead') {
    pairUp(taken, scores);
    const [first, last, full] = [taken.get('first'), taken.get('last'), taken.get('full')];
    const part = first ?? last;
    // Beside a first name, a column of other names is the last name, whatever it is called (`Prénom`, `Nom`), and the reverse.
    if (full && part && !(first && last) && (full.is.spaced < 0.4 || !isPartOf(part, full))) {
      taken.set(first ? 'last' : 'first', full);
      taken.delete('full');
    } else if (!(first && last)) {
      const only = first ?? last;
      if (only && (!full || scoreOfTaken(scores, 'full', full) < SURE)) taken.set('full', only);
      taken.delete('first');
      taken.delete('last');
    } else taken.delete('full');
    sameAs(taken, scores);
  }
  const text = taken.get('content');
  const theirs = text && (writerOf(text) ?? signedBy(taken, scores));
  if (theirs) taken.set('author', theirs);
  const [end, ...both] = (['stage', 'outcome'] as const).flatMap((role) => taken.get(role) ?? []);
  const used = [...taken.values()];
  const able = (scores.get('stage') ?? []).flatMap(({ column }) => (used.includes(column) ? [] : [column]));
  const stage = end && both.length === 0 ? stageBeside(end, able) : undefined;
  if (stage) taken.set('outcome', end!).set('stage', stage);
  const outcome = taken.get('outcome');
  if (outcome && !taken.has('stage') && outcome.is.words > 0.8) {
    taken.set('stage', outcome);
    taken.delete('outcome');
  }
}

/** `source.author.name` beside `source.body`: who wrote it is in the object that has the text. */
function writerOf(text: Column): Column | undefined {
  const above = objectOf(text);
  const [best] = text.table.columns
    .filter((each) => above !== '' && each.name.startsWith(above) && each.list === text.list && each.is.words > 0.8)
    .filter((each) => headerScore('author', each, 'comment') > 0.8 && each.is.email < 0.5)
    .sort((a, b) => b.is.person - a.is.person);
  return best;
}

/** Of two likely authors, the one who is named just where there is a time, or a text: who logged a call, not who planned it. */
function signedBy(taken: Map<Role, Column>, scores: Scores): Column | undefined {
  const some = [taken.get('happened'), taken.get('content')].find((each) => each && !isComplete(each));
  const author = taken.get('author');
  if (!some || !author) return undefined;
  const isFar = ({ table, sql }: Column): boolean =>
    countOf(table, `from ${table.sql} where (${sql} is null) <> (${some.sql} is null)`) > table.rows * 0.05;
  const near = scores.get('author')!.filter(({ score }) => score > scoreOfTaken(scores, 'author', author) - 0.2);
  return isFar(author) ? near.find(({ column }) => !isFar(column))?.column : undefined;
}

/** `billing.first_name` and `shipping.last_name` are of two people: both are taken from one of the groups, the fuller one. */
function pairUp(taken: Map<Role, Column>, scores: Scores): void {
  const [first, last] = [taken.get('first'), taken.get('last')];
  if (!first || !last || whoseOf(first) === whoseOf(last)) return;
  const pairs = [
    ...ofSame('last', first, scores).map((each) => [first, each] as const),
    ...ofSame('first', last, scores).map((each) => [each, last] as const),
  ].filter(([own, other]) => own !== other);
  // The names of the record itself come before those of its addresses.
  const worth = (pair: readonly [Column, Column]): number =>
    Math.min(...pair.map(fillOf)) - 0.2 * pair[0].name.split('.').length;
  const [best] = pairs.sort((one, other) => worth(other) - worth(one));
  if (best) taken.set('first', best[0]).set('last', best[1]);
}

/** Where the address is the `Parent Email`, the person is the `Parent Name`, not the child. */
function sameAs(taken: Map<Role, Column>, scores: Scores): void {
  const address = taken.get('email') ?? taken.get('phone');
  const own = [taken.get('full'), taken.get('first'), taken.get('last')].flatMap((each) => each ?? []);
  const [theirs] = address && whoseOf(address) !== '' ? ofSame('full', address, scores) : [];
  if (!theirs || own.length === 0 || own.some((each) => whoseOf(each) === whoseOf(address!))) return;
  for (const role of ['first', 'last'] as const) taken.delete(role);
  taken.set('full', theirs);
}

function ofSame(role: Role, column: Column, scores: Scores): Column[] {
  return scores.get(role)!.flatMap((each) => (whoseOf(each.column) === whoseOf(column) ? [each.column] : []));
}

/** Whether full names have the names of another column in them. */
function isPartOf(part: Column, full: Column): boolean {
  const pairs = bothOf(part, full);
  return pairs.filter(([own, all]) => fold(all).includes(fold(own))).length > pairs.length / 2;
}

function scoreOfTaken(scores: Scores, role: Role, column: Column): number {
  return scores.get(role)!.find((each) => each.column === column)?.score ?? 0;
}

/** Rows are a person and a deal only with a name of the person that is no title, or an address that is not the owner's. */
export function isTwin(assignments: ReadonlyMap<RecordKind, Assignment>): boolean {
  const [{ roles: person }, { roles: deal }] = [assignments.get('lead')!, assignments.get('deal')!];
  const name = (person.get('full') ?? person.get('last'))?.column;
  const email = person.get('email')?.column;
  return (
    name !== undefined &&
    (name !== deal.get('title')?.column || name.is.person > 0.7 || email !== undefined) &&
    (email === undefined || email !== deal.get('owner')?.column)
  );
}
