/** What the values of a column show, whatever its header says. */
import { describe, expect, it } from 'vitest';
import { draftOf, times } from './mapping.ts';

const FIRST = ['Ada', 'Bruno', 'Carla', 'Dario', 'Elsa'];
const LAST = ['Bell', 'Costa', 'Dietz', 'Fontana', 'Gil', 'Horn'];
const person = (n: number): string => `${FIRST[n % 5]!} ${LAST[n % 6]!}`;
const PEOPLE = ['Contact ID,Full name,Email', ...times(30, (n) => `${n + 1},${person(n)},p${n}@acme.example`)];
const DEALS = [
  'Deal ID,Title,Stage,Amount,Contact ID',
  ...times(30, (n) => `${n + 1},Roof of house ${n},${n % 3 ? 'Open' : 'Won'},${n + 1}250.50,${30 - n}`),
];
const sentence = (n: number): string => `They asked once more for the price of roof ${n}`;

describe('ids of several kinds in one column', () => {
  it.each([
    ['which both tables have', 0],
    ['which only one table has', 1000],
  ])('are told apart by codes that are short for the names of the tables: ids %s', async (_what, more) => {
    const people = PEOPLE.map((row, at) => (at === 0 ? row : row.replace(/^\d+/, (id) => `${Number(id) + more}`)));
    const deals = DEALS.map((row, at) => (at === 0 ? row : row.replace(/\d+$/, (id) => `${Number(id) + more}`)));
    const draft = await draftOf({
      'customer.csv': people,
      'quote.csv': deals,
      'log.csv': [
        'No,Src,Ref,When,What',
        ...times(
          24,
          (n) =>
            `L${n},${n % 2 ? 'CUS,' : 'QUO,'}${(n % 10) + 1 + (n % 2 ? more : 0)},2024-03-0${(n % 8) + 1},${sentence(n)}`,
        ),
      ],
    });
    const by = (code: string) => ({ template: '{Src} {Ref}', apply: [{ extract: `^${code} (.+)$` }] });
    expect(draft.comment).toMatchObject({ lead_external_id: by('CUS'), deal_external_id: by('QUO') });
  });

  it('may be names of people and titles of deals, told apart by a type', async () => {
    const draft = await draftOf({
      'contacts.csv': ['Contact ID,Full name,Email', ...times(20, (n) => `${n + 501},Ada Bell${n},p${n}@acme.example`)],
      'deals.csv': ['Deal ID,Title,Stage,Amount', ...times(20, (n) => `D${n},Roof of house ${n},Open,${n + 1}250.50`)],
      'notes.csv': [
        'Created,About,Name,Text',
        ...times(20, (n) =>
          [
            `2024-03-${n + 10}`,
            ...(n % 2 ? ['Contact', `Ada Bell${n}`] : ['Deal', `Roof of house ${n}`]),
            sentence(n),
          ].join(),
        ),
      ],
    });
    expect(draft.entries).toContain('notes: comment/created');
    expect(draft.comment).toMatchObject({
      lead_external_id: { lookup: { source: 'contacts', match: 'Full name', take: 'Contact ID' } },
      deal_external_id: { lookup: { source: 'deals', match: 'Title', take: 'Deal ID' } },
    });
    expect(draft.text).toContain('# check: 10 of 20 belong to leads by `About`');
    expect(draft.comment['content']).toBe('Text');
    expect(draft.findings).toMatch(/notes\.csv: .*; 20 comments$/m);
  });
});

