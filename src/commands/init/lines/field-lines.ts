/** The lines of single fields: the column of the role with its evidence, or the candidates. */
import { numberText, ofText } from '../../../terminal/numbers.ts';
import { KEY } from '../../../json.ts';
import type { TransformSpec, ValueSpec } from '../../../mapping/spec.ts';
import { SURE, whoseOf, type RoleCandidate } from '../assign.ts';
import { countOf, fillOf, isComplete, isUnique, plainColumns, severalText, valueIn, type Column } from '../columns.ts';
import { isNumbered, texts } from '../content.ts';
import { doubtOf, isReadable } from '../dates.ts';
import { commentOf, damagedIn, dateValue, figuresOf, nextText, NONE } from '../evidence.ts';
import { passedOver, quoted, separatorIn, unreadText } from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { idValue, nameOf, reach, type KnownTables } from '../joins.ts';
import { isSure, joined } from '../references.ts';
import { isCountry } from './region.ts';
import { headerScore, scoreOf, timeOf, type Role } from '../roles.ts';
import type { Concept } from '../words.ts';
import type { Line } from './yaml.ts';

/** What the lines of an entry are made from. */
export interface Context {
  readonly draft: EntryDraft;
  readonly known: KnownTables;
  /** Columns that become no custom field, since they are carried whole; to be added to. */
  readonly used: Set<Column>;
}

/** A line without its key. */
export type Made = Omit<Line, 'key'>;

/** What a role is, where no column is sure to have it. */
const WHAT: Readonly<Partial<Record<Role, string>>> = {
  full: 'the names of people',
  email: 'the e-mail addresses',
  phone: 'the phone numbers',
  title: 'a title',
  content: 'the text',
  created: 'when the record was created',
  happened: 'when it happened',
};

export function idLine({ draft, known }: Context): Made {
  const value = idValue(draft) ?? draft.table.columns[0]!.name;
  return { value, comment: idComment(draft, known) };
}

/** Rows that only continue the record above: without an id and without a value of any other role. */
export function continuedBy({ key, roles, table }: EntryDraft): number {
  const id = key?.column;
  const others = [...roles.values()].map(({ column }) => column).filter((column) => column !== id);
  if (!id || isComplete(id) || others.length < 2) return 0;
  const all = `from ${table.sql} where ${id.sql} is null`;
  return countOf(table, `${all} and (${others.map(({ sql }) => `${sql} is not null`).join(' or ')})`) > 0
    ? 0
    : countOf(table, all);
}

function idComment(draft: EntryDraft, { references }: KnownTables): string {
  const { roles, key, prefix, kind, table, notes } = draft;
  const column = key?.column;
  if (notes) return 'the id of the record, with a prefix';
  if (!column) return `set this: ${key?.why ?? 'no column looks like an id'}`;
  const referred = references.filter((each) => each.to === column && isSure(each)).map(({ from }) => from.table.source);
  const by = [...new Set(referred.filter((source) => source !== table.source))].slice(0, 3);
  const figures = `unique in all ${numberText(column.filled)} ${isComplete(column) ? 'records' : 'records that begin with one'}${by.length > 0 ? `, referred to by ${by.join(', ')}` : ''}`;
  if (prefix && kind !== 'deal') return `check: ${prefix.why}, so these have a prefix`;
  if (column.is.damaged > 0)
    return `set this: a spreadsheet has truncated ${damagedIn(column)} ids (3.93E+11); export again without opening the file in a spreadsheet`;
  if (key.repeats !== undefined) return `check: ${key.repeats}`;
  if (key.why !== undefined) return `set this: ${key.why}; ${figures}`;
  if (!isUnique(column))
    return `set this: ${numberText(column.filled - column.distinct)} of these ids occur more than once`;
  if (!isComplete(column) && continuedBy(draft) === 0)
    return `set this: ${numberText(table.rows - column.filled)} records have none`;
  const { is } = column;
  const isText = column.name !== KEY && (is.words > 0.8 || headerScore('id', column, kind) <= 0);
  const found = roles.get('id');
  const mark =
    isText && Math.max(is.uuid, is.code, is.whole) < 0.5 && (!isNumbered(column) || is.email > 0.5)
      ? 'set this: no column has ids, so this stands for one; '
      : found && found.score < SURE
        ? 'check: '
        : '';
  return `${mark}${figures}${nextText(found?.others ?? [], found?.score)}`;
}

/** A role that a column has as it is, or its candidates. */
export function plainLine(context: Context, role: Role): Made {
  const found = context.draft.roles.get(role);
  if (!found) return openLine(context, role);
  return { value: valueIn(found.column), comment: commentOf(role, found, context.draft.kind) };
}

