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
import { valueOf, waysTo } from './joins.ts';
import type { KindFound } from './kinds.ts';
import { multipleIn } from '../facts/shapes.ts';
import type { Reference } from '../facts/relations.ts';
import { FIELD_OF, LEVELS, POINTS, type Role } from '../know/roles.ts';
import { ratedFor, isSure, reasonsFor, type Rated, type Taken } from './score.ts';
import { ADDRESS } from '../facts/shapes.ts';

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

/** What each field is, where no column has it. */
const MISSING: Readonly<Record<string, readonly [what: string, isNeeded: boolean]>> = {
  full_name: ['a name', true],
  email: ['an e-mail address', false],
  phone_number: ['a phone number', false],
  occurred_at: ['the date of creation', false],
  title: ['a title', true],
  amount: ['an amount', false],
  currency: ['a currency', true],
  stage_name: ['a stage', true],
  stage_pipeline: ['a pipeline', false],
  owner_name: ['an owner', false],
  content: ['a text', true],
  author_name: ['an author', false],
};

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
  return (
    concepts.has('company') &&
    !concepts.has('id') &&
    is.words >= LEVELS.most &&
    is.email < LEVELS.some &&
    filled > 0 &&
    list === undefined &&
    !pair
  );
}

function placeOf(key: string): Field['place'] {
  return key === 'occurred_at' || key === 'stage_pipeline' ? 'settings' : 'data';
}

export function choicesFrom(role: Role, near: readonly Rated[]): FieldChoice[] {
  return near.map(({ column }) => ({
    answer: column.name,
    label: `${column.name} (${figures(column)}): ${column.examples.join(' | ')}`,
    value: valueFor(role, column),
  }));
}

