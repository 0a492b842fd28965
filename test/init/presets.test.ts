/** Headers of known CRMs are evidence: alone they name the roles, and a preset of them can be given. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startMapping } from '../../src/commands/init/index.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { draftOf, linesOf, times, verdictOf } from './mapping.ts';

/** By preset, event type and field, the columns that it is made of. */
const TRUTH: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>> = {
  'close-json': {
    'lead/created': { external_id: ['id'] },
    'deal/created': { external_id: ['id'], amount: ['value'], stage_name: ['status_label'], owner_name: ['user_name'] },
    'comment/created': { external_id: ['id'], content: ['note'], author_name: ['user_name'] },
  },
  'hubspot-api': {
    'lead/created': { external_id: ['id'], email: ['properties.email'], full_name: ['properties.firstname'] },
    'deal/created': {
      external_id: ['id'],
      title: ['properties.dealname'],
      amount: ['properties.amount'],
      stage_name: ['properties.dealstage'],
      stage_pipeline: ['properties.pipeline'],
      lead_external_id: ['associations.contacts.results'],
      owner_name: ['properties.hubspot_owner_id'],
    },
    'comment/created': { content: ['properties.hs_note_body'], deal_external_id: ['associations.deals.results'] },
  },
  'hubspot-csv': {
    'lead/created': { external_id: ['Record ID'], full_name: ['First Name', 'Last Name'], email: ['Email'] },
    'deal/created': { external_id: ['Record ID'], title: ['Deal Name'], owner_name: ['Deal owner'] },
  },
  'pipedrive-api': {
    'lead/created': { external_id: ['id'], full_name: ['name'] },
    'deal/created': { external_id: ['id'], title: ['title'], amount: ['value'], stage_name: ['stage_id'] },
    'comment/created': { external_id: ['id'], content: ['content'], deal_external_id: ['deal_id'] },
  },
  'pipedrive-csv': {
    'lead/created': { external_id: ['Person - ID'], full_name: ['Person - First name', 'Person - Last name'] },
    'deal/created': { external_id: ['Deal - ID'], title: ['Deal - Title'], amount: ['Deal - Value'] },
  },
  'salesforce-export': {
    'lead/created': { external_id: ['Id'], email: ['Email'] },
    'deal/created': {
      external_id: ['Id'],
      title: ['Name'],
      stage_name: ['StageName'],
      owner_name: ['OwnerId', 'user'],
    },
  },
  'salesforce-report': {
    'lead/created': { external_id: ['Contact ID'], email: ['Email'] },
    'deal/created': { external_id: ['Opportunity ID'], title: ['Opportunity Name'], stage_name: ['Stage'] },
  },
  'zoho-csv': {
    'lead/created': { external_id: ['Record Id'], email: ['Email'] },
    'deal/created': { external_id: ['Record Id'], title: ['Deal Name'], amount: ['Amount'], stage_name: ['Stage'] },
    'comment/created': { external_id: ['Record Id'], content: ['Note Content'] },
  },
};

describe.each(Object.entries(TRUTH))('the export of %s', (name, types) => {
  it('is recognised by its headers, which have the roles that they have there', async () => {
    const folder = join(FIXTURES, 'presets', name);
    const files = (await readdir(folder)).filter((file) => file !== 'expected.json');
    const { text, findings } = await startMapping(
      files.map((file) => join(folder, file)),
      {},
    );
    expect(findings.join('\n')).toContain(`columns match the preset ${name}`);
    const verdicts = Object.entries(types).flatMap(([type, fields]) =>
      Object.entries(fields).map(
        ([field, columns]) => [`${type} ${field}`, verdictOf(linesOf(text, type).get(field), columns)] as const,
      ),
    );
    expect(
      verdicts.filter(([, verdict]) => verdict !== 'right'),
      text,
    ).toEqual([]);
  });
});

const CONTACTS = 'Record ID,First Name,Last Name,Email,Lifecycle Stage,Lead Status,Job Title,Create Date,Phone Number';
const contact = (n: number): string =>
  `${n + 1},Ada,Bell,p${n}@acme.example,Lead,New,CTO,2024-01-01 10:00,+39 02 8088 1201`;

describe('headers of a known CRM', () => {
  it('count whatever the file is called, and not where any CRM may have them', async () => {
    const known = await draftOf({ 'Kontakte März.csv': [CONTACTS, ...times(20, contact)] });
    expect(known.findings).toContain('9 of 9 columns match the preset hubspot-csv');
    const unknown = await draftOf({
      'contacts.csv': [
        'Id,Name,Email,Phone,Title',
        ...times(5, (n) => `C${n},Ada Bell,a${n}@bell.example,+39 02 8088 120${n},CTO`),
      ],
    });
    expect(unknown.findings).not.toContain('columns are named as in');
  });

  it('gain from both where some columns are renamed, and leave no column behind', async () => {
    const header = CONTACTS.replace('Phone Number', 'Telephone,Region');
    const draft = await draftOf({ 'contacts.csv': [header, ...times(20, (n) => `${contact(n)},North`)] });
    expect(draft.lead).toMatchObject({
      external_id: 'Record ID',
      phone_number: { from: 'Telephone', apply: ['phone'] },
      custom_params: { region: 'Region', job_title: 'Job Title' },
    });
  });

  it('count alone where the user names their CRM', async () => {
    const rows = ['Record ID,Job Title,Email,Number', ...times(9, (n) => `${n},Ada Bell,a${n}@b.example,${n}`)];
    const draft = await draftOf({ 'list.csv': rows }, { preset: 'hubspot-csv' });
    expect(draft.findings).toContain('columns match the preset hubspot-csv');
    expect(draft.lead['external_id']).toBe('Record ID');
  });
});