/** A role that is left open. */
export function openLine(
  { draft }: Context,
  role: Role,
  value: (column: Column) => ValueSpec = (column) => valueIn(column),
): Made {
  const what = WHAT[role] ?? `the ${role}`;
  const candidates = draft.candidates.get(role) ?? [];
  const [first] = candidates;
  if (!first) return { value: NONE, off: true, comment: `no column looks like ${what}` };
  const list = candidates.map(({ column }) => `${quoted(column)} (${figuresOf(role, column)})`).join(', ');
  return { value: value(first.column), off: true, comment: `set this: candidates for ${what}: ${list}` };
}

/** `Rossi, Anna` */
const REVERSED = /^\p{Lu}[\p{L}'’ .-]*, *\p{Lu}[\p{L}'’ .-]*$/u;

export function nameLine(context: Context): Made {
  const { used, draft } = context;
  const { roles, table } = draft;
  const [first, last, full] = [roles.get('first'), roles.get('last'), roles.get('full')?.column];
  const fallback = nameFallback(context, first && last ? [first.column, last.column] : full ? [full] : []);
  if (fallback) return fallback;
  if (first && last) {
    const middle = table.columns.filter(isMiddle);
    for (const each of middle) used.add(each);
    const worst = first.score < last.score ? first : last;
    const both = { ...worst.column, ...countsOfBoth(first.column, last.column) };
    const comment = commentOf(worst === first ? 'first' : 'last', { ...worst, column: both, others: [] }, 'lead');
    return { value: joined([first.column, ...middle, last.column], ' '), comment };
  }
  const reversed = full?.values.filter((value) => REVERSED.test(value)).length ?? 0;
  if (full && reversed > 0.8 * full.values.length) {
    const replace = { pattern: '^([^,]+), *([^,]+)$', with: '$2 $1' };
    const comment = `check: ${ofText(reversed, full.values.length)} are written last name, first name, and are reversed`;
    return { value: valueIn(full, { replace }), comment };
  }
  return plainLine(context, 'full');
}

/** `Middle Name`, `Tussenvoegsel`. */
function isMiddle({ meaning: { words, concepts }, name, is, list, filled }: Column): boolean {
  const isName = words.every((word) => word.has('middle') || word.has('name'));
  return isName && concepts.has('middle') && !/nick/i.test(name) && is.words > 0.8 && list === undefined && filled > 0;
}

/** How many records have a first or a last name, and how many different ones. */
function countsOfBoth({ sql: first, table }: Column, { sql: last }: Column): Pick<Column, 'filled' | 'distinct'> {
  const all = `from ${table.sql} where coalesce(${first}, ${last}) is not null`;
  return { filled: countOf(table, all), distinct: countOf(table, `from (select distinct ${first}, ${last} ${all})`) };
}

/** The names, and what stands for them in records that have none: a whole name, or of most people their company. */
function nameFallback({ draft: { table }, used }: Context, names: readonly Column[]): Made | undefined {
  const without = `from ${table.sql} where ${['true', ...names.map(({ sql }) => `${sql} is null`)].join(' and ')}`;
  const able = plainColumns(table).filter(
    (column) =>
      column.is.words > 0.8 &&
      column.is.flag < 0.5 &&
      column.distinct > 1 &&
      !names.includes(column) &&
      !column.meaning.concepts.has('id') &&
      (column.meaning.concepts.has('company') || headerScore('full', column, 'lead') > 0.7),
  );
  const [best] = able
    .map((column) => ({ column, count: countOf(table, `${without} and ${column.sql} is not null`) }))
    .sort((a, b) => b.count - a.count);
  if (!best || best.count < table.rows * 0.05) return undefined;
  used.add(best.column);
  const comment = `check: ${ofText(best.count, table.rows)} have no name, so ${quoted(best.column)} stands for it`;
  return { value: names.length === 0 ? best.column.name : { from: [joined(names, ' '), best.column.name] }, comment };
}

export function emailLine(context: Context): Made {
  const found = context.draft.roles.get('email');
  if (!found) return fromElsewhere(context, 'email', 'lowercase') ?? openLine(context, 'email');
  const several = severalText(found.column);
  const separator = separatorIn(found.column);
  const split: TransformSpec[] = separator ? [{ split: separator }, { at: 0 }] : [];
  const comment = several
    ? `check: ${several}, all are a custom field`
    : separator
      ? 'check: some cells have several; the first one is used'
      : undefined;
  return {
    value: valueIn(found.column, ...split, 'lowercase'),
    comment: comment ?? commentOf('email', found, 'lead'),
  };
}

