/** The lines of an entry that come from columns of its own export. */
import { numberText } from '../numbers.ts';
import { countOf, numberDoubt, pathOf, type ExportColumn } from './columns.ts';
import { currencyOf } from './currency.ts';
import { doubtOf, formatsOf } from './dates.ts';
import type { EntryLine } from './entry-text.ts';
import { prefixed, type Guess } from './guess.ts';
import { addressOf, listLines } from './lists.ts';
import type { KnownExports, NameJoin } from './joins.ts';
import { isPhone, type Finding } from './roles.ts';
import { foldHeader, keyOf } from './value-text.ts';

/** The evidence for a role as a comment. */
export function evidence({ why, unnamed }: Finding): string {
  return unnamed ? `check: no header names it; ${why}` : why;
}

export function contactLines(guess: Guess): EntryLine[] {
  const lines: EntryLine[] = [];
  const email = guess.roles.get('email');
  if (email) {
    const { from, apply, comment } = addressOf(email.column);
    lines.push({ key: 'email', value: { from, apply: [...apply, 'lowercase'] }, comment: comment ?? evidence(email) });
  }
  const phone = guess.roles.get('phone');
  if (!phone) return lines;
  const { from, apply, comment } = addressOf(phone.column);
  const others = morePhones(guess);
  const passed = others.length === 0 ? undefined : passedOver(phone.column, others);
  const damaged = phone.column.damaged;
  lines.push({
    key: 'phone_number',
    value: { from: others.length > 0 ? [from, ...others.map(({ name }) => name)] : from, apply: [...apply, 'phone'] },
    comment: damaged
      ? `set this: a spreadsheet has truncated ${damaged} of the numbers; export again`
      : (comment ?? passed ?? evidence(phone)),
  });
  return lines;
}

/** Further columns with phone numbers, for people without the first one. They are also custom fields. */
function morePhones({ roles, table: { columns } }: Guess): ExportColumn[] {
  const phone = roles.get('phone')?.column;
  if (!phone || phone.table.list !== undefined) return [];
  return columns.filter((column) => column !== phone && isPhone(column));
}

function passedOver(first: ExportColumn, others: readonly ExportColumn[]): string {
  const { db, sql } = first.table;
  const some = others.map((other) => `(${other.sql} is not null and ${other.sql} <> ${first.sql})`).join(' or ');
  const both = countOf(db, `from ${sql} where ${first.sql} is not null and (${some})`);
  return both === 0
    ? `${numberText(first.filled)} records have the first one`
    : `check: ${numberText(both)} records have several; the others are custom fields`;
}

/** The condition that a record has to meet, and why some do not. */
export interface SkippedRecords {
  readonly value: unknown;
  readonly why: string;
}

/** Records that were deleted in the old CRM, and are still in its export. */
export function notDeleted({ table }: Guess): SkippedRecords[] {
  const found = table.columns.flatMap((column): SkippedRecords[] => {
    if (!/^(?:is )?(?:deleted|trashed)$/.test(foldHeader(column.name)) || column.distinct > 3) return [];
    const gone = [...column.few()].filter(([value]) => /^(?:1|true|t|yes|y)$/i.test(value));
    const count = gone.reduce((sum, [, each]) => sum + each, 0);
    const why = `${numberText(count)} of ${numberText(table.rows)} records were deleted`;
    return count === 0 ? [] : [{ value: { from: column.name, not_in: gone.map(([each]) => each) }, why }];
  });
  return found.slice(0, 1);
}

/** Skips records. */
export function whenLines(conditions: readonly SkippedRecords[]): EntryLine[] {
  const [only, ...others] = conditions;
  if (!only) return [];
  const comment = `check: ${conditions.map(({ why }) => why).join(', ')}; they are skipped`;
  const value = others.length > 0 ? { all: conditions.map((each) => each.value) } : only.value;
  return [{ key: 'when', value, comment }];
}

