/** The parts of values that name other records: a fixed list. */
import type { TransformSpec } from '../../mapping/spec.ts';
import type { FactName } from './roles.ts';

/** The part of a value that names a record. */
export interface Extractor {
  /** What values look like that have such a part. */
  readonly like: RegExp;
  take(value: string): readonly string[];
  /** The transforms that take it. */
  readonly apply: readonly TransformSpec[];
  /** How both sides are compared, and the transforms of the other side. */
  readonly fold?: Folding;
  readonly key?: readonly TransformSpec[];
}

export type Folding = 'lower' | 'digits' | 'plain';
export const FOLDINGS: Readonly<Record<Folding, readonly [fact: FactName, by: (value: string) => string]>> = {
  lower: ['email', (value) => value.toLowerCase()],
  /** The last digits of a phone number, which are the same however it is written. */
  digits: ['phone', (value) => value.replace(/\D/g, '').slice(-9)],
  /** A spreadsheet has made numbers of the ids in one of the files. */
  plain: ['whole', (value) => value.replace(/^0+(?=\d)/, '')],
};
const DIGITS: readonly TransformSpec[] = [{ replace: { pattern: '\\D', with: '' } }, { extract: '.{1,9}$' }];

const inside = (like: RegExp): Extractor => ({
  like,
  take: (value) => [like.exec(value)?.[1] ?? ''],
  apply: [{ extract: like.source }],
});
const firstOf = (separator: string): Extractor => ({
  like: new RegExp(separator.trim().replace('|', '\\|')),
  take: (value) => value.split(separator).map((part) => part.trim()),
  apply: [{ split: separator }, { at: 0 }],
});

const WHOLE: Extractor = { like: /./, take: (value) => [value], apply: [] };
export const EXTRACTORS: readonly Extractor[] = [
  WHOLE,
  { like: /@.*\./, take: (value) => [value.toLowerCase()], apply: ['lowercase'], fold: 'lower', key: ['lowercase'] },
  {
    like: /^\+?[\d\s().\-/]{8,22}$/,
    take: (value) => [FOLDINGS.digits[1](value)],
    apply: DIGITS,
    fold: 'digits',
    key: DIGITS,
  },
  {
    like: /^\d+$/,
    take: (value) => [FOLDINGS.plain[1](value)],
    apply: [{ replace: { pattern: '^0+(\\d)', with: '$1' } }],
    fold: 'plain',
    key: [{ replace: { pattern: '^0+(\\d)', with: '$1' } }],
  },
  ...[/^@(.+)$/, /^(.+?) \(/, /\(([^()]+)\)\s*$/, /<([^<>]+)>/, /^(?:https?:\/)?\/.*\/([^/]+)\/?$/].map(inside),
  ...[' ::: ', ';', '|', ','].map(firstOf),
];
