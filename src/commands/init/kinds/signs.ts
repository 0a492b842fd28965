/** The rules by which the records of a table are people, deals or comments. */
import { assign, columnsOf, isTwin, namesOther, referred, type Assignment } from '../matrix/assign.ts';
import { SURE, type RoleCandidate } from '../matrix/settle.ts';
import { fillOf, isComplete, isFew, isKey, isNamed, isUnique, type Column, type Table } from '../columns.ts';
import { isCode, isId, isJobs, isMostlyZero, isWritten, milestones, standIns } from '../matrix/content.ts';
import { endings } from '../matrix/ends.ts';
import { quoted } from '../evidence.ts';
import { isSure, linksTexts, type Reference } from '../relations/references.ts';
import { typeOf } from '../relations/typed.ts';
import { CONTACTS, isOfFirm, isStaff, NAMES, RECORD_KINDS, type RecordKind, type Role } from '../matrix/roles.ts';
import type { Concept } from '../words.ts';
import { isAboutPeople } from './nouns.ts';

/** The kinds that have been found for a table. */
type KindFound = { readonly assignment: Assignment; readonly doubt?: string };
export type TableKinds = Map<RecordKind, KindFound>;

/** What the columns of a table show, and its references to tables that are known by now. */
export class Signs {
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

  /** The best score of these roles. What names or reaches a person in the same row is neither an amount nor a stage. */
  #of(kind: RecordKind, ...roles: readonly Role[]): number {
    const person = this.#assignments.get('lead')!.roles;
    const own = columnsOf(person, ...NAMES, ...CONTACTS);
    const { roles: found } = this.#assignments.get(kind)!;
    const scores = roles.map((role) => {
      const each = found.get(role);
      const mayBePersonal = kind === 'deal' && role !== 'title' && person.has('email');
      return each && !(mayBePersonal && own.includes(each.column)) ? each.score : 0;
    });
    return Math.max(...scores);
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
    const isKnown = this.#of('lead', 'full', 'last', ...CONTACTS) > 0.5;
    // What has a title, an amount and a stage, and no address, is a deal whatever the file is called.
    const isDeal =
      this.#of('deal', 'title') > 0.5 && this.#of('deal', 'amount') > 0.5 && this.#of('deal', 'stage') > 0.5;
    const isCalled = this.#is('lead') && this.#table.list === undefined;
    const hasAddress = this.#of('lead', ...CONTACTS) > 0.5;
    if (isAboutPeople(this.#table, this.#references)) return;
    if (this.#isPerson() || (isCalled && isKnown && (hasAddress || !isDeal))) this.#set('lead');
  }

  /** An amount and a stage, or a name of deals and two of amount, stage and subject. */
  deals(): void {
    if (this.#is('user', 'company', 'other')) return;
    const [amount, stage, title] = [
      this.#of('deal', 'amount'),
      this.#of('deal', 'stage', 'outcome'),
      this.#of('deal', 'title'),
    ];
    const signs = [amount, stage, title].filter((each) => each > 0.5).length;
    // Tasks may be deals.
    if (this.#is('comment') && signs < 3) return;
    const isIdOfDeal = (each: Column): boolean =>
      isKey(each) && each.meaning.concepts.has('deal') && each.meaning.concepts.has('id');
    const isCalled = (this.#is('deal') && !this.#is('stage')) || this.#table.columns.some(isIdOfDeal);
    const isSold = this.#table.list === undefined || amount > 0.5;
    const isByName = isCalled && ((amount > 0.35 && stage > 0.35) || (isSold && signs >= 2));
    const isUnknown = !isByName && !isNamed(this.#table);
    const doubt =
      'check: these become deals, because they have numbers and a column with few distinct values; no header says so';
    if (isByName || (amount > 0.5 && stage > (isUnknown ? 0.2 : 0.6))) this.#set('deal', isUnknown ? doubt : undefined);
    if (this.#found.size === 2 && !isTwin(this.#assignments)) this.#found.delete('lead');
    // An amount that few people have tells no deals of all.
    const sums = this.#assignments.get('deal')!.roles.get('amount')?.column;
    const isOfFew = sums !== undefined && (fillOf(sums) < 0.2 || isMostlyZero(sums));
    if (this.#found.size === 2 && !isCalled && (isOfFew || this.#areAllPeople())) this.#found.delete('deal');
  }

  /** An amount and a stage of people who are known, whatever they are called: orders with their buyer, jobs of customers. */
  dealsByRelations(): void {
    if (this.#found.has('deal') || this.#is('user', 'company', 'comment', 'payment')) return;
    const { list, parent } = this.#table;
    const sum = this.#assignments.get('deal')!.roles.get('amount');
    const isOwn = sum !== undefined && sum.score > 0.5 && this.#isOwnDeal(sum.column);
    if (list !== undefined && this.#found.size > 0 && !isOwn) return;
    const isPerson = (list === undefined || isOwn) && this.#isPerson();
    const [amount, stage] = isNamed(this.#table) ? [0.25, 0.35] : [0.35, 0.2];
    // What somebody earns is no amount of a deal, nor is a number that no header calls one.
    const isSold = isPerson
      ? this.#assignments.get('deal')!.roles.has('amount')
      : (this.#best('amount')?.score ?? 0) >= amount;
    const isStaged = this.#of('deal', 'stage', 'outcome') >= stage;
    const isCalled = this.#is('deal') && list === undefined;
    // What it is for and its sum in money, whatever their headers say; in a row that is a person, they have a column of few values, too.
    const isFor = isPerson ? this.#isTitled() && this.#best('stage') !== undefined : this.#best('title') !== undefined;
    const isTitled = list === undefined && this.#isMoney() && isFor;
    // Subscriptions are of a company, orders of people, or in their list.
    const isTheirs = list !== undefined && !list.includes('.') && this.#kinds.get(parent!)!.has('lead');
    const isOf = isTheirs || isPerson || this.#refersTo('lead') || this.#refersTo('company');
    // How it ended, or steps of what has a title or texts about it, where no record is a person, or a text itself, as a ticket is.
    const isEnded = this.#isEnded();
    const isTold = isEnded || (this.#areSteps() && (this.#isOfTexts() || this.#of('deal', 'title') > 0.5));
    const isAbout = list === undefined && !isPerson && !this.#areTexts() && isTold;
    const signs: readonly (readonly [boolean, string])[] = [
      [isSold, 'an amount'],
      [isStaged, 'a status'],
      [isOwn || isTitled, 'a subject'],
      [isCalled, 'a name that means deals'],
      [isAbout, this.#isOfTexts() ? 'texts about them' : isEnded ? 'an outcome' : 'a title'],
    ];
    const [one, other] = signs.flatMap(([isSo, words]) => (isSo ? [words] : []));
    if (!isOf || one === undefined || other === undefined) return;
    if (isPerson && !isCalled && (this.#areAllPeople() || (sum !== undefined && isMostlyZero(sum.column)))) return;
    // Payments, invoices and line items where other records are the deals.
    if (this.#refersTo('deal') || (this.#is('other') && this.#areOthers())) return;
    const without = this.#assignments.get('deal')!.roles.has('stage') ? '' : '; no column has a stage';
    this.#set(
      'deal',
      `check: these become deals, because they belong to a person or company and have ${one} and ${other}${without}`,
    );
    if (isPerson) this.#set('lead');
  }

  /**
   * Whether each row is another person, and nothing names a deal or says how it ended: what customers have spent, or may spend,
   * is a property of theirs.
   */
  #areAllPeople(): boolean {
    const [{ roles: person }, { roles: deal }] = [this.#assignments.get('lead')!, this.#assignments.get('deal')!];
    const [email, stage] = [person.get('email')?.column, (deal.get('stage') ?? deal.get('outcome'))?.column];
    const isEach = email !== undefined && fillOf(email) > 0.9 && email.distinct > email.filled * 0.97;
    return isEach && email.filled > 6 && !this.#title() && !(stage && endings(stage).ends > 0);
  }

  #areTexts(): boolean {
    return this.#table.columns.some((each) => each.is.prose > 0.5 && fillOf(each) > 0.5);
  }

  /** Whether the texts of another table are about its records. */
  #isOfTexts(): boolean {
    return this.#references.some(
      (each) =>
        each.to.table === this.#table &&
        isKey(each.to) &&
        isCode(each.to) &&
        isSure(each, 0.7) &&
        !isStaff(each.from) &&
        each.from.table.columns.some(({ is, filled }) => is.prose > 0.5 && filled > 0),
    );
  }

  /** Whether a header says so; conversations have a status, too. Where others are deals, these are what became of them. */
  #areSteps(): boolean {
    const stage = this.#assignments.get('deal')!.roles.get('stage')?.column;
    return stage?.meaning.concepts.has('stage') === true && !this.#areOthers();
  }

  /** Whether all are won, lost or open. */
  #isEnded(): boolean {
    return this.#table.columns.some((column) => {
      const { ends, all } = isFew(column) && fillOf(column) > 0.9 ? endings(column) : { ends: 0, all: 0 };
      return ends > 0 && all > 0.9;
    });
  }

  /** The names of deals, which are no jobs and no names of people. */
  #title(): Column | undefined {
    const title = this.#assignments.get('deal')!.roles.get('title')?.column;
    return title && fillOf(title) > 0.5 && title.is.person < 0.7 && !isJobs(title) ? title : undefined;
  }

  /**
   * An amount beside a person that is a deal without a stage: two signs of a title of its own, a person in several records, each of
   * which has a number, a member in charge, a currency, days one after the other.
   */
  #isOwnDeal(amount: Column | undefined): boolean {
    const [{ roles: person }, { roles: deal }] = [this.#assignments.get('lead')!, this.#assignments.get('deal')!];
    if (!amount || !this.#isPerson() || !isTwin(this.#assignments) || this.#is('other')) return false;
    const isTitled = this.#isTitled();
    const [who] = columnsOf(person, ...CONTACTS, 'full');
    const isSeveral = who !== undefined && who.distinct < who.filled * 0.9;
    const id = deal.get('id')?.column;
    const more = [this.#isMoney(), (deal.get('owner')?.score ?? 0) > 0.5, milestones(this.#table).length > 0];
    const isNumbered = isSeveral && id !== undefined && isKey(id) && isCode(id);
    // What somebody has or earns is no deal, unless it is what each of several things is worth.
    if (fillOf(amount) < 0.2 || (amount.meaning.concepts.has('wealth') && !isNumbered)) return false;
    return (isTitled || isSeveral) && [isTitled, isSeveral, isNumbered, ...more].filter(Boolean).length >= 2;
  }

  /** Whether most records of a deal have a title of their own. */
  #isTitled(): boolean {
    const title = this.#title();
    return title !== undefined && title.distinct > title.filled / 2;
  }

  /** Whether the amount of a deal is in a currency. */
  #isMoney(): boolean {
    const { roles } = this.#assignments.get('deal')!;
    return roles.has('amount') && (roles.has('currency') || roles.get('amount')!.column.is.money > 0.5);
  }

  /** An amount and a stage that no deal has are said: of people, each row may be a deal, too. */
  noteUnusedDeal(): void {
    if (this.#found.has('deal') || this.#found.has('comment') || this.#is('user', 'company', 'payment')) return;
    const isMost = ({ filled }: Column): boolean => filled > this.#table.rows * 0.3;
    const columnOf = (role: Role, least: number): Column | undefined => {
      const best = this.#best(role);
      return best && best.score >= least && isMost(best.column) ? best.column : undefined;
    };
    const amount = columnOf('amount', 0.25) ?? this.#table.columns.find((each) => each.is.money > 0.5 && isMost(each));
    const stage = columnOf('stage', 0.35) ?? columnOf('outcome', 0.35);
    if (!amount || amount.list !== undefined || !(stage || this.#isOwnDeal(amount))) return;
    // Where other records are the deals, what people earn says nothing.
    if (amount.meaning.concepts.has('wealth') && this.#areOthers()) return;
    this.#table.unusedDeal = stage
      ? `${quoted(amount)} and ${quoted(stage)} may be the amount and the stage of a deal`
      : `${quoted(amount)} may be the amount of a deal`;
    if (this.#found.has('lead') && this.#found.get('lead')!.doubt === undefined)
      this.#set(
        'lead',
        `check: ${this.#table.unusedDeal}; if each row is a person and a deal, use \`--answer ${this.#table.source}=both\``,
      );
  }

  /** Whether other records are deals. */
  #areOthers(): boolean {
    return [...this.#kinds.values()].some((found) => found.has('deal'));
  }

  #isPerson(): boolean {
    // An address of one's own makes sure of a name.
    const least = !isNamed(this.#table) ? 0.2 : this.#hasOwnAddress() ? 0.4 : 0.5;
    return this.#of('lead', 'full', 'last') > least && this.#of('lead', ...CONTACTS) > 0.5;
  }

  #hasOwnAddress(): boolean {
    const email = this.#assignments.get('lead')!.roles.get('email')?.column;
    return email !== undefined && fillOf(email) > 0.5 && email.distinct > email.filled * 0.9;
  }

  comments(): void {
    const { columns, list } = this.#table;
    const isText = (each: Column): boolean => isWritten(each) && !isOfFirm(each) && !namesOther(each, this.#references);
    const isWithout =
      this.#table.only?.as !== 'parts' &&
      !columns.some(isText) &&
      !(this.#is('comment') && standIns(this.#table).length > 0);
    if (this.#found.size > 0 || this.#is('user', 'payment') || isWithout) return;
    if (list !== undefined && this.#is('stage')) return;
    // Whom the texts of another table are about.
    if (this.#of('comment', 'content', 'subject') <= 0.36 && linksTexts(this.#table, this.#references)) return;
    const isOf = list !== undefined || this.#refersTo('lead') || this.#refersTo('deal') || this.#isLinked();
    const concepts = columns.map(({ meaning }) => meaning.concepts);
    const isPerson = (own: ReadonlySet<Concept>): boolean => own.has('person') && !own.has('user');
    const hasId = concepts.some((own) => own.has('id') && (isPerson(own) || own.has('deal') || own.has('parent')));
    const isTyped = columns.some((each) => isId(each) && this.#isTyped(each));
    const isNote = this.#is('comment')
      ? isOf || hasId || isTyped
      : (isOf || isTyped) &&
        (this.#isLog() || this.#of('comment', 'content') > (isNamed(this.#table) ? 0.55 : 0.25)) &&
        this.#of('deal', 'amount') < 0.6 &&
        this.#assignments.get('comment')!.roles.size >= (list === undefined ? 2 : 3);
    if (!isNote) return;
    if (!this.#is('other')) this.#set('comment');
    else if (this.#refersTo('lead', isId) || this.#refersTo('deal', isId))
      this.#set('comment', 'check: these become comments, because they have a text about a person or a deal');
  }

  /** Whether its records have a time, an author, mostly a text of their own, and the id of a parent; sentences need a parent in each. */
  #isLog(): boolean {
    const { roles, candidates } = this.#assignments.get('comment')!;
    const text = roles.get('content')?.column ?? candidates.get('content')?.[0]?.column;
    if (!text || text.length <= 20 || text.is.spaced <= 0.8 || this.#of('comment', 'happened') <= SURE) return false;
    const isProse = text.is.prose > 0.6;
    if (!isProse && !(text.distinct > text.filled / 2 && roles.has('author'))) return false;
    const isParent = (to: Column, from: Column): boolean => isId(to) || (isProse && isComplete(from));
    return this.#refersTo('lead', isParent) || this.#refersTo('deal', isParent);
  }

  /** Whether its records refer to those of a kind, or to companies, other than by their owner. */
  #refersTo(kind: RecordKind | 'company', by: (to: Column, from: Column) => boolean = () => true): boolean {
    // In a row for each contact, the id of a deal repeats.
    const isTheirId = (column: Column): boolean =>
      kind !== 'company' &&
      isId(column) &&
      this.#kinds.get(column.table)!.get(kind)?.assignment.roles.get('id')?.column === column;
    return this.#references.some(
      (each) =>
        each.from.table === this.#table &&
        (kind === 'company' ? each.to.table.nouns.includes(kind) : this.#kinds.get(each.to.table)!.has(kind)) &&
        isSure(each, 0.3) &&
        (isUnique(each.to) || isOfFew(each.to) || isTheirId(each.to)) &&
        by(each.to, each.from) &&
        !isStaff(each.from),
    );
  }

  /** Whether a column beside it says which kind of record an id is of. Notes may have no type, but ids of both kinds. */
  #isTyped(id: Column): boolean {
    const type = typeOf(id, this.#references);
    const ids = this.#references.filter((each) => each.from === id && isKey(each.to) && each.share > 0.3);
    const isOf = (kind: RecordKind): boolean => ids.some(({ to }) => this.#kinds.get(to.table)!.has(kind));
    const isNote = this.#is('comment') && !isStaff(id) && !isUnique(id);
    const isBoth = (type?.values.has('lead') && type.values.has('deal')) ?? isNote;
    return (isBoth && isOf('lead') && isOf('deal')) || (type !== undefined && id.meaning.concepts.has('parent'));
  }

  /** Whether a table that becomes nothing, such as conversations or links, leads to people or deals: it has their ids, or they its own. */
  #isLinked(): boolean {
    const isTheirs = (each: Reference): boolean => isUnique(each.to) && isSure(each, 0.5) && !isStaff(each.from);
    const thirds = this.#references.flatMap((each) => {
      const { from, to } = each;
      if (from.table === this.#table && isTheirs(each)) return [to.table];
      return to.table === this.#table && each.share > 0.5 && isKey(to) ? [from.table] : [];
    });
    const isNone = (table: Table): boolean => this.#kinds.get(table)!.size === 0 && !table.nouns.includes('user');
    return this.#references.some(
      (each) =>
        thirds.includes(each.from.table) &&
        isNone(each.from.table) &&
        isTheirs(each) &&
        (['lead', 'deal'] as const).some((kind) => this.#kinds.get(each.to.table)!.has(kind)),
    );
  }

  #isReferredTo(): boolean {
    const id = this.#assignments.get('lead')!.roles.get('id')?.column;
    return id !== undefined && referred(id, this.#references) > 0;
  }

  /** People to whom others refer, whatever is known of them: they are called so, or each has an address of its own. */
  peopleByRelations(): void {
    if (this.#found.size > 0 || this.#refersTo('lead') || !this.#isReferredTo()) return;
    if (this.#is('lead'))
      this.#set(
        'lead',
        'check: these become leads, because other records refer to them; no column has names or addresses',
      );
    else if (this.#mayBePeople() && this.#hasOwnAddress() && this.#table.columns.some(({ is }) => is.person > 0.7))
      this.#set('lead', 'check: these become leads, because other records refer to them and each has its own address');
  }

  peopleByAddress(): void {
    if (this.#found.size > 0 || !this.#mayBePeople()) return;
    if (this.#of('lead', 'id') > 0.4 && this.#of('lead', ...CONTACTS) > 0.8)
      this.#set('lead', 'only e-mail addresses or phone numbers show that these are people');
  }

  /** Whether they are called nothing else, and no records name them as those who work with them. */
  #mayBePeople(): boolean {
    const areStaff = ({ from, to, share }: Reference): boolean =>
      to.table === this.#table && isStaff(from) && share > 0.7;
    return !this.#is('other', 'user', 'company') && !this.#references.some(areStaff);
  }

  /** All, or beside people only those that most deals name instead (`alone`: how many). */
  companies(alone: string | undefined): void {
    if (this.#found.size > 0 || !this.#is('company')) return;
    if ([...this.#kinds.values()].some((found) => found.has('lead'))) {
      if (alone === undefined || this.#of('lead', ...CONTACTS) <= 0.5) return;
      this.#set('lead', `check: ${alone} name a company without people, so the companies become leads, too`);
    } else if (this.#isReferredTo() || this.#of('lead', 'full') + this.#of('deal', 'title') > 0.5)
      this.#set('lead', 'check: no export has people, so the companies become leads');
  }
}

/** An address, a number or a name that hardly any share: a family, or an office. */
function isOfFew({ is, distinct, filled }: Column): boolean {
  return Math.max(is.email, is.phone, is.person) > 0.8 && distinct > filled * 0.9;
}
