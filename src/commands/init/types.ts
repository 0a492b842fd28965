/** Exports with records of several types in one table: each type is a table of its own. */
import type { Export } from './open-export.ts';
import type { RawTable, RecordType } from './raw-table.ts';
import { countEach } from './columns.ts';
import { isSubtotal, meaningOf, namesNoun, nounsOf, NO_VALUE } from './words.ts';

/** Distinct values of a column of types. */
const MAX_TYPES = 20;
const MIN_ROWS = 8;
/** Columns that two types have each without the other: fewer may be what only some records have, such as why a deal was lost. */
const MIN_OWN = 2;
/** Of the records of a type, that have a column of it. */
const MIN_FILL = 0.5;
/** Records of each type that are looked at. */
const MAX_SAMPLE = 200;
/** The least number of parts of other records, and how many each has at most on average. */
const MIN_PARTS = 3;
const MAX_PARTS = 12;
/** Values of a line that is no record, and the share of such lines. */
const MAX_CELLS = 2;
const MAX_LINES = 0.25;

/**
 * An export for each type of its records: a column of few values tells which of the other columns are filled, or one with the ids or
 * names of other records of the export tells those that are parts of them, such as the steps of a task.
 */
export function byType(all: Export): readonly Export[] {
  const [main] = all.sample.tables;
  if (!main || all.settings.columns !== undefined) return [all];
  const isShort = main.rows.length < MIN_ROWS;
  const found = isShort
    ? (typesIn(main, /^_{0,2}type$/i) ?? continuedIn(main) ?? [])
    : (typesIn(main) ??
      partsIn(main) ??
      continuedIn(main) ??
      recordsIn(main) ??
      membersIn(main) ??
      firstsIn(main) ??
      describedIn(main) ??
      []);
  return found.length === 0
    ? [all]
    : found.map(({ at, ...type }, index) => {
        const { is, from, isNot } = type;
        const isOne = ([, ...cells]: RawTable['rows'][number]): boolean => {
          const value = cells[at - 1];
          if (isNot) return !is.includes(String(value));
          return typeof is === 'string' ? (value == null) === (is === 'absent') : is.includes(String(value));
        };
        const records = new Set(main.rows.filter(isOne).map(([record]) => record as number));
        const tables = all.sample.tables
          .map((table) => onlyIn(table, records))
          .filter(({ rows }, of) => of === 0 || rows.length > 0);
        // A constant says nothing more.
        if (is.length === 1 && !isNot) tables[0]!.columns.delete(from);
        const { withoutRecords, ...rest } = all;
        return {
          ...rest,
          ...(withoutRecords && index === 0 && { withoutRecords }),
          sample: { ...all.sample, tables },
          type: { ...type, ...(all.sample.whole && { skipped: main.rows.length - records.size }) },
        };
      });
}

function onlyIn({ columns, rows, ...rest }: RawTable, records: ReadonlySet<number>): RawTable {
  const own = rows.filter(([record]) => records.has(record as number));
  const filled = [...columns].filter(([, { at }]) => own.some((row) => row[at] != null));
  return { ...rest, rows: own, columns: new Map(filled) };
}

type TypeFound = RecordType & { readonly at: number };

/** By the column that tells most types apart. */
function typesIn({ columns, rows }: RawTable, called = /./): TypeFound[] | undefined {
  const places = [...columns.values()].map(({ at }) => at);
  const able = [...columns].flatMap(([from, { at, list }]) => {
    const samples = list === undefined && called.test(from) ? samplesOf(rows, at) : new Map<string, RawTable['rows']>();
    if (samples.size < 2 || samples.size > rows.length / (rows.length < MIN_ROWS ? 2 : 3)) return [];
    const groups = groupsOf(samples, places);
    return groups.length > 1 ? [groups.map((is) => ({ from, at, is }))] : [];
  });
  return able.sort((a, b) => b.length - a.length)[0];
}

