/**
 * The full metadata of libphonenumber, which knows assigned numbers. It needs 20 ms to load, so it is loaded only for a mapping that
 * names a region or reads phone numbers.
 */
import { createRequire } from 'node:module';
import type { CountryCode, MetadataJson } from 'libphonenumber-js/core/es6';

const require = createRequire(import.meta.url);

let metadata: MetadataJson | undefined;

export function numbering(): MetadataJson {
  return (metadata ??= require('libphonenumber-js/metadata.max.json') as MetadataJson);
}

/** Whether it is the code of a country with phone numbers, in capitals. */
export function isRegion(text: string): text is CountryCode {
  return Object.hasOwn(numbering().countries, text);
}
