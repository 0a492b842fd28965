import { z } from 'zod';
import { Problem } from '../../problem.ts';
import { isAlternatives, type ValueSpec } from '../spec.ts';
import type { Lack } from '../not-in-export.ts';
import { within, type ValueContext } from '../values/compile-context.ts';
import { reportPassedOver, saysWhatIsLeft } from '../values/left-behind.ts';
import { columnOf } from '../values/path.ts';
import { ABSENT, type Evaluate } from '../values/result.ts';
import type { ValueReading, ValueKind } from './kind.ts';

type From = ValueSpec | readonly ValueSpec[];

/** `from: Email`, or the first of `from: [Email, Work Email]` that has a value. */
export const from: ValueKind<From> = {
  schema: (value) => z.union([value, z.array(value).min(1)]),
  children: (spec) => (isAlternatives(spec) ? spec.map((each, index) => [[index], each]) : [[[], spec]]),
  shape: (spec, shapeOf) => {
    const shapes = new Set(isAlternatives(spec) ? spec.map(shapeOf) : [shapeOf(spec)]);
    return shapes.size === 1 ? [...shapes][0]! : 'unknown';
  },
  words: (spec, { words, inline }) =>
    isAlternatives(spec) ? { from: spec.map(inline).join(', else '), how: [] } : words(spec),
  compile: (spec, context, reading) => {
    if (isAlternatives(spec)) return firstOf(spec, context, reading);
    const evaluate = reading.value(spec, context);
    return evaluate === ABSENT ? ABSENT : (row) => reading.finish(evaluate(row), row);
  },
};

/** The column of `Email`, and of `{ from: Email, apply: … }`. */
function columnRead(spec: ValueSpec, { frame }: ValueContext): number | undefined {
  return columnOf(typeof spec === 'string' ? spec : spec.from, frame);
}

/**
 * The first alternative that has a value and, where one that cannot be read is left out, is readable: an unreadable phone number does
 * not hide a mobile one. Those before it are left out. One with unknown columns is ignored if another is valid; `ABSENT` if the export
 * has the columns of none.
 */
function firstOf(
  specs: readonly ValueSpec[],
  context: ValueContext,
  { value, finish, isLeftOut }: ValueReading,
): Evaluate {
  const compiled = specs.map((spec, index) => {
    const [problems, lacking]: [Problem[], Lack[]] = [[], []];
    return { spec, evaluate: value(spec, { ...within(context, index), problems, lacking }), problems, lacking };
  });
  const whole = compiled.filter(({ problems, evaluate }) => problems.length === 0 && evaluate !== ABSENT);
  for (const problem of compiled.flatMap(({ problems }) => problems)) {
    if (whole.length > 0 && problem.code === 'unknown_column')
      context.compilation.warnings.push(problem.with({ severity: 'warning' }));
    else context.problems.push(problem);
  }
  const [first, ...others] = whole.length > 0 ? [] : compiled.flatMap(({ lacking }) => lacking);
  if (first) context.lacking.push({ ...first, columns: [first, ...others].flatMap(({ columns }) => columns) });
  else context.lacking.push(...(whole[0]?.lacking ?? []));
  if (whole.length === 0) return compiled.some(({ problems }) => problems.length > 0) ? () => undefined : ABSENT;
  const named = whole.map(({ evaluate, spec }) => {
    const path = typeof spec === 'string' ? spec : undefined;
    return { evaluate, path, column: columnRead(spec, context) };
  });
  // `[Create Date, createdate]` are one column where only one of them is in the export: its value is read, and left out, once.
  const isFirst = ({ path, column }: (typeof named)[number], index: number): boolean =>
    path === undefined ||
    column === undefined ||
    !named.slice(0, index).some((other) => other.path !== undefined && other.column === column);
  const alternatives = named.filter(isFirst);
  const isSaid = saysWhatIsLeft(context);
  return (row) => {
    let unreadable: Problem | undefined;
    for (let index = 0; index < alternatives.length; index += 1) {
      const { evaluate, path, column } = alternatives[index]!;
      const read = evaluate(row);
      if (read === undefined) continue;
      const result = finish(read, row);
      if (result instanceof Problem) result.column ??= column;
      if (result instanceof Problem && isLeftOut(result)) {
        if (unreadable) row.omit(result);
        else unreadable = result;
        continue;
      }
      if (unreadable) row.omit(unreadable);
      if (isSaid && path !== undefined && !(read instanceof Problem) && index + 1 < alternatives.length)
        reportPassedOver({ path, value: read }, alternatives.slice(index + 1), context, row);
      return result;
    }
    return unreadable;
  };
}
