/**
 * libphonenumber with the full metadata, which knows assigned numbers. It needs 20 ms to load, so it is loaded only for a mapping that
 * names a region or reads phone numbers.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as core from 'libphonenumber-js/core';
import type { CountryCode, MetadataJson } from 'libphonenumber-js/core';

const require = createRequire(import.meta.url);

let metadata: MetadataJson | undefined;

export function numbering(): MetadataJson {
  return (metadata ??= require('libphonenumber-js/metadata.max.json') as MetadataJson);
}

let library: typeof core | undefined;

/** Its modern modules, which its `exports` offers to `import` alone: they need four fifths of the time of the others. */
export function phoneLibrary(): typeof core {
  return (library ??= require(
    join(dirname(require.resolve('libphonenumber-js/package.json')), 'core/es6/index.js'),
  ) as typeof core);
}

/** Whether it is the code of a country with phone numbers, in capitals. */
export function isRegion(text: string): text is CountryCode {
  return Object.hasOwn(numbering().countries, text);
}
