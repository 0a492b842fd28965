/** What the records of each table are: decided last, from the best assignments and from who refers to whom. */
import { assign, referred, SURE, type Assignment } from './assign.ts';
import { isComplete, isFew, isNamed, isUnique, type Column, type Table } from './columns.ts';
import { isId } from './content.ts';
import { quoted } from './evidence.ts';
import { isByChance, shareOf, type Reference } from './lines/references.ts';
import { isStaff, typeOf, type RecordKind, type Role } from './roles.ts';

export type TableKinds = Map<RecordKind, { readonly assignment: Assignment; readonly doubt?: string }>;

const KINDS = ['leads', 'deals', 'comments'] as const;

/** The kinds of all tables: people first, then deals, which may refer to them, then comments on both. `answered`: what the user says. */
export function kindsOf(
  tables: readonly Table[],
  references: readonly Reference[],
  answered: ReadonlyMap<Table, ReadonlySet<RecordKind>>,
): Map<Table, TableKinds> {
  const kinds = new Map<Table, TableKinds>(tables.map((table) => [table, new Map()]));
  noteStaff(tables, references);
  const signsOf = (some: readonly Table[]): Signs[] => some.map((table) => new Signs(table, references, kinds));
  const filled = tables.filter(({ rows }) => rows > 0);
  // Lists before their records: the columns of those that become events are theirs.
  for (const each of signsOf(filled.filter(({ list }) => list !== undefined))) {
    each.people();
    each.deals();
    each.comments();
  }
  for (const table of tables) if (table.list === undefined) withoutLists(table, kinds);
  const signs = signsOf(filled.filter(({ list }) => list === undefined));
  for (const each of signs) each.people();
  withoutUsers(kinds, references);
  for (const each of signs) each.deals();
  for (const each of signs) each.dealsByRelations();
  withoutParts(kinds, references);
  for (const each of signs) each.comments();
  addPeople(signs, kinds);
  for (const each of signs) each.noteUnusedDeal();
  for (const [table, given] of answered)
    kinds.set(table, new Map([...given].map((kind) => [kind, { assignment: assign(table, kind, references) }])));
  if (answered.size === 0 && [...kinds.values()].every(({ size }) => size === 0)) addSomething(kinds, references);
  return kinds;
}

/** What the columns of a table show, and its references to tables that are known by now. */
class Signs {
  readonly table: Table;
  readonly #references: readonly Reference[];
  readonly #kinds: Map<Table, TableKinds>;
  readonly #assignments: Map<RecordKind, Assignment>;

  constructor(table: Table, references: readonly Reference[], kinds: Map<Table, TableKinds>) {
    this.table = table;
    this.#references = references;
    this.#kinds = kinds;
    this.#assignments = new Map(KINDS.map((kind) => [kind, assign(table, kind, references)]));
  }

  is(noun: Table['nouns'][number]): boolean {
    return this.table.nouns.includes(noun);
  }

  /** The best score of these roles. */
  of(kind: RecordKind, ...roles: readonly Role[]): number {
    const { roles: found } = this.#assignments.get(kind)!;
    return Math.max(...roles.map((role) => found.get(role)?.score ?? 0));
  }

  /** Also of a column that no header makes sure of. */
  #candidate(kind: RecordKind, role: Role): number {
    return Math.max(this.of(kind, role), this.#assignments.get(kind)!.candidates.get(role)?.[0]?.score ?? 0);
  }

  set(kind: RecordKind, doubt?: string): void {
    this.#kinds.get(this.table)!.set(kind, { assignment: this.#assignments.get(kind)!, ...(doubt && { doubt }) });
  }

  has(kind?: RecordKind): boolean {
    const found = this.#kinds.get(this.table)!;
    return kind === undefined ? found.size > 0 : found.has(kind);
  }

