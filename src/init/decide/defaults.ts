/** The defaults of a mapping, by evidence in all exports: what nobody can know but the user. */
import { isSupportedCountry, parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max/es6';
import { isCurrency } from '../../kinds/currencies.ts';
import { countryCode } from '../../mapping/transforms/countries.ts';
import { counted, ofText } from '../../report/words/numbers.ts';
import type { EntryDraft, Field, FieldChoice } from './draft.ts';
import { NOTHING } from './draft.ts';
import type { Column, Table } from '../facts/facts.ts';
import { LEVELS } from '../know/roles.ts';

export function defaultsOf(
  tables: readonly Table[],
  entries: readonly EntryDraft[],
  settled: (field: Field) => Field,
  zone?: string,
): Field[] {
  const fields = entries.flatMap((entry) => entry.fields.filter(({ off }) => !off));
  const columns = tables.flatMap((table) => table.columns);
  const proposed = regionField(
    columns,
    fields.filter(({ key }) => key === 'phone_number').flatMap((field) => field.columns),
  );
  const region = proposed && settled(proposed);
  const country = region && !region.off ? (region.value as string) : mainCountry(columns);
  const dates = fields.flatMap((field) => (JSON.stringify(field.value).includes('"date":') ? field.columns : []));
  return [
    ...(region ? [region] : []),
    zone === undefined ? zoneField(dates, country) : setting('timezone', zone, { said: 'of the preset' }),
    ...missingField(tables),
  ];
}

const setting = (key: string, value: Field['value'], more: Partial<Field> & Pick<Field, 'said'>): Field => ({
  key,
  place: 'settings',
  value,
  columns: [],
  ...more,
});

const INTERNATIONAL = /^\(?(?:\+|00)/;

/** The country of phone numbers without a country code: by the codes of the others first, then by national form. */
function regionField(columns: readonly Column[], phones: readonly Column[]): Field | undefined {
  const numbers = phones.flatMap(({ sample }) => sample.flatMap((value) => value.split(/[;/,|\n]/)[0]!.trim()));
  const codes = countBy(numbers.filter((number) => INTERNATIONAL.test(number)).map((number) => countryOf(number)));
  const national = numbers.filter((number) => !INTERNATIONAL.test(number) && /\d{5}/.test(number.replace(/\D/g, '')));
  if (national.length === 0) return undefined;
  const evidence = [codes, countriesIn(columns), countriesOfAddresses(columns), countriesOfMoney(columns)];
  const [names, all] = [new Intl.DisplayNames(['en'], { type: 'region' }), counted(national.length, 'number')];
  const able = [
    ...new Set(evidence.flatMap((counts) => [...counts].sort((a, b) => b[1] - a[1]).map(([country]) => country))),
  ];
  const found = able
    .map((country) => ({ country, valid: national.filter((number) => isValid(number, country)).length }))
    .filter(({ valid }) => valid > 0)
    .slice(0, 5);
  const coded = [...codes.values()].reduce((sum, count) => sum + count, 0);
  const said = ({ country, valid }: (typeof found)[number]): string =>
    `${ofText(valid, national.length)} are valid in ${names.of(country)!}${coded > 0 ? `, ${ofText(codes.get(country) ?? 0, coded)} codes are` : ''}`;
  const best = found.find(
    ({ country, valid }) =>
      valid >= national.length * LEVELS.most && (coded === 0 || (codes.get(country) ?? 0) >= coded * LEVELS.half),
  );
  const choices: FieldChoice[] = found.map((each) => ({
    answer: each.country,
    label: `${each.country}: ${said(each)}`,
    value: each.country,
  }));
  const first = best ?? found[0];
  if (!best)
    return setting('region', first?.country ?? NOTHING, {
      off: true,
      doubt: 'set',
      choices,
      said: `the country of ${all} without a country code${first ? `; ${said(first)}` : ''}`,
    });
  return setting('region', best.country, { doubt: 'set', choices, said: `of the sample: ${said(best)}` });
}

/** In records of the sample. */
function mainCountry(columns: readonly Column[]): CountryCode | undefined {
  const phones = columns.filter(({ is }) => is.international >= LEVELS.half && is.phone >= LEVELS.half);
  const counts = [countBy(phones.flatMap(({ sample }) => sample.map(countryOf))), countriesIn(columns)].find(
    ({ size }) => size > 0,
  );
  const all = [...(counts?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  return [...(counts ?? [])].find(([, count]) => count >= all * LEVELS.all)?.[0];
}

function countBy(values: readonly (CountryCode | undefined)[]): Map<CountryCode, number> {
  const counts = new Map<CountryCode, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** A number that no country can have has none. */
function countryOf(number: string): CountryCode | undefined {
  const parsed = parsePhoneNumberFromString(number.replace(INTERNATIONAL, '+'), { extract: false });
  return parsed?.isValid() === true ? (MAIN_COUNTRY[parsed.countryCallingCode] ?? parsed.country) : undefined;
}

function isValid(number: string, country: CountryCode): boolean {
  return parsePhoneNumberFromString(number, { extract: false, defaultCountry: country })?.isValid() === true;
}

/** Countries that share a calling code and its numbers; the library tells them apart only by area code. */
const MAIN_COUNTRY: Readonly<Record<string, CountryCode>> = { 39: 'IT', 44: 'GB', 47: 'NO', 61: 'AU', 358: 'FI' };

export function isCountry({ meaning: { concepts }, sample, filled }: Column): boolean {
  if (filled === 0 || !concepts.has('country') || concepts.has('number')) return false;
  return sample.filter((value) => countryCode(value) !== undefined).length >= sample.length * LEVELS.all;
}

function countriesIn(columns: readonly Column[]): Map<CountryCode, number> {
  return countBy(columns.filter(isCountry).flatMap(({ sample }) => sample.map(countryCode)));
}

/** Domains of countries that are in use all over the world. */
const WORLDWIDE = /\.(?:ac|ai|co|eu|fm|gg|io|ly|me|to|tv)$/;

function countriesOfAddresses(columns: readonly Column[]): Map<CountryCode, number> {
  const domains = columns
    .filter(({ is }) => is.email >= LEVELS.most || is.url >= LEVELS.most)
    .flatMap(({ sample }) => sample);
  return countBy(
    domains.map((text) => {
      const domain = /\.([a-z]{2})\/?$/i.exec(text)?.[1]?.toUpperCase().replace('UK', 'GB');
      return domain && !WORLDWIDE.test(text.toLowerCase()) && isSupportedCountry(domain) ? domain : undefined;
    }),
  );
}

/** The codes of currencies begin with that of the country, but for those of several countries. */
function countriesOfMoney(columns: readonly Column[]): Map<CountryCode, number> {
  const codes = columns
    .filter(({ is, meaning }) => is.currency >= LEVELS.most && meaning.concepts.has('currency'))
    .flatMap(({ sample }) => sample);
  return countBy(
    codes.map((code) => {
      const country = code.slice(0, 2).toUpperCase();
      return isCurrency(code.toUpperCase()) && isSupportedCountry(country) ? country : undefined;
    }),
  );
}

function zoneField(columns: readonly Column[], country: string | undefined): Field {
  if (!columns.some(({ date }) => date?.isLocal))
    return setting('timezone', 'UTC', { said: 'not needed: no date lacks an offset' });
  const zone = country === undefined ? undefined : onlyZone(country);
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const able = [...new Set([...(zone ? [zone] : []), 'UTC', here])];
  const choices = able.map((each) => ({
    answer: each,
    label: each === here ? `${each}: of this computer` : each,
    value: each,
  }));
  const said = zone ? `${country} has only this one` : 'of dates without an offset, such as Europe/Rome';
  return setting('timezone', zone ?? 'UTC', { doubt: zone ? 'check' : 'set', said, choices });
}

export function isZone(text: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Undefined if the country has zones with different times. */
function onlyZone(country: string): string | undefined {
  // Node 20 has the property, later versions the method.
  const locale = new Intl.Locale(`und-${country}`) as { timeZones?: string[]; getTimeZones?(): string[] };
  const [first, ...others] = locale.getTimeZones?.() ?? locale.timeZones ?? [];
  if (first === undefined) return undefined;
  const times = offsetsOf(first);
  return others.every((zone) => offsetsOf(zone) === times) ? first : undefined;
}

/** In January and July. */
function offsetsOf(timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return [0, 6]
    .map(
      (month) =>
        format.formatToParts(new Date(Date.UTC(2024, month, 1))).find(({ type }) => type === 'timeZoneName')?.value,
    )
    .join();
}

function missingField(tables: readonly Table[]): Field[] {
  const counts = new Map<string, number>();
  for (const { missing } of tables.flatMap((table) => table.raw.columns))
    for (const [text, count] of missing) counts.set(text, (counts.get(text) ?? 0) + count);
  if (counts.size === 0) return [];
  const said = `read as empty: ${[...counts].map(([text, count]) => `${text} in ${counted(count, 'cell')}`).join(', ')}`;
  return [setting('missing_values', ['', ...counts.keys()], { doubt: 'check', said })];
}
