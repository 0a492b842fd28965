/** Numbers that follow from other numbers of their record. */
import { cellsOf, once, type Column, type Table } from '../columns.ts';
import { numberIn } from '../multiples.ts';

/** Its net amount, or that it is only a factor of another number. */
type Derived = 'weighted' | 'part' | { readonly net: Column };

/** The gross amount beside a net one. */
export function grossOf(net: Column): Column | undefined {
  return [...derivedOf(net.table)].find(([, each]) => typeof each === 'object' && each.net === net)?.[0];
}

/** Numbers times a probability, or with a constant tax; and those that others are many times of. */
export const derivedOf = once((table: Table): Map<Column, Derived> => {
  const derived = new Map<Column, Derived>();
  const numbers = table.columns
    .filter(({ separators, is }) => separators && is.flag < 0.95 && is.international < 0.3)
    .slice(0, 20);
  const rows = cellsOf(numbers).map((row) => row.map((cell, at) => numberIn(cell, numbers[at]!)));
  const chances = numbers.flatMap(({ is }, at) => (is.hundred > 0.95 ? [at] : []));
  for (const a of numbers.keys()) {
    for (const b of numbers.keys()) {
      const pairs = rows.filter((row) => a !== b && row[a]! > 0 && row[b]! > 0);
      if (pairs.length < 4 || chances.includes(a) || chances.includes(b)) continue;
      const ratios = pairs.map((row) => row[b]! / row[a]!);
      const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
      const isTimes = (row: number[], p: number): boolean =>
        [1, 100].some((of) => Math.abs(row[a]! * (row[p]! / of) - row[b]!) <= row[b]! * 0.01 + 1);
      if (high < 1.28 && low > 1.045 && high - low < 0.01) derived.set(numbers[b]!, { net: numbers[a]! });
      else if (low < 1 && chances.some((p) => pairs.filter((row) => isTimes(row, p)).length > pairs.length * 0.9)) {
        derived.set(numbers[b]!, 'weighted');
      } else if (low > 0.99 && high > 1.5 && numbers.some((_, p) => isProduct(pairs, a, b, p))) {
        derived.set(numbers[a]!, 'part');
      } else if (low > 0.02 && high < 0.77 && high - low < 0.02) derived.set(numbers[b]!, 'weighted');
    }
  }
  for (const { total, parts } of sumsIn(rows)) {
    // A tax makes a gross amount of a net one.
    const own = derived.get(numbers[total]!);
    const isGross = typeof own === 'object' && parts.some((part) => numbers[part] === own.net);
    if (isGross || parts.some((part) => numbers[part]!.meaning.concepts.has('tax'))) continue;
    for (const part of parts) derived.set(numbers[part]!, 'part');
    derived.delete(numbers[total]!);
  }
  return derived;
});

/** Columns beside each other whose sum another one has in nearly all rows: the price of the material and that of the work. */
function sumsIn(rows: readonly (readonly number[])[]): { total: number; parts: number[] }[] {
  const count = rows[0]?.length ?? 0;
  const at = (row: readonly number[], of: number): number => row[of]! || 0;
  const places = [...Array(count).keys()];
  return places.flatMap((first) =>
    places.slice(first + 1).flatMap((last) => {
      const parts = places.slice(first, last + 1);
      const sums = rows.map((row) => parts.reduce((sum, part) => sum + at(row, part), 0));
      const isSplit =
        rows.filter((row) => parts.filter((part) => at(row, part) > 0).length > 1).length > rows.length / 2;
      const isTotal = (of: number): boolean =>
        !parts.includes(of) &&
        rows.filter((row, n) => Math.abs(at(row, of) - sums[n]!) < 0.02).length > rows.length * 0.95;
      const total = isSplit && rows.length > 3 ? places.find(isTotal) : undefined;
      return total === undefined ? [] : [{ total, parts }];
    }),
  );
}

/** A price times a quantity, where there is one. */
function isProduct(rows: readonly (readonly number[])[], a: number, b: number, p: number): boolean {
  const isIt = (row: readonly number[]): boolean => Math.abs(row[a]! * (row[p]! || 1) - row[b]!) <= row[b]! * 0.01;
  return p !== a && p !== b && rows.filter(isIt).length > rows.length * 0.9;
}
