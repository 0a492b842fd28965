/** What the records of each table are: decided last, from the best assignments and from who refers to whom. */
import { assign, isTwin, referred, SURE, type Assignment, type RoleCandidate } from './assign.ts';
import { fillOf, isFew, isIn, isKey, isNamed, isUnique, pathOf, type Column, type Table } from './columns.ts';
import { isId, isOfFirms } from './content.ts';
import { quoted } from './evidence.ts';
import { isSure, type Reference } from './references.ts';
import type { Concept } from './words.ts';
import { isStaff, RECORD_KINDS, typeOf, type RecordKind, type Role } from './roles.ts';

type KindFound = { readonly assignment: Assignment; readonly doubt?: string };
export type TableKinds = Map<RecordKind, KindFound>;

/** The kinds of all tables: people first, then deals, which may refer to them, then comments on both. `answered`: what the user says. */
export function kindsOf(
  tables: readonly Table[],
  references: readonly Reference[],
  answered: ReadonlyMap<Table, ReadonlySet<RecordKind>>,
): Map<Table, TableKinds> {
  const kinds = new Map<Table, TableKinds>(tables.map((table) => [table, new Map()]));
  const has = (kind: RecordKind): boolean => [...kinds.values()].some((found) => found.has(kind));
  noteCustomers(tables, references);
  noteStaff(tables, references, answered);
  const signsOf = (some: readonly Table[]): Signs[] => some.map((table) => new Signs(table, references, kinds));
  const filled = tables.filter(({ rows, attributes }) => rows > 0 && attributes === undefined);
  // Lists before the lists and records that they are in: the columns of those that become events are theirs.
  const lists = filled.filter(({ list }) => list !== undefined);
  const ofLists = lists
    .sort((a, b) => b.list!.split('.').length - a.list!.split('.').length)
    .map((table) => {
      withoutLists(table, kinds);
      const each = new Signs(table, references, kinds);
      each.people();
      each.deals();
      each.comments();
      return each;
    });
  for (const table of tables) if (table.list === undefined) withoutLists(table, kinds);
  const signs = signsOf(filled.filter(({ list }) => list === undefined));
  for (const each of signs) each.people();
  withoutLinks(kinds, references);
  for (const each of signs) each.deals();
  for (const each of signs) each.dealsByRelations();
  withoutParts(kinds, references);
  for (const each of signs) each.comments();
  for (const each of signs) each.peopleByRelations();
  // Where no table has people: those with addresses, and at last companies.
  if (!has('lead')) for (const each of signs) each.peopleByAddress();
  if (!has('lead') && (has('deal') || has('comment'))) for (const each of signs) each.companies();
  for (const each of signs) each.comments();
  for (const each of ofLists) each.dealsByRelations();
  for (const each of signs) each.noteUnusedDeal();
  likeEachOther(kinds);
  for (const [table, given] of answered)
    kinds.set(table, new Map([...given].map((kind) => [kind, { assignment: assign(table, kind, references) }])));
  if (answered.size > 0 || [...kinds.values()].some(({ size }) => size > 0)) return kinds;
  addSomething(kinds, references);
  for (const each of ofLists) each.dealsByRelations();
  for (const each of signs) each.comments();
  return kinds;
}

/** What the columns of a table show, and its references to tables that are known by now. */
class Signs {
  readonly #table: Table;
  readonly #references: readonly Reference[];
  readonly #kinds: Map<Table, TableKinds>;
  readonly #found: TableKinds;
  readonly #assignments: ReadonlyMap<RecordKind, Assignment>;

  constructor(table: Table, references: readonly Reference[], kinds: Map<Table, TableKinds>) {
    this.#table = table;
    this.#references = references;
    this.#kinds = kinds;
    this.#found = kinds.get(table)!;
    this.#assignments = new Map(RECORD_KINDS.map((kind) => [kind, assign(table, kind, references)]));
  }

  /** Whether it is called so. What only says something about a value beside it is nothing. */
  #is(...nouns: Table['nouns']): boolean {
    return (
      nouns.some((noun) => this.#table.nouns.includes(noun)) || this.#table.columns.every((each) => each.isWrapper)
    );
  }

