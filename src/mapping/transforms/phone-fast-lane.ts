/**
 * Plainly written phone numbers without the library's long way: the same answers from the same metadata, compiled once
 * for each region. It may only accept; whatever it does not take goes to the library. The tests hold the two against
 * each other over every region, so that an upgrade that differs shows.
 */
import type { CountryCode, MetadataJson } from 'libphonenumber-js/core';

/** What the metadata say of a country, in places that are fixed by the version of their format. */
type Plan = readonly [
  callingCode: string,
  prefixForCallsAbroad: string,
  pattern: string,
  lengths: readonly number[],
  formats: unknown,
  prefix: string | 0 | undefined,
  prefixFormat: unknown,
  /** Where it is not plainly the prefix. */
  prefixForParsing: string | 0 | undefined,
];

/** The version whose places `Plan` names. */
const KNOWN_VERSION = 4;

/** E.164, or undefined: ask the library. */
export type FastLane = (text: string) => string | undefined;

interface Region {
  readonly callingCode: number;
  /** Prefix for calls abroad: only a plain `00` is taken. */
  readonly dials00: boolean;
  readonly prefix: RegExp | undefined;
  readonly pattern: RegExp;
}

/** What the numbers of one calling code have in common. */
interface Calling {
  /** Of the main country among those that share the code. */
  readonly prefix: RegExp | undefined;
  /** Possible in every country that shares it. */
  readonly lengths: ReadonlySet<number>;
}

const ZERO = 0x30;
const SIGNS = new Set([...' ()./-'].map((sign) => sign.charCodeAt(0)));
/** Characters of a number beside a sign before it. */
const LONGEST = 32;

export class FastLanes {
  readonly #metadata: MetadataJson;
  readonly #regions = new Map<CountryCode, Region>();
  /** By calling code. */
  readonly #callings: (Calling | null | undefined)[] = [];

  constructor(metadata: MetadataJson) {
    this.#metadata = metadata;
  }

  /** Undefined where the metadata are of another version than is known here. */
  lane(country: CountryCode | undefined): FastLane | undefined {
    if (this.#metadata.version !== KNOWN_VERSION) return undefined;
    const region = country && this.#region(country);
    return (text) => {
      const digits = plainDigits(text);
      if (digits === undefined) return undefined;
      if (text.startsWith('+')) return this.#international(digits);
      if (digits.startsWith('00')) return !region || region.dials00 ? this.#international(digits.slice(2)) : undefined;
      return region && this.#national(digits, region);
    };
  }

  #national(digits: string, region: Region): string | undefined {
    const match = region.prefix?.exec(digits);
    if (match && match.length > 1) return undefined;
    const national = match ? digits.slice(match[0].length) : digits;
    const { lengths } = this.#calling(region.callingCode)!;
    if (!region.pattern.test(national) || !lengths.has(national.length)) return undefined;
    return `+${region.callingCode}${national}`;
  }

  #international(digits: string): string | undefined {
    if (digits.startsWith('0')) return undefined;
    let code = 0;
    for (let length = 1; length <= 3 && length < digits.length; length += 1) {
      code = code * 10 + digits.charCodeAt(length - 1) - ZERO;
      const calling = this.#calling(code);
      if (calling === null) continue;
      const national = digits.slice(length);
      return calling.prefix?.test(national) || !calling.lengths.has(national.length) ? undefined : `+${digits}`;
    }
    return undefined;
  }

  /** Null: no country has this code. */
  #calling(code: number): Calling | null {
    const known = this.#callings[code];
    if (known !== undefined) return known;
    // Countries that share the code, the main one first.
    const countries = this.#metadata.country_calling_codes[code] ?? [];
    const [main] = countries;
    const found =
      main === undefined ? null : { prefix: this.#region(main).prefix, lengths: this.#lengthsOf(countries) };
    this.#callings[code] = found;
    return found;
  }

  #region(country: CountryCode): Region {
    const known = this.#regions.get(country);
    if (known) return known;
    const [callingCode, abroad, pattern, , , plainPrefix, , prefixForParsing] = this.#plan(country);
    const prefix = prefixForParsing || plainPrefix;
    const region = {
      callingCode: Number(callingCode),
      dials00: abroad === '00',
      prefix: prefix ? new RegExp(`^(?:${prefix})`) : undefined,
      pattern: new RegExp(`^(?:${pattern})$`),
    };
    this.#regions.set(country, region);
    return region;
  }

  #lengthsOf(countries: readonly CountryCode[]): ReadonlySet<number> {
    const [first = [], ...others] = countries.map((country) => this.#plan(country)[3]);
    return new Set(first.filter((length) => others.every((lengths) => lengths.includes(length))));
  }

  #plan(country: CountryCode): Plan {
    return this.#metadata.countries[country] as unknown as Plan;
  }
}

/** The digits of a text that holds nothing else but the usual signs between them; everything rarer is the library's. */
function plainDigits(text: string): string | undefined {
  const first = text.startsWith('+') || text.startsWith('(') ? 1 : 0;
  if (text.length < first + 3 || text.length > first + LONGEST) return undefined;
  if (!isDigit(text.charCodeAt(first)) || !isDigit(text.charCodeAt(text.length - 1))) return undefined;
  let digits = '';
  let start = first;
  for (let at = first; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) continue;
    if (!SIGNS.has(code)) return undefined;
    digits += text.slice(start, at);
    start = at + 1;
  }
  return digits + text.slice(start);
}

function isDigit(code: number): boolean {
  return code >= ZERO && code < ZERO + 10;
}
