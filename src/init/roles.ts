/**
 * The table of roles: what the values of a column must look like to have the role, and which words of a header speak for it and
 * against it. Content can veto, a header cannot.
 */
import {
  cellsOf,
  countsOf,
  fillOf,
  isComplete,
  isFew,
  isUnique,
  numberIn,
  type Column,
  type Table,
} from './columns.ts';
import { datesIn } from './dates.ts';
import { endingOf, type Concept } from './words.ts';

export type RecordKind = 'leads' | 'deals' | 'comments';

interface RoleSpec {
  /** How probable the role is by the values alone, from 0 (impossible) to 1. */
  readonly content: (column: Column) => number;
  /** Concepts that a header has together, and how much they say. */
  readonly header: Readonly<Record<string, number>>;
  /** Concepts that mean something else. */
  readonly against: string;
  /** One such concept outweighs all others: a due date is no date of creation. */
  readonly strict?: true;
  /** What a share of the values is, for the evidence. */
  readonly evidence: string;
}

const isId = ({ is }: Column): boolean => is.uuid > 0.8 || is.code > 0.8 || is.digits > 0.9;
const isText = ({ is, date, separators }: Column): boolean =>
  is.words > 0.8 && !date && !separators && is.email < 0.3 && is.url < 0.3 && is.uuid < 0.2;
const isRare = ({ distinct, filled }: Column): number => (filled === 0 ? 0 : distinct / filled);

function personal(column: Column): number {
  const { is } = column;
  if (!isText(column) || is.flag > 0.5 || is.hash > 0.5) return 0;
  const fewer = isFew(column) ? 0.4 : 1;
  return is.person > 0.6 ? 0.5 * is.person * fewer : is.prose > 0.3 ? 0 : 0.12;
}

function partOfName(column: Column): number {
  const { is, length } = column;
  if (!isText(column) || is.flag > 0.5 || length > 30 || is.spaced > 0.6) return 0;
  return is.oneName > 0.7 ? 0.3 * Math.min(1, isRare(column) + 0.4) : 0.1;
}

function member(column: Column): number {
  const { is, date, distinct, filled, separators } = column;
  if (date || is.flag > 0.9 || is.prose > 0.2 || is.url > 0.3 || is.money > 0.3 || (separators && is.decimal > 0.2))
    return 0;
  const repeats = distinct <= 2 ? filled > distinct : distinct <= filled * 0.8;
  const few = repeats ? 1 : 0.5;
  if (is.person > 0.6) return 0.35 * few;
  if (is.email > 0.6) return 0.3 * few;
  return is.words > 0.8 ? 0.12 * few : 0.1 * few;
}

/** Never later than any other date of its record, complete, and in the past. */
function createdAt(column: Column): number {
  const { date } = column;
  if (!date) return 0;
  const complete = fillOf(column) > 0.97 ? 1 : fillOf(column) > 0.7 ? 0.5 : 0.2;
  const own = datesIn(column.values, date);
  if (own.filter((each) => each > Date.now()).length > own.length * 0.05) return 0.03;
  const others = column.table.columns.filter((each) => each !== column && each.date && fillOf(each) > 0.2);
  let later = 0;
  let earlier = 0;
  for (const other of others.slice(0, 12)) {
    const pairs = cellsOf([column, other]).filter((pair): pair is [string, string] =>
      pair.every((cell) => cell !== null),
    );
    const mine = datesIn(
      pairs.map(([cell]) => cell),
      date,
    );
    const theirs = datesIn(
      pairs.map(([, cell]) => cell),
      other.date!,
    );
    const day = date.hasTime && other.date!.hasTime ? 0 : 86_400_000;
    const isLater = mine.filter((each, at) => each > theirs[at]! + day).length;
    if (isLater > pairs.length * 0.05) later += 1;
    if (mine.filter((each, at) => each < theirs[at]!).length > pairs.length * 0.2) earlier += 1;
  }
  if (later > 0) return 0.15 * complete;
  return (0.3 + (date.hasTime ? 0.1 : 0) + (earlier > 0 ? 0.15 : 0)) * complete;
}

