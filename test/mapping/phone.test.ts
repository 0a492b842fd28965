import { createRequire } from 'node:module';
import fc from 'fast-check';
import examples from 'libphonenumber-js/mobile/examples';
import parsePhoneNumber, {
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  Metadata,
  type CountryCode,
  type MetadataJson,
} from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { PlainPhoneReader } from '../../src/mapping/transforms/plain-phone.ts';

const metadata = createRequire(import.meta.url)('libphonenumber-js/metadata.max.json') as MetadataJson;
const reader = new PlainPhoneReader(metadata, new Metadata());

/** The result of the transform without the shortcut. */
function byLibrary(text: string, region: CountryCode | undefined): string | undefined {
  const read = (input: string): string | undefined => {
    const number = parsePhoneNumber(input, { ...(region && { defaultCountry: region }), extract: false });
    return number?.isPossible() && !number.ext ? number.number : undefined;
  };
  return read(text) ?? (text.startsWith('00') ? read(`+${text.slice(2)}`) : undefined);
}

function disagreement(text: string, region: CountryCode | undefined): string | undefined {
  const quick = reader.read(text, region);
  const slow = byLibrary(text, region);
  return quick === undefined || quick === slow ? undefined : `${text} in ${region}: ${quick}, library ${slow}`;
}

test('the shortcut agrees with the library on the example numbers of every region, in every notation', () => {
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
        if (reader.read(text, default_) !== undefined) answered += 1;
      }
    }
  }
  expect(answered).toBeGreaterThan(1500);
});

test('the shortcut agrees with the library on anything that looks like a number', () => {
  const text = fc.stringMatching(/^(?:\+|00|0|\(|1)?[0-9][0-9 ()./-]{2,14}[0-9]$/);
  fc.assert(
    fc.property(text, fc.constantFrom(...getCountries(), undefined), (written, region) => {
      expect(disagreement(written, region)).toBeUndefined();
    }),
    { numRuns: 1500 },
  );
});

describe('a number with the international prefix of its region', () => {
  const regions = getCountries();
  const digits = fc.stringMatching(/^[0-9]{2,14}$/);
  const national = fc.oneof(
    fc.constantFrom(...regions).map((region) => getExampleNumber(region, examples)!.number.slice(1)),
    fc.tuple(fc.constantFrom(...regions), digits).map(([region, rest]) => getCountryCallingCode(region) + rest),
    digits,
  );
  const separators = fc.array(fc.constantFrom('', '', '', ' ', '-', '.', '/', ' (', ') '), {
    minLength: 24,
    maxLength: 24,
  });

  test.each(regions)('gives the same result as the library in %s', (region) => {
    const prefixes = fc.stringMatching(new RegExp(`^(?:${internationalPrefix(region)})$`));
    const property = fc.property(prefixes, national, separators, (prefix, rest, between) => {
      const all = prefix + rest;
      const text = [...all]
        .map((digit, index) => digit + (index < all.length - 1 ? (between[index] ?? '') : ''))
        .join('');
      expect(disagreement(text, region)).toBeUndefined();
      expect(disagreement(all, region)).toBeUndefined();
    });
    fc.assert(property, { numRuns: 60 });
  });

  test('goes to the library', () => {
    expect(byLibrary('012 47 406 12 345', 'IL')).toBe('+4740612345');
    expect(reader.read('012 47 406 12 345', 'IL')).toBeUndefined();
    expect(reader.read('011 44 20 7946 0018', 'US')).toBeUndefined();
  });
});

function internationalPrefix(region: CountryCode): string {
  const plans = new Metadata();
  plans.selectNumberingPlan(region);
  return plans.numberingPlan!.IDDPrefix();
}

test('common notations take the shortcut, all others go to the library', () => {
  expect(reader.read('02 1234 5678', 'IT')).toBe('+390212345678');
  expect(reader.read('(030) 901820', 'DE')).toBe('+4930901820');
  expect(reader.read('(212) 555-0123', 'US')).toBe('+12125550123');
  expect(reader.read('+44 20 7946 0018', 'US')).toBe('+442079460018');
  expect(reader.read('+44 20 7946 0018', undefined)).toBe('+442079460018');
  for (const text of ['02 1234 5678 ext 9', '+44 (0)20 7946 0018', '0044 20 7946 0018', '12', '٠٢١٢٣٤٥٦٧٨'])
    expect(reader.read(text, 'IT')).toBeUndefined();
});

test('the shortcut is off if the library lacks the methods it needs', () => {
  const plans = {
    selectNumberingPlan: () => undefined,
    numberingPlan: { IDDPrefix: () => '00' },
  } as unknown as Metadata;
  expect(new PlainPhoneReader(metadata, plans).read('02 1234 5678', 'IT')).toBeUndefined();
});
