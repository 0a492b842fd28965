/**
 * Plainly written phone numbers without the library's long way: the same answers from the same metadata, compiled once
 * for each region. It may only accept; whatever it does not take goes to the library. The tests hold the two against
 * each other over every region, so that an upgrade that differs shows.
 */
import type { CountryCode, Metadata, NumberingPlan } from 'libphonenumber-js/max';

/** What the library's plans know beyond their published type. */
interface Plan extends NumberingPlan {
  callingCode(): string;
  nationalNumberPattern(): string;
  nationalPrefixForParsing(): string | 0 | null | undefined;
}

/** Countries that share a calling code, the main one first. */
type CountriesByCode = Readonly<Record<string, readonly CountryCode[] | undefined>>;

interface Holder {
  readonly metadata: { readonly country_calling_codes: CountriesByCode };
}

/** E.164, or undefined: ask the library. */
export type FastLane = (text: string) => string | undefined;

interface Region {
  readonly callingCode: string;
  /** Prefix for calls abroad: only a plain `00` is taken. */
  readonly dials00: boolean;
  readonly prefix: RegExp | undefined;
  readonly pattern: RegExp;
}

/** Digits with the usual signs between them; everything rarer is the library's. */
const PLAIN = /^[+(]?\d[\d ()./-]{1,30}\d$/;
const NOT_DIGITS = /\D/g;

export class FastLanes {
  readonly #metadata: Metadata;
  readonly #countries: CountriesByCode;
  readonly #regions = new Map<CountryCode, Region>();
  /** Lengths possible in every region that shares a calling code, by code. */
  readonly #lengths = new Map<string, ReadonlySet<number>>();

  constructor(metadata: Metadata) {
    this.#metadata = metadata;
    const { country_calling_codes: countries } = (metadata as unknown as Holder).metadata;
    this.#countries = countries;
  }

  lane(country: CountryCode | undefined): FastLane {
    const region = country && this.#region(country);
    return (text) => {
      if (!PLAIN.test(text)) return undefined;
      const digits = text.replace(NOT_DIGITS, '');
      if (text.startsWith('+')) return this.#international(digits);
      if (digits.startsWith('00')) return !region || region.dials00 ? this.#international(digits.slice(2)) : undefined;
      return region && this.#national(digits, region);
    };
  }

  #national(digits: string, region: Region): string | undefined {
    const match = region.prefix?.exec(digits);
    if (match && match.length > 1) return undefined;
    const national = match ? digits.slice(match[0].length) : digits;
    if (!region.pattern.test(national) || !this.#lengthsOf(region.callingCode).has(national.length)) return undefined;
    return `+${region.callingCode}${national}`;
  }

  #international(digits: string): string | undefined {
    for (let length = 1; length <= 3; length += 1) {
      const code = digits.slice(0, length);
      const [main] = this.#countries[code] ?? [];
      if (main === undefined) continue;
      const national = digits.slice(length);
      const { prefix } = this.#region(main);
      return prefix?.test(national) || !this.#lengthsOf(code).has(national.length) ? undefined : `+${digits}`;
    }
    return undefined;
  }

  #region(country: CountryCode): Region {
    const known = this.#regions.get(country);
    if (known) return known;
    const plan = this.#plan(country);
    const prefix = plan.nationalPrefixForParsing();
    const region = {
      callingCode: plan.callingCode(),
      dials00: plan.IDDPrefix() === '00',
      prefix: prefix ? new RegExp(`^(?:${prefix})`) : undefined,
      pattern: new RegExp(`^(?:${plan.nationalNumberPattern()})$`),
    };
    this.#regions.set(country, region);
    return region;
  }

  #lengthsOf(code: string): ReadonlySet<number> {
    const known = this.#lengths.get(code);
    if (known) return known;
    const [first = [], ...others] = (this.#countries[code] ?? []).map((country) =>
      this.#plan(country).possibleLengths(),
    );
    const common = new Set(first.filter((length) => others.every((lengths) => lengths.includes(length))));
    this.#lengths.set(code, common);
    return common;
  }

  #plan(country: CountryCode): Plan {
    this.#metadata.selectNumberingPlan(country);
    return this.#metadata.numberingPlan as Plan;
  }
}
