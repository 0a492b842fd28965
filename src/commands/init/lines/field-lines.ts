/** The lines of all kinds of records: the id, the time, names, and any role as its column is or with its candidates. */
import { counted, numberText } from '../../../report/words/numbers.ts';
import { KEY } from '../../../json.ts';
import type { ValueSpec } from '../../../mapping/spec.ts';
import { SURE } from '../matrix/settle.ts';
import { countOf, isComplete, isUnique, plainColumns, valueIn, type Column } from '../columns.ts';
import { isNumbered } from '../matrix/content.ts';
import { doubtOf, isReadable } from '../dates.ts';
import { commentOf, damagedIn, dateValue, figuresOf, nextText, NONE, quoted, unreadText } from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { idValue, type KnownTables } from '../relations/joins.ts';
import { nameByType, nameOf } from '../relations/names.ts';
import { isSure } from '../relations/references.ts';
import { firstOf, joined } from '../relations/lookups.ts';
import { headerScore, timeOf, type Role, whoseOf } from '../matrix/roles.ts';
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
  email: 'the e-mail address',
  phone: 'the phone number',
  title: 'a title',
  content: 'the text',
  created: 'the creation date',
  happened: 'the date of the comment',
};

export function idLine({ draft, known }: Context): Made {
  const value = idValue(draft) ?? draft.table.columns[0]?.name ?? NONE;
  return { value, comment: idComment(draft, known) };
}

