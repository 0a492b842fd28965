/**
 * What `init` knows of roles and kinds, as data: points, levels, words. `npm run tune` says what each row and number is worth over all
 * labelled exports; `init --why COLUMN` shows which of them decided.
 */
import type { Concept, Noun } from '../facts/headers.ts';

/** Shares that count as all, most, … of the values. */
export const LEVELS = { all: 0.95, most: 0.8, half: 0.5, some: 0.2, hint: 0.05 };
type Level = keyof typeof LEVELS;

export const DATES = {
  /** Languages whose months are known. */
  locales: 'en de fr es it pt nl pl ru sv da nb fi cs hu tr el uk ro',
  timed: 'date created modified closed due',
  untimed: 'id number amount weighted cost count author user owner address',
  /** Different formats in one column. */
  formats: 6,
  /** Seconds between the first and the last of numbers that may be times. */
  spread: 2_000_000,
  /** Of people who may still work: a date before it is that of a birth. */
  birth: '2005-01-01',
};

export const MULTIPLES: readonly (readonly [factor: number, marks: string])[] = [
  [1_000_000_000, 'Mrd|mrd|mld|bn|billions?|Milliarden|млрд'],
  [1_000_000, 'Mio|mio|mln|Mill|millions?|Millionen|millones|milioni|млн|M'],
  [1000, 'Tsd|tsd|TSD|Tausend|thousands?|milliers?|tys|тыс|tkr|k|K|T'],
];

type WordsIn<Text extends string, Found = never> = Text extends `${infer Word} ${infer Rest}`
  ? WordsIn<Rest, Found | Word>
  : Found | Text;

/** What is measured of a column: shares of its values or records, from 0 to 1 (see `facts`, `shapes` and `relations`). */
const FACTS =
  'email phone international number decimal percent hundred whole digits url file uuid code hash currency flag html words person oneName prose spaced damaged firm job money padded round zero date time fill full rare few key twice brief long several list first early late future birth less rising ends outcome inEmail referred toUser toStage toLead toDeal toCompany toOther';
export type FactName = WordsIn<typeof FACTS>;
export const NO_FACTS = Object.fromEntries(FACTS.split(' ').map((fact) => [fact, 0])) as Readonly<
  Record<FactName, number>
>;

export type RecordKind = 'lead' | 'deal' | 'comment';

export interface RoleRow {
  readonly kinds: readonly string[];
  /** Concepts that a header has together, and their points. */
  readonly header: readonly (readonly [string, number])[];
  /** Concepts that mean something else: each costs. */
  readonly against: ReadonlySet<string>;
  /** Facts without which a column cannot have the role, whatever its header is, and facts with which it cannot. */
  readonly needs: readonly (readonly [FactName, Level])[];
  readonly never: readonly (readonly [FactName, Level])[];
  /** Points of a fact, times its share. */
  readonly signs: readonly (readonly [FactName, number])[];
}

const NOT_PERSON =
  'user owner company deal author stage pipeline status job type source other modified parent address email phone tag id date web';
const NO_TEXT = 'date half, email some, url some, uuid some, number half, several hint, ';

/** `kinds`, `header`, `against`, `needs`, `never`, `signs`. */
function row(kinds: string, header: string, against: string, needs: string, never: string, signs: string): RoleRow {
  const pairs = (text: string) =>
    text
      .split(', ')
      .filter(Boolean)
      .map((each) => [each.replace(/ \S+$/, ''), each.replace(/^.* /, '')] as const);
  return {
    kinds: kinds.split(' '),
    header: pairs(header).map(([words, points]) => [words, Number(points)] as const),
    against: new Set(against.split(' ')),
    needs: pairs(needs) as RoleRow['needs'],
    never: pairs(never) as RoleRow['never'],
    signs: pairs(signs).map(([fact, points]) => [fact as FactName, Number(points)] as const),
  };
}

