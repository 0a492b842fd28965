/** What the records of each table are: the sum of roles, nouns and relations by the table of kinds makes the proposal. */
import type { TransformSpec, ValueSpec } from '../../mapping/spec.ts';
import type { Column, Table } from '../facts/facts.ts';
import type { Concept } from '../facts/headers.ts';
import { saysSo, type Reference } from '../facts/relations.ts';
import { KIND_POINTS, KINDS, LEVELS, REFERS, type RecordKind, type Role } from '../know/roles.ts';
import { SIGNS } from '../know/texts.ts';
import { assign, sumOf, type Assignment, type Reason } from './score.ts';

export const RECORD_KINDS: readonly RecordKind[] = ['lead', 'deal', 'comment'];

/** What a table becomes, and why. */
export interface KindFound {
  readonly kind: RecordKind;
  readonly assignment: Assignment;
  readonly reasons: readonly Reason[];
  /** `set`: nothing shows it, it is only the likeliest; `check`: it is not sure. */
  readonly doubt?: { readonly mark: 'set' | 'check'; readonly why: string } | undefined;
}

export type TableKinds = ReadonlyMap<Table, readonly KindFound[]>;

/** What tells the records of an entry apart. */
export interface Key {
  readonly value: ValueSpec;
  readonly columns: readonly Column[];
  /** What is done with the value of the only column. */
  readonly apply?: readonly TransformSpec[] | undefined;
}

/** What the user says about a table, and about the roles of its columns. */
export interface KindAnswers {
  kindsOf(table: Table): readonly RecordKind[] | undefined;
  rolesOf(table: Table, kind: RecordKind): ReadonlyMap<Role, Column | undefined>;
  /** What tells its records apart, where that is known. */
  keyOf?(table: Table, kind: RecordKind): Key | undefined;
}

/** People and deals first, then comments on both. */
export function kindsOf(tables: readonly Table[], references: readonly Reference[], answers: KindAnswers): TableKinds {
  const kinds = new Map<Table, readonly KindFound[]>(tables.map((table) => [table, []]));
  /** Lists whose elements become events have their columns themselves. */
  const isFree = (table: Table) => {
    const lists = tables.flatMap((each) => (each.holder === table && kinds.get(each)!.length > 0 ? [each.list!] : []));
    return (column: Column): boolean => !lists.some((list) => `${column.list ?? ''}.`.startsWith(`${list}.`));
  };
  const judge = (table: Table, kind: RecordKind): KindFound => {
    const assignment = assign(table, kind, isFree(table), answers.rolesOf(table, kind));
    return { kind, assignment, ...verdict(table, assignment, signsOf(table, assignment, references, kinds)) };
  };
  const ordered = tables.filter(({ records }) => records > 0);
  ordered.sort((a, b) => (b.list?.length ?? 0) - (a.list?.length ?? 0));
  for (const table of ordered) {
    const given = answers.kindsOf(table)?.map((kind) => ({ ...judge(table, kind), doubt: undefined }));
    if (given) kinds.set(table, given);
  }
  const open = ordered.filter((table) => answers.kindsOf(table) === undefined);
  for (const table of open) kinds.set(table, [judge(table, 'lead'), judge(table, 'deal')].filter(isEnough));
  for (const table of open) kinds.set(table, withPeople(table, kinds, references, judge));
  for (const table of open) {
    const comment = judge(table, 'comment');
    const others = pointsOf(kinds.get(table)![0]);
    if (isEnough(comment) && pointsOf(comment) > others) kinds.set(table, [comment]);
  }
  const has = (kind: RecordKind): boolean => [...kinds.values()].flat().some((each) => each.kind === kind);
  if (!has('lead')) addPeople(open, kinds, judge, has('deal') || has('comment'));
  return kinds;
}

const pointsOf = (found: KindFound | undefined): number => sumOf(found?.reasons ?? []);
const isEnough = (found: KindFound): boolean => pointsOf(found) >= KIND_POINTS.least;

/** Deals with a person in each row are people, too, where no other table has these. */
function withPeople(
  table: Table,
  kinds: TableKinds,
  references: readonly Reference[],
  judge: (table: Table, kind: RecordKind) => KindFound,
): readonly KindFound[] {
  const found = kinds.get(table)!;
  const deal = found.find(({ kind }) => kind === 'deal');
  if (!deal) return found;
  const people = [...kinds].flatMap(([other, its]) =>
    other !== table && its.some(({ kind }) => kind === 'lead') ? [other] : [],
  );
  const isElsewhere = references.some(
    ({ from, to, isUnique, share }) =>
      from.table === table && people.includes(to.table) && isUnique && share >= LEVELS.half && !isStaff(from),
  );
  const lead = judge(table, 'lead');
  const has = (sign: string): boolean => lead.reasons.some(({ what }) => what === sign);
  const [full, title] = [lead.assignment.taken.get('full'), deal.assignment.taken.get('title')];
  const isNamed = full !== undefined && full.header > 0 && full.column !== title?.column && people.length === 0;
  const isPerson = has('name') && (has('reach') || isNamed);
  const doubt = { mark: 'check' as const, why: 'each row is a person and a deal: no other file has these people' };
  return isElsewhere || !isPerson || table.list !== undefined
    ? [deal]
    : [{ ...lead, doubt: lead.doubt ?? doubt }, deal];
}

