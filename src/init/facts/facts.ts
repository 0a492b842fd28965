/** What is measured of the columns of all tables, once. No role is known here, and nothing after it reads a cell. */
import { currencyMarksInName } from '../../kinds/currencies.ts';
import { dateFacts, datesIn, dayOrderOf, type DateFacts, type DayOrder } from './dates.ts';
import { endingOf, fold, meaningOf, type DealEnd, type Meaning } from './headers.ts';
import { isAmount, numberIn, separatorsOf, SHAPES, type Separators } from './shapes.ts';
import { DATES, LEVELS, NO_FACTS, type FactName } from '../know/roles.ts';
import type { RawColumn } from '../read/sample.ts';
import type { Part } from '../read/tables.ts';

/** The records of an export, or the elements of a list inside them, with what is measured of them. */
export interface Table extends Omit<Part, 'source'> {
  /** Its name in `sources`; a preset has its own. */
  source: string;
  readonly columns: Column[];
  /** The table of the records that have the list. */
  readonly holder: Table | undefined;
  /** Hardly any header says anything. */
  isMute: boolean;
  /** The column with its ids, once it is known. */
  id?: { readonly column: Column | undefined };
  /** The share of the records that these columns tell apart together. */
  distinctOf(columns: readonly Column[]): number;
}

/** A column of a table, or the path of a value in JSON. */
export interface Column {
  readonly table: Table;
  /** Its header or path, as a mapping names it. */
  readonly name: string;
  readonly meaning: Meaning;
  /** In JSON, the list inside the record that the value is in. */
  readonly list: string | undefined;
  /** It is these two, a first and a last name. */
  readonly pair: readonly [string, string] | undefined;
  /** Of all records. */
  readonly filled: number;
  readonly several: number;
  readonly distinct: number;
  /** All values and how often each occurs; undefined where they are many. */
  readonly counts: ReadonlyMap<string, number> | undefined;
  readonly examples: readonly string[];
  readonly date: DateFacts | undefined;
  readonly separators: Separators | undefined;
  /** Texts of numbers: those of phones for the region, those with a currency beside them. */
  readonly sample: readonly string[];
  /** From 0 to 1. */
  readonly is: Record<FactName, number>;
}

/** Values of a column that are looked at. */
const MAX_VALUES = 300;
/** Distinct values of which each may be one of a few. */
const MAX_FEW = 60;
const MAX_OUTCOMES = 8;
/** Of so few, all may be different by chance. */
const FEW_ROWS = 8;
const DAY = 86_400_000;

export function measured(parts: readonly Part[]): Table[] {
  const order = orderIn(parts);
  const tables: Table[] = [];
  for (const part of parts) {
    const holder = tables.find((each) => each.export === part.export && each.list === undefined);
    const table: Table = {
      ...part,
      columns: [],
      isMute: false,
      distinctOf: (columns) => distinctIn(table, columns),
      holder: part.list === undefined ? undefined : holder,
    };
    const cells = cellsOf(part);
    table.columns.push(...part.raw.columns.map((raw, at) => columnOf(table, raw, cells[at]!, order)));
    table.isMute =
      table.columns.filter(({ meaning }) => meaning.concepts.size > 0).length <= table.columns.length * LEVELS.some;
    compareDates(table, cells);
    compareNumbers(table, cells);
    compareNames(table, cells);
    tables.push(table);
  }
  return tables;
}

/** Records that lack all of them are told apart by nothing. */
function distinctIn({ columns: all, raw }: Table, columns: readonly Column[]): number {
  const places = columns.map((column) => all.indexOf(column));
  const texts = raw.rows.map((row) => places.map((at) => row[at] ?? '').join('\n'));
  return new Set(texts.filter((text) => text.trim())).size / Math.max(1, raw.rows.length);
}

type ColumnCells = readonly (string | undefined)[];

function cellsOf({ raw }: Part): ColumnCells[] {
  return raw.columns.map((_, at) => raw.rows.map((row) => row[at]));
}

function spread<T>(list: readonly T[], most: number): T[] {
  const step = list.length / most;
  return step <= 1 ? [...list] : Array.from({ length: most }, (_, at) => list[Math.floor(at * step)]!);
}

/** How the dates of all exports write the day. */
function orderIn(parts: readonly Part[]): DayOrder {
  const cells = parts.flatMap(cellsOf).map((each) => each.filter((cell) => cell !== undefined));
  const orders = cells.map((each) => dayOrderOf(spread(each, MAX_VALUES)));
  const sum = (part: keyof DayOrder): number => orders.reduce((all, each) => all + Math.min(1, each[part]), 0);
  return { day: sum('day'), month: sum('month') };
}

