/** The lines that only people have: name, e-mail address, phone number. */
import { numberText, ofText } from '../../../report/words/numbers.ts';
import type { TransformSpec } from '../../../mapping/spec.ts';
import type { RoleFound } from '../matrix/assign.ts';
import {
  addressIn,
  countOf,
  countsOf,
  isOneOf,
  plainColumns,
  severalText,
  valueIn,
  type Column,
  type Table,
} from '../columns.ts';
import { personIn } from '../matrix/content.ts';
import { commentOf, damagedIn, figuresOf, passedOver, quoted, separatorIn } from '../evidence.ts';
import { firmsAmong } from '../relations/firms.ts';
import { reach } from '../relations/joins.ts';
import { joined } from '../relations/lookups.ts';
import { isCountry } from './region.ts';
import { headerScore, isStaff, NAMES, scoreOf } from '../matrix/roles.ts';
import { openLine, plainLine, type Context, type Made } from './field-lines.ts';
import { flow } from './yaml.ts';

/** `Rossi, Anna` */
const REVERSED = /^\p{Lu}[\p{L}'’ .-]*, *\p{Lu}[\p{L}'’ .-]*$/u;

export function nameLine(context: Context): Made {
  const { used, draft } = context;
  const { roles, table } = draft;
  const [first, last, full] = [roles.get('first'), roles.get('last'), roles.get('full')?.column];
  const fallback = nameFallback(context, first && last ? [first.column, last.column] : full ? [full] : []);
  if (fallback) return fallback;
  if (first && last) {
    const middle = plainColumns(table).filter(isMiddle);
    for (const each of middle) used.add(each);
    const worst = first.score < last.score ? first : last;
    const both = { ...worst.column, ...countsOfBoth(first.column, last.column) };
    const isName = ({ column }: RoleFound): boolean => NAMES.some((role) => headerScore(role, column, 'lead') > 0.4);
    const comment =
      isName(first) && isName(last)
        ? figuresOf('full', both)
        : commentOf(worst === first ? 'first' : 'last', { ...worst, column: both, others: [] }, 'lead');
    return { value: joined([first.column, ...middle, last.column], ' '), comment };
  }
  const reversed = full?.values.filter((value) => REVERSED.test(value)).length ?? 0;
  if (full && reversed > 0.8 * full.values.length) {
    const replace = { pattern: '^([^,]+), *([^,]+)$', with: '$2 $1' };
    const comment = `check: ${ofText(reversed, full.values.length)} are written \`Last, First\`; they become \`First Last\``;
    return { value: valueIn(full, { replace }), comment };
  }
  const email = roles.get('email')?.column;
  const part = full && email && full.list === undefined ? personIn(full, email) : undefined;
  if (part) {
    const comment = `check: only a part of the value is the name, as the e-mail addresses show in ${ofText(part.count, full!.filled)}`;
    return { value: valueIn(full!, { extract: part.pattern }), comment };
  }
  return plainLine(context, 'full');
}

/** `Middle Name`, `Tussenvoegsel`. */
function isMiddle({ meaning: { words, concepts }, name, is, filled }: Column): boolean {
  const isName = words.every((word) => word.has('middle') || word.has('name'));
  return isName && concepts.has('middle') && !/nick/i.test(name) && is.words > 0.8 && filled > 0;
}

/** How many records have a first or a last name, and how many different ones. */
function countsOfBoth({ sql: first, table }: Column, { sql: last }: Column): Pick<Column, 'filled' | 'distinct'> {
  const all = `from ${table.sql} where coalesce(${first}, ${last}) is not null`;
  return { filled: countOf(table, all), distinct: countOf(table, `from (select distinct ${first}, ${last} ${all})`) };
}