/** A role that one column has. `more`: what else is to be said, and how sure it is. */
export function roleField(role: Role, context: FieldContext, more: Partial<Field> = {}): Field {
  const { found } = context;
  const taken = found.assignment.taken.get(role);
  if (!taken) return missingField(role, context);
  const { column, next } = taken;
  const key = FIELD_OF[role];
  const doubt = doubtOf(role, taken);
  return {
    key,
    place: placeOf(key),
    value: valueFor(role, column),
    columns: [column],
    choices: choicesFrom(role, found.assignment.near.get(role) ?? []),
    why: reasonsFor(role, column, found.kind).reasons,
    doubt: doubt?.mark,
    said: [doubt?.why ?? '', figures(column), isNear(taken) ? `or ${quoted(next!.column)}` : '']
      .filter(Boolean)
      .join('; '),
    ...more,
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
  const utc = formats.every((format) => format.endsWith("'UTC'"));
  const format = formats.length === 1 ? formats[0]! : formats;
  const isPlain = !asDay && !locale && !utc;
  return valueOf(column, {
    date: isPlain
      ? format
      : { formats: format, ...(utc && { timezone: 'UTC' }), ...(locale && { locale }), ...(asDay && { as: 'date' }) },
  });
}

/** What amounts are divided or multiplied by, and why: by a header, or another column that has a hundredth of each value. */
export function scaleOf(column: Column): { readonly by: Record<string, number>; readonly why: string } | undefined {
  const multiple = multipleIn(column.name);
  if (multiple) return { by: { multiply: multiple.factor }, why: `its name has \`${multiple.mark}\`` };
  if (column.is.decimal > LEVELS.hint) return undefined;
  if (
    fold(column.name)
      .split(' ')
      .some((word) => /^micros?$/.test(word))
  )
    return { by: { divide: 1_000_000 }, why: 'its name says millionths' };
  if (column.meaning.concepts.has('cents')) return { by: { divide: 100 }, why: 'its name says so' };
  const unit = column.table.columns.find(
    ({ counts, distinct }) => distinct === 1 && /^(?:minor|cents?|pence)\b/i.test([...(counts?.keys() ?? [])][0] ?? ''),
  );
  return unit && { by: { divide: 100 }, why: `${quoted(unit)} says so` };
}

export function amountValue(column: Column): ValueSpec {
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
  const marks = new Map(
    found.flatMap((mark) => likelyCurrency(mark) ?? []).map((code, at) => [found[at]!, code] as const),
  );
  const choices = CURRENCIES.map((answer) => ({ answer, label: answer, value: { value: answer } }));
  const field = { key: 'currency', place: 'data', columns: [], doubt: 'set', choices } as const;
  const [code, ...others] = new Set(marks.values());
  if (code === undefined)
    return [{ ...field, value: { value: 'EUR' }, off: true, said: 'no column has the currency of the amounts' }];
  const said = `${named === undefined ? 'amounts have' : `the header ${quoted(amount)} has`} ${[...marks.keys()].join(', ')}`;
  if (others.length === 0) return [{ ...field, value: { value: code }, said }];
  const escaped = [...marks.keys()].sort((a, b) => b.length - a.length).map((each) => each.replace(/[$.\\]/g, '\\$&'));
  const apply = [{ extract: `(${escaped.join('|')})` }, { map: { ...Object.fromEntries(marks), '*': '=' } }];
  return [{ ...field, value: valueOf(amount, ...apply), columns: [amount], said }];
}

const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF'];

/** First and last name, or the whole one; where many records have neither, the company. */
export function nameField(context: FieldContext): Field {
  const { taken, near } = context.found.assignment;
  const [whole, given, last] = (['full', 'first', 'last'] as const).map((role) => taken.get(role));
  // Beside a first or a last name, what is only called a name is the other one.
  const isPart =
    whole !== undefined && (given === undefined) !== (last === undefined) && whole.column.is.spaced < LEVELS.half;
  const [full, first, second] = isPart ? [undefined, given ?? whole, last ?? whole] : [whole, given, last];
  const parts = [first, second].flatMap((each) => each ?? []);
  if (parts.length === 0 && !full) return missingField('full', context);
  const own = parts.length === 2 || !full ? parts : [full];
  const columns = own.map(({ column }) => column);
  const value: ValueSpec =
    columns.length === 1 ? valueOf(columns[0]!) : { list: columns.map(({ name }) => name), apply: [{ join: ' ' }] };
  const filled = Math.max(...columns.map((column) => column.filled));
  const { records, columns: all } = context.table;
  const company =
    filled < records * LEVELS.most ? all.find((column) => isCompany(column) && column.filled > filled) : undefined;
  const doubt = company
    ? { mark: 'check' as const, why: `else ${quoted(company)}` }
    : own.map((each) => doubtOf('first', each)).find(Boolean);
  return {
    key: 'full_name',
    place: 'data',
    value: company ? { from: [value, company.name] } : value,
    columns,
    doubt: doubt?.mark,
    said: [ofText(filled, records), doubt?.why ?? ''].filter(Boolean).join('; '),
    choices: choicesFrom('full', whole ? [whole] : (near.get('full') ?? [])),
    why: reasonsFor(own[0] === full ? 'full' : 'last', columns.at(-1)!, 'lead').reasons,
  };
}

/** All columns of addresses or numbers, in their order: the first one that has a value. */
export function contactField(role: 'email' | 'phone', context: FieldContext): Field {
  const { found, table } = context;
  const taken = found.assignment.taken.get(role);
  if (!taken) return elsewhere(role, context) ?? missingField(role, context);
  const near = (found.assignment.near.get(role) ?? []).filter(
    ({ header, column }) => header >= POINTS.sure && !isFax(column),
  );
  const columns = table.columns.filter(
    (column) => column === taken.column || near.some((each) => each.column === column),
  );
  const one = roleField(role, context);
  if (columns.length === 1) {
    const several = taken.column.several > 0 ? `; the first of several in ${numberText(taken.column.several)}` : '';
    return { ...one, doubt: several ? 'check' : one.doubt, said: `${figures(taken.column)}${several}` };
  }
  const values = columns.map((column) => valueFor(role, column) as ValueObject);
  const [first] = values;
  const isSame = values.every(
    ({ apply }, at) => columns[at]!.list === undefined && JSON.stringify(apply) === JSON.stringify(first!.apply),
  );
  const value = isSame ? { from: columns.map(({ name }) => name), apply: first!.apply } : { from: values };
  const said = `the first that has one; ${quoted(columns[0]!)} has ${figures(columns[0]!)}`;
  return { ...one, value, columns, choices: [], said, doubt: undefined };
}

/** A label beside it says that most of its numbers are of a fax. */
function isFax({ name, table }: Column): boolean {
  const stem = name.replace(/[^-_. ]+$/, '');
  const labels = table.columns.filter((each) => each.name !== name && stem.length > 2 && each.name.startsWith(stem));
  return labels.some(({ counts }) => [...(counts?.keys() ?? [])].some((value) => meaningOf(value).concepts.has('fax')));
}

/** An address or number that is in a table of its own. */
function elsewhere(
  role: 'email' | 'phone',
  { table, found, tables, references, entries }: FieldContext,
): Field | undefined {
  const id = found.assignment.taken.get('id')?.column;
  for (const other of id ? tables : []) {
    if (other.list !== undefined || other.nouns.includes('user') || entries.has(other)) continue;
    const isIt = (each: Column): boolean => each.is.few === 0 && (ratedFor(role, each, 'lead')?.header ?? 0) > 0;
    const column = other.columns.find(isIt);
    const target = column && { table: other, kind: 'lead' as const, key: { value: column.name, columns: [column] } };
    const [way] = target ? waysTo(table, target, references, entries) : [];
    if (!way || way.by === 'name' || way.column !== id || way.points < 0) continue;
    const value = { from: way.value, apply: role === 'email' ? ['lowercase'] : ['phone'] };
    const said = `from ${other.source} by ${quoted(id!)}: ${ofText(way.found, way.of)} match`;
    return { key: FIELD_OF[role], place: 'data', value, columns: [], said, why: way.reasons };
  }
  return undefined;
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

function lookedUp(role: Role, column: Column, { references }: FieldContext): Partial<Field> | undefined {
  const nouns = role === 'stage' ? ['stage'] : ['user', 'lead'];
  const able = references
    .filter(
      ({ from, to, isUnique, share }) =>
        from === column &&
        isUnique &&
        share >= LEVELS.half &&
        to.table.list === undefined &&
        nouns.some((noun) => to.table.nouns.includes(noun as never)),
    )
    .sort((a, b) => b.share - a.share);
  for (const { to, by, found, of } of able) {
    const wanted =
      role === 'stage'
        ? ['stage', 'name', 'title']
        : role === 'owner'
          ? ['email', 'name', 'full']
          : ['name', 'full', 'email'];
    const names = to.table.columns.filter(
      (each) => each !== to && each.filled > 0 && !each.pair && Math.max(each.is.words, each.is.email) >= LEVELS.most,
    );
    const named = wanted.flatMap((word) => names.filter(({ meaning }) => meaning.concepts.has(word as never)))[0];
    const name = named ?? names.find(({ pair }) => pair !== undefined);
    if (!name) continue;
    const value = {
      lookup: {
        source: to.table.source,
        match: valueOf(to, ...(by.key ?? [])),
        with: valueOf(column, ...by.apply),
        take: name.name,
      },
    };
    const share = ofText(found, of);
    return { value, said: `${share} are in ${to.table.source}.${to.name}`, doubt: found < of ? 'check' : undefined };
  }
  return undefined;
}

/** Of won, lost and open as numbers. */
const MAX_STATUS = 4;

/** The stage, or how the deal ended where a column says that and the stage does not. */
export function stageField(context: FieldContext): Field {
  const { taken } = context.found.assignment;
  const [stage, outcome] = [taken.get('stage')?.column, taken.get('outcome')?.column];
  if (!outcome) {
    const field = namedField('stage', context);
    const isStatus = ({ meaning, is, name }: Column): boolean =>
      is.few === 1 &&
      is.digits === 1 &&
      meaning.concepts.has('status') &&
      !meaning.concepts.has('deleted') &&
      name !== stage?.name;
    const status = context.table.columns.find((column) => isStatus(column) && column.distinct <= MAX_STATUS);
    if (!status || field.off) return field;
    return {
      ...field,
      doubt: 'check',
      said: `${field.said}; ${quoted(status)} (${[...status.counts!.keys()].join(', ')}) may say how they ended`,
    };
  }
  if (!stage) return { ...roleField('outcome', context), key: 'stage_name', doubt: undefined, said: figures(outcome) };
  const field = namedField('stage', context);
  const ended = [...outcome.counts!].flatMap(([value]) => {
    const end = endingOf(value);
    return end === 'won' || end === 'lost' ? [[value, end === 'won' ? 'Won' : 'Lost'] as const] : [];
  });
  const count = [...outcome.counts!].reduce(
    (sum, [value, n]) => sum + (ended.some(([each]) => each === value) ? n : 0),
    0,
  );
  if (stage.is.ends > 0 && ended.length > 0 && stage.is.ends >= outcome.is.ends) return field;
  return {
    ...field,
    value: {
      from: [
        { from: outcome.name, apply: [{ map: { ...Object.fromEntries(ended), '*': null } }] },
        field.value as ValueSpec,
      ],
    },
    columns: [outcome, stage],
    doubt: 'check',
    said: `${quoted(outcome)} ends ${numberText(count)} deals as Won or Lost, whatever their stage`,
  };
}
