/** What the records of a table are, by who refers to whom, in structures of no known CRM. */
import { describe, expect, it } from 'vitest';
import { draftOf, times } from './mapping.ts';

const NAMES = ['Ada Bell', 'Bruno Costa', 'Clara Dane', 'Dario Ebner', 'Elena Falk', 'Farid Gruber', 'Greta Hartog'];
const person = (n: number): string => NAMES[n % NAMES.length]!;
const PEOPLE = [
  'Client ID,Name,E-mail,Phone',
  ...times(12, (n) => `${10020 + 3 * n},${person(n)},p${n}@a.example,+49 30 ${2000000 + n * 7919}`),
];

describe('a table is', () => {
  it('people and deals where a row has a person, an amount and a status, whatever it is called', async () => {
    const orders = Array.from({ length: 12 }, (_, n) => ({
      order_no: `SO-${n}`,
      state: ['paid', 'open', 'shipped'][n % 3],
      grand_total: `${49 + n * 13}.90`,
      buyer: { buyer_id: `B${n % 5}`, name: person(n % 5), email: `p${n % 5}@a.example` },
    }));
    const draft = await draftOf({ 'orders.json': orders });
    expect(draft.entries).toEqual(['orders: lead/created', 'orders: deal/created']);
    expect(draft.lead).toMatchObject({ external_id: 'buyer.buyer_id', full_name: 'buyer.name' });
    expect(draft.deal).toMatchObject({ external_id: 'order_no', stage_name: 'state' });
    expect(draft.text).toContain(
      '# check: these become deals, because they belong to a person or company and have an amount and a status',
    );
  });

  it.each(['repeated', 'empty'])('deals once each where the lines of their items have an id that is %s', async (id) => {
    const lines = (n: number): string[] => [
      `#D${n},completed,${199 + n * 13}.80,2024-03-${10 + n} 11:42:33,Ash stool ${n % 4},${86 + n}.00`,
      ...times(n % 3, (at) => `${id === 'empty' ? '' : `#D${n}`},,,,Walnut desk ${at},64.00`),
    ];
    const orders = ['Name,Status,Total,Created at,Item name,Item price', ...times(12, lines).flat()];
    const draft = await draftOf({ 'deals.csv': orders });
    expect(draft.deal).toMatchObject({ external_id: 'Name' });
    expect(draft.text).toContain(
      `when: { from: ${id === 'empty' ? 'Name' : 'Total'}, present: true } # check: skips 12 of 24: `,
    );
    expect(draft.text).toContain('# unique in all 12 records');
  });

  it('deals in each row, where only some have an amount, a bill and the time when they were won', async () => {
    const deals = ['Deal ID,Deal Name,Amount,Won at,Bill'];
    const won = (n: number): string => (n % 2 ? ',,' : `${900 + n}.00,2024-03-${10 + n},B-${77 + n}`);
    const draft = await draftOf({ 'deals.csv': [...deals, ...times(14, (n) => `D${n},Contract ${n % 5},${won(n)}`)] });
    expect(draft.deal).toMatchObject({ external_id: 'Deal ID' });
    expect(draft.text).not.toContain('when:');
  });

  const cards = (more: (n: number) => object) =>
    Array.from({ length: 20 }, (_, n) => ({
      cardId: 9000 + 7 * n,
      title: `Acme ${n}: service contract`,
      client: { name: person(n % 5), email: `p${n % 5}@a.example` },
      ...more(n),
    }));
  const sum = (n: number): object => ({
    value: [3500, 980, 12000][n % 3],
    currency: 'EUR',
    assignee: ['Ina Roth', 'Max Lang'][n % 2],
  });

  it('people and deals without a stage, where people recur beside an amount, a title of its own and a member', async () => {
    const draft = await draftOf({ 'cards.json': cards(sum) });
    expect(draft.entries).toEqual(['cards: lead/created', 'cards: deal/created']);
    expect(draft.lead).toMatchObject({ external_id: 'client.email', duplicates: 'first' });
    expect(draft.deal).toMatchObject({
      external_id: 'cardId',
      title: 'title',
      amount: 'value',
      owner_name: 'assignee',
    });
    expect(draft.text).toMatch(/# check: these become deals, .* an amount .*; no column has a stage/);
  });

  it('deals by what they are for, their sum in money and few values of any name, of people who have only an address', async () => {
    const draft = await draftOf({
      'contacts.csv': [
        'Code,Courriel,CP',
        ...times(20, (n) => `DON${n},${person(n).replace(' ', '.')}${n}@a.example,${10000 + 37 * n}`),
      ],
      'promesses.csv': [
        'N°,Code,Intitulé,Montant,Avancement',
        ...times(
          20,
          (n) => `${n + 1},DON${(7 * n) % 13},Legs atelier ${n},${450 + 130 * n} €,${['Promis', 'Refus'][n % 2]}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['contacts: lead/created', 'promesses: deal/created']);
    expect(draft.deal).toMatchObject({ external_id: 'N°', title: 'Intitulé', lead_external_id: 'Code' });
    expect(draft.text).toMatch(/# check: these become deals, .* an amount and a subject; no column has a stage/);
    expect(draft.text).toMatch(/# stage_name: Avancement # set this/);
  });

  it('deals in the stage that is the name around their list, or the last one with a day', async () => {
    const columns = ['Inbox', 'Offer', 'Won'].map((name, n) => ({ name, cards: cards(sum).slice(6 * n, 6 * n + 6) }));
    const board = await draftOf({ 'board.json': { columns } });
    expect(board.deal).toMatchObject({ each: 'cards', stage_name: '$.name' });
    expect(board.remark('stage_name')).toMatch(/^check: no column has the stage/);
    // One card per person in each list is no list of names and values.
    const few = columns.map(({ name, cards: own }) => ({ name, cards: own.slice(0, 5) }));
    expect((await draftOf({ 'board.json': { columns: few } })).deal).toMatchObject({ each: 'cards', amount: 'value' });
    const day = (n: number, at: number): string => (n % 4 < at ? '' : `${10 + at}/03/2024`);
    const jobs = await draftOf({
      'suivi.csv': [
        'Dossier,Interlocuteur,Courriel,Chantier,Montant,Demande,Visite,Devis,Signature',
        ...times(
          24,
          (n) =>
            `D${n},${person(n)},p${n % 7}@a.example,Toit de la maison ${n},"1${n}0,50",${[0, 1, 2, 3].map((at) => day(n, at)).join(',')}`,
        ),
      ],
    });
    expect(jobs.entries).toEqual(['suivi: lead/created', 'suivi: deal/created']);
    const { from } = jobs.deal['stage_name'] as { from: { from: string }[] };
    expect(from.map((each) => each.from)).toEqual(['Signature', 'Devis', 'Visite', 'Demande']);
    expect(jobs.remark('stage_name')).toMatch(/^check: /);
  });

  it.each([
    ['Title,Annual Revenue,Owner', (n: number) => `${['Sales Manager', 'CEO'][n % 2]!},"$${n + 10},000",Ina Roth`],
    ['Ort,Umsatz,Betreuer', (n: number) => `Ulm,"1${n}0,50 €",Ina Roth`],
    ['Membership,Annual fee', (n: number) => `${['Gold', 'Junior'][n % 2]!},£${n + 40}.00`],
    ['Looking for,Budget', (n: number) => `${n} bed flat near the river,"£${n + 20}0,000"`],
    ['Job title,Current salary', (n: number) => `${['Nurse', 'Accountant'][n % 2]!},"£3${n},000"`],
  ])('only people, whatever they have, earn, pay each year or look for: %s', async (headers, cells) => {
    const rows = times(12, (n) => `${PEOPLE[n + 1]!},${cells(n)}`);
    const draft = await draftOf({ 'list.csv': [`${PEOPLE[0]!},${headers}`, ...rows] });
    expect(draft.entries).not.toContain('list: deal/created');
    expect(draft.text).not.toMatch(/may be the amount/);
  });

  it('marked, where an amount of people may be that of a deal', async () => {
    const draft = await draftOf({
      'lista.csv': [
        'Nr,Pacjent,E-mail,Zabieg,Koszt',
        ...times(14, (n) => `${n + 1},${person(n)},p${n % 7}@a.example,Implant numer ${n},"${n + 1}00,00 zł"`),
      ],
    });
    expect(draft.text).toMatch(/# check: `Koszt` may be the amount of a deal; .*`--answer \w+=both`/);
  });

  it.each(['Net of tax', 'Kx7', 'Gross'])(
    'both, where the cells of `%s` have the sign of a currency',
    async (header) => {
      const jobs = ['New kitchen', 'Worktop', 'Oven', 'Sink'];
      const draft = await draftOf({
        'list.csv': [
          `Date,Client,Address,Zip,Phone,Task,${header},Status,Seller`,
          ...times(
            33,
            (n) =>
              `2024-03-${10 + (n % 20)},${NAMES[n % 7]!} ${n},${NAMES[n % 5]!.split(' ')[1]!} Road ${n + 3},8${n % 4}00,+49 30 ${2000000 + n * 7919},${jobs[n % 4]!},"${n + 12}.350,00 €",${['Sent', 'Wx', 'Rejected'][n % 3]!},${['Ina', 'Max'][n % 2]!}`,
          ),
        ],
      });
      expect(draft.entries).toEqual(['list: lead/created', 'list: deal/created']);
      expect(draft.deal).toMatchObject({ amount: { from: header }, currency: { value: 'EUR' }, title: 'Task' });
      expect(draft.remark('amount')).toMatch(/^check: /);
    },
  );

  it.each([
    ['Title', ['Gutters', 'Loft conversion', 'Repair'], 'Title'],
    ['Job', ['Gutters', 'Loft conversion', 'Repair'], 'Job'],
    ['Titel', ['Dachsanierung', 'Heizung', 'Solaranlage'], 'Titel'],
    ['Title', ['Head of IT', 'CEO', 'Buyer'], 'Firm'],
    ['Titel', ['Dr.', 'Prof.', 'Dr. med.'], 'Firm'],
    ['Title', ['Head of IT', 'CEO', 'Buyer'], 'Opportunity'],
  ])('both, where `%s` has %j and the deal is called after %s', async (header, values, title) => {
    const other = title === 'Opportunity' ? title : 'Firm';
    const draft = await draftOf({
      'list.csv': [
        `No,Name,E-mail,${header},${other},Amount,Status`,
        ...times(
          21,
          (n) =>
            `${n + 1},${person(n)},p${n % 7}@a.example,${values[n % 3]!},Acme Tools ${n},${n + 1}00,${['New', 'Won'][n % 2]!}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['list: lead/created', 'list: deal/created']);
    expect(draft.deal['title']).toBe(title);
  });

  it('deals, and no properties, where each person has an amount in several stages', async () => {
    const draft = await draftOf({
      'contacts.csv': ['contact_id,email', ...times(20, (n) => `C${n},p${n}@a.example`)],
      'deals.csv': [
        'deal_id,contact_id,stage,amount,close_date',
        ...times(
          40,
          (n) =>
            `D${n},C${n % 20},${['New', 'Won'][Math.floor(n / 20)]!},${n < 20 ? 9300 + 13 * n : 17211 + 13 * n}.00,2024-03-0${(n % 9) + 1}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['contacts: lead/created', 'deals: deal/created']);
    expect(draft.deal).toMatchObject({
      amount: { from: 'amount' },
      stage_name: 'stage',
      lead_external_id: 'contact_id',
    });
  });

  it.each([
    ['Invitee UUID', (n: number) => `2b8a463b-a94e-498b-a35c-6c2a56c6f4${10 + n}`],
    ['Rezervace', (n: number) => `R-${100 + 3 * n}`],
    ['', () => ''],
  ])('people told apart by their address, where they recur under another `%s` each time', async (header, id) => {
    const row = (n: number) => `${id(n)},${person(n)},p${n % 7}@a.example,2024-03-${n + 10},Demo`;
    const draft = await draftOf({ 'events.csv': [`${header},Name,Email,Start,Event type`, ...times(20, row)] });
    expect(draft.lead).toMatchObject({ external_id: 'Email', duplicates: 'first' });
    expect(draft.remark('duplicates')).toMatch(/^check: 7 people in 20 records/);
    if (header !== '')
      expect(draft.lead['custom_params']).toMatchObject({ [header.toLowerCase().replace(' ', '_')]: header });
  });

  it('people who are once without their address, in rows that are marked as of one person', async () => {
    const row = (n: number): string =>
      `${person(n % 7)},${n === 8 ? '' : `p${n % 7}@a.example`},+39 06 5550${n % 7}21,${n % 3}`;
    const draft = await draftOf({ 'form.csv': ['Name,Email,Phone,Answer', ...times(20, row)] });
    expect(JSON.stringify(draft.lead['external_id'])).toContain('"match":{"list":["Phone","Name"]');
    expect(draft.remark('duplicates')).toMatch(/^check: 7 people in 20 records/);
    expect(draft.findings).toContain('20 leads');
  });

  it('people, whatever their file is called, and those with addresses to whom deals refer', async () => {
    const row = (n: number): string =>
      `T${n},Roof ${n},${['Enquiry', 'Offer', 'Won', 'Lost'][n % 4]},${person(n % 7)},${person(n % 7)
        .split(' ')[0]!
        .toLowerCase()}@a${n % 7}.example,Firm ${n % 5},${n + 3}250.50`;
    const head = 'Task ID,Name,Section,PIC Name,PIC Email,Client Account Name,Total Amount';
    const business = await draftOf({ 'New business.csv': [head, ...times(20, row)] });
    expect(business.entries).toEqual(['new_business: lead/created', 'new_business: deal/created']);
    const candidates = await draftOf({
      'candidates.csv': ['Candidate Ref,Candidate,Email', ...times(20, (n) => `CAN-${n},${person(n)},p${n}@a.example`)],
      'applications.csv': [
        'Application Ref,Candidate Ref,Stage,Amount',
        ...times(30, (n) => `APP-${n},CAN-${n % 20},${['New', 'Placed'][n % 2]!},9${n}00.00`),
      ],
    });
    expect(candidates.entries).toEqual(['candidates: lead/created', 'applications: deal/created']);
    expect(candidates.lead).toMatchObject({ full_name: 'Candidate' });
  });

  it('those who work with the records, whatever it is called, where others are the people', async () => {
    const members = times(2, (n) => ({
      id: `${11 + n}`,
      type: 'users',
      attributes: { name: ['Nora Stein', 'Abel Cruz'][n], email: `m${n}@studio.example` },
    }));
    const people = times(24, (n) => ({
      id: `${n + 1}`,
      name: `${person(n)}${'abcdefghijklmnopqrstuvwx'[n]!}`,
      email: `p${n}@a${n}.example`,
      owner: { id: `${11 + (n % 2)}` },
    }));
    const deals = times(24, (n) => ({
      id: `D${n}`,
      title: `Film ${n}`,
      amount: 900 + 70 * n,
      stage: ['New', 'Won'][n % 2],
      owner: { id: `${11 + (n % 2)}` },
      contact_email: `p${n}@a${n}.example`,
    }));
    for (const name of ['workspace_members.json', 'included.json']) {
      const draft = await draftOf({ 'people.json': people, 'deals.json': deals, [name]: members });
      expect(draft.entries).toEqual(['people: lead/created', 'deals: deal/created']);
      expect(JSON.stringify(draft.deal['owner_name'])).toContain('"take":"attributes.email"');
    }
  });

  it('comments, where its people are in another table once: a log with names and numbers', async () => {
    const who = (n: number): string => `+39 06 5550${10 + n}21,${person(n)}${'abcdefghijkl'[n]!}`;
    const draft = await draftOf({
      'customers.csv': ['No,Phone,Name', ...times(12, (n) => `${n + 1},${who(n)}`)],
      'log.csv': [
        'Time,Phone,Customer,Agent,Text',
        ...times(
          30,
          (n) =>
            `2024-03-${10 + (n % 20)} 10:00,${who((n * 5) % 9)},${['Ann Bell', 'Bob Cole'][n % 2]!},They asked for a new offer about roof number ${n}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['customers: lead/created', 'log: comment/created']);
    expect(draft.comment['lead_external_id']).toBeDefined();
  });

  it('a table of its own for each of a database in one document, and not one list of all', async () => {
    const people = Array.from({ length: 8 }, (_, n) => ({
      id: n + 1,
      name: person(n),
      email: `p${n}@a.example`,
      city: 'Oslo',
    }));
    const notes = Array.from({ length: 12 }, (_, n) => ({
      note_id: n + 1,
      customer_id: 1 + (n % 8),
      note: `Wants ${n + 2} more of the blue ones, and asks for a discount`,
      created: `2024-03-${n + 10} 10:00:00`,
    }));
    const tableOf = (name: string, data: readonly object[]) => ({ type: 'table', name, database: 'shop', data });
    const about = [
      { type: 'header', version: '5.1.1' },
      { type: 'database', name: 'shop' },
    ];
    const draft = await draftOf({ 'shop.json': [...about, tableOf('customers', people), tableOf('notes', notes)] });
    expect(draft.entries).toEqual(['customers: lead/created', 'notes: comment/created']);
    expect(draft.spec.sources).toMatchObject({ customers: { records: '[2].data' }, notes: { records: '[3].data' } });
    expect(draft.comment['lead_external_id']).toBe('customer_id');
  });

  it('nothing without a name or a text: calls, a history of stages, and addresses in a list of the person who has them', async () => {
    const code = (n: number, of: string): string => `${of}${((n + 3) * 99_991).toString(36)}${n}`;
    const people = Array.from({ length: 14 }, (_, n) => ({
      name: `${person(n)}${n < 7 ? '' : `-Acme ${n}`}`,
      full_name: person(n),
      mail: n % 3 ? `p${n}@a.example` : '',
      mails: n % 3 ? [{ name: code(n, 'm'), mail: `p${n}@a.example`, primary: true }] : [],
    }));
    const stages = ['Enquiry', 'Offer', 'Won'];
    const deals = Array.from({ length: 14 }, (_, n) => ({
      name: `OPP-${2024_0001 + n}`,
      organization: `Acme ${n}`,
      stage: stages[n % 3],
      amount: 1000.5 + 37 * n,
      parties: [{ contact: people[13 - n]!.name }],
      stage_log: [0, 1].map((at) => ({
        name: code(2 * n + at, 'h'),
        from: stages[at],
        to: stages[at + 1],
        date: `2024-03-0${at + 1}T10:${10 + n}:00Z`,
      })),
    }));
    const calls = Array.from({ length: 28 }, (_, n) => ({
      name: code(n, 'c'),
      from: `+3906555010${10 + (n % 14)}`,
      to: '+390655500000',
      start: `2024-03-0${1 + (n % 9)}T10:${10 + n}:00Z`,
      end: `2024-03-0${1 + (n % 9)}T10:${15 + n}:00Z`,
      deal: deals[n % 14]!.name,
    }));
    const draft = await draftOf({ 'contacts.json': people, 'deals.json': deals, 'call_log.json': calls });
    expect(draft.entries).toEqual(['contacts: lead/created', 'deals: deal/created']);
    // What others refer to is the id, whatever it is called, and no made-up one of which some lack a part.
    expect(draft.lead).toMatchObject({ external_id: 'name', full_name: 'full_name', email: { from: 'mail' } });
    expect(draft.deal).toMatchObject({
      title: 'organization',
      lead_external_id: { from: 'parties.contact', apply: [{ at: 0 }] },
    });
    expect(draft.findings).toContain('28 elements: a history of stages (`from`, `to`), kept in a custom field');
    expect(draft.findings).toMatch(
      /call_log\.json.*not used, because no column has texts; 28 of 28 values of `call_log.deal`/,
    );
  });

  it('comments, where each row names a person and has a day and a sentence, whatever the headers say and although sentences recur', async () => {
    const who = (n: number): string => `${person(n)}${'abcdefghijkl'[n]!}`;
    const texts = [
      'Sent the new offer.',
      'Finds the price too high, will think.',
      'Ordered, deposit is paid.',
      'Not at home, sent a text.',
    ];
    const draft = await draftOf({
      'people.csv': ['No,Phone,Name', ...times(12, (n) => `${n + 1},+39 06 5550${10 + n}21,${who(n)}`)],
      'sheet 2.csv': [
        'Day,Customer,Kx1,Kx2,Kx3',
        ...times(
          30,
          (n) =>
            `2024-03-${10 + (n % 20)},${who(n % 12)},${['Ina', 'Max'][n % 2]!},"${texts[n % 4]!}",${n % 3 ? '' : 'phone'}`,
        ),
      ],
    });
    expect(draft.comment).toMatchObject({ source: 'sheet_2', content: 'Kx2' });
    expect(draft.remark('content')).toMatch(/^check: /);
  });

  it.each(['Status', 'Result', 'Kx7'])(
    'deals, where `%s` says how they ended by their chances and words of no language: another column is the stage',
    async (header) => {
      const ended = (n: number): string => [`Aa,Ww,100`, `Bb,Ll,0`, `Cc,Oo,${10 * (n % 8) + 10}`, `Dd,Oo,30`][n % 4]!;
      const draft = await draftOf({
        'people.csv': PEOPLE,
        'list.csv': [
          `No,Client ID,Xname,Xstep,${header},Chance %,Xsum,Currency`,
          ...times(
            36,
            (n) => `${700 + n},${10020 + 3 * (n % 12)},Contract for ${n % 19} lamps,${ended(n)},${n + 3}500.50,EUR`,
          ),
        ],
      });
      expect(draft.deal).toMatchObject({
        title: 'Xname',
        stage_name: { from: [{ from: header, apply: [{ map: { Ww: 'Won', Ll: 'Lost', '*': null } }] }, 'Xstep'] },
      });
      expect(draft.remark('stage_name')).toMatch(/says that 18 deals are won or lost, /);
    },
  );

  it('deals by an amount in a currency and what it is for, without any stage, or with numbers that say how they ended', async () => {
    const day = (n: number): string => `2024-03-${10 + (n % 19)}`;
    const row = (n: number): string =>
      `${700 + n},${10020 + 3 * (n % 12)},Contract for ${n % 19} lamps,${n + 3}500.50,EUR`;
    const header = 'No,Client ID,Xname,Xsum,Currency';
    const [one, other] = await Promise.all([
      draftOf({ 'people.csv': PEOPLE, 'list.csv': [header, ...times(36, row)] }),
      draftOf({
        'people.csv': PEOPLE,
        'list.csv': [
          `${header},Step,State,Xday`,
          ...times(
            36,
            (n) => `${row(n)},${['Cc,0,', `Dd,1,${day(n)}`, `${['Aa', 'Cc'][n % 2]!},2,${day(n)}`][n % 3]!}`,
          ),
        ],
      }),
    ]);
    expect(one.deal).toMatchObject({ title: 'Xname', amount: { from: 'Xsum' } });
    expect(one.text).toContain('; no column has a stage');
    expect(other.text).toContain("map: { '1': Won, '2': Lost, '*': null }");
  });

  it('deals called after the one full column of varied texts, although its header is a word of people', async () => {
    const row = (n: number): string =>
      `${700 + n},${10020 + 3 * (n % 12)},Contract for ${n} lamps,${n + 3}500.50,${['New', 'Won'][n % 2]!},${n % 5 ? '' : 'Too dear for us'}`;
    const header = 'No,Client ID,Lead,Amount,Stage,Result';
    const draft = await draftOf({ 'people.csv': PEOPLE, 'deals.csv': [header, ...times(24, row)] });
    expect(draft.deal['title']).toBe('Lead');
    expect(draft.remark('title')).toMatch(/^check: /);
  });

  it('deals, where it has a title, an amount and a stage and no addresses, although the file is called leads', async () => {
    const row = (n: number): string =>
      `${n + 1},Audit ${n},Pharmacie ${n % 5},${['New', 'Won'][n % 2]!},${n + 3}00.50,Ann Bell,2024-03-${n + 10}`;
    const draft = await draftOf({
      'leads.csv': ['ID,Opportunity,Client folder,Stage,Amount,Owner,Created at', ...times(20, row)],
    });
    expect(draft.entries).toEqual(['leads: deal/created']);
  });

  it('deals of people who are in several rows, each with a number of its own and an amount, whatever the headers say', async () => {
    const who = (n: number): string => `${500 + n},${person(n)} ${n},p${n}@a.example`;
    const thing = (n: number): string => `V-${n * 7919},${100 + n * 37}.50,${['A', 'K', 'O'][n % 3]!}`;
    const rows = times(20, (n) => `${who(n % 11)},${thing(n)}`);
    const draft = await draftOf({ 'list.csv': ['ZzNr,Name,Mail,Xy.,Dues,Qq.', ...rows] });
    expect(draft.entries).toEqual(['list: lead/created', 'list: deal/created']);
    expect(draft.lead).toMatchObject({ external_id: 'ZzNr' });
    expect(draft.deal).toMatchObject({ external_id: 'Xy.', lead_external_id: 'ZzNr', amount: { from: 'Dues' } });
  });

  it('people of whom some have a deal, where its columns are filled in the same rows: its stage is there, and notes are about them', async () => {
    const who = (n: number): string =>
      `${2000 + n * 3},${person(n)} ${n},p${n}@a.example,${['Nurture', 'Hot', 'Trash'][n % 3]!}`;
    const deal = (n: number): string =>
      n % 5 < 3 ? `${n} Creek Lane,${['Offer', 'Closed'][n % 2]!},${200 + n}450,2024-05-0${1 + (n % 9)}` : ',,,';
    const rows = times(
      20,
      (n) => `${who(n)},${deal(n)},${n % 4 ? `Wants a house with a garden near number ${n}` : ''}`,
    );
    const draft = await draftOf({
      'people.csv': ['ID,Name,Email,Stage,Deal Name,Deal Stage,Deal Price,Deal Close Date,Notes', ...rows],
    });
    expect(draft.deal).toMatchObject({ when: { from: 'Deal Name', present: true }, stage_name: 'Deal Stage' });
    expect(draft.comment).toMatchObject({ content: 'Notes', lead_external_id: 'ID' });
  });

  it.each([7, 11])(
    'people by the name that %i addresses have in all of their rows, and deals by what differs there',
    async (count) => {
      const row = (n: number): string =>
        `${300 + n * 7},${['Windows', 'Fence', 'Printing'][n % 3]!} ${person((n % count) % 7).split(' ')[1]!},${900 + n * 37}.50,${['New', 'Won', 'Lost'][n % 3]!}`;
      const rows = times(20, (n) => `${row(n)},${person((n % count) % 7)},p${n % count}@a.example`);
      const draft = await draftOf({ 'list.csv': ['ID,Deal name,Amount,Stage,Qq,Mail', ...rows] });
      expect([draft.lead['full_name'], draft.deal['title']]).toEqual(['Qq', 'Deal name']);
    },
  );

  it('the same in whatever order the files are named, and whatever they are called', async () => {
    const client = (n: number): string => `C${100 + n},${person(n)} ${n},c${n}@a.example`;
    const offer = (n: number): string =>
      `Q${n},${person(n)} ${n},c${n}@a.example,Roof ${n},${['Draft', 'Sent', 'Accepted'][n % 3]!},${900 + n * 31}.50,2024-03-0${1 + (n % 9)},Rex Dalby,${n < 6 ? `J${n}` : ''}`;
    const work = (n: number): string =>
      `J${n},${person(n)} ${n},Roof ${n},${['Late', 'Active'][n % 2]!},${900 + n * 31}.50,${n < 6 ? `Q${n}` : ''}`;
    const files = [
      ['Client ID,Display Name,Email', ...times(16, client)],
      ['Offer #,Client,Email,Title,Status,Total,Drafted,Salesperson,Work #', ...times(16, offer)],
      ['Work #,Client,Title,Status,Revenue,Offer #', ...times(10, work)],
    ];
    for (const names of ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']) {
      const named = files.map((rows, at) => [`${names[at]!}.csv`, rows] as const);
      const [one, other] = [
        await draftOf(Object.fromEntries(named)),
        await draftOf(Object.fromEntries(named.toReversed())),
      ];
      expect(one.entries).toEqual([`${names[0]!}: lead/created`, `${names[1]!}: deal/created`]);
      expect(other.entries).toEqual(one.entries);
      expect([other.lead, other.deal]).toEqual([one.lead, one.deal]);
    }
  });

  it('people told apart by an id to which others refer, although their addresses recur', async () => {
    const draft = await draftOf({
      'events.csv': ['Ref,Name,Email', ...times(20, (n) => `R${n},${person(n)},p${n % 7}@a.example`)],
      'notes.csv': ['Ref,Note', ...times(30, (n) => `R${n % 15},Asked for a demo of the roof ${n}`)],
    });
    expect(draft.lead).toMatchObject({ external_id: 'Ref' });
    expect(draft.comment).toMatchObject({ lead_external_id: 'Ref' });
  });

  it('people and deals in an export of tasks: the list that a task is in is no name, and owners are in brackets', async () => {
    const draft = await draftOf({
      'tasks.csv': [
        'Task ID,Task Name,Status,Assignees,List Name,Client (short text),Client e-mail (email),Deal Size (currency)',
        ...times(
          20,
          (n) =>
            `86kz${n}e,Acme Tools - offer ${n},${['open', 'closed won'][n % 2]!},"${['[]', '[Tom Reed]', '[Tom Reed,Iris Vale]'][n % 3]!}",${['New business', 'Renewals'][n % 2]!},${person(n)},p${n % 7}@a.example,${[2750, 980, 12000, 400, 7100, 660][n % 6]!}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['tasks: lead/created', 'tasks: deal/created']);
    expect(draft.lead['full_name']).toBe('Client (short text)');
    const { from, apply } = draft.deal['owner_name'] as { from: string; apply: { extract: string }[] };
    expect(from).toBe('Assignees');
    expect(
      ['[Tom Reed,Iris Vale]', '{"Tom Reed"}', '[]'].map((text) => new RegExp(apply[0]!.extract).exec(text)?.[1]),
    ).toEqual(['Tom Reed', 'Tom Reed', undefined]);
    expect(draft.remark('owner_name')).toMatch(/^check: .* 6 have/);
  });

  it.each(['Subtotal North', 'Zwischensumme Nord', 'Итого Север', 'Total'])(
    'without the sums of its rows: `%s`',
    async (name) => {
      const row = (n: number): string =>
        `Roof of house ${n},${person(n)},p${n}@a.example,${[2750, 980, 12000, 400, 7100, 660][n % 6]!},${['New', 'Won'][n % 2]!},Ina Roth,${n + 1},Rome`;
      // Firms may be called so, too.
      const rows = [
        ...times(8, row),
        `${name},,,33790,,,36,`,
        ...times(8, (n) => row(n + 8)),
        'Total Logistics,Ada Bell,t@a.example,400,New,Ina Roth,2,Rome',
      ];
      const draft = await draftOf({
        'pipeline.csv': ['Opportunity,Contact,E-mail,Value,Phase,Sales rep,Units,City', ...rows],
      });
      const when = { from: 'Contact', present: true };
      expect(draft.entries).toEqual(['pipeline: lead/created', 'pipeline: deal/created']);
      expect([draft.lead['when'], draft.deal['when']]).toEqual([when, when]);
      expect(draft.findings).toContain('17 deals; 1 skipped');
    },
  );

  it('marked, where deals refer to it beside the people: vacancies with a contact', async () => {
    const draft = await draftOf({
      'candidates.csv': [
        'Candidate Ref,Candidate,Email',
        ...times(20, (n) => `CAN-${n},${person(n)}${'abcdefghijklmnopqrst'[n]!},p${n}@a.example`),
      ],
      'vacancies.csv': ['Vacancy Ref,Client,HM email', ...times(8, (n) => `VAC-${n},Acme ${n} Tools,hr${n}@c.example`)],
      'applications.csv': [
        'Application Ref,Candidate Ref,Vacancy Ref,Stage,Amount',
        ...times(30, (n) => `APP-${n},CAN-${n % 20},VAC-${n % 8},${['New', 'Placed', 'Rejected'][n % 3]!},9${n}00.00`),
      ],
    });
    expect(draft.text).toMatch(
      /# check: applications refers to these records and to candidates.*\n *- type: lead\/created\n *source: vacancies/,
    );
    expect(draft.deal).toMatchObject({ lead_external_id: 'Candidate Ref' });
  });

  it.each([
    [
      'STT;Họ và tên;SĐT;Nhu cầu;Giá trị (triệu);Tình trạng;NV phụ trách',
      'Thời gian;SĐT;Khách;Người gọi;Nội dung trao đổi',
    ],
    ['No;Full name;Phone;Project;Amount (lei);Status;Owner', 'Time;Phone;Customer;Agent;Note'],
  ])('comments, where a log repeats the names and numbers of people: %s', async (customers, log) => {
    const number = (n: number): string => `09${11 + n}.36${n % 10}.1${70 + n}`;
    const name = (n: number): string => `Trần ${['Minh', 'Ngọc', 'Thanh'][n % 3]!} ${'ABCDEFGHIJKLMNOPQRSTUVWX'[n]!}n`;
    const draft = await draftOf({
      'khach.csv': [
        customers,
        ...times(
          24,
          (n) => `${n + 1};${name(n)};${number(n)};Sàn ${n % 5};${21 + n},5;${n % 3 ? 'Mới' : 'Chốt'};Thu Hằng`,
        ),
      ],
      'cham_soc.csv': [
        log,
        ...times(
          30,
          (n) =>
            `1${n % 9}/06/2024 1${n % 10}:33;${number(n % 14)};${name(n % 14)};Thu Hằng;Khách hẹn gọi lại vào sáng ngày ${n}.`,
        ),
      ],
    });
    expect([...draft.entries].sort()).toEqual([
      'cham_soc: comment/created',
      'khach: deal/created',
      'khach: lead/created',
    ]);
    expect(draft.lead).toMatchObject({ external_id: expect.stringMatching(/STT|No/) as string });
    expect(draft.remark('amount')).toMatch(/1,000,000|24 numbers/);
    expect(draft.comment['lead_external_id']).toMatchObject({
      lookup: { source: 'khach', match: expect.stringMatching(/SĐT|Phone/) as string },
    });
  });

  it('marked, where a record has an id that recurs and nothing of a person, or where users are all that there is', async () => {
    const sales = await draftOf({
      'sales.csv': [
        'Sale,Property,Client ref,Price,Progress,Instructed',
        ...times(32, (n) => `S5${n},${n} Church Road,B1${n % 21},"£6${n},000",Under offer,2023-08-${(n % 28) + 1}`),
      ],
    });
    expect(sales.text).toContain('set this: nothing shows what these records are');
    const meta = ['first_name', 'last_name', 'billing_city'].flatMap((key, of) =>
      times(12, (n) => `${of * 12 + n + 1},${n + 1},${key},${['Ada', 'Bell', 'Rome'][of]!} ${n}`),
    );
    const site = await draftOf({
      'wp_users.csv': ['ID,user_email', ...times(12, (n) => `${n + 1},p${n}@a.example`)],
      'wp_usermeta.csv': ['umeta_id,user_id,meta_key,meta_value', ...meta],
    });
    expect(site.entries).toEqual(['wp_users: lead/created']);
    expect(site.text).toContain('set this: nothing shows what these records are');
  });

  it('people and deals in a language of which no word is known', async () => {
    const names = ['أحمد علي', 'فاطمة حسن', 'محمد سالم', 'نورة خالد', 'يوسف عمر', 'مريم ناصر'];
    const draft = await draftOf({
      'list.csv': [
        'السجل,العميل,البريد,الموضوع,القيمة,المرحلة',
        ...times(
          12,
          (n) =>
            `R${n},${names[n % 6]},a${n}@s.example,تجهيز المستودع رقم ${n},${1500 + 250 * n}.50,${['جديد', 'عرض', 'مغلق'][n % 3]}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['list: lead/created', 'list: deal/created']);
    expect(draft.lead).toMatchObject({ full_name: 'العميل' });
    expect(draft.deal).toMatchObject({
      title: 'الموضوع',
      stage_name: 'المرحلة',
    });
  });

  it.each([
    ['Notes', 'Wants a discount, call back', 12, true],
    ['Uwagi', 'Nie odbiera', 12, true],
    ['Notes', 'Wants a discount, call back', 5, false],
  ])('also comments, if most people have %s `%s`', async (header, text, count, isLive) => {
    const rows = times(12, (n) => `${PEOPLE[n + 1]},${n < count ? `"${text}${n % 2 ? '.' : '!'}"` : ''}`);
    const draft = await draftOf({ 'list.csv': [`${PEOPLE[0]},${header}`, ...rows] });
    expect(draft.entries).toEqual(isLive ? ['list: lead/created', 'list: comment/created'] : ['list: lead/created']);
    // Carried once, whichever it is.
    expect(draft.lead['custom_params']).toEqual(isLive ? undefined : { [header.toLowerCase()]: header });
    if (isLive) expect(draft.comment).toMatchObject({ content: header, lead_external_id: 'Client ID' });
    else
      expect(draft.text).toMatch(/^ {2}# check: .* stays a custom field, because .*\n {2}# - type: comment\/created/m);
  });

  it('the leads, if it has companies and no export has people', async () => {
    const draft = await draftOf({
      'accounts.csv': [
        'Id,Name,Industry,Description',
        ...times(9, (n) => `A${n},Acme ${'ABCDEFGHI'[n]} Tools,Metal,Maker of tools with ${n} sites in the north`),
      ],
      'deals.csv': ['Id,Title,Stage,Amount,AccountId', ...times(9, (n) => `D${n},Roof ${n},New,${n}00.50,@A${n}`)],
    });
    expect(draft.entries).toEqual(['accounts: lead/created', 'deals: deal/created']);
    expect(draft.deal['lead_external_id']).toEqual({ from: 'AccountId', apply: [{ extract: '^@(.+)$' }] });
  });

  it('what its file is called, also with points in the name and in the plural, and what a column of types says without it', async () => {
    const exports = (note: string, status: string): Record<string, object> => ({
      'crm.contact.list.json': Array.from({ length: 12 }, (_, n) => ({
        ID: `${n + 11}`,
        NAME: person(n),
        EMAIL: `p${n}@a.example`,
      })),
      'crm.deal.list.json': Array.from({ length: 12 }, (_, n) => ({
        ID: `${n + 15}`,
        TITLE: `Roof of house ${n}`,
        OPPORTUNITY: `${n}00.50`,
        STAGE_ID: ['NEW', 'OFFER', 'WON'][n % 3],
        CONTACT_ID: `${n + 11}`,
      })),
      [note]: Array.from({ length: 12 }, (_, n) => ({
        ID: `${n + 4000}`,
        // Two of the contacts were deleted.
        ENTITY_ID: `${n + 15}`,
        ENTITY_TYPE: n % 2 === 0 ? 'deal' : 'contact',
        COMMENT: `Spoke at length about the roof of house ${n}`,
        CREATED: `2024-01-${n + 10}T10:00:00Z`,
      })),
      // The same codes are stages of deals and of leads.
      [status]: ['DEAL_STAGE', 'LEAD'].flatMap((of) =>
        ['NEW', 'OFFER', 'WON'].map((code, n) => ({
          ID: `${n}${of}`,
          ENTITY_ID: of,
          STATUS_ID: code,
          NAME: of === 'LEAD' && n === 0 ? 'Unassigned' : ['New request', 'Offer sent', 'Deal won'][n],
        })),
      ),
    });
    for (const [note, status] of [
      ['crm.timeline.comment.list.json', 'crm.statuses.json'],
      ['part3.json', 'part4.json'],
    ] as const) {
      const draft = await draftOf(exports(note, status));
      expect(draft.spec.events.map(({ type }) => type)).toEqual(['lead/created', 'deal/created', 'comment/created']);
      expect(draft.deal['stage_name']).toMatchObject({
        lookup: { match: 'STATUS_ID', with: 'STAGE_ID', take: 'NAME' },
      });
      expect(draft.remark('stage_name')).toMatch(/^check: 12 of 12 .*1 of 3 values have several names/);
      expect(draft.comment['deal_external_id']).toMatchObject({ template: '{ENTITY_TYPE} {ENTITY_ID}' });
    }
  });

  it('comments with the other side of a message as their lead', async () => {
    const draft = await draftOf({
      'contacts.csv': PEOPLE,
      'mails.csv': [
        'message id,from,to,subject,body,sent',
        ...times(
          12,
          (n) =>
            `m${n}@x,${n % 2 ? `sales@us.example,p${n}@a.example` : `p${n}@a.example,sales@us.example`},Re,We spoke about the roof of house ${n} at length,2024-01-${n + 10}`,
        ),
      ],
    });
    expect(draft.entries).toContain('mails: comment/created');
    expect(JSON.stringify(draft.comment['lead_external_id'])).toMatch(/"with":"from".*"with":"to"/);
  });
});

const LAST_DIGITS = [{ replace: { pattern: '\\D', with: '' } }, { extract: '.{1,9}$' }];

describe('a join', () => {
  it('finds a number in parentheses, a phone number however it is written, and pairs of numbers with gaps', async () => {
    const draft = await draftOf({
      'clients.csv': PEOPLE,
      'projects.csv': [
        'Project,Client,Value,State',
        ...times(12, (n) => `P${n},${person(n)} (${10020 + 3 * n}),${n + 3}00.00,New`),
      ],
      'calls.csv': [
        'Call ID,Phone number,Remark,Time',
        ...times(
          12,
          (n) =>
            `c${n},${['004930', '30'][n % 2]}${2000000 + n * 7919},Spoke about the roof of house ${n} at length,2024-01-${n + 10}`,
        ),
      ],
    });
    expect(JSON.stringify(draft.deal['lead_external_id'])).toContain('\\\\(([^()]+)\\\\)');
    expect(draft.comment['lead_external_id']).toMatchObject({
      lookup: { match: { from: 'Phone', apply: LAST_DIGITS }, with: { from: 'Phone number', apply: LAST_DIGITS } },
    });
    // Two people may have one number, and no header need say what the log is.
    const shared = await draftOf({
      'customers.csv': [
        'Customer,E-mail,Mobile',
        ...times(12, (n) => `${person(n)},c${n}@a.example,+44 7700 90${100 + Math.min(n, 10)}`),
      ],
      'log.csv': [
        'When,Line,What was said',
        ...times(
          15,
          (n) =>
            `2024-01-${n + 10} 10:0${n % 10},${n % 2 ? '0' : '+44'}770090${100 + (n % 11)},Asked about the ${n}. offer again`,
        ),
      ],
    });
    expect(shared.comment['lead_external_id']).toMatchObject({ lookup: { with: { from: 'Line' }, if_many: 'first' } });
    const linked = await draftOf({
      'people.csv': ['pid,full name,mail', ...times(12, (n) => `${700 + 3 * n},${person(n)},p${n}@a.example`)],
      'sales.csv': [
        'sid,worth,step',
        ...times(12, (n) => `${3000 + 11 * n},${1000 + 333 * n},${['New', 'Offer'][n % 2]}`),
      ],
      'both.csv': ['a,b', ...times(12, (n) => `${3000 + 11 * n},${700 + 3 * ((n * 5) % 12)}`)],
    });
    expect(linked.deal['lead_external_id']).toMatchObject({ lookup: { source: 'both', with: 'sid', take: 'b' } });
  });

  it('leads to the id of a table that fits the role, never from one foreign key to another', async () => {
    const draft = await draftOf({
      'Account.csv': ['Id,Name,OwnerId', ...times(12, (n) => `001A${n},Acme ${n} Tools,005U${n % 2}`)],
      'Contact.csv': ['Id,Name,Email,AccountId', ...times(12, (n) => `003C${n},${person(n)},p${n}@a.example,001A${n}`)],
      'Opportunity.csv': [
        'Id,Name,StageName,Amount,OwnerId',
        ...times(12, (n) => `006O${n},Roof ${n},New,${n}00.50,005U${n % 2}`),
      ],
    });
    expect(draft.deal['owner_name']).toBe('OwnerId');
    expect(draft.remark('owner_name')).toContain('no export has their names');
  });
});

describe('a role', () => {
  it('of a text is never the name of another record, and an author with a name needs no address', async () => {
    const draft = await draftOf({
      'people.csv': ['Name,E-mail,Company', ...times(7, (n) => `${person(n)},p${n}@a.example,Firm ${n}`)],
      'team.csv': ['Kollege,Mail', 'Jana Koch,jana@us.example', 'Ole Wolf,ole@us.example'],
      'log.csv': [
        'Entry,Contact,Created by,Created time',
        ...times(
          14,
          (n) =>
            `"Called back, wants a ${n % 5}. offer",${person(n % 7)} (https://www.crm.example/${n % 7}abc0123456789),${n % 2 ? 'Jana Koch' : 'Ole Wolf'},2024-01-${n + 10}`,
        ),
      ],
    });
    expect(draft.comment).toMatchObject({ content: 'Entry', author_name: 'Created by' });
  });

  it('of a name falls back to the company where most have none, and an id to columns that are unique together', async () => {
    const rows = times(
      20,
      (n) =>
        `${n < 2 ? 'Ada,Bell' : ','},Acme ${'ABCDEFGHIJKLMNOPQRSTU'[n]},${n < 3 ? `p${n}@a.example` : ''},0532 200 ${10 + Math.floor(n / 4)} 20`,
    );
    const draft = await draftOf({ 'contacts.csv': ['first_name,last_name,company,email,phone', ...rows] });
    expect(draft.lead['full_name']).toMatchObject({ from: [{ list: ['first_name', 'last_name'] }, 'company'] });
    expect(draft.lead['external_id']).toMatchObject({
      list: ['company', expect.any(String)],
      apply: [{ join: ' / ' }],
    });
  });

  it('of a title is not the job of the person in the same row', async () => {
    const draft = await draftOf({
      'opportunities.csv': [
        'Contact,Company,Title,Email,Status,Value',
        ...times(
          12,
          (n) =>
            `${person(n)},Acme ${n} Tools,${['CEO', 'Buyer'][n % 2]},p${n}@a.example,${['New', 'Won'][n % 2]},${n}00.50`,
        ),
      ],
    });
    expect(draft.deal['title']).toBe('Company');
    expect(draft.remark('title')).toMatch(/^check: /);
  });

  it('of a pipeline is the name for its id, and an id without a name is marked', async () => {
    const deals = [
      'Id,Title,Stage,Amount,Pipeline_id',
      ...times(12, (n) => `D${n},Roof of house ${n},${['New', 'Won'][n % 2]},${n}00.50,${7001 + (n % 2)}`),
    ];
    const alone = await draftOf({ 'contacts.csv': PEOPLE, 'deals.csv': deals });
    expect(alone.deal['stage_pipeline']).toBe('Pipeline_id');
    expect(alone.remark('stage_pipeline')).toMatch(/^check: .* no export has their names/);
    const named = await draftOf({
      'contacts.csv': PEOPLE,
      'deals.csv': deals,
      'pipelines.csv': ['id,name', '7001,Sales', '7002,Service'],
    });
    expect(named.deal['stage_pipeline']).toMatchObject({
      lookup: { source: 'pipelines', match: 'id', with: 'Pipeline_id', take: 'name' },
    });
  });

  it('of a parent keeps ids of which no export has the table', async () => {
    const draft = await draftOf({
      'people.csv': PEOPLE,
      'notes.csv': [
        'contact_id,text,written',
        ...times(12, (n) => `K-${n},We spoke about the roof of house ${n} at length,2024-01-${n + 10}`),
      ],
    });
    expect(draft.comment['lead_external_id']).toBe('contact_id');
    expect(draft.remark('lead_external_id')).toContain('no export has a record with it');
  });
});

describe('exports of strangers', () => {
  it('without headers are told by whose ids they have: numbers spread over those of one table, and no ages or percentages', async () => {
    const draft = await draftOf({
      'a.csv': times(40, (n) => `${11 + n},${person(n)},p${n}@a.example,${20 + (n % 5) * 10}`),
      'b.csv': times(
        36,
        (n) => `${201 + n},${11 + ((n * 7) % 40)},Roof of house ${n},${900 + n}.50,EUR,${['open', 'won'][n % 2]}`,
      ),
      'c.csv': times(
        40,
        (n) =>
          `${n + 1},${201 + ((n * 5) % 36)},They want to see more samples of colour ${n} soon,2024-03-${10 + (n % 20)} 11:42`,
      ),
    });
    expect(draft.entries).toEqual(['a: lead/created', 'b: deal/created', 'c: comment/created']);
    expect(draft.deal).toMatchObject({ lead_external_id: 'column_2' });
    expect(draft.comment).toMatchObject({ content: 'content', deal_external_id: 'column_2' });
    for (const key of ['lead_external_id', 'deal_external_id'])
      expect(draft.remark(key)).toMatch(/^check: \d+ of \d+ match/);
    expect(draft.spec.events[0]!.data).toMatchObject({ custom_params: { column_4: 'column_4' } });
  });

  it('have the values of records below a key for their type, or in an object that all have', async () => {
    const draft = await draftOf({
      'people.json': times(12, (n) => ({
        path: `crm/people/Np4K${n}wXyZabQ`,
        fields: {
          fullName: { stringValue: `${person(n)} ${n}` },
          email: { stringValue: `p${n}@a.example` },
          age: { integerValue: 20 + n },
        },
      })),
      'deals.json': times(12, (n) => ({
        Item: {
          id: { S: `D-${n}` },
          title: { S: `Roof ${n}` },
          customer: { S: `crm/people/Np4K${n}wXyZabQ` },
          price: n % 2 ? { N: `${900 + n}.5` } : { D: 900 + n },
          stage: { S: ['open', 'won'][n % 2] },
        },
      })),
    });
    expect(draft.lead).toMatchObject({
      external_id: 'path',
      full_name: 'fields.fullName.stringValue',
      custom_params: { fields_age: 'fields.age.integerValue' },
    });
    expect(draft.deal).toMatchObject({
      title: 'Item.title.S',
      stage_name: 'Item.stage.S',
      lead_external_id: 'Item.customer.S',
    });
    expect(draft.deal['amount']).toMatchObject({ from: ['Item.price.D', 'Item.price.N'] });
  });

  it('have users and stages in an array with types, and the names of custom fields in a table of their own', async () => {
    const user = (n: number) => ({
      id: `${11 + n}`,
      type: 'users',
      attributes: { name: person(n), email: `us${n}@firm.example` },
    });
    const stage = (n: number) => ({
      id: `${n}`,
      type: 'stages',
      attributes: { label: ['Lead in', 'Won', 'Lost'][n]!, order: n },
    });
    const of = (type: string, n: number) => ({ data: { type, id: `${n}` } });
    const value = (n: number, at: number) => ({
      _id: `f${at}aXq`,
      value: [person(n), `p${n}@a.example`, 3800 + n][at]!,
    });
    const draft = await draftOf({
      'cards.json': {
        data: times(15, (n) => ({
          id: `${9001 + n}`,
          type: 'cards',
          attributes: { title: `Roof of house ${n}`, fields: [0, 1, 2].map((at) => value(n, at)) },
          relationships: { owner: of('users', 11 + (n % 2)), stage: of('stages', n % 3) },
        })),
        included: [user(0), user(1), stage(0), stage(1), stage(2)],
        customFields: ['Customer', 'E-mail', 'Amount'].map((name, at) => ({ _id: `f${at}aXq`, name, kind: 'text' })),
      },
    });
    expect(draft.entries).toEqual(['data: lead/created', 'data: deal/created']);
    expect(draft.lead).toMatchObject({ full_name: 'attributes.fields[0].value' });
    expect(draft.deal).toMatchObject({ amount: 'attributes.fields[2].value' });
    expect(JSON.stringify(draft.deal['stage_name'])).toContain('"attributes.label"');
    expect(JSON.stringify(draft.deal['owner_name'])).toContain('"attributes.email"');
  });

  it('have a log in the lines below a record, which belong to it and are no records', async () => {
    const rows = times(20, (n) => [
      `${n + 1},${person(n)},p${n}@a.example,08/08 called`,
      ...times(n % 4, () => ',,,24/08 no answer'),
    ]);
    const draft = await draftOf({ 'list.csv': ['Nr,Name,E-mail,Log', ...rows.flat()] });
    expect(draft.lead).toMatchObject({ external_id: 'Nr', when: { from: 'Nr', present: true } });
    const why = /^check: skips 30 of 50: those that continue the record above/;
    expect(draft.remark('when')).toMatch(why);
    // With the day in a column of its own, and an id that no header names.
    const own = await draftOf({
      'list.csv': [
        'Ref.,Name,Phone,E-mail,Job,Sum,Stage,Day,Log',
        ...times(20, (n) => [
          `K0${n + 1},${person(n)},+39 02 55${1000 + n},p${n}@a.example,Floor ${n},${900 + n}.50,${n % 2 ? 'open' : 'won'},${10 + n}-07-2024,Called`,
          ...times(n % 4, () => `,,,,,,,0${1 + (n % 8)}-08-2024,Nobody answered the phone ${n}`),
        ]).flat(),
      ],
    });
    expect([own.lead, own.deal].map(({ when }) => when)).toEqual(times(2, () => ({ from: 'Ref.', present: true })));
    expect(own.remark('when')).toMatch(why);
    expect(own.deal['external_id']).toMatchObject({ from: 'Ref.' });
  });

  it('have quotes that are characters like others, unless a cell is quoted', async () => {
    const rows = (end: string) => [
      `${PEOPLE[0]!.replaceAll(',', '|')}|Meta`,
      ...PEOPLE.slice(1).map((row) => `${row.replaceAll(',', '|')}|${end}`),
    ];
    const draft = await draftOf({ 'people.txt': rows('{"from": "fair"}') });
    expect(draft.spec.sources['people']).toMatchObject({ quote: 'none' });
    expect(draft.findings).toContain('12 leads');
    const first = await draftOf({ 'people.txt': rows('"fair" in May') });
    expect(first.spec.sources['people']).toMatchObject({ quote: 'none' });
    const open = rows('').with(5, 'C-9|"Ada Bell|a@a.example||');
    await expect(draftOf({ 'people.txt': open.with(3, 'C-8|"Ada\nCosta"|b@a.example||') })).rejects.toThrow(
      /txt:7: .*quote/,
    );
    await expect(draftOf({ 'people.txt': rows('5" tube').with(3, '"10023"|Ada Bell|a@a.example||') })).rejects.toThrow(
      /people.txt:2: unexpected quote/,
    );
  });

  it('have lines below the header that describe the columns', async () => {
    const draft = await draftOf({
      'list.csv': [PEOPLE[0]!, 'text,text,e-mail address,format +44…', ...PEOPLE.slice(1)],
    });
    expect(draft.lead['when']).toEqual({ from: 'Client ID', not_in: ['text'] });
    expect(draft.findings).toContain('12 leads; 1 skipped: the first line, which describes the columns');
  });

  it('have the lists of a board in their order beside its cards: those are the stages, and a place in a list is not an amount', async () => {
    const draft = await draftOf({
      'board.json': {
        lists: ['Inbox', 'Offer', 'Won'].map((name, n) => ({ id: `5fa0c${n}d1e7`, name, pos: 65536 * (n + 1) })),
        cards: times(15, (n) => ({
          id: `7ab${n}c4d2`,
          name: `Roof of house ${n}`,
          idList: `5fa0c${n % 3}d1e7`,
          due: `2026-03-${10 + n}T09:00:00Z`,
          pos: 16384 * (n + 1),
        })),
        comments: times(15, (n) => ({
          idCard: `7ab${n}c4d2`,
          text: `They want to see more samples of colour ${n} soon`,
        })),
      },
    });
    expect(draft.deal).toMatchObject({ stage_name: { lookup: { source: 'lists', take: 'name' } } });
    expect(draft.deal['amount']).toBeUndefined();
  });

  it('have lines that are no records, such as titles of pages and sums: these are skipped, and a cell with an error has no value', async () => {
    const rows = times(24, (n) => [
      ...(n % 8 === 7 ? [',,,,,Übertrag,9000', `Angebote Seite ${n},,,,,,`] : []),
      `A${n},${person(n)},p${n}@a.example,Dach ${n},${['offen', 'gewonnen'][n % 2]},Jana,${n === 5 ? '#DIV/0!' : `${900 + n}.50`}`,
    ]).flat();
    const draft = await draftOf({ 'angebote.csv': ['Nr,Kunde,E-Mail,Titel,Status,Betreuer,Betrag', ...rows] });
    const isRecord = { from: 'Kunde', present: true };
    expect([draft.lead['when'], draft.deal['when']]).toEqual([isRecord, isRecord]);
    expect(draft.remark('when')).toBe('check: skips 6 of 30: lines that are no records');
    expect(draft.deal['external_id']).toMatchObject({ from: 'Nr' });
    expect(draft.spec.defaults?.missing_values).toContain('#DIV/0!');
    expect(draft.findings).not.toContain('cannot be sent');
  });

  it('have lines with one cell, and a last one with the sums of the columns, whatever is beside them: a year alone is no day of a spreadsheet', async () => {
    const rows = times(24, (n) => [
      ...(n === 12 ? ['2024,,,,,,'] : []),
      `${10 + (n % 12)}-0${1 + (n % 7)}-202${n < 12 ? 3 : 4},${person(n)},p${n}@a.example,Roof ${n},${['open', 'won'][n % 2]!},Jana,${900 + n}.50 kr.`,
    ]).flat();
    const sum = times(24, (n) => 900 + n + 0.5).reduce((one, other) => one + other);
    const draft = await draftOf({
      'list.csv': ['Date,Client,E-mail,Title,Status,Owner,Amount', ...rows, `Xx,,,,,,${sum}.00 kr.`],
    });
    expect(draft.deal['when']).toEqual({ from: 'Client', present: true });
    expect(draft.remark('when')).toContain('skips 2 of 26: lines that are no records');
    expect(draft.deal['occurred_at']).toMatchObject({
      apply: [{ date: expect.not.stringContaining('excel') as string }],
    });
  });

  it('have parts of records among these, such as the steps of a task: they become comments, and never people or deals', async () => {
    const stages = ['Open', 'Won', 'Lost'];
    const step = (n: number): string => ['Send offer', 'Call back', 'Collect references'][n % 3]!;
    const task = (n: number): string => `T${n},Roof ${n},,${stages[n % 3]},${person(n)},p${n}@a.example,${900 + n}.50,`;
    const rows = times(12, (n) => `${task(n)}\nS${n},${step(n)},Roof ${n},,,,,${n % 2 ? 'Left a voicemail' : ''}`);
    const header = 'Task ID,Name,Parent task,Stage,Customer,Email,Amount,Notes';
    const draft = await draftOf({ 'board.csv': [header, ...rows] });
    expect(draft.entries).toEqual(['board: lead/created', 'board: deal/created', 'board: comment/created']);
    const isTask = { from: 'Parent task', present: false };
    expect(draft.lead).toMatchObject({ when: isTask, full_name: 'Customer' });
    expect(draft.deal).toMatchObject({ when: isTask, title: 'Name' });
    expect(draft.comment).toMatchObject({ content: { list: ['Name', 'Notes'] } });
    expect(draft.comment['deal_external_id']).toMatchObject({
      lookup: { with: 'Parent task', take: { from: 'Task ID' } },
    });
    expect(draft.text).toContain('# check: these rows have a `Parent task`, so they become comments of that record');
    // Who reports to whom is no part of anybody.
    const staff = times(
      12,
      (n) =>
        `C${n},${person(n % 6)} ${n},c${n}@a.example,${n > 3 ? `${person(n % 3)} ${n % 3}` : ''},+4930${2000000 + n}`,
    );
    const people = await draftOf({ 'people.csv': ['Id,Name,Email,Reports to,Phone', ...staff] });
    expect(people.lead['when']).toBeUndefined();
  });

  it('have records of several types in one table: a column that tells which others are filled tells what they are', async () => {
    const stages = ['offen', 'verloren', 'gewonnen'];
    const rows = [
      ...times(12, (n) => `Kunde,K${n},,${person(n)} ${n},p${n}@a.example,Kiel,,,,,`),
      ...times(15, (n) => `Angebot,A${n},K${(n * 5) % 12},,,,Dach ${n} Nord,${900 + n}.50,${stages[n % 3]},,`),
      ...times(
        16,
        (n) => `${n % 2 ? 'Anruf' : 'Notiz'},N${n},A${(n * 4) % 15},,,,,,,Ruft am ${n}. wieder an und will mehr,Jana`,
      ),
      ...times(4, (n) => `Filiale,F${n},,,,,,,,,`),
    ];
    const header = 'Satzart,Nr,Gehört zu,Name,Mail,Ort,Bezeichnung,Betrag,Status,Text,Von';
    const draft = await draftOf({ 'export.csv': [header, ...rows.sort((a, b) => (a < b ? 1 : -1))] });
    expect(draft.entries).toEqual(['export: lead/created', 'export: deal/created', 'export: comment/created']);
    expect(draft.lead).toMatchObject({
      when: { from: 'Satzart', in: ['Kunde'] },
      external_id: 'Nr',
      full_name: 'Name',
    });
    expect(draft.deal).toMatchObject({ when: { from: 'Satzart', in: ['Angebot'] }, lead_external_id: 'Gehört zu' });
    expect(draft.comment).toMatchObject({ deal_external_id: 'Gehört zu', content: 'Text' });
    expect(Object.keys(draft.spec.sources)).toEqual(['export']);
    expect(draft.findings).toMatch(/47 records read; .*4 records of `Satzart` Filiale: not used/);
    // Types that are all comments are not told apart.
    const calls = times(9, (n) => `call,${n},K${n},,Left a voicemail ${n} and will try again,${n + 2},out,,`);
    const mails = times(9, (n) => `mail,${n + 9},K${n},,,,,Offer ${n},Sent the price list ${n} with two references`);
    const some = await draftOf({
      'people.csv': ['Nr,Name,Mail', ...times(12, (n) => `K${n},${person(n)},p${n}@a.example`)],
      'log.csv': ['type,id,Nr,x,summary,minutes,direction,subject,body', ...calls, ...mails],
    });
    expect(some.entries).toEqual(['people: lead/created', 'log: comment/created']);
    // An amount is no type, nor is what one record each has.
    for (const values of [
      ['0.00', '49.00', '99.00', '120.50'],
      ['Basic', 'Gold', 'Silver', 'Iron'],
    ]) {
      const row = (n: number): string =>
        `Roof ${n},${n % 3 ? 'Open' : 'Lost'},${values[Math.max(0, n - 14)]!},${900 + n * 17}.00`;
      const more = (n: number): string => (n < 15 ? ',,Delay,2024-06-01' : `${person(n)},p${n}@a.example,,`);
      const one = await draftOf({
        'deals.csv': [
          'Deal,Stage,Plan,Amount,Contact,Email,Lost because,Lost on',
          ...times(18, (n) => `${row(n)},${more(n)}`),
        ],
      });
      expect(one.entries).toEqual(['deals: lead/created', 'deals: deal/created']);
      expect(one.deal).not.toHaveProperty('when');
    }
  });

  const NAMES = ['Bell', 'Costa', 'Dietz', 'Fontana', 'Gil', 'Horn', 'Keller', 'Lodi', 'Moreno', 'Nystrom'];
  const name = (n: number): string => `${['Ada', 'Bruno', 'Carla', 'Dario'][n % 4]!} ${NAMES[n % 10]!}`;

  it('have a list in a list: its elements are events, and the file that only has lists is read', async () => {
    const deals = (n: number) =>
      [...Array((n % 2) + 1).keys()].map((at) => ({
        id: `D${n}-${at}`,
        title: `Roof ${n}`,
        worth: 100 + n,
        state: 'won',
      }));
    const people = (n: number) => ({
      person_id: `P${n}`,
      full_name: name(n),
      email: `p${n}@acme.example`,
      deals: deals(n),
    });
    const draft = await draftOf({
      'crm.json': { accounts: Array.from({ length: 12 }, (_, n) => ({ name: `Acme ${n}`, people: [people(n)] })) },
    });
    expect(draft.entries).toEqual(['crm: lead/created', 'crm: deal/created']);
    expect(draft.deal['each']).toBe('people.deals');
    expect(draft.deal['lead_external_id']).toBe('..person_id');
    expect(draft.findings).toContain('12 leads');
    expect(draft.findings).toContain('18 deals');
  });

  it('have firms with addresses that most deals name, and few people: both are leads, and the deals are of the firms', async () => {
    const drafted = (known: number) =>
      draftOf({
        'accounts.csv': ['id,company,e-mail', ...times(20, (n) => `${n + 501},Acme ${n} Ltd,office@acme${n}.example`)],
        'contacts.csv': [
          'id,name,e-mail,account_id',
          ...times(known, (n) => `${n + 9001},${person(n)},p${n}@acme${n}.example,${n + 501}`),
        ],
        'deals.csv': [
          'id,title,amount,stage,account_id',
          ...times(
            30,
            (n) => `${n + 701},Roof of house ${n},${900 + n}.50,${n % 2 ? 'Open' : 'Won'},${(n % 20) + 501}`,
          ),
        ],
      });
    const few = await drafted(6);
    expect(few.entries).toEqual(['accounts: lead/created', 'contacts: lead/created', 'deals: deal/created']);
    expect(few.deal['lead_external_id']).toBe('account_id');
    expect(few.text).toMatch(/# check: \d+ of 30 records of deals name a company without people/);
    expect((await drafted(20)).entries).toEqual(['contacts: lead/created', 'deals: deal/created']);
  });

  it('have companies without addresses: those are the leads, and not the staff that has some', async () => {
    const draft = await draftOf({
      'accounts.csv': ['account_id,account,sector', ...times(9, (n) => `ACC${n},Acme ${NAMES[n]!} Ltd,retail`)],
      'deals.csv': [
        'deal_id,account_id,sales_agent,deal_stage,close_value',
        ...times(30, (n) => `D${n},ACC${n % 9},${name(n % 3)},${n % 2 ? 'Won' : 'Prospecting'},${n * 50 + 500}`),
      ],
      'teams.csv': ['sales_agent,email,office', ...times(3, (n) => `${name(n)},a${n}@us.example,Central`)],
      'notes.csv': [
        'note_id,account_id,note',
        ...times(9, (n) => `${n},ACC${n},They asked for the offer of week ${n}.`),
      ],
    });
    expect(draft.entries).toEqual(['accounts: lead/created', 'deals: deal/created', 'notes: comment/created']);
    expect(draft.lead).toMatchObject({ external_id: 'account_id', full_name: 'account' });
    expect(draft.lead['email']).toBeUndefined();
    expect(draft.comment['lead_external_id']).toBe('account_id');
  });

  it('are lines of JSON in a file that is called .json, of people and of deals: each row becomes what it is', async () => {
    const person = (n: number) => ({ pk: n, name: name(n), email: `p${n}@acme.example` });
    const deal = (n: number) => ({ pk: n, title: `Roof ${n}`, amount: 100.5 + n, stage: 'won' });
    const rows = times(20, (n) => JSON.stringify(n % 2 ? deal(n) : person(n)));
    const draft = await draftOf({ 'dump.json': [...rows, JSON.stringify({ pk: 99 })] });
    expect(draft.lead['when']).toEqual({ from: 'email', present: true });
    expect(draft.deal['when']).toEqual({ from: 'amount', present: true });
    expect(draft.findings).toMatch(/10 leads; 10 deals; 1 skipped/);
  });

  it('have their people in a table of users, whom tickets name otherwise than as their owner', async () => {
    const users = [...Array(14).keys()].map((n) => ({ id: 7000 + 3 * n, name: name(n), email: `u${n}@acme.example` }));
    const message = (n: number) => ({ id: `m${n}`, author_id: 7000, body: `Answered question ${n} by mail` });
    const tickets = users.map(({ id }, n) => ({
      id: 300 + n,
      subject: `Offer ${n}`,
      requester_id: id,
      comments: [message(2 * n), message(2 * n + 1)],
    }));
    const draft = await draftOf({ 'tickets.json': { tickets }, 'users.json': { users } });
    expect(draft.entries).toEqual(['users: lead/created', 'tickets: comment/created']);
    expect(draft.comment).toMatchObject({ each: 'comments', lead_external_id: '$.requester_id' });
  });

  it('have staff in a table of any name: it is looked up, by a column that is called alike', async () => {
    const draft = await draftOf({
      'KONTAKTE.csv': ['KNR;NAME;MAIL', ...times(40, (n) => `${5000 + n};${name(n)} ${n};p${n}@acme.example`)],
      'ADM.csv': ['VNR;VNAME;VMAIL', '101;Ada Bell;ada@us.example', '102;Bruno Costa;bruno@us.example'],
      'ANGEBOTE.csv': [
        'ANR;KNR;VNR;TITEL;BETRAG;STATUS',
        ...times(40, (n) => `A${n};${5000 + n};${101 + (n % 2)};Roof ${n};1${n}0,50;${n % 2 ? 'offen' : 'gewonnen'}`),
      ],
    });
    expect(draft.entries).toEqual(['kontakte: lead/created', 'angebote: deal/created']);
    expect(draft.deal['owner_name']).toMatchObject({ lookup: { source: 'adm', take: 'VMAIL' } });
  });

  it('are deals by their name and whom they are of, people by their own columns, with amounts of which some are texts', async () => {
    const guardians = [
      'Guardian ID,First name,Surname,Email',
      ...times(12, (n) => `G${n},Ada,${NAMES[n % 10]!},g${n}@acme.example`),
    ];
    const draft = await draftOf({
      'guardians.csv': guardians,
      'children.csv': [
        'Child ID,Guardian ID,First name,DOB',
        ...times(12, (n) => `CH${n},G${n},Lia,2012-02-1${n % 9}`),
      ],
      'enquiries.csv': [
        'Enquiry No,Child ID,Guardian ID,Enquiry date,Stage,Annual fee,Remarks',
        ...times(
          12,
          (n) =>
            `ENQ-0${n},CH${n},G${n},2024-03-1${n % 9},${n % 3 ? 'Visited' : 'Offer made'},${n % 3 ? `"€4,${n}50.00"` : 'to be agreed'},Asked about lunch ${n}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['guardians: lead/created', 'enquiries: deal/created', 'enquiries: comment/created']);
    expect(draft.deal).toMatchObject({ external_id: 'Enquiry No', lead_external_id: 'Guardian ID' });
    expect(draft.remark('amount')).toContain('check: `to be agreed` is not an amount; 8 numbers, 4 other');
    const alone = await draftOf({
      'invoices.csv': [
        'Invoice No,Name,E-mail,Status,Amount',
        ...times(12, (n) => `2023-0${n},Client ${n},c${n}@corp.example,${n % 3 ? 'Won' : 'Open'},1${n}00.00`),
      ],
    });
    expect(alone.entries).toEqual(['invoices: lead/created', 'invoices: deal/created']);
  });

  it('are of one kind where they have the same columns, such as a sheet for each year', async () => {
    const year = (of: number, rows = 12) => [
      'Member,E-mail,Join date,Fee,Status,Comment',
      ...times(
        rows,
        (n) =>
          `${name(n)} ${of},m${n + of * 9}@gym.example,${n + 1}/2/${of},$${n}0.00,${n % 2 ? 'Active' : 'Frozen'},knee ${n}`,
      ),
    ];
    const draft = await draftOf({ 'gym 2022.csv': year(2022), 'gym 2023.csv': year(2023, 3) });
    expect(draft.entries).toEqual([
      'gym_2022: lead/created',
      'gym_2023: lead/created',
      'gym_2022: deal/created',
      'gym_2023: deal/created',
    ]);
    expect(new Set(draft.spec.events.slice(2).map(({ data }) => JSON.stringify(data['external_id']))).size).toBe(1);
    expect(draft.findings).not.toContain('cannot be sent');
  });

  it('are deals in a list of people by their keys, and end by flags where no column has the stage', async () => {
    const orders = (of: number) =>
      Object.fromEntries(
        [1, 2].map((n) => [`o${of}${n}`, { item: `Window ${of}`, total: 100.5 * of, status: n > 1 ? 'paid' : 'open' }]),
      );
    const people = Object.fromEntries(
      [...Array(12).keys()].map((n) => [
        `u${n}x7919`,
        { name: name(n), email: `p${n}@acme.example`, orders: orders(n) },
      ]),
    );
    const keyed = await draftOf({ 'db.json': { people } });
    expect(keyed.entries).toEqual(['db: lead/created', 'db: deal/created']);
    expect(keyed.deal).toMatchObject({
      each: 'orders',
      external_id: '_key',
      lead_external_id: '$._key',
      amount: { from: 'total' },
    });
    const contacts = [...Array(12).keys()].map((n) => ({ id: n + 1, name: name(n), email: `p${n}@acme.example` }));
    const deals = contacts.map(({ id }) => ({
      id,
      contact_id: id,
      name: `Roof ${id}`,
      won: id % 3 === 0,
      lost: id % 3 === 1,
      worth: id * 10.5,
    }));
    const flagged = await draftOf({ 'crm.json': { contacts, deals } });
    expect(flagged.deal).toMatchObject({
      amount: expect.anything() as unknown,
      stage_name: {
        from: [
          { from: 'won', apply: [{ map: { true: 'Won', '*': null } }] },
          { from: 'lost', apply: [{ map: { true: 'Lost', '*': null } }] },
        ],
        default: 'Open',
      },
    });
    expect(flagged.remark('stage_name')).toMatch(/^check: /);
  });

  it('keep the person of a comment whose deal is that of another one', async () => {
    const draft = await draftOf({
      'clients.csv': ['Ref,Name,Email', ...times(12, (n) => `C10${n},${name(n)},c${n}@acme.example`)],
      'deals.csv': [
        'Deal ID,Title,Amount,Stage,Vendor Ref',
        ...times(12, (n) => `D${n},House ${n},90${n}.50,${n % 2 ? 'Open' : 'Won'},C10${n}`),
      ],
      'viewings.csv': [
        'Id,Deal ID,Client Ref,Date,Note',
        ...times(
          12,
          (n) => `V${n},D${n},C10${(n + 1) % 12},2024-03-1${n % 9},Liked the kitchen but not the garden ${n}`,
        ),
      ],
    });
    expect(draft.comment['if_both']).toBe('lead');
    expect(draft.remark('if_both')).toContain('check: in 12 of 12');
    // Deals and people have the same numbers, and each comment names the person of its deal.
    const person = (n: number): number => ((n * 7) % 30) + 1;
    const same = await draftOf({
      'clients.csv': ['id,Name,Email', ...times(30, (n) => `${n + 1},${name(n)},c${n}@acme.example`)],
      'deals.csv': [
        'id,number,client_id,Title,Amount,Stage',
        ...times(40, (n) => `${n + 1},${n}/2024,${person(n)},House ${n},9${n}0.50,${n % 2 ? 'Open' : 'Won'}`),
      ],
      'notes.csv': [
        'id,client_id,deal_id,Date,Note',
        ...times(40, (n) => (n * 3) % 40).map(
          (deal, n) => `${n + 1},${person(deal)},${n % 4 ? deal + 1 : ''},2024-03-1${n % 9},Liked the kitchen ${n}`,
        ),
      ],
    });
    expect(same.comment).toMatchObject({ lead_external_id: 'client_id', deal_external_id: 'deal_id', if_both: 'deal' });
  });

  it('have an amount and a stage that no deal has: the kind is marked; the person is the one with the address', async () => {
    const draft = await draftOf({
      'visits.csv': [
        'No,Child First Name,Child Surname,Parent Name,Parent Email,Annual Cost,Status',
        ...times(
          30,
          (n) =>
            `${n},Lia,${NAMES[n % 10]!},${name(n)},p${n}@acme.example,"$1${n}.00",${n % 3 ? 'Visited' : 'Offered'}`,
        ),
      ],
    });
    expect(draft.text).toMatch(/# check: `Annual Cost` and `Status` may be the amount and the stage of a deal/);
    expect(draft.lead).toMatchObject({ external_id: 'No', full_name: 'Parent Name' });
  });

  it('have organisations among the people, calls without a word, and no id of their own', async () => {
    const draft = await draftOf({
      'contacts.csv': [
        'id,is_organisation,name,fname,lname,email',
        ...times(40, (n) =>
          n % 4 ? `${n + 1},no,,Ada,${NAMES[n % 10]!}${n},p${n}@acme.example` : `${n + 1},yes,Acme ${n},,,`,
        ),
      ],
      'calls.csv': [
        'contact_id,when,disposition,notes',
        ...times(
          60,
          (n) =>
            `${(n % 40) + 1},2025-03-0${(n % 9) + 1} 10:00,${n % 2 ? 'SALE' : 'CALL BACK'},${n % 2 ? `Asked for the price of roof ${n}` : ''}`,
        ),
      ],
    });
    expect(draft.lead['full_name']).toEqual({ from: [{ list: ['fname', 'lname'], apply: [{ join: ' ' }] }, 'name'] });
    expect(draft.comment).toMatchObject({
      content: { from: ['notes', 'disposition'] },
      lead_external_id: 'contact_id',
    });
    expect(draft.comment).not.toHaveProperty('external_id');
    expect(draft.findings).toMatch(/calls\.csv.*; 60 comments/);
  });

  it('are deals without an amount where texts are about them, or all are open, won or lost, and a remark of some is no comment', async () => {
    const people = ['Klantnr,Naam,Mail', ...times(30, (n) => `${101 + n},${name(n)} ${n},p${n}@acme.example`)];
    const projects = (stage: (n: number) => string) =>
      times(
        30,
        (n) =>
          `PR${n + 10},Roof ${n},${101 + ((n * 7) % 30)},${stage(n)},${n % 3 ? '' : `They asked about the delivery ${n} again`}`,
      );
    const header = 'Projectnr,Omschrijving,Klantnr,Fase,Bijzonderheden';
    const log = times(
      40,
      (n) => `PR${(n % 30) + 10},2025-03-0${(n % 9) + 1},They called about the house ${n} and its roof`,
    );
    const about = await draftOf({
      'klanten.csv': people,
      'projecten.csv': [header, ...projects((n) => ['ontwerp', 'uitvoering', 'nazorg'][n % 3]!)],
      'logboek.csv': ['Projectnr,Datum,Tekst', ...log],
    });
    expect(about.entries.slice(0, 3)).toEqual([
      'klanten: lead/created',
      'projecten: deal/created',
      'logboek: comment/created',
    ]);
    expect(about.text).toContain('belong to a person or company and have a status and texts about them');
    expect(about.comment['deal_external_id']).toBe('Projectnr');
    const ended = await draftOf({
      'klanten.csv': people,
      'projecten.csv': [header, ...projects((n) => ['open', 'gewonnen', 'verloren'][n % 3]!)],
    });
    expect(ended.deal).toMatchObject({ external_id: 'Projectnr', lead_external_id: 'Klantnr' });
    const titled = await draftOf({
      'klanten.csv': people,
      'projecten.csv': [header.replace('Omschrijving', 'Titel'), ...projects((n) => ['ontwerp', 'nazorg'][n % 2]!)],
    });
    expect(titled.entries.slice(0, 2)).toEqual(['klanten: lead/created', 'projecten: deal/created']);
    // People with a status, about whom there are texts, are people.
    const members = await draftOf({
      'leden.csv': [
        'Lidnr,Naam,Mail,Status',
        ...times(30, (n) => `L${n}x,${name(n)} ${n},p${n}@acme.example,${n % 4 ? 'Lopend' : 'Opgezegd'}`),
      ],
      'notities.csv': [
        'Datum,Lid,Notitie',
        ...times(40, (n) => `2025-03-0${(n % 9) + 1},L${n % 30}x,They asked about the lesson ${n} once more`),
      ],
    });
    expect(members.entries).toEqual(['leden: lead/created', 'notities: comment/created']);
    // An id of two columns by its type is in no SQL by its name.
    const typed = await draftOf({
      'facts.json': times(40, (n) => ({
        who: n % 4 < 2 ? { S: `P${n >> 1}x` } : { N: (n >> 1) + 100 },
        what: { S: ['mail', 'site'][n % 2]! },
        value: { S: n % 2 ? `https://roofs${n}.example/a` : `p${n}@acme.example` },
        at: { S: '2024-03-01' },
      })),
      'klanten.csv': people,
    });
    expect(typed.entries).toContain('klanten: lead/created');
  });

  it('have a row for each contact of a deal, and texts about it, whatever the file is called', async () => {
    const row = (n: number, at: number, isMain: string) =>
      `006A${n}x,Roof ${n},${900 + n}.50,${['Open', 'Won'][n % 2]},003B${at}y,${name(at)} ${at},p${at}@acme.example,${isMain}`;
    const exports = (main: (n: number) => string) => ({
      'report1.csv': [
        'Deal Id,Title,Amount,Stage,Contact Id,Contact name,Contact e-mail,Primary',
        ...times(24, (n) => [...(n % 2 ? [row(n, n + 30, '0')] : []), row(n, n, main(n))]).flat(),
      ],
      'report2.csv': [
        'Subject,Date,Comments,Deal Id',
        ...times(
          40,
          (n) => `Call,2025-03-0${(n % 9) + 1},They asked about the roof of house ${n},006A${(n * 7) % 24}x`,
        ),
      ],
    });
    const draft = await draftOf(exports(() => '1'));
    expect(draft.deal).toMatchObject({ external_id: 'Deal Id', when: { from: 'Primary', in: ['1'] } });
    expect(draft.comment['deal_external_id']).toBe('Deal Id');
    const open = await draftOf(exports((n) => (n === 3 ? '0' : '1')));
    expect(open.deal).toMatchObject({ duplicates: 'first' });
    expect(open.deal['when']).toBeUndefined();
    // Also where many are short and no header names them, if somebody wrote them at a time.
    const log = (n: number): string =>
      `${n},2025-03-0${(n % 9) + 1} 10:15,${n % 2 ? 'Quote sent on Friday' : 'They asked about the roof of house'} ${n},006A${(n * 7) % 24}x,${name(n % 3)}`;
    const short = await draftOf({
      ...exports(() => '1'),
      'report2.csv': ['Nr,Date,Xyz,Deal Id,User', ...times(40, log)],
    });
    expect(short.comment).toMatchObject({ content: 'Xyz', deal_external_id: 'Deal Id', author_name: 'User' });
  });

  it('without the firms among them that a flag tells, unless other records are about one of these', async () => {
    const firm = (n: number): boolean => n % 5 === 4;
    const people = times(30, (n) =>
      firm(n)
        ? `C${n}x,true,,,Roofs ${n} Ltd,info@roofs${n}.example`
        : `C${n}x,false,${name(n).replace(' ', ',')},,p${n}@acme.example`,
    );
    const notes = (of: (n: number) => number) => ({
      'people.csv': ['Ref,Is organization,First name,Last name,Organization,E-mail', ...people],
      'notes.csv': ['Id,Contact,Text', ...times(30, (n) => `N${n},C${of(n)}x,They asked about the roof of house ${n}`)],
    });
    const left = await draftOf(notes((n) => (firm(n) ? n - 1 : n)));
    expect(left.lead['when']).toEqual({ from: 'Is organization', not_in: ['true'] });
    expect(left.lead).toMatchObject({ full_name: { list: ['First name', 'Last name'] } });
    const kept = await draftOf(notes((n) => n));
    expect(kept.lead['when']).toBeUndefined();
    expect(kept.remark('full_name')).toMatch(/^check: 6 of 30 have no name, .*`when: /);
  });

  it('of several days keep the last state; links with names and firms with addresses are no people, and a wage is not an amount', async () => {
    const stages = ['Qualify', 'Offer', 'Won', 'Lost'];
    const day = (at: number) => [
      'Opp Id,Subject,Contact,Contact Email,Value,Stage,Created',
      ...times(
        16,
        (n) =>
          `OPP-${n},Roof ${n},${name(n)} ${n},p${n % 12}@acme.example,${n + 1}00.50,${stages[(n + at) % 4]!},2024-03-04`,
      ),
    ];
    const days = await draftOf({ 'deals_1.csv': day(0), 'deals_2.csv': day(1) });
    expect(days.spec.events.map(({ duplicates }) => duplicates)).toEqual(Array(4).fill('last'));
    expect(days.remark('duplicates')).toMatch(/^check: /);

    const linked = await draftOf({
      'people.csv': [
        'Ref,Person,Email,Mobile,Wage,State',
        ...times(
          24,
          (n) => `P${n}x,${name(n)} ${n},p${n}@mail.example,+49305550${n + 100},"£3${n},000",${n % 2 ? 'On' : 'Off'}`,
        ),
      ],
      'deals.csv': [
        'Id,Title,Amount,Stage,Supplier',
        ...times(40, (n) => `D${n}y,Roof ${n},${n + 1}00.50,${stages[n % 4]!},S${n % 4}z`),
      ],
      'roles.csv': [
        'DealId,PersonRef,Person.Name,Person.Email',
        ...times(40, (n) => `D${n}y,P${n % 24}x,${name(n % 24)} ${n % 24},p${n % 24}@mail.example`),
      ],
      'suppliers.csv': ['Code,Name,E-mail', ...times(4, (n) => `S${n}z,${name(n)} ${n},info@firm${n}.example`)],
    });
    expect(linked.entries).toEqual(['people: lead/created', 'deals: deal/created']);
    expect(JSON.stringify(linked.deal['owner_name'] ?? '')).not.toContain('suppliers');
  });

  it('have contact data in rows of a type, and messages and calls whose other side is the person', async () => {
    const draft = await draftOf({
      'people.csv': ['id,name', ...times(20, (n) => `${n + 1},${name(n)} ${n}`)],
      'methods.csv': [
        'id,person_id,type,value',
        ...times(20, (n) => `${2 * n},${n + 1},email,p${n}@acme.example`),
        ...times(20, (n) => `${2 * n + 1},${n + 1},${n % 2 ? 'phone' : 'mobile'},+4930555010${n + 10}`),
      ],
    });
    const lookup = (type: string) => ({
      lookup: { source: 'methods', with: { template: `{id} ${type}` }, take: 'value' },
    });
    expect(draft.lead['email']).toMatchObject({ from: lookup('email') });
    expect(draft.lead['phone_number']).toMatchObject({ from: [lookup('phone'), lookup('mobile')] });
    // Most have one property alone, and a column of another table is called like that of the names of people.
    const supp = await draftOf({
      'main.csv': [
        'ACCOUNTNO,COMPANY,CONTACT,PHONE',
        ...times(30, (n) => `A${n}(*4X&P,Roofs ${n},${name(n)} ${n},(622)555-07${n + 10}`),
      ],
      'supp.csv': [
        'ACCOUNTNO,CONTACT,SUPREF,recid',
        ...times(26, (n) => `A${n}(*4X&P,E-mail Address,p${n}@acme.example,S${n}TYKH`),
        ...times(8, (n) => `A${n + 20}(*4X&P,Web Site,www.roofs${n}.example,S${n + 30}TYKH`),
      ],
    });
    expect(supp.entries).toEqual(['main: lead/created']);
    expect(supp.lead['email']).toMatchObject({ from: { lookup: { source: 'supp', take: 'SUPREF' } } });
    // Not so the deals of people who have hardly more than one each.
    const sold = await draftOf({
      'main.csv': ['Ref,Name,E-mail', ...times(30, (n) => `A${n}xyz,${name(n)} ${n},p${n}@acme.example`)],
      'sold.csv': [
        'Id,Ref,Step,Title,Sum',
        ...times(
          32,
          (n) => `S${n}qrs,A${n % 26}xyz,${['New', 'Won', 'Lost'][n % 3]},Roof ${n},${n % 3 ? `${900 + n}.50` : n}`,
        ),
      ],
    });
    expect(sold.entries).toEqual(['main: lead/created', 'sold: deal/created']);
    // One row for each of them, in a table that is called after theirs.
    const more = await draftOf({
      'people.csv': ['id,first_name,last_name', ...times(24, (n) => `7f${n}a-${n},${name(n).replace(' ', ',')}`)],
      'people_cstm.csv': [
        'id_c,segment_c,mail_c',
        ...times(24, (n) => `7f${n}a-${n},${n % 2 ? 'Gold' : 'Silver'},p${n}@acme.example`),
      ],
    });
    expect(more.entries).toEqual(['people: lead/created']);
    expect(more.lead).toMatchObject({
      email: { from: { lookup: { source: 'people_cstm', match: 'id_c', with: 'id', take: 'mail_c' } } },
      custom_params: { segment_c: { lookup: { take: 'segment_c' } } },
    });
    const others = await draftOf({
      'export.csv': ['id,name,mail', ...times(24, (n) => `${n + 1},${name(n)} ${n},p${n}@acme.example`)],
      'export_deals.csv': [
        'id,title,amount,stage',
        ...times(24, (n) => `${n + 1},Roof ${n},${900 + n}.50,${n % 2 ? 'Open' : 'Won'}`),
      ],
    });
    expect(others.entries).toEqual(['export: lead/created', 'export_deals: deal/created']);
    // Neither an address nor a number, and a property whose values are nearly all that differ.
    const plain = await draftOf({
      'people.csv': ['id,name,email', ...times(40, (n) => `${n + 1},${name(n)} ${n},p${n}@acme.example`)],
      'facts.csv': [
        'id,person_id,attr,val',
        ...times(
          40,
          (n) => `${3 * n},${n + 1},firm,${['Roofs', 'Tiles'][n % 2]} Ltd\n${3 * n + 1},${n + 1},vip,${n % 2}`,
        ),
        ...times(28, (n) => `${3 * n + 2},${n + 1},born,19${n + 60}-04-1${n % 9}`),
      ],
    });
    const fact = (of: string) => ({ lookup: { source: 'facts', with: { template: `{id} ${of}` }, take: 'val' } });
    expect(plain.lead['custom_params']).toMatchObject({ val_firm: fact('firm'), val_vip: fact('vip') });
    // Without a table of people, the rows of the property that all have stand for them.
    const cards = await draftOf({
      'cards.csv': [
        'uid,property,type,value',
        ...times(20, (n) => `u${n}x,FN,,${name(n)}`),
        ...times(20, (n) => `u${n}x,EMAIL,${n % 2 ? 'HOME' : 'WORK'},p${n}@acme.example`),
        ...times(20, (n) => `u${n}x,TEL,CELL,+4930555010${n + 10}`),
      ],
      'deals.csv': [
        'nr,uid,title,amount,stage',
        ...times(30, (n) => `D${n},u${n % 20}x,Roof ${n},${n + 1}00.50,${n % 2 ? 'Open' : 'Won'}`),
      ],
    });
    expect(cards.lead).toMatchObject({
      when: { from: 'property', in: ['FN'] },
      external_id: 'uid',
      full_name: 'value',
    });
    expect(cards.lead['phone_number']).toMatchObject({ from: { lookup: { with: { template: '{uid} TEL CELL' } } } });
    expect(cards.deal['lead_external_id']).toBe('uid');
    const OURS = '+49 30 9990000';
    const theirs = (n: number): string => `+49 30 55510${(n % 40) + 10}`;
    const calls = await draftOf({
      'people.csv': ['No,Name,Phone', ...times(40, (n) => `${n},${name(n)} ${n},030 55510${n + 10}`)],
      'calls.csv': [
        'time,caller,callee,notes',
        ...times(
          60,
          (n) =>
            `2025-03-0${(n % 9) + 1} 10:00,${(n % 3 ? [OURS, theirs(n)] : [theirs(n), OURS]).join(',')},Asked for roof ${n}`,
        ),
      ],
    });
    expect(calls.findings).toMatch(/calls\.csv.*; 60 comments/);
  });

  it('have buyers in their orders, amounts with words of a currency, and the number of a deal before its name', async () => {
    const buyer = (n: number) => ({
      id: 700 + (n % 25),
      first_name: 'Ada',
      last_name: `Bell${n % 25}`,
      email: `p${n % 25}@acme.example`,
    });
    const orders = await draftOf({
      'orders.json': Array.from({ length: 40 }, (_, n) => ({
        id: 4500 + n,
        total: `${90 + n}.50`,
        status: n % 2 ? 'paid' : 'open',
        buyer: buyer(n),
      })),
    });
    expect(orders.lead).toMatchObject({ external_id: 'buyer.id', duplicates: 'first' });
    expect(orders.deal).toMatchObject({ external_id: 'id', lead_external_id: 'buyer.id', stage_name: 'status' });
    const list = await draftOf({
      'musteriler.csv': [
        'Müşteri Adı;E-posta;Konu;Tutar;Aşama',
        ...times(30, (n) => `${name(n)};p${n}@acme.example;Klima ${n};1${n}0,00 TL;${n % 3 ? 'Yeni' : 'Kazanıldı'}`),
      ],
    });
    expect(list.deal).toMatchObject({ title: 'Konu', amount: { from: 'Tutar' }, currency: { value: 'TRY' } });
    const visits = await draftOf({
      'affaires.csv': ['N° affaire;Intitulé;Montant;Étape', ...times(30, (n) => `AF-${n};Toit ${n};1${n}0,50;Devis`)],
      'actions.csv': [
        'Date;Affaire;Compte rendu',
        ...times(
          60,
          (n) => `2025-03-0${(n % 9) + 1};AF-${n % 30} - Toit ${n % 30};Souhaite un devis détaillé pour le toit ${n}`,
        ),
      ],
    });
    expect(visits.comment).toMatchObject({ content: 'Compte rendu', deal_external_id: { from: 'Affaire' } });
  });

  it.each([
    ['deleted_at', (n: number) => (n % 10 ? '' : '2024-05-01 10:00:00'), { from: 'deleted_at', present: false }],
    ['Archiviert', (n: number) => (n % 10 ? 'nein' : 'ja'), { from: 'Archiviert', not_in: ['ja'] }],
    ['Record state', (n: number) => (n % 10 ? 'live' : 'deleted'), { from: 'Record state', not_in: ['deleted'] }],
  ])('skip what was deleted or archived in the old CRM, to be checked: %s', async (column, state, when) => {
    const people = times(40, (n) => `${4000 + n},${name(n)},p${n}@acme.example,${state(n)}`);
    const draft = await draftOf({ 'contacts.csv': [`Id,Name,Email,${column}`, ...people] });
    expect(draft.lead['when']).toEqual(when);
    expect(draft.remark('when')).toMatch(/^check: skips 4 of 40/);
    expect(draft.findings).toContain('36 leads');
  });

  it('are sent although they are archived, if other records belong to them, and that is said', async () => {
    const draft = await draftOf({
      'contacts.csv': [
        'Id,Name,Email,Archived',
        ...times(40, (n) => `${4000 + n},${name(n)},p${n}@acme.example,${n % 10 ? 'no' : 'yes'}`),
      ],
      'notes.csv': ['Contact Id,Text', ...times(40, (n) => `${4000 + n},Called about the offer for house ${n}`)],
    });
    expect(draft.lead).not.toHaveProperty('when');
    expect(draft.findings).toContain('40 leads');
    expect(draft.text).toMatch(
      /# check: .*4 of 40 by `Archived`\) are sent, because other records belong to some of them/,
    );
  });

  it('only link notes to people: these find them there', async () => {
    const draft = await draftOf({
      'people.csv': ['id,name,email', ...times(20, (n) => `p-${n},${name(n)},p${n}@acme.example`)],
      'noteTargets.csv': [
        'id,noteId,personId,createdAt',
        ...times(20, (n) => `t-${n},n-${n},p-${n},2024-02-01T10:00:00Z`),
      ],
      'notes.csv': [
        'id,body,createdAt',
        ...times(20, (n) => `n-${n},Called about the offer for house ${n},2024-02-01T10:00:00Z`),
      ],
    });
    expect(draft.entries).toEqual(['people: lead/created', 'notes: comment/created']);
    expect(draft.comment['lead_external_id']).toMatchObject({ lookup: { match: 'noteId', take: 'personId' } });
  });

  it('skip rows that only continue the record above', async () => {
    const rows = times(20, (n) => `D${n},Roof of house ${n},New,1${n}00.50,EUR,Tiles\n,,,,,Gutters`);
    const draft = await draftOf({ 'deals.csv': ['Deal ID,Title,Stage,Amount,Currency,Item', ...rows] });
    expect(draft.deal['when']).toEqual({ from: 'Deal ID', present: true });
    expect(draft.findings).toMatch(/20 deals; 20 skipped/);
  });

  it('a sheet of the staff is looked up, and a log sends its only texts, at the time beside the date', async () => {
    const staff = ['JN', 'MK', 'PS'];
    const offers = times(
      30,
      (n) => `N2023/0${n + 10};${n + 1001};Okna ${n};1${n}900,50;${staff[n % 3]!};${n % 2 ? 'nové' : 'hotovo'}`,
    );
    const draft = await draftOf({
      'lists.csv': [
        'Zkr;Cele;Adresa',
        'JN;Jana Novak;jn@okna.example',
        'MK;Milan Kral;mk@okna.example',
        'PS;Petr Soucek;ps@okna.example',
      ],
      'zakaznici.csv': ['Cislo;Osoba;E-mail', ...times(30, (n) => `${n + 1001};${name(n)};p${n}@acme.example`)],
      'nabidky.csv': ['Oznaceni;Zak;Nazev;Castka;Resi;Stav', ...offers],
      'log.csv': [
        'Datum;Cas;Resil;Nabidka;Co se delo',
        ...times(
          60,
          (n) =>
            `1${n % 9}.3.2024;${n % 9}.05;${staff[n % 3]!};N2023/0${(n % 30) + 10};${n % 2 ? 'volal kvuli cene' : 'poslat znovu mail'}`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['zakaznici: lead/created', 'nabidky: deal/created', 'log: comment/created']);
    expect(draft.deal).toMatchObject({
      external_id: 'Oznaceni',
      owner_name: { lookup: { match: 'Zkr', take: 'Adresa' } },
    });
    expect(draft.comment).toMatchObject({
      content: 'Co se delo',
      author_name: { lookup: { match: 'Zkr', take: 'Cele' } },
      occurred_at: { list: ['Datum', 'Cas'], apply: [{ join: ' ' }, { date: ['d.M.yyyy H.mm', 'd.M.yyyy'] }] },
    });
    expect(draft.remark('content')).toMatch(/^check: /);
  });
});

describe('files of one structure are decided as one', () => {
  const HEAD = 'Nr,Kunde,E-Mail,Projekt,Betrag,Seit';
  const rows = (file: number, count = 8): string[] =>
    times(count, (n) => {
      const who = (file * 3 + n) % 7;
      return `${n + 1},${person(who)},p${who}@a.example,Halle ${file}-${n},${900 + file * 70 + n * 350},${10 + n}.0${file + 1}.2024`;
    });

  it('with their names as the stage, each with its own numbers, and people who are in several', async () => {
    const { entries, spec, text } = await draftOf({
      'Kontakt.csv': [HEAD, ...rows(0)],
      'Angebot.csv': [`${HEAD},Quelle`, ...rows(1).map((row, n) => `${row},Messe ${n % 2}`)],
      'Gewonnen.csv': [HEAD, ...rows(2)],
      'Verloren.csv': [HEAD, ...rows(3)],
    });
    const names = ['kontakt', 'angebot', 'gewonnen', 'verloren'];
    expect(entries).toEqual(['lead', 'deal'].flatMap((kind) => names.map((name) => `${name}: ${kind}/created`)));
    const [lead, , , , , deal, won] = spec.events;
    expect(lead).toMatchObject({ duplicates: 'last', data: { external_id: 'E-Mail' } });
    expect(deal!.data).toMatchObject({
      stage_name: { value: 'Angebot' },
      external_id: { from: 'Nr', apply: [{ prefix: 'angebot-' }] },
      custom_fields: { quelle: 'Quelle' },
    });
    expect(won!.data).toMatchObject({ stage_name: { value: 'Gewonnen' }, lead_external_id: 'E-Mail' });
    expect(won!.data['custom_fields']).toBeUndefined();
    expect(text.match(/stage_name: .*# check: the name of this file/g)).toHaveLength(4);
  });

  it('with the last one of the same records, by the days in their names, and lookups in all', async () => {
    const week = (count: number, stage: number): string[] => [
      'Deal ID,Subject,Value,Stage,Contact',
      ...times(
        count,
        (n) =>
          `D-${n},Plan ${n},${1200 + n * 50},${['New', 'Offer', 'Won'][Math.min(2, (n % 2) + stage)]},${person(n)}`,
      ),
    ];
    const { spec, text } = await draftOf({
      'deals_02-10-2024.csv': week(12, 1),
      'deals_25-09-2024.csv': week(10, 0),
      'notes.csv': [
        'Deal,Text,Date',
        ...times(12, (n) => `Plan ${n},"Called about it, wants a discount of ${n}",2024-10-0${(n % 9) + 1}`),
      ],
    });
    const deals = spec.events.filter(({ type }) => type === 'deal/created');
    expect(deals.map(({ source }) => source)).toEqual(['deals_25_09_2024', 'deals_02_10_2024']);
    expect(deals.map(({ duplicates }) => duplicates)).toEqual(['last', 'last']);
    expect(deals[0]!.data['stage_name']).toBe('Stage');
    expect(text).toContain('duplicates: last # check: 10 of 22 records occur again');
    const note = spec.events.find(({ type }) => type === 'comment/created')!;
    expect(note.data['deal_external_id']).toMatchObject({
      from: [
        { lookup: { source: 'deals_25_09_2024', if_missing: 'skip' } },
        { lookup: { source: 'deals_02_10_2024' } },
      ],
    });
  });

  it('but not where their names or values say that they are different', async () => {
    const head = 'Id,Name,Email,City';
    const { entries } = await draftOf({
      'people.csv': [head, ...times(12, (n) => `${n + 1},${person(n)},p${n}@a.example,Rome`)],
      'organizations.csv': [head, ...times(9, (n) => `${n + 1},Firm ${n} Ltd,info@f${n}.example,Milan`)],
      'deals.csv': [
        'Id,Title,Person Id,Organization Id,Value,Status',
        ...times(
          20,
          (n) => `${n + 1},Plan ${n},${(n % 12) + 1},${(n % 9) + 1},${1000 + n * 90},${['open', 'won', 'lost'][n % 3]}`,
        ),
      ],
    });
    expect(entries).toEqual(['people: lead/created', 'deals: deal/created']);
  });
});

describe('an object in JSON', () => {
  const card = (n: number) => ({
    id: `9${n}`,
    name: person(n),
    fields: [
      {
        id: 'mail',
        type: 'email',
        text: `p${n}@a.example`,
        value: `{"email":"p${n}@a.example"}`,
        column: { title: 'E-mail' },
      },
      { id: 'firm', type: 'text', text: `Firm ${n} Ltd`, value: `"Firm ${n} Ltd"`, column: { title: 'Company' } },
    ],
  });

  it.each([
    ['boards.page.items', { boards: [{ id: 1, name: 'people', page: { items: times(8, card) } }] }],
    ['rooms.boards.items', { rooms: [{ id: 1, boards: [{ name: 'people', items: times(8, card) }] }] }],
    [
      'pages.results',
      { pages: [0, 1].map((page) => ({ page, total: 8, results: times(4, (n) => card(page * 4 + n)) })) },
    ],
  ])('around one list is no record: `%s`', async (records, content) => {
    const { entries, spec, lead } = await draftOf({ 'contacts.json': { data: content } });
    expect(spec.sources).toMatchObject({ contacts: { records: `data.${records}` } });
    expect(entries).toEqual(['contacts: lead/created']);
    expect(lead).toMatchObject({ external_id: 'id', full_name: 'name', email: { from: 'fields[0].text' } });
  });

  const contact = (n: number) => ({
    id: n,
    first_name: person(n).split(' ')[0],
    last_name: person(n).split(' ')[1],
    email: `p${n}@a.example`,
    deals: times(n % 3, (at) => ({
      id: n * 10 + at,
      title: `Plan ${n}-${at}`,
      amount: 900 + n * 50,
      stage: at ? 'won' : 'open',
    })),
  });

  it('is a record where each file has one, and equal files are one source', async () => {
    const files = Object.fromEntries(times(7, (n) => [`person-${n}.json`, { contact: contact(n) }]));
    const { entries, spec, deal } = await draftOf(files);
    expect(spec.sources).toEqual({ person: { path: 'person-*.json', records: 'contact.$' } });
    expect(entries).toEqual(['person: lead/created', 'person: deal/created']);
    expect(deal).toMatchObject({ each: 'deals', lead_external_id: '$.id', amount: 'amount' });
  });

  it('is a page with a total where its list has the records, also where two files have such pages of different things', async () => {
    const page = (hits: readonly object[]) => ({
      took: 9,
      hits: { total: { value: hits.length, relation: 'eq' }, hits },
    });
    const people = times(9, (n) => ({ id: `P${n}`, name: person(n), email: `p${n}@a.example` }));
    const deals = times(12, (n) => ({
      no: `D${n}`,
      title: `Roof ${n}`,
      amount: 900.5 + n,
      stage: ['open', 'won'][n % 2],
      person: `P${n % 9}`,
    }));
    const { entries, spec } = await draftOf({ 'people.json': page(people), 'deals.json': page(deals) });
    expect(spec.sources).toMatchObject({ people: { records: 'hits.hits' }, deals: { records: 'hits.hits' } });
    expect(entries).toEqual(['people: lead/created', 'deals: deal/created']);
  });

  it('is a record in each file, where a glob would match others', async () => {
    const files = Object.fromEntries(times(5, (n) => [`${n + 1}.json`, contact(n)]));
    const { entries } = await draftOf({ ...files, '77.json': [{ code: 'A', colour: 'red' }] });
    expect(entries.filter((each) => each.endsWith('lead/created'))).toEqual(times(5, (n) => `${n + 1}: lead/created`));
  });
});

it('an amount and a stage of people about whom another export has deals make no deals of them', async () => {
  const { entries, text } = await draftOf({
    'people.csv': [
      'ID,First Name,Last Name,Email 1,Stage,Price,Assigned To',
      ...times(20, (n) => {
        const [first, last] = person(n).split(' ');
        return `${n + 1},${first},${last},p${n}@a.example,${['Lead', 'Nurture', 'Past client'][n % 3]},${(n % 4) * 150000},${['Iris Vale', 'Otto Berg'][n % 2]}`;
      }),
    ],
    'deals.csv': [
      'Deal Name,Contact,Contact Email,Price,Deal Stage',
      ...times(
        14,
        (n) =>
          `${n + 1} Elm Street,${person(n % 9)},p${n % 9}@a.example,${410000 + n * 7500},${['Offer', 'Closed'][n % 2]}`,
      ),
    ],
  });
  expect(entries).toEqual(['people: lead/created', 'deals: deal/created']);
  expect(text).toContain('{ lookup: { source: people, match: Email 1, with: Contact Email, take: ID } }');
});

it('what each customer has spent makes no deals, nor do their payments', async () => {
  const { entries, text, findings } = await draftOf({
    'customers.csv': [
      'id,Email,Name,Created (UTC),Plan,Status,Lifetime Value',
      ...times(
        16,
        (n) =>
          `cus_J${n}SZvAeb,p${n}@a.example,Ada B${'abcdefghijklmnop'[n]}rg,2023-06-${n + 10} 16:10,monthly,${['active', 'canceled', 'past_due'][n % 3]},${n * 310 + 49}.00`,
      ),
    ],
    'payments.csv': [
      'id,Created (UTC),Amount,Currency,Description,Status,Customer ID',
      ...times(
        24,
        (n) =>
          `ch_4y${n}QpX,2023-08-${(n % 20) + 10} 13:02,${n + 20}.00,gbp,${n % 2 ? 'Invoice' : 'Subscription update'},${['Paid', 'Failed', 'Refunded'][n % 3]},cus_J${n % 16}SZvAeb`,
      ),
    ],
  });
  expect(entries).toEqual(['customers: lead/created']);
  expect(text).toContain('# check: `Lifetime Value` and `Status` may be the amount and the stage of a deal');
  expect(findings).toMatch(/payments.csv: .*not used, because payments and line items are not deals; 24 of 24/);
});

it('a budget and the consent of a form make no deals, even in requests for quotes', async () => {
  const { entries } = await draftOf({
    'pedido de orçamento.csv': [
      'Carimbo de data/hora,Nome completo,E-mail,Que tipo de evento?,Qual é o seu orçamento?,Aceito a política de privacidade',
      ...times(24, (n) => {
        const [kind, budget] = [['Festa', 'Casamento'][n % 2], ['1000 €', '2500 €', 'Não sei', '4000 €'][n % 4]];
        return `${n + 1}/03/2024 09:00:00,${person(n)},p${n}@a.example,${kind},${budget},Sim`;
      }),
    ],
  });
  expect(entries).toEqual(['pedido_de_orcamento: lead/created']);
});

describe('columns with numbers are groups, each of which is a record', () => {
  const CLIENT = 'Client ID,Name,E-mail,Phone 1,Phone 2';
  const client = (n: number): string => `C${n},${person(n)} ${n},p${n}@a.example,+44 20 7946 ${4000 + n},`;

  it.each([
    ['Deal 1 Name,Deal 1 Amount,Deal 1 Stage', 'Deal 2 Name,Deal 2 Amount,Deal 2 Stage'],
    ['Titel 1,Betrag 1,Status 1', 'Titel 2,Betrag 2,Status 2'],
  ])('deals: %s', async (first, second) => {
    const group = (n: number, at: number): string =>
      `Plan ${n}-${at},${900 + n * 70 + at}.50,${['open', 'won', 'lost'][(n + at) % 3]}`;
    const rows = times(12, (n) => `${client(n)},${n % 4 ? group(n, 1) : ',,'},${n % 3 ? ',,' : group(n, 2)}`);
    const { entries, spec, lead } = await draftOf({ 'clients.csv': [`${CLIENT},${first},${second}`, ...rows] });
    expect(entries).toEqual(['clients: lead/created', 'clients: deal/created', 'clients: deal/created']);
    const [title, amount, stage] = second.split(',');
    expect(spec.events[2]).toMatchObject({
      when: { from: second.split(','), present: true },
      data: {
        external_id: { list: ['Client ID', { value: '2' }], apply: [{ join: '-' }] },
        title,
        amount: { from: amount },
        stage_name: stage,
        lead_external_id: 'Client ID',
      },
    });
    expect(JSON.stringify(lead)).not.toContain(amount);
  });

  it('notes, with their own dates and authors', async () => {
    const note = (n: number, at: number): string =>
      `2024-0${at}-1${n % 9},${n % 2 ? 'Tom' : 'Sue'},Called about offer ${n}-${at} and wants a discount`;
    const rows = times(12, (n) => `${client(n)},${note(n, 1)},${n % 3 ? ',,' : note(n, 2)}`);
    const head = [1, 2].map((at) => `Note ${at} date,Note ${at} by,Note ${at} text`).join(',');
    const { entries, spec } = await draftOf({ 'clients.csv': [`${CLIENT},${head}`, ...rows] });
    expect(entries).toEqual(['clients: lead/created', 'clients: comment/created', 'clients: comment/created']);
    expect(spec.events[2]).toMatchObject({
      when: { from: 'Note 2 text', present: true },
      occurred_at: { from: 'Note 2 date' },
      data: { content: 'Note 2 text', author_name: 'Note 2 by', lead_external_id: 'Client ID' },
    });
  });

  it('notes, of a single column each, although few records have the last one', async () => {
    const note = (n: number): string => `Wants to see the references before they sign said number ${n}`;
    const row = (n: number): string =>
      `${client(n)},${note(n)},${n % 3 ? '' : note(n + 40)},${n === 5 ? note(80) : ''}`;
    const draft = await draftOf({ 'clients.csv': [`${CLIENT},Note 1,Note 2,Note 3`, ...times(18, row)] });
    const texts = draft.spec.events.flatMap(({ type, data }) => (type === 'comment/created' ? [data['content']] : []));
    expect(texts).toEqual(['Note 1', 'Note 2', 'Note 3']);
  });

  it('but not the addresses and numbers of a person', async () => {
    const head = `${CLIENT},Address 1 Street,Address 1 City,Address 2 Street,Address 2 City`;
    const rows = times(12, (n) => `${client(n)},Elm Street ${n},Leeds,,`);
    expect((await draftOf({ 'clients.csv': [head, ...rows] })).entries).toEqual(['clients: lead/created']);
  });
});

it('deals of which only the first of a group has its person are marked', async () => {
  const rows = times(15, (n) => {
    const who = n % 3 === 0 ? `${person(n / 3)},p${n}@a.example` : ',';
    return `${who},Plan ${n},${900 + n * 70}.50,${['open', 'won', 'lost'][n % 3]}`;
  });
  const draft = await draftOf({ 'list.csv': ['Contact,E-mail,Deal,Amount,Stage', ...rows] });
  expect(draft.entries).toEqual(['list: lead/created', 'list: deal/created']);
  expect(draft.lead['when']).toEqual({ from: ['Contact', 'E-mail'], present: true });
  expect(draft.remark('when')).toMatch(/^check: skips 10 of 15: records without a name.*merged cells/);
});