function columnOf(table: Table, raw: RawColumn, cells: ColumnCells, order: DayOrder): Column {
  const header = table.headerOf(raw);
  const meaning = meaningOf(header);
  const filledCells = cells.filter((cell) => cell !== undefined);
  const isFew = raw.values !== undefined && isOneOfFew(raw.values.size, raw.filled);
  const weighed: (readonly [string, number])[] = isFew
    ? [...raw.values!]
    : spread(filledCells, MAX_VALUES).map((value) => [value, 1]);
  const sample = weighed.map(([value]) => value);
  const all = weighed.reduce((sum, [, weight]) => sum + weight, 0) || 1;
  const shareOf = (test: (value: string) => boolean): number =>
    weighed.reduce((sum, [value, weight]) => sum + (test(value) ? weight : 0), 0) / all;
  const is = Object.fromEntries(SHAPES.map(([fact, test]) => [fact, shareOf(test)])) as Record<FactName, number>;
  const distinct = raw.values?.size ?? new Set(filledCells).size;
  const isDateless = is.email > LEVELS.some || is.prose > LEVELS.some || is.url > LEVELS.half;
  const date = isDateless || raw.filled === 0 ? undefined : dateFacts(meaning, sample, order);
  const isNumber = !date && is.number > LEVELS.half;
  if (isNumber && currencyMarksInName(raw.name).length > 0) is.money = 1;
  const { name, list, pair, filled, several, values } = raw;
  const early = date ? LEVELS.half : 0;
  const dated = { date: date ? 1 : 0, time: date?.hasTime ? 1 : 0, early };
  return {
    ...{ table, name, meaning, list, pair, filled, several, distinct, counts: values, date, sample },
    examples: [...new Set(filledCells)].slice(0, 3),
    separators: isNumber ? separatorsOf(sample.filter(isAmount)) : undefined,
    is: { ...NO_FACTS, ...is, ...figuresOf(table, raw, distinct, isFew), ...endsIn(raw, isFew), ...dated },
  };
}

function isOneOfFew(distinct: number, filled: number): boolean {
  return distinct <= MAX_FEW && (distinct <= filled / 2 || (distinct <= 3 && filled > distinct));
}

function figuresOf(table: Table, { filled, values, several, list, name }: RawColumn, distinct: number, isFew: boolean) {
  const yes = (is: boolean): number => (is ? 1 : 0);
  const lengths = [...(values?.keys() ?? [])].slice(0, MAX_VALUES).map(({ length }) => length);
  const length = lengths.reduce((sum, each) => sum + each, 0) / Math.max(1, lengths.length);
  const numbers = values && values.size === filled ? [...values.keys()].map(Number) : [];
  const isUnique = filled > 0 && values?.size === filled;
  return {
    fill: filled / Math.max(1, table.records),
    full: yes(filled >= table.records * LEVELS.all),
    rare: filled < FEW_ROWS ? LEVELS.half : distinct / (values ? filled : Math.min(filled, table.raw.rows.length)),
    few: yes(isFew),
    key: yes(isUnique && filled === table.records),
    twice: yes(filled > 0 && !(isUnique || (values !== undefined && values.size > filled * LEVELS.all))),
    brief: yes(values !== undefined && length < 3),
    long: yes(values === undefined ? !isFew && distinct > MAX_FEW : length > 30),
    several: several / Math.max(1, filled),
    list: yes(list !== undefined),
    first: yes(table.raw.columns[0]?.name === name),
    rising: yes(isRising(numbers)),
  } satisfies Partial<Record<FactName, number>>;
}

/** As numbers of records rise: each by little, or all by the same. Sums that happen to be sorted rise by more. */
function isRising(numbers: readonly number[]): boolean {
  const steps = numbers.slice(1).map((each, at) => each - numbers[at]!);
  if (steps.length < 3 || !steps.every((step) => step > 0)) return false;
  return numbers.at(-1)! - numbers[0]! < numbers.length * MAX_FEW || new Set(steps).size === 1;
}

