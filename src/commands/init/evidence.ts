/** Values of the mapping from columns, and the evidence for them in figures. */
import { numberText, ofText } from '../../report/words/numbers.ts';
import {
  contradicts,
  currenciesOf,
  currencyMarks,
  currencyMarksInName,
  currencyNamed,
  likelyCurrency,
} from '../../kinds/currencies.ts';
import type { TransformSpec, ValueSpec } from '../../mapping/spec.ts';
import { type RoleFound } from './matrix/assign.ts';
import { SURE, type RoleCandidate } from './matrix/settle.ts';
import { bothOf, countEach, countOf, countsOf, isNameOf, valueIn, type Column } from './columns.ts';
import { datesIn, isReadable } from './dates.ts';
import { numberIn, multipleIn, multipleInName, withoutMultiple, withoutMultipleInName } from './multiples.ts';
import { headerScore, type RecordKind, type Role } from './matrix/roles.ts';
import { fold, meaningOf } from './words.ts';

/** Yes, of a flag. */
export const TRUE = /^(?:1|true|t|yes|y|x|on|ja|j|oui|o|s[iíì]|sim|s|да|tak|ano|evet|はい|是)$/iu;

/** Stands for a column that nobody knows. */
export const NONE = '…';

export function isCompany({ table, meaning }: Column): boolean {
  return table.nouns.includes('company') || meaning.concepts.has('company');
}

/** Lists are carried whole: bare values as one text, others as JSON. */
export function customValue(column: Column): ValueSpec {
  const { name, list, date, table, values, label } = column;
  if (list !== undefined && label === undefined)
    return name === list ? { from: list, apply: [{ join: ', ' }] } : { from: list, as: 'json' };
  if (table.falseIsNone && values.includes('false'))
    return { from: name, default: table.from.source.kind === 'tree' ? false : 'false' };
  return date && isReadable(date, values) ? dateValue(column, !date.hasTime) : valueIn(column);
}

/** A list of bare values, of which nothing else is lost. */
export function isOnly({ table, list }: Column): boolean {
  return table.columns.filter((each) => each.list === list && each.filled > 0).length === 1;
}

/** A column's name as a key of custom fields: `Closed Lost Reason` and `ClosedLostReason` become `closed_lost_reason`. */
export function keyOf(name: string): string {
  const plain = fold(name).replaceAll(' ', '_').slice(0, 100);
  return plain === '' ? 'field' : plain;
}

export function quoted({ name }: Column): string {
  return `\`${name.length > 80 ? `${name.slice(0, 80)}…` : name}\``;
}

/** Roles whose values are counted by what they look like. */
const COUNTED = {
  email: ['email', 'e-mail address', 'e-mail addresses'],
  phone: ['phone', 'phone number', 'phone numbers'],
  amount: ['number', 'number', 'numbers'],
  currency: ['currency', 'currency', 'currencies'],
} as const;

/** `133 numbers, 17 empty`, `24 values, 5 distinct`, `29 dates from 2023 to 2024, 1 other`. */
export function figuresOf(role: Role, column: Column): string {
  const { filled, distinct, table, date, values, is } = column;
  const [shape, one, many] = role in COUNTED ? COUNTED[role as keyof typeof COUNTED] : [undefined, 'value', 'values'];
  const share = date ? 1 - date.unread / values.length : shape === undefined ? 1 : is[shape];
  const alike = Math.round(filled * share);
  const noun = date ? `date${alike === 1 ? '' : 's'}` : alike === 1 ? one : many;
  const times = date ? datesIn(values, date).filter((each) => !Number.isNaN(each)) : [];
  const years = times.map((each) => new Date(each).toISOString().slice(0, 4)).sort();
  const [from, to] = [years[0], years.at(-1)];
  const span = from === undefined ? '' : from === to ? ` in ${from}` : ` from ${from} to ${to!}`;
  const empty = table.rows - filled;
  return [
    `${numberText(alike)} ${noun}${span}`,
    ...(date || shape !== undefined ? [] : [`${numberText(distinct)} distinct`]),
    ...(alike < filled ? [`${numberText(filled - alike)} other`] : []),
    ...(empty > 0 ? [`${numberText(empty)} empty`] : []),
  ].join(', ');
}

export function nextText(others: readonly RoleCandidate[], score = 0): string {
  const near = others.filter((each) => each.score > score * 0.4).slice(0, 2);
  return near.length === 0 ? '' : `; runner-up: ${near.map(({ column }) => quoted(column)).join(', ')}`;
}

/** The evidence for a role, with the runner-up; marked with the reason where it is weak or another column comes near. */
export function commentOf(role: Role, found: RoleFound, kind: RecordKind): string {
  const { column, score, others } = found;
  const isProperty = column.origin !== undefined && column.label !== undefined;
  const where = isProperty ? `the property \`${column.label}\`: ` : '';
  const doubt = doubtIn(role, found, kind);
  const mark = doubt !== undefined ? `check: ${doubt}; ` : where === '' ? '' : 'check: ';
  return `${mark}${where}${figuresOf(role, column)}${nextText(others, score)}`;
}

