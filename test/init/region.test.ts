import { describe, expect, it } from 'vitest';
import { mapping, times } from './mapping.ts';

/** The lines of a mapping for one file that contain `key`. */
async function lines(file: string, rows: readonly string[], key: string): Promise<string> {
  const text = await mapping({ [file]: rows });
  return text
    .split('\n')
    .filter((line) => line.includes(`${key}:`))
    .join('\n');
}

const CONTACTS = 'Contact ID,Full name,Email,Phone,Country';
const contact = (n: number, phone: string, country = ''): string =>
  `${n},Person ${n},p${n}@acme.example,${phone},${country}`;

describe('the region of phone numbers without a country code', () => {
  it('is proposed with its figures if the numbers with a country code agree and the others are valid in it', async () => {
    const rows = [
      ...times(4, (n) => contact(n, `+39 02 8088 120${n}`)),
      ...times(10, (n) => contact(10 + n, `06 4567 102${n}`)),
    ];
    const line = await lines('contacts.csv', [CONTACTS, ...rows], 'region');
    expect(line).toContain('  region: IT # set this: IT: 10 of 10 numbers without a country code are valid');
    expect(line).toContain('4 of 4 with one are of it');
  });

  it('is read from numbers with 00 or a bracket in front too, and not from cells that mean no value', async () => {
    const rows = [
      ...times(5, (n) => contact(n, `(0034) 93 222 300${n}`)),
      ...times(10, (n) => contact(10 + n, `612 345 00${n}`)),
      ...times(9, (n) => contact(20 + n, 'n/a')),
    ];
    const line = await lines('contacts.csv', [CONTACTS, ...rows], 'region');
    expect(line).toContain('  region: ES # set this: ES: 10 of 10 numbers without a country code are valid');
    expect(line).toContain('5 of 5 with one are of it');
  });

  it('is not proposed by two numbers against sixty-five', async () => {
    const rows = [
      ...times(2, (n) => contact(n, `+39 02 8088 120${n}`)),
      ...times(65, (n) => contact(10 + n, `06 4567 10${10 + n}`)),
    ];
    const line = await lines('contacts.csv', [CONTACTS, ...rows], 'region');
    expect(line).toContain('  # region: IT # set this: the evidence is thin: IT: 65 of 65');
  });

  it('is not proposed if most of the other numbers are not valid in it', async () => {
    const rows = [
      ...times(8, (n) => contact(n, `+39 02 8088 120${n}`)),
      ...times(8, (n) => contact(10 + n, `(212) 555-019${n}`)),
    ];
    const line = await lines('contacts.csv', [CONTACTS, ...rows], 'region');
    expect(line).toContain('  # region: IT # set this: ');
    expect(line).toContain('IT: 0 of 8 numbers without a country code are valid');
  });

  it('is proposed by a column of countries, by name or code', async () => {
    const rows = times(10, (n) => contact(n, `030 90182${n}0`, n % 2 === 0 ? 'Deutschland' : 'DE'));
    const line = await lines('contacts.csv', [CONTACTS, ...rows], 'region');
    expect(line).toContain('  region: DE # set this: ');
    expect(line).toContain('10 records name it');
  });

  it('stays unset if nothing shows a country', async () => {
    const line = await lines('contacts.csv', [CONTACTS, contact(1, '06 4567 1026')], 'region');
    expect(line).toContain('# region: IT # set this: 1 phone numbers have no country code, and nothing shows');
  });
});

describe('the currency of deals without a column for it', () => {
  const DEALS = 'Deal ID,Title,Stage,Amount';

  it('is the one whose sign the amounts have, with its figures', async () => {
    const line = await lines('deals.csv', [DEALS, 'D1,Roof,New,"£22,700.00"', 'D2,Floor,New,£80.50'], 'currency');
    expect(line).toContain('currency: { value: GBP } # set this: ');
    expect(line).toContain('2 of 2 amounts have £');
  });

  it('stays unset if the signs conflict', async () => {
    const line = await lines('deals.csv', [DEALS, 'D1,Roof,New,"£22,700.00"', 'D2,Floor,New,€80.50'], 'currency');
    expect(line).toContain('# currency: { value: EUR } # set this: several currencies: 1 of 2 amounts have £, 1 of 2');
  });
});
