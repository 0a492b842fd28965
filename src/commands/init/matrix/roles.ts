/**
 * The table of roles: what the values of a column must look like to have the role, and which words of a header speak for it and
 * against it. Content can veto, a header cannot.
 */
import { KINDS, kindOf } from '../../../kinds/index.ts';
import { fillOf, isFew, isKey, isOfApi, type Column } from '../columns.ts';
import {
  addresses,
  createdAt,
  isId,
  isNotes,
  keys,
  member,
  partOfName,
  personal,
  stages,
  sumOfMoney,
  texts,
  titles,
} from './content.ts';
import { outcomes } from './ends.ts';
import { grossOf } from '../relations/derived.ts';
import { fold, meaningOf, NOUNS, type Concept, type Meaning, type Noun } from '../words.ts';

interface RoleSpec {
  /** How probable the role is by the values alone, from 0 (impossible) to 1. */
  readonly content: (column: Column) => number;
  /** Concepts that a header has together, and how much they say. */
  readonly header: Readonly<Record<string, number>>;
  /** Concepts that mean something else. */
  readonly against: string;
  /** One such concept outweighs all others: a due date is no date of creation. */
  readonly strict?: true;
}

const NOT_PERSON =
  'user owner company deal author stage pipeline status job type source other modified parent address email phone tag id date web';

const ROLES = {
  id: {
    content: keys,
    header: { id: 0.9, number: 0.5 },
    against:
      'company person customer deal user owner author tax address phone mobile other hash parent type created text happened stage pipeline currency previous source count amount email name web',
  },
  first: {
    content: partOfName,
    header: { 'first name': 1, first: 0.9, name: 0.45 },
    against: `${NOT_PERSON} surname full happened middle last`,
  },
  last: {
    content: partOfName,
    header: { surname: 1, 'surname name': 1, 'last name': 1, last: 0.8 },
    against: `${NOT_PERSON} first happened`,
  },
  full: {
    content: personal,
    header: {
      'person name': 1,
      'full name': 1,
      'first surname': 1,
      surname: 0.6,
      full: 0.6,
      'customer name': 0.9,
      name: 0.8,
      person: 0.7,
      customer: 0.75,
    },
    against: `${NOT_PERSON} first middle happened`,
  },
  email: {
    content: addresses,
    header: { email: 0.9 },
    against: 'user owner author created company deal text title',
  },
  phone: {
    content: ({ is, date, separators }) =>
      (is.phone < 0.6 && is.damaged === 0) || date || (is.decimal > 0.3 && separators)
        ? 0
        : is.international > 0.3
          ? 0.7
          : is.grouped > 0.5
            ? 0.4
            : 0.12,
    header: { 'phone number address': 1, 'phone number': 1, phone: 1, 'mobile number': 0.95, mobile: 0.95 },
    against: 'fax id number tax address count amount user owner company deal date other email hash',
  },
  created: {
    strict: true,
    content: createdAt,
    header: { 'created date': 1, created: 0.9, 'created happened': 0.95, date: 0.55 },
    against: 'modified closed due last previous happened stage text deleted',
  },
  title: {
    content: titles,
    header: { 'deal name': 1, 'deal title': 1, title: 0.85, name: 0.75, deal: 0.6, text: 0.15 },
    against:
      'job person company first last surname owner user stage pipeline status type author reason source customer address previous other id text date country currency email phone count tag web parent',
  },
  amount: {
    content: sumOfMoney,
    header: {
      amount: 0.9,
      gross: 0.45,
      net: 0.45,
      'deal amount': 0.95,
      'amount net': 0.96,
      'amount net tax': 0.98,
      'amount gross tax': 0.7,
    },
    against:
      'weighted probability tax cost count id base number company address phone mobile currency date reason previous type email user tag',
  },
  currency: {
    content: ({ is }) => (is.currency > 0.8 ? 0.75 : 0),
    header: { currency: 1 },
    against: 'country id base weighted cost',
  },
  stage: {
    content: stages,
    header: { stage: 0.95, 'stage name': 1, 'deal status': 0.75, status: 0.65 },
    against:
      'date modified previous happened probability person customer type outcome user owner number count reason last address tag deleted',
  },
  outcome: {
    content: outcomes,
    header: { status: 0.7, outcome: 0.8, 'deal status': 0.85 },
    against: 'stage reason date person happened deleted',
  },
  pipeline: {
    // The phase of a pipeline is a stage.
    strict: true,
    content: (column) => (stages(column) > 0 ? 0.12 : 0),
    header: { pipeline: 0.95, 'pipeline name': 1, type: 0.25 },
    against: 'stage date status deal parent source',
  },
  owner: {
    content: member,
    header: { owner: 0.95, 'owner name': 1, user: 0.7, 'user name': 0.75, 'owner user': 1, author: 0.3 },
    against: 'modified created phone date type deleted reason number count middle',
  },
  subject: {
    content: (column) => titles(column) * 0.6,
    header: { title: 0.85, 'text title': 0.9, 'happened title': 0.9, name: 0.6 },
    against: 'job person company owner user stage type author parent deal customer id date email',
  },
  content: {
    content: texts,
    header: { text: 0.85, 'happened text': 0.9, 'text date': 0 },
    against: 'type date id author user owner parent title name company person deal status',
  },
  author: {
    content: member,
    header: {
      author: 0.85,
      'author name': 0.95,
      'created author': 0.95,
      'created user': 0.9,
      owner: 0.8,
      user: 0.8,
      'user name': 0.85,
    },
    against: 'modified date type phone parent deleted person customer company deal text number count',
  },
  happened: {
    strict: true,
    content: createdAt,
    header: { 'happened date': 1, happened: 0.7, date: 0.75, 'created date': 0.8, created: 0.75 },
    against: 'modified due previous last closed deleted',
  },
} satisfies Record<string, RoleSpec>;
export type Role = keyof typeof ROLES;

