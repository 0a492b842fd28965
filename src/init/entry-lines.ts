/** The lines of an entry that come from columns of its own export. */
import { currencyOf } from './currency.ts';
import { dateText } from './dates.ts';
import type { EntryLine } from './entry-text.ts';
import type { Guess, NamedGuess } from './guess.ts';
import type { ExportColumn, Export } from './head.ts';
import type { ColumnRole } from './roles.ts';
import type { NameJoin } from './name-joins.ts';
import { foldHeader, keyOf } from './value-text.ts';

/** Maximum number of custom fields per entry. */
const MAX_CUSTOM = 40;

export function contactLines({ roles }: NamedGuess): EntryLine[] {
  const email = roles.get('email');
  const phone = roles.get('phone');
  const damaged = phone?.facts.damaged;
  return [
    ...(email ? [{ key: 'email', value: { from: email.name, apply: ['lowercase'] } }] : []),
    ...(phone
      ? [
          {
            key: 'phone_number',
            value: { from: phone.name, apply: ['phone'] },
            comment: damaged
              ? `set this: a spreadsheet has truncated ${damaged} of the numbers; export again`
              : undefined,
          },
        ]
      : []),
  ];
}

export function head({ roles }: NamedGuess): EntryLine[] {
  const created = roles.get('created');
  return created ? [{ key: 'occurred_at', ...dateValue(created, false) }] : [];
}

function dateValue({ name, facts }: ExportColumn, asDay: boolean): { value: unknown; comment: string | undefined } {
  const { formats, ambiguous, utc, unread } = facts.date!;
  const one = formats.length === 1 ? formats[0] : formats;
  const date = asDay ? { formats: one, as: 'date' } : utc ? { formats: one, timezone: 'UTC' } : one;
  const value = { from: name, apply: [{ date }] };
  if (!ambiguous) return { value, comment: unread > 0 ? `check: ${unread} of the values match no format` : undefined };
  const { example, other } = ambiguous;
  const readings = `${example} is read as ${dateText(example, formats[0]!)}; with ${other} it would be ${dateText(example, other)}`;
  return { value, comment: `set this: ${readings}` };
}

export function idLine({ roles, prefix }: NamedGuess): EntryLine {
  const id = roles.get('id');
  if (!id) return { key: 'external_id', value: 'ID', comment: 'set this: no column has a unique id' };
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
  if (facts.email)
    return {
      key: 'external_id',
      value: id.name,
      comment: 'set this: no id column found, so the e-mail address is used',
    };
  return {
    key: 'external_id',
    value: id.name,
    comment: facts.unique ? undefined : 'set this: some of these ids occur more than once',
  };
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