describe('people', () => {
  it('are not those of a history that has their ids again and again, whatever it is called', async () => {
    const draft = await draftOf({
      'addresses.csv': PEOPLE.map((row) => row.replace(/^(?=\d)/, 'A-')),
      'contacts.csv': [
        'Number,Name,Date,Direction,Content',
        ...times(45, (n) => `A-${(n % 30) + 1},Firm ${n % 30} Ltd,2024-03-${(n % 20) + 10},in,${sentence(n)}`),
      ],
    });
    expect(draft.entries).toEqual(['addresses: lead/created', 'contacts: comment/created']);
    expect(draft.comment).toMatchObject({ lead_external_id: 'Number', content: 'Content' });
  });

  it('have a whole name where that has more than its parts, which a title has not', async () => {
    const rows = (more: string) =>
      times(12, (n) => `${n + 1},Ada${n},Bell${n},Ada${n} ${n % 3 ? '' : more}Bell${n},p${n}@acme.example`);
    const headers = 'Contact ID,First name,Last name,Name,Email';
    expect((await draftOf({ 'contacts.csv': [headers, ...rows('van der ')] })).lead['full_name']).toBe('Name');
    const parts = { list: ['First name', 'Last name'] };
    expect((await draftOf({ 'contacts.csv': [headers, ...rows('')] })).lead['full_name']).toMatchObject(parts);
  });

  it('are known by the name to which others refer, where nothing else tells them apart', async () => {
    const draft = await draftOf({
      'people.csv': [
        'Display name,First name,Last name,Street,Mobile',
        ...times(
          20,
          (n) => `${person(n)} ${n},${person(n).replace(' ', ',')},Elm Road ${n},+39 06 6982 ${n + 1000}`,
        ).map((row, n) => (n % 2 ? row : row.replace(/[^,]*$/, ''))),
      ],
      'jobs.csv': [
        'Job No,Title,Status,Amount,Customer',
        ...times(20, (n) => `J${n},Roof of house ${n},Open,${n + 1}250.50,${person(19 - n)} ${19 - n}`),
      ],
    });
    expect(draft.lead['external_id']).toBe('Display name');
    expect(draft.remark('external_id')).toMatch(/^set this: no column (?:has ids|looks like an id)/);
    expect(draft.deal['lead_external_id']).toBe('Customer');
  });

  it('have an id although one row came twice', async () => {
    const rows = times(40, (n) => `C-${n + 100},Ada Bell${n},p${n}@acme.example`);
    const draft = await draftOf({ 'people.csv': ['Nr.,Full name,Email', ...rows, rows[3]!] });
    expect(draft.lead['external_id']).toBe('Nr.');
  });

  it('have the first of several numbers in a cell, wherever the next one begins', async () => {
    const numbers = [
      '01603 496032 / 07700 900158',
      '0542 240 33 44-0533 615 29 78',
      '020 7946 0018',
      '0161 496 0018; 07700 900461',
    ];
    const draft = await draftOf({
      'people.csv': ['ID,Full name,Telefon', ...times(12, (n) => `${n + 501},Ada Bell${n},${numbers[n % 4]!}`)],
    });
    const { from, apply } = draft.lead['phone_number'] as {
      from: string;
      apply: readonly [{ extract: string }, string];
    };
    expect([from, apply[1]]).toEqual(['Telefon', 'phone']);
    const found = numbers.map((each) => new RegExp(apply[0].extract).exec(each)?.[0]);
    expect(found).toEqual(['01603 496032', '0542 240 33 44', '020 7946 0018', '0161 496 0018']);
    const us = ['(405) 555-6300', '+1-314-555-0100', '089 / 12 34 56', '+44 (0)20 7946 0018'];
    expect(us.map((each) => new RegExp(apply[0].extract).exec(each)?.[0])).toEqual(us);
  });
});