/** Amounts have decimals or a currency; a product with the probability, a gross amount and percentages are something else. */
function sumOfMoney(column: Column): number {
  const { is, separators, distinct, filled, length } = column;
  if (!separators || is.percent > 0.5 || is.flag > 0.95 || is.international > 0.3 || is.email > 0) return 0;
  const isKey = isUnique(column) && isComplete(column) && is.whole > 0.95 && is.decimal < 0.05 && isRising(column);
  if (isKey || is.hundred > 0.95) return 0.06;
  const relation = derivedOf(column.table).get(column);
  const less = relation === 'weighted' ? 0.15 : relation === 'gross' ? 0.6 : 1;
  if (is.money > 0.5) return 0.7 * less;
  if (is.decimal > 0.3) return 0.55 * less;
  return (distinct > Math.min(4, filled / 4) && length >= 3 ? 0.3 : 0.1) * less;
}

function isRising({ values }: Column): boolean {
  return values.length > 3 && values.every((value, at) => at === 0 || Number(value) > Number(values[at - 1]));
}

const DERIVED = new WeakMap<Table, Map<Column, 'weighted' | 'gross'>>();

/** Numbers that follow from other numbers of their record: times a probability, or a constant tax. */
function derivedOf(table: Table): Map<Column, 'weighted' | 'gross'> {
  const known = DERIVED.get(table);
  if (known) return known;
  const derived = new Map<Column, 'weighted' | 'gross'>();
  DERIVED.set(table, derived);
  const numbers = table.columns
    .filter(({ separators, is }) => separators && is.flag < 0.95 && is.international < 0.3)
    .slice(0, 20);
  const rows = cellsOf(numbers).map((row) => row.map((cell, at) => numberIn(cell, numbers[at]!)));
  const chances = numbers.flatMap(({ is }, at) => (is.hundred > 0.95 ? [at] : []));
  for (const a of numbers.keys()) {
    for (const b of numbers.keys()) {
      const pairs = rows.filter((row) => a !== b && row[a]! > 0 && row[b]! > 0);
      if (pairs.length < 4 || chances.includes(a) || chances.includes(b)) continue;
      const ratios = pairs.map((row) => row[b]! / row[a]!);
      const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
      const isTimes = (row: number[], p: number): boolean =>
        [1, 100].some((of) => Math.abs(row[a]! * (row[p]! / of) - row[b]!) <= row[b]! * 0.01 + 1);
      if (high < 1.28 && low > 1.045 && high - low < 0.01) derived.set(numbers[b]!, 'gross');
      else if (low < 1 && chances.some((p) => pairs.filter((row) => isTimes(row, p)).length > pairs.length * 0.9)) {
        derived.set(numbers[b]!, 'weighted');
      } else if (low > 0.02 && high < 0.77 && high - low < 0.02) derived.set(numbers[b]!, 'weighted');
    }
  }
  return derived;
}

function endings(column: Column): { ends: number; all: number } {
  const counts = [...countsOf(column)];
  const total = counts.reduce((sum, [, n]) => sum + n, 0);
  const of = (test: (end: string | undefined) => boolean): number =>
    counts.reduce((sum, [value, n]) => sum + (test(endingOf(value)) ? n : 0), 0) / Math.max(1, total);
  return { ends: of((end) => end === 'won' || end === 'lost'), all: of((end) => end !== undefined) };
}

function stages(column: Column): number {
  const { is, date, separators, length } = column;
  if (date || is.email > 0.2 || is.flag > 0.9 || is.money > 0.3 || length > 60 || is.prose > 0.3) return 0;
  if (separators && (is.decimal > 0.2 || column.distinct > 40)) return 0;
  if (!isFew(column) && column.filled > 6) return column.distinct <= column.filled * 0.7 ? 0.08 : 0;
  const isPerson = is.person > 0.8 ? 0.3 : 1;
  return (is.words > 0.8 ? 0.22 + (endings(column).ends > 0 ? 0.2 : 0) : 0.12) * isPerson;
}

function outcomes(column: Column): number {
  const { is, date, distinct } = column;
  if (date || distinct > 8 || is.email > 0) return 0;
  if (is.digits > 0.9) return distinct <= 4 && distinct > 1 && is.hundred > 0.9 ? 0.1 : 0;
  const { ends, all } = endings(column);
  return ends === 0 ? 0 : all > 0.95 ? 0.6 : 0.15;
}