/** The names, and what stands for them in records that have none: a whole name, or of most people their company. */
function nameFallback(context: Context, names: readonly Column[]): Made | undefined {
  const { draft, used } = context;
  const { table } = draft;
  const firms = firmsAmong(draft, context.known.references);
  const isPerson = firms ? `not ${firms.isFirm}` : 'true';
  const without = `from ${table.sql} where ${[isPerson, ...names.map(({ sql }) => `${sql} is null`)].join(' and ')}`;
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
  const comment = `check: ${ofText(best.count, table.rows)} have no name, so ${quoted(best.column)} is used instead${firmsText(table, without, best.count)}`;
  return { value: names.length === 0 ? best.column.name : { from: [joined(names, ' '), best.column.name] }, comment };
}

/** The column that tells firms from people, where it has one value in just the records without a name. */
function firmsText(table: Table, without: string, count: number): string {
  for (const column of plainColumns(table).filter(({ distinct }) => distinct > 1 && distinct <= 4)) {
    for (const [value, all] of countsOf(column)) {
      const own = all === count && countOf(table, `${without} and ${isOneOf(column, [value])}`);
      const when = flow({ from: column.name, not_in: [value] });
      if (own === count)
        return `; they have \`${value}\` in ${quoted(column)} and may be companies: to skip them, add \`when: ${when}\``;
    }
  }
  return '';
}

export function emailLine(context: Context): Made {
  const found = context.draft.roles.get('email');
  if (!found) return fromElsewhere(context, 'email', 'lowercase') ?? openLine(context, 'email');
  const { column } = found;
  const several = severalText(column);
  const separator = separatorIn(column);
  // The others are in the cell, which is carried whole.
  if (separator) context.used.delete(column);
  const split: TransformSpec[] = separator && !column.extract ? [{ split: separator }, { at: 0 }] : [];
  const comment = several
    ? `check: ${several}, and all go into a custom field`
    : separator
      ? 'check: some cells have several; the first one is used, and all go into a custom field'
      : undefined;
  return firstAddress('email', found, [...split, 'lowercase'], comment);
}

/** The first address or number that a record has in any of its columns: those of most are of a kind, such as the mobile ones. */
function firstAddress(
  role: 'email' | 'phone',
  found: RoleFound,
  apply: readonly TransformSpec[],
  comment?: string,
): Made {
  const { column, others } = found;
  const isTheirs = (each: Column): boolean => {
    const header = headerScore(role, each, 'lead');
    // Not the one that all of a firm have.
    const isOther = isStaff(each) || each.meaning.concepts.has('other') || each.distinct < each.filled * 0.8;
    const isNumber = role === 'phone' && header === 0 && each.is.international > 0.9;
    const least = each.meaning.concepts.has('company') ? 0.3 : 0.6;
    const isLike = isNumber || (header > least && scoreOf(role, each, 'lead') > 0.4);
    return each !== column && !isOther && isLike;
  };
  const more = column.list === undefined ? plainColumns(column.table).filter(isTheirs) : [];
  const rest = { ...found, others: others.filter((each) => !more.includes(each.column)) };
  const value =
    more.length > 0 ? { from: [column, ...more].map((each) => addressIn(each)), apply } : addressIn(column, ...apply);
  return { value, comment: comment ?? passedOver(column, more) ?? commentOf(role, rest, 'lead') };
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
    return (
      fromElsewhere(context, 'phone', 'phone') ?? openLine(context, 'phone', (column) => addressIn(column, 'phone'))
    );
  const { column } = found;
  const country = table.columns.find(isCountry);
  const phone: TransformSpec = country ? { phone: { region_from: valueIn(country) } } : 'phone';
  const several = severalText(column);
  const damaged = damagedIn(column);
  const both = column.extract === undefined ? 0 : severalIn(column);
  if (both > 0) context.used.delete(column);
  const comment = damaged
    ? `set this: a spreadsheet has truncated ${damaged} of the numbers; export again`
    : several
      ? `check: ${several}, and all go into a custom field`
      : both > 0
        ? `check: ${numberText(both)} cells have several; the first one is used, and all go into a custom field`
        : undefined;
  return firstAddress('phone', found, [phone], comment);
}

/** Cells with several numbers. */
function severalIn({ values, extract }: Column): number {
  return values.filter((value) => (value.match(new RegExp(extract!, 'g')) ?? []).length > 1).length;
}