/** The address or number that a table has which becomes no event. */
function fromElsewhere({ draft, known }: Context, role: 'email' | 'phone', apply: TransformSpec): Made | undefined {
  const way = reach(draft, role, known);
  return way && { value: { from: way.value, apply: [apply] }, comment: `check: ${way.why}` };
}

export function phoneLine(context: Context): Made {
  const { roles, table } = context.draft;
  const found = roles.get('phone');
  if (!found)
    return fromElsewhere(context, 'phone', 'phone') ?? openLine(context, 'phone', (column) => valueIn(column, 'phone'));
  const { column } = found;
  const country = table.columns.find(isCountry);
  const phone: TransformSpec = country ? { phone: { region_from: valueIn(country) } } : 'phone';
  const several = severalText(column);
  const isMore = (each: Column): boolean =>
    headerScore('phone', each, 'lead') > 0.6 && scoreOf('phone', each, 'lead') > SURE;
  const plain = column.list === undefined ? plainColumns(table) : [];
  const more = plain.filter((each) => each !== column && isMore(each));
  const damaged = damagedIn(column);
  const comment = damaged
    ? `set this: a spreadsheet has truncated ${damaged} of the numbers; export again`
    : several
      ? `check: ${several}, all are a custom field`
      : (passedOver(column, more) ?? commentOf('phone', found, 'lead'));
  const value =
    more.length > 0 ? { from: [column, ...more].map((each) => valueIn(each)), apply: [phone] } : valueIn(column, phone);
  return { value, comment };
}

export function timeLine(context: Context): Made {
  const { kind, roles, candidates, table, notes } = context.draft;
  const role = timeOf(kind);
  if (notes) return { value: NONE, off: true, comment: 'these texts have no time of their own' };
  const found = roles.get(role);
  const dates = plainColumns(table).filter(({ date, meaning }) => date && !meaning.concepts.has('due'));
  if (!found && dates.length > 0 && (candidates.get(role) ?? []).length === 0) {
    const comment = `set this: no column says ${WHAT[role]!}, only ${dates.map(quoted).join(', ')}`;
    return { value: dateValue(dates[0]!), off: true, comment };
  }
  if (!found) return openLine(context, role, dateValue);
  const why = commentOf(role, found, kind);
  const mark = role === 'happened' && !why.startsWith('check') ? 'check: comments are sorted by it; ' : '';
  const { date, values } = found.column;
  const off = !isReadable(date!, values);
  const doubt = (off ? undefined : doubtOf(date!)) ?? unreadText(found.column);
  const time = timeBeside(found.column);
  if (time) context.used.add(time);
  return {
    value: time ? joinedTime(found.column, time) : dateValue(found.column),
    off,
    comment: `${doubt ?? `${mark}${why}`}${time ? `; ${quoted(time)} has the time` : ''}`,
  };
}

const TIME = /^\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?$/i;

/** The column with the time of a date without one: the first of such columns after it, or before it. */
function timeBeside(own: Column): Column | undefined {
  if (own.date!.hasTime || own.list !== undefined) return undefined;
  const columns = plainColumns(own.table);
  const at = columns.indexOf(own);
  return [...columns.slice(at + 1), ...columns.slice(0, at)].find(
    ({ values, meaning }) =>
      !meaning.concepts.has('count') && values.filter((value) => TIME.test(value)).length > values.length * 0.9,
  );
}

function joinedTime({ name, date }: Column, time: Column): ValueSpec {
  const some = (pattern: RegExp): boolean => time.values.some((value) => pattern.test(value));
  const seconds = some(/:\d\d:/) ? ':ss' : '';
  const text = some(/m$/i) ? `h:mm${seconds}${some(/ /) ? ' ' : ''}a` : `H:mm${seconds}`;
  // The days of a workbook are at midnight.
  const isIso = date!.formats.includes('iso');
  const days = date!.formats.map((format) => (format === 'iso' ? 'yyyy-MM-dd' : format));
  const day = isIso ? { from: name, apply: [{ replace: { pattern: 'T00:00.*$', with: '' } }] } : name;
  return {
    list: [day, time.name],
    apply: [{ join: ' ' }, { date: days.flatMap((each) => [`${each} ${text}`, each]) }],
  };
}