/** By a column with values of another one, of records that lack what the others have. */
function partsIn({ columns, rows }: RawTable): TypeFound[] | undefined {
  const plain = [...columns].filter(([, { list }]) => list === undefined);
  const places = plain.map(([, { at }]) => at);
  for (const [from, { at }] of plain) {
    const own = rows.filter((row) => hasValue(row[at]));
    const others = rows.filter((row) => !hasValue(row[at]));
    if (own.length < MIN_PARTS || others.length < own.length / MAX_PARTS) continue;
    const lacked = sharesOf(others, places).filter(
      (share, of) => share > MIN_FILL && own.every((row) => !hasValue(row[places[of]!])),
    );
    if (lacked.length < MIN_OWN) continue;
    const isKey = (key: number): boolean => {
      const names = new Set(others.map((row) => row[key]));
      return (
        key !== at &&
        names.size > others.length * 0.9 &&
        own.filter((row) => names.has(row[at])).length > own.length * 0.8
      );
    };
    if (places.some(isKey))
      return [
        { from, at, is: 'absent' },
        { from, at, is: 'present', as: 'parts' },
      ];
  }
  return undefined;
}

/** By a column that all records have, where some lines have hardly any value: titles of pages, sums, footers. */
function recordsIn({ columns, rows }: RawTable): TypeFound[] | undefined {
  const plain = [...columns].filter(([, { list }]) => list === undefined);
  const width = (row: RawTable['rows'][number]): number => plain.filter(([, { at }]) => hasValue(row[at])).length;
  const full = rows.filter((row) => width(row) > MAX_CELLS);
  // Amounts and days are unique by chance, and are no ids.
  const keys = plain.flatMap(([, { at }]) => {
    const values = new Set(full.map((row) => String(row[at] ?? '')));
    const isCode = (value: string): boolean => /^[^\s.,]+$/.test(value) && !/^\d{1,4}[-/]\d{1,2}[-/]\d/.test(value);
    return values.size === full.length && [...values].every(isCode) ? [at] : [];
  });
  // Whatever the word beside them: the last line has the sums of the columns.
  const digitsOf = (cell: RawTable['rows'][number][number] | undefined): number =>
    Number(String(cell ?? '').replace(/\D/g, ''));
  const sums = plain.filter(([, { at }]) => isFigure(String(rows.at(-1)?.[at] ?? '')));
  const isSumOf = ([, { at }]: (typeof plain)[number]): boolean =>
    2 * digitsOf(rows.at(-1)![at]) === rows.reduce((sum, row) => sum + digitsOf(row[at]), 0);
  const total = sums.length > 0 && sums.every(isSumOf) ? rows.at(-1) : undefined;
  const isLine = (row: RawTable['rows'][number]): boolean => {
    const cells = plain.flatMap(([, { at }]) => (hasValue(row[at]) ? [String(row[at])] : []));
    const isOfOne = cells.some((cell) => /^\S*@|^[+0][\d\s()./-]+$/.test(cell));
    // A word and a sum; but with an id, it is a record of which little is known.
    const hasId = keys.some((at) => /^\S*\d\S*$/.test(String(row[at] ?? '')));
    // Beside the sums is what they are called, perhaps with their currency.
    const isSum = row === total || cells.some(isSubtotal);
    if (cells.filter((cell) => !isFigure(cell)).length > (isSum ? 2 : 1) || isOfOne || hasId) return false;
    return cells.length <= (isSum ? plain.length / 2 : MAX_CELLS);
  };
  const lines = new Set(rows.filter(isLine));
  const others = rows.filter((row) => !lines.has(row));
  const least = Math.min(...others.map(width));
  if (others.length < MIN_PARTS || least < 2 * MAX_CELLS || lines.size > rows.length * MAX_LINES) return undefined;
  const found = lines.size > 0 && plain.find(([, { at }]) => rows.every((row) => hasValue(row[at]) !== lines.has(row)));
  if (!found) return undefined;
  return [{ from: found[0], at: found[1].at, is: 'present', as: 'records', others: 'lines that are no records' }];
}

