/** The fields of the entries, by the columns that have their roles. */
import {
  currencyMarks,
  currencyMarksInName,
  likelyCurrency,
  currencyNamed,
  isCurrency,
} from '../../kinds/currencies.ts';
import type { TransformSpec, ValueObject, ValueSpec } from '../../mapping/spec.ts';
import { numberText, ofText } from '../../report/words/numbers.ts';
import { dateText } from '../facts/dates.ts';
import { NOTHING, type Doubt, type Field, type FieldChoice } from './draft.ts';
import type { Column, Table } from '../facts/facts.ts';
import { endingOf, fold, meaningOf } from '../facts/headers.ts';
import { valueOf } from './joins.ts';
import type { KindFound } from './kinds.ts';
import { multipleIn } from '../facts/shapes.ts';
import { literal, type Reference } from '../facts/relations.ts';
import { FIELD_OF, LEVELS, POINTS, type Role } from '../know/roles.ts';
import { ADDRESS } from '../know/shapes.ts';
import { MISSING } from '../know/texts.ts';
import { isSure, reasonsFor, type Rated, type Taken } from './score.ts';

/** What a field is made from. */
export interface FieldContext {
  readonly table: Table;
  readonly found: KindFound;
  readonly tables: readonly Table[];
  readonly references: readonly Reference[];
  /** Tables that become leads, deals or comments. */
  readonly entries: ReadonlySet<Table>;
  /** Each row is a person and a deal. */
  readonly isBoth?: boolean;
}

export function quoted({ name }: Column): string {
  return `\`${name.length > 40 ? `${name.slice(0, 40)}…` : name}\``;
}

/** `20 of 24`, of all records. */
export function figures({ filled, table }: Column): string {
  return ofText(filled, table.records);
}

/** A role that no column has: commented out, with what comes near. */
export function missingField(role: Role, { found, table }: FieldContext): Field {
  const key = FIELD_OF[role];
  const companies = role === 'title' ? table.columns.filter((column) => isCompany(column)) : [];
  const near = [
    ...(found.assignment.near.get(role) ?? []),
    ...companies.map((column) => ({ column, points: 0, header: 0 })),
  ];
  const [best] = near;
  const [noun, isNeeded] = MISSING[key] ?? [key, false];
  const names = near.slice(0, 2).map(({ column }) => quoted(column));
  return {
    key,
    place: placeOf(key),
    value: best ? valueFor(role, best.column) : NOTHING,
    off: true,
    doubt: best || isNeeded ? 'set' : undefined,
    said: best ? `${noun}? perhaps ${names.join(' or ')}` : `no column looks like ${noun}`,
    columns: [],
    choices: choicesFrom(role, near),
    ...(best && { why: reasonsFor(role, best.column, found.kind).reasons }),
  };
}

/** Names of companies. */
export function isCompany({ meaning: { concepts }, is, filled, list, pair }: Column): boolean {
  const isCalled = concepts.has('company') && !concepts.has('id');
  return isCalled && is.words >= LEVELS.most && is.email < LEVELS.some && filled > 0 && list === undefined && !pair;
}

function placeOf(key: string): Field['place'] {
  return key === 'occurred_at' || key === 'stage_pipeline' ? 'settings' : 'data';
}

export function choiceOf(role: Role, column: Column): FieldChoice {
  const label = `${column.name} (${figures(column)}): ${column.examples.join(' | ')}`;
  return { answer: column.name, label, value: valueFor(role, column) };
}

function choicesFrom(role: Role, near: readonly Rated[]): FieldChoice[] {
  return near.map(({ column }) => choiceOf(role, column));
}

/** A role that one column has. */
export function roleField(role: Role, context: FieldContext): Field {
  const { assignment, kind } = context.found;
  const taken = assignment.taken.get(role);
  if (!taken) return missingField(role, context);
  const { column, next } = taken;
  const key = FIELD_OF[role];
  const doubt = doubtOf(role, taken);
  const said = [doubt?.why, figures(column), isNear(taken) ? `or ${quoted(next!.column)}` : ''];
  return {
    ...{ key, place: placeOf(key), value: valueFor(role, column), columns: [column], doubt: doubt?.mark },
    choices: choicesFrom(role, assignment.near.get(role) ?? []),
    why: reasonsFor(role, column, kind).reasons,
    said: said.filter(Boolean).join('; '),
  };
}

