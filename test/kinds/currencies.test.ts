// Lost without it: an amount could go out in another currency than its sign says.
import { expect, it } from 'vitest';
import { isCurrency } from '../../src/kinds/currencies.ts';
import { mapped } from '../mapping/inline.ts';

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

const deals = (currency: string, amount = '{ from: Amount, apply: [number] }', extra = ''): string =>
  'sources: { it: { path: it.csv } }\n' +
  `events: [{ type: deal/created, source: it, data: { external_id: Id, amount: ${amount}, currency: ${currency}${extra} } }]\n`;

/** The codes and messages of the only record of an export. */
async function said(mapping: string, text: string, file = 'it.csv'): Promise<string[]> {
  const [draft] = await mapped(mapping.replace('it.csv', file), { [file]: text });
  return draft!.issues.map(({ code, message }) => `${code} ${message}`);
}

it.each([
  ['$ 200', 'EUR', '$'],
  ['USD 300', 'EUR', 'USD'],
  ['300 USD', 'EUR', 'USD'],
  ['£50', 'EUR', '£'],
  ['CHF 7', 'EUR', 'CHF'],
  ['€ 100', 'USD', '€'],
  ['-€5', 'USD', '€'],
  ['(5 €)', 'GBP', '€'],
  ['R$ 200', 'EUR', 'R$'],
  ['R$ 200', 'USD', 'R$'],
  ['US$5', 'CAD', 'US$'],
  ['5 kr', 'EUR', 'kr'],
  ['5 kr.', 'EUR', 'kr'],
  ['5 zł', 'EUR', 'zł'],
  ['₹5', 'USD', '₹'],
  ['¥5', 'EUR', '¥'],
  ['MX$5', 'EUR', 'MX$'],
  ['5 руб.', 'EUR', 'руб'],
  ['5 ₴', 'RUB', '₴'],
  ['DEM 5', 'EUR', 'DEM'],
  ['5 Ft', 'EUR', 'Ft'],
])('an amount %s that is sent as %s has the sign of another currency', async (amount, currency, mark) => {
  const text = `Id,Amount,Currency\n1,${amount},${currency}\n`;
  const warning = [`other_currency \`${amount}\` has \`${mark}\`, but is sent as ${currency}`];
  expect(await said(deals(`{ value: ${currency} }`), text)).toEqual(warning);
  expect(await said(deals('Currency'), text)).toEqual(warning);
  const replaced = `{ from: Amount, apply: [{ replace: { pattern: "[^0-9]+", with: "" } }] }`;
  expect(await said(deals('Currency', replaced), text)).toEqual(warning);
  const json = JSON.stringify([{ Id: '1', items: [{ worth: amount }] }]);
  const each = deals('Currency', '{ from: worth, apply: [number] }')
    .replace('external_id: Id', 'external_id: $.Id')
    .replace('type:', 'each: items, type:')
    .replace('currency: Currency', `currency: { value: ${currency} }`);
  expect(await said(each, json, 'it.json')).toEqual(warning);
});

it.each([
  ['$ 200', 'USD'],
  ['$ 200', 'CAD'],
  ['$ 200', 'MXN'],
  ['kr 200', 'SEK'],
  ['kr 200', 'DKK'],
  ['£5', 'EGP'],
  ['¥5', 'CNY'],
  ['5 zł', 'PLN'],
  ['₹5', 'INR'],
  ['R$5', 'BRL'],
  ['USD 5', 'USD'],
  ['5', 'EUR'],
  ['5 руб', 'BYN'],
])('an amount %s can be sent as %s', async (amount, currency) => {
  expect(await said(deals(`{ value: ${currency} }`), `Id,Amount\n1,${amount}\n`)).toEqual([]);
});

it.each([
  ['Amount (USD)', 'EUR', ['USD']],
  ['Value, ₽', 'EUR', ['₽']],
  ['amountUSD', 'EUR', ['USD']],
  ['Amount EUR net', 'USD', ['EUR']],
  ['Amount (EUR)', 'EUR', []],
  ['TOTAL ALL', 'EUR', []],
])('a column `%s` that is sent as %s', async (column, currency, marks) => {
  const mapping = deals(`{ value: ${currency} }`, `{ from: "${column}", apply: [number] }`);
  const warnings = marks.map(
    (mark) => `other_currency the column \`${column}\` has \`${mark}\`, but is sent as ${currency}`,
  );
  expect(await said(mapping, `Id,"${column}"\n1,200\n`)).toEqual(warnings);
});

it('the `$` of a key of MongoDB is no sign', async () => {
  const mapping = deals('{ value: GBP }', 'total.$numberDecimal');
  expect(await said(mapping, '[{"Id": "1", "total": {"$numberDecimal": "12.50"}}]', 'it.json')).toEqual([]);
});

it('says nothing of an amount that goes out without a currency, or of a sign in another field', async () => {
  expect(await said(deals('Currency'), 'Id,Amount,Currency\n1,$ 5,\n')).toEqual([]);
  const mapping = deals('{ value: EUR }', '{ from: Net, apply: [number] }', ', custom_fields: { gross: Amount }');
  expect(await said(mapping, 'Id,Amount,Net\n1,$ 5,4\n')).toEqual([]);
});

it.each([
  ['it.csv', 'Id,Amount,Deal currency\n1,5,USD\n', ['USD']],
  ['it.csv', 'Id,Amount,Währung\n1,5,chf\n', ['CHF']],
  ['it.csv', 'Id,Amount,Currency\n1,5,EUR\n', []],
  ['it.csv', 'Id,Amount,Currency\n1,,USD\n', []],
  ['it.csv', 'Id,Amount,Currency\n1,5,n/a\n', []],
  ['it.json', '[{"Id":1,"Amount":5,"currency_code":"USD"}]', ['USD']],
  ['it.json', '[{"Id":1,"Amount":5,"properties":{"deal_currency_code":"USD"}}]', ['USD']],
])('a currency of the record that a constant hides is said: %s %j', async (file, text, codes) => {
  const name = /[^",]*(?:urrency|Währung)[^",]*/.exec(text)![0].split('\n')[0]!;
  const warnings = codes.map((code) => `other_currency the column \`${name}\` has \`${code}\`, but is sent as EUR`);
  expect(await said(deals('{ value: EUR }'), text, file)).toEqual(warnings);
});

it('a currency that is read from a column is not compared with other columns', async () => {
  expect(await said(deals('Currency'), 'Id,Amount,Currency,Company currency\n1,5,EUR,USD\n')).toEqual([]);
});
