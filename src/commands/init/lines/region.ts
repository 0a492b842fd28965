/** The country of the exports, from evidence in them: the region of phone numbers without a country code, and the time zone. */
import { isSupportedCountry, parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max/es6';
import { currencyNamed, likelyCurrency } from '../../../kinds/currencies.ts';
import { countryCode } from '../../../mapping/transforms/countries.ts';
import { countEach, plainValues, type Column } from '../columns.ts';
import { currencyOf, NONE } from '../evidence.ts';
import type { Line } from './yaml.ts';
import { headerScore } from '../matrix/roles.ts';
import { counted, numberText, ofText } from '../../../report/words/numbers.ts';

/** A region is proposed only if at least this share of the numbers without a country code would be valid in it. */
const MIN_VALID = 0.9;
/** Fewer numbers with a country code than one for ten without are no evidence of the region. */
const MIN_EVIDENCE = 0.1;
/** Of several kinds, which agree. */
const MIN_HINTS = 2;
const MAX_NUMBERS = 2000;
const INTERNATIONAL = /^\(?(?:\+|00)/;
/** The share and the least number of records or numbers of a country that make it that of all. */
const MIN_MAIN = 0.95;
const MIN_RECORDS = 10;

export interface RegionGuess {
  /** The `region` of `defaults` for the user to confirm, with its figures; commented out on thin or conflicting evidence. */
  readonly line: Line;
  /** What is asked about the candidates, which have the figures. */
  readonly asks: string;
  /** The countries that the numbers may be of, best first, with their figures. */
  readonly candidates: readonly { readonly value: string; readonly label: string }[];
  /** Numbers without a country code. */
  readonly national: number;
  /** Also without such numbers, if almost all countries in the exports are one. */
  readonly country: CountryCode | undefined;
}

/** `phones`: the columns that are sent as phone numbers. */
export function regionOf(columns: readonly Column[], phones: readonly Column[] = []): RegionGuess {
  const isLikelyPhone = (each: Column): boolean =>
    each.is.phone > 0.6 && (each.is.international > 0.3 || headerScore('phone', each, 'lead') > 0.5);
  const read = columns.filter((each) => phones.includes(each) || isLikelyPhone(each));
  const numbers = read.flatMap((each) => plainValues(each));
  const international = numbers.filter((number) => INTERNATIONAL.test(number)).slice(0, MAX_NUMBERS);
  const national = numbers.filter((number) => !INTERNATIONAL.test(number)).slice(0, MAX_NUMBERS);
  // A record may have several, of which one is its phone number.
  const from = read.filter((each) => plainValues(each).some((number) => !INTERNATIONAL.test(number)));
  const nationals = `${counted(national.length, 'phone number')}${from.length > 1 ? ` (in ${counted(from.length, 'column')})` : ''}`;
  const byNumbers = countEach(international.map(countryOf));
  const [coded] = [...countEach(national.filter(mayHaveCode).map((number) => countryOf(`+${number}`)))].sort(
    (a, b) => b[1] - a[1],
  );
  const written = coded && coded[1] > national.length * MIN_VALID ? coded[0] : undefined;
  if (written) byNumbers.set(written, coded![1]);
  const byColumns = countEach(columns.filter(isCountry).flatMap(({ values }) => values.map(countryCode)));
  const main = mainOf(byColumns.size > 0 ? byColumns : byNumbers);
  const guess = (comment: string, candidates: RegionGuess['candidates'] = [], sure?: CountryCode): RegionGuess => ({
    asks: `the country of ${nationals} without a country code`,
    line: { key: 'region', value: candidates[0]?.value ?? NONE, comment, off: sure === undefined },
    candidates,
    national: national.length,
    country: sure ?? main,
  });
  if (national.length === 0)
    return guess('the country of phone numbers without a country code; the records read have no such number');
  const validIn = (country: CountryCode): number =>
    national.filter((number) => parse(country === written ? `+${number}` : number, country)?.isValid() === true).length;
  // Of several countries whose currency has the same sign, those where the numbers are valid.
  const isLikely = (country: CountryCode, _at: number, { length }: readonly CountryCode[]): boolean =>
    length === 1 || validIn(country) > national.length / 2;
  const hints = [
    [countryOfAddresses(columns), 'e-mail addresses end in its domain'],
    [countriesOfCurrency(columns), 'amounts are in its currency'],
    [countriesOfNumbers(columns), 'tax or account numbers begin with its code'],
    [countriesOfPlaces(columns), 'states or postal codes look like those of this country'],
    [countriesOfLetters(columns), 'texts have letters of its language'],
  ] as const;
  const named = [...byNumbers.keys(), ...byColumns.keys()];
  const countries = new Set(named.length > 0 ? named : hints.flatMap(([some]) => some.filter(isLikely)));
  const found = [...countries]
    .map((country) => ({
      country,
      valid: validIn(country),
      withCode: byNumbers.get(country) ?? 0,
      records: byColumns.get(country) ?? 0,
      hints: hints.filter(([some]) => some.includes(country)).length,
    }))
    .sort((a, b) => b.valid - a.valid || b.withCode - a.withCode || b.records - a.records || b.hints - a.hints);
  const [best] = found;
  if (!best)
    return guess(
      `set this: ${nationals} ${national.length === 1 ? 'has' : 'have'} no country code, and nothing in the exports shows their country; without it, they are left out`,
    );
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  const candidates = found.slice(0, 3).map(({ country, valid, withCode, records }) => {
    const figures = [
      `${ofText(valid, national.length)} phone numbers without a country code are valid there`,
      ...(international.length > 0
        ? [`${ofText(withCode, international.length)} numbers with a country code have this one`]
        : []),
      ...(country === written ? ['they begin with its code, but without +'] : []),
      ...(records > 0 ? [`${numberText(records)} records name this country`] : []),
      ...hints.flatMap(([some, what]) => (some.includes(country) ? [what] : [])),
    ];
    return { value: country, label: `${country} (${names.of(country)!}): ${figures.join(', ')}` };
  });
  const why = whyNot(best, found, national.length);
  if (why === undefined) return guess(`set this: ${candidates[0]!.label}`, candidates, best.country);
  const thin = guess(`set this: ${why}: ${candidates.map(({ label }) => label).join('; ')}`, candidates);
  // A country where none of the numbers is valid is none of theirs, nor one of several whose currency has the same sign.
  const isOne = best.valid > 0 && found.every((each) => each === best || each.valid < best.valid * MIN_VALID);
  return named.length > 0 || !isOne ? thin : { ...thin, country: main ?? best.country };
}

/** The country of the exports, by the first evidence that there is. */
export function countryIn(columns: readonly Column[], region = regionOf(columns)): CountryCode | undefined {
  const { country = countryOfAddresses(columns)[0] } = region;
  const [only, ...others] = countriesOfCurrency(columns);
  return country ?? (others.length === 0 ? only : undefined);
}

/** Domains of countries that are in use all over the world. */
const WORLDWIDE = /\.(?:ac|ai|co|eu|fm|gg|io|ly|me|to|tv)$/;

/** That of at least half of the e-mail addresses, where no other country has as many as a tenth of it. */
function countryOfAddresses(columns: readonly Column[]): CountryCode[] {
  const addresses = columns.filter(({ is }) => is.email > 0.8).flatMap(({ values }) => values);
  const domains = addresses.flatMap((address) => {
    const domain = /\.([a-z]{2})$/i.exec(address)?.[1]?.toUpperCase().replace('UK', 'GB');
    return domain && !WORLDWIDE.test(address.toLowerCase()) && isSupportedCountry(domain) ? [domain] : [];
  });
  const [best, next] = [...countEach(domains)].sort((a, b) => b[1] - a[1]);
  return best && best[1] * 2 >= addresses.length && (next?.[1] ?? 0) * 10 < best[1] ? [best[0]] : [];
}

/**
 * Of the one currency of all amounts, or those that its sign may mean: their codes begin with that of the country, but for those of
 * several countries (EUR, XOF).
 */
function countriesOfCurrency(columns: readonly Column[]): CountryCode[] {
  const found = columns.flatMap((column): (readonly string[])[] => {
    if (column.is.currency > 0.8)
      return column.values.map((value) => [likelyCurrency(value) ?? currencyNamed(value) ?? value.toUpperCase()]);
    const isSum = column.meaning.concepts.has('amount') || column.is.number > 0.8;
    if (!isSum && column.is.money <= 0.5) return [];
    const { code, able = [] } = currencyOf(column);
    return code === undefined ? [able].filter(({ length }) => length > 0) : [[code]];
  });
  const [some = [], ...others] = found.map((codes) => codes.map((code) => code.slice(0, 2)));
  const countries = some.filter((country) => others.every((each) => each.includes(country)));
  return countries.filter((country): country is CountryCode => isSupportedCountry(country));
}

/** Of almost all values of a column. */
function countriesOfNumbers(columns: readonly Column[]): CountryCode[] {
  return columns.flatMap(({ values }) => {
    const codes = values.map((value) => /^([A-Z]{2})(?=.*\d{6})[A-Z\d]{8,32}$/.exec(value.replace(/[ .]/g, ''))?.[1]);
    const [[code, count] = ['', 0]] = countEach(codes);
    return count > 2 && count > values.length * MIN_VALID && isSupportedCountry(code) ? [code] : [];
  });
}

/** Postal codes and states that only one country writes so. */
const PLACES: Partial<Record<CountryCode, RegExp>> = {
  US: /^(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]|\d{5}-\d{4})$/,
  CA: /^(?:AB|BC|MB|N[BLSTU]|ON|PE|QC|SK|YT|[A-Z]\d[A-Z] ?\d[A-Z]\d)$/,
  GB: /^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$/,
  AU: /^(?:ACT|NSW|QLD|SA|TAS|VIC|WA)$/,
  BR: /^\d{5}-\d{3}$/,
  JP: /^〒?\d{3}-\d{4}$/,
  NL: /^\d{4} ?[A-Z]{2}$/,
  PL: /^\d{2}-\d{3}$/,
  PT: /^\d{4}-\d{3}$/,
};

function countriesOfPlaces(columns: readonly Column[]): CountryCode[] {
  const places = columns.filter(({ filled, meaning: { concepts } }) => filled > 2 && concepts.has('address'));
  const isIn = (like: RegExp): boolean =>
    places.some(({ values }) => values.filter((value) => like.test(value)).length > values.length * MIN_VALID);
  return (Object.keys(PLACES) as CountryCode[]).filter((country) => isIn(PLACES[country]!));
}

/** Letters of one language, and the countries where it is written. */
const LETTERS: Readonly<Record<string, RegExp>> = {
  JP: /[\u3041-\u30ff]/,
  KR: /\p{Script=Hangul}/u,
  TH: /\p{Script=Thai}/u,
  IL: /\p{Script=Hebrew}/u,
  GR: /\p{Script=Greek}/u,
  'DE AT': /ß/,
  'FR BE': /[èœùû]/i,
  IT: /[ìò]/i,
  'ES MX CO AR CL PE': /[ñ¿¡]/i,
  'BR PT': /[ãõ]/i,
  HU: /[őű]/i,
  PL: /[łńźż]/i,
  CZ: /[řů]/i,
  TR: /[ğış]/,
};

/** Of the headers and values; a few names are of another language. */
function countriesOfLetters(columns: readonly Column[]): CountryCode[] {
  const texts = columns.flatMap(({ name, values }) => [name, ...values]);
  const counts = Object.entries(LETTERS)
    .map(([countries, like]) => ({ countries, count: texts.filter((text) => like.test(text)).length }))
    .sort((a, b) => b.count - a.count);
  const [{ countries, count }, next] = [counts[0]!, counts[1]!];
  return count > 2 && next.count * 5 < count ? (countries.split(' ') as CountryCode[]) : [];
}

/** The country of almost all of at least some records. */
function mainOf(counts: ReadonlyMap<CountryCode, number>): CountryCode | undefined {
  const all = [...counts.values()].reduce((sum, each) => sum + each, 0);
  return all < MIN_RECORDS ? undefined : [...counts].find(([, each]) => each >= all * MIN_MAIN)?.[0];
}

type RegionEvidence = Readonly<Record<'valid' | 'withCode' | 'records' | 'hints', number>>;

function whyNot(best: RegionEvidence, candidates: readonly RegionEvidence[], national: number): string | undefined {
  if (best.valid < national * MIN_VALID)
    return candidates.length > 1
      ? 'the numbers are probably from several countries'
      : 'many of the numbers are not valid there';
  // Where nearly all numbers are valid in one country, and hardly any in the others that may be meant, one hint is enough.
  const isAlone = candidates.every((each) => each === best || each.valid < national * MIN_EVIDENCE);
  const least = isAlone && national >= MIN_RECORDS && best.valid >= national * MIN_MAIN ? 1 : MIN_HINTS;
  if (best.withCode + best.records < national * MIN_EVIDENCE && best.hints < least) return 'little shows the country';
  const weight = ({ withCode, records }: RegionEvidence): number => withCode + records;
  const rival = candidates.find((each) => each !== best && each.valid >= national * MIN_VALID);
  const all = candidates.reduce((sum, each) => sum + weight(each), 0);
  const isRivalled = rival !== undefined && weight(rival) * 2 > weight(best);
  return isRivalled || weight(best) * 2 < all ? 'the evidence conflicts' : undefined;
}

function parse(number: string, country?: CountryCode): ReturnType<typeof parsePhoneNumberFromString> {
  const text = number.replace(INTERNATIONAL, '+');
  return parsePhoneNumberFromString(text, { extract: false, ...(country && { defaultCountry: country }) });
}

/** Of a number with gaps, the code is a part of its own: `(646) 555-0100` has none. */
function mayHaveCode(number: string): boolean {
  const [first, ...rest] = number.split(/[^\d]+/);
  return rest.length === 0 || first === parse(`+${number}`)?.countryCallingCode;
}

function countryOf(number: string): CountryCode | undefined {
  const parsed = parse(number);
  return parsed?.isValid() === true ? (MAIN_COUNTRY[parsed.countryCallingCode] ?? parsed.country) : undefined;
}

/** Countries that share a calling code and its numbers; the library tells them apart only by area code. */
const MAIN_COUNTRY: Readonly<Record<string, CountryCode>> = {
  39: 'IT',
  44: 'GB',
  47: 'NO',
  61: 'AU',
  358: 'FI',
};

/** Most of its values are countries, by name or by code. */
export function isCountry(column: Column): boolean {
  if (column.filled === 0 || !column.meaning.concepts.has('country') || column.meaning.concepts.has('number'))
    return false;
  return column.values.filter((value) => countryCode(value) !== undefined).length > column.values.length * 0.8;
}