  /** The best score of these roles. */
  #of(kind: RecordKind, ...roles: readonly Role[]): number {
    const { roles: found } = this.#assignments.get(kind)!;
    return Math.max(...roles.map((role) => found.get(role)?.score ?? 0));
  }

  /** The column of a role of deals, or the best one that no header makes sure of. */
  #best(role: Role): RoleCandidate | undefined {
    const { roles, candidates } = this.#assignments.get('deal')!;
    return roles.get(role) ?? candidates.get(role)?.[0];
  }

  #set(kind: RecordKind, doubt?: string): void {
    this.#found.set(kind, { assignment: this.#assignments.get(kind)!, ...(doubt && { doubt }) });
  }

  people(): void {
    if (this.#is('other', 'user', 'company')) return;
    const isKnown = this.#of('lead', 'full', 'last', 'email', 'phone') > 0.5;
    if (this.#isPerson() || (this.#is('lead') && this.#table.list === undefined && isKnown)) this.#set('lead');
  }

  /** An amount and a stage, or a name of deals and two of amount, stage and subject. */
  deals(): void {
    if (this.#is('user', 'company', 'comment', 'other')) return;
    const [amount, stage, title] = [
      this.#of('deal', 'amount'),
      this.#of('deal', 'stage', 'outcome'),
      this.#of('deal', 'title'),
    ];
    const signs = [amount, stage, title].filter((each) => each > 0.5).length;
    const isIdOfDeal = (each: Column): boolean =>
      isKey(each) && each.meaning.concepts.has('deal') && each.meaning.concepts.has('id');
    const isCalled = (this.#is('deal') && !this.#is('stage')) || this.#table.columns.some(isIdOfDeal);
    const isSold = this.#table.list === undefined || amount > 0.5;
    const isByName = isCalled && ((amount > 0.35 && stage > 0.35) || (isSold && signs >= 2));
    if (isByName || (amount > 0.5 && stage > (isNamed(this.#table) ? 0.6 : 0.2))) this.#set('deal');
    if (this.#found.size === 2 && !isTwin(this.#assignments)) this.#found.delete('lead');
    // An amount that few people have tells no deals of all.
    const sums = this.#assignments.get('deal')!.roles.get('amount')?.column;
    if (this.#found.size === 2 && !isCalled && sums && fillOf(sums) < 0.2) this.#found.delete('deal');
  }

  /** An amount and a stage of people who are known, whatever they are called: orders with their buyer, jobs of customers. */
  dealsByRelations(): void {
    if (this.#found.has('deal') || this.#is('user', 'company', 'comment')) return;
    const { list, parent } = this.#table;
    const isPerson = list === undefined && this.#isPerson();
    if (list !== undefined && this.#found.size > 0) return;
    const [amount, stage] = isNamed(this.#table) ? [0.25, 0.35] : [0.35, 0.2];
    // What somebody earns is no amount of a deal, nor is a number that no header calls one.
    const isSold = isPerson
      ? this.#assignments.get('deal')!.roles.has('amount')
      : (this.#best('amount')?.score ?? 0) >= amount;
    const isStaged = this.#of('deal', 'stage', 'outcome') >= stage;
    const isCalled = this.#is('deal') && list === undefined;
    // Subscriptions are of a company, orders of people, or in their list.
    const isTheirs = list !== undefined && !list.includes('.') && this.#kinds.get(parent!)!.has('lead');
    const isOf = isTheirs || isPerson || this.#refersTo('lead') || this.#refersTo('company');
    if (!isOf || [isSold, isStaged, isCalled].filter(Boolean).length < 2) return;
    // Payments, invoices and line items where other records are the deals.
    const areOthers = [...this.#kinds.values()].some((found) => found.has('deal'));
    if (this.#refersTo('deal') || (this.#is('other') && areOthers)) return;
    const why = isSold && isStaged ? 'an amount and a status' : `${isSold ? 'an amount' : 'a status'} and their name`;
    this.#set('deal', `check: ${why}, of a person or a company, make these records deals`);
    if (isPerson) this.#set('lead');
  }

  /** An amount and a stage that no deal has are said: of people, each row may be a deal, too. */
  noteUnusedDeal(): void {
    if (this.#found.has('deal') || this.#found.has('comment') || this.#is('user', 'company')) return;
    const isMost = ({ filled }: Column): boolean => filled > this.#table.rows * 0.3;
    const columnOf = (role: Role, least: number): Column | undefined => {
      const best = this.#best(role);
      return best && best.score >= least && isMost(best.column) ? best.column : undefined;
    };
    const amount = columnOf('amount', 0.25) ?? this.#table.columns.find((each) => each.is.money > 0.5 && isMost(each));
    const stage = columnOf('stage', 0.35) ?? columnOf('outcome', 0.35);
    if (!amount || !stage || amount.list !== undefined) return;
    this.#table.unusedDeal = `${quoted(amount)} and ${quoted(stage)} may be the amount and the stage of a deal`;
    if (this.#found.has('lead') && this.#found.get('lead')!.doubt === undefined)
      this.#set('lead', `check: ${this.#table.unusedDeal}: then each row is a person and a deal`);
  }

  #isPerson(): boolean {
    const { roles } = this.#assignments.get('lead')!;
    const email = roles.get('email')?.column;
    // An address of one's own makes sure of a name.
    const isOwn = email !== undefined && fillOf(email) > 0.5 && email.distinct > email.filled * 0.9;
    const least = !isNamed(this.#table) ? 0.2 : isOwn ? 0.4 : 0.5;
    return this.#of('lead', 'full', 'last') > least && this.#of('lead', 'email', 'phone') > 0.5;
  }

  comments(): void {
    if (this.#found.size > 0 || this.#is('user')) return;
    const { columns, list } = this.#table;
    if (list !== undefined && this.#is('stage')) return;
    // Whom the texts of another table are about.
    if (this.#of('comment', 'content', 'subject') <= 0.36 && this.#isLinkOfTexts()) return;
    const isOf = list !== undefined || this.#refersTo('lead') || this.#refersTo('deal');
    const concepts = columns.map(({ meaning }) => meaning.concepts);
    const isPerson = (own: ReadonlySet<Concept>): boolean => own.has('person') && !own.has('user');
    const hasId = concepts.some((own) => own.has('id') && (isPerson(own) || own.has('deal') || own.has('parent')));
    const isTyped = columns.some((each) => each.meaning.concepts.has('parent') && isId(each) && typeOf(each));
    const isNote = this.#is('comment')
      ? (isOf || hasId || this.#isLinked()) &&
        (this.#of('comment', 'content', 'subject') > 0.36 || this.#of('comment', 'happened') > 0.7)
      : (isOf || isTyped) &&
        this.#of('comment', 'content') > 0.55 &&
        this.#of('deal', 'amount') < 0.6 &&
        this.#assignments.get('comment')!.roles.size >= (list === undefined ? 2 : 3);
    if (!isNote) return;
    if (!this.#is('other')) this.#set('comment');
    else if (this.#refersTo('lead', isId) || this.#refersTo('deal', isId))
      this.#set('comment', 'check: a text about a person or a deal makes these records comments');
  }

  /** Whether its records refer to those of a kind, or to companies, other than by their owner. */
  #refersTo(kind: RecordKind | 'company', by: (column: Column) => boolean = () => true): boolean {
    return this.#references.some(
      (each) =>
        each.from.table === this.#table &&
        (kind === 'company' ? each.to.table.nouns.includes(kind) : this.#kinds.get(each.to.table)!.has(kind)) &&
        isSure(each, 0.3) &&
        isUnique(each.to) &&
        by(each.to) &&
        !isStaff(each.from),
    );
  }

  #isLinkOfTexts(): boolean {
    // Not by a record of which both are: that has a table of its own.
    const isForeign = (column: Column): boolean =>
      this.#references.some((each) => each.from === column && isSure(each, 0.7) && each.to.table !== this.#table);
    return this.#references.some(
      ({ from, to, share }) =>
        from.table === this.#table &&
        to.table.nouns.includes('comment') &&
        share > 0.5 &&
        isId(to) &&
        isUnique(to) &&
        !isForeign(to),
    );
  }

  /** Whether a third table, which becomes nothing, has its ids. */
  #isLinked(): boolean {
    return this.#references.some(
      ({ from, to, share }) =>
        to.table === this.#table && this.#kinds.get(from.table)!.size === 0 && share > 0.5 && isKey(to),
    );
  }

  #isReferredTo(): boolean {
    const id = this.#assignments.get('lead')!.roles.get('id')?.column;
    return id !== undefined && referred(id, this.#references) > 0;
  }

  /** People to whom others refer, whatever is known of them. */
  peopleByRelations(): void {
    if (this.#found.size > 0 || !this.#is('lead') || this.#refersTo('lead')) return;
    if (this.#isReferredTo())
      this.#set('lead', 'check: other records have their ids, but no column has names or addresses');
  }

  peopleByAddress(): void {
    if (this.#found.size > 0 || this.#is('other', 'user', 'company')) return;
    if (this.#references.some((each) => each.to.table === this.#table && isStaff(each.from) && each.share > 0.7))
      return;
    const id = this.#of('lead', 'id');
    const isSomebody = id > 0.4 || (id > 0 && this.#of('lead', 'full', 'last') > 0.36);
    if (isSomebody && this.#of('lead', 'email', 'phone') > 0.8)
      this.#set('lead', 'only addresses or numbers tell that these are people');
  }

  companies(): void {
    if (this.#found.size > 0 || !this.#is('company')) return;
    if (this.#isReferredTo() || this.#of('lead', 'full') + this.#of('deal', 'title') > 0.5)
      this.#set('lead', 'check: no export has people, so the companies are the leads');
  }
}

/** Files and sheets with the same columns, such as one for each year, are of one kind: that of which most is recognised. */
function likeEachOther(kinds: Map<Table, TableKinds>): void {
  for (const alike of alikeTables([...kinds.keys()])) {
    const weight = (table: Table): number => kinds.get(table)!.size * 1e6 + table.rows;
    const [best, ...others] = alike.sort((a, b) => weight(b) - weight(a));
    for (const table of others) {
      const own = ({ column, ...rest }: RoleCandidate): RoleCandidate => ({
        ...rest,
        column: table.columns.find(({ name }) => name === column.name)!,
      });
      const mirrored = ({ kind, roles, candidates }: Assignment): Assignment => ({
        kind,
        roles: new Map([...roles].map(([role, found]) => [role, { ...own(found), others: found.others.map(own) }])),
        candidates: new Map([...candidates].map(([role, able]) => [role, able.map(own)])),
      });
      const found = [...kinds.get(best!)!].map(
        ([kind, { assignment, doubt }]) =>
          [kind, { assignment: mirrored(assignment), ...(doubt && { doubt }) }] as const,
      );
      kinds.set(table, new Map(found));
    }
  }
}

/** Two tables with the same columns. */
export function areAlike(a: Table, b: Table): boolean {
  return a !== b && columnsOf(a) === columnsOf(b);
}

function columnsOf({ columns }: Table): string {
  return JSON.stringify(columns.map(({ name }) => name).sort());
}

/** Groups of tables with the same columns, unless their names say that they are different. */
function alikeTables(tables: readonly Table[]): Table[][] {
  const groups = new Map<string, Table[]>();
  for (const table of tables.filter(({ list, columns }) => list === undefined && columns.length > 2)) {
    const key = JSON.stringify([table.nouns, columnsOf(table)]);
    groups.set(key, [...(groups.get(key) ?? []), table]);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
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
  const isOfPeople = ({ columns }: Table): boolean =>
    columns.some(({ is, meaning }) => is.email > 0.8 || (is.person > 0.8 && !meaning.concepts.has('company')));
  const sure = references.filter((each) => isSure(each, 0.9) && isUnique(each.to));
  for (const table of tables) {
    const isNone = answered.get(table)?.size === 0;
    if (table.nouns.includes('user') && table.nouns.includes('lead')) {
      const isTeam = table.rows <= MAX_STAFF && !table.columns.some(({ is, filled }) => filled > 0 && is.email > 0.5);
      table.nouns = [isTeam ? 'user' : 'lead'];
    }
    if (isNone) table.nouns = table.nouns.filter((noun) => !RECORD_KINDS.some((kind) => kind === noun));
    if (table.nouns.length > 0 || table.rows === 0 || table.rows > MAX_STAFF || !isOfPeople(table)) continue;
    const isMore = (other: Table): boolean => other.rows >= 5 * table.rows && isOfPeople(other);
    const own = sure.filter(({ from, to }) => to.table === table && isFew(from));
    const besideOthers = own.some(
      ({ from, to }) =>
        isId(to) && sure.some((each) => each.from.table === from.table && each.from !== from && isMore(each.to.table)),
    );
    const isRepeated = own.length > 0 && own.every(({ from }) => from.filled >= 5 * table.rows) && tables.some(isMore);
    // Suppliers and insurers are referred to like the staff, but each has a domain of its own.
    const areFirms = table.columns.some((each) => each.is.email > 0.8 && isOfFirms(each));
    if (besideOthers || isRepeated || (isNone && own.length > 0)) table.nouns = [areFirms ? 'company' : 'user'];
  }
}

const MAX_STAFF = 60;

/** Leaves out the columns of lists whose elements become events of their own. */
function withoutLists(table: Table, kinds: ReadonlyMap<Table, TableKinds>): void {
  const lists = [...kinds].flatMap(([each, found]) => (found.size > 0 && isIn(each, table) ? [each.list!] : []));
  const kept = table.columns.filter((each) => !lists.some((list) => `${pathOf(each)}.`.startsWith(`${list}.`)));
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
  const [longest] = [...kinds.keys()].filter(({ list }) => list === undefined).sort((a, b) => b.rows - a.rows);
  const [table, kind] = about ? [about.to.table, 'deal' as const] : [longest, 'lead' as const];
  const doubt = `set this: nothing shows what these records are; ${kind}s are only an example`;
  if (table) kinds.get(table)!.set(kind, { assignment: assign(table, kind, references), doubt });
}

/** Deals whose people are in another export are no people themselves. Line items and payments of deals are no deals. */
function withoutParts(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  for (const [table, found] of kinds) {
    if (!found.has('deal')) continue;
    const others = [...kinds].filter(([other]) => other !== table).map(([, its]) => its);
    const refers = (kind: RecordKind): boolean => {
      const roles = others.flatMap((its) => its.get(kind)?.assignment.roles ?? []);
      const keys = roles.flatMap((own) => [own.get('id')?.column, own.get('email')?.column]);
      return references.some((each) => each.from.table === table && keys.includes(each.to) && isSure(each, 0.4));
    };
    const arePeople = others.some((its) => its.has('lead') && its.size === 1);
    if (found.has('lead') && (refers('lead') || (arePeople && !hasPerson(found)))) found.delete('lead');
    if (refers('deal') && !table.nouns.includes('deal')) found.delete('deal');
  }
}

/** Rows that repeat the name of a person beside their id, as links between people and deals do, are not these people. */
function withoutLinks(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  for (const [table, found] of kinds) {
    const roles = found.get('lead')?.assignment.roles;
    const named = [roles?.get('email')?.column, roles?.get('full')?.column];
    const own = references.filter((each) => each.from.table === table && each.share > 0.9 && isUnique(each.to));
    const isLink = own.some(({ from, to }) => {
      const isTheirId = kinds.get(to.table)!.get('lead')?.assignment.roles.get('id')?.column === to;
      return (
        isTheirId && !isUnique(from) && own.some((each) => named.includes(each.from) && each.to.table === to.table)
      );
    });
    if (isLink) found.delete('lead');
  }
}

/** Whether the rows have a person with a name and an address. */
function hasPerson(found: TableKinds): boolean {
  const { roles } = found.get('lead')!.assignment;
  return (roles.get('full')?.score ?? 0) > SURE && roles.has('email');
}