function doubtIn(role: Role, { column, score, others: [next] }: RoleFound, kind: RecordKind): string | undefined {
  const header = headerScore(role, column, kind);
  if (header <= 0)
    return `guessed from its values, not from its header${column.team ? `; ${quoted(column.team)} of ${column.team.table.source} has the same names` : ''}`;
  const isFuller = next && column.date !== undefined && next.column.filled < column.filled / 2;
  // Names of people or their ids, and a column that has neither.
  const isMember = ({ is }: Column): boolean => Math.max(is.person, is.email, is.uuid, is.code, is.digits) > 0.7;
  const isOther = next && ['owner', 'author'].includes(role) && isMember(column) && !isMember(next.column);
  if (next && score - next.score < 0.1 && !isFuller && !isOther && !isSame(column, next.column))
    return 'another column is just as likely';
  if (score >= SURE) return undefined;
  return header < 0.5 ? 'its header may mean something else' : 'its values may mean something else';
}

/** The same values, or the name and the id of the same. */
function isSame(one: Column, other: Column): boolean {
  const differing = `where ${one.sql} is not null and ${one.sql} is not ${other.sql}`;
  return isNameOf(one, other) || countOf(one.table, `from ${one.table.sql} ${differing}`) === 0;
}

/** What stands between several e-mail addresses in a cell. */
export function separatorIn({ values }: Column): string | undefined {
  return [' ::: ', ';', ','].find((mark) =>
    values.some((value) => value.split(mark).filter((part) => part.includes('@')).length > 1),
  );
}

/** Cells that a spreadsheet has truncated: `3.93E+11`. */
export function damagedIn({ is, values }: Column): number {
  return Math.round(is.damaged * values.length);
}

export function passedOver(first: Column, others: readonly Column[]): string | undefined {
  if (others.length === 0) return undefined;
  const some = others.map((other) => `(${other.sql} is not null and ${other.sql} <> ${first.sql})`).join(' or ');
  const both = countOf(first.table, `from ${first.table.sql} where ${first.sql} is not null and (${some})`);
  return both === 0
    ? `${numberText(first.filled)} records have a value in the first column`
    : `check: ${numberText(both)} records have several; the first one is used, and the others go into custom fields`;
}

export function dateValue(column: Column, asDay = false): ValueSpec {
  const { date, values } = column;
  // The day of `2024-02-20T00:00:00Z` is that of its own zone.
  const utc = values.some((value) => /(?:Z|UTC)$/.test(value)) && { timezone: 'UTC' };
  const formats = date!.formats.length === 1 ? date!.formats[0]! : date!.formats;
  const spec = asDay ? { formats, ...utc, as: 'date' } : date!.utc ? { formats, timezone: 'UTC' } : formats;
  return valueIn(column, { date: spec });
}

export function unreadText({ date, values }: Column): string | undefined {
  const { unread } = date!;
  const mark = isReadable(date!, values) ? 'check' : 'set this';
  return unread > 0
    ? `${mark}: ${ofText(unread, values.length)} values ${unread === 1 ? 'matches' : 'match'} no format`
    : undefined;
}

export function amountValue(column: Column, scale: Scale | undefined): ValueSpec {
  const { values, separators } = column;
  const { decimal, group } = separators ?? { decimal: '.' };
  const { divide, multiply } = scale ?? {};
  const isPlain = decimal === '.' && group === undefined && values.every((value) => /^-?\d+(?:\.\d+)?$/.test(value));
  if (isPlain && scale === undefined) return valueIn(column);
  const amount = (by: Omit<Scale, 'why'>) => ({ number: { decimal, ...(group && { group }), ...by } });
  const none = textsAmong(column).map((text) => [text, null] as const);
  const texts = none.length > 0 ? [{ map: { ...Object.fromEntries(none), '*': '=' } }] : [];
  const whole = valueIn(column, ...texts, amount({ ...(divide && { divide }), ...(multiply && { multiply }) }));
  const marks = new Map(values.flatMap((value) => multipleIn(value) ?? []).map(({ mark, factor }) => [mark, factor]));
  if (marks.size === 0) return whole;
  const parts = [...new Set(marks.values())].map((multiply) => {
    const own = [...marks].flatMap(([mark, factor]) => (factor === multiply ? [mark.replace('.', '\\.')] : []));
    const extract = `^(.*\\d)\\s*(?:${own.join('|')})(?:[^\\p{L}].*|[A-Z]{3}|[円元원])?$`;
    return valueIn(column, { extract }, amount({ multiply }));
  });
  return { from: [...parts, whole] };
}

/** A few words in place of amounts: `tbc`, `to be agreed`. */
export function textsAmong(column: Column): string[] {
  const texts = [...countsOf(column).keys()].filter((text) => !/\d/.test(text));
  return texts.length <= MAX_TEXTS ? texts : [];
}

