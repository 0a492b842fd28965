import { call } from './call.ts';
import { date } from './date.ts';
import { htmlToText } from './html.ts';
import { at, join, split } from './list.ts';
import { boolean, map } from './map.ts';
import { number } from './number.ts';
import { phone } from './phone.ts';
import { collapseWhitespace, extract, lowercase, prefix, replace, suffix, truncate, uppercase } from './text.ts';
import type { Transform } from './transform.ts';

/** In the order of the reference. To add a transform, add its file and one line here. */
export const TRANSFORMS: readonly Transform[] = [
  lowercase,
  uppercase,
  collapseWhitespace,
  htmlToText,
  phone,
  number,
  date,
  boolean,
  map,
  split,
  at,
  join,
  replace,
  extract,
  prefix,
  suffix,
  truncate,
  call,
];

export const TRANSFORM_BY_NAME: ReadonlyMap<string, Transform> = new Map(
  TRANSFORMS.map((entry) => [entry.name, entry]),
);
