/** Exports with records of several types in one table: each type is a table of its own. */
import type { Export } from './open-export.ts';
import { NO_VALUE, type RawTable } from './sample.ts';

/** Distinct values of a column of types. */
const MAX_TYPES = 20;
const MIN_ROWS = 8;
/** Columns that two types have each without the other: fewer may be what only some records have, such as why a deal was lost. */
const MIN_OWN = 2;
/** Of the records of a type, that have a column of it. */
const MIN_FILL = 0.5;
/** Records of each type that are looked at. */
const MAX_SAMPLE = 200;

/** An export for each type of its records: a column of few values tells which of the other columns are filled. */
export function byType(all: Export): readonly Export[] {
  const [main] = all.sample.tables;
  const found = main && all.settings.columns === undefined && typesIn(main);
  if (!found) return [all];
  return found.groups.map((values, at) => {
    const records = new Set(
      main.rows.filter((row) => values.includes(String(row[found.at]))).map(([record]) => record as number),
    );
    const tables = all.sample.tables
      .map((table) => onlyIn(table, records))
      .filter(({ rows }, of) => of === 0 || rows.length > 0);
    // A constant says nothing more.
    if (values.length === 1) tables[0]!.columns.delete(found.name);
    const { withoutRecords, ...rest } = all;
    return {
      ...rest,
      ...(withoutRecords && at === 0 && { withoutRecords }),
      sample: { ...all.sample, tables },
      type: { from: found.name, values },
    };
  });
}

function onlyIn({ columns, rows, ...rest }: RawTable, records: ReadonlySet<number>): RawTable {
  const own = rows.filter(([record]) => records.has(record as number));
  const filled = [...columns].filter(([, { at }]) => own.some((row) => row[at] != null));
  return { ...rest, rows: own, columns: new Map(filled) };
}

/** The column that tells most types apart. */
function typesIn({ columns, rows }: RawTable): { name: string; at: number; groups: string[][] } | undefined {
  if (rows.length < MIN_ROWS) return undefined;
  const able = [...columns].flatMap(([name, { at, list }]) => {
    const samples = list === undefined ? samplesOf(rows, at) : new Map<string, RawTable['rows']>();
    if (samples.size < 2 || samples.size > rows.length / 3) return [];
    const groups = groupsOf(
      samples,
      [...columns.values()].map((each) => each.at),
    );
    return groups.length > 1 ? [{ name, at, groups }] : [];
  });
  return able.sort((a, b) => b.groups.length - a.groups.length)[0];
}

/** Some records with each value of a column; none, unless all have one of a few. */
function samplesOf(rows: RawTable['rows'], at: number): Map<string, RawTable['rows']> {
  const samples = new Map<string, RawTable['rows']>();
  for (const row of rows) {
    const value = String(row[at] ?? '');
    const known = samples.get(value) ?? [];
    if (value === '' || (known.length === 0 && samples.size === MAX_TYPES)) return new Map();
    if (known.length < MAX_SAMPLE) known.push(row);
    samples.set(value, known);
  }
  return samples;
}

/** Values are of one type unless both have columns that the other one never has. */
function groupsOf(samples: ReadonlyMap<string, RawTable['rows']>, places: readonly number[]): string[][] {
  const shares = new Map(
    [...samples].map(([value, rows]) => [
      value,
      places.map(
        (at) => rows.filter((row) => row[at] != null && !NO_VALUE.includes(String(row[at]))).length / rows.length,
      ),
    ]),
  );
  const isApart = (a: string, b: string): boolean => {
    const [mine, theirs] = [shares.get(a)!, shares.get(b)!];
    return mine.filter((share, at) => share > MIN_FILL && theirs[at] === 0).length >= MIN_OWN;
  };
  const width = (value: string): number => shares.get(value)!.filter((share) => share > MIN_FILL).length;
  const groups: string[][] = [];
  for (const value of [...samples.keys()].sort((a, b) => width(b) - width(a))) {
    const alike = groups.filter((group) => group.some((other) => !isApart(value, other) || !isApart(other, value)));
    // What has nothing of its own is like all others, and so none of them.
    if (alike.length === 1) alike[0]!.push(value);
    else groups.push([value]);
  }
  return groups;
}
