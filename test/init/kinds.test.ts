import { describe, expect, it } from 'vitest';
import { mapping, mappingAndFindings, times } from './mapping.ts';

const CONTACTS = [
  'ContactID,CompanyID,ContactName,Email',
  ...times(20, (n) => `C${n},K${n % 5},Person ${n},p${n}@acme.example`),
];
const COMPANIES = ['CompanyID,Name,City', ...times(5, (n) => `K${n},Company ${n},Rome`)];
const DEALS = [
  'DealID,CompanyID,ContactID,Title,Amount,StageID,OwnerID',
  ...times(20, (n) => `D${n},K${n % 5},C${n},Roof ${n},1${n}00.50,S${n % 3},U${n % 2}`),
];
const STAGES = ['StageID,StageName,SortOrder', 'S0,New,1', 'S1,Offer,2', 'S2,Won,3'];
const USERS = ['UserID,Name,Email', 'U0,Ann Bell,ann@bell.example', 'U1,Bob Cole,bob@cole.example'];

it('recognises the projects of a German CRM as deals, with amounts such as `1.234,56 €`', async () => {
  const text = await mapping({
    'kunden.csv': ['Kundennr;Nachname;E-Mail', ...times(20, (n) => `K${n};Müller ${n};m${n}@acme.example`)],
    'projekte.csv': [
      'Projektnr;Projektname;Kundennr;Status;Auftragswert',
      ...times(20, (n) => `P-${n};Küche ${n};K${n};${n % 2 ? '1. Erstkontakt' : 'Gewonnen'};${n + 1}.250,50 €`),
    ],
  });
  expect(text).toContain('- type: deal/created\n    source: projekte\n');
  expect(text).toContain(`amount: { from: Auftragswert, apply: [{ number: { decimal: ',', group: . } }] }`);
  expect(text).toContain('stage_name: Status # 2 values: ');
  expect(text).toContain('lead_external_id: Kundennr # 20 of 20 deals match kunden.Kundennr');
});

describe('exports that are not people or deals', () => {
  it('makes comments of activities, with their text, author, time and parent', async () => {
    const text = await mapping({
      'deals.csv': DEALS,
      'users.csv': USERS,
      'calls.csv': [
        'CallID,DealID,CallType,Summary,CallDate,ResponsibleUserID',
        ...times(
          20,
          (n) => `A${n},D${n},Outbound,${n < 15 ? `Spoke about roof ${n}` : ''},2024-03-${10 + n},U${n % 2}`,
        ),
      ],
    });
    expect(text).toContain('- type: comment/created\n    source: calls\n');
    expect(text).toContain('content: { list: [Summary, CallType], apply: [{ join: "\\n\\n" }] }');
    expect(text).toContain('occurred_at: { from: CallDate, apply: [{ date: yyyy-MM-dd }] } # check: ');
    expect(text).toContain(
      'author_name: { lookup: { source: users, match: UserID, with: ResponsibleUserID, take: Name, if_missing: skip } }',
    );
    expect(text).toContain('deal_external_id: DealID # check: 20 of 20 comments match deals.DealID');
  });

  it('skips the notes that have no text or no parent, and says how many', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'notes.csv': [
        'NoteID,ContactID,Note',
        ...times(20, (n) => `N${n},${n < 18 ? `C${n}` : ''},${n > 2 ? `A text ${n}` : ''}`),
      ],
    });
    expect(text).toContain('when: { all: [{ from: Note, present: true }, { from: ContactID, present: true }] }');
    expect(text).toContain(
      '# check: 3 of 20 records have no text, 2 of 20 records have no lead or deal; they are skipped',
    );
  });

  it('takes the parent from another column where the first one is empty', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'leads.csv': ['LeadID,LeadName,Email', ...times(20, (n) => `L${n},Lead ${n},l${n}@acme.example`)],
      'notes.csv': [
        'NoteID,ContactID,LeadID,Note',
        ...times(20, (n) => `N${n},${n % 2 ? `C${n},` : `,L${n}`},A text ${n}`),
      ],
    });
    expect(text).toContain('lead_external_id: { from: [ContactID, LeadID] }');
    expect(text).toContain('# check: 10 of 10 comments match contacts.ContactID; 10 of 10 comments match leads.LeadID');
  });

  it('looks up the names of companies, stages and owners in their exports', async () => {
    const { text, findings } = await mappingAndFindings({
      'contacts.csv': CONTACTS,
      'companies.csv': COMPANIES,
      'deals.csv': DEALS,
      'pipeline_stages.csv': STAGES,
      'users.csv': USERS,
    });
    const company =
      'company: { lookup: { source: companies, match: CompanyID, with: CompanyID, take: Name, if_missing: skip } }';
    expect(text.split(company)).toHaveLength(3);
    expect(text).toContain(
      'stage_name: { lookup: { source: pipeline_stages, match: StageID, with: StageID, take: StageName } }',
    );
    expect(text).toContain('owner_name: { lookup: { source: users, match: UserID, with: OwnerID, take: Email } }');
    expect(text).toContain('#  Offer: Offer # 1 in the sample');
    expect(findings).toContain(
      'companies.csv: recognised as companies: id `CompanyID`, company `Name`; names of companies are looked up in it',
    );
  });

  it('finds the leads of deals in an export of pairs of ids', async () => {
    const { text, findings } = await mappingAndFindings({
      'contacts.csv': CONTACTS,
      'deals.csv': DEALS.map((row) => row.replace(/^([^,]*),[^,]*,[^,]*/, '$1')),
      'deal_contact.csv': ['deal_id,contact_id,added_at', ...times(12, (n) => `D${n},C${n},2024-01-01`)],
    });
    expect(text).toMatch(
      /lead_external_id:.* check: 12 of 20 deals are in deal_contact; if it has several, the first one is used\n\s+lookup:\s+source: deal_contact\s+match: deal_id\s+with: DealID\s+take: contact_id\s+if_missing: skip\s+if_many: first/,
    );
    expect(findings).toContain('deal_contact.csv: recognised as links; leads and deals are looked up in it');
  });

  it('finds the leads of deals by their company, if nothing else ties them', async () => {
    const text = await mapping({
      'contacts.csv': CONTACTS,
      'deals.csv': DEALS.map((row) =>
        row
          .split(',')
          .filter((_, column) => column !== 2)
          .join(','),
      ),
    });
    expect(text).toContain(
      '# check: 20 of 20 deals are of a company that contacts have, by CompanyID; if it has several, the first one is used',
    );
  });

  it('makes leads of the companies if there are no people', async () => {
    const text = await mapping({ 'companies.csv': COMPANIES, 'deals.csv': DEALS });
    expect(text).toContain(
      '# check: no export has people, so the companies become the leads\n  - type: lead/created\n    source: companies',
    );
    expect(text).toContain('lead_external_id: CompanyID # 20 of 20 deals match companies.CompanyID');
  });

  it('makes no events of products, payments, histories and the like, and says so', async () => {
    const { text, findings } = await mappingAndFindings({
      'deals.csv': DEALS,
      'deal_products.csv': ['deal_id,product,unit_price', ...times(20, (n) => `D${n},P${n},12.50`)],
      'payments.csv': ['payment_id,deal_id,amount,status', ...times(20, (n) => `Z${n},D${n},100,paid`)],
      'stage_history.csv': [
        'event_id,deal_id,old_stage,new_stage,changed_at',
        ...times(9, (n) => `E${n},D${n},New,Won,2024-01-01`),
      ],
      'users.csv': ['UserID,Name,Email', 'X1,Ann Bell,ann@bell.example'],
    });
    expect(text.match(/^ {2}- type: /gm)).toHaveLength(1);
    expect(text).toContain('# not read: ');
    expect(findings).toContain('payments.csv: not used, because the service has no place for such records');
    expect(findings).toContain(
      'stage_history.csv: recognised as history; not used, because the service has only the present values',
    );
    expect(findings).toContain('it helps to fill in the owners');
  });
});

