import { isPhone } from './guess.ts';
import type { Export } from './head.ts';

/** The `region` of `defaults`: the country of most numbers with + where others have none; a person confirms it. */
export async function regionLine(exports: readonly Export[]): Promise<string> {
  const numbers = exports.flatMap(({ columns }) => columns.filter(isPhone).flatMap(({ values }) => values));
  const international = numbers.filter((number) => /^(?:\+|00)/.test(number));
  const national = numbers.length - international.length;
  const country = international.length > 0 ? await commonest(international) : undefined;
  if (national > 0 && country !== undefined) {
    return `  region: ${country} # set this: ${national} phone numbers are written without +; most of those with it are of this country`;
  }
  return `  # region: IT # set this: the country of phone numbers written without +${national > 0 ? `, which ${national} are; until then they are left out` : ''}`;
}

async function commonest(numbers: readonly string[]): Promise<string | undefined> {
  const { parsePhoneNumberFromString } = await import('libphonenumber-js');
  const counts = new Map<string, number>();
  for (const number of numbers.slice(0, 500)) {
    const country = parsePhoneNumberFromString(number.replace(/^00/, '+'), { extract: false })?.country;
    if (country) counts.set(country, (counts.get(country) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}
