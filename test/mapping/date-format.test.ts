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

  it('refuse days and times that do not exist', () => {
    const { read } = compileFormat('dd/MM/yyyy HH:mm', 'en');
    expect(read('29/02/2024 23:59')).toEqual({ local: Date.UTC(2024, 1, 29, 23, 59), offset: undefined });
    for (const text of [
      '29/02/2023 10:00',
      '31/04/2024 10:00',
      '00/01/2024 10:00',
      '01/13/2024 10:00',
      '01/01/2024 24:00',
    ]) {
      expect(read(text)).toBeUndefined();
    }
  });
});
