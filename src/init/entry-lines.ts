/** The lines of an entry that come from columns of its own export. */
import { numberText } from '../numbers.ts';
import { currencyOf } from './currency.ts';
import { dateText } from './dates.ts';
import type { EntryLine } from './entry-text.ts';
import type { Guess, NamedGuess } from './guess.ts';
import type { ExportColumn, Export } from './head.ts';
import { isPhone, type ColumnRole } from './roles.ts';
import type { NameJoin } from './name-joins.ts';
import { foldHeader, keyOf } from './value-text.ts';

const MAX_PHONES = 3;
/** Maximum number of custom fields per entry. */
const MAX_CUSTOM = 40;

export function contactLines(guess: NamedGuess): EntryLine[] {
  const email = guess.roles.get('email');
  const phones = phoneColumns(guess).map(({ name }) => name);
  const damaged = guess.roles.get('phone')?.facts.damaged;
  const comment = damaged ? `set this: a spreadsheet has truncated ${damaged} of the numbers; export again` : undefined;
  const from = phones.length > 1 ? phones : phones[0];
  return [
    ...(email ? [{ key: 'email', value: { from: email.name, apply: ['lowercase'] } }] : []),
    ...(from === undefined ? [] : [{ key: 'phone_number', value: { from, apply: ['phone'] }, comment }]),
  ];
}

/** The columns with phone numbers; a lead gets the first number that its record has. */
export function phoneColumns({ roles, export: { columns } }: NamedGuess): ExportColumn[] {
  const phone = roles.get('phone');
  const others = columns.filter((column) => column !== phone && isPhone(column) && !/fax/i.test(column.name));
  return phone ? [phone, ...others].slice(0, MAX_PHONES) : [];
}

export function head({ roles }: NamedGuess): EntryLine[] {
  const created = roles.get('created') ?? roles.get('happened');
  return created ? [{ key: 'occurred_at', ...dateValue(created, false) }] : [];
}

function dateValue({ name, facts }: ExportColumn, asDay: boolean): { value: unknown; comment: string | undefined } {
  const { formats, ambiguous, utc, unread } = facts.date!;
  const one = formats.length === 1 ? formats[0] : formats;
  const date = asDay ? { formats: one, as: 'date' } : utc ? { formats: one, timezone: 'UTC' } : one;
  const value = { from: name, apply: [{ date }] };
  if (!ambiguous)
    return { value, comment: unread > 0 ? `check: ${numberText(unread)} of the values match no format` : undefined };
  const { example, other } = ambiguous;
  const readings = `${example} is read as ${dateText(example, formats[0]!)}; with ${other} it would be ${dateText(example, other)}`;
  return { value, comment: `set this: ${readings}` };
}

export function idLine(guess: NamedGuess): EntryLine {
  const { roles, prefix } = guess;
  const id = roles.get('id');
  if (!id) return withoutId(guess);
  const { facts } = id;
  if (prefix) {
    const value = { from: id.name, apply: [{ prefix: prefix.text }] };
    return { key: 'external_id', value, comment: `check: ${prefix.why}` };
  }
  if (facts.damaged > 0) {
    return {
      key: 'external_id',
      value: id.name,
      comment: `set this: a spreadsheet has truncated ${facts.damaged} ids (3.93E+11); export again without opening the file in a spreadsheet`,
    };
  }
  const instead = facts.email ? 'the e-mail address' : id === roles.get('title') ? 'the title' : 'the name';
  if ([...roles].some(([role, column]) => role !== 'id' && column === id))
    return { key: 'external_id', value: id.name, comment: `set this: no id column found, so ${instead} is used` };
  return {
    key: 'external_id',
    value: id.name,
    comment: facts.unique ? undefined : 'set this: some of these ids occur more than once',
  };
}

/** Two columns that are unique together, the first of them the name or title. */
function withoutId({ roles, export: { columns, rows } }: NamedGuess): EntryLine {
  const whole = columns.filter(({ facts }) => facts.filled === rows);
  const name = [roles.get('title'), roles.get('full_name')].find((column) => column && whole.includes(column));
  const pair = (other: ExportColumn): string[] =>
    name?.values.map((value, row) => `${value}\n${other.values[row]}`) ?? [];
  const other = name && whole.find((each) => new Set(pair(each)).size === name.values.length);
  const comment = 'set this: no column has a unique id';
  if (!other) return { key: 'external_id', value: 'ID', comment };
  const value = { template: `{${name.name}} {${other.name}}` };
  return { key: 'external_id', value, comment: `${comment}, but these are unique together` };
}

export function amountLine({ roles, export: found }: Guess): EntryLine[] {
  const column = roles.get('amount');
  if (!column) return [];
  const { decimal, group, ambiguous } = column.facts.number!;
  const cents = centsOf(column, found);
  const number = { decimal, ...(group === '' ? {} : { group }), ...(cents === undefined ? {} : { divide: 100 }) };
  const value = { from: column.name, apply: [{ number }] };
  if (cents !== undefined) return [{ key: 'amount', value, comment: `check: read as cents, because ${cents}` }];
  const example = column.values.find((each) => /\d[.,]\d{3}$/.test(each)) ?? column.values[0];
  const comment = ambiguous
    ? `set this: in \`${example}\`, \`${group}\` is read as the thousands separator`
    : undefined;
  return [{ key: 'amount', value, comment }];
}

/** Why an amount is in cents: its name, or another column that has the hundredth in every record. */
function centsOf({ name, values, facts }: ExportColumn, { columns, rows }: Export): string | undefined {
  if (/\b(?:cents?|centesimi|centimes|centimos|minor units?)\b/.test(foldHeader(name))) return 'its name says so';
  const isHundredth = (other: ExportColumn): boolean =>
    other.facts.number !== undefined &&
    other.facts.filled === rows &&
    other.values.every((value, row) => Number(value.replace(/[^\d.]/g, '')) * 100 === Number(values[row]));
  const other = facts.filled === rows && facts.distinct > 1 ? columns.find(isHundredth) : undefined;
  return other && `\`${other.name}\` has a hundredth of it in every record`;
}

export function currencyLine(roles: Guess['roles']): EntryLine {
  const column = roles.get('currency');
  if (column) return { key: 'currency', value: column.name };
  const found = currencyOf(roles.get('amount'));
  if ('why' in found) return { key: '# currency', value: { value: 'EUR' }, comment: `set this: ${found.why}` };
  const comment = `set this: no column contains the currency, but ${found.figures}`;
  return { key: 'currency', value: { value: found.code }, comment };
}

/** All columns with values that are not used otherwise. */
export function customLine(
  { export: { columns }, roles }: NamedGuess,
  key: string,
  used: ReadonlySet<ExportColumn | undefined>,
  company: NameJoin | undefined,
): EntryLine {
  const taken = new Set<ExportColumn | undefined>([...used, ...roles.values()]);
  const fields = Object.create(null) as Record<string, unknown>;
  for (const column of columns) {
    if (taken.has(column) || column.facts.filled === 0 || Object.keys(fields).length >= MAX_CUSTOM) continue;
    const name = keyOf(column.name);
    const unique = name in fields ? `${name}_${Object.keys(fields).length}` : name;
    if (column === company?.column) fields['company'] = company.line('company').value;
    else fields[unique] = column.facts.date ? dateValue(column, !column.facts.date.hasTime).value : column.name;
  }
  return { key, value: fields };
}

/** The recognised columns as text. */
export function rolesText(roles: ReadonlyMap<ColumnRole, ExportColumn>): string {
  return [...roles].map(([role, { name }]) => `${role} \`${name}\``).join(', ');
}