/**
 * By a column that only the first of several lines of a record has, its id or any beside a single one, and with it most others: below
 * it go on its items, or what was said and when. Such lines have neither ids nor addresses of their own, and an amount only where the
 * record has another one: a person may have several deals.
 */
function continuedIn({ columns, rows }: RawTable): TypeFound[] | undefined {
  const plain = [...columns].filter(
    ([, { at, list, label }]) => list === undefined && label === undefined && rows.some((row) => hasValue(row[at])),
  );
  const valuesOf = (some: RawTable['rows'], at: number): string[] =>
    some.flatMap((row) => (hasValue(row[at]) ? [String(row[at])] : []));
  const isUnique = (some: RawTable['rows'], at: number): boolean =>
    new Set(valuesOf(some, at)).size === some.length && valuesOf(some, at).every((value) => CODE.test(value));
  if (plain.some(([, { at }]) => isUnique(rows, at))) return undefined;
  const isAmount = ([name]: (typeof plain)[number]): boolean => meaningOf(name).concepts.has('amount');
  const able = plain.filter(([, { at }]) => hasValue(rows[0]![at]));
  const most = plain.length / 2;
  const wide = new Set(rows.filter((row) => plain.filter(([, { at }]) => hasValue(row[at])).length > most));
  const found = able.flatMap(([from, { at }]) => {
    const firsts = rows.filter((row) => hasValue(row[at]));
    const lines = rows.filter((row) => !hasValue(row[at]));
    if (lines.length < MIN_PARTS || firsts.length < MIN_PARTS || lines.some((row) => wide.has(row))) return [];
    const own = plain.filter((each) => valuesOf(lines, each[1].at).length > 0);
    const lacked = plain.filter(
      (each) => !own.includes(each) && valuesOf(firsts, each[1].at).length > firsts.length * MIN_FILL,
    );
    const cells = own.flatMap((each) => valuesOf(lines, each[1].at));
    const words = own.filter((each) => !valuesOf(lines, each[1].at).every((cell) => FIGURE.test(cell)));
    const isTold = lacked.some(isAmount) || (words.length < 2 && !own.some(isAmount));
    if (lacked.length <= most || !isTold || cells.some((cell) => PERSONAL.test(cell))) return [];
    const isKey = isUnique(firsts, at);
    // In the first column, it is the title of a page.
    return isKey || (own.length === 1 && own[0] !== plain[0]) ? [{ from, at, isKey }] : [];
  });
  const best = found.find(({ isKey }) => isKey) ?? found[0];
  if (!best) return undefined;
  const { from, at, isKey } = best;
  // An id that only the first line has is in the first column.
  const key = isKey && from === plain[0]![0] && { key: from };
  return [{ from, at, is: 'present', as: 'records', others: CONTINUED, ...key }];
}

const CONTINUED = 'those that continue the record above, such as its items or what was said about it';
const CODE = /^\S*\d\S*$/;
/** An amount, a number or a time. */
const FIGURE = /^\P{L}*\d\P{L}*$/u;
/** An address or a telephone number, which has more digits than a date. */
const PERSONAL = /^\S+@\S+$|^[+0](?:[\s()./-]*\d){8,}$/;

