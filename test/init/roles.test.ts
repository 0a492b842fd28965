import { describe, expect, it } from 'vitest';
import { bestSum } from '../../src/commands/init/matrix/best-sum.ts';
import { draftOf, times } from './mapping.ts';

/** Headers of the same deals, in the order: id, title, stage, amount, owner, created, modified. */
const LANGUAGES: readonly (readonly [language: string, headers: string])[] = [
  ['English', 'Deal ID;Deal name;Stage;Amount;Owner;Created at;Last modified'],
  ['German', 'Kennung;Bezeichnung;Phase;Auftragswert;Zuständiger Mitarbeiter;Erstellt am;Geändert am'],
  ['French', 'Identifiant;Titre;Étape;Montant;Propriétaire;Date de création;Dernière modification'],
  ['Spanish', 'Identificador;Título;Etapa;Importe;Propietario;Fecha de creación;Última modificación'],
  ['Portuguese', 'ID;Título;Fase;Valor;Responsável;Criado em;Atualizado em'],
  ['Italian', 'ID;Oggetto;Fase;Importo;Responsabile;Data creazione;Ultima modifica'],
  ['Dutch', 'ID;Titel;Fase;Bedrag;Verantwoordelijke;Aangemaakt op;Gewijzigd op'],
  ['Polish', 'ID;Nazwa;Etap;Kwota;Opiekun;Data utworzenia;Data modyfikacji'],
  ['Russian', 'ID;Название;Стадия;Сумма;Ответственный;Дата создания;Дата изменения'],
  ['Swedish', 'ID;Titel;Fas;Belopp;Ansvarig;Skapad;Ändrad'],
  ['Greek', 'Αναγνωριστικό;Τίτλος;Στάδιο;Ποσό;Υπεύθυνος;Ημερομηνία δημιουργίας;Τροποποίηση'],
  ['Czech', 'ID;Název;Fáze;Částka;Vlastník;Vytvořeno;Změněno'],
  ['Hungarian', 'Azonosító;Megnevezés;Szakasz;Összeg;Felelős;Létrehozva;Módosítva'],
  ['Danish', 'ID;Titel;Fase;Beløb;Ansvarlig;Oprettet;Ændret'],
  ['Turkish', 'ID;Başlık;Aşama;Tutar;Sorumlu;Oluşturma tarihi;Güncelleme tarihi'],
  ['Japanese', '番号;案件名;ステージ;金額;担当者;作成日;更新日'],
  ['Korean', '번호;제목;단계;금액;담당자;등록일;수정일'],
  ['Chinese', '编号;名称;阶段;金额;负责人;创建时间;修改时间'],
  ['an API', 'id;dealname;dealstage;opportunity;assignedUserName;createdate;modifiedAt'],
];

const STAGES = ['New', 'Offer', 'Won'];
const deal = (n: number): string =>
  `D-${n + 101};Roof of house ${n};${STAGES[n % 3]!};${n + 3}250.50;${['Ann Bell', 'Bob Cole'][n % 2]!};2024-01-${n + 10};2024-02-${n + 10}`;