function isNear(taken: Taken): boolean {
  return taken.next !== undefined && !isSure({ ...taken, header: 1, points: Math.max(taken.points, 100) });
}

type DoubtFound = { readonly mark: Doubt; readonly why: string } | undefined;

/** What is not sure about the values of a column, whatever its role. */
export function formatDoubt(role: string, { date, separators, is }: Column): DoubtFound {
  if (date?.ambiguous) {
    const { example, other } = date.ambiguous;
    return { mark: 'set', why: `${example} is read as ${dateText(example, ...date.formats)}, not with ${other}` };
  }
  if (date && date.unread > LEVELS.hint) return { mark: 'check', why: 'some values match no format' };
  if (date?.formats.some((format) => /(?<!y)yy(?!y)/.test(format)))
    return { mark: 'check', why: 'years of two digits' };
  if (role === 'amount' && separators?.ambiguous)
    return { mark: 'set', why: 'a mark before 3 digits: thousands, or decimals?' };
  return is.damaged > 0 ? { mark: 'set', why: 'a spreadsheet has rounded some values' } : undefined;
}

/** What is not sure about a column that was taken. */
function doubtOf(role: Role, taken: Taken): DoubtFound {
  const doubt = formatDoubt(role, taken.column);
  if (doubt) return doubt;
  if (taken.header <= 0) return { mark: 'check', why: 'by its values, not by its header' };
  return isSure(taken) ? undefined : { mark: 'check', why: isNear(taken) ? '' : 'it may mean something else' };
}

/** The value of a column for a role. */
export function valueFor(role: Role, column: Column): ValueSpec {
  if (column.date && (role === 'created' || role === 'happened')) return dateValue(column);
  if (role === 'amount') return amountValue(column);
  if (role === 'email') return emailValue(column);
  if (role === 'phone') return valueOf(column, ...firstNumber(column), 'phone');
  if (role === 'content') return column.is.html > LEVELS.hint ? valueOf(column, 'html_to_text') : valueOf(column);
  if (role === 'currency') return currencyValue(column);
  return valueOf(column);
}

function emailValue(column: Column): ValueSpec {
  const isLabelled = column.sample.some((value) => /[\s<>(),;:|]/.test(value.trim()));
  return valueOf(column, ...(isLabelled ? [{ extract: ADDRESS }] : []), 'lowercase');
}

/** Of a cell of two numbers, the first. */
function firstNumber({ sample, is }: Column): TransformSpec[] {
  const mark = [';', '/', ',', '|', '\n'].find((each) =>
    sample.some((value) => value.split(each).filter((part) => part.replace(/\D/g, '').length > 6).length > 1),
  );
  return mark === undefined || is.phone < LEVELS.half ? [] : [{ split: mark }, { at: 0 }];
}

/** `asDay`: the day alone, as for custom fields. */
export function dateValue(column: Column, asDay = false): ValueSpec {
  const { formats, locale } = column.date!;
  const timezone = formats.every((each) => each.endsWith("'UTC'")) && 'UTC';
  const format = formats.length === 1 ? formats[0]! : formats;
  const more = { ...(timezone && { timezone }), ...(locale && { locale }), ...(asDay && { as: 'date' }) };
  return valueOf(column, { date: Object.keys(more).length === 0 ? format : { formats: format, ...more } });
}

/** What amounts are divided or multiplied by, and why: by a header, or another column that has a hundredth of each value. */
export function scaleOf(column: Column): { readonly by: Record<string, number>; readonly why: string } | undefined {
  const { name, is, meaning, table } = column;
  const multiple = multipleIn(name);
  if (multiple) return { by: { multiply: multiple.factor }, why: `its name has \`${multiple.mark}\`` };
  if (is.decimal > LEVELS.hint) return undefined;
  if (/\bmicros?\b/.test(fold(name))) return { by: { divide: 1_000_000 }, why: 'its name says millionths' };
  if (meaning.concepts.has('cents')) return { by: { divide: 100 }, why: 'its name says so' };
  const isUnit = ({ counts, distinct }: Column): boolean =>
    distinct === 1 && /^(?:minor|cents?|pence)\b/i.test([...(counts?.keys() ?? [])].join());
  const unit = table.columns.find(isUnit);
  return unit && { by: { divide: 100 }, why: `${quoted(unit)} says so` };
}