const MAX_TEXTS = 8;

/** What amounts are divided or multiplied by, and why. */
export interface Scale {
  readonly divide?: number;
  readonly multiply?: number;
  readonly why: string;
}

/** Thousands and cents, by the header or because another column has a hundredth of each value. */
export function scaleOf(column: Column): Scale | undefined {
  const multiple = multipleInName(column.name);
  if (multiple) return { multiply: multiple.factor, why: `its name has \`${multiple.mark}\`` };
  if (column.is.decimal > 0) return undefined;
  const named = fold(column.name).split(' ');
  if (named.some((word) => /^micros?$/.test(word))) return { divide: 1_000_000, why: 'its name says millionths' };
  if (column.meaning.concepts.has('cents')) return { divide: 100, why: 'its name says so' };
  const unit = unitOf(column);
  if (unit?.others === 0) return { divide: 100, why: `${quoted(unit.column)} is \`${unit.name}\`` };
  const other = column.table.columns.find((each) => {
    if (each === column || !each.separators || each.list !== undefined) return false;
    const numbers = bothOf(column, each).map(([a, b]) => [numberIn(a, column), numberIn(b, each)] as const);
    return numbers.length > 2 && numbers.every(([a, b]) => a > 0 && Math.abs(a - b * 100) < 0.5);
  });
  return other && { divide: 100, why: `${quoted(other)} has a hundredth of it in every record` };
}

/** The column that says of the numbers beside it that they are cents, and of how many it says something else. */
export function unitOf({ table }: Column): { column: Column; name: string; others: number } | undefined {
  for (const column of table.columns) {
    if (column.distinct > MAX_UNITS || column.filled === 0 || column.meaning.concepts.has('tag')) continue;
    const units = [...countsOf(column)];
    const cents = units.filter(([text]) => meaningOf(text).words[0]?.has('cents') && text.length <= MAX_UNIT);
    const [[name] = []] = cents;
    const others = units.filter((each) => !cents.includes(each)).reduce((sum, [, n]) => sum + n, 0);
    if (name !== undefined) return { column, name, others };
  }
  return undefined;
}

const MAX_UNITS = 5;
/** Characters: `minor units`. */
const MAX_UNIT = 12;

/** Whether all are whole hundreds, as cents of round amounts are. */
export function isHundreds({ values, separators }: Column): boolean {
  return !!separators && values.length > 3 && values.every((value) => /^\d+00$/.test(value) && Number(value) >= 10_000);
}

/** In small letters, only the best known codes are no other word: `mrr_usd`. */
const AT_END = /_(usd|eur|gbp|chf|cad|aud|jpy|sek|nok|dkk|pln|brl|inr)$/;

/**
 * The one currency whose sign or code the amounts or their header carry, with its figures, or why there is none. `local`: that of the
 * country, if it is known, which a sign of several currencies means.
 */
export function currencyOf(
  amounts: Column | undefined,
  local?: string,
): {
  readonly code?: string | undefined;
  /** What a sign may mean, where that is not sure. */
  readonly able?: readonly string[];
  /** The transforms that take the currency of each amount, where they have several. */
  readonly byRow?: readonly TransformSpec[];
  readonly figures: string;
} {
  if (!amounts) return { figures: 'no column has the currency' };
  const meant = (mark: string): string | undefined =>
    local !== undefined && !contradicts(mark, local) ? local : likelyCurrency(mark);
  const [named = AT_END.exec(amounts.name)?.[1]?.toUpperCase()] = currencyMarksInName(
    withoutMultipleInName(amounts.name),
  );
  if (named !== undefined)
    return { code: meant(named), able: currenciesOf(named), figures: `the header \`${amounts.name}\` has ${named}` };
  const counts = countEach(amounts.values.map((value) => currencyMarks(withoutMultiple(value))[0]));
  if (counts.size === 0) return { figures: 'no column has the currency of the amounts' };
  const figures = [...counts]
    .map(([mark, count]) => `${ofText(count, amounts.values.length)} amounts have ${mark}`)
    .join(', ');
  const marks = [...counts.keys()];
  const [code, ...others] = new Set(marks.map(meant));
  if (others.length === 0) return { code, able: currenciesOf(marks[0]!), figures };
  const known = marks.filter(meant).sort((a, b) => b.length - a.length);
  const escaped = known.map((each) => each.replace(/[$.\\]/g, '\\$&'));
  const byRow = [{ extract: `(${escaped.join('|')})` }, { map: { ...signsIn(known), '*': '=' } }];
  return { byRow, figures: `several currencies: ${figures}` };
}

/** The signs and names among these texts, with their codes. */
export function signsIn(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.flatMap((text) => {
      const code = likelyCurrency(text) ?? currencyNamed(text);
      return code === undefined || code === text.toUpperCase() ? [] : [[text, code] as const];
    }),
  );
}
