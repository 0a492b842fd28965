/** The mapping in words, for people who do not read mapping files. Names of columns and constants are in backticks. */
import { kindOfType, SENT_AS } from '../kinds/index.ts';
import type { EventType } from '../model.ts';
import { combineOf } from './values/combine.ts';
import { kindOf } from './kinds/index.ts';
import type { ValueWords } from './kinds/kind.ts';
import { REST_KEY } from './values/rest.ts';
import {
  type CombineSpec,
  isAlternatives,
  testedTexts,
  transformOf,
  type ConditionSpec,
  type Defaults,
  type EntrySpec,
  type TransformSpec,
  type ValueSpec,
} from './spec.ts';
import { TRANSFORM_BY_NAME } from './transforms/index.ts';
import { valueText } from './values/result.ts';
import { enumerated } from '../report/words/numbers.ts';

export interface EntryWords {
  readonly type: EventType;
  readonly source: string;
  /** The list of which each element becomes an event; undefined if a record does. */
  readonly each: string | undefined;
  /** The condition of its records; undefined if it takes all. */
  readonly when: string | undefined;
  readonly fields: readonly FieldWords[];
}

interface FieldWords extends ValueWords {
  /** `email`, `custom_params.origin`, `custom_params.*` for all other columns, or a key of the entry: `occurred_at`. */
  readonly field: string;
}

/** Names that the survey resolves, through `references` in the mapping where they have them. */
const BY_NAME: ReadonlySet<string> = new Set([...Object.keys(SENT_AS), 'stage_pipeline']);

export function entryWords(entry: EntrySpec, defaults: Defaults): EntryWords {
  const row = (field: string, spec: ValueSpec | undefined): FieldWords[] => {
    if (spec === undefined) return [];
    const { from, how } = valueWords(spec, defaults);
    return [{ field, from, how: BY_NAME.has(field) ? [...how, 'is looked up by name in the account'] : how }];
  };
  const data = kindOfType(entry.type).fields.flatMap(({ name, type }) => {
    const spec = entry.data[name];
    if (type !== 'custom') return row(name, spec);
    const { [REST_KEY]: rest, ...named } = (spec ?? {}) as Readonly<Record<string, ValueSpec>>;
    const others = { field: `${name}.${REST_KEY}`, from: 'all other columns', how: ['each under its own name'] };
    return [
      ...Object.entries(named).flatMap(([key, value]) => row(`${name}.${key}`, value)),
      ...(rest === undefined ? [] : [others]),
    ];
  });
  const { type, source, each, when, stage_pipeline: pipeline, occurred_at: time, priority, combine } = entry;
  return {
    type,
    source,
    each: each === undefined ? undefined : inline(each, defaults),
    when: when && conditionWords(when, defaults),
    fields: [
      ...data,
      ...row('stage_pipeline', pipeline),
      ...row('occurred_at', time),
      ...(combine ? [combineWords(combine)] : []),
      ...row('priority', typeof priority === 'number' ? { value: priority } : priority),
    ],
  };
}

function combineWords(spec: CombineSpec): FieldWords {
  const { heading, max } = combineOf(spec);
  return {
    field: 'combine',
    from: valueText(heading),
    how: [`is placed above each comment; up to ${max} comments of one parent are sent as one`],
  };
}

function valueWords(spec: ValueSpec, defaults: Defaults): ValueWords {
  if (typeof spec === 'string') return { from: valueText(spec), how: [] };
  const { kind, given } = kindOf(spec);
  const { from, how } = kind.words(given, {
    words: (inside) => valueWords(inside, defaults),
    inline: (inside) => inline(inside, defaults),
  });
  const { apply = [], default: fallback, required, on_error: onError } = spec;
  return {
    from,
    how: [
      ...how,
      ...apply.map((item) => transformWords(item, defaults)),
      ...(fallback === undefined ? [] : [`${valueText(fallback)} where there is no value`]),
      ...(required ? ['must have a value'] : []),
      ...(onError ? [`a value that cannot be read is ${onError === 'omit' ? 'left out' : 'an error'}`] : []),
    ],
  };
}

/** A value as part of a sentence. */
function inline(spec: ValueSpec, defaults: Defaults): string {
  if (typeof spec === 'object' && spec.value !== undefined) return valueText(spec.value);
  const { from, how } = valueWords(spec, defaults);
  return how.length === 0 ? from : `${from} (${how.join('; ')})`;
}

function transformWords(item: TransformSpec, defaults: Defaults): string {
  const [name, argument] = transformOf(item);
  return TRANSFORM_BY_NAME.get(name)!.words(argument, defaults);
}

function conditionWords(spec: ConditionSpec, defaults: Defaults, isPart = false): string {
  const { all, any, not } = spec;
  if (not) return `not (${conditionWords(not, defaults)})`;
  const parts = all ?? any;
  if (parts) {
    const text = parts.map((part) => conditionWords(part, defaults, true)).join(all ? ' and ' : ' or ');
    return isPart && parts.length > 1 ? `(${text})` : text;
  }
  return testWords(spec, defaults, true);
}

/** What is so where a condition does not hold: `kind is not lead`. No value of a record is in it. */
export function unmetWords(spec: ConditionSpec, defaults: Defaults): string {
  if (spec.not) return conditionWords(spec.not, defaults);
  if (spec.all) return `not (${conditionWords(spec, defaults)})`;
  if (spec.any) return spec.any.map((part) => unmetWords(part, defaults)).join(' and ');
  return testWords(spec, defaults, false);
}

/** Of a condition that does not hold, more values than these are only counted. */
const MOST_VALUES = 3;

function testWords(spec: ConditionSpec, defaults: Defaults, holds: boolean): string {
  const value = inline(spec, defaults);
  const subject = isAlternatives(spec.from) ? `(${value})` : value;
  const { not_in: none, matches, present } = spec;
  const values = testedTexts(spec);
  if (values) {
    const more = holds ? 0 : values.length - MOST_VALUES;
    const shown = values.slice(0, more > 0 ? MOST_VALUES : undefined).map(valueText);
    const is = (none === undefined) === holds ? 'is' : 'is not';
    return `${subject} ${is} ${enumerated(more > 0 ? [...shown, `${more} more`] : shown, 'or')}`;
  }
  if (matches !== undefined)
    return `${subject} ${holds ? 'matches' : 'does not match'} the pattern ${valueText(matches)}`;
  return `${subject} has ${present === holds ? 'a' : 'no'} value`;
}
