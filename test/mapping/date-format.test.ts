import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { compileFormat } from '../../src/mapping/transforms/date-format.ts';

const FORMATS = [
  'yyyy-MM-dd HH:mm',
  'dd/MM/yyyy',
  "yyyy-MM-dd'T'HH:mm:ss.SSS",
  'yyyyMMddHHmmss',
  "dd.MM.yyyy 'um' HH:mm",
  'd/M/yyyy H:mm:ss',
];

const moment = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
const change = fc.record({ at: fc.nat(24), text: fc.constantFrom('', '0', '3', '9', 'x', '٣', '-', '.') });

describe('date formats', () => {
  it.each(FORMATS)('%s: a text is read as luxon reads it, or not at all', (format) => {
    const { read } = compileFormat(format, 'en');
    let found = 0;
    const property = fc.property(moment, fc.option(change), (date, changed) => {
      const written = DateTime.fromJSDate(date, { zone: 'utc' }).toFormat(format);
      const text = changed ? written.slice(0, changed.at) + changed.text + written.slice(changed.at + 1) : written;
      const result = read(text);
      if (!changed) expect(result).toBeDefined();
      if (result === undefined) return;
      found += 1;
      expect(result.local).toBe(DateTime.fromFormat(text, format, { zone: 'utc', locale: 'en' }).toMillis());
    });
    fc.assert(property, { numRuns: 1000 });
    expect(found).toBeGreaterThan(100);
  });
});
