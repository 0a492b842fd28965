import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { compileFixed } from '../../src/mapping/transforms/date-fixed.ts';
import { formatPieces } from '../../src/mapping/transforms/date-format.ts';

const FORMATS = [
  'yyyy-MM-dd HH:mm',
  'dd/MM/yyyy',
  "yyyy-MM-dd'T'HH:mm:ss.SSS",
  'yyyyMMddHHmmss',
  "dd.MM.yyyy 'um' HH:mm",
];

function readerOf(format: string): (text: string) => number | undefined {
  return compileFixed(formatPieces(format))!;
}

const moment = fc.tuple(
  fc.integer({ min: 1, max: 9999 }),
  fc.nat(13),
  fc.nat(32),
  fc.nat(24),
  fc.nat(60),
  fc.nat(60),
  fc.nat(999),
);
const noise = fc.record({ at: fc.nat(24), text: fc.constantFrom('', ' ', '0', 'x', '٣', '-', '.') });

describe('dates at fixed places', () => {
  it.each(FORMATS)('%s: what is taken is what luxon reads', (format) => {
    const read = readerOf(format);
    let taken = 0;
    const property = fc.property(moment, fc.option(noise), ([year, ...rest], change) => {
      const [month, day, hour, minute, second, milli] = rest.map((number) => String(number).padStart(2, '0'));
      const parts: Readonly<Record<string, string>> = {
        yyyy: String(year).padStart(4, '0'),
        MM: month!,
        dd: day!,
        HH: hour!,
        mm: minute!,
        ss: second!,
        SSS: milli!.padStart(3, '0'),
      };
      const written = formatPieces(format)
        .map(({ token, literal }) => (token === undefined ? literal : parts[token]))
        .join('');
      const text = change ? written.slice(0, change.at) + change.text + written.slice(change.at + 1) : written;
      const found = read(text);
      if (found === undefined) return;
      taken += 1;
      expect(found).toBe(DateTime.fromFormat(text, format, { zone: 'utc' }).toMillis());
    });
    fc.assert(property, { numRuns: 1000 });
    expect(taken).toBeGreaterThan(50);
  });

  it('leaves days and times that do not exist, and other widths, to the expression', () => {
    const read = readerOf('dd/MM/yyyy HH:mm');
    expect(read('29/02/2024 23:59')).toBe(Date.UTC(2024, 1, 29, 23, 59));
    for (const text of ['29/02/2023 10:00', '31/04/2024 10:00', '01/01/2024 24:00', '1/1/2024 10:00', '']) {
      expect(read(text)).toBeUndefined();
    }
  });

  it('takes no format with tokens of other widths, names or offsets', () => {
    for (const format of ['d/M/yyyy', 'dd MMM yyyy', 'yyyy-MM-dd HH:mm ZZ', 'hh:mm a', 'yy-MM-dd']) {
      expect(compileFixed(formatPieces(format))).toBeUndefined();
    }
  });
});