function amountValue(column: Column): ValueSpec {
  const scale = scaleOf(column)?.by;
  const isPlain =
    column.separators?.group === undefined && column.sample.every((value) => /^-?\d+(?:\.\d+)?$/.test(value));
  if (isPlain && scale === undefined) return valueOf(column);
  return valueOf(column, { number: { ...numberArgument(column), ...scale } });
}

/** The separators of its values, as the `number` transform takes them. */
export function numberArgument({ separators }: Column): Record<string, string> {
  const { decimal, group } = separators ?? { decimal: '.' as const };
  return { decimal, ...(group && { group }) };
}

/** All values are whole hundreds, as cents of round amounts are. */
export function isHundreds({ separators, sample }: Column): boolean {
  return separators !== undefined && sample.length > 3 && sample.every((value) => /^\d{3,}00$/.test(value));
}

/** The code of a currency behind an underscore: `mrr_usd`. */
const AT_END = /_(usd|eur|gbp|chf|cad|aud|jpy|sek|nok|dkk|pln|brl|inr)$/i;

function currencyValue(column: Column): ValueSpec {
  const others = [...(column.counts?.keys() ?? [])].filter((text) => !isCurrency(text.trim()));
  if (others.length === 0) return valueOf(column);
  if (others.every((text) => isCurrency(text.toUpperCase()))) return valueOf(column, 'uppercase');
  const codes = others.flatMap((text) => {
    const code = likelyCurrency(text) ?? currencyNamed(text);
    return code === undefined ? [] : [[text, code] as const];
  });
  return valueOf(column, { map: { ...Object.fromEntries(codes), '*': '=' } });
}

/** The currency that the amounts or their header carry; commented out where nothing has it. None without an amount. */
export function currencyField(context: FieldContext): Field[] {
  const { taken } = context.found.assignment;
  const amount = taken.get('amount')?.column;
  if (taken.has('currency')) return [roleField('currency', context)];
  if (!amount) return [];
  const named = AT_END.exec(amount.name)?.[1]?.toUpperCase() ?? currencyMarksInName(amount.name)[0];
  const found = named === undefined ? amount.sample.flatMap((value) => currencyMarks(value).slice(0, 1)) : [named];
  const marks = [...new Set(found)].flatMap((mark) => {
    const code = likelyCurrency(mark);
    return code === undefined ? [] : [[mark, code] as const];
  });
  const choices = CURRENCIES.map((answer) => ({ answer, label: answer, value: { value: answer } }));
  const field = { key: 'currency', place: 'data', columns: [], doubt: 'set', choices } as const;
  const [code, ...others] = new Set(marks.map(([, each]) => each));
  if (code === undefined)
    return [{ ...field, value: { value: 'EUR' }, off: true, said: 'no column has the currency of the amounts' }];
  const all = marks.map(([mark]) => mark);
  const said = `${named === undefined ? 'amounts have' : `the header ${quoted(amount)} has`} ${all.join(', ')}`;
  if (others.length === 0) return [{ ...field, value: { value: code }, said }];
  const pattern = all
    .sort((a, b) => b.length - a.length)
    .map(literal)
    .join('|');
  const apply = [{ extract: `(${pattern})` }, { map: { ...Object.fromEntries(marks), '*': '=' } }];
  return [{ ...field, value: valueOf(amount, ...apply), columns: [amount], said }];
}

const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF'];

