import { createRequire } from 'node:module';
import type * as core from 'libphonenumber-js/core';
import type { CountryCode, MetadataJson, PhoneNumber } from 'libphonenumber-js/core';
import { didYouMean } from '../../problem.ts';
import { ValueError, type Result } from '../value-error.ts';
import { shown, textOf } from '../value-text.ts';
import { flag, name, object } from '../schema-parts.ts';
import type { RowContext } from '../row-context.ts';
import type { ValueSpec } from '../spec.ts';
import { PlainPhoneReader } from './plain-phone.ts';
import { onText, transform, type ArgumentProblem } from './transform.ts';

interface PhoneArgument {
  readonly region?: string | undefined;
  readonly region_from?: ValueSpec | undefined;
  readonly strict?: boolean | undefined;
}

const require = createRequire(import.meta.url);

/** The largest set, by which numbers in use are known as well; loaded where a mapping names a region or reads a number. */
let metadata: MetadataJson | undefined;

function numbering(): MetadataJson {
  return (metadata ??= require('libphonenumber-js/metadata.max.json') as MetadataJson);
}

/** Ninety files, 20 ms: loaded only where a mapping reads phone numbers. */
let library: typeof core | undefined;

function phoneLibrary(): typeof core {
  return (library ??= require('libphonenumber-js/core') as typeof core);
}

export const phone = transform<PhoneArgument>({
  name: 'phone',
  doc: 'Reads a phone number and writes it as E.164. National numbers are read as numbers of `region` (or of the region that `region_from` gives, else `defaults.region`); a leading 00 is read as + where it must be; an extension is dropped with a warning. Any number of possible length counts, with `strict: true` only those in use. Anything else is the error `bad_phone`.',
  usage: ['phone', '{ phone: { region: IT, region_from: VALUE, strict: true } }'],
  examples: [
    { apply: '{ phone: { region: IT } }', from: '02 1234 5678', to: '+390212345678' },
    { apply: 'phone', from: '0044 20 7946 0018', to: '+442079460018' },
  ],
  argument: (value) => object({ region: name.optional(), region_from: value.optional(), strict: flag.optional() }),
  bare: true,
  check: (argument) => (argument?.region === undefined ? [] : regionProblems(argument.region, ['region'])),
  compile: (argument, { defaults, value }) => {
    const region = (argument?.region ?? defaults.region)?.toUpperCase();
    const regionFrom = argument?.region_from === undefined ? undefined : value(argument.region_from, 'region_from');
    const strict = argument?.strict ?? false;
    const known = supported(region);
    const plainReader =
      strict || regionFrom ? undefined : new PlainPhoneReader(numbering(), new (phoneLibrary().Metadata)(numbering()));
    return onText((text, row) => {
      const plain = plainReader?.read(text, known);
      if (plain !== undefined) return plain;
      const own = regionFrom?.(row);
      if (own instanceof ValueError && !text.startsWith('+')) return new ValueError(own.code, own.message, own.hint);
      const country = own instanceof ValueError ? undefined : textOf(own)?.toUpperCase();
      return e164(text, country ?? region, strict, row);
    });
  },
});

/** Mistakes in a region that stands in the mapping. */
export function regionProblems(region: string, path: readonly string[]): ArgumentProblem[] {
  if (isRegion(region.toUpperCase())) return [];
  const suggestion = /^uk$/i.test(region)
    ? 'did you mean `GB`?'
    : (didYouMean(region, Object.keys(numbering().countries)) ?? 'use the two letters of ISO 3166, such as IT or US');
  return [{ code: 'unknown_region', path, message: `unknown region \`${region}\``, suggestion }];
}

function supported(region: string | undefined): CountryCode | undefined {
  return region !== undefined && isRegion(region) ? region : undefined;
}

function isRegion(text: string): text is CountryCode {
  return Object.hasOwn(numbering().countries, text);
}

function e164(text: string, region: string | undefined, strict: boolean, row: RowContext): Result {
  const known = supported(region);
  const number =
    parse(text, known, strict) ?? (text.startsWith('00') ? parse(`+${text.slice(2)}`, known, strict) : undefined);
  if (!number) return badPhone(text, region, known);
  if (number.ext) row.report('warning', 'extension_dropped', `the extension of ${shown(text)} is dropped`);
  return number.number;
}

function parse(text: string, region: CountryCode | undefined, strict: boolean): PhoneNumber | undefined {
  const options = { extract: false, ...(region && { defaultCountry: region }) };
  const number = phoneLibrary().parsePhoneNumberFromString(text, options, numbering());
  return number && (strict ? number.isValid() : number.isPossible()) ? number : undefined;
}

function badPhone(text: string, region: string | undefined, known: string | undefined): ValueError {
  const message = `${shown(text)} is not a phone number${known ? ` of ${known}` : ''}`;
  if (/\d[.,]?\d*e\+\d/i.test(text))
    return new ValueError('bad_phone', message, 'a spreadsheet has cut it short: export it again as text');
  if (region !== undefined && !known)
    return new ValueError('bad_phone', message, `\`${region}\` is no region: \`map\` it to two letters such as IT`);
  if (!known && !text.startsWith('+'))
    return new ValueError('bad_phone', message, 'national numbers need `defaults.region`');
  return new ValueError('bad_phone', message);
}