/** A name of something: by the name that another export has for the id. */
export function namedLine(context: Context, role: 'owner' | 'author' | 'pipeline' | 'stage'): Made {
  const found = context.draft.roles.get(role);
  if (!found) return openLine(context, role);
  const { column, others } = found;
  const other = nameOf(column, context.known, role);
  if (other) {
    const { value, share, why } = other.join;
    return { value, comment: `${share < 1 || role === 'stage' ? 'check: ' : ''}${why}${nextText(others)}` };
  }
  const whole = wholeName(column);
  if (whole) {
    for (const each of whole) context.used.add(each);
    const comment = `check: ${whole.map((each) => `${quoted(each)} ${figuresOf(role, each)}`).join(', ')}`;
    return { value: joined(whole, ' '), comment };
  }
  const isKey = column.is.words < 0.8 || column.is.uuid > 0.5 || column.is.code > 0.8;
  const comment = isKey
    ? `check: these are ids, and no export has their names; ${figuresOf(role, column)}${nextText(others)}`
    : commentOf(role, found, context.draft.kind);
  return { value: valueIn(column), comment };
}

/** First and last name, where a column has one of them and a column beside it the other: `user.first_name`, `user.last_name`. */
function wholeName(own: Column): [Column, Column] | undefined {
  const isPart = ({ meaning: { concepts } }: Column, ...parts: readonly Concept[]): boolean =>
    parts.some((part) => concepts.has(part));
  const alike = own.table.columns.filter((each) => whoseOf(each) === whoseOf(own) && each.filled > 0);
  const first = alike.find((each) => isPart(each, 'first'));
  const last = alike.find((each) => each !== first && isPart(each, 'surname', 'last'));
  return isPart(own, 'first', 'surname', 'last', 'name') && first && last ? [first, last] : undefined;
}

/** What may stand for a text. */
const INSTEAD = ['type', 'title', 'outcome', 'name'] as const;

export function contentLine(context: Context): Made {
  const { roles, table } = context.draft;
  const [content, subject] = [roles.get('content'), roles.get('subject')];
  const found = [...(subject && subject.score > SURE ? [subject] : []), ...(content ? [content] : [])];
  const columns = found.map(({ column }) => column);
  const near = content ? [...(subject && !found.includes(subject) ? [subject] : []), ...content.others] : [];
  const instead = plainColumns(table)
    .filter(
      (each) =>
        !columns.includes(each) &&
        each.is.words > 0.8 &&
        fillOf(each) > 0.8 &&
        INSTEAD.some((concept) => each.meaning.concepts.has(concept)),
    )
    .slice(0, 3);
  if (columns.length === 0) {
    if (instead.length === 0) return openLine(context, 'content');
    for (const each of instead) context.used.add(each);
    const comment = `check: no column has a text, so these stand for one: ${instead.map(quoted).join(', ')}`;
    return { value: joined(instead, ' - '), comment };
  }
  const others = alternatives(columns, near);
  const outcome = instead.find((each) => isComplete(each) && each.meaning.concepts.has('outcome'));
  const without = [...columns, ...others].map(({ sql }) => `${sql} is null`).join(' and ');
  if (outcome && countOf(table, `from ${table.sql} where ${without}`) > table.rows * 0.1) others.push(outcome);
  for (const each of others) context.used.add(each);
  const figures = [...columns, ...others]
    .map((column) => `${quoted(column)} ${figuresOf('content', column)}`)
    .join(', ');
  const next = (content ? near : subject!.others).filter(({ column }) => !others.includes(column));
  return { value: textValue(columns, others), comment: `check: ${figures}${nextText(next)}` };
}

/** Texts of records that have none of those before: of calls `body`, of mails `html`. */
function alternatives(columns: readonly Column[], candidates: readonly RoleCandidate[]): Column[] {
  const found: Column[] = [];
  for (const { column } of candidates) {
    const { table, sql, list, length } = column;
    const before = [...columns.filter((each) => each.length >= length / 4), ...found];
    const without = before.map((each) => `and ${each.sql} is null`).join(' ');
    const isText = list === undefined && headerScore('content', column, 'comment') > 0 && texts(column) > 0.15;
    const isMore = (least: number): boolean =>
      countOf(table, `from ${table.sql} where ${sql} is not null ${without}`) > table.rows * least;
    if (isText && isMore(0.1)) found.push(column);
  }
  return found;
}

/** The texts, and what stands for the last of them where it has none. */
function textValue(columns: readonly Column[], others: readonly Column[]): ValueSpec {
  const html = [...columns, ...others].some(({ is }) => is.html > 0.05) ? (['html_to_text'] as const) : [];
  if (others.length === 0) return joined(columns, '\n\n', html);
  const from = [columns.at(-1)!, ...others].map((each) => valueIn(each));
  if (columns.length === 1) return { from, ...(html.length > 0 && { apply: html }) };
  return { list: [valueIn(columns[0]!), { from }], apply: [{ join: '\n\n' }, ...html] };
}
