import { expect, it } from 'vitest';
import { isCurrency } from '../src/currencies.ts';
import { mapped } from './mapping/inline.ts';

const PAST = 'HRK ITL DEM FRF ESP ATS NLG GRD ZWL EEK LTL LVL SKK SIT VEF BYR TRL ROL ZMK MRO STD SLL CUC'.split(' ');

it.each([...PAST, 'EUR', 'USD', 'ZWG', 'XAD', 'XCG', 'BGN', 'XXX'])('%s is a currency', (code) => {
  expect(isCurrency(code)).toBe(true);
});

it.each(['EURO', 'eur', '', 'ABC', '978', 'constructor'])('%s is none', (code) => {
  expect(isCurrency(code)).toBe(false);
});

it('takes a deal in a currency of the past, as the export has it', async () => {
  const mapping =
    'sources: { it: { path: it.csv } }\n' +
    'events: [{ type: deal/created, source: it, data: { external_id: Id, currency: Currency } }]\n';
  const drafts = await mapped(mapping, { 'it.csv': 'Id,Currency\n1,ITL\n2,HRK\n3,EURO\n' });
  expect(drafts.map(({ data, issues }) => [data.currency, issues.map(({ code }) => code)])).toEqual([
    ['ITL', []],
    ['HRK', []],
    [undefined, ['invalid_currency']],
  ]);
});
