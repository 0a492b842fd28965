/** The defaults of a mapping, by evidence in all exports: what nobody can know but the user. */
import { isSupportedCountry, parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/max/es6';
import { countryCode } from '../../mapping/transforms/countries.ts';
import { counted, ofText } from '../../report/words/numbers.ts';
import type { EntryDraft, Field, FieldChoice } from './draft.ts';
import { NOTHING } from './draft.ts';
import type { Column, Table } from '../facts/facts.ts';
import { LEVELS } from '../know/roles.ts';
import { MAIN_COUNTRY, WORLDWIDE } from '../know/texts.ts';

/** `settled`: a field with the answer of the user; `zone`: that of a preset. */
export function defaultsOf(
  tables: readonly Table[],
  entries: readonly EntryDraft[],
  settled: (field: Field) => Field,
  zone?: string,
): Field[] {
  const fields = entries.flatMap((entry) => entry.fields.filter(({ off }) => !off));
  const phones = fields.filter(({ key }) => key === 'phone_number').flatMap(({ columns }) => columns);
  const dates = fields.flatMap(({ value, columns }) => (JSON.stringify(value).includes('"date":') ? columns : []));
  const isLocal = dates.some(({ date }) => date?.isLocal);
  const columns = tables.flatMap((table) => table.columns);
  const region = regionFields(columns, phones).map(settled);
  const country = region.find(({ off }) => !off)?.value as string | undefined;
  const preset = zone === undefined ? undefined : setting('timezone', zone, { said: 'of the preset' });
  return [...region, preset ?? zoneField(isLocal, country), ...missingFields(tables)];
}

function setting(key: string, value: Field['value'], more: Partial<Field> & Pick<Field, 'said'>): Field {
  return { key, place: 'settings', value, columns: [], ...more };
}

const INTERNATIONAL = /^\(?(?:\+|00)/;

/** The country of phone numbers without a country code: by the codes of the others first, then by national form. */
function regionFields(columns: readonly Column[], phones: readonly Column[]): Field[] {
  const numbers = phones.flatMap(({ sample }) => sample.flatMap((value) => value.split(/[;/,|\n]/)[0]!.trim()));
  const codes = countBy(numbers.filter((number) => INTERNATIONAL.test(number)).map(countryOf));
  const national = numbers.filter((number) => !INTERNATIONAL.test(number) && /(?:\D*\d){5}/.test(number));
  if (national.length === 0) return [];
  const coded = [...codes.values()].reduce((sum, count) => sum + count, 0);
  const countries = [codes, countriesIn(columns), countriesOfAddresses(columns)].flatMap((counts) =>
    [...counts].sort((a, b) => b[1] - a[1]).map(([country]) => country),
  );
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  const able = [...new Set(countries)].map((country) => {
    const valid = national.filter((number) => isValid(number, country)).length;
    const ofCodes = coded > 0 ? `, ${ofText(codes.get(country) ?? 0, coded)} codes are` : '';
    return { country, valid, said: `${ofText(valid, national.length)} are valid in ${names.of(country)!}${ofCodes}` };
  });
  const found = able.filter(({ valid }) => valid > 0).slice(0, 5);
  const choices = found.map(({ country, said }): FieldChoice => {
    return { answer: country, label: `${country}: ${said}`, value: country };
  });
  const best = found.find(
    ({ country, valid }) => valid >= national.length * LEVELS.most && (codes.get(country) ?? 0) >= coded * LEVELS.half,
  );
  if (best) return [setting('region', best.country, { doubt: 'set', choices, said: `of the sample: ${best.said}` })];
  const said = `the country of ${counted(national.length, 'number')} without a country code`;
  const [first] = found;
  return [
    setting('region', first?.country ?? NOTHING, {
      ...{ off: true, doubt: 'set', choices },
      said: first ? `${said}; ${first.said}` : said,
    }),
  ];
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

/** By columns in which nearly all values are countries. */
function countriesIn(columns: readonly Column[]): Map<CountryCode, number> {
  const able = columns.filter(({ meaning: { concepts } }) => concepts.has('country') && !concepts.has('number'));
  const codes = able.map(({ sample }) => sample.map(countryCode));
  return countBy(codes.filter((each) => each.filter(Boolean).length >= each.length * LEVELS.all).flat());
}

function countriesOfAddresses(columns: readonly Column[]): Map<CountryCode, number> {
  const texts = columns.filter(({ is }) => Math.max(is.email, is.url) >= LEVELS.most).flatMap(({ sample }) => sample);
  const domains = texts.filter((text) => !WORLDWIDE.test(text.toLowerCase()));
  const codes = domains.map((text) => /\.([a-z]{2})\/?$/i.exec(text)?.[1]?.toUpperCase().replace('UK', 'GB'));
  return countBy(codes.filter((code) => code !== undefined && isSupportedCountry(code)));
}

function zoneField(isLocal: boolean, country: string | undefined): Field {
  if (!isLocal) return setting('timezone', 'UTC', { said: 'not needed: no date lacks an offset' });
  const only = country === undefined ? undefined : onlyZone(country);
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const choices = [...new Set([...(only ? [only] : []), 'UTC', here])].map((answer) => {
    return { answer, label: answer === here ? `${answer}: of this computer` : answer, value: answer };
  });
  const said = only ? `${country} has only this one` : 'of dates without an offset, such as Europe/Rome';
  return setting('timezone', only ?? 'UTC', { doubt: only ? 'check' : 'set', choices, said });
}

/** Undefined if the country has zones with different times, in January or July. */
function onlyZone(country: string): string | undefined {
  // Node 20 has the property, later versions the method.
  const locale = new Intl.Locale(`und-${country}`) as { timeZones?: string[]; getTimeZones?(): string[] };
  const zones = locale.getTimeZones?.() ?? locale.timeZones ?? [];
  const timesIn = (timeZone: string): string => {
    const format = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', day: 'numeric' });
    return [0, 6].map((month) => format.format(Date.UTC(2024, month, 1))).join();
  };
  return new Set(zones.map(timesIn)).size === 1 ? zones[0] : undefined;
}

export function isZone(text: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function missingFields(tables: readonly Table[]): Field[] {
  const counts = new Map<string, number>();
  for (const [text, count] of tables.flatMap(({ raw }) => raw.columns.flatMap(({ missing }) => [...missing])))
    counts.set(text, (counts.get(text) ?? 0) + count);
  if (counts.size === 0) return [];
  const said = [...counts].map(([text, count]) => `${text} in ${counted(count, 'cell')}`).join(', ');
  return [setting('missing_values', ['', ...counts.keys()], { doubt: 'check', said: `read as empty: ${said}` })];
}