/** First and last name, or the whole one; where many records have neither, the company. */
export function nameField(context: FieldContext): Field {
  const { taken, near } = context.found.assignment;
  const [named, given, last] = (['full', 'first', 'last'] as const).map((role) => taken.get(role));
  const isOther = ({ header, column }: Rated): boolean =>
    header >= POINTS.sure && [...taken.values()].every((each) => each.column !== column);
  // Few names may be shared by many; a first or a last name alone is no whole one.
  const other = !given !== !last ? near.get('full')?.find(isOther) : undefined;
  const whole = named ?? (other && { ...other, next: undefined });
  // Beside a first or a last name, what is only called a name is the other one.
  const isPart = whole !== undefined && !given !== !last && whole.column.is.spaced < LEVELS.half;
  const [full, ...two] = isPart ? [undefined, given ?? whole, last ?? whole] : [whole, given, last];
  const parts = two.flatMap((each) => each ?? []);
  if (parts.length === 0 && !full) return missingField('full', context);
  const own = parts.length === 2 || !full ? parts : [full];
  const columns = own.map(({ column }) => column);
  const names = columns.map(({ name }) => name);
  const value = columns.length === 1 ? valueOf(columns[0]!) : { list: names, apply: [{ join: ' ' }] };
  const filled = Math.max(...columns.map((column) => column.filled));
  const { records, columns: all } = context.table;
  const company = all.find((each) => filled < records * LEVELS.most && isCompany(each) && each.filled > filled);
  const found = own.map((each) => doubtOf('first', each)).find(Boolean);
  const doubt = company ? { mark: 'check' as const, why: `else ${quoted(company)}` } : found;
  return {
    ...{ key: 'full_name', place: 'data', columns, doubt: doubt?.mark },
    value: company ? { from: [value, company.name] } : value,
    said: [ofText(filled, records), doubt?.why].filter(Boolean).join('; '),
    choices: choicesFrom('full', whole ? [whole] : (near.get('full') ?? [])),
    why: reasonsFor(own[0] === full ? 'full' : 'last', columns.at(-1)!, 'lead').reasons,
  };
}

/** All columns of addresses or numbers, in their order: the first one that has a value. */
export function contactField(role: 'email' | 'phone', context: FieldContext): Field {
  const { taken, near } = context.found.assignment;
  const one = roleField(role, context);
  const main = taken.get(role)?.column;
  if (!main) return { ...one, ...elsewhere(role, context) };
  const others = near.get(role)!.filter(({ header, column }) => header >= POINTS.sure && !isFax(column));
  const columns = context.table.columns.filter((each) => each === main || others.some(({ column }) => column === each));
  if (columns.length === 1 && main.several === 0) return { ...one, said: figures(main) };
  if (columns.length === 1)
    return { ...one, doubt: 'check', said: `${figures(main)}; the first of several in ${numberText(main.several)}` };
  const values = columns.map((column) => valueFor(role, column) as ValueObject);
  const { apply } = values[0]!;
  const isSame = columns.every(
    ({ list }, at) => list === undefined && JSON.stringify(values[at]!.apply) === JSON.stringify(apply),
  );
  const value = isSame ? { from: columns.map(({ name }) => name), apply } : { from: values };
  const said = `the first that has one; ${quoted(columns[0]!)} has ${figures(columns[0]!)}`;
  return { ...one, value, columns, choices: [], said, doubt: undefined };
}

/** No people themselves, but perhaps their addresses or numbers. */
function elsewhere(role: 'email' | 'phone', { tables, table, entries }: FieldContext): Partial<Field> {
  const able = tables.filter((each) => !entries.has(each) && each.records >= table.records * LEVELS.half);
  const isIt = ({ is, meaning }: Column): boolean => meaning.concepts.has(role) && is[role] >= LEVELS.half;
  const found = able.filter(({ nouns }) => !nouns.includes('user')).flatMap(({ columns }) => columns.filter(isIt))[0];
  return found
    ? { doubt: 'set', said: `none in this file; perhaps ${found.table.source}.${found.name}, by a lookup` }
    : {};
}

/** A label beside it says that most of its numbers are of a fax. */
function isFax({ name, table }: Column): boolean {
  const stem = name.replace(/[^-_. ]+$/, '');
  const labels = table.columns.filter((each) => each.name !== name && stem.length > 2 && each.name.startsWith(stem));
  return labels.some(({ counts }) => [...(counts?.keys() ?? [])].some((value) => meaningOf(value).concepts.has('fax')));
}