function idComment(draft: EntryDraft, { references }: KnownTables): string {
  const { roles, key, prefix, kind, table, notes } = draft;
  const column = key?.column;
  if (notes) return 'the id of the record, with a prefix';
  if (!column) return `set this: ${key?.why ?? 'no column looks like an id'}`;
  const referred = references.filter((each) => each.to === column && isSure(each)).map(({ from }) => from.table.source);
  const by = [...new Set(referred.filter((source) => source !== table.source))].slice(0, 3);
  const figures = `unique in all ${numberText(column.filled)} records${by.length > 0 ? `, referred to by ${by.join(', ')}` : ''}`;
  if (prefix && kind !== 'deal') return `check: ${prefix.why}, so these get a prefix`;
  if (column.is.damaged > 0)
    return `set this: a spreadsheet has truncated ${damagedIn(column)} ids (3.93E+11); export again without opening the file in a spreadsheet`;
  if (key.repeats !== undefined) return `check: ${key.repeats}`;
  if (key.why !== undefined) return `set this: ${key.why}; ${figures}`;
  if (!isUnique(column))
    return `set this: not unique: ${counted(column.filled - column.distinct, 'record')} with the id of an earlier one`;
  if (column.pair) return `check: ${column.pair.map(quoted).join(' and ')} together are ${figures}`;
  if (!isComplete(column)) return `set this: ${numberText(table.rows - column.filled)} records have no value`;
  const { is } = column;
  const isText = column.name !== KEY && (is.words > 0.8 || headerScore('id', column, kind) <= 0);
  const found = roles.get('id');
  const mark =
    isText && Math.max(is.uuid, is.code, is.whole) < 0.5 && (!isNumbered(column) || is.email > 0.5)
      ? by.length > 0 && [...roles].every(([role, each]) => role === 'id' || each.column !== column)
        ? 'check: guessed from its values, not from its header; '
        : 'set this: no column looks like an id, so this one is used; '
      : found && found.score < SURE
        ? `check: ${headerScore('id', column, kind) > 0 ? 'its header may mean something else' : 'guessed from its values, not from its header'}; `
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

export function timeLine(context: Context): Made {
  const { kind, roles, candidates, table, notes } = context.draft;
  const role = timeOf(kind);
  if (notes) return { value: NONE, off: true, comment: 'these notes have no date of their own' };
  const found = roles.get(role);
  const dates = plainColumns(table).filter(({ date, meaning }) => date && !meaning.concepts.has('due'));
  if (!found && dates.length > 0 && (candidates.get(role) ?? []).length === 0) {
    const comment = `set this: no column looks like ${WHAT[role]!}; the only dates are in ${dates.map(quoted).join(', ')}`;
    return { value: dateValue(dates[0]!), off: true, comment };
  }
  if (!found) return openLine(context, role, dateValue);
  const instead = found.others.map(({ column }) => column).find((each) => standsIn(each, found.column, context.draft));
  const why = commentOf(role, { ...found, others: found.others.filter(({ column }) => column !== instead) }, kind);
  const mark = role === 'happened' && !why.startsWith('check') ? 'check: comments are sent in this order; ' : '';
  const { date, values } = found.column;
  const off = !isReadable(date!, values);
  const doubt = (off ? undefined : doubtOf(date!)) ?? unreadText(found.column);
  const time = timeBeside(found.column);
  if (time) context.used.add(time);
  const own = time ? joinedTime(found.column, time) : dateValue(found.column);
  const more = [
    ...(time ? [`${quoted(time)} has the time`] : []),
    ...(instead ? [`where it is empty, ${quoted(instead)} is taken`] : []),
  ];
  return {
    value: instead ? firstOf([own, dateValue(instead)]) : own,
    off,
    comment: [doubt ?? `${mark}${why}`, ...more].join('; '),
  };
}

/** Whether a column has a time for nearly all records that have none in another one: a task without its own day was still created. */
function standsIn(other: Column, { table, sql, list }: Column, { kind }: EntryDraft): boolean {
  const without = countOf(table, `from ${table.sql} where ${sql} is null`);
  if (list !== undefined || without < table.rows * 0.03 || !isReadable(other.date!, other.values)) return false;
  const left = countOf(table, `from ${table.sql} where ${sql} is null and ${other.sql} is null`);
  return left < without * 0.1 && headerScore(timeOf(kind), other, kind) > 0.3;
}

/** `14:30`, and where the header says that it is a time, `14.30`. */
const TIME = /^(?:[01]?\d|2[0-3])([:.])[0-5]\d(?:\1[0-5]\d)?(?: ?[ap]m)?$/i;

/** The column with the time of a date without one: the first of such columns after it, or before it. */
function timeBeside(own: Column): Column | undefined {
  if (own.date!.hasTime || own.list !== undefined) return undefined;
  const columns = plainColumns(own.table);
  const at = columns.indexOf(own);
  return [...columns.slice(at + 1), ...columns.slice(0, at)].find((column) => {
    const {
      values,
      meaning: { concepts },
    } = column;
    // Whatever it is called, no column of amounts has so many times of a day.
    const isNext = column === columns[at + 1] && column.distinct > 12 && values.every((value) => /^\d\d\./.test(value));
    const isTime = (value: string): boolean =>
      TIME.test(value) && (isNext || concepts.has('date') || value.includes(':'));
    return !concepts.has('count') && values.filter(isTime).length > values.length * 0.9;
  });
}

function joinedTime({ name, date }: Column, time: Column): ValueSpec {
  const some = (pattern: RegExp): boolean => time.values.some((value) => pattern.test(value));
  const mark = some(/:/) ? ':' : '.';
  const seconds = some(/[:.]\d\d[:.]/) ? `${mark}ss` : '';
  const text = some(/m$/i) ? `h${mark}mm${seconds}${some(/ /) ? ' ' : ''}a` : `H${mark}mm${seconds}`;
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
  const typed = role === 'author' && nameByType(column, context.known);
  if (typed) return { value: typed.value, comment: `check: ${typed.why}` };
  const whole = wholeName(column);
  if (whole) {
    for (const each of whole) context.used.add(each);
    const comment = `check: joined from two columns; ${whole.map((each) => `${quoted(each)} ${figuresOf(role, each)}`).join(', ')}`;
    return { value: joined(whole, ' '), comment };
  }
  const listed = listedIn(column);
  if (listed) return listed;
  const isKey = column.is.words < 0.8 || column.is.uuid > 0.5 || column.is.code > 0.8;
  const comment = isKey
    ? `check: these are ids, and no export has their names; ${figuresOf(role, column)}${nextText(others)}`
    : commentOf(role, found, context.draft.kind);
  return { value: valueIn(column), comment };
}

/** `[Tom Reed,Iris Vale]`, `{"Tom Reed"}`: the first of names in brackets. */
function listedIn(column: Column): Made | undefined {
  const lists = column.values.filter((value) => /^[[{].*[\]}]$/.test(value));
  if (lists.length < column.values.length * 0.9) return undefined;
  const several = lists.filter((value) => value.includes(',')).length;
  const comment = `check: the names are in brackets; ${several > 0 ? `${numberText(several)} have several names, of which the first one is used` : 'the brackets are removed'}`;
  return { value: valueIn(column, { extract: `^[\\[{]\\s*["']?([^,"'\\]}]+)` }), comment };
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