describe('the roles of columns', () => {
  it.each(LANGUAGES)('are found by their words in %s', async (_language, headers) => {
    const [id, title, stage, amount, owner, created] = headers.split(';');
    const draft = await draftOf({ 'export.csv': [headers, ...times(12, deal)] });
    expect(draft.entries).toEqual(['export: deal/created']);
    expect(draft.deal).toMatchObject({ external_id: id, title, stage_name: stage, owner_name: owner });
    expect(JSON.stringify(draft.deal['amount'])).toContain(amount);
    expect(draft.deal['occurred_at']).toMatchObject({ from: created });
    expect(draft.remark('amount')).toMatch(/^check: 12 numbers/);
  });

  it('are found by content alone, which is said; a weighted amount is not the amount', async () => {
    const rows = times(12, (n) => `${deal(n)};${(n + 3) * 625.125};50`);
    const draft = await draftOf({ 'export.csv': ['a;b;Stage;c;d;e;f;g;h', ...rows] });
    expect(draft.deal['external_id']).toBe('a');
    expect(draft.text).toMatch(/# check: these become deals, .* no header says so\n  - type: deal/);
    expect(JSON.stringify(draft.deal['amount'])).toContain('"c"');
    expect(draft.remark('amount')).toContain('runner-up: `g`');
  });

  it('are those of the elements of a list of names and values, at one place or beside their names', async () => {
    const people = (swap: boolean) =>
      Array.from({ length: 12 }, (_, n) => {
        const fields = [
          { name: 'full_name', value: ['Ada Bell', 'Bob Costa', 'Cleo Dane'][n % 3] },
          { name: 'email', value: `p${n}@example.test` },
        ];
        return { id: 4000 + n, properties: swap && n % 2 ? fields.reverse() : fields };
      });
    const named = await draftOf({ 'contacts.json': people(false) });
    expect(named.lead).toMatchObject({ full_name: 'properties[0].value', email: { from: 'properties[1].value' } });
    // At one place, but other names are there, too.
    const some = people(false).map((each, n) => (n % 3 ? each : { ...each, properties: each.properties.slice(1) }));
    expect(JSON.stringify((await draftOf({ 'contacts.json': some })).lead['email'])).toContain('^email ');
    const { lead } = await draftOf({ 'contacts.json': people(true) });
    const nameAt = (place: number) => ({
      template: `{properties[${place}].name} {properties[${place}].value}`,
      apply: [{ extract: '^full_name ([\\s\\S]+)$' }],
    });
    expect(lead['full_name']).toEqual({ from: [nameAt(0), nameAt(1)] });
    expect(JSON.stringify(lead['email'])).toContain('^email ');
  });

  it('are those of a list of answers, whose names are one level deeper and whose values are called after their types', async () => {
    const answers = (n: number) => [
      ...(n % 3 ? [{ field: { ref: 'company' }, type: 'text', text: `Firm ${n}` }] : []),
      {
        field: { ref: 'full_name' },
        type: 'text',
        text: `${['Ada', 'Bob', 'Cleo'][n % 3]!} ${['Bell', 'Costa'][n % 2]!}`,
      },
      { field: { ref: 'mail' }, type: 'email', email: `p${n}@example.test` },
      { field: { ref: 'plan' }, type: 'choice', choice: { id: `c${n % 2}`, label: ['Small', 'Large'][n % 2] } },
    ];
    const items = Array.from({ length: 12 }, (_, n) => ({
      token: `T${n * 7}x`,
      sent: '2024-03-04',
      answers: answers(n),
    }));
    const { entries, lead, findings } = await draftOf({ 'responses.json': items });
    expect(entries).toEqual(['responses: lead/created']);
    expect(lead['email']).toEqual({ from: 'answers.email', apply: [{ at: 0 }, 'lowercase'] });
    expect(lead['custom_params']).toMatchObject({
      company: { from: [{ template: '{answers[0].field.ref} {answers[0].text}' }] },
      plan: { from: 'answers.choice.label', apply: [{ at: 0 }] },
    });
    expect(JSON.stringify(lead['full_name'])).toContain('{answers[0].field.ref} {answers[0].text}');
    expect(findings).toContain('`answers`, 44 elements: values with their names (`field.ref`), fields of the record');
  });

  it.each([
    ['without zeros', (n: number) => `2024/3/${n + 1}`, { date: 'yyyy/M/d' }, { formats: 'yyyy/M/d', as: 'date' }],
    [
      'at midnight',
      (n: number) => `2024-03-0${n % 9}T00:00:00`.replace('-00T', '-10T'),
      { date: 'iso' },
      { formats: 'iso', as: 'date' },
    ],
    [
      'at midnight UTC',
      (n: number) => `2024-03-${n + 10}T00:00:00Z`,
      { date: 'iso' },
      { formats: 'iso', timezone: 'UTC', as: 'date' },
    ],
    ['without marks', (n: number) => `202403${n + 10}`, { date: 'yyyyMMdd' }, { formats: 'yyyyMMdd', as: 'date' }],
    ['that fit no format', (n: number) => (n % 3 ? `2024-03-${n + 10}` : `2024-${n + 20}-03`), undefined, undefined],
  ])('are those of dates %s; of other dates, the day counts', async (_what, date, created, due) => {
    const deals = times(12, (n) => `${101 + n};Roof ${n};${STAGES[n % 3]!};${n + 3}250.50;${date(n)};${date(n)}`);
    const draft = await draftOf({ 'deals.csv': ['Id;Title;Stage;Amount;Created;Guarantee', ...deals] });
    expect(draft.deal['occurred_at']).toEqual(created && { from: 'Created', apply: [created] });
    const carried = due ? { from: 'Guarantee', apply: [{ date: due }] } : 'Guarantee';
    expect(draft.deal['custom_fields']).toEqual({ guarantee: carried });
    if (!created) expect(draft.remark('occurred_at')).toMatch(/^set this: 4 of 12 values match no format/);
  });

  it('are the numbers of days in a spreadsheet under the name of a time; under another name, they are marked', async () => {
    const days = times(
      12,
      (n) => `${101 + n},p${n}@x.example,${45_123 + n}${n % 2 ? '.5' : ''},${25_000 + n},${41_000 + n}`,
    );
    const draft = await draftOf({ 'people.csv': ['Id,Email,Created,Birthday,Zzz', ...days] });
    expect(draft.lead['occurred_at']).toEqual({ from: 'Created', apply: [{ date: 'excel' }] });
    expect(draft.remark('occurred_at')).toContain('45123 is read as 16 July 2023');
    const birthday = { from: 'Birthday', apply: [{ date: { formats: 'excel', as: 'date' } }] };
    expect(draft.lead['custom_params']).toEqual({ birthday, zzz: 'Zzz' });
    expect(draft.remark('zzz')).toMatch(/^check: .*41000 would be 1 April 2012.*formats: excel/);
  });

  it('tell amounts by the signs of Asia, and multiply those in ten thousands', async () => {
    const amounts = ['"350,000円"', '"\\98,000"', '120万円'];
    const deals = times(12, (n) => `D${101 + n},案件 ${n},${['見込み', '受注'][n % 2]!},${amounts[n % 3]!}`);
    const draft = await draftOf({ '商談.csv': ['商談番号,案件名,進捗,見積金額', ...deals] });
    expect(draft.deal).toMatchObject({ stage_name: '進捗', amount: { from: [{}, { from: '見積金額' }] } });
    expect(draft.remark('amount')).toMatch(/^check: 4 of 12 have a unit such as `万`: `120万円` becomes 1200000/);
    expect(draft.findings).toMatch(/12 deals$/m);
  });

  it.each([
    ['Amount k€', '#.5', 1000, 'EUR', '1.5 becomes 1500'],
    ['Wert (TEUR)', '"#,5"', 1000, 'EUR', '1,5 becomes 1500'],
    ['Kwota (mln zł)', '#.25', 1_000_000, 'PLN', '1.25 becomes 1250000'],
    ['Amount', '# k€', 1000, 'EUR', '`1 k€` becomes 1000'],
  ])('tell an amount in thousands or millions: %s, %s', async (header, amount, factor, currency, becomes) => {
    const deals = times(12, (n) => `${101 + n},Roof ${n},${STAGES[n % 3]!},${amount.replace('#', `${n + 1}`)}`);
    const draft = await draftOf({ 'deals.csv': [`Id,Title,Stage,${header}`, ...deals] });
    expect(JSON.stringify(draft.deal['amount'])).toContain(`"multiply":${factor}`);
    expect(draft.deal['currency']).toEqual({ value: currency });
    expect(draft.remark('amount')).toMatch(/^check: /);
    expect(draft.remark('amount')).toContain(becomes);
  });

  it.each([
    ['Amount (cents)', '', /^check: divided by 100, because its name says so/],
    ['Amount', 'minor', /^check: divided by 100, because `Unit` is `minor`/],
    ['Amount', 'minor,major', /^set this: `Unit` is not `minor` in 6/],
  ])('tell an amount in cents: %s, unit %s', async (amount, units, remark) => {
    const unit = units.split(',');
    const deals = times(
      12,
      (n) => `${101 + n};Roof ${n};${STAGES[n % 3]!};${n + 3}25050;EUR;${unit[n % unit.length]!}`,
    );
    const draft = await draftOf({ 'deals.csv': [`Id;Title;Stage;${amount};Currency;Unit`, ...deals] });
    expect(draft.remark('amount')).toMatch(remark);
    const divided = { from: amount, apply: [{ number: { decimal: '.', divide: 100 } }] };
    expect(draft.deal['amount']).toEqual(unit.length === 1 ? divided : amount);
    expect(draft.text).not.toMatch(/stage_pipeline.*`Unit`/);
  });

  it('are those of addresses and numbers with labels or names around them; a second one stays in a custom field', async () => {
    const contact = (n: number): string =>
      n % 2
        ? `C${n},Ada Bell,a${n}@x.example (Work); h${n}@home.example (Home),Büro: +49 30 12345${n + 10}; mobil: +49 171 12345${n + 10}`
        : `C${n},Ada Bell,Ada Bell <a${n}@x.example>,+49 30 12345${n + 10} (Büro)`;
    const draft = await draftOf({
      'contacts.csv': ['Id,Name,Post,Zahlen', ...times(12, contact)],
      'deals.csv': [
        'No,Subject,Amount,Stage,Client mail',
        ...times(12, (n) => `D${n},Roof ${n},${n + 9}00.50,${n % 3 ? 'New' : 'Won'},A${n}@x.example`),
      ],
    });
    expect(draft.lead['email']).toMatchObject({
      from: 'Post',
      apply: [{ extract: expect.any(String) as string }, 'lowercase'],
    });
    expect(draft.lead['phone_number']).toMatchObject({
      from: 'Zahlen',
      apply: [{ extract: expect.any(String) as string }, 'phone'],
    });
    expect(draft.lead['custom_params']).toEqual({ post: 'Post', zahlen: 'Zahlen' });
    expect(draft.findings).toMatch(/12 leads.*\n.*12 deals$/m);
    expect(draft.deal['lead_external_id']).toMatchObject({ lookup: { with: { from: 'Client mail' } } });
  });

  it('are looked for in long texts without backtracking', async () => {
    const text = (n: number): string =>
      `${'Please call back soon about it '.repeat(4)}${n} 030 1234567 a${n}@x.example!`;
    const draft = await draftOf({
      'contacts.csv': ['Id,Name,Remarks', ...times(40, (n) => `C${n},Ada Bell,${text(n)}`)],
    });
    expect(draft.lead['email']).toBeUndefined();
  });

  it('of an amount such as `327 000 kr` is no phone number', async () => {
    const { deal } = await draftOf({
      'affarer.csv': [
        'Projekt,Kund,E-post,Belopp,Steg',
        ...times(12, (n) => `Carport ${n},Ada Bell,a${n}@x.example,${n + 3}27 000 kr,${n % 3 ? 'Ny' : 'Vunnen'}`),
      ],
    });
    expect(deal['amount']).toMatchObject({ from: 'Belopp' });
    const { text } = await draftOf({
      'clients.csv': ['Id,Nom,Tel', ...times(12, (n) => `${n},Ada B${'abcdefghijkl'[n]}ll,06 12 34 56 ${n + 10}`)],
      'devis.csv': ['Id,Numero,Objet', ...times(12, (n) => `${n},D2024-00${n + 10},Toit ${n}`)],
    });
    expect(text).toMatch(/region: .*\b12 phone numbers/);
  });

  it('are not those of the one address that all records share', async () => {
    const people = times(12, (n) => `${4000 + n},rita@example.test,${['Ada Bell', 'Bob Costa', 'Cleo Dane'][n % 3]}`);
    const { text } = await draftOf({ 'contacts.csv': ['Id,Owner mail,Name', ...people] });
    expect(text).toMatch(/^ +# email: … # no column looks like/m);
    expect(text).toMatch(/^ +owner_mail: Owner mail$/m);
  });

  it('are those of the values in wrappers, not of what is said about them', async () => {
    const of = (value: string) => ({ value, timestamp: 1_690_000_000_000, source: 'CRM', versions: [{ value }] });
    const people = Array.from({ length: 9 }, (_, n) => ({
      vid: 900 + 3 * n,
      properties: {
        firstname: of(['Ada', 'Bob', 'Cy'][n % 3]!),
        lastname: of('Bell'.slice(0, 2 + (n % 3))),
        email: of(`p${n}@example.test`),
        city: of('Bath'),
        // As another API wraps them.
        born: { id: 'x%7D', type: 'year', year: 1960 + n },
      },
    }));
    const { lead } = await draftOf({ 'contacts.json': people });
    expect(JSON.stringify(lead)).not.toMatch(/versions|timestamp|born\.(?:id|type)/);
    expect(lead).toMatchObject({
      external_id: 'vid',
      full_name: { list: ['properties.firstname.value', 'properties.lastname.value'] },
      email: { from: 'properties.email.value' },
      custom_params: { properties_city: 'properties.city.value' },
    });
  });

  it('that are left open are commented out, with the candidates in their order', async () => {
    const draft = await draftOf({
      'deals.csv': ['Id,Title,Stage,Size of team', ...times(12, (n) => `D${n},Roof of house ${n},New,${n % 4}`)],
    });
    expect(draft.deal).not.toHaveProperty('amount');
    expect(draft.text).toMatch(/^ +# owner_name: … # no column looks like the owner$/m);
    expect(draft.text).toMatch(/^ +# currency: .* # set this: /m);
  });

  it('of a stage may be ids of a few values, which no header names', async () => {
    const deals = times(20, (n) => `${n + 1},Roof ${n},${900 + n * 7}.50,${(n % 4) + 1},${n + 100}`);
    const draft = await draftOf({ 'deals.csv': ['Deal Id,Title,Amount,Id Xyz,Id Abc', ...deals] });
    expect(draft.remark('stage_name')).toMatch(/^set this: .*`?Id Xyz`? \(20 values, 4 distinct\)/);
    expect(draft.remark('stage_name')).not.toContain('Id Abc');
  });

  it('show the column that comes near', async () => {
    const rows = times(
      12,
      (n) => `${n + 1},Roof ${n},New,Lead,${n}000,${n % 3 ? 'Ann,Bob' : 'Al,Cy'},2024-01-${n + 10},2024-01-${n + 11}`,
    );
    const draft = await draftOf({
      'deals.csv': ['Id,Title,Stage,Previous stage,Value,Owner,Second owner,Created at,Created in CRM at', ...rows],
    });
    expect(draft.deal).toMatchObject({ stage_name: 'Stage', owner_name: 'Owner' });
    expect(draft.remark('owner_name')).toContain('runner-up: `Second owner`');
    expect(draft.remark('occurred_at')).toContain('runner-up: `Created in CRM at`');
  });

  it('are never those of a constant, and first and last name are of one address', async () => {
    const people = times(
      12,
      (n) =>
        `${4000 + n};Shop;${n % 2 ? `Bell ${n}` : ''};${['Ada', 'Bob', 'Cy'][n % 3]};${['Bell', 'Costa'][n % 2]};p${n}@x.test`,
    );
    const head = 'Id;Full name;Shipping last name;Billing first name;Billing last name;Email';
    const { lead } = await draftOf({ 'customers.csv': [head, ...people] });
    expect(lead['full_name']).toMatchObject({ list: ['Billing first name', 'Billing last name'] });
  });

  it('of a name are no results that a few people have, nor a firm where a person is named', async () => {
    const last = (n: number): string => (n % 3 ? '' : ['Call back in spring', 'Left message'][n % 2]!);
    const results = await draftOf({
      'contacts.csv': [
        'Contact,Company,E-mail,Last Results',
        ...times(40, (n) => `Ada Bell${String.fromCharCode(97 + (n % 26))},Acme ${n},p${n}@acme.example,${last(n)}`),
      ],
    });
    expect(results.lead['full_name']).toBe('Contact');
    const firms = await draftOf({
      'clienti.csv': [
        'Codice;Ragione sociale;Referente;E-mail',
        ...times(30, (n) => `C${n};Orobica ${n} SpA;${n % 4 ? 'Marco Quaranta' : ''};info@p${n}.example`),
      ],
    });
    expect(firms.lead['full_name']).toEqual({ from: ['Referente', 'Ragione sociale'] });
  });

  it('of a name may be a part of what a card is called: that of the address', async () => {
    const letter = (n: number): string => String.fromCharCode(97 + n);
    const rows = times(20, (n) => `C${n},Loft ${letter(n)} - Ada Bell${letter(n)},ada.bell${letter(n)}@acme.example`);
    const draft = await draftOf({ 'cards.csv': ['Id,Name,E-mail', ...rows] });
    expect(draft.lead['full_name']).toEqual({ from: 'Name', apply: [{ extract: '.* - (.+)$' }] });
    expect(draft.remark('full_name')).toMatch(/^check: .*20 of 20/);
  });

  it('are those of names of which the address has a word, before the firm; a constant is no name beside others', async () => {
    const firsts = ['Ada', 'Bob', 'Cleo'];
    const row = (n: number): string =>
      `${['Roth Tools', 'Nord Print'][n % 2]} ${n % 5},${firsts[n % 3]} Bell,${firsts[n % 3]!.toLowerCase()}.bell${n}@firm.example`;
    const firm = await draftOf({ 'list.csv': ['Client,Contact,E-mail', ...times(12, row)] });
    expect(firm.lead['full_name']).toBe('Contact');
    const field = (label: string, value: string) => ({ id: 1, label, alias: label, value });
    const { lead } = await draftOf({
      'contacts.json': times(12, (n) => ({
        id: 400 + n,
        firstname: field('First name', firsts[n % 3]!),
        lastname: field('Last name', `Bell${'abcdef'[n % 6]!}`),
        email: `p${n}@x.example`,
      })),
    });
    expect(lead['full_name']).toMatchObject({ list: ['firstname.value', 'lastname.value'] });
  });

  it('are taken, to be checked, where one column is left that may have them', async () => {
    const draft = await draftOf({
      'contacts.csv': [
        'Id,Name,Email,Aufnahme',
        ...times(12, (n) => `C${n},Ada Bell ${'abcdefghijkl'[n]},p${n}@a.example,0${(n % 9) + 1}.03.2024`),
      ],
      'deals.csv': [
        'Deal Id,Contact Id,Tratamento,Origem,Valor,Estado',
        ...times(
          12,
          (n) => `D${n},C${n},Roof of house ${n % 7},${['Web', 'Fair'][n % 2]},${n + 3}250.50,${STAGES[n % 3]!}`,
        ),
      ],
      'notes.csv': [
        'Deal Id,Texto,Registou',
        ...times(12, (n) => `D${n},They asked for offer number ${n},${['Ann Bell', 'Bob Cole'][n % 2]!}`),
      ],
    });
    expect(draft.deal).toMatchObject({ title: 'Tratamento' });
    expect(draft.comment).toMatchObject({ author_name: 'Registou' });
    expect(draft.lead['occurred_at']).toMatchObject({ from: 'Aufnahme' });
    for (const key of ['title', 'author_name', 'occurred_at'])
      expect(draft.remark(key)).toMatch(/^check: guessed from its values, not from its header; 12 /);
  });

  it('of a person and a deal call the deal after what it is about, before the company', async () => {
    const row = (n: number): string =>
      `${n + 1};${['Ada', 'Bob', 'Cleo', 'Dan'][n % 4]} ${['Bell', 'Costa'][(n >> 2) % 2]};Nord ${n % 5} Ltd;p${n % 8}@a.example;${['Umzug', 'Transport'][n % 2]} ${['Aachen', 'Berlin', 'Celle'][n % 3]};${n + 3}50,00 €;${STAGES[n % 3]!};${['Kern', 'Lang'][n % 2]}`;
    const { deal } = await draftOf({
      'buch.csv': ['Nr.;Name;Firma;E-Mail;Leistung;Preis;Status;Bearbeiter', ...times(24, row)],
    });
    expect(deal['title']).toBe('Leistung');
  });

  it('of an id and an owner are no categories and no houses: the name and the day of the person are known', async () => {
    const row = (n: number): string =>
      `${(n % 9) + 1}.0${(n % 7) + 1}.2024;Tom & ${['Ada', 'Ida', 'Ole'][n % 3]!} ${'ABCDEFGHIJKLMNOPQRSTUVWX'[n % 24]!}rinkhoff;p${n}@a.example;${['Gut Lindenhof', 'Scheune West', 'Terrasse', 'Schloss Eick'][n % 4]!};${n + 3}50,00 €;${STAGES[n % 3]!};${['Google', 'Messe', 'Freunde', 'Instagram'][(n >> 2) % 4]!}`;
    const { deal, text } = await draftOf({
      'x.csv': ['Anfrage vom;Brautpaar;E-Mail;Saal;Preis;Status;wie gefunden', ...times(36, row)],
    });
    expect(deal).toMatchObject({
      title: 'Brautpaar',
      external_id: { list: ['Brautpaar', 'Anfrage vom'], apply: [{ join: ' / ' }] },
    });
    expect(deal['owner_name']).toBeUndefined();
    expect(text).toMatch(/# owner_name: Saal # set this/);
  });

  it('of owner and author are those of the same few names in several tables, under headers that say nothing else', async () => {
    const team = ['Loli', 'Pepe', 'Ana'];
    const draft = await draftOf({
      'bodas.csv': [
        'Ref;Pareja;Fecha boda;1a visita;Presupuesto;Estado;Atiende',
        ...times(
          20,
          (n) =>
            `B${n};Roof of house ${n};2025-0${(n % 9) + 1}-10;2024-0${(n % 9) + 1}-01;${n + 3}250,50 €;${STAGES[n % 3]!};${team[n % 3]!}`,
        ),
      ],
      'charlas.csv': [
        'Ref;Fecha;Quién;Texto',
        ...times(30, (n) => `B${n % 20};2024-03-${(n % 20) + 10};${team[n % 3]!};They asked for offer number ${n}`),
      ],
    });
    expect(draft.deal).toMatchObject({ owner_name: 'Atiende', occurred_at: { from: '1a visita' } });
    expect(draft.comment).toMatchObject({ author_name: 'Quién' });
    expect(draft.remark('owner_name')).toMatch(
      /^check: guessed from its values, not from its header; `Quién` of charlas has the same names/,
    );
  });

  it('of owner and author may be initials: of names in another table, or with which texts are signed', async () => {
    const team = ['Bianca Serra', 'Dario Conti', 'Elio Prati'];
    const draft = await draftOf({
      'pratiche.csv': [
        'Pratica;Oggetto;Compenso;Stato;Professionista',
        ...times(20, (n) => `P${n};Tetto ${n};€ ${n + 3}250,50;${STAGES[n % 3]!};Avv. ${team[n % 3]!}`),
      ],
      'attivita.csv': [
        'Data;Pratica;Sigla;Testo',
        ...times(
          30,
          (n) => `1${n % 9}/03/2024;P${n % 20};${['BS', 'DC', 'EP'][n % 3]!};They asked for offer number ${n}`,
        ),
      ],
    });
    expect(draft.comment).toMatchObject({ author_name: 'Sigla' });
    expect(draft.remark('author_name')).toContain('`Professionista` of pratiche');
    const signed = await draftOf({
      'jobs.csv': [
        'Nr;Name;Phone;Job;Sum;Status;Ansv.;Log',
        ...times(20, (n) => {
          const by = ['JH', 'TB'][n % 2]!;
          return `${n};Ada Bell${String.fromCharCode(97 + n)};${[57, 42, 29, 86][n % 4]!} 72 53 ${n + 10};Roof ${n};${n + 1}7.500,00 kr.;${STAGES[n % 3]!};${by};08/08 ${by}: asked for a new offer once more`;
        }),
      ],
    });
    expect(signed.deal).toMatchObject({ owner_name: 'Ansv.', currency: { value: 'DKK' } });
    expect(signed.remark('currency')).toContain('seem to be from DK');
  });

  it('of a title is the only column that nothing else explains, even if it has few words', async () => {
    const draft = await draftOf({
      'Замовлення.csv': [
        '№;Дата;Що замовив;Сума, грн;Стан',
        ...times(
          44,
          (n) =>
            `${n};0${(n % 9) + 1}.08.2024;${['Ролети', 'Тюль', 'Штори', 'Карниз'][n % 4]!};${n + 3} 900,00;${['видано', 'готово'][n % 2]!}`,
        ),
      ],
    });
    expect(draft.deal).toMatchObject({ title: 'Що замовив', stage_name: 'Стан' });
    expect(draft.remark('title')).toMatch(/^check: guessed from its values, not from its header/);
  });

  it.each([
    ['Property', (n: number) => `${n} Station Road`],
    ['Bauvorhaben', (n: number) => `Gaube ${String.fromCharCode(65 + n / 2)}nbau`],
  ])('of a title is what a deal is about, where nothing else may be one: %s', async (header, value) => {
    const rows = times(34, (n) => `S${n},${1001 + n},268000,${STAGES[n % 3]!},${value(n)},${'AB'[n % 2]!}`);
    const draft = await draftOf({
      'people.csv': ['Id,Full name,Email', ...times(34, (n) => `${1001 + n},Ada Bell,p${n}@acme.example`)],
      'sales.csv': [`Sale,Client,Asking price,Stage,${header},Type`, ...rows],
    });
    expect(draft.deal).toMatchObject({ title: header });
    expect(draft.remark('title')).toMatch(/^check: /);
  });

  it('of a title are never those of a text with its date', async () => {
    const draft = await draftOf({
      'klanten.csv': [
        'Klantnr;Naam;Telefoon;Klus;Bedrag;Stand;Gesprekken',
        ...times(30, (n) => {
          const text = `1${n % 9}/01/2024 - Vraag gekregen over de laadpalen ${n}`;
          return `K${n};Ada Bell${String.fromCharCode(97 + n / 2)};06-442820${n + 10};${['Vloer', 'Dak', 'Stucwerk'][n % 3]!};€ ${n + 4}.800,-;${STAGES[n % 3]!};${text}`;
        }),
      ],
    });
    expect(draft.deal).toMatchObject({ title: 'Klus' });
  });

  it('of a text are several columns where records have one or the other, and no record is skipped for that', async () => {
    const notes = Array.from({ length: 12 }, (_, n) => ({
      id: `N${n}`,
      contact_id: 4000 + n,
      created_at: `2024-03-${n + 10}T10:00:00Z`,
      ...(n % 2
        ? { body: `Called about offer number ${n} and agreed` }
        : { html: `<p>Sent the offer ${n} by mail</p>` }),
    }));
    const contacts = Array.from({ length: 12 }, (_, n) => ({
      id: 4000 + n,
      name: `Ada Bell ${n}`,
      email: `p${n}@x.test`,
    }));
    const draft = await draftOf({ 'contacts.json': contacts, 'notes.json': notes });
    expect(JSON.stringify(draft.comment['content'])).toMatch(/"from":\["(?:html","body|body","html)"\]/);
    expect(draft.findings).toContain('12 comments');
  });

  it('take no column twice, so that the sum of the scores is the best', () => {
    expect(
      bestSum([
        [0.9, 0.8, 0],
        [0.9, 0.1, 0],
      ]),
    ).toEqual([1, 0]);
    expect(bestSum([])).toEqual([]);
  });

  it.each([
    ['two last names', 'García López', 'Pérez Gil'],
    ['what is no name', 'Holm 1', 'Holm 2'],
  ])('a first and a last name by their words are joined, whatever they are: %s', async (_, one, two) => {
    const last = (n: number): string => (n % 2 ? one : two);
    const names = Array.from({ length: 20 }, (__, n) => ({
      id: n + 1,
      name: { first: 'Ida', last: last(n) },
      email: `i${n}@acme.example`,
    }));
    const nested = await draftOf({ 'people.json': names });
    expect(nested.lead['full_name']).toEqual({ list: ['name.first', 'name.last'], apply: [{ join: ' ' }] });
    const rows = times(20, (n) => `${n},Ida María,${last(n)},i${n}@acme.example`);
    const flat = await draftOf({ 'people.csv': ['Código,Nombre,Apellidos,Correo', ...rows] });
    expect(flat.lead['full_name']).toEqual({ list: ['Nombre', 'Apellidos'], apply: [{ join: ' ' }] });
  });

  it('are those of the first and last name, or of the full name', async () => {
    const header = 'Id;Nombre;Apellidos;Correo;Teléfono';
    const names = ['Vega', 'Ruiz', 'Gil'];
    const both = await draftOf({
      'contactos.csv': [
        header,
        ...times(9, (n) => `${n};Lucía;${names[n % 3]!};l${n}@vega.example;+34 93 222 300${n}`),
      ],
    });
    expect(both.lead['full_name']).toEqual({ list: ['Nombre', 'Apellidos'], apply: [{ join: ' ' }] });
    const one = await draftOf({
      'clienti.csv': ['Id;Nome;Posta', ...times(9, (n) => `${n};Ada ${names[n % 3]!};a${n}@bassi.example`)],
    });
    expect(one.lead).toMatchObject({ full_name: 'Nome', email: { from: 'Posta' } });
  });

  it('is turned round where it is written as last name, first name', async () => {
    const rows = times(6, (n) => `${n + 10},"Bell, Ann${'abcdef'[n]}",a${n}@bell.example`);
    const { lead } = await draftOf({ 'contacts.csv': ['Contact ID,Contact,Email', ...rows] });
    expect(lead['full_name']).toEqual({
      from: 'Contact',
      apply: [{ replace: { pattern: '^([^,]+), *([^,]+)$', with: '$2 $1' } }],
    });
  });

  it.each([
    ['French', 'Prénom', 'Nom'],
    ['German', 'Vorname', 'Name'],
    ['Dutch', 'Voornaam', 'Naam'],
    ['Czech', 'Jméno', 'Příjmení'],
  ])(
    'of a first name in %s has the other column as its last name, whatever that is called',
    async (_language, first, last) => {
      const rows = times(6, (n) => `${n + 10},Bell${'abcdef'[n]},Ann${'abcdef'[n]},a${n}@bell.example`);
      const { lead } = await draftOf({ 'contacts.csv': [`Contact ID,${last},${first},Email`, ...rows] });
      expect(lead['full_name']).toEqual({ list: [first, last], apply: [{ join: ' ' }] });
    },
  );

  it('of a fax, a zip code and a tax number are no phone numbers', async () => {
    const draft = await draftOf({
      'contacts.csv': [
        'Id,Name,Phone,Fax,Zip,VAT no',
        ...times(9, (n) => `C${n},Ada Bell,+44 20 7946 000${n},+44 20 7946 010${n},1000${n},12345678${n}`),
      ],
    });
    expect(draft.lead['phone_number']).toEqual({ from: 'Phone', apply: ['phone'] });
  });

  it.each(['Mobile Phone 2', 'Business Phone', 'Kantoor'])(
    'of telephones are all numbers of a person, also those called %s',
    async (second) => {
      const row = (n: number): string =>
        `C${n},Ada Bell,${n % 3 ? `+44 20 7946 000${n},${n % 2 ? `+44 20 7946 010${n}` : ''}` : `,+44 20 7946 010${n}`},+44 20 7946 0555,+44 20 7946 020${n}`;
      const header = `Id,Name,Mobile Phone,${second},Owner Phone,Fax`;
      const draft = await draftOf({ 'contacts.csv': [header, ...times(9, row)] });
      expect(draft.lead['phone_number']).toEqual({ from: ['Mobile Phone', second], apply: ['phone'] });
      expect(draft.remark('phone_number')).toBe(
        'check: 3 records have several; the first one is used, and the others go into custom fields',
      );
    },
  );

  it('of addresses at home are used where there is none at work', async () => {
    const row = (n: number): string =>
      `C${n},Ada Bell,${n % 3 ? `a${n}@bell.example,` : `,a${n}@home.example`},+44 20 7946 000${n}`;
    const draft = await draftOf({ 'contacts.csv': ['Id,Name,E-mail,E-mail (home),Phone', ...times(9, row)] });
    expect(draft.lead['email']).toEqual({ from: ['E-mail', 'E-mail (home)'], apply: ['lowercase'] });
  });

  it.each(['Stage', 'Kroki'])(
    'of an outcome decide before the stage, called %s, where they say more',
    async (stage) => {
      const rows = times(
        12,
        (n) => `D${n},Roof of ${n},${['Offer', 'Demo', 'Call', 'Visit'][n % 4]!},${['open', 'won', 'lost'][n % 3]!}`,
      );
      const draft = await draftOf({ 'deals.csv': [`Id,Title,${stage},Status`, ...rows] });
      expect(draft.deal['stage_name']).toEqual({
        from: [{ from: 'Status', apply: [{ map: { won: 'Won', lost: 'Lost', '*': null } }] }, stage],
      });
      expect(draft.remark('stage_name')).toMatch(/^check: `Status` says that 8 deals are won or lost, /);
    },
  );
});

describe('stages', () => {
  it.each([
    ['0', '1'],
    ['false', 'true'],
  ])('of deals that flags (%s, %s) call won, or closed and not won, are those ends', async (no, yes) => {
    const flags = [`${no},${no}`, `${yes},${yes}`, `${no},${yes}`];
    const rows = times(12, (n) => `D${n},Roof of ${n},${['Offer', 'Demo'][n % 2]!},${flags[n % 3]!}`);
    const draft = await draftOf({ 'deals.csv': ['Id,Title,Deal Stage,Is Won,Is Closed', ...rows] });
    expect(draft.deal['stage_name']).toEqual({
      from: [
        { from: 'Is Won', apply: [{ map: { [yes]: 'Won', '*': null } }] },
        { template: '{Is Closed} {Is Won}', apply: [{ map: { [`${yes} ${no}`]: 'Lost', '*': null } }] },
        'Deal Stage',
      ],
    });
  });
});

describe('amounts', () => {
  it('are read with the separators of their values; one that may mean two things is marked', async () => {
    const rows = (amount: (n: number) => string): string[] => [
      'Id;Titel;Phase;Betrag',
      ...times(9, (n) => `${n};Dach ${n};Neu;${amount(n)}`),
    ];
    const german = await draftOf({ 'deals.csv': rows((n) => `${n + 1}.250,50 €`) });
    expect(german.deal['amount']).toEqual({ from: 'Betrag', apply: [{ number: { decimal: ',', group: '.' } }] });
    expect(german.deal['currency']).toEqual({ value: 'EUR' });
    const either = await draftOf({ 'deals.csv': rows((n) => `${n + 1}.250`) });
    expect(either.remark('amount')).toMatch(/^set this: in `\d\.250`, `\.` is read as the thousands separator/);
  });

  it('are cents where their name or another column says so, and asked about where all are multiples of 100', async () => {
    const deals = (header: string, more: (n: number) => string) =>
      draftOf({ 'deals.csv': [`Deal ID,Stage,${header}`, ...times(5, (n) => `O${n},New,${more(n)}`)] });
    const divided = { number: { decimal: '.', divide: 100 } };
    const named = await deals('Amount in cents', (n) => `${n + 1}050`);
    expect(named.deal['amount']).toMatchObject({ apply: [divided] });
    const shown = await deals('Value,Shown', (n) => `${((n * 3) % 5) + 1}050,$${((n * 3) % 5) + 1}0.50`);
    expect(shown.remark('amount')).toContain('`Shown` has a hundredth of it');
    expect((await deals('Value', (n) => `${n + 1}5000`)).remark('amount')).toContain('if they are cents');
    expect((await deals('Value', (n) => `${n + 1}050`)).remark('amount')).not.toContain('cents');
  });

  it('without a tax come before those with it, whatever their header, and a product before its factors; costs are neither', async () => {
    const deals = (header: string, more: (n: number) => string) =>
      draftOf({
        'deals.csv': [`Deal ID;Title;Stage;${header}`, ...times(12, (n) => `D${n};Roof ${n};New;${more(n)}`)],
      });
    const net = await deals('Base impo;Total IVA incl.', (n) => `${n + 3}00,00 €;${(n + 3) * 121},00 €`);
    expect(net.deal).toMatchObject({ amount: { from: 'Base impo' }, currency: { value: 'EUR' } });
    expect(net.remark('amount')).toMatch(/^check: `Total IVA incl\.` is always the same multiple of it/);
    const cost = await deals('Kustnad;Amount', (n) => `${n + 3}00.00;${(n + 3) * 125}.00`);
    expect(cost.deal).toMatchObject({ amount: { from: 'Amount' } });
    const monthly = await deals(
      'Amount;Months;Total amount',
      (n) => `${n + 3}50.50;${(n % 3) * 6 + 6};${(n + 3.505) * ((n % 3) * 6 + 6) * 100}`,
    );
    expect(monthly.deal).toMatchObject({ amount: { from: 'Total amount' } });
    // Two that nothing tells apart leave the amount open, and show its currency.
    const open = await deals('Lopez;Gomez', (n) => `${n + 3}00,00 €;${((n * 5) % 7) + 3}10,00 €`);
    expect(open.remark('currency')).toContain('12 of 12 amounts have €');
  });

  it('with signs of several currencies have the currency of each row', async () => {
    const draft = await draftOf({
      'deals.csv': ['Id,Title,Stage,Amount', 'D1,Roof,New,"£22,700.00"', 'D2,Floor,New,€80.50', 'D3,Door,New,€9.50'],
    });
    expect(draft.deal['currency']).toEqual({
      from: 'Amount',
      apply: [{ extract: '(£|€)' }, { map: { '£': 'GBP', '€': 'EUR', '*': '=' } }],
    });
    expect(draft.remark('currency')).toContain('several currencies: 1 of 3 amounts have £, 2 of 3 amounts have €');
  });
});

describe('dates', () => {
  it('of a start stand for the creation where no other date is earlier, and the only date of a text for its time', async () => {
    const draft = await draftOf({
      'contacts.csv': ['Contact ID,Full name,Email', ...times(20, (n) => `C${n},Ada Bell,p${n}@acme.example`)],
      'deals.csv': [
        'OPID,Contact ID,Name,Amount,Stage,STARTDATE,CLOSEDDATE',
        ...times(
          20,
          (n) =>
            `O${n},C${n},Roof ${n},${n + 3}000.00,${STAGES[n % 3]!},2024-0${(n % 9) + 1}-16,${n % 2 ? '' : '2025-01-10'}`,
        ),
      ],
      'notes.csv': [
        'Contact ID,ONDATE,Notes',
        ...times(20, (n) => `C${n},2023-03-${n + 10},They asked for offer number ${n}`),
      ],
    });
    expect(draft.deal).toMatchObject({ occurred_at: { from: 'STARTDATE' } });
    expect(draft.comment).toMatchObject({ occurred_at: { from: 'ONDATE' } });
  });

  it('have a half of the day and an offset', async () => {
    const people = times(9, (n) => ({
      id: n + 40,
      name: 'Ada Bell',
      email: `p${n}@x.example`,
      created_at: `2024-03-0${n + 1} 08:13 AM -0500`,
      phone_numbers: [{ address: `(515) 555-010${n}` }],
    }));
    const draft = await draftOf({ 'contacts.json': { contacts: people } });
    expect(draft.lead['occurred_at']).toEqual({ from: 'created_at', apply: [{ date: 'yyyy-MM-dd h:mm a XX' }] });
    // An address of a telephone.
    expect(draft.lead['phone_number']).toMatchObject({ from: 'phone_numbers.address' });
  });

  it('are none where they only look like dates; short years, UTC and hours without a zero are read', async () => {
    const draft = await draftOf({
      'deals.csv': [
        'Deal ID,Stage,Amount,Version,Close,Created,Seen',
        ...times(5, (n) => {
          const day = `2023-09-0${n + 1} 15:23:12.000000 UTC`;
          return `O${n},New,1${n}.50,1.99.${n + 130},2${n}-10-26,${day},1${n}/12/2024 ${n + 7}:05`;
        }),
      ],
    });
    expect(draft.deal['custom_fields']).toMatchObject({
      version: 'Version',
      close: { from: 'Close', apply: [{ date: { formats: 'd-M-yy', as: 'date' } }] },
      seen: { from: 'Seen', apply: [{ date: 'd/M/yyyy H:mm' }] },
    });
    expect(draft.deal['occurred_at']).toEqual({
      from: 'Created',
      apply: [{ date: { formats: "yyyy-MM-dd HH:mm:ss.u 'UTC'", timezone: 'UTC' } }],
    });
  });
});

it('gives a valid mapping whatever stands in file names and headers, and where nothing is recognised', async () => {
  const long = 'x'.repeat(1100);
  const headers = [long, '{Id}', '#', '- a', 'null', 'a: b', "it's", '"Last\nname"', '[0]', '', 'Ünï\u2028code', '{{y'];
  const row = (n: number): string => headers.map((_, at) => `v${at}-${n % (at + 1)}`).join(',');
  const odd = await draftOf({ 'a\n- b: c.csv': [headers.join(','), ...times(9, row)] });
  expect(odd.entries).toHaveLength(1);
  expect(Object.values(odd.spec.sources)).toMatchObject([{ path: 'a\n- b: c.csv' }]);
  const nothing = await draftOf({ 'colours.csv': ['colour', 'red', 'blue'] });
  expect(nothing.text).toContain('# set this: nothing shows what these records are');
});