/** What a person is called, and what reaches them. */
export const NAMES: readonly Role[] = ['full', 'first', 'last'];
export const CONTACTS: readonly Role[] = ['email', 'phone'];

/** The roles that a field or setting of an entry is made of: that of its one column, and where a list is joined, those of its columns. */
export const FIELD_ROLES: Readonly<Record<string, readonly Role[]>> = {
  external_id: ['id'],
  full_name: NAMES,
  email: ['email'],
  phone_number: ['phone'],
  title: ['title'],
  amount: ['amount'],
  currency: ['currency'],
  stage_name: ['stage', 'outcome'],
  owner_name: ['owner'],
  content: ['content', 'subject', 'content'],
  author_name: ['author'],
  stage_pipeline: ['pipeline'],
};

/** The kinds of records that are recognised. */
export type RecordKind = Extract<Noun, 'lead' | 'deal' | 'comment'>;
/** Parents first. */
export const RECORD_KINDS = KINDS.map(({ name }) => name).filter((name): name is RecordKind => name in NOUNS);

/** The first role of a field or setting of an entry; undefined if it is not made of a column. */
export function roleOf(key: string, kind: RecordKind): Role | undefined {
  return key === 'occurred_at' ? timeOf(kind) : FIELD_ROLES[key]?.[0];
}

/** The role of the time of a record. */
export function timeOf(kind: RecordKind): 'happened' | 'created' {
  return kindOf(kind).isNote ? 'happened' : 'created';
}

/** The roles of each kind of record. */
export const ROLES_OF: Readonly<Record<string, readonly Role[]>> = Object.fromEntries(
  RECORD_KINDS.map((kind) => {
    const { fields, features } = kindOf(kind);
    const keys = [...fields.map(({ name }) => name), ...(features.includes('pipelines') ? ['stage_pipeline'] : [])];
    const own: readonly string[] = [...keys.flatMap((key) => FIELD_ROLES[key] ?? []), timeOf(kind)];
    return [kind, (Object.keys(ROLES) as Role[]).filter((role) => own.includes(role))];
  }),
);

const PATTERNS = new Map(
  Object.entries<RoleSpec>(ROLES).map(([role, { header, against, strict }]) => [
    role,
    {
      patterns: Object.entries(header).map(([words, weight]) => ({ concepts: words.split(' ') as Concept[], weight })),
      against: against.split(' ') as Concept[],
      penalty: strict ? 1 : 0.6,
    },
  ]),
);

/** How much the header says for a role (to 1) or against it (to -1). */
export function headerScore(role: Role, { meaning, known, table }: Column, kind: RecordKind): number {
  const meant = known?.get(kind);
  // `Order` of orders.
  const own = role === 'id' ? table.nouns : [];
  return meant === role ? KNOWN : Math.min(meant === undefined ? 1 : 0.3, headerOf(role, meaning, [kind, ...own]));
}

/** Of a header that a known CRM writes. */
const KNOWN = 0.97;

/** `nouns`: words that name the records themselves mean nothing else. */
function headerOf(role: Role, { concepts, words }: Meaning, nouns: readonly Noun[]): number {
  const { patterns, against, penalty } = PATTERNS.get(role)!;
  const unknown = Math.min(0.2, 0.04 * words.filter((word) => word.size === 0).length);
  // A word may mean several things: one that is explained is not against the role.
  const own: readonly Concept[] = nouns.flatMap((noun) => NOUNS[noun]);
  const scores = [{ concepts: [], weight: 0 }, ...patterns]
    .filter((each) => each.concepts.every((concept) => concepts.has(concept)))
    .map(({ concepts: used, weight }) => {
      const rest = words.filter((word) => ![...used, ...own].some((each) => word.has(each)));
      const foreign = rest.filter((word) => against.some((each) => word.has(each))).length;
      return weight - penalty * foreign - (weight > 0 ? unknown : 0);
    });
  return Math.max(-0.9, ...scores);
}