export const ROLES = {
  id: row(
    'lead deal comment',
    'id 9, number 5',
    'company person customer deal user owner author tax address phone mobile other hash parent type created text happened stage pipeline currency previous source count amount email name web',
    'fill half',
    'date half, url half, money some, html hint, international half, prose some, several hint, list half, flag most, few half',
    'key 5, twice -6, code 1, spaced -4, oneName -3, email -3, hash -3, decimal -5, referred 5, toLead -6, toDeal -6, first 1',
  ),
  full: row(
    'lead',
    'person name 10, full name 10, first surname 10, surname 6, full 6, name 8, person 7, customer 7',
    `${NOT_PERSON} first middle happened`,
    'words most',
    `${NO_TEXT}flag half, hash half, code half, prose some, html hint`,
    'person 4, inEmail 3, firm -3, few -4, job -4',
  ),
  first: row(
    'lead',
    'first name 10, first 9, name 4',
    `${NOT_PERSON} surname full happened middle last`,
    'words most',
    `${NO_TEXT}flag half, prose some, code half, long half`,
    'oneName 3, spaced -3, few -2, firm -2, job -3',
  ),
  last: row(
    'lead',
    'surname 10, surname name 10, last name 10, last 8',
    `${NOT_PERSON} first happened`,
    'words most',
    `${NO_TEXT}flag half, prose some, code half, long half`,
    'spaced -2, few -2, firm -2, job -3',
  ),
  email: row(
    'lead',
    'email 9',
    'user owner author created company deal text title',
    'email half',
    '',
    'email 7, few -8',
  ),
  phone: row(
    'lead',
    'phone number 10, phone 10, mobile 9',
    'fax id number tax address count amount user owner company deal date other email hash',
    'phone half',
    'date half, money some',
    'international 6, decimal -5, few -3',
  ),
  created: row(
    'lead deal',
    'created date 10, created 9, date 5',
    'modified closed due last previous happened stage text deleted person deal',
    'date half',
    'several hint',
    'early 4, full 1, future -8, late -8, birth -8',
  ),
  title: row(
    'deal',
    'deal name 10, title 8, name 7, deal 6, text 1',
    'job person company first last surname owner user stage pipeline status type author reason source customer address previous other id text date country currency email phone count tag web parent',
    'words most',
    `${NO_TEXT}flag half, brief half, hash half`,
    'spaced 3, rare 1, few -3, person -2, prose -2, html -4, job -6, inEmail -4, code -3',
  ),
  amount: row(
    'deal',
    'amount 9, gross 4, net 4, amount net tax 10, amount gross tax 4',
    'weighted probability tax cost count wealth id base number company address phone mobile currency date reason previous type email user tag',
    'number half',
    'percent half, flag all, international some, date half, several hint, padded hint, file hint',
    'money 6, decimal 4, round 2, zero -4, hundred -6, rising -3, less -3',
  ),
  currency: row('deal', 'currency 9', 'country id base weighted cost', 'currency most', 'several hint', 'currency 6'),
  stage: row(
    'deal',
    'stage 9, deal status 7, status 6',
    'date modified previous happened probability person customer type outcome user owner number count reason last address tag deleted',
    '',
    'date half, email some, flag most, money some, currency most, prose some, decimal some, several hint',
    'few 3, ends 3, rare -2, key -2, person -2, code -2, uuid -3, toStage 5, toUser -5, toLead -5',
  ),
  outcome: row(
    'deal',
    'outcome 8, status 7',
    'stage reason date person happened deleted',
    'outcome half',
    'date half, several hint',
    'outcome 5',
  ),
  pipeline: row(
    'deal',
    'pipeline 9',
    'stage date status deal parent source',
    'few half',
    'date half, email some, money some, prose some, several hint',
    '',
  ),
  owner: row(
    'deal',
    'owner 9, user 7, author 3',
    'modified created phone date type deleted reason number count middle',
    '',
    'date half, flag all, prose some, url some, money some, decimal some, several hint',
    'person 2, email 2, few 2, rare -2, code -1, toUser 4, toLead -3',
  ),
  subject: row(
    'comment',
    'title 8, text title 9, happened title 9, name 6',
    'job person company owner user stage type author parent deal customer id date email',
    'words most',
    `${NO_TEXT}brief half, flag half`,
    'spaced 1, person -3',
  ),
  content: row(
    'comment',
    'text 8, text date 0',
    'type date id author user owner parent title name company person deal status',
    'words half',
    'date half, email half, url half, code most, several hint',
    'prose 5, html 4, few -4, person -5',
  ),
  author: row(
    'comment',
    'author 8, created author 9, created user 9, owner 8, user 8',
    'modified date type phone parent deleted person customer company deal text number count',
    '',
    'date half, flag all, prose some, url some, money some, decimal some, several hint',
    'person 2, email 2, few 2, rare -2, toUser 4, toLead -3',
  ),
  happened: row(
    'comment',
    'happened 7, date 7, created 7',
    'modified due previous last closed deleted',
    'date half',
    'several hint',
    'early 2, time 1, full 1, future -4, late -2',
  ),
};
export type Role = keyof typeof ROLES;

