/** Countries: their phone numbers, and how people and programs name them. */
import { createRequire } from 'node:module';
import type { CountryCode, MetadataJson } from 'libphonenumber-js/core/es6';

const require = createRequire(import.meta.url);

/** The full metadata, which knows assigned numbers: 20 ms to load, so only for a mapping that names a region or reads phone numbers. */
let metadata: MetadataJson | undefined;

export function numbering(): MetadataJson {
  return (metadata ??= require('libphonenumber-js/metadata.max.json') as MetadataJson);
}

/** Whether it is the code of a country with phone numbers, in capitals. */
export function isRegion(text: string): text is CountryCode {
  return Object.hasOwn(numbering().countries, text);
}

/** Those of the headers that `init` knows, and a few more in which people keep their CRM. */
const LANGUAGES = 'en de fr es pt it nl pl ru sv da nb fi cs tr uk ja zh'.split(' ');

/** Names in use that Unicode's list of countries does not have. */
const OTHER_NAMES: Partial<Record<CountryCode, string>> = {
  US: 'usa, united states of america, eeuu, ee uu, eua, сша',
  GB: 'uk, great britain, england, scotland, wales, northern ireland',
  NL: 'holland',
  CZ: 'czech republic',
  TR: 'turkey',
  DE: 'brd',
  AE: 'uae',
};

let codes: ReadonlyMap<string, CountryCode> | undefined;

/**
 * `BR` for `br`, `Brazil`, `Brasil`, `БРАЗИЛИЯ` and Odoo's `base.br`; undefined for what names no country with phone numbers, or
 * several (`Kongo`).
 */
export function countryCode(text: string): CountryCode | undefined {
  codes ??= allNames();
  return codes.get(foldedCountry(text));
}

function allNames(): ReadonlyMap<string, CountryCode> {
  const languages = LANGUAGES.map((language) => new Intl.DisplayNames(language, { type: 'region' }));
  const codes = new Map<string, CountryCode>();
  const ambiguous = new Set<string>();
  for (const country of Object.keys(numbering().countries) as CountryCode[]) {
    const others = OTHER_NAMES[country]?.split(', ') ?? [];
    for (const name of [country, ...others, ...languages.map((each) => each.of(country)!)].map(foldedCountry)) {
      if ((codes.get(name) ?? country) !== country) ambiguous.add(name);
      codes.set(name, country);
    }
  }
  for (const name of ambiguous) codes.delete(name);
  return codes;
}

/** `Antigua & Barbuda`, `Antigua and Barbuda`; `St. Lucia`, `Saint Lucia`; `Bahamas`, `The Bahamas`. */
function foldedCountry(name: string): string {
  return name
    .replace(/^base\./, '')
    .normalize('NFKD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('.', '')
    .replace(/[^\p{L}]+/gu, ' ')
    .trim()
    .replace(/^the /, '')
    .replace(/^saint /, 'st ')
    .replaceAll(' and ', ' ');
}