/** Stages, owners and authors: by their names, or by ids whose names another table has. */
export function namedField(role: 'stage' | 'owner' | 'author', context: FieldContext): Field {
  const taken = context.found.assignment.taken.get(role);
  const field = roleField(role, context);
  if (!taken) return field;
  const { is, meaning } = taken.column;
  const isIds = Math.max(is.digits, is.uuid, is.person > 0 ? 0 : is.code) >= LEVELS.most;
  if (!isIds && !meaning.concepts.has('id')) return field;
  const found = lookedUp(role, taken.column, context);
  if (found) return { ...field, ...found };
  return isIds ? { ...field, doubt: 'check', said: `${field.said}; ids, and no export has their names` } : field;
}

/** What a stage or person is called in a table of theirs: columns of these concepts, the best first. */
const CALLED = { stage: 'stage name title', owner: 'email name full', author: 'name full email' } as const;

function lookedUp(role: keyof typeof CALLED, column: Column, { references }: FieldContext): Partial<Field> | undefined {
  const nouns: readonly string[] = role === 'stage' ? ['stage'] : ['user', 'lead'];
  const able = references
    .filter(({ from, isUnique, share }) => from === column && isUnique && share >= LEVELS.half)
    .filter(({ to: { table } }) => table.list === undefined && table.nouns.some((noun) => nouns.includes(noun)))
    .sort((a, b) => b.share - a.share);
  for (const { to, by, found, of } of able) {
    const { columns, source } = to.table;
    const names = columns.filter(({ is, filled }) => filled > 0 && Math.max(is.words, is.email) >= LEVELS.most);
    const called = CALLED[role]
      .split(' ')
      .flatMap((word) =>
        names.filter(({ meaning, pair }) => !pair && (meaning.concepts as ReadonlySet<string>).has(word)),
      );
    const name = called.find((each) => each !== to) ?? names.find(({ pair }) => pair !== undefined);
    if (!name) continue;
    const [match, own] = [valueOf(to, ...(by.key ?? [])), valueOf(column, ...by.apply)];
    const value = { lookup: { source, match, with: own, take: name.name } };
    return { value, said: `${ofText(found, of)} are in ${source}.${to.name}`, doubt: found < of ? 'check' : undefined };
  }
  return undefined;
}

/** Won, lost and open as numbers. */
function isStatus({ is, distinct, meaning: { concepts } }: Column): boolean {
  return is.few === 1 && is.digits === 1 && distinct <= 4 && concepts.has('status') && !concepts.has('deleted');
}

/** The stage, or how the deal ended where a column says that and the stage does not. */
export function stageField(context: FieldContext): Field {
  const { taken } = context.found.assignment;
  const [stage, outcome] = [taken.get('stage')?.column, taken.get('outcome')?.column];
  if (outcome && !stage)
    return { ...roleField('outcome', context), key: 'stage_name', doubt: undefined, said: figures(outcome) };
  const field = namedField('stage', context);
  if (!outcome) {
    const status = context.table.columns.find((each) => each !== stage && isStatus(each));
    if (!status || field.off) return field;
    const values = [...status.counts!.keys()].join(', ');
    return { ...field, doubt: 'check', said: `${field.said}; ${quoted(status)} (${values}) may say how they ended` };
  }
  const words = { won: 'Won', lost: 'Lost' };
  const ended = [...outcome.counts!].flatMap(([value, count]) => {
    const end = endingOf(value);
    return end === 'won' || end === 'lost' ? [{ value, count, word: words[end] }] : [];
  });
  if (stage!.is.ends > 0 && ended.length > 0 && stage!.is.ends >= outcome.is.ends) return field;
  const map = { ...Object.fromEntries(ended.map(({ value, word }) => [value, word])), '*': null };
  const count = ended.reduce((sum, each) => sum + each.count, 0);
  return {
    ...field,
    value: { from: [{ from: outcome.name, apply: [{ map }] }, field.value as ValueSpec] },
    columns: [outcome, stage!],
    doubt: 'check',
    said: `${quoted(outcome)} ends ${numberText(count)} deals as Won or Lost, whatever their stage`,
  };
}
