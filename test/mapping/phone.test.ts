import { createRequire } from 'node:module';
import fc from 'fast-check';
import examples from 'libphonenumber-js/mobile/examples';
import parsePhoneNumber, {
  getCountries,
  getExampleNumber,
  type CountryCode,
  type MetadataJson,
} from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { FastLanes } from '../../src/mapping/transforms/phone-fast-lane.ts';

const metadata = createRequire(import.meta.url)('libphonenumber-js/metadata.max.json') as MetadataJson;
const lanes = new FastLanes(metadata);

/** What the transform does where the fast lane does not answer. */
function byLibrary(text: string, region: CountryCode | undefined): string | undefined {
  const read = (input: string): string | undefined => {
    const number = parsePhoneNumber(input, { ...(region && { defaultCountry: region }), extract: false });
    return number?.isPossible() && !number.ext ? number.number : undefined;
  };
  return read(text) ?? (text.startsWith('00') ? read(`+${text.slice(2)}`) : undefined);
}

function disagreement(text: string, region: CountryCode | undefined): string | undefined {
  const quick = lanes.lane(region)!(text);
  const slow = byLibrary(text, region);
  return quick === undefined || quick === slow ? undefined : `${text} in ${region}: ${quick}, library ${slow}`;
}

test('the fast lane agrees with the library over the example numbers of every region, however written', () => {
  let answered = 0;
  for (const region of getCountries()) {
    const example = getExampleNumber(region, examples)!;
    const forms = [
      example.formatNational(),
      example.formatInternational(),
      example.number,
      example.nationalNumber,
      `00${example.number.slice(1)}`,
      example.number.slice(1),
    ];
    for (const text of forms) {
      for (const default_ of [region, 'US', undefined] as const) {
        expect(disagreement(text, default_)).toBeUndefined();
        if (lanes.lane(default_)!(text) !== undefined) answered += 1;
      }
    }
  }
  expect(answered).toBeGreaterThan(1500);
});

test('the fast lane agrees with the library on anything that looks like a number', () => {
  const text = fc.stringMatching(/^(?:\+|00|0|\(|1)?[0-9][0-9 ()./-]{2,14}[0-9]$/);
  fc.assert(
    fc.property(text, fc.constantFrom(...getCountries(), undefined), (written, region) => {
      expect(disagreement(written, region)).toBeUndefined();
    }),
    { numRuns: 1500 },
  );
});

test('the fast lane takes plain numbers and leaves the rest to the library', () => {
  expect(lanes.lane('IT')!('02 1234 5678')).toBe('+390212345678');
  expect(lanes.lane('DE')!('(030) 901820')).toBe('+4930901820');
  expect(lanes.lane('US')!('+44 20 7946 0018')).toBe('+442079460018');
  for (const text of ['02 1234 5678 ext 9', '+44 (0)20 7946 0018', '12', '٠٢١٢٣٤٥٦٧٨'])
    expect(lanes.lane('IT')!(text)).toBeUndefined();
});

test('there is no fast lane through metadata of a version whose places are not known', () => {
  expect(new FastLanes({ ...metadata, version: 5 }).lane('IT')).toBeUndefined();
});
