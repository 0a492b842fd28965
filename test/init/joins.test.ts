import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startMapping } from '../../src/init/index.ts';
import { workspace } from '../e2e/harness.ts';
import { mapping, times } from './mapping.ts';

const CONTACTS = ['Contact ID,Full name,Email', ...times(50, (n) => `${n + 1},Person ${n},p${n}@acme.example`)];
const DEALS = 'Deal ID,Title,Stage,Amount';
const deal = (n: number, more: string): string => `D${n},Roof ${n},New,1${n}00.50,${more}`;

describe('joins of exports by the overlap of values', () => {
  it('finds a column of e-mail addresses whatever its name, with its figures', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'deals.csv': [`${DEALS},Reference`, ...times(40, (n) => deal(n, `p${n}@acme.example`))],
    });
    expect(text).toContain('lookup: { source: contacts, match: Email, with: Reference, take: Contact ID }');
    expect(text).toContain('# 40 of 40 deals match contacts.Email');
  });

  it('matches e-mail addresses without regard to case', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'deals.csv': [`${DEALS},Reference`, ...times(40, (n) => deal(n, `P${n}@ACME.example`))],
    });
    expect(text).toMatch(
      /match:\s+from: Email\s+apply:\s+- lowercase\s+with:\s+from: Reference\s+apply:\s+- lowercase/,
    );
    expect(text).toContain('# 40 of 40 deals match contacts.Email');
  });

  it('prefers ids to e-mail addresses to names', async () => {
    const rows = times(40, (n) => deal(n, `Person ${n},p${n}@acme.example,${n + 1}`));
    const exports = { 'contacts.csv': CONTACTS, 'deals.csv': [`${DEALS},A,B,Contact ID`, ...rows] };
    expect(await mapping(exports)).toContain('lead_external_id: Contact ID # 40 of 40 deals match contacts.Contact ID');
    const withoutIds = exports['deals.csv'].map((row) => row.replace(/,[^,]*$/, ''));
    expect(await mapping({ ...exports, 'deals.csv': withoutIds })).toContain('match: Email, with: B');
    const names = withoutIds.map((row) => row.replace(/,[^,]*$/, ''));
    expect(await mapping({ ...exports, 'deals.csv': names })).toContain('match: Full name, with: A');
  });

  it('marks a join of less than all records', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'deals.csv': [`${DEALS},Reference`, ...times(40, (n) => deal(n, n < 38 ? `p${n}@acme.example` : 'x@y.example'))],
    });
    expect(text).toContain('# check: 38 of 40 deals match contacts.Email');
  });

  it('comments a join out if too few values match, with the candidates and their figures', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'deals.csv': [
        `${DEALS},Reference`,
        ...times(40, (n) => deal(n, n < 10 ? `P${n}@acme.example` : `x@y${n}.example`)),
      ],
    });
    expect(text).toContain('# lead_external_id: ');
    expect(text).toContain('`Reference`: 10 of 40 values match contacts.Email');
  });

  it('does not take small numbers for ids because they are among them by chance', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'deals.csv': [`${DEALS},Probability`, ...times(40, (n) => deal(n, `${((n % 4) + 1) * 10}`))],
    });
    expect(text).not.toMatch(/^ *lead_external_id:/m);
    expect(text).toContain('`Probability`: 40 of 40 values match contacts.Contact ID');
  });

  it('gives the ids of a second export a prefix if both number their records from 1', async () => {
    const text = await mapping({
      'leads.csv': ['Lead ID,Full name,Email', ...times(50, (n) => `${n + 1},Other ${n},o${n}@other.example`)],
      'contacts.csv': CONTACTS,
      'deals.csv': [`${DEALS},Contact ID`, ...times(40, (n) => deal(n, `${n + 1}`))],
    });
    expect(text).toContain(
      'external_id: { from: Contact ID, apply: [{ prefix: contacts- }] } # check: 50 ids are also in leads, without one common e-mail address',
    );
    expect(text).toContain(
      'lead_external_id: { from: Contact ID, apply: [{ prefix: contacts- }] } # 40 of 40 deals match contacts.Contact ID',
    );
  });

  it('gives them a prefix also if the same people are in both exports, with other ids', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'leads.csv': ['Lead ID,Full name,Email', ...times(50, (n) => `${50 - n},Person ${n},p${n}@acme.example`)],
      'deals.csv': [`${DEALS},Lead ID`, ...times(40, (n) => deal(n, `${n + 1}`))],
    });
    expect(text).toContain(
      'external_id: { from: Lead ID, apply: [{ prefix: leads- }] } # check: 50 ids are also in contacts',
    );
    expect(text).toContain('lead_external_id: { from: Lead ID, apply: [{ prefix: leads- }] }');
  });

  it('joins an export that a preset does not know to one that it knows', async () => {
    const text = await mapping({
      'contacts.csv': [
        'Record ID,First Name,Last Name,Email,Lifecycle Stage,Lead Status,Job Title,Create Date,Phone Number',
        ...times(20, (n) => `${n + 1},A${n},B,p${n}@acme.example,Lead,New,CTO,2024-01-01 10:00,+39 02 8088 1201`),
      ],
      'sales.csv': [
        'Sale,Title,Total,Stage,Reference,Code',
        ...times(20, (n) => `x,T${n},1${n}.50,New,p${n}@acme.example,S${n}`),
      ],
    });
    expect(text).toContain('preset hubspot-csv');
    expect(text).toContain('# 20 of 20 deals match contacts.Email');
  });

  it('finds the joins of an export of which it reads only the beginning', async () => {
    const people = times(30_000, (n) => `K${n},Person ${n},p${n}@acme.example`);
    const text = await mapping({
      'contacts.csv': ['Contact ID,Full name,Email', ...people],
      'deals.csv': [`${DEALS},Reference`, ...times(30_000, (n) => deal(n, `K${29_999 - n}`))],
    });
    expect(text).toMatch(/lead_external_id: Reference # check: [\d,]+ of [\d,]+ deals match contacts\.Contact ID/);
  });

  it('finds ids that are marked, as in the trees of Salesforce', async () => {
    const cwd = await workspace();
    const record = (type: string, n: number): object => ({ attributes: { type, referenceId: `${type}Ref${n}` } });
    const contacts = times(9, (n) =>
      JSON.stringify({ ...record('Contact', n), LastName: `Bell ${n}`, Email: `p${n}@a.test` }),
    );
    const deals = times(9, (n) =>
      JSON.stringify({
        ...record('Opportunity', n),
        Name: `Roof ${n}`,
        StageName: 'New',
        ContactId: `@ContactRef${n}`,
      }),
    );
    const files = { 'Contact.json': contacts, 'Opportunity.json': deals };
    for (const [name, records] of Object.entries(files))
      await writeFile(join(cwd, name), `{ "records": [${records.join(', ')}] }`);
    const { text } = await startMapping(
      Object.keys(files).map((name) => join(cwd, name)),
      {},
    );
    expect(text).toContain('external_id: attributes.referenceId # unique in all 9 records');
    expect(text).toContain(
      "lead_external_id: { from: ContactId, apply: [{ replace: { pattern: ^@, with: '' } }] } # 9 of 9 deals match contact.attributes.referenceId",
    );
  });
});
