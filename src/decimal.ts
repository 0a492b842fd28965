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
