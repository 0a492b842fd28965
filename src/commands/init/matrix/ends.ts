/** How deals ended, by the values of a column: their words, or what the records have beside them. */
import { cellsOf, countsOf, countsWhere, isComplete, isFew, once, plainColumns, type Column } from '../columns.ts';
import { endingOf } from '../words.ts';

type DealEnd = 'won' | 'lost' | 'open';

/** Of an outcome: won, lost, open, on hold. */
const MAX_OUTCOMES = 4;

/** What values say of their deals, by their words or, of an outcome, by the other columns. */
export const endsIn = once((column: Column): ReadonlyMap<string, DealEnd> => {
  const values = [...countsOf(column).keys()];
  const said = values.flatMap((value): [string, DealEnd][] => {
    const end = endingOf(value);
    return end === undefined ? [] : [[value, end]];
  });
  const isOpen = said.length < values.length && values.length <= MAX_OUTCOMES && isComplete(column) && isFew(column);
  const shown = isOpen ? (byChances(column, values) ?? byClosing(column, values) ?? []) : [];
  return new Map([...shown, ...said]);
});

/** Won deals have a chance of 100 %, lost ones of 0, and open ones several: a stage has its own. */
function byChances(column: Column, values: readonly string[]): [string, DealEnd][] | undefined {
  const chances = plainColumns(column.table).filter(({ is }) => is.hundred > 0.95 && is.words < 0.1);
  for (const chance of chances) {
    const rows = cellsOf([column, chance]).map(([value, cell]) => [value, parseFloat((cell ?? '').replace(',', '.'))]);
    const most = Math.max(...rows.map(([, each]) => Number(each)));
    const ends = values.map((value): [string, DealEnd | undefined] => {
      const own = new Set(rows.flatMap(([other, each]) => (other === value ? [each] : [])));
      return [value, own.size > 1 ? 'open' : own.has(0) ? 'lost' : own.has(most) ? 'won' : undefined];
    });
    const found = ends.flatMap(([value, end]): [string, DealEnd][] => (end ? [[value, end]] : []));
    const has = (end: DealEnd): boolean => found.some(([, each]) => each === end);
    if ([1, 100].includes(most) && found.length === values.length && has('won') && has('lost') && has('open'))
      return found;
  }
  return undefined;
}

/** Just those that are won or lost have a day on which they were closed; lost ones have a reason, or won ones the last stage. */
function byClosing(column: Column, values: readonly string[]): [string, DealEnd][] | undefined {
  const others = plainColumns(column.table).filter((each) => each !== column);
  const all = countsOf(column);
  /** The values all of whose records are counted, where no record of the others is. */
  const exactly = (counts: ReadonlyMap<string, number>): string[] =>
    [...counts].every(([value, n]) => n === all.get(value)) ? [...counts.keys()] : [];
  const filledWith = (each: Column): string[] => exactly(countsWhere(column, `${each.sql} is not null`));
  const closed = others
    .filter(({ date, filled }) => date && filled > 6)
    .map(filledWith)
    .find(({ length }) => length === 2 && values.length > 2);
  if (!closed) return undefined;
  const reasons = others.filter(({ meaning }) => meaning.concepts.has('reason')).map(filledWith);
  const [lost] = reasons.find((own) => own.length === 1 && closed.includes(own[0]!)) ?? [];
  const stages = others.filter((each) => isFew(each) && each.distinct > 2 && each.is.words > 0.8);
  const wonIn = (value: string): boolean =>
    stages.some((stage) => {
      const own = cellsOf([column, stage]).filter(([each]) => closed.includes(each ?? ''));
      const last = own.find(([each]) => each === value)![1];
      return own.every(([each, at]) => (each === value) === (at === last));
    });
  const won = lost === undefined ? closed.find(wonIn) : closed.find((value) => value !== lost);
  if (won === undefined) return undefined;
  return values.map((value) => [value, !closed.includes(value) ? 'open' : value === won ? 'won' : 'lost']);
}

/** The share of values that say how a deal ended, and of those that say anything about it. */
export function endings(column: Column): { ends: number; all: number } {
  const said = endsIn(column);
  const counts = [...countsOf(column)];
  const of = (...able: readonly (DealEnd | undefined)[]): number =>
    counts.reduce((sum, [value, n]) => sum + (able.includes(said.get(value)) ? n : 0), 0) / Math.max(1, column.filled);
  return { ends: of('won', 'lost'), all: of('won', 'lost', 'open') };
}

export function outcomes(column: Column): number {
  const { is, date, distinct } = column;
  if (date || distinct > 8 || is.email > 0) return 0;
  const { ends, all } = endings(column);
  if (is.digits > 0.9 && ends === 0) return distinct <= 4 && distinct > 1 && is.hundred > 0.9 ? 0.1 : 0;
  return ends === 0 ? 0 : all > 0.95 ? 0.6 : 0.15;
}

/** Beside what says only how deals ended: the one column of a few values that no header calls otherwise. */
export function stageBeside(end: Column, able: readonly Column[]): Column | undefined {
  const steps = able.filter(
    (each) =>
      [...each.meaning.concepts].every((concept) => concept === 'name') &&
      isComplete(each) &&
      isFew(each) &&
      each.distinct > 2,
  );
  const few = steps.length > 1 ? steps.filter(({ distinct, filled }) => distinct < filled / 8) : steps;
  return few.length === 1 && outcomes(end) > 0.5 ? few[0] : undefined;
}
