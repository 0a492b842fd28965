/**
 * What a transform is. One entry declares everything about it: the schema of its argument, what it does, and the lines
 * of the reference. The mapping's schema, its validation and the README's table are made from the entries.
 */
import type { z } from 'zod';
import { ValueError, type Result } from '../value-error.ts';
import { textOf, shown } from '../value-text.ts';
import type { JsonValue } from '../../json.ts';
import type { Problem } from '../../problem.ts';
import type { RowContext, Evaluate } from '../row-context.ts';
import type { Defaults, ValueSpec } from '../spec.ts';

/** Never called with undefined: an absent value passes by all transforms. */
export type Apply = (input: JsonValue, row: RowContext) => Result;

/** What a value is known to be before any record is read. */
export type ValueShape = 'scalar' | 'list' | 'unknown';

export interface TransformContext {
  readonly defaults: Defaults;
  /** Columns of the source; empty for trees. */
  readonly columns: readonly string[];
  /** Compiles a value that stands in the argument; `key` is its place there. */
  readonly value: (spec: ValueSpec, key: string) => Evaluate;
}

export type ArgumentProblem = Pick<Problem, 'code' | 'message' | 'suggestion'> & {
  readonly path?: readonly (string | number)[];
};

export interface TransformExample {
  readonly apply: string;
  readonly from: JsonValue;
  readonly to: JsonValue | undefined;
}

interface Definition<A> {
  readonly name: string;
  /** One line for people: what it does. */
  readonly doc: string;
  /** How it is written. */
  readonly usage: readonly string[];
  readonly examples: readonly TransformExample[];
  /** Absent where the transform takes no argument. `value` is the schema of values, which an argument may hold. */
  readonly argument?: (value: z.ZodType<ValueSpec>) => z.ZodType<A>;
  /** Whether its name alone is enough although it could take an argument. */
  readonly bare?: boolean;
  /** Loads what the other functions need, once, and only when a mapping uses the transform. */
  readonly load?: () => Promise<unknown>;
  /** Mistakes that the argument's schema cannot see, with the mapping's defaults at hand. */
  readonly check?: (argument: A | undefined, defaults: Defaults) => readonly ArgumentProblem[];
  readonly shape?: (input: ValueShape) => ValueShape;
  readonly compile: (argument: A | undefined, context: TransformContext) => Apply;
}

export interface Transform extends Omit<Definition<unknown>, 'shape'> {
  readonly shape: (input: ValueShape) => ValueShape;
}

/** Declares a transform; the type of its argument is known inside the entry only. */
export function transform<A>(definition: Definition<A>): Transform {
  const { check, compile, shape, ...rest } = definition;
  return {
    ...rest,
    ...(check && { check: (argument: unknown, defaults: Defaults) => check(argument as A | undefined, defaults) }),
    shape: shape ?? ((input) => input),
    compile: (argument: unknown, context) => compile(argument as A | undefined, context),
  };
}

/** Runs on a text, and on each element of a list; what is neither is an error, no text is no value. */
export function onText(change: (text: string, row: RowContext) => Result): Apply {
  const one = (input: JsonValue, row: RowContext): Result => {
    const text = typeof input === 'string' ? input : textOf(input);
    if (text === undefined)
      return new ValueError('not_text', `an object (${shown(input)}) where text is needed`, 'name a path inside it');
    const result = change(text, row);
    return result === '' ? undefined : result;
  };
  return onEach(one);
}

/** Runs on a scalar, and on each element of a list; elements without a value stay as null. */
export function onEach(one: Apply): Apply {
  return (input, row) => {
    if (!Array.isArray(input)) return one(input, row);
    const list: JsonValue[] = [];
    for (const element of input as readonly JsonValue[]) {
      const result =
        element === null ? undefined : Array.isArray(element) ? onEach(one)(element, row) : one(element, row);
      if (result instanceof ValueError) return result;
      list.push(result ?? null);
    }
    return list;
  };
}