/** By an amount that only the first of several lines of a record has, above its items, which repeat its id. */
function firstsIn({ columns, rows }: RawTable): TypeFound[] | undefined {
  const plain = [...columns].filter(([, { list, label }]) => list === undefined && label === undefined);
  for (const [from, { at: amount }] of plain) {
    if (!meaningOf(from).concepts.has('amount') || !hasValue(rows[0]![amount])) continue;
    const firsts = rows.filter((row) => hasValue(row[amount]));
    const items = rows.filter((row) => !hasValue(row[amount]));
    if (items.length < MIN_PARTS || !firsts.every((row) => isFigure(String(row[amount])))) continue;
    let last = firsts[0]!;
    const above = rows.map((row) => (last = hasValue(row[amount]) ? row : last));
    const isRepeated = (at: number): boolean => rows.every((row, line) => row[at] === above[line]![at]);
    const lacked = plain.filter(
      ([, { at }]) => firsts.every((row) => hasValue(row[at])) && !items.some((row) => hasValue(row[at])),
    );
    const isOfRecord = ([name, { at }]: (typeof plain)[number]): boolean =>
      isRepeated(at) &&
      new Set(firsts.map((row) => row[at])).size === firsts.length &&
      !namesNoun('lead', meaningOf(name).concepts) &&
      firsts.every((row) => /^[^@]*\d[^@]*$/.test(String(row[at])));
    const repeated = lacked.length > MIN_OWN ? plain.find(isOfRecord) : undefined;
    if (repeated) return [{ from, at: amount, is: 'present', as: 'records', others: CONTINUED, key: repeated[0] }];
  }
  return undefined;
}

/**
 * By a column of a few codes, of which one has records and the others what belongs to them, such as their contacts: these have the same
 * ids and lack what all records have.
 */
function membersIn({ columns, rows }: RawTable): TypeFound[] | undefined {
  const plain = [...columns].filter(([, { list }]) => list === undefined);
  const isFilled = (row: RawTable['rows'][number], at: number): boolean =>
    hasValue(row[at]) && !/^0+(?:[.,]0+)?$/.test(String(row[at]));
  for (const [from, { at }] of plain) {
    const counts = countEach(rows.map((row) => (hasValue(row[at]) ? String(row[at]) : '')));
    if (counts.has('') || counts.size < 2 || counts.size > MAX_MEMBERS) continue;
    for (const value of counts.keys()) {
      const own = rows.filter((row) => String(row[at]) === value);
      const others = rows.filter((row) => String(row[at]) !== value);
      const share = (some: RawTable['rows'], of: number): number =>
        some.filter((row) => isFilled(row, of)).length / some.length;
      // Most columns are filled in some of the others: no more of their rows are looked at.
      const lacked = plain.filter(
        ([, each]) => !others.some((row) => isFilled(row, each.at)) && share(own, each.at) > 0.9,
      );
      const isKey = ([, { at: key }]: (typeof plain)[number]): boolean => {
        const ids = new Set(own.map((row) => row[key]));
        return (
          ids.size === own.length &&
          own.every((row) => CODE.test(String(row[key]))) &&
          others.every((row) => ids.has(row[key]))
        );
      };
      if (own.length < MIN_PARTS || others.length < MIN_PARTS || lacked.length < MIN_LACKED || !plain.some(isKey))
        continue;
      return [{ from, at, is: [value], as: 'records', others: `what belongs to them by \`${from}\`` }];
    }
  }
  return undefined;
}

/** Distinct values of the column that tells records from what belongs to them, and columns that only records have. */
const MAX_MEMBERS = 6;
const MIN_LACKED = 3;

