/** Dates whose digits stand at fixed places (`yyyy-MM-dd HH:mm`), read without an expression. */

const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Milliseconds since 1970, or undefined for a day or a time of day that does not exist. */
export function utc(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  milli: number,
): number | undefined {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : LENGTHS[month - 1];
  if (days === undefined || day < 1 || day > days || year < 1 || hour > 23 || minute > 59 || second > 59)
    return undefined;
  const time = Date.UTC(year, month - 1, day, hour, minute, second, milli);
  // Date.UTC reads years below 100 as 19xx.
  return year > 99 ? time : new Date(time).setUTCFullYear(year);
}

/** For each token its width, and the place of its number among those of a date. */
const TOKENS: Readonly<Record<string, readonly [width: number, part: number]>> = {
  yyyy: [4, 0],
  MM: [2, 1],
  dd: [2, 2],
  HH: [2, 3],
  mm: [2, 4],
  ss: [2, 5],
  SSS: [3, 6],
};

/**
 * A reader for a format in pieces, if all its tokens are of fixed width: milliseconds of the local time as if it stood in
 * UTC. It may only accept; a text that it does not take (undefined) is the expression's to read.
 */
export function compileFixed(
  pieces: readonly { readonly token?: string; readonly literal?: string }[],
): ((text: string) => number | undefined) | undefined {
  const digits: { at: number; end: number; part: number }[] = [];
  const signs: { at: number; code: number }[] = [];
  let length = 0;
  for (const { token, literal = '' } of pieces) {
    if (token === undefined) {
      for (let index = 0; index < literal.length; index += 1) {
        signs.push({ at: length + index, code: literal.charCodeAt(index) });
      }
      length += literal.length;
      continue;
    }
    const known = TOKENS[token];
    if (!known) return undefined;
    const [width, part] = known;
    digits.push({ at: length, end: length + width, part });
    length += width;
  }
  const values = [0, 0, 0, 0, 0, 0, 0];
  return (text) => {
    if (text.length !== length) return undefined;
    for (const { at, code } of signs) if (text.charCodeAt(at) !== code) return undefined;
    for (const { at, end, part } of digits) {
      let value = 0;
      for (let index = at; index < end; index += 1) {
        const digit = text.charCodeAt(index) - 0x30;
        if (digit < 0 || digit > 9) return undefined;
        value = value * 10 + digit;
      }
      values[part] = value;
    }
    return utc(values[0]!, values[1]!, values[2]!, values[3]!, values[4]!, values[5]!, values[6]!);
  };
}
