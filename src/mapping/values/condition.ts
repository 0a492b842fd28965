/** `when`: values with a test, compiled to functions of the record. */
import type { JsonValue } from '../../json.ts';
import { compilePattern } from '../schema-parts.ts';
import { ABSENT, textOf, type RowContext } from './result.ts';
import { testedTexts, type ConditionSpec } from '../spec.ts';
import { within, type ValueContext } from './compile-context.ts';
import { compileValue } from './value.ts';
import { fittedCondition } from '../fitted.ts';
import { unmetWords } from '../words.ts';
import { Problem } from '../../problem.ts';

/** An error where a value of the condition cannot be read. */
type ConditionTest = (row: RowContext) => boolean | Problem;

/** Tests that the columns of the export decide for all records. Compared by identity. */
const ALWAYS: ConditionTest = () => true;
export const NEVER: ConditionTest = () => false;

export interface Condition {
  /** `NEVER` if no record can fulfil it, because the export lacks its columns. */
  readonly holds: ConditionTest;
  /** Why it does not hold, in words: of `all`, for each part. */
  readonly unmet: (row: RowContext) => readonly string[];
}

export function compileCondition(spec: ConditionSpec, context: ValueContext): Condition {
  const parts = spec.all?.map((part, index) => compileCondition(part, within(context, 'all', index)));
  if (parts) {
    const tests = parts.map(({ holds }) => holds);
    return { holds: every(tests, true), unmet: (row) => parts.flatMap(({ unmet }) => unmet(row)) };
  }
  const holds = compileOne(spec, context);
  const { compilation, frame } = context;
  let words: readonly string[] | undefined;
  // What the export lacks is known once all is compiled.
  const inWords = (): readonly string[] => {
    const there = fittedCondition(spec, frame.source.name, compilation.lacking);
    return (words ??= there ? [unmetWords(there, compilation.defaults)] : []);
  };
  return { holds, unmet: (row) => (holds(row) === false ? inWords() : []) };
}

function compileOne(spec: ConditionSpec, context: ValueContext): ConditionTest {
  if (spec.any)
    return every(
      spec.any.map((part, index) => compileCondition(part, within(context, 'any', index)).holds),
      false,
    );
  if (spec.not) {
    const { holds: test } = compileCondition(spec.not, within(context, 'not'));
    if (test === NEVER || test === ALWAYS) return test === NEVER ? ALWAYS : NEVER;
    return (row) => {
      const result = test(row);
      return result instanceof Problem ? result : !result;
    };
  }
  const value = compileValue(spec, context);
  const holds = compileTest(spec);
  if (value === ABSENT) return holds(undefined) ? ALWAYS : NEVER;
  return (row) => {
    const result = value(row);
    return result instanceof Problem ? result : holds(result);
  };
}

/** `wanted: true`: all parts must hold. `wanted: false`: at least one must. */
function every(parts: readonly ConditionTest[], wanted: boolean): ConditionTest {
  const [usual, decisive] = wanted ? [ALWAYS, NEVER] : [NEVER, ALWAYS];
  const open = parts.filter((part) => part !== usual);
  if (open.length === 0) return usual;
  if (open.includes(decisive)) return decisive;
  return (row) => {
    for (const part of open) {
      const result = part(row);
      if (result instanceof Problem) return result;
      if (result !== wanted) return !wanted;
    }
    return wanted;
  };
}

/** A list passes if one of its elements does (for `not_in`: if all do). */
function compileTest(spec: ConditionSpec): (value: JsonValue | undefined) => boolean {
  if (spec.present !== undefined) {
    const wanted = spec.present;
    return (value) => (value !== undefined) === wanted;
  }
  const named = testedTexts(spec);
  if (named) {
    const texts = new Set(named);
    const wanted = spec.not_in === undefined;
    return (value) => someText(value, (text) => texts.has(text)) === wanted;
  }
  const regex = compilePattern(spec.matches!);
  return (value) => someText(value, (text) => regex.test(text));
}

function someText(value: JsonValue | undefined, holds: (text: string) => boolean): boolean {
  if (typeof value === 'string') return holds(value);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).some((element) => someText(element, holds));
  const text = textOf(value);
  return text !== undefined && holds(text);
}