  /** Without a header, or with one in a language that is not known, content is all there is. */
  get #isUnnamed(): boolean {
    return !isNamed(this.table);
  }

  get #isPart(): boolean {
    return this.table.columns.every(({ isWrapper }) => isWrapper);
  }

  people(): void {
    if (this.is('others') || this.is('users') || this.is('companies') || this.#isPart) return;
    const isKnown = this.of('leads', 'full', 'last', 'email', 'phone') > 0.5;
    if (this.#isPerson() || (this.is('leads') && this.table.list === undefined && isKnown)) this.set('leads');
  }

  /** An amount and a stage, or a name of deals and two of amount, stage and subject. */
  deals(): void {
    const isList = this.table.list !== undefined;
    if (this.is('users') || this.is('companies') || this.is('comments') || this.#isPart) return;
    const least = this.#isUnnamed ? 0.2 : 0.6;
    const [amount, stage, title] = [
      this.of('deals', 'amount'),
      this.of('deals', 'stage', 'outcome'),
      this.of('deals', 'title'),
    ];
    const signs = [amount > 0.5, stage > 0.5, title > 0.5].filter(Boolean).length;
    const isNamed = this.is('deals') && !this.is('stages');
    const isSure =
      (amount > 0.5 && stage > least) ||
      (isNamed && amount > 0.35 && stage > 0.35) ||
      (isNamed && !isList && signs >= 2);
    if (isSure && !this.is('others')) this.set('deals');
    if (this.has('leads') && this.has('deals') && !isTwin(this.#assignments))
      this.#kinds.get(this.table)!.delete('leads');
  }

  /** An amount and a stage of people who are known, whatever they are called: orders with their buyer, jobs of customers. */
  dealsByRelations(): void {
    if (this.has('deals') || this.is('users') || this.is('companies') || this.is('comments') || this.#isPart) return;
    const isPerson = this.#isPerson();
    if (
      !(isPerson || this.refersTo('leads')) ||
      this.#candidate('deals', 'amount') < 0.25 ||
      this.of('deals', 'stage', 'outcome') < 0.35
    )
      return;
    // Payments, invoices and line items where other records are the deals.
    if (this.refersTo('deals') || (this.is('others') && this.#others('deals'))) return;
    this.set('deals', 'check: an amount and a status of a person make these records deals');
    if (isPerson) this.set('leads');
  }

  /** An amount and a stage that no deal has are said: of people, each row may be a deal, too. */
  noteUnusedDeal(): void {
    if (this.has('deals') || this.has('comments') || this.is('users') || this.is('companies') || this.#isPart) return;
    const columnOf = (role: Role, least: number): Column | undefined => {
      const { roles, candidates } = this.#assignments.get('deals')!;
      const best = roles.get(role) ?? candidates.get(role)?.[0];
      return best && best.score >= least && best.column.filled > this.table.rows * 0.3 ? best.column : undefined;
    };
    const money = this.table.columns.find(({ is, filled }) => is.money > 0.5 && filled > this.table.rows * 0.3);
    const [amount, stage] = [columnOf('amount', 0.25) ?? money, columnOf('stage', 0.35) ?? columnOf('outcome', 0.35)];
    if (!amount || !stage || amount.list !== undefined) return;
    this.table.unusedDeal = `${quoted(amount)} and ${quoted(stage)} may be the amount and the stage of a deal`;
    if (this.has('leads') && this.#kinds.get(this.table)!.get('leads')!.doubt === undefined)
      this.set('leads', `check: ${this.table.unusedDeal}: then each row is a person and a deal`);
  }

  #isPerson(): boolean {
    return this.of('leads', 'full', 'last') > (this.#isUnnamed ? 0.2 : 0.5) && this.of('leads', 'email', 'phone') > 0.5;
  }

  #others(kind: RecordKind): boolean {
    return [...this.#kinds].some(([table, found]) => table !== this.table && found.has(kind));
  }

  comments(): void {
    if (this.has() || this.is('users') || this.#isPart) return;
    const isList = this.table.list !== undefined;
    const text = this.of('comments', 'content', 'subject');
    const isOf = this.refersTo('leads') || this.refersTo('deals');
    const hasId = this.table.columns.some(
      ({ meaning: { concepts } }) =>
        (concepts.has('person') || concepts.has('deal') || concepts.has('parent')) && concepts.has('id'),
    );
    const isTyped = this.table.columns.some(
      (column) => column.meaning.concepts.has('parent') && isId(column) && typeOf(column) !== undefined,
    );
    const isNote = this.is('comments')
      ? (isOf || isList || hasId || this.#isLinked()) && (text > 0.36 || this.of('comments', 'happened') > 0.7)
      : (isOf || isList || isTyped) &&
        this.of('comments', 'content') > 0.55 &&
        this.of('deals', 'amount') < 0.6 &&
        this.#assignments.get('comments')!.roles.size >= (isList ? 3 : 2);
    if (!isNote) return;
    if (!this.is('others')) this.set('comments');
    else if (this.refersTo('leads', true) || this.refersTo('deals', true))
      this.set('comments', 'check: a text about a person or a deal makes these records comments');
  }

  /** Whether its records refer to those of a kind, other than by their owner. `byId`: not by names. */
  refersTo(kind: RecordKind, byId = false): boolean {
    return this.#references.some(
      (each) =>
        each.from.table === this.table &&
        this.#kinds.get(each.to.table)?.has(kind) === true &&
        shareOf(each) > 0.3 &&
        isUnique(each.to) &&
        (!byId || isId(each.to)) &&
        !isByChance(each) &&
        !isStaff(each.from),
    );
  }

  /** Whether other records have its ids. */
  isReferredTo(): boolean {
    const id = this.#assignments.get('leads')!.roles.get('id')?.column;
    return id !== undefined && referred(id, this.#references) > 0;
  }

  /** Whether a third table, which becomes nothing, has its ids. */
  #isLinked(): boolean {
    return this.#references.some(
      ({ from, to, ...rest }) =>
        to.table === this.table &&
        this.#kinds.get(from.table)!.size === 0 &&
        shareOf({ from, to, ...rest }) > 0.5 &&
        isUnique(to) &&
        isComplete(to),
    );
  }

  get isAddressed(): boolean {
    const { roles } = this.#assignments.get('leads')!;
    const id = roles.get('id')?.score ?? 0;
    return (
      this.table.list === undefined &&
      !this.is('others') &&
      !this.is('users') &&
      !this.is('companies') &&
      this.of('leads', 'email', 'phone') > 0.8 &&
      id > 0 &&
      (this.of('leads', 'full', 'last') > 0.36 || id > 0.4)
    );
  }
}

/** A few people of no known kind to whom records refer that also have another person, of many more, are the staff. */
function noteStaff(tables: readonly Table[], references: readonly Reference[]): void {
  const isOfPeople = ({ columns }: Table): boolean =>
    columns.some(({ is, meaning }) => is.email > 0.8 || (is.person > 0.8 && !meaning.concepts.has('company')));
  const sure = references.filter(
    (each) => shareOf(each) > 0.9 && isUnique(each.to) && !isByChance(each) && isId(each.to),
  );
  const able = tables.filter(
    (each) => each.nouns.length === 0 && each.rows > 0 && each.rows <= MAX_STAFF && isOfPeople(each),
  );
  for (const table of able) {
    const own = sure.filter((each) => each.to.table === table && isFew(each.from));
    const besideOthers = own.filter(({ from }) =>
      sure.some(
        ({ from: other, to }) =>
          other.table === from.table && other !== from && to.table.rows >= 5 * table.rows && isOfPeople(to.table),
      ),
    );
    if (besideOthers.length > 0) table.nouns = ['users'];
  }
}

const MAX_STAFF = 60;

/** Leaves out the columns of lists whose elements become events of their own. */
function withoutLists(table: Table, kinds: ReadonlyMap<Table, TableKinds>): void {
  const lists = [...kinds].flatMap(([each, found]) => (each.parent === table && found.size > 0 ? [each.list!] : []));
  const kept = table.columns.filter(({ list }) => list === undefined || !lists.includes(list));
  if (lists.length > 0) table.columns.splice(0, table.columns.length, ...kept);
}

/** Where no table has people: those that others refer to, those with addresses, and at last companies. */
function addPeople(signs: readonly Signs[], kinds: ReadonlyMap<Table, TableKinds>): void {
  const able = signs.filter((each) => !each.has());
  for (const each of able)
    if (each.is('leads') && each.isReferredTo() && !each.refersTo('leads'))
      each.set('leads', 'check: other records have their ids, but no column has names or addresses');
  const has = (kind: RecordKind): boolean => [...kinds.values()].some((found) => found.has(kind));
  if (has('leads')) return;
  for (const each of able)
    if (each.isAddressed) each.set('leads', 'only addresses or numbers tell that these are people');
  if (has('leads') || !(has('deals') || has('comments'))) return;
  for (const each of able)
    if (each.is('companies') && each.of('leads', 'full') + each.of('deals', 'title') > 0.5)
      each.set('leads', 'check: no export has people, so the companies are the leads');
}

/** Where nothing shows what any records are, the longest export becomes leads, so that there is something to correct. */
function addSomething(kinds: ReadonlyMap<Table, TableKinds>, references: readonly Reference[]): void {
  const [table] = [...kinds.keys()].filter(({ list }) => list === undefined).sort((a, b) => b.rows - a.rows);
  const doubt = 'set this: nothing shows what these records are; leads are only an example';
  if (table) kinds.get(table)!.set('leads', { assignment: assign(table, 'leads', references), doubt });
}

/** Rows are a person and a deal only with a name of the person that is no title, and an address that is not the owner's. */
function isTwin(assignments: ReadonlyMap<RecordKind, Assignment>): boolean {
  const [leads, deals] = [assignments.get('leads')!, assignments.get('deals')!];
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
      (each) =>
        each.to.table === table && shareOf(each) > 0.7 && !isByChance(each) && isStaff(each.from) && isUnique(each.to),
    );
    const byOthers = references.filter(
      (each) => each.to.table === table && shareOf(each) > 0.7 && !isByChance(each) && !isStaff(each.from),
    );
    if (byOwners.length > 0 && byOthers.length === 0 && leads.length > 1) kinds.get(table)!.delete('leads');
  }
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
