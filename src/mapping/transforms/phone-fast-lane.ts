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
  readonly #metadata: Metadata;
  readonly #countries: CountriesByCode;
  readonly #regions = new Map<CountryCode, Region>();
  /** By calling code. */
  readonly #callings: (Calling | null | undefined)[] = [];

  constructor(metadata: Metadata) {
    this.#metadata = metadata;
    const { country_calling_codes: countries } = (metadata as unknown as Holder).metadata;
    this.#countries = countries;
  }

  lane(country: CountryCode | undefined): FastLane {
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
    const countries = this.#countries[code] ?? [];
    const [main] = countries;
    const found =
      main === undefined ? null : { prefix: this.#region(main).prefix, lengths: this.#lengthsOf(countries) };
    this.#callings[code] = found;
    return found;
  }

  #region(country: CountryCode): Region {
    const known = this.#regions.get(country);
    if (known) return known;
    const plan = this.#plan(country);
    const prefix = plan.nationalPrefixForParsing();
    const region = {
      callingCode: Number(plan.callingCode()),
      dials00: plan.IDDPrefix() === '00',
      prefix: prefix ? new RegExp(`^(?:${prefix})`) : undefined,
      pattern: new RegExp(`^(?:${plan.nationalNumberPattern()})$`),
    };
    this.#regions.set(country, region);
    return region;
  }

  #lengthsOf(countries: readonly CountryCode[]): ReadonlySet<number> {
    const [first = [], ...others] = countries.map((country) => this.#plan(country).possibleLengths());
    return new Set(first.filter((length) => others.every((lengths) => lengths.includes(length))));
  }

  #plan(country: CountryCode): Plan {
    this.#metadata.selectNumberingPlan(country);
    return this.#metadata.numberingPlan as Plan;
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
