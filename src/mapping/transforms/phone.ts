import {
  getCountryCallingCode,
  parsePhoneNumberFromString,
  type CountryCode,
  type PhoneNumber,
} from 'libphonenumber-js/core/es6';
import { didYouMean, Problem } from '../../problem.ts';
import { countryCode, isRegion, numbering } from './countries.ts';
import { textOf, valueText, type Result, type RowContext } from '../values/result.ts';
import { flag, name, object } from '../schema-parts.ts';
import type { Defaults, ValueSpec } from '../spec.ts';
import { onText, transform } from './transform.ts';
import { issueOf } from '../../report/words/words.ts';

interface PhoneArgument {
  readonly region?: string | undefined;
  readonly region_from?: ValueSpec | undefined;
  readonly strict?: boolean | undefined;
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' });

function phoneWords({ region, region_from: from }: PhoneArgument = {}, defaults: Defaults): string {
  const fixed = (region ?? defaults.region)?.toUpperCase();
  const country = fixed === undefined ? [] : [COUNTRIES.of(fixed) ?? fixed];
  const regions = [...(from === undefined ? [] : ['the country in its record']), ...country];
  const national = regions.length === 0 ? '' : `; without a country code it belongs to ${regions.join(', else to ')}`;
  return `writes the phone number in international form${national}`;
}

export const phone = transform<PhoneArgument>({
  name: 'phone',
  doc: 'Converts a phone number to E.164. A national number belongs to the country in the value `region_from` (its two-letter code or its name), else to `region` or `defaults.region`. A leading `00` means `+`, and the code of the country needs no `+`, where no other reading is possible. Extensions are dropped with a warning. Any number of a possible length is accepted, or with `strict: true` only one in an assigned range. Fails with `no_country_code`, `unknown_country` or `bad_phone`.',
  words: phoneWords,
  usage: ['phone', '{ phone: { region: IT, region_from: VALUE, strict: true } }'],
  examples: [
    { apply: '{ phone: { region: IT } }', from: '02 1234 5678', to: '+390212345678' },
    { apply: 'phone', from: '0044 20 7946 0018', to: '+442079460018' },
  ],
  argument: (value) => object({ region: name.optional(), region_from: value.optional(), strict: flag.optional() }),
  bare: true,
  check: (argument) => [regionProblem(argument?.region)?.with({ field: 'region' }) ?? []].flat(),
  compile: (argument, { defaults, value }) => {
    const region = (argument?.region ?? defaults.region)?.toUpperCase();
    const regionFrom = argument?.region_from === undefined ? undefined : value(argument.region_from, 'region_from');
    const strict = argument?.strict ?? false;
    return onText((text, row) => {
      const own = regionFrom?.(row);
      // Not the same error: the number was left out here, not its country.
      if (own instanceof Problem && !text.startsWith('+')) return new Problem(own);
      const country = own instanceof Problem ? undefined : textOf(own);
      return e164(text, country === undefined ? region : (countryCode(country) ?? country), strict, row);
    });
  },
});

export function regionProblem(region: string | undefined): Problem | undefined {
  if (region === undefined || isRegion(region.toUpperCase())) return undefined;
  const hint = /^uk$/i.test(region)
    ? 'did you mean `GB`?'
    : (didYouMean(region, Object.keys(numbering().countries)) ?? 'use a two-letter ISO 3166 code such as IT or US');
  return new Problem({ code: 'unknown_region', message: `unknown region \`${region}\``, hint });
}

function supported(region: string | undefined): CountryCode | undefined {
  return region !== undefined && isRegion(region) ? region : undefined;
}

/** A phone number written by a person as E.164; undefined if it is not one, or a national one and `region` is not given. */
export function e164Of(text: string, region: string | undefined): string | undefined {
  const number = read(text, supported(region?.toUpperCase()), false);
  if (Array.isArray(number) || !number) return undefined;
  return number.isValid() || isPlausible(number) ? number.number : undefined;
}

function e164(text: string, region: string | undefined, strict: boolean, row: RowContext): Result {
  const known = supported(region);
  const number = read(text, known, strict);
  if (!number) return badPhone(text, region, known);
  if (Array.isArray(number)) {
    return issueOf('bad_phone/two_readings', valueText(text), number.join(' or '));
  }
  if (number.ext) row.report(issueOf('extension_dropped', valueText(text)));
  if (!number.isValid()) {
    if (!isPlausible(number)) return issueOf('bad_phone/no_country', valueText(text), number.number);
    const where = known && !text.startsWith('+') ? ` in ${COUNTRIES.of(known)}` : '';
    row.report(issueOf('unassigned_number', valueText(text), number.number, where));
  }
  return number.number;
}

/**
 * The number, or both readings where one that begins with the country code of its region, without +, is valid with that code
 * and also as a national number that happens to begin so. The library prefers the latter: 4915112345678 in DE would become
 * +494915112345678.
 */
function read(written: string, region: CountryCode | undefined, strict: boolean): PhoneNumber | string[] | undefined {
  if (written.length > LONGEST) return undefined;
  // A data tool such as pandas wrote it as a decimal; the library would read the zero as a digit.
  const text = written.replace(/\p{Cf}/gu, '').replace(/^(\+?\d{5,})\.0$/, '$1');
  const national = parse(text, region, strict);
  // People also write 0 before the country's own code: `041 79 194 87 74`.
  const own = /^0(?!0)/.test(text) ? text.slice(1) : text;
  const international = region && beginsWithCode(own, region) ? parse(`+${own}`, region, true) : undefined;
  if (!international || international.number === national?.number) {
    return national ?? (text.startsWith('00') ? parse(`+${text.slice(2)}`, region, strict) : undefined);
  }
  if (!national?.isValid()) return international;
  return own === text ? [international.number, national.number] : national;
}

function beginsWithCode(text: string, region: CountryCode): boolean {
  if (text.startsWith('+')) return false;
  const code = getCountryCallingCode(region, numbering());
  return text.replace(/\D/g, '').startsWith(code);
}

/** By calling code, first digit and length: whether a country has any such numbers. */
const plausible = new Map<string, boolean>();

/** Of a number that is not in use: whether some number of the country has this length and begins with this digit. */
function isPlausible(number: PhoneNumber): boolean {
  if (/^0+$/.test(number.nationalNumber)) return false;
  const { countryCallingCode: code, nationalNumber: digits } = number;
  const key = `${code} ${digits[0]} ${digits.length}`;
  let known = plausible.get(key);
  if (known === undefined) {
    const others = Array.from({ length: 1000 }, (_, at) => `${String(at).padStart(3, '0')}222222222222222`);
    const some = others.map((each) => `+${code}${digits[0]}${each.slice(0, digits.length - 1)}`);
    known = some.some((text) => parse(text, undefined, true) !== undefined);
    plausible.set(key, known);
  }
  return known;
}

function parse(text: string, region: CountryCode | undefined, strict: boolean): PhoneNumber | undefined {
  const options = region ? { extract: false, defaultCountry: region } : { extract: false };
  const number = parsePhoneNumberFromString(text, options, numbering());
  return number && (strict ? number.isValid() : number.isPossible()) ? number : undefined;
}

/** Longer than any number with the text around it. Patterns would need minutes for a longer text. */
const LONGEST = 250;

/** Digits that are not an international number. */
const NATIONAL = /^(?!00)[(\d](?:[^\d]*\d){4,}/;

function badPhone(text: string, region: string | undefined, known: string | undefined): Problem {
  if (text.length > LONGEST) return issueOf('bad_phone', valueText(text), known);
  if (/\d[.,]?\d*e\+\d/i.test(text)) return issueOf('bad_phone/rounded', valueText(text));
  if (region !== undefined && !known) return issueOf('unknown_country', valueText(text), valueText(region));
  if (region === undefined && NATIONAL.test(text)) return issueOf('no_country_code', valueText(text));
  return issueOf('bad_phone', valueText(text), known);
}