/** When the record was created or happened. */
export function timeLines({ roles, kind, table }: Guess): EntryLine[] {
  const found = roles.get('created') ?? roles.get('happened');
  const isComment = kind === 'comments';
  if (found) {
    const { value, comment } = dateValue(found.column, false);
    const text = comment ?? (isComment ? `check: comments are sorted by it; ${found.why}` : evidence(found));
    return [{ key: 'occurred_at', value, comment: text }];
  }
  const dates = table.columns.filter(({ date }) => date !== undefined);
  const [first] = dates;
  if (!first || !isComment) return [];
  const why = `set this: no column says when it happened, only ${dates.map(({ name }) => `\`${name}\``).join(', ')}`;
  return [{ key: 'occurred_at', off: true, value: dateValue(first, false).value, comment: why }];
}

function dateValue({ name, date }: ExportColumn, asDay: boolean): { value: unknown; comment: string | undefined } {
  const formats = formatsOf(date!);
  const spec = asDay ? { formats, as: 'date' } : date!.utc ? { formats, timezone: 'UTC' } : formats;
  const unread = date!.unread > 0 ? `check: ${numberText(date!.unread)} of the values match no format` : undefined;
  return { value: { from: name, apply: [{ date: spec }] }, comment: doubtOf(date!) ?? unread };
}

export function idLine(guess: Guess): EntryLine {
  const { roles, prefix, table } = guess;
  const id = roles.get('id');
  if (!id) return withoutId(guess);
  const { column } = id;
  const line = (comment: string): EntryLine => ({ key: 'external_id', value: prefixed(guess, column.name), comment });
  if (prefix) return line(`check: ${prefix.why}`);
  if (column.damaged > 0) {
    const what = `a spreadsheet has truncated ${column.damaged} ids (3.93E+11)`;
    return line(`set this: ${what}; export again without opening the file in a spreadsheet`);
  }
  if (id.unnamed) {
    const other = column === roles.get('title')?.column ? 'the title' : 'the name';
    return line(`set this: no id column found, so ${column.email ? 'the e-mail address' : other} is used`);
  }
  if (!column.unique) return line('set this: some of these ids occur more than once');
  const without = table.rows - column.filled;
  return line(without > 0 ? `set this: ${numberText(without)} records have none` : id.why);
}

/** Two columns that are unique together, the first of them the name or title. */
function withoutId({ roles, table: { columns, db, sql, rows } }: Guess): EntryLine {
  const whole = columns.filter((column) => column.whole);
  const name = [roles.get('title'), roles.get('full_name')].find((found) => found?.column.whole)?.column;
  const isPair = (other: ExportColumn): boolean =>
    countOf(db, `from (select distinct ${name!.sql}, ${other.sql} from ${sql})`) === rows;
  const other = name && whole.find((each) => each !== name && isPair(each));
  const why = columns.some(({ unique, whole: all }) => unique && all)
    ? 'no column has ids'
    : 'no column has a unique id';
  if (!other) return { key: 'external_id', value: 'ID', comment: `set this: ${why}` };
  const value = { template: `{${name.name}} {${other.name}}` };
  return { key: 'external_id', value, comment: `set this: ${why}, but these are unique together` };
}

export function amountLine({ roles }: Guess): EntryLine[] {
  const found = roles.get('amount');
  if (!found) return [];
  const { column } = found;
  const cents = centsOf(column);
  const number = { ...column.number!.separators, ...(cents === undefined ? {} : { divide: 100 }) };
  const comment =
    cents === undefined ? (numberDoubt(column) ?? evidence(found)) : `check: read as cents, because ${cents}`;
  return [{ key: 'amount', value: { from: column.name, apply: [{ number }] }, comment }];
}

/** Why an amount is in cents: its name, or another column that has the hundredth in every record. */
function centsOf(amount: ExportColumn): string | undefined {
  const { name, table, sql, whole, distinct } = amount;
  if (/\b(?:cents?|centesimi|centimes|centimos|minor units?)\b/.test(foldHeader(name))) return 'its name says so';
  const plain = (each: ExportColumn): string => `replace(replace(replace(${each.sql}, '$', ''), ',', ''), '€', '')`;
  const isHundredth = (other: ExportColumn): boolean =>
    other !== amount &&
    other.number !== undefined &&
    other.whole &&
    countOf(table.db, `from ${table.sql} where abs(${plain(other)} * 100 - ${sql}) > 0.001 or ${sql} * 1 = 0`) === 0;
  const other = whole && distinct > 1 ? table.columns.find(isHundredth) : undefined;
  return other && `\`${other.name}\` has a hundredth of it in every record`;
}

export function currencyLine(roles: Guess['roles']): EntryLine {
  const column = roles.get('currency');
  if (column) return { key: 'currency', value: column.column.name, comment: evidence(column) };
  const found = currencyOf(roles.get('amount')?.column);
  if ('why' in found) return { key: 'currency', off: true, value: { value: 'EUR' }, comment: `set this: ${found.why}` };
  const comment = `set this: no column contains the currency, but ${found.figures}`;
  return { key: 'currency', value: { value: found.code }, comment };
}

/** All columns with values that are not used otherwise, and the lists that become no comments. */
export function customLine(
  guess: Guess,
  key: string,
  used: ReadonlySet<ExportColumn | undefined>,
  { company, known }: { readonly company: NameJoin | undefined; readonly known: KnownExports },
): EntryLine {
  const { table, roles } = guess;
  const taken = new Set<ExportColumn | undefined>([...used, ...[...roles.values()].map(({ column }) => column)]);
  const fields = Object.create(null) as Record<string, unknown>;
  const comments = new Map<string, string>();
  const add = (name: string, value: unknown, comment: string | undefined): void => {
    const unique = name in fields ? `${name}_${Object.keys(fields).length}` : name;
    fields[unique] = value;
    if (comment !== undefined) comments.set(unique, comment);
  };
  for (const column of table.columns) {
    if (taken.has(column) || column.filled === 0) continue;
    if (column === company?.column) {
      const { value, comment } = company.line('company');
      add('company', value, comment);
    } else if (column.date) {
      const { value, comment } = dateValue(column, !column.date.hasTime);
      add(keyOf(column.name), value, comment);
    } else add(keyOf(column.name), pathOf(column), undefined);
  }
  for (const list of table.lists) {
    const isComments = known.guesses.some((each) => each.table === list && each.kind === 'comments');
    if (!isComments) for (const line of listLines(list, taken)) add(line.key, line.value, line.comment);
  }
  return { key, value: fields, comments };
}

/** The recognised columns as text. */
export function rolesText(roles: Guess['roles']): string {
  return [...roles].map(([role, { column }]) => `${role} \`${pathOf(column)}\``).join(', ');
}
