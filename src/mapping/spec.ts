/** The types of entries in a valid mapping file: texts are strings, constants are JSON scalars. */
import type { JsonScalar } from '../json.ts';
import type { EventType } from '../model.ts';
import type { DefaultPolicies, PoliciesGiven } from './policies.ts';

export type OnError = 'reject' | 'omit';

/** A column or path, or an object with exactly one of `from`, `template`, `list`, `value`, `lookup`. */
export type ValueSpec = string | ValueObject;

export interface ValueObject {
  readonly from?: ValueSpec | readonly ValueSpec[] | undefined;
  readonly template?: string | undefined;
  readonly list?: readonly ValueSpec[] | undefined;
  readonly value?: JsonScalar | undefined;
  readonly lookup?: LookupSpec | undefined;
  readonly apply?: readonly TransformSpec[] | undefined;
  readonly default?: JsonScalar | undefined;
  readonly required?: boolean | undefined;
  readonly on_error?: OnError | undefined;
  /** Only in custom fields: a list or object arrives as it is. */
  readonly as?: 'json' | undefined;
}

/** Whether `from` is a list, whose first element that has a value is used. */
export function isAlternatives(from: ValueObject['from']): from is readonly ValueSpec[] {
  return Array.isArray(from);
}

/** A transform's name, or an object with its name as the only key. */
export type TransformSpec = string | Readonly<Record<string, unknown>>;

/** A transform by its name, with its argument. */
export function transformOf(item: TransformSpec): readonly [name: string, argument: unknown] {
  return typeof item === 'string' ? [item, undefined] : Object.entries(item)[0]!;
}

export interface LookupSpec {
  readonly source: string;
  readonly match: ValueSpec;
  readonly with: ValueSpec;
  readonly take: ValueSpec;
  readonly if_missing?: 'reject' | 'skip' | undefined;
  readonly if_many?: 'reject' | 'first' | 'skip' | undefined;
}

/** `all`, `any` or `not`, or a value with one test. */
export interface ConditionSpec extends ValueObject {
  readonly all?: readonly ConditionSpec[] | undefined;
  readonly any?: readonly ConditionSpec[] | undefined;
  readonly not?: ConditionSpec | undefined;
  readonly in?: readonly string[] | undefined;
  readonly not_in?: readonly string[] | undefined;
  readonly equals?: string | undefined;
  readonly matches?: string | undefined;
  readonly present?: boolean | undefined;
}

/** The texts that its test names, if it names any. */
export function testedTexts({ in: some, not_in: none, equals }: ConditionSpec): readonly string[] | undefined {
  return some ?? none ?? (equals === undefined ? undefined : [equals]);
}

export interface CombineSpec {
  readonly heading?: string | undefined;
  readonly separator?: string | undefined;
  readonly max?: number | undefined;
}

export interface EntrySpec extends PoliciesGiven {
  readonly type: EventType;
  readonly source: string;
  readonly when?: ConditionSpec | undefined;
  readonly each?: ValueSpec | undefined;
  readonly occurred_at?: ValueSpec | undefined;
  readonly stage_pipeline?: ValueSpec | undefined;
  /** A number is a constant. */
  readonly priority?: ValueSpec | number | undefined;
  /** For comments: sends all comments of one parent as one. */
  readonly combine?: CombineSpec | undefined;
  /** Values by field; custom fields are one level deeper. */
  readonly data: Readonly<Record<string, ValueSpec | Readonly<Record<string, ValueSpec>> | undefined>>;
}

export interface Defaults extends DefaultPolicies {
  readonly region?: string | undefined;
  readonly timezone?: string | undefined;
  readonly locale?: string | undefined;
  readonly missing_values?: readonly string[] | undefined;
}
