import { isPhone } from './guess.ts';
import type { Export } from './head.ts';

/** The `region` of `defaults`, for the user to confirm: the country of most numbers with +, if others lack it. */
export async function regionLine(exports: readonly Export[]): Promise<string> {
  const numbers = exports.flatMap(({ columns }) => columns.filter(isPhone).flatMap(({ values }) => values));
  const international = numbers.filter((number) => /^(?:\+|00)/.test(number));
  const national = numbers.length - international.length;
  const country = international.length > 0 ? await mostCommon(international) : undefined;
  if (national > 0 && country !== undefined) {
    return `  region: ${country} # set this: ${national} phone numbers have no +; most numbers with + are of this country`;
  }
  return `  # region: IT # set this: the country of phone numbers without +${national > 0 ? `; ${national} numbers are left out without it` : ''}`;
}

/** By calling code: the country, or the main country if several share the code (+39: Italy). */
async function mostCommon(numbers: readonly string[]): Promise<string | undefined> {
  const { parsePhoneNumberFromString } = await import('libphonenumber-js');
  const codes = new Map<string, number>();
  const countries = new Map<string, Map<string, number>>();
  for (const number of numbers.slice(0, 500)) {
    const parsed = parsePhoneNumberFromString(number.replace(/^00/, '+'), { extract: false });
    if (!parsed) continue;
    const code = String(parsed.countryCallingCode);
    codes.set(code, (codes.get(code) ?? 0) + 1);
    const within = countries.get(code) ?? new Map<string, number>();
    countries.set(code, within);
    const country = MAIN_COUNTRY[code] ?? parsed.country;
    if (country) within.set(country, (within.get(country) ?? 0) + 1);
  }
  const code = mostOf(codes);
  return code === undefined ? undefined : mostOf(countries.get(code)!);
}

/** For calling codes shared by several countries, the main country. */
const MAIN_COUNTRY: Readonly<Record<string, string>> = {
  1: 'US',
  7: 'RU',
  39: 'IT',
  44: 'GB',
  47: 'NO',
  61: 'AU',
  358: 'FI',
};

function mostOf(counts: ReadonlyMap<string, number>): string | undefined {
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}
