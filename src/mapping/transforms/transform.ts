/**
 * A transform declares its argument, its function and its documentation in one entry. The schema of mapping files, their
 * validation and the reference are all derived from these entries.
 */
import type { z } from 'zod';
import { textOf, valueText, type Evaluate, type Result, type RowContext } from '../values/result.ts';
import { NumberText, textWith, type JsonValue } from '../../json.ts';
import { type Location, Problem } from '../../problem.ts';
import type { FunctionModule } from '../functions.ts';
import type { Defaults, ValueSpec } from '../spec.ts';
import { inSentence } from '../../report/words/sentence.ts';
import { issueOf } from '../../report/words/words.ts';

/** Never called with undefined: transforms are not applied to absent values. */
export type Apply = (input: JsonValue, row: RowContext) => Result;

/** Facts about a value before any record is read. */
export type ValueShape = 'scalar' | 'list' | 'unknown';

export interface TransformContext {
  readonly defaults: Defaults;
  /** Columns of the source; empty for trees. */
  readonly columns: readonly string[];
  /** What `functions` of the mapping names. */
  readonly functions: FunctionModule | undefined;
  readonly at: Location;
  /** Compiles a value within the argument, at `key`. */
  readonly value: (spec: ValueSpec, key: string) => Evaluate;
}

export interface TransformExample {
  readonly apply: string;
  readonly from: JsonValue;
  readonly to: JsonValue | undefined;
}

interface Definition<A> {
  readonly name: string;
  readonly doc: string;
  /**
   * What it does with this argument, for people: "adds `note-` at the beginning". If absent, the beginning of `doc`, up to
   * a full stop or colon.
   */
  readonly words?: (argument: A, defaults: Defaults) => string;
  readonly usage: readonly string[];
  readonly examples: readonly TransformExample[];
  /** Absent where the transform takes no argument. `value` is the schema of values within the argument. */
  readonly argument?: (value: z.ZodType<ValueSpec>) => z.ZodType<A>;
  readonly bare?: boolean;
  /** Loads a library, only when a mapping uses the transform. */
  readonly load?: () => Promise<unknown>;
  /**
   * Problems that the schema of the argument cannot find, such as those that depend on the defaults or the functions; `field`: the key of
   * the argument.
   */
  readonly check?: (
    argument: A | undefined,
    defaults: Defaults,
    functions: FunctionModule | undefined,
  ) => readonly Problem[];
  readonly shape?: (input: ValueShape) => ValueShape;
  readonly compile: (argument: A | undefined, context: TransformContext) => Apply;
}

export interface Transform extends Omit<Definition<unknown>, 'shape' | 'words'> {
  readonly words: (argument: unknown, defaults: Defaults) => string;
  readonly shape: (input: ValueShape) => ValueShape;
}

/** Declares a transform; the type of its argument is known only within the declaration. */
export function transform<A>(definition: Definition<A>): Transform {
  const { check, compile, shape, words, ...rest } = definition;
  const [what = ''] = rest.doc.split(/[.:](?: |$)/);
  return {
    ...rest,
    ...(check && { check: (argument: unknown, ...rest) => check(argument as A | undefined, ...rest) }),
    words: (argument, defaults) => words?.(argument as A, defaults) ?? inSentence(what),
    shape: shape ?? ((input) => input),
    compile: (argument: unknown, context) => compile(argument as A | undefined, context),
  };
}

/** Applies to a text or to each element of a list. Objects are an error; an empty result is no value. */
export function onText(change: (text: string, row: RowContext) => Result): Apply {
  const one = (input: JsonValue, row: RowContext): Result => {
    const text = typeof input === 'string' ? input : textOf(input);
    if (text === undefined) return issueOf('not_text', valueText(input));
    const result = change(text, row);
    if (result === '') return undefined;
    if (typeof input !== 'number' && !(input instanceof NumberText)) return result;
    const kept = (piece: Result): Result =>
      piece === text ? input : typeof piece === 'string' ? textWith(piece, [input]) : piece;
    return Array.isArray(result) ? (result as JsonValue[]).map((piece) => kept(piece) as JsonValue) : kept(result);
  };
  return onEach(one);
}

/** Applies to a scalar or to each element of a list; elements without a value stay null. */
export function onEach(one: Apply): Apply {
  return (input, row) => {
    if (!Array.isArray(input)) return one(input, row);
    const list: JsonValue[] = [];
    for (const element of input as readonly JsonValue[]) {
      const result =
        element === null ? undefined : Array.isArray(element) ? onEach(one)(element, row) : one(element, row);
      if (result instanceof Problem) return result;
      list.push(result ?? null);
    }
    return list;
  };
}