function titles(column: Column): number {
  const { is, length } = column;
  if (!isText(column) || is.flag > 0.5 || length > 200) return 0;
  const spaced = is.spaced > 0.5 ? 0.35 : 0.15;
  return (
    spaced *
    (0.3 + 0.7 * isRare(column)) *
    (is.person > 0.7 ? 0.3 : 1) *
    (is.prose > 0.6 ? 0.6 : 1) *
    (is.html > 0.2 ? 0.3 : 1)
  );
}

function texts(column: Column): number {
  const { is, length } = column;
  if (is.words < 0.6 || column.date || is.email > 0.5 || is.url > 0.5 || is.code > 0.8) return 0;
  const rare = isRare(column);
  const prose = Math.max(is.prose, is.html > 0.3 ? 0.9 : 0);
  return (prose > 0.2 ? 0.25 + 0.5 * prose : length > 12 && is.spaced > 0.5 ? 0.2 : 0.08) * (0.4 + 0.6 * rare);
}

function keys(column: Column): number {
  const { is, date, filled, distinct, table, length } = column;
  if (
    filled === 0 ||
    date ||
    is.url > 0.5 ||
    is.money > 0.3 ||
    is.html > 0.1 ||
    length > 130 ||
    column.list !== undefined
  )
    return 0;
  if (is.decimal > 0.1 && column.separators) return 0;
  if (is.international > 0.5 || is.prose > 0.5) return 0;
  const damaged = is.damaged > 0;
  if ((distinct < filled * 0.97 || filled < table.rows * 0.9) && !damaged) return 0.04;
  const exact = isUnique(column) && isComplete(column) ? 1 : 0.6;
  if (is.hash > 0.9 && is.uuid < 0.5) return 0.25 * exact;
  if (is.uuid > 0.9 || is.code > 0.8 || damaged) return 0.5 * exact;
  if (is.whole > 0.9) return 0.45 * exact;
  return (is.email > 0.6 ? 0.2 : is.words > 0.8 ? 0.12 : 0.25) * exact;
}

const NOT_PERSON =
  'user owner company deal author stage pipeline status job type source other modified parent address email phone tag id date web';

export const ROLES = {
  id: {
    content: keys,
    header: { id: 0.9, number: 0.5 },
    against:
      'company person customer deal user owner author tax address phone mobile other hash parent type created text happened stage pipeline currency previous source count amount email name web',
    evidence: 'unique values',
  },
  first: {
    content: partOfName,
    header: { 'first name': 1, first: 0.9, name: 0.45 },
    against: `${NOT_PERSON} surname full happened middle last`,
    evidence: 'words',
  },
  last: {
    content: partOfName,
    header: { surname: 1, 'surname name': 1, 'last name': 1 },
    against: `${NOT_PERSON} first happened`,
    evidence: 'words',
  },
  full: {
    content: personal,
    header: { 'person name': 1, 'full name': 1, 'customer name': 0.9, name: 0.8, person: 0.7, customer: 0.75 },
    against: `${NOT_PERSON} first surname middle`,
    evidence: 'names',
  },
  email: {
    content: ({ is }) => (is.email > 0.5 ? 0.85 * is.email : 0),
    header: { email: 0.9 },
    against: 'user owner author created company deal text title',
    evidence: 'e-mail addresses',
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
    header: { phone: 1, mobile: 0.95 },
    against: 'fax id tax address count amount user owner company deal date other email hash',
    evidence: 'phone numbers',
  },
  created: {
    strict: true,
    content: createdAt,
    header: { 'created date': 1, created: 0.9, date: 0.55 },
    against: 'modified closed due last previous happened stage text',
    evidence: 'dates',
  },
  title: {
    content: titles,
    header: { 'deal name': 1, 'deal title': 1, title: 0.85, name: 0.75, deal: 0.6, text: 0.15 },
    against:
      'job person company first surname owner user stage pipeline status type author reason source customer address previous other id text date country currency email phone count tag web parent',
    evidence: 'texts',
  },
  amount: {
    content: sumOfMoney,
    header: { amount: 0.9, 'deal amount': 0.95 },
    against:
      'weighted probability tax cost count id base gross number company address phone mobile currency date reason previous type email user tag',
    evidence: 'numbers',
  },
  currency: {
    content: ({ is }) => (is.currency > 0.8 ? 0.75 : 0),
    header: { currency: 1 },
    against: 'country id base',
    evidence: 'currencies',
  },
  stage: {
    content: stages,
    header: { stage: 0.95, 'stage name': 1, 'deal status': 0.75, status: 0.65 },
    against:
      'date modified previous happened probability person customer type outcome user owner number count reason last address tag deleted',
    evidence: 'names that repeat',
  },
  pipeline: {
    content: (column) => (stages(column) > 0 ? 0.12 : 0),
    header: { pipeline: 0.95, 'pipeline name': 1, type: 0.25 },
    against: 'stage date status deal parent source',
    evidence: 'names that repeat',
  },
  outcome: {
    content: outcomes,
    header: { status: 0.7, outcome: 0.8, 'deal status': 0.85 },
    against: 'stage reason date person happened deleted',
    evidence: 'outcomes',
  },
  owner: {
    content: member,
    header: { owner: 0.95, 'owner name': 1, user: 0.7, 'user name': 0.75, 'owner user': 1 },
    against: 'modified created author phone date type deleted reason',
    evidence: 'names that repeat',
  },
  subject: {
    content: (column) => titles(column) * 0.6,
    header: { title: 0.85, 'text title': 0.9, 'happened title': 0.9, name: 0.6 },
    against: 'job person company owner user stage type author parent deal customer id date email',
    evidence: 'texts',
  },
  content: {
    content: texts,
    header: { text: 0.85, 'happened text': 0.9, 'text date': 0 },
    against: 'type date id author user owner parent title name company person deal status',
    evidence: 'texts',
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
    against: 'modified date type phone parent deleted person customer company deal text',
    evidence: 'names that repeat',
  },
  happened: {
    strict: true,
    content: createdAt,
    header: { 'happened date': 1, happened: 0.7, date: 0.75, 'created date': 0.8, created: 0.75 },
    against: 'modified due previous last closed',
    evidence: 'dates',
  },
} satisfies Record<string, RoleSpec>;
export type Role = keyof typeof ROLES;

