/** Compiles the values of a mapping to functions of the record. */
import type { JsonValue } from '../../json.ts';
import { kindOf } from '../kinds/index.ts';
import type { ValueReading } from '../kinds/kind.ts';
import { transformOf, type TransformSpec, type ValueObject, type ValueSpec } from '../spec.ts';
import { TRANSFORM_BY_NAME } from '../transforms/index.ts';
import type { Apply, ValueShape } from '../transforms/transform.ts';
import { issueOf } from '../../report/words/words.ts';
import type { Lack } from '../not-in-export.ts';
import { compileColumn, reportLacks, within, type ValueContext } from './compile-context.ts';
import { reportListCut, saysWhatIsLeft } from './left-behind.ts';
import { ABSENT, textOf, valueText, withOriginal, type Evaluate, type Result, type RowContext } from './result.ts';
import { Problem } from '../../problem.ts';

/**
 * A value as read, transformed, then checked. One that fails either is rejected or left out, as `on_error` says; of a `from` list whose
 * unreadable values are left out, the first readable one is taken: an unreadable phone number does not hide a mobile one. `ABSENT` if
 * the export has nothing that it reads; one that is `required` is a problem then.
 */
export function compileValue(spec: ValueSpec, context: ValueContext, check?: Apply): Evaluate {
  if (typeof spec === 'string' && !check) return compileColumn(spec, context);
  const given: ValueObject = typeof spec === 'string' ? { from: spec } : spec;
  const applies = (given.apply ?? []).map((item, index) => {
    const apply = compileTransform(item, within(context, 'apply', index));
    if (typeof item === 'string' || !('at' in item) || !saysWhatIsLeft(context)) return apply;
    return (value: JsonValue, row: RowContext) => {
      reportListCut(value, given, context, row);
      return apply(value, row);
    };
  });
  if (check) applies.push(check);
  const { required = false, on_error: onError = context.onError } = given;
  const fallback = given.default === '' ? undefined : given.default;
  const isLeftOut = (error: Problem): boolean => onError === 'omit' && error.code !== 'missing_value';
  const finish = finisher(applies);
  const { name, kind, given: source } = kindOf(given);
  const lacking: Lack[] = [];
  const inside = { ...(typeof spec === 'string' ? context : within(context, name)), lacking };
  const isNumber = (given.apply ?? []).some((item) => transformOf(item)[0] === 'number');
  const read = kind.compile(source, isNumber ? { ...inside, isNumber } : inside, {
    value: compileValue,
    finish,
    isLeftOut,
  });
  if (required && read === ABSENT) reportLacks(context, lacking);
  else context.lacking.push(...lacking);
  if (read === ABSENT && fallback === undefined) return ABSENT;
  if (onError === 'reject' && !required && fallback === undefined) return read;
  const settled = (result: Result, row: RowContext): Result => {
    if (!(result instanceof Problem) || required || !isLeftOut(result)) return result;
    row.omit(result);
    return undefined;
  };
  return (row) => {
    const result = settled(read(row), row);
    if (result !== undefined) return result;
    if (required) return missingValue();
    return fallback === undefined || !check ? fallback : settled(check(fallback, row), row);
  };
}

export function missingValue(): Problem {
  return issueOf('missing_value');
}

function finisher(applies: readonly Apply[]): ValueReading['finish'] {
  if (applies.length === 0) return (read) => read;
  return (read, row) => {
    if (read === undefined || read instanceof Problem) return read;
    let value: JsonValue = read;
    for (let index = 0; index < applies.length; index += 1) {
      const result = applies[index]!(value, row);
      if (result instanceof Problem) return withOriginal(result, read);
      if (result === undefined || result === null || result === '') return undefined;
      value = result;
    }
    return Array.isArray(value) && (value as readonly JsonValue[]).every((element) => element === null)
      ? undefined
      : value;
  };
}

function compileTransform(item: TransformSpec, context: ValueContext): Apply {
  const [name, argument] = transformOf(item);
  return TRANSFORM_BY_NAME.get(name)!.compile(argument, {
    defaults: context.compilation.defaults,
    columns: context.frame.source.columns,
    functions: context.compilation.functions,
    at: context.compilation.locate(context.path),
    // The transform handles errors of its argument.
    value: (spec, key) => compileValue(spec, { ...within(context, name, key), onError: 'reject', decides: key }),
  });
}

/** The shape of a value, as far as it is known before any record is read. */
export function shapeOf(spec: ValueSpec): ValueShape {
  if (typeof spec === 'string') return 'unknown';
  const { kind, given } = kindOf(spec);
  return (spec.apply ?? []).reduce(
    (shape: ValueShape, item) => TRANSFORM_BY_NAME.get(transformOf(item)[0])!.shape(shape),
    kind.shape(given, shapeOf),
  );
}

/** A scalar as text, or an error for lists and objects. */
export function asText(value: JsonValue): string | Problem {
  const text = typeof value === 'string' ? value : textOf(value);
  return text ?? notScalar(value);
}

export function notScalar(value: JsonValue, advice?: string): Problem {
  const [what, hint] = Array.isArray(value)
    ? ['a list', 'take one element with `at`, or join all with `join`']
    : ['an object', undefined];
  return withOriginal(issueOf('not_scalar', what, valueText(value)).with({ hint: advice ?? hint }), value);
}
