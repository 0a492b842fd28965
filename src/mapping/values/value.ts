/** Compiles the values of a mapping to functions of the record. */
import type { JsonValue } from '../../json.ts';
import type { Problem } from '../../problem.ts';
import { ValueError, withOriginal, type Result, shown, textOf } from './result.ts';
import { reportListCut, reportPassedOver } from './left-behind.ts';
import { compileLookup } from './lookup.ts';
import { compilePath, isPathError } from './path.ts';
import type { Evaluate, RowContext } from './row-context.ts';
import { isAlternatives, type TransformSpec, type ValueObject, type ValueSpec } from '../spec.ts';
import { within, type ValueContext } from './compile-context.ts';
import { parseTemplate } from './template.ts';
import { TRANSFORM_BY_NAME } from '../transforms/index.ts';
import type { Apply, ValueShape } from '../transforms/transform.ts';
import { issueOf } from '../../vocabulary/words.ts';

const ABSENT: Evaluate = () => undefined;

/** Of the values of an event there may be several in a record; of its id, time and condition there is one. */
function saysWhatIsLeft({ kind, path }: ValueContext): boolean {
  return path[2] === 'data' && kind !== 'id';
}

/**
 * A value as read, transformed, then checked. One that fails either is rejected or left out, as `on_error` says; of a `from` list whose
 * unreadable values are left out, the first readable one is taken: an unreadable phone number does not hide a mobile one.
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
  const isLeftOut = (error: ValueError): boolean => onError === 'omit' && error.code !== 'missing_value';
  const finish = finisher(applies);
  const read = isAlternatives(given.from)
    ? compileAlternatives(given.from, within(context, 'from'), finish, isLeftOut)
    : finished(compileSource(spec, context), finish);
  if (onError === 'reject' && !required && fallback === undefined) return read;
  const settled = (result: Result, row: RowContext): Result => {
    if (!(result instanceof ValueError) || required || !isLeftOut(result)) return result;
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

export function missingValue(): ValueError {
  return new ValueError(issueOf('missing_value'));
}

/** What becomes of a value that was read. */
type Finish = (read: Result, row: RowContext) => Result;

function finished(source: Evaluate, finish: Finish): Evaluate {
  return (row) => finish(source(row), row);
}

function finisher(applies: readonly Apply[]): Finish {
  if (applies.length === 0) return (read) => read;
  return (read, row) => {
    if (read === undefined || read instanceof ValueError) return read;
    let value: JsonValue = read;
    for (let index = 0; index < applies.length; index += 1) {
      const result = applies[index]!(value, row);
      if (result instanceof ValueError) return withOriginal(result, read);
      if (result === undefined || result === null || result === '') return undefined;
      value = result;
    }
    return Array.isArray(value) && (value as readonly JsonValue[]).every((element) => element === null)
      ? undefined
      : value;
  };
}

function compileSource(spec: ValueSpec, context: ValueContext): Evaluate {
  if (typeof spec === 'string') return compileColumn(spec, context);
  const { value } = spec;
  if (value !== undefined) return value === '' ? ABSENT : () => value;
  if (spec.template !== undefined) return compileTemplate(spec.template, within(context, 'template'));
  if (spec.list !== undefined) return compileList(spec.list, within(context, 'list'));
  if (spec.lookup !== undefined) return compileLookup(spec.lookup, within(context, 'lookup'), compileValue);
  return compileValue(spec.from as ValueSpec, within(context, 'from'));
}

export function compileColumn(path: string, context: ValueContext): Evaluate {
  const at = context.compilation.locate(context.path);
  const compiled = compilePath(path, context.frame);
  if (isPathError(compiled)) {
    const { code, message, suggestion } = compiled;
    context.problems.push({ code, message, severity: 'error', at, ...(suggestion !== undefined && { suggestion }) });
    return ABSENT;
  }
  context.uses.push({ field: context.field, path, at, compiled, decides: context.decides });
  return compiled.evaluate;
}

/**
 * The first alternative that has a value and, where one that cannot be read is left out, is readable; those before it are left out.
 * One with unknown columns is ignored if another is valid.
 */
