/** `when`: values with a test, compiled to functions of the record. */
import type { JsonValue } from '../json.ts';
import { ValueError } from './value-error.ts';
import { textOf } from './value-text.ts';
import type { RowContext } from './row-context.ts';
import type { ConditionSpec } from './spec.ts';
import { compileValue, within, type ValueContext } from './value.ts';

/** A error where a value of the condition could not be read: neither yes nor no. */
export type ConditionTest = (row: RowContext) => boolean | ValueError;

export function compileCondition(spec: ConditionSpec, context: ValueContext): ConditionTest {
  if (spec.all)
    return every(
      spec.all.map((part, index) => compileCondition(part, within(context, 'all', index))),
      true,
    );
  if (spec.any)
    return every(
      spec.any.map((part, index) => compileCondition(part, within(context, 'any', index))),
      false,
    );
  if (spec.not) {
    const test = compileCondition(spec.not, within(context, 'not'));
    return (row) => {
      const result = test(row);
      return result instanceof ValueError ? result : !result;
    };
  }
  const value = compileValue(spec, context);
  const holds = compileTest(spec);
  return (row) => {
    const result = value(row);
    return result instanceof ValueError ? result : holds(result);
  };
}

/** All parts hold (`wanted` true), or any (`wanted` false: not all fail). */
function every(parts: readonly ConditionTest[], wanted: boolean): ConditionTest {
  return (row) => {
    for (const part of parts) {
      const result = part(row);
      if (result instanceof ValueError) return result;
      if (result !== wanted) return !wanted;
    }
    return wanted;
  };
}

/** On a list a test holds if it holds for one element (`not_in`: for all). */
function compileTest(spec: ConditionSpec): (value: JsonValue | undefined) => boolean {
  if (spec.present !== undefined) {
    const wanted = spec.present;
    return (value) => (value !== undefined) === wanted;
  }
  if (spec.not_in) {
    const texts = new Set(spec.not_in);
    return (value) => !someText(value, (text) => texts.has(text));
  }
  if (spec.in) {
    const texts = new Set(spec.in);
    return (value) => someText(value, (text) => texts.has(text));
  }
  if (spec.equals !== undefined) {
    const wanted = spec.equals;
    return (value) => someText(value, (text) => text === wanted);
  }
  const regex = new RegExp(spec.matches!, 'u');
  return (value) => someText(value, (text) => regex.test(text));
}

function someText(value: JsonValue | undefined, holds: (text: string) => boolean): boolean {
  if (typeof value === 'string') return holds(value);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).some((element) => someText(element, holds));
  const text = textOf(value);
  return text !== undefined && holds(text);
}
