import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startMapping } from '../../src/init/index.ts';
import { workspace } from '../e2e/harness.ts';
import { mapping, mappingAndFindings, times } from './mapping.ts';

describe('presets', () => {
  it('are not recognised by columns that any CRM may have', async () => {
    const { findings } = await mappingAndFindings({
      'contacts.csv': [
        'Id,Name,Email,Phone,Title',
        ...times(5, (n) => `C${n},Ann ${n},a${n}@bell.example,+39 02 8088 120${n},CTO`),
      ],
    });
    expect(findings).not.toContain('preset');
    expect(findings).toContain('contacts.csv: recognised as leads');
  });

  it('use an e-mail address to find the leads of deals, and leave out what has no value', async () => {
    const text = await mapping({
      'contacts.csv': [
        'Record ID,First Name,Last Name,Email,Lifecycle Stage,Lead Status,Job Title,Create Date,Phone Number',
        ...times(20, (n) => `${n + 1},A${n},B,p${n}@acme.example,Lead,,CTO,2024-01-01 10:00,+39 02 8088 1201`),
      ],
      'deals.csv': [
        'Record ID,Deal Name,Deal Stage,Pipeline,Amount,Close Date,Create Date,Deal owner,Associated Contact Email',
        ...times(
          20,
          (n) => `${n + 101},Roof ${n},New,Sales,100,2024-02-01,2024-01-01 10:00,Ann Bell,p${n}@acme.example`,
        ),
      ],
    });
    expect(text).toContain('preset hubspot-csv');
    expect(text).toMatch(
      /lead_external_id:.*match: Email.*with: Associated Contact Email.*take: Record ID.*# 20 of 20 deals match contacts\.Email/,
    );
    expect(text).toContain('# without a value in this export: Lead Status');
    expect(text).not.toContain('lead_status:');
  });
});

it('the priority of a preset follows the spelling of the export, and goes without its column', async () => {
  const deals = (stage: string): string[] => [
    `Record ID,Deal Name,${stage},Pipeline,Close Date,Create Date,Deal owner,Amount`,
    ...times(5, (n) => `${n + 101},Roof ${n},New,Sales,2024-02-01,2024-01-01 10:00,Ann Bell,1${n}.50`),
  ];
  expect(await mapping({ 'deals.csv': deals('Deal stage') })).toContain('priority: { from: Deal stage, ');
  expect(await mapping({ 'deals.csv': deals('Step') })).not.toContain('priority: ');
});

describe('the currency of a preset', () => {
  const columns = 'Record ID,Deal Name,Deal Stage,Pipeline,Close Date,Create Date,Deal owner,Amount';
  const deals = (more: string, end: (n: number) => string): string[] => [
    `${columns}${more}`,
    ...times(20, (n) => `${n + 101},Roof ${n},New,Sales,2024-02-01,2024-01-01 10:00,Ann Bell,${end(n)}`),
  ];
  const lineOf = async (rows: string[]): Promise<string | undefined> =>
    (await mapping({ 'deals.csv': rows })).split('\n').find((line) => line.includes(' currency:'));

  it('is that of the amounts where no column has it', async () => {
    expect(await lineOf(deals('', (n) => `$${n}.50`))).toBe(
      '      currency: { value: USD } # set this: no column contains the currency, but 20 of 20 amounts have $',
    );
    expect(await lineOf(deals('', (n) => `${n}.50`))).toBe(
      '      currency: { value: EUR } # set this: no column contains the currency',
    );
  });

  it('is to be checked for deals without one', async () => {
    expect(await lineOf(deals(',Currency', (n) => `$${n}.50,${n < 3 ? '' : 'CAD'}`))).toBe(
      '      currency: { from: [Currency, { value: USD }] } # check: USD where there is none: 3 of 20 deals have none; 20 of 20 amounts have $',
    );
    expect(await lineOf(deals(',Currency', (n) => `${n}.50,CAD`))).toContain(
      '# check: EUR where there is none: 0 of 20 deals have none',
    );
  });
});

describe('exports beside those of a preset', () => {
  it('give its leads the names of their companies', async () => {
    const { text, findings } = await mappingAndFindings({
      'contacts.csv': [
        'Record ID,First Name,Last Name,Email,Lifecycle Stage,Lead Status,Job Title,Create Date,Associated Company IDs',
        ...times(20, (n) => `${n + 1},A${n},B,p${n}@acme.example,Lead,New,CTO,2024-01-01 10:00,90${n % 3}01;90201`),
      ],
      'companies.csv': ['Record ID,Company name,City', ...times(3, (n) => `90${n}01,Company ${n},Rome`)],
    });
    expect(text).toContain('preset hubspot-csv');
    expect(text).toMatch(
      /company:\s+lookup:\s+source: companies\s+match: Record ID\s+with:\s+from: Associated Company IDs\s+apply:\s+- split: ;\s+- at: 0\s+take: Company name\s+if_missing: skip/,
    );
    expect(text).toContain('companies: { path: companies.csv }');
    expect(findings).toContain('names of companies are looked up in it');
  });

  it('become comments where they are lists in its records, and what else is left is named', async () => {
    const cwd = await workspace();
    const results = Array.from({ length: 9 }, (_, n) => ({
      id: `${n + 50}`,
      createdAt: '2024-01-01T10:00:00Z',
      archived: false,
      properties: {
        firstname: 'Ann',
        lastname: `Bell ${n}`,
        email: `p${n}@a.test`,
        phone: `+39 02 8088 120${n}`,
        tags: ['a'],
      },
      notes: [{ id: `n${n}`, body: `We spoke about roof ${n}`, timestamp: 1_600_000_000_000 + n }],
    }));
    await writeFile(join(cwd, 'contacts.json'), JSON.stringify({ results }));
    const { text } = await startMapping([join(cwd, 'contacts.json')], { preset: 'hubspot-api' });
    expect(text).toContain('# check: not used, although they have values: properties.tags');
    expect(text).toMatch(/type: comment\/created\n {4}source: contacts\n {4}each: notes\n/);
    expect(text).toContain('lead_external_id: $.id # check: the record in which they are');
  });
});
