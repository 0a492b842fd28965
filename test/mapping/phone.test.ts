import examples from 'libphonenumber-js/mobile/examples';
import { getCountries, getExampleNumber, type CountryCode } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { e164Of } from '../../src/mapping/transforms/phone.ts';

/** Their example numbers begin like a national number of the same length: both readings are valid. */
const AMBIGUOUS: readonly CountryCode[] = ['DE', 'ID', 'XK'];

describe.each(getCountries())('the example number of %s', (region) => {
  const example = getExampleNumber(region, examples)!;

  test('is read as written at home and abroad', () => {
    for (const text of [example.number, example.formatInternational()]) {
      expect(e164Of(text, region), text).toBe(example.number);
      expect(e164Of(text, undefined), text).toBe(example.number);
    }
    for (const text of [example.nationalNumber, example.formatNational()]) {
      expect(e164Of(text, region), text).toBe(example.number);
    }
    expect(e164Of(`00${example.number.slice(1)}`, undefined)).toBe(example.number);
  });

  test('is read with its country code but without +, and is never given that code twice', () => {
    const expected = AMBIGUOUS.includes(region) ? undefined : example.number;
    for (const text of [example.number.slice(1), example.formatInternational().slice(1)]) {
      expect(e164Of(text, region), text).toBe(expected);
    }
  });
});

test.each<[string, CountryCode, string | undefined]>([
  ['4915112345678', 'DE', undefined],
  ['49 (0) 345 279580', 'DE', undefined],
  ['+49 (0) 345 279580', 'DE', '+49345279580'],
  ['4930901820', 'DE', '+4930901820'],
  ['0491 12345', 'DE', '+4949112345'],
  ['62812345678', 'ID', undefined],
  ['38343201234', 'XK', undefined],
  ['39 333 123 4567', 'IT', '+393331234567'],
  ['391 234 5678', 'IT', '+393912345678'],
  ['44 (0) 20 7946 0018', 'GB', '+442079460018'],
])('%s in %s is %s', (text, region, expected) => {
  expect(e164Of(text, region)).toBe(expected);
});
