/**
 * What programs do to whole columns, taken back while a source is read: an apostrophe before values, with which spreadsheets read them as
 * text, and the `.0` of ids and phone numbers, since a data frame has no other form for whole numbers with gaps (`51000301.0`).
 */
import { isObject, NumberText, readNumber, type JsonObject, type JsonValue } from '../json.ts';
import { cellPlace, type Place, type RawRecord, type ReadItem, type Row } from '../model.ts';
import { issueOf } from '../report/words/words.ts';
import { shorten } from './reading.ts';
import type { Source } from './source.ts';
import type { Problem } from '../problem.ts';

/** The first records decide how a column is read. */
const DECIDING = 1_000;

const GUARD = 39;
/** What a guard protects: a text that looks like a formula or a number (`'=Bob`, `'00123`). In other columns it is a part of the text. */
const GUARDED = /^'[=+\-@0\t]/;
/** Dutch names begin so themselves: `'t Hooft`, `'s-Gravesande`. */
const NAME = /^'[stn][ -]/i;
const DECIMAL = /^\s*\d+\.0\s*$/;

/** Where the values of a column or path are. */
type Steps = number | readonly string[];

/** A column of which the first records show that each value is to be repaired. */
interface RepairedColumn {
  readonly name: string;
  readonly steps: Steps;
  /** Whether a value is as such a program writes it. */
  readonly isSo: (text: string) => boolean;
  readonly repair: (text: string) => string;
  /** Of the last complete reading: values that were repaired, and values that are not as the first records made expect. */
  count: number;
  others: number;
  first: { readonly example: string; readonly at: Pick<Place, 'file' | 'line'> } | undefined;
}

/** The source with such columns repaired: decided by the first 1,000 records, applied to all, and counted. */
export function repaired(source: Omit<Source, 'expectIds'>): Source {
  const ids = new Map<string, Steps>();
  let columns: Promise<readonly RepairedColumn[]> | undefined;
  let found: readonly Problem[] = [];
  return {
    ...source,
    expectIds(paths) {
      for (const { path, column } of paths) {
        const steps = column ?? stepsOf(source, path);
        if (steps !== undefined) ids.set(path, steps);
      }
      columns = undefined;
    },
    async *batches() {
      columns ??= decide(source, ids);
      const guards = new Guards(await columns);
      const decimals = (await columns).filter(({ isSo }) => isSo === isDecimal);
      for (const column of await columns) Object.assign(column, { count: 0, others: 0, first: undefined });
      for await (const batch of source.batches()) {
        const plain = source.kind === 'table' ? batch.map((item) => guards.off(item)) : batch;
        yield decimals.length === 0
          ? plain
          : plain.map((item) => (item.kind === 'row' ? asWhole(item, decimals) : item));
      }
      found = [...guards.notices(), ...decimals.flatMap(decimalNotices)];
    },
    notices: () => [...source.notices(), ...found],
  };
}

const isDecimal = (text: string): boolean => DECIMAL.test(text);
const isGuard = (text: string): boolean => text.length > 1 && text.charCodeAt(0) === GUARD && !NAME.test(text);

async function decide(
  source: Omit<Source, 'expectIds'>,
  ids: ReadonlyMap<string, Steps>,
): Promise<readonly RepairedColumn[]> {
  const made = { count: 0, others: 0, first: undefined };
  const whole = (text: string): string => text.replace(/\.0(\s*)$/, '$1');
  const guarded = source.columns.map((name, steps): RepairedColumn => ({
    ...{ name, steps, isSo: isGuard, repair: (text) => text.slice(1) },
    ...made,
  }));
  const decimal = [...ids].map(([name, steps]): RepairedColumn => ({
    name,
    steps,
    isSo: isDecimal,
    repair: whole,
    ...made,
  }));
  let left = [...guarded, ...decimal];
  let records = 0;
  for await (const batch of source.batches()) {
    const first = batch.slice(0, DECIDING - records);
    for (const item of first) if (item.kind === 'row') left = left.filter((column) => mayBe(column, item.raw));
    records += first.length;
    // The first rows show nearly always that there is no such column.
    if (left.length === 0 || records >= DECIDING) break;
  }
  return left.filter(({ count }) => count > 0);
}

