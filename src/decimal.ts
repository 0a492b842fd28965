/** A whole number of hundredths up to this limit has at most 15 digits, so converting it to a number keeps every digit. */
const MOST_CENTS = 999_999_999_999_999;

/** Of a number as JavaScript or JSON writes it. */
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** An exact sum of decimal numbers. A number counts as the shortest decimal that parses to it: 0.1 is one tenth. */
export class DecimalSum {
  /** Whole numbers of hundredths are added as such; `#digits`, in units of 10 ** -`#places`, has the rest. */
  #cents = 0;
  #digits = 0n;
  #places = 2;

  /** Adds nothing, and returns false, if it is not a decimal number. */
  add(value: number | string): boolean {
    const cents = typeof value === 'number' ? Math.round(value * 100) : NaN;
    if (Math.abs(cents) > MOST_CENTS || cents / 100 !== value) return this.#addText(String(value));
    this.#cents += cents;
    if (Math.abs(this.#cents) > MOST_CENTS) this.#flush();
    return true;
  }

  /** In plain notation with at least two decimal places: `1200.50`. */
  toString(): string {
    this.#flush();
    const sign = this.#digits < 0n ? '-' : '';
    const digits = String(this.#digits)
      .replace('-', '')
      .padStart(this.#places + 1, '0');
    const [whole, fraction] = [digits.slice(0, -this.#places), digits.slice(-this.#places)];
    return `${sign}${whole}.${fraction.replace(/(?<=..)0+$/, '')}`;
  }

  #addText(text: string): boolean {
    const match = DECIMAL.exec(text);
    if (!match) return false;
    const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
    const shift = Number(exponent) - fraction.length;
    const digits = BigInt(sign + whole + fraction);
    if (shift < 0) this.#addDigits(digits, -shift);
    else this.#addDigits(digits * 10n ** BigInt(shift), 0);
    return true;
  }

  #flush(): void {
    this.#addDigits(BigInt(this.#cents), 2);
    this.#cents = 0;
  }

  #addDigits(digits: bigint, places: number): void {
    const common = Math.max(places, this.#places);
    this.#digits = this.#digits * tens(common - this.#places) + digits * tens(common - places);
    this.#places = common;
  }
}

function tens(power: number): bigint {
  return 10n ** BigInt(power);
}

/** `1234567.50` as `1,234,567.50`. */
export function grouped(decimal: string): string {
  return decimal.replace(/\B(?<!\..*)(?=(?:\d{3})+(?!\d))/g, ',');
}

/** A number as JavaScript or JSON writes it, in plain notation: `-1200.5` for `-1.2005e3`. Undefined if the text is none. */
export function plainDecimal(text: string): string | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  const padded = digits.padStart(digits.length + Math.max(0, -point), '0').padEnd(Math.max(digits.length, point), '0');
  const cut = Math.max(0, point);
  return decimalOf(sign, padded.slice(0, cut), padded.slice(cut));
}

/** Without needless zeros. `whole` and `fraction`: the digits before and after the point. */
export function decimalOf(sign: string, whole: string, fraction: string): string {
  const left = whole.replace(/^0+(?=\d)/, '') || '0';
  const right = fraction.replace(/0+$/, '');
  const text = right === '' ? left : `${left}.${right}`;
  return text === '0' ? text : sign + text;
}