/** The share of values that say that a deal was won or lost, and whether most say how it is. */
function endsIn({ values, filled }: RawColumn, isFew: boolean): Pick<Record<FactName, number>, 'ends' | 'outcome'> {
  if (!isFew || !values || filled === 0) return { ends: 0, outcome: 0 };
  const said = [...values].map(([value, count]) => [endingOf(value), count] as const);
  const shareOf = (...able: readonly (DealEnd | undefined)[]): number =>
    said.reduce((sum, [end, count]) => sum + (able.includes(end) ? count : 0), 0) / filled;
  const ends = shareOf('won', 'lost');
  const isSaid = shareOf(undefined) < (shareOf('won') > 0 && shareOf('lost') > 0 ? LEVELS.half : LEVELS.hint);
  return { ends, outcome: ends > 0 && isSaid && values.size <= MAX_OUTCOMES ? 1 : 0 };
}

/** Columns of dates or numbers of a table that are compared with each other. */
const MAX_COMPARED = 30;

/** Which dates are the earliest of their records, later than others, in the future, or births. */
function compareDates(table: Table, cells: readonly ColumnCells[]): void {
  const dates = table.columns
    .flatMap((column, at) => (column.date ? [{ column, times: datesIn(cells[at]!, column.date) }] : []))
    .slice(0, MAX_COMPARED);
  const now = Date.now();
  const youth = Date.parse(DATES.birth);
  for (const { column, times } of dates) {
    const own = times.filter((each) => !Number.isNaN(each));
    const shareOf = (test: (time: number) => boolean): number => own.filter(test).length / Math.max(1, own.length);
    column.is.future = shareOf((time) => time > now) > LEVELS.hint ? 1 : 0;
    column.is.birth = own.length > 2 && shareOf((time) => time < youth) > LEVELS.half ? 1 : 0;
    const later = dates.flatMap((other) => {
      if (other.column === column || other.column.filled < column.filled * LEVELS.half) return [];
      const gap = column.date!.hasTime && other.column.date!.hasTime ? 0 : DAY;
      const both = times.flatMap((time, at) => {
        const after = time - other.times[at]!;
        return Number.isNaN(after) ? [] : [after > gap];
      });
      return both.length === 0 ? [] : [both.filter(Boolean).length / both.length];
    });
    if (later.length === 0) continue;
    column.is.early = later.filter((share) => share <= LEVELS.hint).length / later.length;
    column.is.late = later.filter((share) => share > LEVELS.all).length / later.length;
  }
  const youths = dates.filter(({ column }) => column.is.birth === 1);
  if (youths.length > 1) for (const { column } of youths) column.is.birth = 0;
}

/** Which numbers are never above another one of their records, as weighted amounts are. */
function compareNumbers(table: Table, cells: readonly ColumnCells[]): void {
  const numbers = table.columns.flatMap((column, at) => {
    const { separators, is } = column;
    const isSum = separators && is.rising === 0 && is.hundred <= LEVELS.most;
    return isSum ? [{ column, all: cells[at]!.map((cell) => numberIn(cell, separators)) }] : [];
  });
  for (const { column, all } of numbers.slice(0, MAX_COMPARED))
    for (const other of numbers.slice(0, MAX_COMPARED)) {
      const shares = all.map((own, at) => own / other.all[at]!).filter((share) => share > 0 && share < Infinity);
      const isLess = shares.every((share) => share <= 1) && shares.some((share) => share < LEVELS.most);
      if (other.column !== column && isMoney(other.column) && shares.length > 2 && isLess) column.is.less = 1;
    }
}

/** No id. */
function isMoney({ is, meaning: { concepts } }: Column): boolean {
  return is.decimal + is.money > LEVELS.some || concepts.has('amount') || (is.key === 0 && is.round > LEVELS.half);
}

/** The names of people are in their addresses. */
function compareNames(table: Table, cells: readonly ColumnCells[]): void {
  const addresses = table.columns.filter(({ is }) => is.email > LEVELS.half && is.few === 0);
  const [email] = addresses.sort((a, b) => b.filled - a.filled);
  if (!email) return;
  const locals = cells[table.columns.indexOf(email)]!.map((cell) => fold(/([^\s<@]+)@/.exec(cell ?? '')?.[1] ?? ''));
  for (const [at, column] of table.columns.entries()) {
    const { date, is } = column;
    if (column === email || date || is.words < LEVELS.most || is.email > LEVELS.some) continue;
    const rows = cells[at]!.flatMap((cell, row) => {
      if (cell === undefined || locals[row] === '') return [];
      const words = fold(cell).split(' ');
      return [words.some((word) => word.length > 2 && locals[row]!.includes(word))];
    });
    if (rows.length > 2) is.inEmail = rows.filter(Boolean).length / rows.length;
  }
}
