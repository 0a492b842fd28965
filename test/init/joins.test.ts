import { describe, expect, it } from 'vitest';
import { draftOf, times } from './mapping.ts';

const NAMES = ['Bell', 'Costa', 'Dietz', 'Fontana', 'Gil', 'Horn', 'Keller', 'Lodi', 'Moreno', 'Nystrom'];
const person = (n: number): string => `${['Ada', 'Bruno', 'Carla', 'Dario'][Math.floor(n / 10)]!} ${NAMES[n % 10]!}`;
const CONTACTS = ['Contact ID,Full name,Email', ...times(40, (n) => `${n + 1001},${person(n)},p${n}@acme.example`)];
const DEALS = 'Deal ID,Title,Stage,Amount';
const deal = (n: number, more: string): string => `D${n},Roof of house ${n},New,1${n}00.50,${more}`;
const text = (n: number): string => `We spoke about the roof of house ${n}`;

const byEmail = (column: string) => ({
  lookup: { source: 'contacts', match: 'Email', with: column, take: 'Contact ID' },
});

it('a comment in a list of a deal that is in a list is of that deal', async () => {
  const companies = times(6, (n) => `${n}`).map((n, at) => ({
    name: `Acme ${n}`,
    people: [{ id: at + 900, full_name: person(at), email: `p${n}@acme.example` }],
    deals: [1, 2].map((of) => ({
      id: at * 10 + of + 7000,
      title: `Roof ${n} ${of}`,
      amount: 1000.5 + at,
      stage: of > 1 ? 'Won' : 'Open',
      person_id: at + 900,
      activities: [
        { id: at * 10 + of, body: `They asked for the price of roof ${n} once more`, done_at: '2024-03-01T10:00:00Z' },
      ],
    })),
  }));
  const draft = await draftOf({ 'crm.json': { companies } });
  expect(draft.comment).toMatchObject({ each: 'deals.activities', deal_external_id: '..id' });
  expect(draft.findings).toMatch(/deals\.activities`, 12 elements: 12 comments$/m);
});

it.each([
  ['with zeros in the other export', (n: number) => `${n}`, (n: number) => `${n}`.padStart(5, '0')],
  ['with zeros in its own', (n: number) => `${n}`.padStart(5, '0'), (n: number) => `${n}`],
])(
  'an id is joined %s, which a spreadsheet has removed, and only where a name says what it is of',
  async (_what, own, other) => {
    const draft = await draftOf({
      'guests.csv': ['GuestNo,Guest,Email', ...times(12, (n) => `${own(n + 1)},Ada Bell${n},g${n}@acme.example`)],
      'stays.csv': [
        'ResNo,GuestNo,Room,Total,Status',
        ...times(12, (n) => `R-0${n},${other(n + 1)},${n + 2},8${n}.50,${n % 2 ? 'Open' : 'Won'}`),
      ],
    });
    expect(draft.deal['lead_external_id']).toMatchObject({ lookup: { source: 'guests', take: 'GuestNo' } });
    expect(draft.remark('lead_external_id')).toContain(
      '12 of 12 match `guests.GuestNo`, compared without leading zeros',
    );
    expect(draft.findings).not.toContain('cannot be sent');
  },
);

describe('the lead of a deal', () => {
  it('are not by the numbers of the rows, which are no ids either', async () => {
    const name = (n: number): string =>
      `${['Ada', 'Bruno', 'Clara', 'Dario'][n % 4]!} ${['Bell', 'Costa', 'Dane'][n % 3]!}`;
    const draft = await draftOf({
      'people.csv': ['Row,Full name,E-mail', ...times(12, (n) => `${n + 1},${name(n)},p${n}@a.example`)],
      'deals.csv': [
        'Row,Deal ID,Title,Amount,Stage,Contact',
        ...times(
          12,
          (n) => `${n + 1},D-${70 + n},Roof ${n},${900 + n}.50,${n % 2 ? 'Open' : 'Won'},${name(n * 5 + 2)}`,
        ),
      ],
    });
    expect(draft.lead).toMatchObject({ external_id: 'E-mail' });
    expect(draft.deal).toMatchObject({
      external_id: 'Deal ID',
      lead_external_id: { lookup: { source: 'people', match: 'Full name', with: 'Contact', take: 'E-mail' } },
    });
  });

  it('is found by first and last name in two columns, also where one of them is only called a name', async () => {
    const contacts = times(40, (n) => `${n + 1001};${person(n).replace(' ', ';')};p${n}@correo.example`);
    const draft = await draftOf({
      'contactos.csv': ['Id;Nombre;Apellidos;Correo', ...contacts],
      'oportunidades.csv': [
        'Id;Título;Etapa;Importe;Contacto',
        ...times(40, (n) => `${n};Casa ${n};Nuevo;1${n}0,50;${person(n)}`),
      ],
    });
    expect(draft.deal['lead_external_id']).toEqual({
      lookup: {
        source: 'contactos',
        match: { list: ['Nombre', 'Apellidos'], apply: [{ join: ' ' }] },
        with: 'Contacto',
        take: 'Id',
      },
    });
    expect(draft.remark('lead_external_id')).not.toContain('several');
  });

  it.each([
    ['last name first', (name: string) => name, (name: string) => `"${name.replace(/(.+) (.+)/, '$2, $1')}"`],
    ['first name first', (name: string) => `"${name.replace(/(.+) (.+)/, '$2, $1')}"`, (name: string) => name],
  ])('is found by a name that is written %s, unlike in the other export', async (_what, own, other) => {
    const draft = await draftOf({
      'contacts.csv': ['Full name,Phone', ...times(40, (n) => `${own(person(n))},+44 20 7946 00${n + 10}`)],
      'contracts.csv': [
        'Contract no,Member,Fee,Status,IBAN',
        ...times(
          40,
          (n) => `V-${n},${other(person(n))},1${n}.50,${n % 2 ? 'Open' : 'Won'},DE0212030000000020${n + 10}`,
        ),
      ],
    });
    expect(draft.remark('lead_external_id')).toContain('40 of 40 match `contacts.Full name`');
    // The number of an account is no title.
    expect(draft.remark('title')).not.toContain('IBAN');
  });

  it('is found by a name that is written last name first and in capitals, where people have two columns and no id', async () => {
    const names = times(40, (n) => person(n).split(' '));
    const draft = await draftOf({
      'adherents.csv': ['Prénom;Nom;Portable', ...names.map((each, n) => `${each.join(';')};04 56 33 36 ${n + 10}`)],
      'journal.csv': [
        'Date;Adhérent;Remarque',
        ...names.map(
          ([first, last], n) => `0${(n % 9) + 1}/05/2024;${last!.toUpperCase()}, ${first};Devis ${n} pour le toit`,
        ),
      ],
    });
    expect(draft.entries).toEqual(['adherents: lead/created', 'journal: comment/created']);
    expect(draft.remark('lead_external_id')).toContain('40 of 40 match `adherents.Prénom Nom`');
  });

  it('is never a firm among people, whose name is the company of others: it is left out', async () => {
    const people = times(20, (n) => `${n + 501};Pessoa;${person(n)};Firma ${NAMES[n % 5]!};p${n}@acme.example`);
    const firms = times(5, (n) => `${n + 401};Empresa;Firma ${NAMES[n]!};;contato@f${n}.example`);
    const deals = times(
      20,
      (n) => `${n + 1500};Telhado ${n};Firma ${NAMES[n % 5]!};${person(n)};R$ ${n + 1}.700,00;Nova`,
    );
    const draft = await draftOf({
      'contatos.csv': ['Código;Tipo;Nome;Empresa;E-mail', ...people, ...firms],
      'negocios.csv': ['Nº;Título;Cliente;Contato;Valor;Etapa', ...deals],
    });
    expect(draft.lead['when']).toEqual({ from: 'Tipo', not_in: ['Empresa'] });
    expect(draft.remark('when')).toMatch(/^check: skips 5 of 25/);
    expect(draft.deal['lead_external_id']).toMatchObject({ lookup: { with: 'Contato' } });
  });

  it('has an author with both names, also where these are in an object around each user', async () => {
    const draft = await draftOf({
      'contacts.csv': CONTACTS,
      'users.json': [7, 9].map((id) => ({
        user: { id, first: person(id).split(' ')[0], name: NAMES[id], login: `u${id}@firm.example` },
      })),
      'notes.json': times(20, (n) => `${n}`).map((n, at) => ({
        id: at + 500,
        contact_id: at + 1001,
        user_id: at % 2 ? 7 : 9,
        content: `They asked for the price of roof ${n} once more`,
        created_at: '2024-03-01T10:00:00Z',
      })),
    });
    expect(draft.comment['author_name']).toMatchObject({ lookup: { take: { list: ['user.first', 'user.name'] } } });
  });

  it('is found by names in two columns on both sides, never by a column that is the same in all records', async () => {
    const names = times(40, (n) => person(n).replace(' ', ','));
    const draft = await draftOf({
      'contacts.csv': [
        'Id,First name,Last name,Account Id,Email',
        ...names.map((each, n) => `${n + 1001},${each},77,p${n}@acme.example`),
      ],
      'deals.csv': [
        `${DEALS},Account Id,Contact First Name,Contact Last Name`,
        ...names.map((each, n) => deal(n, `77,${each}`)),
      ],
    });
    expect(draft.deal['lead_external_id']).toMatchObject({
      lookup: { with: { list: ['Contact First Name', 'Contact Last Name'] }, take: 'Id' },
    });
  });

  it('is named by the id of a contact, which is not that of the deal, even if each contact has only one', async () => {
    const draft = await draftOf({
      'contacts.csv': CONTACTS,
      'deals.csv': [
        'Contact ID,Subject,Status,Value',
        ...times(30, (n) => `${n + 1001},Roof of house ${n},New,1${n}00.50`),
      ],
    });
    expect(draft.deal['lead_external_id']).toBe('Contact ID');
    expect(draft.text).toMatch(/^ +external_id: Subject # set this: .*unique in all 30 records/m);
  });

  it('is the main one of several: of those in a table of links, and of those in a list', async () => {
    const links = times(30, (n) => `D${n},${n + 1002},f\nD${n},${n + 1001},t`);
    const draft = await draftOf({
      'contacts.csv': CONTACTS,
      'deals.csv': [`${DEALS},Note`, ...times(30, (n) => deal(n, ''))],
      'deal_contact.csv': ['deal_id,contact_id,is_primary', ...links],
    });
    const { lead_external_id: value } = draft.deal as { lead_external_id: { from: { lookup: object }[] } };
    expect(value.from[0]!.lookup).toMatchObject({ match: { list: ['deal_id', 'is_primary'] }, take: 'contact_id' });
    expect(value.from[1]!.lookup).toMatchObject({ match: 'deal_id', if_many: 'first' });
    const people = Array.from({ length: 12 }, (_, n) => ({
      id: 900 + n,
      name: person(n),
      emails: [{ value: `w${n}@acme.example` }, ...(n % 2 ? [{ value: `p${n}@acme.example`, primary: true }] : [])],
    }));
    const listed = await draftOf({ 'contacts.json': people });
    expect(listed.remark('email')).toMatch(/^check: 6 records have several; the one with `emails.primary` \(true\)/);
    expect(JSON.stringify(listed.lead['email'])).toContain('{emails[1].primary} {emails[1].value}');
  });

  it('is the one beside the same company, not that with the number of the company, and not by it beside a contact', async () => {
    const people = times(36, (n) => `${n + 1},${n % 20},${person(n)},p${n}@acme.example`);
    const companies = ['rowid,nom,town', ...times(21, (n) => `${n},Firm ${n} Ltd,Lyon`)];
    const exports = { 'people.csv': ['rowid,fk_soc,Full name,Email', ...people], 'societe.csv': companies };
    const draft = await draftOf({
      ...exports,
      'deals.csv': [`${DEALS},fk_soc`, ...times(40, (n) => deal(n, `${n % 20}`))],
    });
    expect(draft.deal['lead_external_id']).toMatchObject({ lookup: { match: 'fk_soc', take: 'rowid' } });
    expect(draft.remark('lead_external_id')).toMatch(/^check: 40 of 40/);
    const contacts = ['contact_id,company_id,Full name,Email', ...people];
    const offered = await draftOf({
      'contacts.csv': contacts,
      'deals.csv': [
        `${DEALS},contact_id,company_id`,
        ...times(40, (n) => deal(n, `${n % 4 ? (n % 36) + 1 : ''},${n % 20}`)),
      ],
    });
    expect(offered.deal['lead_external_id']).toBe('contact_id');
    expect(offered.remark('lead_external_id')).toContain('runner-up: `company_id`');
  });

  it('has no owner where the users lack the id, which is said with the id', async () => {
    const draft = await draftOf({
      'deals.csv': [`${DEALS},Owner`, ...times(12, (n) => deal(n, `U${n === 7 ? 99 : n % 3}`))],
      'users.csv': ['id,name', 'U0,Jim Brennan', 'U1,Sue Smith', 'U2,Will Westin'],
    });
    expect(draft.remark('owner_name')).toMatch(/^check: 11 of 12 match `users\.id`; .*: U99/);
  });

  it('has its owner by the whole name of a user, not by the name for logging in', async () => {
    const draft = await draftOf({
      'deals.csv': [`${DEALS},Owner`, ...times(12, (n) => deal(n, `U${n % 3}`))],
      'users.csv': [
        'id,user_name,first_name,last_name',
        'U0,jim,Jim,Brennan',
        'U1,sue,Sue,Smith',
        'U2,will,Will,Westin',
      ],
    });
    expect(draft.deal['owner_name']).toMatchObject({
      lookup: { source: 'users', with: 'Owner', take: { list: ['first_name', 'last_name'] } },
    });
  });

  it('is found by its id, else by its e-mail address, else by its name, whatever the headers', async () => {
    const rows = times(40, (n) => deal(n, `${person(n)},p${n}@acme.example,${n + 1001}`));
    const cut = (lines: string[]): string[] => lines.map((row) => row.replace(/,[^,]*$/, ''));
    const ids = [`${DEALS},A,B,C`, ...rows];
    const byId = await draftOf({ 'contacts.csv': CONTACTS, 'deals.csv': ids });
    expect(byId.deal['lead_external_id']).toBe('C');
    expect(byId.remark('lead_external_id')).toMatch(/^40 of 40 match `contacts\.Contact ID`/);
    const emails = await draftOf({ 'contacts.csv': CONTACTS, 'deals.csv': cut(ids) });
    expect(emails.deal['lead_external_id']).toEqual(byEmail('B'));
    const names = await draftOf({ 'contacts.csv': CONTACTS, 'deals.csv': cut(cut(ids)) });
    expect(names.deal['lead_external_id']).toMatchObject({ lookup: { match: 'Full name', with: 'A' } });
    expect(names.remark('lead_external_id')).toContain('check: 40 of 40');
  });

  const PARTS: readonly (readonly [what: string, cell: (n: number) => string, apply: unknown])[] = [
    ['the text before a link', (n) => `${person(n)} (https://x.example/${n})`, [{ extract: '^(.+?) \\(' }]],
    ['the text in brackets', (n) => `Customer (${n + 1001})`, [{ extract: '\\(([^()]+)\\)\\s*$' }]],
    ['the text behind an @', (n) => `@${n + 1001}`, [{ extract: '^@(.+)$' }]],
    ['the end of an address', (n) => `https://crm.example/contacts/${n + 1001}`, [expect.anything()]],
    ['the first of several', (n) => `${n + 1001};${((n + 1) % 40) + 1001}`, [{ split: ';' }, { at: 0 }]],
  ];
  it.each(PARTS)('is found by %s', async (_what, cell, apply) => {
    const rows = times(40, (n) => deal(n, cell(n)));
    const draft = await draftOf({ 'contacts.csv': CONTACTS, 'deals.csv': [`${DEALS},Reference`, ...rows] });
    const value = draft.deal['lead_external_id'] as { lookup?: { with: unknown } };
    expect(value.lookup?.with ?? value).toEqual({ from: 'Reference', apply });
  });

  it('is found by an e-mail address in other letters, and by first and last name', async () => {
    const split = CONTACTS.map((row, n) =>
      row.replace(n === 0 ? 'Full name' : ' ', n === 0 ? 'First name,Last name' : ','),
    );
    const emails = await draftOf({
      'contacts.csv': CONTACTS,
      'deals.csv': [`${DEALS},Reference`, ...times(40, (n) => deal(n, `P${n}@ACME.example`))],
    });
    expect(emails.deal['lead_external_id']).toMatchObject({
      lookup: { match: { from: 'Email', apply: ['lowercase'] }, with: { from: 'Reference', apply: ['lowercase'] } },
    });
    const names = await draftOf({
      'contacts.csv': split,
      'deals.csv': [`${DEALS},Reference`, ...times(40, (n) => deal(n, person(n)))],
    });
    expect(names.deal['lead_external_id']).toMatchObject({
      lookup: { match: { list: ['First name', 'Last name'], apply: [{ join: ' ' }] } },
    });
  });

  it('is found through a third export, and through the company', async () => {
    const deals = [
      'DealID,CompanyID,Title,Amount,Stage',
      ...times(20, (n) => `D${n},K${n},Roof of ${n},1${n}00.50,New`),
    ];
    const people = [
      'ContactID,CompanyID,Name,Email',
      ...times(20, (n) => `C${n},K${n},${person(n)},p${n}@acme.example`),
    ];
    const pairs = ['deal_id,contact_id,added_at', ...times(12, (n) => `D${n},C${n},2024-01-01`)];
    const linked = await draftOf({ 'contacts.csv': people, 'deals.csv': deals, 'deal_contact.csv': pairs });
    const values = JSON.stringify(linked.deal['lead_external_id']);
    expect(values).toContain('"match":"CompanyID","with":"CompanyID","take":"ContactID"');
    const onlyPairs = await draftOf({
      'contacts.csv': people,
      'deals.csv': deals.map((row) => row.replace(/,[^,]*/, '')),
      'deal_contact.csv': pairs,
    });
    expect(onlyPairs.deal['lead_external_id']).toEqual({
      lookup: { source: 'deal_contact', match: 'deal_id', with: 'DealID', take: 'contact_id', if_missing: 'skip' },
    });
    expect(onlyPairs.remark('lead_external_id')).toContain('check: 12 of 20 are found through deal_contact');
  });

  it('is left open where too few values match, or only by chance, with the candidates and their figures', async () => {
    const few = await draftOf({
      'contacts.csv': CONTACTS,
      'deals.csv': [
        `${DEALS},Reference`,
        ...times(40, (n) => deal(n, n < 8 ? `p${n}@acme.example` : `x@y${n}.example`)),
      ],
    });
    expect(few.deal).not.toHaveProperty('lead_external_id');
    expect(few.remark('lead_external_id')).toMatch(/set this: .*`Reference` \(8 of 40 match `contacts\.Email`/);
    const small = CONTACTS.map((row, n) => row.replace(/^\d+/, String(n)));
    const chance = await draftOf({
      'contacts.csv': small,
      'deals.csv': [`${DEALS},Probability`, ...times(40, (n) => deal(n, `${(n % 4) + 1}`))],
    });
    expect(chance.deal).not.toHaveProperty('lead_external_id');
  });

  it('leads comments by a type to the records that have the id in another column; deals end by a flag that only lost ones have', async () => {
    const stages = ['New', 'Won', 'Sent'];
    const draft = await draftOf({
      'res_partner.csv': [
        'id,.id,name,email',
        ...times(14, (n) => `x_partner_${n}_ab,${61 + n},${person(n)} ${n},p${n}@a.example`),
      ],
      'crm_lead.csv': [
        'id,.id,name,partner_id,amount,stage,active,lost_reason',
        ...times(
          15,
          (n) =>
            `x_lead_${n}_cd,${70 + n},Roof ${n},x_partner_${n % 14}_ab,${900 + n * 31}.50,${stages[n % 3]!},${n % 5 === 2 ? 'FALSE,Too dear' : 'TRUE,'}`,
        ),
      ],
      'message.csv': [
        'id,model,res_id,body',
        ...times(24, (n) => {
          const [model, id] = [`crm.lead,${70 + (n % 15)}`, `res.partner,${61 + (n % 14)}`, `sale.order,${n + 500}`][
            n % 3
          ]!.split(',');
          return `${900 + n},${model!},${id!},Called about the roof number ${n} and will call again`;
        }),
      ],
    });
    expect(draft.findings).toMatch(/message\.csv.*; 16 comments/m);
    expect(draft.comment).toMatchObject({
      lead_external_id: { lookup: { source: 'res_partner', match: '.id', take: 'id' } },
      deal_external_id: { lookup: { source: 'crm_lead', match: '.id', take: 'id' } },
    });
    expect(draft.deal['stage_name']).toEqual({
      from: [{ from: 'active', apply: [{ map: { FALSE: 'Lost', '*': null } }] }, 'stage'],
    });
  });

  it('has a prefix where two exports number their records alike', async () => {
    const draft = await draftOf({
      'leads.csv': [
        'Lead ID,Full name,Email',
        ...times(40, (n) => `${n + 1001},${person(39 - n)},o${n}@other.example`),
      ],
      'contacts.csv': CONTACTS,
      'deals.csv': [`${DEALS},Contact ID`, ...times(40, (n) => deal(n, `${n + 1001}`))],
    });
    expect(draft.deal['lead_external_id']).toEqual({ from: 'Contact ID', apply: [{ prefix: 'contacts-' }] });
    expect(draft.text).toMatch(
      /external_id: \{ from: Contact ID, apply: \[\{ prefix: contacts- \}\] \} # check: 40 of the ids/,
    );
  });

  it('is told from others of the same name by the firm that both exports have', async () => {
    const who = (n: number): string => `${person(n % 12)},Acme ${n}`;
    const draft = await draftOf({
      'contacts.csv': ['Name,Company,Email', ...times(14, (n) => `${who(n)},${n % 3 ? `p${n}@acme.example` : ''}`)],
      'deals.csv': [`${DEALS},Contact,Company`, ...times(14, (n) => deal(n, n === 5 ? `,Acme ${n}` : who(n)))],
      'log.csv': [
        'Date,Deal,Company,Remark',
        ...times(14, (n) => `2024-03-${10 + n},Roof of house ${n},Acme ${n},${text(n)}`),
      ],
    });
    const columns = (...list: readonly string[]) => ({ list, apply: [{ join: ' ' }] });
    const byBoth = { match: columns('Name', 'Company'), with: columns('Contact', 'Company') };
    // Nobody else is at the firm of the one deal that names nobody.
    expect(draft.deal['lead_external_id']).toMatchObject({
      from: [{ lookup: byBoth }, { lookup: { match: 'Company', with: 'Company' } }],
    });
    expect(draft.remark('lead_external_id')).toContain('together with `Company`');
    // Of parts that all have.
    expect(draft.lead['external_id']).toEqual({ list: ['Company', 'Name'], apply: [{ join: ' / ' }] });
  });

  it('is the person of the same row, where a row is both', async () => {
    const rows = times(
      20,
      (n) => `D-${n},Roof of house ${n},New,${n + 3}250.50,${person(n % 9)},p${n % 9}@acme.example`,
    );
    const draft = await draftOf({ 'pipeline.csv': ['Id,Title,Stage,Amount,Contact name,Email', ...rows] });
    expect(draft.entries).toEqual(['pipeline: lead/created', 'pipeline: deal/created']);
    expect(draft.lead).toMatchObject({ external_id: 'Email', duplicates: 'first', full_name: 'Contact name' });
    expect(draft.deal).toMatchObject({ external_id: 'Id', lead_external_id: 'Email' });
    const single = times(9, (n) => `D-${n},Roof of ${n},New,${n + 3}250.50,${person(n)},p${n}@acme.example`);
    const once = await draftOf({ 'pipeline.csv': ['Id,Title,Stage,Amount,Contact name,Email', ...single] });
    expect(once.lead['external_id']).toBe('Id');
    expect(once.deal).toMatchObject({
      external_id: { from: 'Id', apply: [{ prefix: 'deal-' }] },
      lead_external_id: 'Id',
    });
  });

  it('is found in an export of which only the beginning is read', async () => {
    const people = times(25_000, (n) => `K${n},${person(n % 40)},p${n}@acme.example`);
    const draft = await draftOf({
      'contacts.csv': ['Contact ID,Full name,Email', ...people],
      'deals.csv': [`${DEALS},Reference`, ...times(25_000, (n) => deal(n, `K${24_999 - n}`))],
    });
    expect(draft.deal['lead_external_id']).toBe('Reference');
    expect(draft.remark('lead_external_id')).toMatch(/^check: /);
  });
});
describe('the lead and the deal of a comment', () => {
  const deals = [DEALS, ...times(20, (n) => deal(n, '').slice(0, -1))];

  it('are told by a type of no known name, or by a word before the id that the name of an export has, too', async () => {
    const people = ['id,name,e-mail', ...times(20, (n) => `${n + 1},Ada Bell ${n},p${n}@a.example`)];
    const orders = [
      'id,title,amount,stage',
      ...times(20, (n) => `${n + 101},Roof of house ${n},${900 + n}.50,${['open', 'won'][n % 2]}`),
    ];
    const exports = { 'kontakty.csv': people, 'zakazky.csv': orders };
    const notes = (ref: (n: number) => string) => times(20, (n) => `${n + 501},${ref(n)},${text(n)}`);
    const typed = await draftOf({
      ...exports,
      'notes.csv': [
        'id,parent,parent type,text',
        ...notes((n) => (n % 2 ? `${n + 101},Pipelines` : `${n + 1},Contacts`)),
      ],
    });
    expect(typed.comment['deal_external_id']).toMatchObject({ apply: [{ extract: '^Pipelines (.+)$' }] });
    expect(typed.comment['lead_external_id']).toMatchObject({ apply: [{ extract: '^Contacts (.+)$' }] });
    // Also where the ids of both overlap, by a like name, or by what is left.
    const own = orders.map((row) => row.replace(/^1(\d\d)/, (_, id: string) => String(Number(id))));
    for (const [first, other, file] of [
      ['gid://crm/Kontakt/', 'gid://crm/Zakazka/', 'zakazky'],
      ['Kontakt:', 'Auftrag:', 'auftraege'],
      ['Kontakt ', 'V-', 'zakazky'],
    ] as const) {
      const within = await draftOf({
        'kontakty.csv': people,
        [`${file}.csv`]: own,
        'poznamky.csv': ['id,cil,text', ...notes((n) => `${n % 2 ? other : first}${n + 1}`)],
      });
      expect(within.comment).toMatchObject({
        lead_external_id: { from: 'cil', apply: [{ extract: `^${first}(.+)$` }] },
        deal_external_id: { from: 'cil', apply: [{ extract: `^${other}(.+)$` }] },
      });
    }
  });

  it('are of the people and not of their firms, and their text may be in a table of its own, as codes have their names in one', async () => {
    const draft = await draftOf({
      'contact.csv': ['contact_id;name;orgnr', ...times(8, (n) => `${301 + n};Roofs ${n} AS;8055888${n}4`)],
      'person.csv': [
        'person_id;contact_id;firstname;lastname;email',
        ...times(24, (n) => `${1201 + n};${301 + (n % 8)};Ada${n};Bell${n};p${n}@a.example`),
      ],
      'sale.csv': [
        'sale_id;contact_id;person_id;title;amount;step_idx;who',
        ...times(
          30,
          (n) =>
            `${401 + n};${301 + (n % 8)};${1201 + (n % 24)};Roof of house ${n};${900 + n},50;${21 + (n % 4)};K${n % 3}`,
        ),
      ],
      'prob.csv': [
        'prob_id;name;rank',
        ...['First contact', 'Offer', 'Won', 'Lost'].map((each, n) => `${21 + n};${each};${n + 1}`),
      ],
      'agents.csv': ['who;nom;prenom', 'K0;Ek;Ida', 'K1;Lie;Per', 'K2;Dahl;Siv'],
      'appointment.csv': [
        'appointment_id;person_id;sale_id;who;registered;text_id',
        ...times(
          30,
          (n) =>
            `${2001 + n};${1201 + (n % 24)};${n % 2 ? 401 + n : 0};K${n % 3};${10 + (n % 9)}.05.2023 14:42;${9001 + n}`,
        ),
      ],
      'text.csv': ['text_id;text', ...times(30, (n) => `${9001 + n};${text(n)}`).reverse()],
    });
    expect(draft.entries).toEqual(['person: lead/created', 'sale: deal/created', 'appointment: comment/created']);
    expect(draft.deal).toMatchObject({
      lead_external_id: 'person_id',
      stage_name: { lookup: { source: 'prob', match: 'prob_id', with: 'step_idx', take: 'name' } },
      owner_name: { lookup: { source: 'agents', with: 'who' } },
    });
    expect(draft.comment).toMatchObject({
      content: { lookup: { source: 'text', match: 'text_id', with: 'text_id', take: 'text' } },
      author_name: { lookup: { source: 'agents' } },
      lead_external_id: 'person_id',
      // 0 is the number of no deal.
      deal_external_id: { lookup: { source: 'sale', with: 'sale_id', if_missing: 'skip' } },
    });
  });

  it('are beside the stage, which may be the step without an end in a table of history', async () => {
    const steps = (n: number) => times((n % 3) + 1, (at) => ({ at, isLast: at === n % 3 }));
    const history = times(30, (n) =>
      steps(n).map(({ at, isLast }) => `${n + 1},${21 + at},2025-0${at + 1}-02,${isLast ? '' : `2025-0${at + 2}-02`}`),
    ).flat();
    const draft = await draftOf({
      'contacts.csv': CONTACTS,
      'deals.csv': [
        'id,title,amount,contact_id',
        ...times(30, (n) => `${n + 1},Roof of house ${n},${900 + n}.50,${(n % 20) + 1001}`),
      ],
      'steps.csv': ['id,name,rank', ...['Lead in', 'Offer', 'Signed'].map((each, n) => `${21 + n},${each},${n + 1}`)],
      'stage_history.csv': ['id,deal_id,step_id,since,until', ...history.map((row, n) => `${n + 501},${row}`)],
    });
    expect(draft.deal['stage_name']).toMatchObject({
      lookup: {
        source: 'steps',
        take: 'name',
        with: {
          lookup: {
            match: { template: '{deal_id} {until}', apply: ['collapse_whitespace'] },
            with: 'id',
            take: 'step_id',
          },
        },
      },
    });
    expect(draft.entries).toEqual(['contacts: lead/created', 'deals: deal/created']);
  });

  it('are told by the id of a group and the number in it, where both together are the key of people', async () => {
    const of = (n: number): string => `7K${n >> 1}x,${(n % 2) + 1}`;
    const header = 'Client Id,Contact Number';
    const draft = await draftOf({
      'people.csv': [`${header},Name,E-mail`, ...times(30, (n) => `${of(n)},Ada Bell ${n},p${n}@a.example`)],
      'notes.csv': [`${header},Text`, ...times(40, (n) => `${of((n * 7) % 30)},${text(n)}`)],
    });
    const id = { list: ['Client Id', 'Contact Number'], apply: [{ join: ' ' }] };
    expect(draft.lead['external_id']).toMatchObject(id);
    expect(draft.comment['lead_external_id']).toMatchObject(id);
    // The names of people are the key where others have them, and not what only looks like an id by its header.
    const named = await draftOf({
      'contacts.csv': [
        'Contact,ID/Status,E-mail',
        ...times(24, (n) => `Ada Bell${n},${['Customer', 'Vendor'][n % 2]},${n % 6 ? `p${n}@a.example` : ''}`),
      ],
      'notes.csv': ['Who,Text', ...times(40, (n) => `Ada Bell${(n * 7) % 24},${text(n)}`)],
    });
    expect(named.lead['external_id']).toBe('Contact');
    // A number that others have comes before the id that none has, and before a name; the time of day is no id.
    const numbered = await draftOf({
      'people.csv': [
        'ID,Lead Number,Name,E-mail',
        ...times(24, (n) => `7f${n}-a${n}c,${21001 + n},Ada Bell ${n % 20},p${n}@a.example`),
      ],
      'notes.csv': [
        'Lead Number,Lead Name,Date,Hour,Text',
        ...times(
          40,
          (n) =>
            `${21001 + (n % 24)},Ada Bell ${(n % 24) % 20},2025-03-0${(n % 9) + 1},${8 + (n >> 2)}:${10 + n},${text(n)}`,
        ),
      ],
    });
    expect(numbered.lead['external_id']).toBe('Lead Number');
    expect(numbered.comment['lead_external_id']).toBe('Lead Number');
    expect(numbered.comment['external_id']).toBeUndefined();
    // A text of several lines is no key, nor a part of one.
    const long = await draftOf({
      'deals.csv': [
        'Type,Customer,E-mail,Amount,Stage,History',
        ...times(
          24,
          (n) =>
            `${n % 2 ? 'Roof' : 'Wall'},Ada Bell ${n},p${n}@a.example,${900 + n}.50,Open,"18/01/2024 - ${text(n)}\n20/01/2024 - ${text(n + 1)}"`,
        ),
      ],
    });
    expect(JSON.stringify(long.deal['external_id'])).not.toContain('History');
  });

  it('are those of the conversation, which is in a table of its own and becomes nothing', async () => {
    const draft = await draftOf({
      'contacts.csv': CONTACTS,
      'threads.csv': ['id,contact_id,channel', ...times(20, (n) => `${7001 + n},${n + 1001},mail`)],
      'messages.csv': ['id,thread_id,text', ...times(20, (n) => `${90001 + n},${7001 + ((n * 7) % 20)},${text(n)}`)],
    });
    expect(draft.entries).toContain('messages: comment/created');
    expect(draft.comment['lead_external_id']).toMatchObject({ lookup: { source: 'threads', with: 'thread_id' } });
  });

  it('stand in one column, which a type or the values tell apart', async () => {
    const ids = times(20, (n) => (n % 2 ? `D${n},deal` : `${n + 1001},contact`));
    const notes = ['Note ID,Parent,Kind,Text', ...times(20, (n) => `N${n},${ids[n]!},${text(n)}`)];
    const typed = await draftOf({ 'contacts.csv': CONTACTS, 'deals.csv': deals, 'notes.csv': notes });
    expect(typed.comment).toMatchObject({
      deal_external_id: { template: '{Kind} {Parent}', apply: [{ extract: '^deal (.+)$' }] },
      lead_external_id: { template: '{Kind} {Parent}', apply: [{ extract: '^contact (.+)$' }] },
      if_both: 'deal',
    });
    const links = ids.map((each, n) => {
      const [Parent, Kind] = each.split(',');
      return { id: `N${n}`, text: text(n), links: [{ Kind, Parent }] };
    });
    const listed = await draftOf({ 'contacts.csv': CONTACTS, 'deals.csv': deals, 'notes.json': links });
    expect(listed.comment['deal_external_id']).toMatchObject({ template: '{links[0].Kind} {links[0].Parent}' });
    const untyped = notes.map((row) => row.split(',').toSpliced(2, 1).join(','));
    const plain = await draftOf({ 'contacts.csv': CONTACTS, 'deals.csv': deals, 'notes.csv': untyped });
    expect(plain.comment).toMatchObject({
      deal_external_id: { lookup: { match: 'Deal ID', with: 'Parent', if_missing: 'skip' } },
      lead_external_id: { lookup: { match: 'Contact ID', with: 'Parent', if_missing: 'skip' } },
    });
    expect(plain.comment['when']).toMatchObject({ present: true });
  });

  it('are those of its type, not those of its author, and are named by an address with a name around it', async () => {
    const staff = ['ann@firm.example', 'bob@firm.example'];
    const exports = {
      'contacts.csv': [
        'Contact ID,Full name,Email,Owner Email',
        ...times(40, (n) => `C-${n},${person(n)},p${n}@acme.example,${staff[n % 2]!}`),
      ],
      'deals.csv': [`${DEALS},Contact ID`, ...times(30, (n) => deal(n, `C-${n}`))],
    };
    const note = (n: number): string =>
      `N-${n},The client called and asked for another offer ${n},2024-02-0${1 + (n % 9)}`;
    const typed = await draftOf({
      ...exports,
      'notes.csv': [
        'Note ID,Content,Created on,Ref Type,Ref Name,By Email',
        ...times(
          40,
          (n) =>
            `${note(n)},${['Contact', 'Deal', 'Quote'][n % 3]!},${'CD'[n % 3] ?? 'Q'}${n % 3 ? '' : '-'}${n % 30},${staff[n % 2]!}`,
        ),
      ],
    });
    expect(typed.comment['lead_external_id']).toMatchObject({ template: '{Ref Type} {Ref Name}' });
    expect(typed.comment['deal_external_id']).toMatchObject({ template: '{Ref Type} {Ref Name}' });
    const mails = times(40, (n) => `${note(n)},${n % 4 ? `p${n}@acme.example` : `${person(n)} <P${n}@acme.example>`}`);
    const mailed = await draftOf({ ...exports, 'notes.csv': ['Note ID,Body,Date,Contact', ...mails] });
    expect(mailed.findings).toMatch(/notes.csv.* 40 comments$/m);
  });

  it('are told apart by their type where all ids are small numbers', async () => {
    const numbered = (rows: readonly string[]): string[] =>
      rows.map((row, n) => (n === 0 ? row : row.replace(/^[^,]*/, String(n))));
    const notes = times(18, (n) => `${n + 1},${(n % 3) + 1},${n + 1},${n % 2 ? 'Deal' : 'Subscriber'},${text(n)}`);
    const draft = await draftOf({
      'contacts.csv': numbered(CONTACTS),
      'deals.csv': numbered(deals),
      'notes.csv': ['id,userid,relid,reltype,note', ...notes],
    });
    expect(draft.comment).toMatchObject({
      deal_external_id: { template: '{reltype} {relid}' },
      lead_external_id: { template: '{reltype} {relid}' },
      author_name: 'userid',
      content: 'note',
    });
  });

  it('are told apart by codes of types: whole ids decide, or a table of types; ids that only one table has need no type', async () => {
    const people = (from: number) => [
      'id,first_name,last_name,email',
      ...times(24, (n) => `${n + from},${person(n).replace(' ', ',')},p${n}@acme.example`),
    ];
    const offers = [
      'id,title,amount,status',
      ...times(20, (n) => `${n + 1},Roof ${n},${900 + n}.50,${n % 2 ? 'New' : 'Won'}`),
    ];
    // Only those of type 31 have ids that no offer has.
    const of = (from: number, types: readonly string[]) =>
      times(40, (n) => `${n + 1},${text(n)},${n % 2 ? (n % 20) + 1 : ((n * 7) % 24) + from},${types[n % 2]!}`);
    const drafted = (from: number, types: readonly string[], more: object = {}) =>
      draftOf({
        'crm_person.csv': people(from),
        'crm_offer.csv': offers,
        'crm_note.csv': ['id,text,object_id,object_type_id', ...of(from, types)],
        ...more,
      });
    const typed = (value: string) => ({
      template: '{object_type_id} {object_id}',
      apply: [{ extract: `^${value} (.+)$` }],
    });
    const table = { 'object_type.csv': ['id,app,model', '31,crm,person', '32,auth,user', '44,crm,offer'] };
    for (const [from, types, more] of [
      [1, ['31', '44'], {}],
      [101, ['31', '44'], {}],
      [1, ['31', '44'], table],
      [1, ['crm.person', 'crm.offer'], {}],
    ] as const) {
      const { comment, entries } = await drafted(from, types, more);
      const [lead, other] = types.map((type) => typed(type.replace('.', '\\.')));
      expect(comment).toMatchObject({ lead_external_id: lead, deal_external_id: other });
      expect(entries).not.toContain('object_type: comment/created');
    }
    const untyped = await drafted(101, ['', '']);
    expect(untyped.comment).toMatchObject({
      lead_external_id: {
        lookup: { source: 'crm_person', match: 'id', with: 'object_id', take: 'id', if_missing: 'skip' },
      },
      deal_external_id: {
        lookup: { source: 'crm_offer', match: 'id', with: 'object_id', take: 'id', if_missing: 'skip' },
      },
    });
    // What nothing tells apart is named for both.
    const open = await drafted(1, ['', '']);
    expect(open.text).toMatch(/# lead_external_id: .* # set this: .*`object_id` \(40 of 40 match `crm_person\.id`\)/);
    expect(open.text).toMatch(/# deal_external_id: .* # set this: .*`object_id` \(\d+ of 40 match `crm_offer\.id`\)/);
  });

  it('have an author by the type beside its id: one of the staff, or the person', async () => {
    const from = (n: number): string => (n % 3 ? `Contact,${1001 + n}` : `User,${(n % 2) + 1}`);
    const draft = await draftOf({
      'contacts.csv': CONTACTS,
      'users.csv': ['id,name,email', '1,Rita Moss,rita@firm.example', '2,Tom Reed,tom@firm.example'],
      'messages.csv': [
        'id,contact_id,content,sender_type,sender_id',
        ...times(18, (n) => `${n + 1},${1001 + n},${text(n)},${from(n)}`),
      ],
    });
    expect(draft.comment['author_name']).toMatchObject({
      from: [{ lookup: { source: 'contacts', take: 'Full name' } }, { lookup: { source: 'users', take: 'name' } }],
    });
    expect(draft.remark('author_name')).toMatch(/^check: by `sender_type`: 12 of 18/);
  });

  it('leave another person of the record, whom no header calls its author, to be confirmed as that', async () => {
    const of = (n: number): string => (n % 5 ? `civi_contact,${200 + n}` : `civi_membership,${n}`);
    const notes = times(30, (n) => `${n + 1},${of(n)},${204 + (n % 3)},The client asked for offer ${n} by mail`);
    const contacts = times(40, (n) => `${200 + n},${person(n)},p${n}@acme.example`);
    const draft = await draftOf({
      'civi_contact.csv': ['id,full_name,email', ...contacts],
      'civi_note.csv': ['id,entity_table,entity_id,contact_id,note', ...notes],
    });
    expect(draft.comment['lead_external_id']).toMatchObject({ template: '{entity_table} {entity_id}' });
    expect(draft.comment).not.toHaveProperty('author_name');
    expect(draft.remark('author_name')).toMatch(/^set this: `contact_id` may be the author: 30 of 30/);
  });

  it('differ from row to row, and no row is skipped: deals, people, the people of companies, and ids that no export has', async () => {
    const companies = { 'companies.csv': ['id,name', ...times(5, (n) => `${n + 1},Firm ${NAMES[n]}`)] };
    const contacts = [
      'id,name,email,company_id',
      ...times(40, (n) => `${n + 1},${person(n)},p${n}@acme.example,${(n % 5) + 1}`),
    ];
    const deals = [
      'id,contact_id,title,stage,amount',
      ...times(20, (n) => `${n + 1},${n + 3},Roof of house ${n},New,1${n}00.50`),
    ];
    const text = (n: number): string => `Called about the offer and the price of the roof ${n}`;
    const types = ['Deal', 'Contact', 'Company'];
    const typed = await draftOf({
      ...companies,
      'contacts.csv': contacts,
      'deals.csv': deals,
      'notes.csv': [
        'id,parent_type,parent_id,text',
        ...times(60, (n) => `${n + 1},${types[n % 3]!},${(n % 5) + 1},${text(n)}`),
      ],
    });
    expect(typed.findings).toMatch(/notes\.csv.*; 60 comments$/m);
    expect(typed.comment).toMatchObject({
      if_both: 'deal',
      lead_external_id: { from: [{}, { lookup: { source: 'contacts', match: 'company_id', if_many: 'first' } }] },
    });
    const alone = await draftOf({
      'contacts.csv': CONTACTS,
      'deals.csv': [DEALS, ...times(12, (n) => `D${n},Roof ${n},New,1${n}0.50`)],
      'log.csv': [
        'customer_ref,deal,when,what was said,who',
        ...times(60, (n) => `K${n % 7}x,${n % 9 ? '' : 'D3'},2025-03-0${(n % 9) + 1},${text(n)},${person(n % 3)}`),
      ],
    });
    expect(alone.findings).toMatch(/log\.csv.*; 60 comments /m);
    expect(alone.comment).toMatchObject({
      if_both: 'deal',
      deal_external_id: 'deal',
      lead_external_id: 'customer_ref',
    });
    expect(alone.remark('lead_external_id')).toBeDefined();
  });

  it('are those of the conversation that has the list of messages, not their authors; a type of somebody else is none', async () => {
    const people = [...Array(12).keys()].map((n) => ({
      id: `u${7000 + n}`,
      name: `Ada Bell ${n}`,
      email: `p${n}@x.test`,
    }));
    const message = (n: number) => ({
      id: `m${n}`,
      body: `We agreed on the next step ${n} by phone`,
      author: { id: n % 2 ? `u${7000 + n}` : `s${n}`, type: n % 2 ? 'user' : 'admin' },
    });
    const threads = people.map(({ id }, n) => ({
      id: 4000 + n,
      created_at: 1_700_000_000 + n,
      source: { body: `Please call me about offer ${n} today`, author: { id, type: n % 3 ? 'user' : 'lead' } },
      contacts: [{ type: 'contact', id }],
      messages: [message(2 * n), message(2 * n + 1)],
    }));
    const draft = await draftOf({ 'contacts.json': people, 'conversations.json': threads });
    expect(draft.entries).toEqual([
      'contacts: lead/created',
      'conversations: comment/created',
      'conversations: comment/created',
    ]);
    expect(draft.text).toContain('lead_external_id: { from: contacts.id, apply: [{ at: 0 }] }');
    expect(draft.text).toContain('lead_external_id: { from: $.contacts.id, apply: [{ at: 0 }] }');
    expect(draft.findings).toContain('24 elements: 24 comments');
  });

  it('are by the title of a deal that several have, with the firm of both; the author is who signed what has a text', async () => {
    const sum = (n: number): string => `D${n},Service ${2020 + (n % 4)},${n % 2 ? 'New' : 'Won'},1${n}00.50,Acme ${n}`;
    const log = (n: number): string =>
      `2024-03-${10 + n},${n % 2 ? 'Ann Bell' : 'Bob Cole'},${n % 3 ? `${n % 5 ? 'Ann Bell' : 'Bob Cole'},${text(n)}` : ','},Service ${2020 + (n % 4)},Acme ${n}`;
    const draft = await draftOf({
      'contacts.csv': CONTACTS,
      'deals.csv': ['Deal ID,Title,Stage,Amount,Company', ...times(16, sum)],
      'notes.csv': ['Date,Created by,Logged by,Note,Deal,Company', ...times(16, log)],
    });
    const columns = (...list: readonly string[]) => ({ list, apply: [{ join: ' ' }] });
    expect(draft.comment).toMatchObject({
      author_name: 'Logged by',
      deal_external_id: { lookup: { match: columns('Title', 'Company'), with: columns('Deal', 'Company') } },
    });
    expect(draft.remark('deal_external_id')).toMatch(
      /^check: 16 of 16 match `deals\.Title`, .*, together with `Company`/,
    );
  });

  it('are the record that has the list of comments', async () => {
    const records = Array.from({ length: 9 }, (_, n) => ({
      id: `p${n}`,
      name: person(n),
      email: `p${n}@acme.example`,
      notes: [{ id: `n${n}`, body: text(n), createdAt: '2024-01-01T10:00:00Z', author: 'Ada Lovelace' }],
    }));
    const draft = await draftOf({ 'people.json': records });
    expect(draft.comment).toMatchObject({ each: 'notes', lead_external_id: '$.id', content: 'body' });
    expect(draft.lead).not.toHaveProperty('custom_params');
  });
});

describe('other exports', () => {
  const people = [
    'ContactID,CompanyID,Name,Email',
    ...times(20, (n) => `C${n},K${n % 5},${person(n)},p${n}@acme.example`),
  ];
  const deals = [
    'DealID,ContactID,Title,Amount,StageID,OwnerID',
    ...times(20, (n) => `D${n},C${n},Roof of house ${n},1${n}00.50,S${n % 3},U${n % 2}`),
  ];

  it('give names to the ids of companies, stages and owners', async () => {
    const draft = await draftOf({
      'contacts.csv': people,
      'companies.csv': ['CompanyID,Name,City', ...times(5, (n) => `K${n},Company ${n},Rome`)],
      'deals.csv': deals,
      'pipeline_stages.csv': ['StageID,StageName,SortOrder', 'S0,New,1', 'S1,Offer,2', 'S2,Won,3'],
      'users.csv': ['UserID,Name,Email', 'U0,Ann Bell,ann@bell.example', 'U1,Bob Cole,bob@cole.example'],
    });
    expect(draft.entries).toEqual(['contacts: lead/created', 'deals: deal/created']);
    expect(draft.lead['custom_params']).toMatchObject({
      company: { lookup: { source: 'companies', match: 'CompanyID', with: 'CompanyID', take: 'Name' } },
    });
    expect(draft.deal).toMatchObject({
      stage_name: { lookup: { source: 'pipeline_stages', with: 'StageID', take: 'StageName' } },
      owner_name: { lookup: { source: 'users', with: 'OwnerID', take: 'Email' } },
    });
    expect(draft.spec.references).toEqual({ file: 'references.csv' });
  });

  it('give names to ids that other records have beside a name; a way by links counts what it finds', async () => {
    const user = (n: number) => ({ id: `7f0${n % 2}-aa41`, name: ['Ann Bell', 'Bob Cole'][n % 2] });
    const draft = await draftOf({
      'contacts.json': times(12, (n) => `${n}`).map((n, at) => ({
        id: `c${n}-5d`,
        name: person(at),
        email: `p${n}@a.example`,
        created_by: user(at),
      })),
      'deals.json': times(12, (n) => `${n}`).map((n, at) => ({
        ...{ id: `d${n}-9e`, title: `Roof of house ${n}`, stage: at % 2 ? 'Open' : 'Won', amount: 900.5 + at },
        ...{ contact_id: `c${n}-5d`, owner_id: user(at + 1).id },
      })),
      'notes.json': times(12, (n) => `${n}`).map((n, at) => ({
        id: `n${n}-77`,
        body: text(at),
        date: '2024-03-01T10:00:00Z',
      })),
      'links.json': times(12, (n) => `${n}`).map((n, at) => ({
        id: `l${n}-31`,
        note_id: `n${n}-77`,
        contact_id: at < 9 ? `c${n}-5d` : null,
      })),
    });
    expect(draft.deal['owner_name']).toMatchObject({
      lookup: { source: 'contacts', match: 'created_by.id', with: 'owner_id', take: 'created_by.name' },
    });
    expect(draft.remark('owner_name')).toMatch(/^12 of 12 have a name in contacts: /);
    expect(draft.text).toContain('check: 9 of 12 are found through links');
  });

  it('give the e-mail addresses that stand in a table of their own, in two steps', async () => {
    const draft = await draftOf({
      'contacts.csv': [
        'id,first_name,last_name,phone',
        ...times(20, (n) => `C${n},Ada,${NAMES[n % 10]!},+44 20 7946 00${n + 10}`),
      ],
      'email_rel.csv': ['id,address_id,bean_id', ...times(20, (n) => `R${n},A${n},C${n}`)],
      'email_addresses.csv': ['id,email_address', ...times(20, (n) => `A${n},p${n}@acme.example`)],
    });
    expect(draft.entries).toEqual(['contacts: lead/created']);
    const values = JSON.stringify(draft.lead['email']);
    expect(values).toContain('"source":"email_rel","match":"bean_id","with":"id"');
    expect(values).toContain('"source":"email_addresses","match":"id","with":"address_id","take":"email_address"');
  });

  it('become no events where the service has no place for them, and are named with a reason', async () => {
    const draft = await draftOf({
      'deals.csv': deals,
      'deal_products.csv': ['deal_id,product,unit_price', ...times(20, (n) => `D${n},P${n},12.50`)],
      'payments.csv': ['payment_id,deal_id,amount,status', ...times(20, (n) => `Z${n},D${n},100,paid`)],
      'users.csv': ['UserID,Name,Email', 'X1,Ann Bell,ann@bell.example'],
      'crm.json': { invoices: [{ id: 1, total: 10.5, status: 'paid' }], colours: ['red'] },
    });
    expect(draft.entries).toEqual(['deals: deal/created']);
    for (const name of ['payments.csv', 'deal_products.csv', 'users.csv', 'crm.json#invoices'])
      expect(draft.text).toMatch(new RegExp(`# (?:check: )?.*${name} is not used(?:, because|:) `));
  });
});

it('numbers are those of the table that they are called after, or that is left, and codes have the names of any short table', async () => {
  const some = (n: number, of: number): number => ((n * 7) % of) + 1;
  const draft = await draftOf({
    'clients.csv': ['id_client,Name,Email', ...times(40, (n) => `${n + 1},${person(n)},p${n}@acme.example`)],
    'houses.csv': ['id_house,Street', ...times(30, (n) => `${n + 1},Oak Lane ${n}`)],
    'codes.csv': ['nr,text', ...['Draft', 'Sent', 'Signed', 'Lost', 'Void'].map((text, n) => `${n},${text}`)],
    'sales.csv': [
      'id_sale,id_house,id_buyer,status,amount,rating,ref',
      ...times(
        36,
        (n) => `${n + 1},${some(n, 30)},${some(n + 3, 37)},${n % 5},1${n}00.50,${(n % 5) + 1},SL-24${n + 100}`,
      ),
    ],
  });
  expect(draft.entries).toEqual(['clients: lead/created', 'sales: deal/created']);
  expect(draft.deal).toMatchObject({
    lead_external_id: 'id_buyer',
    title: 'ref',
    stage_name: { lookup: { source: 'codes', match: 'nr', with: 'status', take: 'text' } },
  });
  for (const key of ['title', 'stage_name']) expect(draft.remark(key)).toMatch(/^check: /);
});

it('of two tables of people to which all deals refer, one may be the payers; a job is what a placement is about', async () => {
  const draft = await draftOf({
    'candidates.csv': ['ID,Full name,Email', ...times(30, (n) => `${n + 2000},${person(n)},p${n}@acme.example`)],
    'contacts.csv': [
      'ID,Company,Full name,Email',
      ...times(30, (n) => `${n + 7000},Bell ${n},${person(n + 8)},q${n}@b.example`),
    ],
    'placements.csv': [
      'ID,Candidate ID,Candidate,Contact ID,Job Title,Status,Fee,Owner',
      ...times(30, (n) => {
        const job = ['Site Manager', 'Buyer', 'Quantity Surveyor', 'Nurse'][n % 4]!;
        return `${n + 1},${n + 2000},${person(n)},${7029 - n},${job},${n % 3 ? 'Approved' : 'Done'},9${n}0.50,Dana Wills`;
      }),
    ],
  });
  expect(draft.deal).toMatchObject({ lead_external_id: 'Candidate ID', title: 'Job Title' });
  expect(draft.remark('lead_external_id')).toMatch(/^check: .*`Contact ID`/);
});

it('who wrote a text is found by the names of those who have the deals; an outcome is no text', async () => {
  const team = (n: number): string => person(30 + (n % 3));
  const draft = await draftOf({
    'contacts.csv': CONTACTS,
    'deals.csv': [`${DEALS},Contact ID,Vendeur`, ...times(30, (n) => deal(n, `${n + 1001},${team(n)}`))],
    'calls.csv': [
      'Contact ID,Call Date,Call Notes,Outcome,Created Name',
      ...times(
        30,
        (n) =>
          `${n + 1001},2024-03-0${(n % 9) + 1},${n % 5 ? `Wants a new offer in May ${n}` : ''},No Answer,${team(n)}`,
      ),
    ],
  });
  expect(draft.comment).toMatchObject({ author_name: 'Created Name', content: 'Call Notes' });
});

it('a title that several deals have is joined together with the person whom both records name', async () => {
  const titled = (n: number): string => `Roof of house ${n % 20}`;
  const draft = await draftOf({
    'contacts.csv': CONTACTS,
    'deals.csv': [
      'Deal ID,Title,Stage,Amount,Contact',
      ...times(30, (n) => `D${n},${titled(n)},New,1${n}00.50,${person(n)}`),
    ],
    'notes.csv': [
      'Date,Text,Title,Contact',
      ...times(
        30,
        (n) => `2024-03-1${n % 9},Asked for the price once more ${n},${n % 5 ? titled(n) : ''},${person(n)}`,
      ),
    ],
  });
  expect(draft.comment['deal_external_id']).toMatchObject({
    lookup: { match: { list: ['Title', 'Contact'] }, with: { list: ['Title', 'Contact'] }, if_missing: 'skip' },
  });
  expect(draft.remark('deal_external_id')).not.toContain('the first');
});
