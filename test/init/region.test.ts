import { describe, expect, it } from 'vitest';
import { draftOf, times } from './mapping.ts';

const CONTACTS = 'Contact ID,Full name,Email,Phone,Country';
const contact = (n: number, phone: string, country = ''): string =>
  `${n},Ada Bell,p${n}@acme.example,${phone},${country}`;

describe('the region of phone numbers without a country code', () => {
  const CASES: readonly (readonly [
    what: string,
    rows: readonly string[],
    region: string | undefined,
    remark: RegExp,
  ])[] = [
    [
      'is that of the numbers with one, if the others are valid in it',
      [...times(4, (n) => contact(n, `+39 02 8088 120${n}`)), ...times(10, (n) => contact(10 + n, `06 4567 102${n}`))],
      'IT',
      /^set this: IT \(Italy\): 10 of 10 phone numbers without a country code are valid there, 4 of 4/,
    ],
    [
      'is read from numbers with 00 in front, too, and not from cells that mean no value',
      [
        ...times(5, (n) => contact(n, `(0034) 93 222 300${n}`)),
        ...times(10, (n) => contact(10 + n, `612 345 00${n}`)),
        ...times(9, (n) => contact(20 + n, 'n/a')),
      ],
      'ES',
      /^set this: ES \(Spain\): 10 of 10/,
    ],
    [
      'is left open on two numbers against sixty-five',
      [
        ...times(2, (n) => contact(n, `+39 02 8088 120${n}`)),
        ...times(65, (n) => contact(10 + n, `06 4567 10${10 + n}`)),
      ],
      undefined,
      /^set this: little shows the country: IT \(Italy\): 65 of 65/,
    ],
    [
      'is left open if most of the other numbers are not valid in it',
      [...times(8, (n) => contact(n, `+39 02 8088 120${n}`)), ...times(8, (n) => contact(10 + n, `(212) 555-019${n}`))],
      undefined,
      /IT \(Italy\): 0 of 8 phone numbers without a country code are valid/,
    ],
    [
      'is that of a column of countries, by name or code',
      times(10, (n) => contact(n, `030 90182${n}0`, n % 2 === 0 ? 'Deutschland' : 'DE')),
      'DE',
      /10 records name this country/,
    ],
    [
      'is that of addresses and letters, where hints of two kinds agree',
      times(10, (n) =>
        contact(n, `06 4567 102${n}`).replace('.example', '.it').replace('Ada Bell', `Niccolò Bello${n}`),
      ),
      'IT',
      /^set this: IT \(Italy\): 10 of 10 .* end in its domain, texts have letters/,
    ],
    [
      'is that of letters alone, where nearly all of many numbers are valid there, and hardly any in the others that may be meant',
      times(12, (n) => contact(n, `01 42 68 53 ${n + 10}`).replace('Ada Bell', `Hélène Sœur${n}`)),
      'FR',
      /^set this: FR \(France\): 12 of 12 .* texts have letters/,
    ],
    [
      'is left open if nothing shows a country',
      [contact(1, '06 4567 1026')],
      undefined,
      /nothing in the exports shows their country/,
    ],
    [
      'is not that whose code an area code looks like',
      times(10, (n) => contact(n, `${n % 2 ? '(646) 555-01' : '646-555-01'}${n + 10}`)),
      undefined,
      /nothing in the exports shows/,
    ],
    [
      'is that whose code the numbers begin with, without +',
      times(10, (n) => contact(n, n % 2 ? `64 9 301 010${n}` : `6493010${n}10`)),
      'NZ',
      /10 of 10 .* they begin with its code/,
    ],
  ];
  it.each(CASES)('%s', async (_what, rows, region, remark) => {
    const draft = await draftOf({ 'contacts.csv': [CONTACTS, ...rows] });
    expect(draft.spec.defaults?.region).toBe(region);
    expect(draft.remark('region')).toMatch(remark);
  });

  it.each([
    ['numbers of taxes', 'VAT no', (n: number) => `DE${n}71440962`, '030 90182', 'DE'],
    ['states', 'State', (n: number) => (n % 2 ? 'TX' : 'OK'), '(512) 555-01', 'US'],
    ['postal codes', 'Postcode', (n: number) => `SW${n}A 1AA`, '020 7946 00', 'GB'],
    ['a script', 'Note', (n: number) => `${n} 번째 전화`, '02-312-34', 'KR'],
    ['words', 'Straße', (n: number) => `Große Straße ${n}`, '030 90182', 'DE'],
  ])('is proposed by %s, to be confirmed', async (_what, header, value, phone, region) => {
    const row = (n: number): string => `${n},Ada Bell,p${n}@acme.example,${phone}${n + 10},${value(n)}`;
    const draft = await draftOf({ 'contacts.csv': [`Contact ID,Full name,Email,Phone,${header}`, ...times(9, row)] });
    expect(draft.spec.defaults?.region).toBeUndefined();
    expect(draft.text).toMatch(new RegExp(`# region: ${region} # set this: little shows the country: .* 9 of 9`));
  });

  it('is asked for numbers under a header that says nothing', async () => {
    const row = (n: number): string => `${n},Ada Bell ${n},p${n}@acme.example,030 90182${n + 10}`;
    const draft = await draftOf({ 'contacts.csv': ['Contact ID,Full name,Email,Zq', ...times(9, row)] });
    expect(draft.lead['phone_number']).toMatchObject({ from: 'Zq' });
    expect(draft.text).toContain('# region: … # set this: 9 phone numbers');
  });

  it('is proposed by the one currency of the amounts, if nothing else shows a country and the numbers are valid there', async () => {
    const deals = (amount: string): string[] => [
      'Deal ID,Title,Stage,Value',
      ...times(6, (n) => `D${n},Deal ${n},Won,${amount.replace('1', String(n + 1))}`),
    ];
    const contacts = [CONTACTS, ...times(8, (n) => contact(n, `(11) 91234-567${n}`))];
    const draft = await draftOf({ 'contacts.csv': contacts, 'deals.csv': deals('"R$ 1.250,50"') });
    expect(draft.spec.defaults?.region).toBeUndefined();
    expect(draft.text).toMatch(/# region: BR # set this: .* 8 of 8 phone numbers/);
    const euro = await draftOf({ 'contacts.csv': contacts, 'deals.csv': deals('"1.250,50 €"') });
    expect(euro.text).toContain('# region: … # set this: 8 phone numbers');
    const wrong = await draftOf({ 'contacts.csv': contacts, 'deals.csv': deals('"1.250,50 Kč"') });
    expect(wrong.text).toMatch(/# region: CZ # set this: .*0 of 8 phone numbers/);
    const unknown = await draftOf({ 'contacts.csv': contacts, 'deals.csv': deals('"1.250,50 ₨"') });
    expect(unknown.text).toContain('# region: … # set this');
    expect(unknown.remark('currency')).toMatch(/^set this: 6 of 6 amounts have ₨/);
  });

  it('is that of the code with which they begin without +, also where a cell has several', async () => {
    const cell = (n: number): string => (n % 3 ? `346919800${n + 10}` : `"346273567${n + 10}, 346204150${n + 10}"`);
    const draft = await draftOf({ 'contacts.csv': [CONTACTS, ...times(20, (n) => contact(n, cell(n)))] });
    expect(draft.remark('region')).toMatch(/^set this: ES \(Spain\): 20 of 20/);
    expect(draft.remark('phone_number')).toMatch(/^check: 7 cells have several/);
  });

  it('is read from the country in its record, where most have one', async () => {
    const rows = times(10, (n) => contact(n, `030 90182${n}0`, n % 2 === 0 ? 'Deutschland' : 'Österreich'));
    const draft = await draftOf({ 'contacts.csv': [CONTACTS, ...rows] });
    expect(draft.lead['phone_number']).toEqual({ from: 'Phone', apply: [{ phone: { region_from: 'Country' } }] });
    const codes = await draftOf({ 'contacts.csv': [CONTACTS, ...times(9, (n) => contact(n, `030 90182${n}0`, 'DE'))] });
    expect(codes.lead['phone_number']).toMatchObject({ apply: [{ phone: { region_from: 'Country' } }] });
  });
});

describe('the time zone', () => {
  const dated =
    (country: string, time = '2024-01-01 10:00') =>
    (n: number): string =>
      `C${n},Ada Bell,a${n}@bell.example,${country},${time}`;
  const zoneOf = async (rows: readonly string[]) =>
    (await draftOf({ 'contacts.csv': ['Contact ID,Full name,Email,Country,Created', ...rows] })).remark('timezone');

  it('is that of the country, if it has only one', async () => {
    expect(await zoneOf(times(12, dated('Italy')))).toMatch(/^check: .*IT has only one time zone/);
  });

  it('is left open for a country with several, for several countries, and for dates with another offset', async () => {
    expect(await zoneOf(times(12, dated('United States')))).toMatch(/^set this: /);
    expect(await zoneOf(times(12, (n) => dated(n % 2 ? 'Italy' : 'France')(n)))).toMatch(/^set this: /);
    const away = times(12, (n) => dated('Italy', n > 5 ? '2024-01-01 10:00' : '2024-01-01T10:00:00+05:00')(n));
    expect(await zoneOf(away)).toContain('dates have the offset +05:00');
  });
});
