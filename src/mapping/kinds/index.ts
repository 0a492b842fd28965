import { z } from 'zod';
import type { JsonScalar, JsonValue } from '../../json.ts';
import { Problem } from '../../problem.ts';
import { enumerated } from '../../report/words/numbers.ts';
import * as part from '../schema-parts.ts';
import type { ValueObject, ValueSpec } from '../spec.ts';
import { within } from '../values/compile-context.ts';
import { ABSENT, valueText } from '../values/result.ts';
import { from } from './from.ts';
import { kind, type Kinds, type ValueKind } from './kind.ts';
import { lookup } from './lookup.ts';
import { template } from './template.ts';

/** `value: EUR` */
const constant = kind<JsonScalar>({
  schema: () => part.constant,
  shape: () => 'scalar',
  words: (value) => ({ from: `always ${valueText(value)}`, how: [] }),
  read: (value) => (value === '' ? () => undefined : () => value),
});

/** `list: [First Name, Last Name]`: all members that have a value; lists are flattened. */
const list = kind<readonly ValueSpec[]>({
  schema: (value) => z.array(value).min(1),
  children: (specs) => specs.map((spec, index) => [[index], spec]),
  shape: () => 'list',
  words: (specs, { inline }) => ({ from: enumerated(specs.map(inline), 'and'), how: [] }),
  read: (specs, context, value) => {
    const members = specs
      .map((spec, index) => value(spec, within(context, index)))
      .filter((member) => member !== ABSENT);
    if (members.length === 0) return ABSENT;
    return (row) => {
      const found: JsonValue[] = [];
      for (const member of members) {
        const result = member(row);
        if (result instanceof Problem) return result;
        // One by one: a list may be longer than a call can have arguments.
        const values = Array.isArray(result) ? (result as readonly JsonValue[]) : [result];
        for (const each of values) if (each !== undefined && each !== null) found.push(each);
      }
      return found.length === 0 ? undefined : found;
    };
  },
});

/** In the order in which they are named. */
export const KINDS: Kinds = { from, template, list, value: constant, lookup };

type KindName = keyof Kinds;

export const KIND_NAMES = Object.keys(KINDS) as readonly KindName[];

/** The kind of a valid value, and what it has under its key. */
export function kindOf(spec: ValueObject): {
  readonly name: KindName;
  readonly kind: ValueKind<unknown>;
  readonly given: unknown;
} {
  const name = KIND_NAMES.find((each) => spec[each] !== undefined)!;
  return { name, kind: KINDS[name] as ValueKind<unknown>, given: spec[name] };
}
