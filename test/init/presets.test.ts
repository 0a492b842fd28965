import { describe, expect, it } from 'vitest';
import { draftOf, times } from './mapping.ts';

const CONTACTS = 'Record ID,First Name,Last Name,Email,Lifecycle Stage,Lead Status,Job Title,Create Date,Phone Number';
const DEALS = 'Record ID,Deal Name,Deal Stage,Pipeline,Amount,Close Date,Create Date,Deal owner';
const contact = (n: number): string =>
  `${n + 1},Ada,Bell,p${n}@acme.example,Lead,New,CTO,2024-01-01 10:00,+39 02 8088 1201`;
const deal = (n: number, amount = `${n + 3}00`): string =>
  `${n + 101},Roof of house ${n},New,Sales,${amount},2024-02-01,2024-01-01 10:00,Ann Bell`;

describe('presets', () => {
  it('are used where their columns are there, whatever the file is called, and not by columns of any CRM', async () => {
    const known = await draftOf({ 'Kontakte März.csv': [CONTACTS, ...times(20, contact)] });
    expect(known.findings).toContain('preset hubspot-csv: Kontakte März.csv is `contacts`');
    expect(known.lead['custom_params']).toMatchObject({ origin: { value: 'hubspot' } });
    const unknown = await draftOf({
      'contacts.csv': [
        'Id,Name,Email,Phone,Title',
        ...times(5, (n) => `C${n},Ada Bell,a${n}@bell.example,+39 02 8088 120${n},CTO`),
      ],
    });
    expect(unknown.findings).not.toContain('preset');
  });

  it('get the roles that their columns do not give from other columns, and list what is missing and unused', async () => {
    const header = CONTACTS.replace('Phone Number', 'Telephone,Region');
    const draft = await draftOf({ 'contacts.csv': [header, ...times(20, (n) => `${contact(n)},North`)] });
    expect(draft.lead['phone_number']).toEqual({ from: 'Telephone', apply: ['phone'] });
    expect(draft.text).toContain('# check: not used, although they have values: Region');
    expect(draft.text).toContain('# not in this export: ');
  });

  it('get the lead of a deal from what else ties them, and lose what has no value', async () => {
    const draft = await draftOf({
      'contacts.csv': [CONTACTS, ...times(20, (n) => contact(n).replace(',New,', ',,'))],
      'deals.csv': [`${DEALS},Contact mail`, ...times(20, (n) => `${deal(n)},p${n}@acme.example`)],
    });
    expect(draft.deal['lead_external_id']).toMatchObject({
      lookup: { match: 'Email', with: 'Contact mail', take: 'Record ID' },
    });
    expect(draft.lead['custom_params']).not.toHaveProperty('lead_status');
  });

  it('have the priority of open deals with the spelling of the export, and not without its column', async () => {
    const rows = times(5, (n) => deal(n));
    expect((await draftOf({ 'deals.csv': [DEALS.replace('Stage', 'stage'), ...rows] })).deal['priority']).toMatchObject(
      { from: 'Deal stage' },
    );
    expect((await draftOf({ 'deals.csv': [DEALS.replace('Deal Stage', 'Step'), ...rows] })).deal).not.toHaveProperty(
      'priority',
    );
  });

  it('have a currency as an example, which the amounts correct', async () => {
    const signs = await draftOf({ 'deals.csv': [DEALS, ...times(9, (n) => deal(n, `$${n}.50`))] });
    expect(signs.deal['currency']).toEqual({ value: 'USD' });
    const none = await draftOf({ 'deals.csv': [DEALS, ...times(9, (n) => deal(n, `${n}.50`))] });
    expect(none.remark('currency')).toMatch(/^set this: no column has the currency/);
    const some = await draftOf({
      'deals.csv': [`${DEALS},Currency`, ...times(9, (n) => `${deal(n)},${n < 3 ? '' : 'CAD'}`)],
    });
    expect(some.deal['currency']).toMatchObject({ from: ['Currency', { value: 'EUR' }] });
    expect(some.remark('currency')).toBe('check: EUR where there is none');
  });

  it('leave other exports, and lists inside their own, to be guessed', async () => {
    const results = Array.from({ length: 9 }, (_, n) => ({
      id: `${n + 50}`,
      createdAt: '2024-01-01T10:00:00Z',
      archived: false,
      properties: {
        firstname: 'Ada',
        lastname: 'Bell',
        email: `p${n}@a.test`,
        phone: `+39 02 8088 120${n}`,
        tags: ['a'],
      },
      notes: [{ id: `n${n}`, body: `We spoke about the roof of house ${n}`, timestamp: 1_600_000_000_000 + n }],
    }));
    const draft = await draftOf({ 'contacts.json': { results } }, { preset: 'hubspot-api' });
    expect(draft.text).toContain('# check: not used, although they have values: properties.tags');
    expect(draft.comment).toMatchObject({
      source: 'contacts',
      each: 'notes',
      lead_external_id: '$.id',
      content: 'body',
    });
  });
});