/** Points of all roles. */
export const POINTS = {
  /** From here on a role is set; without a mark, if its header says so and no other column is as near as `near`. */
  set: 5,
  sure: 8,
  near: 1,
  /** From here on a column is named as a candidate. */
  named: 2,
  /** A word against the role; a word that nobody knows (at most so many of them); in a table whose headers say nothing. */
  against: -6,
  foreign: -0.5,
  unknown: 4,
  mute: 2,
  /** A file that a preset makes events of, against its headers. */
  file: 1000,
};

/** What makes records a kind. Points add up; from `least` on they are one, from `sure` on without a mark. */
export interface KindRow {
  readonly nouns: Readonly<Partial<Record<Noun, number>>>;
  /** Of roles that are set; `name`: a whole name; `reach`: an address or number; `parent`: a way by ids to people or deals. */
  readonly signs: Readonly<Record<string, number>>;
  /** Signs without which records are not of the kind. */
  readonly needs: readonly string[];
}

export const KIND_POINTS = { least: 6, sure: 8 };

export const KINDS: Readonly<Record<RecordKind, KindRow>> = {
  lead: {
    nouns: { lead: 4, deal: -1, comment: -4, user: -6, company: -4, stage: -6, other: -6, payment: -6 },
    signs: { name: 3, reach: 4, called: 2, calledUser: -8, ofLead: -4, ofDeal: -3 },
    needs: [],
  },
  deal: {
    nouns: { deal: 4, lead: -1, comment: -4, user: -6, company: -4, stage: -2, other: -5, payment: -6 },
    signs: { amount: 3, stage: 3, title: 2, owner: 1, calledDeal: 2, ofLead: 1, ofDeal: -4 },
    needs: [],
  },
  comment: {
    nouns: { comment: 4, lead: -5, deal: -5, user: -6, company: -6, stage: -5, other: -3, payment: -6 },
    signs: { content: 4, prose: 1, parent: 3, happened: 1, amount: -4 },
    needs: ['content', 'parent'],
  },
};

/** The field or setting of a role. */
export const FIELD_OF: Readonly<Record<Role, string>> = {
  ...{
    id: 'external_id',
    full: 'full_name',
    first: 'full_name',
    last: 'full_name',
    email: 'email',
    phone: 'phone_number',
  },
  ...{
    created: 'occurred_at',
    title: 'title',
    amount: 'amount',
    currency: 'currency',
    stage: 'stage_name',
    outcome: 'stage_name',
  },
  ...{
    pipeline: 'stage_pipeline',
    owner: 'owner_name',
    subject: 'content',
    content: 'content',
    author: 'author_name',
    happened: 'occurred_at',
  },
};

/** Concepts that say of a reference what it names. */
export const REFERS: Readonly<Record<RecordKind, readonly Concept[]>> = {
  lead: ['person', 'customer'],
  deal: ['deal'],
  comment: [],
};

/** Points of a way from one record to another. */
export const WAYS = {
  /** By what they find each other; `shared`: by an id that both have of a third. */
  id: 6,
  address: 4,
  shared: 2,
  name: 0,
  /** The other record has the id of this one; over a third table; in one record with the list of both. */
  back: -1,
  hop: -2,
  nested: 6,
  /** A header says what it names; it names those who work with the records; small numbers that no header explains. */
  said: 4,
  staff: -8,
  chance: -8,
  /** Times the share that is found, and that of the records that have a value. */
  share: 4,
  fill: 3,
  /** From here on a way is taken; so near another one may be meant. */
  least: 7,
  near: 2,
};