/** From 0 (impossible, or no sign of it) to 1. */
export function scoreOf(role: Role, column: Column, kind: RecordKind, more = 0): number {
  const plain = ROLES[role].content(column);
  if (plain === 0 || column.filled === 0 || column.isWrapper || column.isInPairs || isOfApi(column)) return 0;
  // Of several elements, one address is enough; anything else would be cut to its first element.
  if (column.several > 0 && role !== 'email' && role !== 'phone') return 0;
  const content =
    1 - (1 - plain * (role === 'content' ? 0.8 : 0.6 + 0.4 * fillOf(column))) * (1 - (plain > 0.1 ? more : 0));
  // A net amount is called like the gross one beside it; costs are as constant a part of a price.
  const gross = role === 'amount' ? grossOf(column) : undefined;
  const [own, theirs] = [column, gross ?? column].map(({ meaning }) => [...meaning.concepts]);
  const isNet =
    gross &&
    own!.every((each) => TAXED.includes(each)) &&
    [...own!, ...theirs!].some((each) => each !== 'amount' && TAXED.includes(each));
  const header = Math.max(headerScore(role, column, kind), isNet ? headerScore(role, gross, kind) : -1);
  // What others refer to is an id whatever it is called; sentences are a text, numbers with the code of a country or currency phones or sums.
  const { prose, international, money } = column.is;
  const isSure =
    (role === 'content' && prose > 0.6) ||
    (role === 'phone' && international > 0.9) ||
    (role === 'amount' && money > 0.9 && !column.meaning.concepts.has('cost'));
  const isReferredTo = isId(column) || (role === 'id' && isKey(column) && !isCalledSo(column, kind));
  const against = isReferredTo ? 1 - 2 * more : isSure ? 0.3 : 1;
  if (header < 0) return content * (1 + header * against);
  // No header makes sure what the values speak against.
  const most =
    role === 'amount' && plain < 0.1
      ? 0.49
      : // Nor a date that comes after another one in all records.
        role === 'created' && plain <= 0.05 && header < 0.6
        ? 0.3
        : role === 'title' &&
            ((header < 0.8 && isKind(column)) || (header < 0.5 && (isNotes(column, kind) || isRemarks(column))))
          ? 0.14
          : 1;
  return Math.min(1 - (1 - content) * (1 - 0.9 * header), most);
}

/** Sentences that only some records have. */
export function isRemarks(column: Column): boolean {
  return column.is.prose > 0.4 && fillOf(column) < 0.9;
}

/** Whether a column has what its records are called, or a person: of people, where no other one is more surely their name. */
function isCalledSo(column: Column, kind: RecordKind): boolean {
  const called = (each: Column): number => headerScore(kind === 'lead' ? 'full' : 'title', each, kind);
  const isOther = (each: Column): boolean => each.is.person > 0.7 && called(each) > called(column);
  if (kind === 'lead') return column.is.person > 0.7 && !column.table.columns.some(isOther);
  return column.is.person > 0.7 || called(column) > 0.5;
}

/** What amounts with and without a tax are called. */
const TAXED: readonly Concept[] = ['amount', 'base', 'net', 'gross', 'tax'];

/** So few values that they tell kinds of records, not records. */
export function isKind(column: Column): boolean {
  return isFew(column) && column.distinct < column.filled / 8;
}

/** Whether a header names somebody who works with the records. */
export function isStaff({ meaning: { words } }: Column): boolean {
  // A member is one of a team or of a club.
  return words.some(
    (word) =>
      word.has('owner') || (word.has('user') && !word.has('person')) || word.has('author') || word.has('modified'),
  );
}

/** Whether a header is that of the names of companies, or says that a record is one. */
export function isOfFirm({ meaning: { concepts } }: Column): boolean {
  return concepts.has('company') && !concepts.has('id');
}

/** Whose name, address or number a header says that it is: `parent` of `Parent Email`. */
export function whoseOf({ name, label = name }: Column): string {
  const isPart = (word: string): boolean => PERSONAL.some((each) => meaningOf(word).concepts.has(each));
  return fold(label)
    .split(' ')
    .filter((word) => !isPart(word))
    .join(' ');
}

const PERSONAL = ['first', 'surname', 'last', 'name', 'email', 'phone'] as const;
