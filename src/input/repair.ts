/**
 * What programs do to whole columns, taken back while a source is read: an apostrophe before values, with which spreadsheets read them as
 * text, and the `.0` of ids and phone numbers, since a data frame has no other form for whole numbers with gaps (`51000301.0`).
 */
import { isObject, NumberText, readNumber, type JsonObject, type JsonValue } from '../json.ts';
import { cellPlace, type Place, type RawRecord, type ReadItem } from '../model.ts';
import { issueOf } from '../report/words/words.ts';
import { shorten } from './reading.ts';
import { isCells } from './reject-columns.ts';
import type { Source } from './source.ts';
import type { Problem } from '../problem.ts';

/** The first records decide how a column is read. */
const DECIDING = 1_000;

/** How a program writes values. */
interface Habit {
  readonly isSo: (text: string) => boolean;
  readonly repair: (text: string) => string;
}

const APOSTROPHE = 39;
/** What a guard protects: a text that looks like a formula or a number (`'=Bob`, `'00123`). In other columns it is a part of the text. */
const GUARDED = /^'[=+\-@0\t]/;
/** Dutch names begin so themselves: `'t Hooft`, `'s-Gravesande`. */
const NAME = /^'[stn][ -]/i;
const GUARD: Habit = {
  isSo: (text) => text.length > 1 && text.charCodeAt(0) === APOSTROPHE && !NAME.test(text),
  repair: (text) => text.slice(1),
};
const DECIMAL: Habit = {
  isSo: (text) => /^\s*\d+\.0\s*$/.test(text),
  repair: (text) => text.replace(/\.0(\s*)$/, '$1'),
};

/** Where the values of a column or path are. */
type Steps = number | readonly string[];

/** A column of which the first records show that each value is written so. */
interface RepairedColumn {
  readonly name: string;
  readonly steps: Steps;
  readonly habit: Habit;
}

/** Values that were repaired, and values that are not as the first records made expect. */
class Repairs {
  count = 0;
  others = 0;
  #first: readonly [example: string, at: Pick<Place, 'file' | 'line'>] | undefined;

  add(example: string, place: Place, steps: Steps): void {
    this.count += 1;
    this.#first ??= [shorten(example), cellPlace(place, typeof steps === 'number' ? steps : 0)];
  }

  notices(issue: (repairs: this, example: string) => Problem): Problem[] {
    if (!this.#first) return [];
    const [example, at] = this.#first;
    return [issue(this, example).in(at.file, at.line)];
  }
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
      const guards = new Repairs();
      const repairs = (await columns).map((column) => {
        return { ...column, repairs: column.habit === GUARD ? guards : new Repairs() };
      });
      for await (const batch of source.batches()) yield batch.map((item) => withRepairs(item, repairs, guards));
      found = [
        ...guards.notices(({ count, others }, example) => issueOf('guard_apostrophe', count, example, others)),
        ...repairs.flatMap(({ name, repairs: own }) =>
          own === guards
            ? []
            : own.notices(({ count, others }, example) => issueOf('ids_as_decimals', name, count, example, others)),
        ),
      ];
    },
    notices: () => [...source.notices(), ...found],
  };
}

async function decide(
  source: Omit<Source, 'expectIds'>,
  ids: ReadonlyMap<string, Steps>,
): Promise<readonly RepairedColumn[]> {
  let left: readonly RepairedColumn[] = [
    ...source.columns.map((name, steps) => ({ name, steps, habit: GUARD })),
    ...[...ids].map(([name, steps]) => ({ name, steps, habit: DECIMAL })),
  ];
  const filled = new Set<RepairedColumn>();
  let records = 0;
  for await (const batch of source.batches()) {
    const first = batch.slice(0, DECIDING - records);
    for (const { kind, raw } of first) {
      if (kind !== 'row') continue;
      left = left.filter((column) => {
        const text = textAt(raw, column.steps);
        if (text.trim() !== '') filled.add(column);
        return text.trim() === '' || column.habit.isSo(text);
      });
    }
    records += first.length;
    // The first rows show nearly always that there is no such column.
    if (left.length === 0 || records >= DECIDING) break;
  }
  return left.filter((column) => filled.has(column));
}

/** `guards`: of apostrophes in any column of a table. */
function withRepairs(
  item: ReadItem,
  columns: readonly (RepairedColumn & { readonly repairs: Repairs })[],
  guards: Repairs,
): ReadItem {
  if (!item.raw) return item;
  let raw = item.raw;
  for (const { steps, habit, repairs } of columns) {
    const text = textAt(raw, steps);
    if (text.trim() === '') continue;
    if (habit.isSo(text)) {
      repairs.add(text, item.place, steps);
      raw = isCells(raw) ? raw.with(steps as number, habit.repair(text)) : withRepaired(raw, steps as string[], habit);
    } else repairs.others += 1;
  }
  if (isCells(raw) && raw.some(isGuarded)) {
    raw.forEach((cell, column) => isGuarded(cell) && guards.add(cell, item.place, column));
    raw = raw.map((cell) => (isGuarded(cell) ? cell.slice(1) : cell));
  }
  if (raw === item.raw) return item;
  // The JSON text of the record has the values as they were.
  const { text: _, ...others } = item;
  return { ...others, raw };
}

function isGuarded(cell: string): boolean {
  return cell.charCodeAt(0) === APOSTROPHE && GUARDED.test(cell);
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

function withRepaired(object: JsonObject, [step = '', ...steps]: readonly string[], habit: Habit): JsonObject {
  const value = object[step];
  if (steps.length > 0) return isObject(value) ? { ...object, [step]: withRepaired(value, steps, habit) } : object;
  if (value instanceof NumberText) return { ...object, [step]: readNumber(habit.repair(value.text)) };
  return typeof value === 'string' ? { ...object, [step]: habit.repair(value) } : object;
}