describe('exports without all that a mapping needs', () => {
  it('does not take the id of another kind of records for its own, and proposes two columns that are unique together', async () => {
    const text = await mapping({
      'leads.csv': ['LEADID,Last Name,Email', ...times(20, (n) => `${n + 1},Person ${n},p${n}@acme.example`)],
      'potentials.csv': [
        'Potential Name,Created Time,Amount,Stage,LEADID',
        ...times(20, (n) => `Roof ${n % 7},2024-01-${n + 10},${n}00,New,${n + 1}`),
      ],
    });
    expect(text).toContain(
      "external_id: { template: '{Potential Name} {Created Time}' } # set this: no column has ids, but these are unique together",
    );
    expect(text).toContain('lead_external_id: LEADID # 20 of 20 deals match leads.LEADID');
    expect(text).toContain('full_name: Last Name');
  });

  it('keeps the e-mail address as a field if it is also the id, and takes a unique title for one', async () => {
    const text = await mapping({
      'contacts.csv': ['First Name,Last Name,Email', ...times(9, (n) => `Ann,Bell ${n},p${n}@acme.example`)],
      'opportunities.csv': ['Opportunity Name,Stage,Amount', ...times(9, (n) => `Roof ${n},New,${n}00`)],
      'interactions.csv': [
        'Interaction Date,Notes,Opportunity Name',
        ...times(9, (n) => `2024-01-1${n},Spoke about it ${n},Roof ${n}`),
      ],
    });
    expect(text).toContain('external_id: Email # set this: no id column found, so the e-mail address is used');
    expect(text).toContain('email: { from: Email, apply: [lowercase] }');
    expect(text).toContain('external_id: Opportunity Name # set this: no id column found, so the title is used');
    expect(text).toContain(
      'deal_external_id: Opportunity Name # check: 9 of 9 comments match opportunities.Opportunity Name',
    );
    expect(text).toContain('occurred_at: { from: Interaction Date, ');
    expect(text).toContain('content: Notes # check: 9 different texts in 9 records');
  });

  it('finds the column with the name of the other id among number ranges that overlap', async () => {
    const text = await mapping({
      'leads.csv': ['LEADID,Name,Email', ...times(90, (n) => `${n + 1},Lead ${n},l${n}@acme.example`)],
      'contacts.csv': ['CONTACTID,Name,Email', ...times(60, (n) => `${n + 100},Person ${n},p${n}@acme.example`)],
      'calls.csv': [
        'CALLID,Subject,CONTACTID,LEADID',
        ...times(60, (n) => `${n},Call ${n},${n % 2 ? n + 100 : ''},${n % 2 ? '' : n + 1}`),
      ],
    });
    expect(text).toContain('lead_external_id: { from: [LEADID, CONTACTID] }');
  });

  it('numbers the columns of a file without a header', async () => {
    const { text, findings } = await mappingAndFindings({
      'deals.csv': DEALS,
      'contacts.csv': [
        '8,Enrique,ann@bell.example,+50766163733',
        ...times(3, (n) => `${n},Ann,a${n}@bell.example,+5076616373${n}`),
      ],
    });
    expect(findings).toContain('its first line is a record, so the columns have numbers: name them');
    expect(text).toContain('columns: [column_1, column_2, column_3, column_4] } # set this: ');
  });
});
