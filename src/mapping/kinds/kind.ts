/**
 * A kind of value declares its schema, the values inside it, its words and its function in one entry. The schema of mapping files,
 * the walk over all values, the mapping in words and the compiled mapping are all derived from these entries.
 */
import type { z } from 'zod';
import type { Path } from '../document.ts';
import type { ValueObject, ValueSpec } from '../spec.ts';
import type { ValueShape } from '../transforms/transform.ts';
import type { ValueContext } from '../values/compile-context.ts';
import { ABSENT, type Evaluate, type Result, type RowContext } from '../values/result.ts';
import type { Problem } from '../../problem.ts';

/** Where a value comes from, and what happens to it, in order. */
export interface ValueWords {
  readonly from: string;
  readonly how: readonly string[];
}

interface Speaker {
  readonly words: (spec: ValueSpec) => ValueWords;
  /** A value as part of a sentence. */
  readonly inline: (spec: ValueSpec) => string;
}

/** What a kind needs to become a function. */
export interface ValueReading {
  /** Compiles a value inside it. */
  readonly value: (spec: ValueSpec, context: ValueContext) => Evaluate;
  /** The steps after a value was read: its transforms, and the check of its field. */
  readonly finish: (read: Result, row: RowContext) => Result;
  /** Whether a value that cannot be read is left out of the event. */
  readonly isLeftOut: (error: Problem) => boolean;
}

interface KindDefinition<Spec> {
  /** `value`: the schema of the values inside it. */
  readonly schema: (value: z.ZodType<ValueSpec>) => z.ZodType<Spec>;
  /** The values inside it, each with its path. */
  readonly children?: (spec: Spec) => readonly (readonly [Path, ValueSpec])[];
  /** Facts about it before any record is read. */
  readonly shape?: (spec: Spec, shapeOf: (spec: ValueSpec) => ValueShape) => ValueShape;
  readonly words: (spec: Spec, speaker: Speaker) => ValueWords;
}

export interface ValueKind<Spec> extends Required<KindDefinition<Spec>> {
  /** The value of a record, finished. `context` is that of the key. */
  readonly compile: (spec: Spec, context: ValueContext, reading: ValueReading) => Evaluate;
}

/** A kind whose value is read from the record and then finished. */
export function kind<Spec>(
  definition: KindDefinition<Spec> & {
    readonly read: (spec: Spec, context: ValueContext, value: ValueReading['value']) => Evaluate;
  },
): ValueKind<Spec> {
  const { read, ...rest } = definition;
  return {
    children: () => [],
    shape: () => 'unknown',
    ...rest,
    compile: (spec, context, { value, finish }) => {
      const evaluate = read(spec, context, value);
      return evaluate === ABSENT ? ABSENT : (row) => finish(evaluate(row), row);
    },
  };
}

/** The values of a mapping by their key. */
export type Kinds = {
  readonly [Key in 'from' | 'template' | 'list' | 'value' | 'lookup']: ValueKind<Exclude<ValueObject[Key], undefined>>;
};