function compileAlternatives(
  specs: readonly ValueSpec[],
  context: ValueContext,
  finish: Finish,
  isLeftOut: (error: ValueError) => boolean,
): Evaluate {
  const compiled = specs.map((spec, index) => {
    const problems: Problem[] = [];
    return { spec, evaluate: compileValue(spec, { ...within(context, index), problems }), problems };
  });
  const whole = compiled.filter(({ problems }) => problems.length === 0);
  for (const { problems } of compiled) {
    for (const problem of problems) {
      if (whole.length > 0 && problem.code === 'unknown_column')
        context.compilation.warnings.push({ ...problem, severity: 'warning' });
      else context.problems.push(problem);
    }
  }
  const alternatives = whole.map(({ evaluate }) => evaluate);
  const columns = whole.map(({ evaluate, spec }) => (typeof spec === 'string' ? { path: spec, evaluate } : undefined));
  const isSaid = saysWhatIsLeft(context);
  return (row) => {
    let unreadable: ValueError | undefined;
    for (let index = 0; index < alternatives.length; index += 1) {
      const read = alternatives[index]!(row);
      if (read === undefined) continue;
      const result = finish(read, row);
      if (result instanceof ValueError && isLeftOut(result)) {
        if (unreadable) row.omit(result);
        else unreadable = result;
        continue;
      }
      if (unreadable) row.omit(unreadable);
      const taken = columns[index];
      if (isSaid && taken && !(read instanceof ValueError)) {
        const behind = columns.slice(index + 1).flatMap((column) => column ?? []);
        if (behind.length > 0) reportPassedOver({ path: taken.path, value: read }, behind, context, row);
      }
      return result;
    }
    return unreadable;
  };
}

/** All members that have a value; lists are flattened. */
function compileList(specs: readonly ValueSpec[], context: ValueContext): Evaluate {
  const members = specs.map((spec, index) => compileValue(spec, within(context, index)));
  return (row) => {
    const list: JsonValue[] = [];
    for (const member of members) {
      const result = member(row);
      if (result instanceof ValueError) return result;
      if (Array.isArray(result)) list.push(...(result as readonly JsonValue[]).filter((element) => element !== null));
      else if (result !== undefined) list.push(result);
    }
    return list.length === 0 ? undefined : list;
  };
}

/** A record's own id needs all parts, a parent's id all or none: a partial id could match another record. */
function compileTemplate(template: string, context: ValueContext): Evaluate {
  const { kind } = context;
  const pieces = parseTemplate(template);
  const isComposite = (kind === 'id' || kind === 'parent') && pieces.filter((piece) => 'path' in piece).length > 1;
  const inside = isComposite ? { ...context, decides: 'composite id' } : context;
  const parts = pieces.map((piece) =>
    'literal' in piece ? piece.literal : { path: piece.path, evaluate: compileColumn(piece.path, inside) },
  );
  return (row) => {
    let text = '';
    let found = 0;
    let missing: string | undefined;
    for (const part of parts) {
      if (typeof part === 'string') {
        text += part;
        continue;
      }
      const result = part.evaluate(row);
      const piece = partText(result);
      if (piece instanceof ValueError) return piece;
      if (piece === undefined) missing = part.path;
      else {
        text += piece;
        found += 1;
      }
    }
    if (missing !== undefined && (kind === 'id' || (kind === 'parent' && found > 0))) {
      return withOriginal(new ValueError(issueOf('missing_part', missing)), text);
    }
    return found === 0 ? undefined : text;
  };
}

function partText(result: Result): string | undefined | ValueError {
  if (result === undefined || result instanceof ValueError) return result;
  const text = textOf(result);
  if (text !== undefined) return text;
  return withOriginal(new ValueError(issueOf('list_value', shown(result))), result);
}

function compileTransform(item: TransformSpec, context: ValueContext): Apply {
  const [name, argument] = typeof item === 'string' ? [item, undefined] : Object.entries(item)[0]!;
  return TRANSFORM_BY_NAME.get(name)!.compile(argument, {
    defaults: context.compilation.defaults,
    columns: context.frame.source.columns,
    functions: context.compilation.functions,
    at: context.compilation.locate(context.path),
    // The transform handles errors of its argument.
    value: (spec, key) => compileValue(spec, { ...within(context, name, key), onError: 'reject', decides: key }),
  });
}

/** What is known of a value's shape before any record is read. */
export function shapeOf(spec: ValueSpec): ValueShape {
  if (typeof spec === 'string') return 'unknown';
  const start: ValueShape = spec.list
    ? 'list'
    : spec.template !== undefined || spec.value !== undefined
      ? 'scalar'
      : fromShape(spec);
  return (spec.apply ?? []).reduce((shape: ValueShape, item) => {
    const name = typeof item === 'string' ? item : Object.keys(item)[0]!;
    return TRANSFORM_BY_NAME.get(name)!.shape(shape);
  }, start);
}

function fromShape({ from }: ValueObject): ValueShape {
  if (from === undefined) return 'unknown';
  const shapes = new Set(isAlternatives(from) ? from.map(shapeOf) : [shapeOf(from)]);
  return shapes.size === 1 ? [...shapes][0]! : 'unknown';
}

/** A scalar as text, or an error for lists and objects. */
export function asText(value: JsonValue): string | ValueError {
  const text = typeof value === 'string' ? value : textOf(value);
  return text ?? notScalar(value);
}

export function notScalar(value: JsonValue, advice?: string): ValueError {
  const [what, hint] = Array.isArray(value)
    ? ['a list', 'take one element with `at`, or join all with `join`']
    : ['an object', undefined];
  return withOriginal(new ValueError(issueOf('not_scalar', what, shown(value)), advice ?? hint), value);
}
