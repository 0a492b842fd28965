import type { JsonScalar } from '../../json.ts';
import * as part from '../schema-parts.ts';
import type { ValueObject } from '../spec.ts';
import { valueText } from '../values/result.ts';
import { from } from './from.ts';
import { kind, type Kinds, type ValueKind } from './kind.ts';
import { list } from './list.ts';
import { lookup } from './lookup.ts';
import { template } from './template.ts';

/** `value: EUR` */
const constant = kind<JsonScalar>({
  schema: () => part.constant,
  shape: () => 'scalar',
  words: (value) => ({ from: `always ${valueText(value)}`, how: [] }),
  read: (value) => (value === '' ? () => undefined : () => value),
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
