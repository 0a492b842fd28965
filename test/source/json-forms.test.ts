import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordForms } from '../../src/source/json-forms.ts';
import { parseRecord, RecordReader } from '../../src/source/json-record.ts';
import { shapeOf } from '../../src/source/json-shape.ts';

/** Reads the records one after the other, and each by itself. */
function expectSame(texts: readonly string[]): void {
  const reader = new RecordReader();
  for (const text of texts) {
    const parsed = reader.read(text, shapeOf);
    const alone = parseRecord(text, shapeOf(text));
    expect(parsed).toEqual(alone);
    if ('value' in parsed) expect(Object.keys(parsed.value)).toEqual(Object.keys((alone as typeof parsed).value));
  }
}

/** Whether each record is read by its form, where the others are learned if they are sound. */
function known(texts: readonly string[]): boolean[] {
  const forms = new RecordForms();
  return texts.map((text) => {
    const isKnown = forms.read(text) !== undefined;
    if (!isKnown && 'value' in parseRecord(text, shapeOf(text))) forms.learn(text);
    return isKnown;
  });
}

const scalar = fc.oneof(
  fc.constantFrom(
    '""',
    '"Ada"',
    '"a b, c: {[}]"',
    '"é 漢字 🙂"',
    '"\\"\\\\"',
    '"\\u00e9\\n"',
    '"\\ud83d"',
    '"[]"',
    '"null"',
  ),
  fc.constantFrom('0', '-0', '1', '-17', '5.10', '0.5', '1e5', '1E-7', '12345678901234567', '9007199254740993', '1.0'),
  fc.constantFrom('null', 'true', 'false'),
);
const key = fc.constantFrom(
  '"id"',
  '"name"',
  '"1"',
  '""',
  '"a.b"',
  '"\\u0061"',
  '"constructor"',
  '"__proto__"',
  '"x y"',
);
const space = fc.constantFrom('', '', '', ' ', '\n  ', '\t', '\r');
/** A text with `?` where its scalars belong. */
const skeleton = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3, withCrossShrink: true }, fc.constant('?'), tie('object'), tie('list')),
  object: fc
    .tuple(space, fc.array(fc.tuple(key, space, tie('value'), space), { maxLength: 5 }))
    .map(
      ([gap, members]) => `{${gap}${members.map(([name, a, value, b]) => `${name}${a}:${a}${value}${b}`).join(',')}}`,
    ),
  list: fc
    .tuple(space, fc.array(fc.tuple(tie('value'), space), { maxLength: 3 }))
    .map(([gap, elements]) => `[${gap}${elements.map(([value, after]) => value + after).join(',')}]`),
})).object;

/** Records of a few forms, each several times with other values. */
const records = fc
  .tuple(fc.array(skeleton, { minLength: 1, maxLength: 3 }), fc.array(fc.tuple(fc.nat(2), fc.infiniteStream(scalar))))
  .map(([forms, fillings]) =>
    fillings.map(([nth, scalars]) => forms[nth % forms.length]!.replace(/\?/g, () => scalars.next().value as string)),
  );

describe('records read by the form of those before them', () => {
  it('are what they are by themselves', () => {
    fc.assert(fc.property(records, expectSame), { numRuns: 3000 });
  });

  it('are refused as they are by themselves where they are damaged', () => {
    const damage = fc.tuple(
      fc.nat(200),
      fc.constantFrom('', '"', '\\', ',', '}', ']', '{', '0', '.', 'e', '\u0001', ' ', 'x'),
    );
    fc.assert(
      fc.property(records, fc.array(damage), (texts, damages) => {
        const damaged = texts.map((text, index) => {
          const [at = 0, by = ''] = damages[index] ?? [];
          const place = at % (text.length + 1);
          return damages[index] ? text.slice(0, place) + by + text.slice(place + 1) : text;
        });
        expectSame([...texts, ...damaged]);
      }),
      { numRuns: 3000 },
    );
  });

  it('are known once one of their form was read, whatever their values', () => {
    const flat = (id: string, name: string): string => `{"id":${id},"name":${name},"tags":[]}`;
    const values = ['"Ada"', 'null', '"[{,"', '""', '"one\\ntwo \\u00e9 \\"three\\" \\\\"'];
    expect(known(values.map((name, nth) => flat(['1', '"x"', '-3.50', 'true', '2'][nth]!, name)))).toEqual([
      ...[false, true, true, true, true],
    ]);
    const deep = (city: string): string => `{ "id": 1,\n "address": { "city": ${city}, "geo": [1, 2] }, "all": [{}] }`;
    expect(known([deep('"Roma"'), deep('"Milano"'), flat('1', '2'), deep('null'), flat('1', '2')])).toEqual([
      ...[false, true, false, true, true],
    ]);
  });

  it('are not known with exponents, broken values or other keys, nor where a key is repeated', () => {
    const others = [
      '"\\x","b":1',
      '"\\","b":1',
      '"x","b":1e3',
      '"x","b":1.',
      '"x","b":01',
      '"x","b":',
      '"x","c":1',
      '"x","b":1,"c":1',
      '"x"',
    ];
    for (const other of others) expect(known(['{"a":"x","b":1}', `{"a":${other}}`])).toEqual([false, false]);
    expect(known(['{"a":1,"a":1}', '{"a":1,"a":2}'])).toEqual([false, false]);
    expect(known(['{"__proto__":1}', '{"__proto__":2}'])).toEqual([false, false]);
  });

  it('are known by few forms: those of which a value has to be read by the library are no new ones', () => {
    const exponents = Array.from({ length: 20 }, () => '{"a":1e3}');
    expect(known(['{"b":1}', '{"a":1}', ...exponents, '{"b":2}', '{"a":2}']).slice(-2)).toEqual([true, true]);
  });

  it('are no longer looked for where hardly one is like another', () => {
    const unlike = Array.from({ length: 60 }, (_, nth) => `{"k${nth}":1}`);
    const alike = Array.from({ length: 5 }, () => '{"id":1}');
    expect(known([...unlike.slice(0, 40), ...alike]).slice(-4)).toEqual([true, true, true, true]);
    expect(known([...unlike, ...alike]).slice(-4)).toEqual([false, false, false, false]);
  });
});