/** The roles of each kind of event, and how much each says of what the records are. */
export const ROLES_OF = {
  leads: ['id', 'first', 'last', 'full', 'email', 'phone', 'created'],
  deals: ['id', 'title', 'amount', 'currency', 'stage', 'outcome', 'pipeline', 'owner', 'created'],
  comments: ['id', 'subject', 'content', 'author', 'happened'],
} as const satisfies Readonly<Record<RecordKind, readonly Role[]>>;

const OWN: Readonly<Record<RecordKind, readonly Concept[]>> = {
  leads: ['person', 'customer'],
  deals: ['deal'],
  comments: ['text', 'happened'],
};

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
export function headerScore(role: Role, { meaning }: Column, kind: RecordKind): number {
  const { patterns, against, penalty } = PATTERNS.get(role)!;
  const { concepts, words } = meaning;
  let best = 0;
  let used: readonly Concept[] = [];
  for (const each of patterns) {
    if (each.weight > best && each.concepts.every((concept) => concepts.has(concept))) {
      best = each.weight;
      used = each.concepts;
    }
  }
  const own = OWN[kind];
  // A word may mean several things: one that is explained is not against the role.
  const explained = [...used, ...own];
  const rest = words.filter((word) => !explained.some((each) => word.has(each)));
  const foreign = rest.filter((word) => against.some((each) => word.has(each))).length;
  const unknown = rest.filter((word) => word.size === 0).length;
  return Math.max(-0.9, best - penalty * foreign - (best > 0 ? Math.min(0.2, 0.04 * unknown) : 0));
}

/** From 0 (impossible, or no sign of it) to 1. */
export function scoreOf(role: Role, column: Column, kind: RecordKind, more = 0): number {
  const plain = ROLES[role].content(column);
  if (plain === 0 || column.filled === 0) return 0;
  const content =
    1 - (1 - plain * (role === 'content' ? 0.8 : 0.6 + 0.4 * fillOf(column))) * (1 - (plain > 0.1 ? more : 0));
  const header = headerScore(role, column, kind);
  // What others refer to is an id whatever it is called.
  if (header < 0) return content * (1 + header * (isId(column) ? 1 - 2 * more : 1));
  // No header makes sure what the values speak against.
  return Math.min(1 - (1 - content) * (1 - 0.9 * header), role === 'amount' && plain < 0.1 ? 0.49 : 1);
}