/** Where no table has people: companies that others refer to, or else the longest one as an example. */
function addPeople(
  tables: readonly Table[],
  kinds: Map<Table, readonly KindFound[]>,
  judge: (table: Table, kind: RecordKind) => KindFound,
  isOther: boolean,
): void {
  const records = tables.filter(({ list }) => list === undefined);
  const companies = records.filter(
    (table) => table.nouns.includes('company') && judge(table, 'lead').assignment.taken.has('full'),
  );
  for (const table of companies)
    kinds.set(table, [
      { ...judge(table, 'lead'), doubt: { mark: 'check', why: 'no export has people, so the companies become leads' } },
    ]);
  const [longest] = [...records].sort((a, b) => b.records - a.records);
  if (companies.length > 0 || isOther || !longest) return;
  const doubt = { mark: 'set' as const, why: 'nothing shows what these records are; leads are only an example' };
  kinds.set(longest, [{ ...judge(longest, 'lead'), doubt }]);
}

/** Whether a header names somebody who works with the records. */
export function isStaff({ meaning: { words } }: Column): boolean {
  const isOne = (word: ReadonlySet<Concept>): boolean =>
    (['owner', 'author', 'modified'] as const).some((each) => word.has(each)) ||
    (word.has('user') && !word.has('person'));
  return words.some(isOne);
}

type Signs = Readonly<Record<string, boolean>>;

function verdict(table: Table, { kind }: Assignment, signs: Signs): Pick<KindFound, 'reasons' | 'doubt'> {
  const { nouns, signs: points, needs } = KINDS[kind];
  const called = table.nouns.map((noun) => ({ what: `called ${noun}`, points: nouns[noun] ?? 0 }));
  const lacking = needs.filter((each) => !signs[each]).map((what) => ({ what: `no ${what}`, points: -Infinity }));
  const found = Object.entries(points).flatMap(([what, each]) => (signs[what] ? [{ what, points: each }] : []));
  const reasons = [...called.sort((a, b) => b.points - a.points).slice(0, 1), ...found, ...lacking];
  if (sumOf(reasons) >= KIND_POINTS.sure) return { reasons };
  const why = `these may be ${kind}s: ${found.map(({ what }) => SIGNS[what] ?? what).join(', ')}`;
  return { reasons, doubt: { mark: 'check', why } };
}

function signsOf(table: Table, { taken }: Assignment, references: readonly Reference[], kinds: TableKinds): Signs {
  const has = (...roles: readonly Role[]): boolean => roles.some((role) => taken.has(role));
  const isSaid = (role: Role): boolean => (taken.get(role)?.header ?? 0) > 0;
  const id = taken.get('id')?.column;
  const able = references.filter((each) => each.isUnique && !isStaff(each.from));
  const refersTo = (kind: RecordKind, byName = true): boolean =>
    able.some((each) => {
      const { from, to, share } = each;
      if (from.table !== table || from === id || share < LEVELS.some || !isOf(to.table, kind, kinds)) return false;
      return idOf(to.table) === to ? !each.isByChance || saysSo(from, to.table) : byName && saysSo(from, to.table);
    });
  const to = references.filter(
    (each) => each.to === id && each.isUnique && each.share >= LEVELS.half && !(each.isByChance && isStaff(each.from)),
  );
  const isCalled = (kind: RecordKind): boolean =>
    to.some(({ from: { meaning } }) => REFERS[kind].some((concept) => meaning.concepts.has(concept)));
  const [isComment, isPeople] = [table.nouns.includes('comment'), table.nouns.includes('lead')];
  return {
    name: has('full', 'last'),
    reach: has('email', 'phone'),
    called: isCalled('lead'),
    calledUser: to.some((each) => isStaff(each.from)),
    ofLead: !isPeople && refersTo('lead'),
    ofDeal: !isPeople && refersTo('deal'),
    amount: has('amount'),
    stage: has('stage'),
    title: has('title'),
    owner: has('owner'),
    calledDeal: isCalled('deal'),
    content: has('content') ? isComment || isSaid('content') : isComment && has('subject'),
    prose: (taken.get('content')?.column.is.prose ?? 0) >= LEVELS.half,
    parent:
      refersTo('lead', isComment) ||
      refersTo('deal', isComment) ||
      isNested(table, kinds) ||
      table.columns.some(isParentId),
    happened: has('happened'),
  };
}

/** The column with the ids of a table, whatever its records are. */
export function idOf(table: Table): Column | undefined {
  table.id ??= { column: assign(table, 'comment').taken.get('id')?.column };
  return table.id.column;
}

/** Not an address, a number or a name. */
export function isId({ is, meaning: { concepts } }: Column): boolean {
  return is.email < LEVELS.half && is.international < LEVELS.half && (is.person < LEVELS.half || concepts.has('id'));
}

/** Whether a header says that a column has the ids of people, deals or parents. */
function isParentId({ meaning: { concepts }, filled }: Column): boolean {
  const isCalled = (['person', 'deal', 'parent'] as const).some((each) => concepts.has(each));
  return isCalled && filled > 0 && concepts.has('id') && !concepts.has('user');
}

function isOf(table: Table, kind: RecordKind, kinds: TableKinds): boolean {
  const isCalled = table.list === undefined && table.nouns.includes(kind);
  return isCalled || kinds.get(table)!.some((each) => each.kind === kind);
}

/** In the records of people or deals, or beside lists of them. */
function isNested(table: Table, kinds: TableKinds): boolean {
  const { holder } = table;
  const isThere = (other: Table): boolean => other !== table && (other === holder || other.holder === holder);
  return holder !== undefined && [...kinds].some(([other, found]) => found.length > 0 && isThere(other));
}