describe('people', () => {
  it('are those with names and numbers who are in no other export, whatever else has people', async () => {
    const draft = await draftOf({
      'contacts.csv': PEOPLE,
      'prospects.csv': [
        'ID,Status,Subject,First name,Last name,Amount,E-mail',
        ...times(
          20,
          (n) => `${n + 4001},${n % 3 ? 'New' : 'In work'},Call ${n},Ines,Moreno${n},0.00,q${n}@other.example`,
        ),
      ],
      'deals.csv': DEALS,
    });
    expect(draft.entries).toEqual(['contacts: lead/created', 'prospects: lead/created', 'deals: deal/created']);
  });

  it('are no kinds of addresses, which a table has of each', async () => {
    const draft = await draftOf({
      'persons.csv': ['Account,Full name,City', ...times(30, (n) => `AC${n + 100},Ada Bell${n},Town ${n % 3}`)],
      'more.csv': [
        'Account,Contact,Value',
        ...times(
          40,
          (n) =>
            `AC${(n % 30) + 100},${n < 30 ? 'E-mail Address' : 'Web Site'},${n < 30 ? `p${n}@acme.example` : `www.acme${n}.example`}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['persons: lead/created']);
  });

  it('have addresses in lists of JSON in a cell, and numbers with points', async () => {
    const draft = await draftOf({
      'persons.csv': [
        'id,name,emails,Tél.',
        ...times(
          12,
          (n) =>
            `${n + 501},Ada Bell${n},"[{""label"":""work"",""value"":""p${n}@acme.example""}]",04.85.88.92.${n + 10}`,
        ),
      ],
    });
    const { from, apply } = draft.lead['email'] as { from: string; apply: readonly [{ extract: string }, string] };
    expect([from, apply[1]]).toEqual(['emails', 'lowercase']);
    expect(draft.lead['phone_number']).toMatchObject({ from: 'Tél.' });
  });
});

describe('a deal', () => {
  it('has the sum of other columns as its amount, or the only amount, although a tax is in it', async () => {
    const rows = (more: (n: number) => string) =>
      times(20, (n) => `D${n},Roof of house ${n},${n % 3 ? 'Open' : 'Won'},${more(n)}`);
    const parts = await draftOf({
      'deals.csv': [
        'Deal ID,Title,Stage,Material price,Labor price,Total price',
        ...rows(
          (n) => `${n + 1}250.50,${(n * 7) % 20}75.25,${(n * 1000 + 1250.5 + ((n * 7) % 20) * 100 + 75.25).toFixed(2)}`,
        ),
      ],
    });
    expect(JSON.stringify(parts.deal['amount'])).toContain('Total price');
    const gross = await draftOf({
      'list.csv': [
        'Nr,Name,Telefon,Zakres,Status,Wycena brutto',
        ...times(
          20,
          (n) =>
            `${n + 1},Ada Bell${n},+48 600 100 ${n + 200},Kuchnia ${n},${n % 3 ? 'w toku' : 'przegrana'},${n + 9}800`,
        ),
      ],
    });
    expect(gross.entries).toEqual(['list: lead/created', 'list: deal/created']);
    expect(gross.deal['amount']).toBe('Wycena brutto');
  });

  it('is no row of what belongs to one, which a code tells', async () => {
    const draft = await draftOf({
      'contacts.csv': PEOPLE,
      'opmgr.csv': [
        'OPID,RECTYPE,NAME,STAGE,AMOUNT,STARTDATE,CONTACT',
        ...times(
          12,
          (n) =>
            `OP${n + 7},O,Roof of house ${n},${n % 3 ? 'Open' : 'Won'},${n + 1}250.50,2024-03-${n + 10},${person(n)}`,
        ),
        ...times(8, (n) => `OP${n + 7},${n % 2 ? 'OC' : 'OT'},,,0.00,,Team member`),
      ],
    });
    expect(draft.deal).toMatchObject({ external_id: 'OPID', when: { from: 'RECTYPE', in: ['O'] } });
    expect(draft.findings).toContain('12 deals; 8 skipped: what belongs to them by `RECTYPE`');
  });

  const deals = (header: string, cell: (n: number) => string, count = 12) => [
    `Deal ID,Stage,Amount,Contact ID,${header}`,
    ...times(count, (n) => `D${n},${n % 3 ? 'Open' : 'Won'},${n + 1}250.50,${30 - n},${cell(n)}`),
  ];

  it('is not called after its person, a measure or a remark of some, if anything else says what it is about', async () => {
    const draft = await draftOf({
      'contacts.csv': PEOPLE.map((row, n) => (n === 0 ? row : row.replace(person(n - 1), `Ada Bell${n}`))),
      'deals.csv': deals('Name,Size,Remark,Gegenstand', (n) =>
        [`Ada Bell${30 - n}`, `${n % 4}2 m2`, n % 3 ? '' : `${sentence(n)} and again`, `Roof of house ${n}`].join(),
      ),
    });
    expect(draft.deal['title']).toBe('Gegenstand');
    expect(draft.remark('title')).toMatch(/^check: guessed from its values, not from its header/);
  });

  it('has no amount where a few words stand for one, and not the column that is mostly zero', async () => {
    const draft = await draftOf({
      'contacts.csv': PEOPLE,
      'deals.csv': [
        'Deal ID,Title,Stage,Contact ID,Total,Forecast',
        ...times(
          20,
          (n) =>
            `D${n},Roof of house ${n},Open,${30 - n},${n % 5 ? '0.00' : '120.50'},${n === 3 ? 'on request' : `${n + 1}250.50`}`,
        ),
      ],
    });
    expect(draft.deal['amount']).toMatchObject({
      from: 'Forecast',
      apply: [{ map: { 'on request': null, '*': '=' } }, {}],
    });
    expect(draft.remark('amount')).toContain('`on request` is not an amount');
  });

  it('has the fuller one of two amounts', async () => {
    const draft = await draftOf({
      'deals.csv': [
        'Deal ID,Title,Stage,Invoice total,Estimate total',
        ...times(20, (n) => `D${n},Roof of house ${n},Open,${n % 4 ? '' : '120.50'},${n + 1}250.50`),
      ],
    });
    expect(JSON.stringify(draft.deal['amount'])).toContain('Estimate total');
  });

  it('has the name beside an id as its stage, and the step beside how it ended', async () => {
    const steps = ['First contact', 'Offer', 'Negotiation', 'Contract'];
    const sales = times(24, (n) => ({
      id: `sale:${n}`,
      subject: `Roof of house ${n}`,
      amount: n * 100 + 950.5,
      person_id: n + 1,
      status: [
        { id: 'status:1', label: 'Open' },
        { id: 'status:2', label: 'Won' },
        { id: 'status:3', label: 'Lost' },
      ][n % 3],
      progress: { label: steps[n % 4], position: (n % 4) + 1 },
    }));
    const draft = await draftOf({ 'contacts.csv': PEOPLE, 'sales.json': sales });
    expect(JSON.stringify(draft.deal['stage_name'])).not.toContain('status.id');
    expect(draft.deal['stage_name']).toMatchObject({ from: [{ from: 'status.label' }, 'progress.label'] });
  });

  it('was created on the complete date, although an earlier one is known of some', async () => {
    const draft = await draftOf({
      'people.csv': [
        'Contact ID,Full name,Email,Client since,Created',
        ...times(
          20,
          (n) =>
            `${n + 1},${person(n)},p${n}@acme.example,${n % 3 ? '' : '2019-05-07'},2023-02-${n + 10 > 28 ? 20 : n + 10} 10:15`,
        ),
      ],
    });
    expect(draft.lead['occurred_at']).toMatchObject({ from: 'Created' });
  });
});

describe('a text about a deal or a person', () => {
  it('is in a log under headers that nobody knows, at the time beside the day, which is no id', async () => {
    const draft = await draftOf({
      'asiakkaat.csv': ['As.nro,Nimi,Email', ...times(30, (n) => `A${n + 1031},Ada Bell${n},p${n}@acme.example`)],
      'soitot.csv': [
        'Pvm,Klo,Kuka,As.nro,Mista puhuttiin',
        ...times(
          30,
          (n) =>
            `${(n % 27) + 1}.11.2022,${`${8 + (n % 9)}`.padStart(2, '0')}.${10 + n},${n % 2 ? 'Rane' : 'Kalle'},A${(n % 20) + 1031},mitat otettu ${n} m2 kuvat saatu`,
        ),
      ],
      'tarjoukset.csv': [
        'Tarj.nro,As.nro,Kohde,Hinta,Vast.,Tila',
        ...times(
          30,
          (n) =>
            `T${n + 10},A${n + 1031},kiuas ${n},${n + 1}250.50,${n % 2 ? 'Kalle' : 'Rane'},${n % 3 ? 'tilattu' : 'kesken'}`,
        ),
      ],
    });
    expect(draft.entries).toContain('soitot: comment/created');
    expect(draft.comment).toMatchObject({
      content: 'Mista puhuttiin',
      author_name: 'Kuka',
      lead_external_id: 'As.nro',
    });
    expect(draft.comment['occurred_at']).toMatchObject({ list: ['Pvm', 'Klo'] });
  });

  it('is found by the names of people, although two have the same, and is not what is only searched', async () => {
    const name = (n: number): string =>
      `${person(n)} ${n === 29 ? 28 : n}`.replace(
        /\d+/,
        (own) => LAST[Number(own) % 6]! + String.fromCharCode(97 + (Number(own) % 26)),
      );
    const draft = await draftOf({
      'contacts.csv': [
        'Contact ID,Full name,Email,Search text',
        ...times(
          30,
          (n) =>
            `C${n + 7},${name(n)},p${n}@acme.example,${name(n).toLowerCase()} p${n}@acme.example +39 06 6982 ${n + 1000}`,
        ),
      ],
      'activities.csv': [
        'ID,Description,Primary contact,Owner,Created at',
        ...times(
          30,
          (n) => `A${n},${sentence(n)},${name(n)},${['Iris Vale', 'Tom Reed'][n % 2]!},2024-03-${(n % 20) + 10}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['contacts: lead/created', 'activities: comment/created']);
  });

  it('has no id in a time of day, and an author whose address is that of who has the deals', async () => {
    const staff = ['rita@firm.example', 'tom@firm.example'];
    const draft = await draftOf({
      'contacts.csv': PEOPLE,
      'deals.csv': [
        'Deal ID,Title,Stage,Amount,Contact ID,Salesperson',
        ...times(24, (n) => `D${n},Roof of house ${n},Open,${n + 1}250.50,${30 - n},${staff[n % 2]!}`),
      ],
      'notes.csv': [
        'Hour,Deal ID,Actor,Date,Text',
        ...times(
          24,
          (n) =>
            `0${(n * 7) % 10}${11 + n}3${n % 10}${10 + n},D${n},${n % 5 ? staff[n % 2]! : ''},2024-03-${n + 1 < 10 ? 10 : n + 1},${sentence(n)}`,
        ),
      ],
    });
    expect(draft.comment['external_id']).toBeUndefined();
    expect(draft.comment['author_name']).toBe('Actor');
  });

  it('is not the stage of a row without a note', async () => {
    const draft = await draftOf({
      'list.csv': [
        'ID,Full name,Email,Job,Price,Outcome,Notes',
        ...times(
          24,
          (n) =>
            `${n + 501},Ada Bell${n},p${n}@acme.example,Roof of house ${n},£${n + 1}250.50,${['Won', 'Lost', 'Waiting'][n % 3]!},${n % 5 > 2 ? '' : sentence(n)}`,
        ),
      ],
    });
    expect(draft.entries).toContain('list: comment/created');
    expect(draft.comment['content']).toBe('Notes');
  });
});

it('an id is of the table that it is called after, whatever others have such numbers', async () => {
  const draft = await draftOf({
    'persons.csv': ['id,name,email', ...times(30, (n) => `${n + 1},Ada Bell${n},p${n}@acme.example`)],
    'leads.csv': [
      'id,title,lead_value,stage,person_id',
      ...times(30, (n) => `${n + 1},Roof of house ${n},${n + 1}250.50,${n % 3 ? 'Open' : 'Won'},${30 - n}`),
    ],
    'notes.csv': [
      'id,lead_id,comment,created_at',
      ...times(20, (n) => `${n + 1},${30 - n},${sentence(n)},2024-03-${n + 10}`),
    ],
  });
  expect(draft.comment['deal_external_id']).toBe('lead_id');
  expect(draft.comment['lead_external_id']).toBeUndefined();
});

describe('dates and headers', () => {
  it.each([
    ['24.02.2023. 10:49', (n: number) => `${n + 10}.02.2023. 10:49`, 'd.M.yyyy. HH:mm'],
    ['2024.1.12.', (n: number) => `2024.1.${n + 10}.`, 'yyyy.M.d.'],
    ['2024. 1. 12', (n: number) => `2024. 1. ${n + 10}`, 'yyyy. M. d'],
    ['2024년 1월 12일', (n: number) => `2024년 1월 ${n + 10}일`, 'yyyy년 M월 d일'],
  ])('are read as %s', async (_example, day, format) => {
    const draft = await draftOf({
      'people.csv': [
        'ID,Full name,Email,Created',
        ...times(12, (n) => `${n + 501},Ada Bell${n},p${n}@acme.example,${day(n)}`),
      ],
    });
    expect(draft.lead['occurred_at']).toMatchObject({ from: 'Created', apply: [{ date: format }] });
  });

  it('are no sums under the name of something to come', async () => {
    const draft = await draftOf({
      'deals.csv': [
        'Deal ID,Title,Stage,Forecast',
        ...times(12, (n) => `D${n},Roof of house ${n},Open,${n + 31}900.000000`),
      ],
    });
    expect(JSON.stringify(draft.deal['amount'])).toContain('Forecast');
    expect(draft.text).not.toContain('spreadsheet');
  });

  it('say nothing by what nearly all columns of a table begin with', async () => {
    const draft = await draftOf({
      'opportunity.csv': [
        'Oppo_Id,Oppo_Description,Oppo_Stage,Oppo_Total,Oppo_AssignedUserId',
        ...times(20, (n) => `${n + 101},Roof of house ${n},Open,${n + 1}250.50,${(n % 2) + 7}`),
      ],
      'users.csv': [
        'User_UserId,User_FirstName,User_LastName,User_Logon',
        '7,Jill,Farrow,jf',
        '8,Tom,Reed,tr',
        '9,Iris,Vale,iv',
      ],
    });
    expect(draft.deal['owner_name']).toMatchObject({
      lookup: { source: 'users', take: { list: ['User_FirstName', 'User_LastName'] } },
    });
  });

  it('keep a bracket and a space in the name of a column', async () => {
    const draft = await draftOf({
      'people.csv': [
        'ID,Full name,Email,Size [ m2 ]',
        ...times(12, (n) => `${n + 501},Ada Bell${n},p${n}@acme.example,${n}`),
      ],
    });
    expect(draft.lead).toMatchObject({ custom_params: { size_m2: 'Size [ m2 ]' } });
  });
});

it('a row of totals is no record, although its currency stands beside the sums', async () => {
  const draft = await draftOf({
    'list.csv': [
      'Nr,Date,Name,Email,Job,Qty,Price,Currency,Status',
      ...times(
        20,
        (n) =>
          `${n + 1},2024-03-${n + 10 > 30 ? 11 : n + 10},Ada Bell${n},p${n}@acme.example,Roof ${n},${n % 3},${n + 1}250.50,EUR,${n % 3 ? 'Open' : 'Won'}`,
      ),
      ',,,,,GRAND TOTAL,9999.00,EUR,',
    ],
  });
  expect(draft.findings).toMatch(/20 leads; 20 deals; 1 skipped/);
  expect(draft.findings).not.toContain('cannot be sent');
});

describe('of several columns that would do', () => {
  it('the currency is the one that is called like the amount', async () => {
    const draft = await draftOf({
      'contacts.csv': PEOPLE,
      'deals.csv': [
        'Deal - ID,Deal - Title,Deal - Stage,Deal - Currency of Planned value,Deal - Planned value,Deal - Value,Deal - Currency of Value,Deal - Contact ID',
        ...times(
          30,
          (n) => `${n + 501},Roof of house ${n},${n % 3 ? 'Open' : 'Won'},USD,,${n + 1}250.50,EUR,${30 - n}`,
        ),
      ],
    });
    expect(draft.deal).toMatchObject({ amount: { from: 'Deal - Value' }, currency: 'Deal - Currency of Value' });
  });

  it('a time that many comments lack is taken from the next one', async () => {
    const draft = await draftOf({
      'contacts.csv': PEOPLE,
      'tasks.csv': [
        'Id,Contact ID,Activity date,Description,Created date',
        ...times(24, (n) => `T${n},${n + 1},${n % 2 ? `2024-03-${n + 1}` : ''},${sentence(n)},2024-02-0${(n % 8) + 1}`),
      ],
    });
    const { occurred_at: time } = draft.comment as { occurred_at: { from: { from: string }[] } };
    expect(time.from.map(({ from }) => from)).toEqual(['Activity date', 'Created date']);
    expect(draft.remark('occurred_at')).not.toContain('Created date');
    expect(draft.text).toContain('where it is empty, `Created date` is taken');
  });

  it('a comment goes to the parent that an export has', async () => {
    const comments = times(
      40,
      (n) =>
        `C${n},${n < 39 ? (n % 30) + 1 : 999},${n % 2 ? `D${(n % 30) + 1}` : ''},2024-03-01 10:${n + 10},${sentence(n)}`,
    );
    const draft = await draftOf({
      'contacts.csv': PEOPLE,
      'deals.csv': DEALS.map((row, at) => (at === 0 ? row : `D${row}`)),
      'tasks.csv': ['Id,Contact ID,Deal ID,When,Description', ...comments],
    });
    expect(draft.comment).toMatchObject({
      lead_external_id: { lookup: { source: 'contacts', with: 'Contact ID', if_missing: 'skip' } },
      deal_external_id: 'Deal ID',
    });
    expect(draft.findings).toMatch(/tasks\.csv: .*; 40 comments$/m);
  });
});

it('what an API says of where it has a record is no field, and is named', async () => {
  const attributes = (type: string, id: string) => ({ type, url: `/services/data/v58.0/sobjects/${type}/${id}` });
  const draft = await draftOf({
    'contacts.json': times(20, (n) => ({
      attributes: attributes('Contact', `003${n}`),
      Id: `003${n}`,
      Name: person(n),
      Email: `p${n}@acme.example`,
      Account: { attributes: attributes('Account', `001${n}`), Name: `Firm ${n}` },
    })),
  });
  expect(draft.lead['custom_params']).toEqual({ account_name: 'Account.Name' });
  expect(draft.text).toContain(
    'not carried, because they only say where an API has the record: `attributes.type`, `attributes.url`, `Account.attributes.type`',
  );
});
