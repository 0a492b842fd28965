import { describe, expect, it } from 'vitest';
import { mapping, times } from './mapping.ts';

describe('columns of exports', () => {
  it('recognises names that are written together, and owners whatever the word for them', async () => {
    const text = await mapping({
      'deals.csv': [
        'OpportunityId,OpportunityName,StageName,EstimatedValue,Owned By',
        ...times(5, (n) => `O${n},Roof ${n},New,1${n}0.50,Ann Bell`),
      ],
    });
    for (const line of [
      'external_id: OpportunityId',
      'title: OpportunityName',
      'stage_name: StageName',
      'amount: { from: EstimatedValue',
      'owner_name: Owned By',
    ])
      expect(text).toContain(line);
  });

  it('prefers a stage to a status', async () => {
    const text = await mapping({
      'deals.csv': [
        'Deal ID,Deal Name,Deal Status,Deal Stage,Deal value',
        ...times(5, (n) => `O${n},Roof ${n},Open,Demo Done,1${n}0.50`),
      ],
    });
    expect(text).toContain('stage_name: Deal Stage');
  });

  it('reads an amount as cents only where its name or another column says so', async () => {
    const deals = (header: string, more: (n: number) => string): Promise<string> =>
      mapping({ 'deals.csv': [`Deal ID,Stage,${header}`, ...times(5, (n) => `O${n},New,${more(n)}`)] });
    expect(await deals('Value', (n) => `${n + 1}000`)).not.toContain('cents');
    expect(await deals('Amount in cents', (n) => `${n + 1}000`)).toContain(
      'divide: 100 } }] } # check: read as cents, because its name says so',
    );
    expect(await deals('Value,Shown', (n) => `${n + 1}050,$${n + 1}0.50`)).toContain(
      '# check: read as cents, because `Shown` has a hundredth of it in every record',
    );
  });

  it('writes no date format for values that look like dates and are none, and reads short years and UTC', async () => {
    const text = await mapping({
      'deals.csv': [
        'Deal ID,Stage,Amount,Version,Close,Created',
        ...times(5, (n) => `O${n},New,1${n}.50,1.99.${n + 130},2${n}-10-16,2023-09-0${n + 1} 15:23:12.000000 UTC`),
      ],
    });
    expect(text).toContain('version: Version');
    expect(text).toContain('close: { from: Close, apply: [{ date: { formats: d-M-yy, as: date } }] }');
    expect(text).toContain(
      "occurred_at: { from: Created, apply: [{ date: { formats: yyyy-MM-dd HH:mm:ss.u 'UTC', timezone: UTC } }] }",
    );
  });

  it('writes a format for hours without a leading zero, as spreadsheets write them', async () => {
    const text = await mapping({
      'contacts.csv': [
        'Contact ID,Full name,Email,Created',
        ...times(5, (n) => `C${n},Ann ${n},a${n}@bell.example,1${n}/02/2024 ${n + 7}:05`),
      ],
    });
    expect(text).toContain('occurred_at: { from: Created, apply: [{ date: d/M/yyyy H:mm }] }');
  });
});

describe('the time zone', () => {
  const contact =
    (country: string) =>
    (n: number): string =>
      `C${n},Ann ${n},a${n}@bell.example,${country},2024-01-01 10:00`;
  const HEADER = 'Contact ID,Full name,Email,Country,Created';

  it('is that of the country, if it has only one', async () => {
    const text = await mapping({ 'contacts.csv': [HEADER, ...times(12, contact('Italy'))] });
    expect(text).toContain(
      'timezone: Europe/Rome # check: dates without an offset are in it, because the country is IT',
    );
  });

  it('is left open for a country with several, for several countries, and for dates with another offset', async () => {
    const open = 'timezone: UTC # set this: ';
    expect(await mapping({ 'contacts.csv': [HEADER, ...times(12, contact('United States'))] })).toContain(open);
    expect(
      await mapping({ 'contacts.csv': [HEADER, ...times(12, (n) => contact(n % 2 ? 'Italy' : 'France')(n))] }),
    ).toContain(open);
    const away = times(12, contact('Italy')).map((row, n) => (n > 5 ? row : row.replace(' 10:00', 'T10:00:00+05:00')));
    expect(await mapping({ 'contacts.csv': [HEADER, ...away] })).toContain(
      'such as Europe/Rome; the country is IT, but dates have the offset +05:00',
    );
  });
});
