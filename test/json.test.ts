// Lost without it: numbers of JSON could lose digits.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NumberText, parseExactJson, parseJson, tryParseJson } from '../src/json.ts';

const number = fc.oneof(
  fc.constantFrom('0', '-0', '1', '-17', '5.10', '0.5', '1e5', '1E-7', '12345678901234567', '9007199254740993', '1.0'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.bigInt().map(String),
  fc.tuple(fc.integer(), fc.nat()).map(([whole, fraction]) => `${whole}.${fraction}`),
);
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((value) => JSON.stringify(value)),
  fc.constantFrom('"\\u00e9"', '":1.0,"', '"__proto__"', '"constructor"', '""'),
);
const space = fc.constantFrom('', '', ' ', '\n  ', '\t', '\r');
const json = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    number,
    text,
    fc.constantFrom('null', 'true', 'false'),
    tie('object'),
    tie('list'),
  ),
  object: fc
    .array(fc.tuple(space, text, space, tie('value'), space), { maxLength: 5 })
    .map((members) => `{${members.map(([a, key, b, value, c]) => `${a}${key}${b}:${b}${value}${c}`).join(',')}}`),
  list: fc
    .array(fc.tuple(space, tie('value'), space), { maxLength: 3 })
    .map((elements) => `[${elements.map((parts) => parts.join('')).join(',')}]`),
})).value;

it('parses any JSON as the lossless parser does, without losing digits', () => {
  fc.assert(
    fc.property(json, (source) => {
      const parsed = parseJson(source);
      const exact = parseExactJson(source);
      expect(parsed).toEqual(exact);
      expect(JSON.stringify(parsed)).toBe(JSON.stringify(exact));
    }),
    { numRuns: 3000 },
  );
});

it.each(['5.10', '-0', '1e3', '9007199254740993', '0.0000001'])('keeps the text of %s', (source) => {
  expect(parseJson(source)).toEqual(new NumberText(source));
  expect(parseJson(`{ "n": ${source} }`)).toEqual({ n: new NumberText(source) });
  expect(parseJson(`[1,\n${source}\n]`)).toEqual([1, new NumberText(source)]);
});

it('uses the last value of a repeated key, also with numbers', () => {
  expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 });
  expect(parseJson('{"a":1,"a":5.0}')).toEqual({ a: new NumberText('5.0') });
});

it('treats `__proto__` as a key like any other', () => {
  expect(Object.keys(parseJson('{"__proto__":{"polluted":true},"n":5.0}') as object)).toEqual(['__proto__', 'n']);
});

it.each(['', '{"a":1.0', '{"a":01.0}', '[1.0,]', '{"a":"x\ny","b":1.0}', '1.0 2'])(
  'throws a SyntaxError for %j',
  (source) => {
    expect(() => parseJson(source)).toThrow(SyntaxError);
  },
);

it('of a text that is nested too deeply nothing is read, whatever brackets its texts have', () => {
  const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  expect(tryParseJson(nested(1_000))).toBeInstanceOf(Array);
  for (const levels of [1_002, 2_000_000]) expect(tryParseJson(nested(levels))).toBeUndefined();
  const text = { a: `\\"${'['.repeat(2_000)}\\`, b: [`${'{'.repeat(2_000)}"`] };
  expect(tryParseJson(JSON.stringify(text))).toEqual(text);
});
