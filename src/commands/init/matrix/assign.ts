/** The score matrix, columns x roles: the assignment with the best sum is taken. What a table is follows from it, last. */
import { isKey, isNamed, isNameOf, isUnique, objectOf, once, type Column, type Table } from '../columns.ts';
import { differingByAddress, isCode, isId, isMostlyZero, isRowNumber, keys, ofAddress, sumOfMoney } from './content.ts';
import { isCalledAlike, isSure, namesTable, type Reference } from '../relations/references.ts';
import { bestSum } from './best-sum.ts';
import { scoreOfTaken, settle, type RoleCandidate } from './settle.ts';
import { headerScore, isStaff, NAMES, ROLES_OF, scoreOf, type RecordKind, type Role } from './roles.ts';
import { fold } from '../words.ts';

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

/** From here on a column has its role; below, the role is left open. */
export const MIN_SCORE = 0.36;
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
  if (STEPS.includes(role) && hasNameBeside(column)) return 0;
  const isSame = isConstant(column);
  if (isSame && (role === 'title' || role === 'subject' || role === 'content')) return 0;
  if ((role === 'content' || role === 'subject') && namesOther(column, references)) return 0;
  const isName = NAMES.includes(role);
  const isSteady = isName && isSteadyName(column);
  const more = isName && !isStaff(column) ? Math.max(ofAddress(column), Number(isSteady)) * 0.5 : 0;
  // What differs where another column has one name for each address is what the records are about.
  const isOther = isName && (differingByAddress(column) ?? 0) > 0.5 && column.table.columns.some(isSteadyName);
  // What names a person of another table is no name of a deal, unless nothing else is.
  const isTheirs = role === 'title' && own.some(({ to, share }) => share > 0.9 && isNameOfPeople(to));
  const isLess = isOther || (isSame && [...SHARED, ...NAMES].includes(role));
  // What the record has itself comes before what is in a list of it.
  const isListed = column.list !== undefined && (role === 'email' || role === 'phone');
  const isNothing = role === 'amount' && isBesideAmounts(column);
  const score = scoreOf(role, column, kind, more) * (isTheirs ? 0.3 : isLess || isNothing ? 0.6 : isListed ? 0.9 : 1);
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

/** Whether most deals have nothing there, where another column has their amounts. */
function isBesideAmounts(column: Column): boolean {
  const isZero = isMostlyZero(column);
  return column.table.columns.some((each) => {
    const isFuller = each.meaning.concepts.has('amount') && each.filled > 2 * column.filled;
    return (isFuller || (isZero && !isMostlyZero(each))) && sumOfMoney(each) > 0.25;
  });
}

function isNameOfPeople(column: Column): boolean {
  return column.table.nouns.includes('lead') && headerScore('full', column, 'lead') > 0.5;
}

/** `status` of `status.id` and `status.label`. */
function stemOf({ name }: Column): string {
  return fold(name).replace(/ ?(?:id|code|key|name|label|title)$/, '');
}

/** Of an id and its name beside it, the name is the stage. */
const hasNameBeside = once((column: Column): boolean => {
  const isName = (each: Column): boolean =>
    each !== column &&
    stemOf(each) === stemOf(column) &&
    each.is.words > 0.8 &&
    Math.max(each.is.code, each.is.uuid) < 0.5 &&
    isNameOf(column, each);
  return Math.max(column.is.code, column.is.digits, column.is.uuid) > 0.8 && column.table.columns.some(isName);
});

/** Whether it has the same name in all records of an address that several have. */
function isSteadyName(column: Column): boolean {
  return column.is.person > 0.6 && differingByAddress(column) === 0;
}

/** What names another record, of one table or of several, is no text about it. */
export function namesOther(column: Column, references: readonly Reference[]): boolean {
  const shares = new Map<Table, number>();
  for (const each of references)
    if (each.from === column && isKey(each.to) && isSure(each))
      shares.set(each.to.table, Math.max(each.share, shares.get(each.to.table) ?? 0));
  const all = [...shares.values()];
  return (
    all.some((share) => share >= 0.9) || (column.is.words > 0.8 && all.reduce((sum, each) => sum + each, 0) > 0.95)
  );
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
  if (
    more === 0 &&
    !isFound &&
    !/^id|id$/i.test(column.name) &&
    headerScore('id', column, kind) <= 0 &&
    isRowNumber(column)
  )
    return 0;
  // A row or two may have come twice.
  const isNearly = column.distinct >= column.filled * 0.97 && isCode(column);
  if (!isUnique(column) && more === 0 && headerScore('id', column, kind) < (isNearly ? 0.4 : 0.85)) return 0;
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

/** What tells how far a deal has come. */
const STEPS: readonly Role[] = ['stage', 'outcome', 'pipeline'];

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