/** By what the first lines have below the header that say what the columns are: `text`, `dd/mm/yyyy`. They have the form of no column. */
function describedIn({ columns, rows }: RawTable): TypeFound[] | undefined {
  const plain = [...columns].filter(([, { list }]) => list === undefined);
  const records = rows.slice(MAX_DESCRIBED, MAX_SAMPLE);
  const formed = plain.flatMap(([, { at }]) => {
    const values = records.flatMap((row) => (hasValue(row[at]) ? [String(row[at])] : []));
    const form = COLUMN_FORMS.find((each) => values.filter((value) => each.test(value)).length > values.length * 0.9);
    return form && values.length > records.length / 2 ? [{ at, form }] : [];
  });
  const isDescription = (row: RawTable['rows'][number]): boolean => {
    const own = formed.filter(({ at }) => hasValue(row[at]));
    const others = own.filter(({ at, form }) => !form.test(String(row[at])));
    return own.length > formed.length / 2 && others.length > 1 && others.length > own.length * 0.8;
  };
  const end = rows.findIndex((row) => !isDescription(row));
  if (end < 1 || end > MAX_DESCRIBED) return undefined;
  const isTold = (at: number): boolean =>
    rows.every((row) => hasValue(row[at])) &&
    rows.slice(end).every((row) => rows.slice(0, end).every((first) => first[at] !== row[at]));
  const found = plain.find(([, { at }]) => isTold(at));
  const others =
    end === 1 ? 'the first line, which describes the columns' : `the first ${end} lines, which describe the columns`;
  const is = found && [...new Set(rows.slice(0, end).map((row) => String(row[found[1].at])))];
  return is && [{ from: found[0], at: found[1].at, is, isNot: true, as: 'records', others }];
}

/** Lines that describe the columns, as some surveys have below their header. */
const MAX_DESCRIBED = 2;
const COLUMN_FORMS = [/^\S+@\S+\.\S+$/, FIGURE, CODE];

/** Beside it is at most a currency. */
function isFigure(cell: string): boolean {
  return /^\p{Lu}{0,3}\p{Sc}? ?-?\d[\d.,' ]*(?:\p{Sc}|\p{L}{1,3}\.?)?$/u.test(cell);
}

/** Some records with each value of a column; none, unless all have one of a few words or codes: a type is no amount and no date. */
function samplesOf(rows: RawTable['rows'], at: number): Map<string, RawTable['rows']> {
  const samples = new Map<string, RawTable['rows']>();
  for (const row of rows) {
    const value = String(row[at] ?? '');
    const known = samples.get(value) ?? [];
    if (value === '' || (known.length === 0 && samples.size === MAX_TYPES)) return new Map();
    if (FIGURE.test(value) && !/^\d+$/.test(value)) return new Map();
    if (known.length < MAX_SAMPLE) known.push(row);
    samples.set(value, known);
  }
  return samples;
}

/** Values are of one type unless both have columns that the other one never has. */
function groupsOf(samples: ReadonlyMap<string, RawTable['rows']>, places: readonly number[]): string[][] {
  const shares = new Map([...samples].map(([value, rows]) => [value, sharesOf(rows, places)]));
  // In a file of many, what one or two records have says nothing, unless a word calls their type so.
  const least = [...samples.values()].flat().length < MIN_ROWS ? 1 : MIN_PARTS;
  const isRare = (value: string): boolean => samples.get(value)!.length < least && nounsOf(value).length === 0;
  const isApart = (a: string, b: string): boolean => {
    if (isRare(a) || isRare(b)) return false;
    const [mine, theirs] = [shares.get(a)!, shares.get(b)!];
    return mine.filter((share, at) => share > MIN_FILL && theirs[at] === 0).length >= MIN_OWN;
  };
  const width = (value: string): number =>
    isRare(value) ? 0 : shares.get(value)!.filter((share) => share > MIN_FILL).length;
  const groups: string[][] = [];
  for (const value of [...samples.keys()].sort((a, b) => width(b) - width(a))) {
    const alike = groups.filter((group) => group.some((other) => !isApart(value, other) || !isApart(other, value)));
    // What has nothing of its own is like all others, and so none of them.
    if (alike.length === 1) alike[0]!.push(value);
    else groups.push([value]);
  }
  return groups;
}

/** Of the records, that have a value in each place. */
function sharesOf(rows: RawTable['rows'], places: readonly number[]): number[] {
  return places.map((at) => rows.filter((row) => hasValue(row[at])).length / rows.length);
}

function hasValue(cell: RawTable['rows'][number][number] | undefined): boolean {
  return cell != null && !NO_VALUE.includes(String(cell));
}