/** Whether the record leaves it possible that all values of the column are so. */
function mayBe(column: RepairedColumn, raw: RawRecord): boolean {
  const text = textAt(raw, column.steps);
  if (text.trim() === '') return true;
  column.count += 1;
  return column.isSo(text);
}

/** Apostrophes before cells: those of columns in which all cells have one, and those that protect a formula or a number. */
class Guards {
  readonly #columns: ReadonlyMap<Steps, RepairedColumn>;
  #count = 0;
  #others = 0;
  #first: RepairedColumn['first'];

  constructor(columns: readonly RepairedColumn[]) {
    this.#columns = new Map(columns.filter(({ isSo }) => isSo === isGuard).map((column) => [column.steps, column]));
  }

  off(item: ReadItem): ReadItem {
    const cells = item.raw as readonly string[] | undefined;
    if (!cells) return item;
    for (const [index, column] of this.#columns) {
      const cell = cells[index as number] ?? '';
      if (!column.isSo(cell) && cell.trim() !== '') this.#others += 1;
    }
    return cells.some((cell, index) => this.#isGuarded(cell, index)) ? this.#without(item, cells) : item;
  }

  #isGuarded(cell: string, index: number): boolean {
    return cell.charCodeAt(0) === GUARD && (GUARDED.test(cell) || (this.#columns.has(index) && isGuard(cell)));
  }

  #without(item: ReadItem, cells: readonly string[]): ReadItem {
    const raw = cells.map((cell, index) => {
      if (!this.#isGuarded(cell, index)) return cell;
      this.#count += 1;
      this.#first ??= { example: shorten(cell), at: cellPlace(item.place, index) };
      return cell.slice(1);
    });
    return { ...item, raw };
  }

  notices(): Problem[] {
    if (!this.#first) return [];
    const { example, at } = this.#first;
    return [issueOf('guard_apostrophe', this.#count, example, this.#others).in(at.file, at.line)];
  }
}

function asWhole(item: Row, columns: readonly RepairedColumn[]): Row {
  let { raw } = item;
  for (const column of columns) {
    const text = textAt(raw, column.steps);
    if (text.trim() === '') continue;
    if (!column.isSo(text)) {
      column.others += 1;
      continue;
    }
    column.count += 1;
    const at = cellPlace(item.place, typeof column.steps === 'number' ? column.steps : 0);
    column.first ??= { example: text.trim(), at };
    raw = replaced(raw, column);
  }
  // The JSON text of the record has the values as they were.
  const { text: _, ...others } = item;
  return raw === item.raw ? item : { ...others, raw };
}

function decimalNotices({ name, count, others, first }: RepairedColumn): Problem[] {
  if (!first) return [];
  return [issueOf('ids_as_decimals', name, count, first.example, others).in(first.at.file, first.at.line)];
}

/** Of JSON: a path that leads through no list. */
function stepsOf({ kind }: Pick<Source, 'kind'>, path: string): Steps | undefined {
  return kind === 'tree' && /^[^$.[\]"]+(?:\.[^$.[\]"]+)*$/.test(path) ? path.split('.') : undefined;
}

function textAt(raw: RawRecord, steps: Steps): string {
  if (typeof steps === 'number') return (raw as readonly string[])[steps] ?? '';
  let value: JsonValue | undefined = raw;
  for (const step of steps) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return typeof value === 'string' || value instanceof NumberText || typeof value === 'number' ? String(value) : '';
}

function replaced(raw: RawRecord, { steps, repair }: RepairedColumn): RawRecord {
  if (typeof steps !== 'number') return withRepaired(raw as JsonObject, steps, repair);
  return (raw as readonly string[]).map((cell, column) => (column === steps ? repair(cell) : cell));
}

function withRepaired(
  object: JsonObject,
  [step = '', ...steps]: readonly string[],
  repair: RepairedColumn['repair'],
): JsonObject {
  const value = object[step];
  if (steps.length > 0) return isObject(value) ? { ...object, [step]: withRepaired(value, steps, repair) } : object;
  if (value instanceof NumberText) return { ...object, [step]: readNumber(repair(value.text)) };
  return typeof value === 'string' ? { ...object, [step]: repair(value) } : object;
}
