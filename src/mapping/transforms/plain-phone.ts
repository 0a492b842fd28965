/**
 * A shortcut for common notations of phone numbers: international with `+`, or national. It gives the same results as the
 * library, from the library's metadata, in a tenth of the time, and falls back to the library (undefined) when unsure. The
 * tests compare the two for every region.
 */
import type { CountryCode, Metadata, MetadataJson, NumberingPlan } from 'libphonenumber-js/core';

/** Methods of the library that its types omit. */
interface FullNumberingPlan extends NumberingPlan {
  callingCode?(): string;
  nationalNumberPattern?(): string;
  nationalPrefixForParsing?(): string | undefined;
}

interface CountryNumbers {
  readonly callingCode: string;
  /** Dialled before the calling code of another country. */
  readonly internationalPrefix: RegExp;
  readonly nationalPrefix: RegExp | undefined;
  readonly pattern: RegExp;
  readonly lengths: readonly number[];
}

const PLAIN = /^(?:\+|\()?\d[\d ()./-]{1,30}\d$/;

export class PlainPhoneReader {
  readonly #json: MetadataJson;
  readonly #metadata: Metadata;
  readonly #countries = new Map<CountryCode, CountryNumbers | undefined>();
  /** By calling code: the lengths that are possible in every country that shares it. */
  readonly #lengths = new Map<string, ReadonlySet<number>>();

  constructor(json: MetadataJson, metadata: Metadata) {
    this.#json = json;
    this.#metadata = metadata;
  }

  /** E.164, or undefined to fall back to the library. */
  read(text: string, region: CountryCode | undefined): string | undefined {
    if (!PLAIN.test(text)) return undefined;
    const digits = text.replace(/\D/g, '');
    if (text.startsWith('+')) return this.#readInternational(digits);
    return region && this.#readNational(digits, region);
  }

  #readInternational(digits: string): string | undefined {
    for (let length = 1; length <= 3; length += 1) {
      const code = digits.slice(0, length);
      const main = this.#json.country_calling_codes[code]?.[0];
      if (main === undefined) continue;
      const numbers = this.#numbersOf(main);
      const national = digits.slice(length);
      if (!numbers || numbers.nationalPrefix?.test(national)) return undefined;
      return this.#isPossible(code, national) ? `+${digits}` : undefined;
    }
    return undefined;
  }

  #readNational(digits: string, region: CountryCode): string | undefined {
    const numbers = this.#numbersOf(region);
    if (!numbers || digits.startsWith('00') || numbers.internationalPrefix.test(digits)) return undefined;
    const prefix = numbers.nationalPrefix?.exec(digits);
    // Groups are carrier codes, or mean that an area code must be added.
    if (prefix && prefix.length > 1) return undefined;
    const national = digits.slice(prefix?.[0].length ?? 0);
    if (!numbers.pattern.test(national) || !this.#isPossible(numbers.callingCode, national)) return undefined;
    return `+${numbers.callingCode}${national}`;
  }

  #isPossible(callingCode: string, national: string): boolean {
    let lengths = this.#lengths.get(callingCode);
    if (!lengths) {
      const countries = this.#json.country_calling_codes[callingCode] ?? [];
      const [first = [], ...others] = countries.map((country) => this.#numbersOf(country)?.lengths ?? []);
      lengths = new Set(first.filter((length) => others.every((other) => other.includes(length))));
      this.#lengths.set(callingCode, lengths);
    }
    return lengths.has(national.length);
  }

  #numbersOf(country: CountryCode): CountryNumbers | undefined {
    if (!this.#countries.has(country)) this.#countries.set(country, this.#readMetadata(country));
    return this.#countries.get(country);
  }

  /** Undefined if another version of the library lacks one of the methods. */
  #readMetadata(country: CountryCode): CountryNumbers | undefined {
    this.#metadata.selectNumberingPlan(country);
    const plan: FullNumberingPlan = this.#metadata.numberingPlan!;
    const callingCode = plan.callingCode?.();
    const pattern = plan.nationalNumberPattern?.();
    if (callingCode === undefined || pattern === undefined || !plan.nationalPrefixForParsing) return undefined;
    const prefix = plan.nationalPrefixForParsing();
    return {
      callingCode,
      internationalPrefix: new RegExp(`^(?:${plan.IDDPrefix()})`),
      nationalPrefix: prefix ? new RegExp(`^(?:${prefix})`) : undefined,
      pattern: new RegExp(`^(?:${pattern})$`),
      lengths: plan.possibleLengths(),
    };
  }
}
