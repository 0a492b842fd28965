// Lost without it: a column that nobody carries could pass unnoticed.
import { describe, expect, it } from 'vitest';
import type { Profile } from '../../src/survey/profile/notes.ts';
import { profileOf, rows, surveyed, surveyedFiles } from './surveying.ts';

const LEADS =
  'events:\n  - type: lead/created\n    source: it\n    data: { external_id: ID, full_name: Name, email: Email }\n';
const DEALS = (stage: string): string =>
  `events:\n  - type: deal/created\n    source: it\n    data: { external_id: ID, title: Title, stage_name: ${stage}, owner_name: Owner }\n`;

describe('keys of JSON that have another name further down', () => {
  const records = (from: number, key: string) =>
    Array.from({ length: 5 }, (_, at) => ({ ID: `${from + at}`, Name: 'Ann', [key]: `a${from + at}@x.test` }));
  const lines = (list: readonly object[]) => list.map((each) => JSON.stringify(each)).join('\n');
  const mapping = `sources: { it: { path: 'it-*.ndjson' } }\n${LEADS}`;

  it('in a file of their own, or in the middle of one', async () => {
    const { warnings_by_code: parts } = await surveyedFiles(mapping, {
      'it-1.ndjson': lines(records(1, 'Email')),
      'it-2.ndjson': lines(records(6, 'emailAddress')),
    });
    expect(parts).toMatchObject({ missing_path: 6 });
    const one = lines([...records(1, 'Email'), ...records(6, 'Mail of a person')]);
    const { warnings_by_code: renamed, profile } = await surveyedFiles(mapping, { 'it-1.ndjson': one });
    expect(renamed).toMatchObject({ missing_path: 5 });
    expect(profile.sources['it']!.renamed).toEqual([
      { column: 'Email', fields: ['email'], to: 'Mail of a person', values: 5, from: 6 },
    ]);
  });
});

describe('the profile of a table', () => {
  it('lists unused columns, and used columns that are always empty', async () => {
    const source = await profileOf({ mapping: LEADS, export: 'ID,Name,Email,City,\n1,Ann, ,Rome,x\n' });
    expect(source.unused).toEqual({ City: 1 });
    expect(source.never_a_value).toEqual([]);
    const empty = await profileOf({ mapping: LEADS, export: 'ID,Name,Email,City\n1,Ann,,Rome\n2,Bob,,Rome\n' });
    expect(empty.never_a_value).toEqual([{ column: 'Email', fields: ['email'] }]);
  });

  it('counts texts that mean no value as none, in tables and trees', async () => {
    const profileOfFile = async (file: string, text: string): Promise<Profile['sources'][string]> => {
      const mapping = `sources: { it: { path: ${file}, missing_values: ['NULL'] } }\n${LEADS}`;
      return (await surveyedFiles(mapping, { [file]: text })).profile.sources['it']!;
    };
    const table = await profileOfFile('it.csv', 'ID,Name,Email,City,Zip\n1,Ann,NULL,NULL,1\n2,Bo,NULL, NULL ,2\n');
    expect(table.unused).toEqual({ City: 0, Zip: 2 });
    expect(table.never_a_value).toEqual([{ column: 'Email', fields: ['email'] }]);
    const records = [{ ID: '1', Name: 'Ann', Email: 'NULL', in: { City: 'NULL', Zip: 1 } }];
    const tree = await profileOfFile('it.json', JSON.stringify(records));
    expect(tree).toMatchObject({ unused: { 'in.Zip': 1 }, never_a_value: table.never_a_value });
  });

  it('takes what `"*": rest` reads as used, and does not mind where it is empty', async () => {
    const mapping = LEADS.replace('email: Email', 'custom_params: { "*": rest }');
    const table = await profileOf({ mapping, export: 'ID,Name,City,Zip\n1,Ann,,3.93E+11\n' });
    expect(table).toMatchObject({ unused: {}, never_a_value: [], damage: [{ column: 'Zip', kind: 'scientific' }] });
    const tree = await profileOf({
      mapping,
      export: '[{"ID":1,"Name":"A","City":null,"in":{"a":1}}]',
      file: 'it.json',
    });
    expect(tree).toMatchObject({ unused: {}, never_a_value: [] });
  });

  it('counts the values only of columns used for decisions', async () => {
    const text = `ID,Title,Stage,Owner\n${rows(30, (n) => `${n},Deal,${n % 3 ? 'New' : ' Won '},Ada Lovelace\n`)}`;
    const { values } = await profileOf({ mapping: DEALS('Stage'), export: text });
    expect(values).toEqual([
      { column: 'Stage', fields: ['stage_name'], values: { Won: 10, New: 20 } },
      { column: 'Owner', fields: ['owner_name'], values: { 'Ada Lovelace': 30 } },
    ]);
  });

  it('reports each kind of damage with a place and an example', async () => {
    const text = 'ID,Name,Email\n3.93E+11,#REF!,\n2,Caf\ufffd,x@example.test\n"1,5E+07",Ann,\n';
    const { damage } = await profileOf({ mapping: LEADS, export: text });
    expect(damage).toMatchObject([
      { column: 'ID', kind: 'scientific', count: 2, example: '3.93E+11', line: 2 },
      { column: 'Name', kind: 'spreadsheet_error', count: 1, example: '#REF!', line: 2 },
      { column: 'Name', kind: 'replacement_character', count: 1, example: 'Caf\ufffd', line: 3 },
    ]);
  });

  const DATES = LEADS.replace(
    '    data:',
    "    occurred_at: { from: Made, apply: [{ date: ['d/M/yyyy', 'M/d/yyyy'] }] }\n    data:",
  );
  it.each([
    ['01/06/2026\n02/07/2026', { kind: 'either', count: 2, example: '01/06/2026' }],
    ['01/06/2026\n25/07/2026', undefined],
    ['05/05/2026\n06/06/2026', undefined],
    ['13/06/2026\n06/13/2026\n01/02/2026', { kind: 'mixed', count: 3, example: '01/02/2026' }],
    ['2026-01-02', undefined],
  ])('considers all dates of a column together: %j', async (dates, expected) => {
    const lines = dates.split('\n').map((date, n) => `${n},Ann,,${date}\n`);
    const found = (await profileOf({ mapping: DATES, export: `ID,Name,Email,Made\n${lines.join('')}` })).dates;
    expect(found).toMatchObject(expected ? [expected] : []);
    expect(found.length).toBe(expected ? 1 : 0);
  });
});

describe('the profile of JSON records', () => {
  const mapping = `events:
  - type: lead/created
    source: it
    each: contacts
    data: { external_id: id, full_name: name, email: 'emails[0].email', custom_params: { company: $.company, fax: fax } }
`;
  it('follows paths into `each`, and lists unused and always empty paths', async () => {
    const record = {
      id: 1,
      company: 'X',
      extra: { deep: 1 },
      contacts: [{ id: 'a', name: 'Ann', emails: [{ email: 'a@example.test' }], age: 3 }],
    };
    const ofRecord = (data: object) =>
      profileOf({
        mapping,
        export: JSON.stringify({ data: [data], has_more: true }),
        file: 'it.json',
        records: 'data',
      });
    const source = await ofRecord(record);
    expect(source.unused).toEqual({ id: 1, 'extra.deep': 1, 'contacts.age': 1 });
    expect(source.never_a_value).toEqual([{ column: 'contacts.fax', fields: ['custom_params.fax'] }]);
    expect(source.notices).toMatchObject([{ code: 'more_pages' }]);
    const byKey = await ofRecord({ ...record, contacts: { k1: record.contacts[0] } });
    expect(byKey.unused).toEqual({ ...source.unused, 'contacts._key': 1 });
    expect(byKey.never_a_value).toEqual(source.never_a_value);
  });
});

describe('the profile of all sources', () => {
  describe('warns of what nobody will see in the service', () => {
    const DEAL = (more: string): string =>
      `events:\n  - type: deal/created\n    source: it\n    data: { external_id: ID, title: Title, ${more} }\n`;

    it('columns that are only read to decide something, and not those that `"*": rest` takes', async () => {
      const mapping = (custom: string): string =>
        'events:\n  - type: lead/created\n    source: it\n    when: { from: Type, equals: person }\n' +
        `    data: { external_id: { template: "{Kind}-{ID}" }, full_name: Name, ${custom}` +
        ' phone_number: { from: Phone, apply: [{ phone: { region_from: Country } }] } }\n';
      const text = 'ID,Kind,Type,Name,Country,Phone\n1,a,person,Ann,Germany,030 901820\n2,a,firm,ACME,Italy,\n';
      const { profile } = await surveyed({ mapping: mapping(''), export: text });
      expect(profile.sources['it']!.not_carried).toEqual([
        { column: 'ID', fields: ['composite id'] },
        { column: 'Kind', fields: ['composite id'] },
        { column: 'Type', fields: ['when'] },
        { column: 'Country', fields: ['region_from'] },
      ]);
      for (const custom of [
        'custom_params: { "*": rest },',
        'custom_params: { a: ID, b: Kind, c: Type, d: Country },',
      ]) {
        const summary = await surveyed({ mapping: mapping(custom), export: text });
        expect(summary.profile.sources['it']!.not_carried).toEqual([]);
        expect(summary.warnings_by_code).not.toHaveProperty('not_carried');
      }
    });

    it('but not columns for which a lookup, or the parent of a composed id, arrives', async () => {
      const names = 'lookup: { source: it, match: ID, with: Boss, take: Name }';
      const mapping = (entry: string): string =>
        `events:\n  - type: deal/created\n    source: it\n    data: { external_id: ID, title: Name, ${entry} }\n`;
      const text = 'ID,Name,Boss,Kind\n1,Ann,2,a\n2,Bob,1,b\n';
      const found = async (entry: string) =>
        (await surveyed({ mapping: mapping(entry), export: text })).profile.sources['it']!.not_carried;
      expect(await found(`owner_name: { ${names} }`)).toEqual([]);
      expect(await found('lead_external_id: { template: "{Kind}-{Boss}" }')).toEqual([]);
      const when = mapping('').replace('    data', `    when: { ${names}, present: true }\n    data`);
      const { profile } = await surveyed({ mapping: when, export: text });
      expect(profile.sources['it']!.not_carried).toEqual([{ column: 'Boss', fields: ['when'] }]);
    });

    it.each([
      ['the mapping has none', DEAL(''), 0, 'deal_without_amount'],
      ['fewer than a fifth have one', DEAL('amount: Sum, currency: Currency'), 1, 'deal_without_amount'],
      ['at least a fifth have one', DEAL('amount: Sum'), 3, undefined],
      ['a constant currency stands alone', DEAL('currency: { value: EUR }'), 0, 'currency_without_amount'],
    ])('deals without an amount, where %s', async (_where, mapping, amounts, code) => {
      const text = `ID,Title,Sum,Currency\n${rows(10, (n) => `${n},Roof,${n < amounts ? '5.00,EUR' : ','}\n`)}`;
      const { warnings_by_code: codes } = await surveyed({ mapping, export: text });
      const said = Object.keys(codes).filter((each) => each.endsWith('without_amount'));
      expect(said).toEqual(code === undefined ? [] : [code]);
    });

    it('arrays of a JSON file that no source reads, and not those that are empty or within its records', async () => {
      const file = {
        people: [{ id: 1, name: 'Ann', tags: ['a'] }],
        calls: [{ id: 7 }],
        meta: { colours: ['red'] },
        none: [],
      };
      const mapping =
        'events:\n  - { type: lead/created, source: it, data: { external_id: id, full_name: name, custom_params: { "*": rest } } }\n';
      const given = { mapping, export: JSON.stringify(file), file: 'it.json', records: 'people' };
      const summary = await surveyed(given);
      expect(summary.warnings_by_code).toEqual({ unread_array: 2 });
      const all = { ...file, calls: [], meta: {} };
      expect((await surveyed({ ...given, export: JSON.stringify(all) })).warnings_by_code).toEqual({});
      const pages = { ...given, export: JSON.stringify({ pages: [{ results: file.people }, { results: [] }] }) };
      expect((await surveyed({ ...pages, records: 'pages.results' })).warnings_by_code).toEqual({});
      expect((await surveyed({ ...pages, records: '"pages[0].results"' })).warnings_by_code).toEqual({
        unread_array: 1,
      });
    });

    it('a list of which only one element is carried, unless a custom field has the list around it as JSON', async () => {
      const mapping = (more: string): string =>
        `events:\n  - { type: lead/created, source: it, data: { external_id: id, full_name: { from: names.value, apply: [{ at: 0 }] }${more} } }\n`;
      const given = { export: '[{"id":1,"names":[{"value":"Ann"},{"value":"Anna"}]}]', file: 'it.json' };
      expect((await surveyed({ ...given, mapping: mapping('') })).warnings_by_code).toEqual({ list_cut: 1 });
      const all = ', custom_params: { names: { from: names, as: json } }';
      expect((await surveyed({ ...given, mapping: mapping(all) })).warnings_by_code).toEqual({});
    });

    it('old stages that become one, unless another field keeps their names', async () => {
      const stages = 'references: { stages: { Hot: Proposal, Warm: Proposal, Cold: New } }\n';
      const text = 'ID,Title,Stage\n1,Roof,Hot\n2,Floor,Warm\n3,Wall,Cold\n';
      const merged = await surveyed({ mapping: stages + DEAL('stage_name: Stage'), export: text });
      expect(merged.warnings_by_code).toMatchObject({ merged_stages: 2 });
      const kept = DEAL('stage_name: Stage, custom_fields: { old_stage: Stage }');
      expect((await surveyed({ mapping: stages + kept, export: text })).warnings_by_code).not.toHaveProperty(
        'merged_stages',
      );
      const apart = await surveyed({
        mapping: stages + DEAL('stage_name: Stage'),
        export: text.replace('Warm', 'Cold'),
      });
      expect(apart.warnings_by_code).not.toHaveProperty('merged_stages');
    });

    it('stages that go by their names alone to another pipeline than most deals of their source', async () => {
      const text = 'ID,Title,Stage\n1,Roof,Quote\n2,Floor,New\n3,Wall,New\n4,Door,Contacted\n5,Gate,Contacted\n';
      const given = {
        mapping: `references: { stages: { Quote: Proposal } }\n${DEAL('stage_name: Stage')}`,
        export: text,
      };
      expect((await surveyed(given)).warnings_by_code).toMatchObject({ stray_stages: 2 });
      const said = {
        ...given,
        mapping: given.mapping.replace('Proposal', 'Proposal, Contacted: Partners / Contacted'),
      };
      expect((await surveyed(said)).warnings_by_code).not.toHaveProperty('stray_stages');
    });
  });

  it('contains no personal data', async () => {
    const text = 'ID,Name,Email\n1,Ann Secret,ann.secret@example.test\n2,Bob,ann.secret@example.test\n';
    const { profile } = await surveyed({ mapping: LEADS, export: text });
    expect(JSON.stringify(profile)).not.toContain('ecret');
  });
});

it('counts people who share an address, whatever its letters', async () => {
  const { warnings_by_code: codes } = await surveyed({
    mapping: LEADS,
    export: 'ID,Name,Email\n1,Ann,ann@x.test\n2,Ann B,Ann@X.test\n3,Bo,bo@x.test\n',
  });
  expect(codes).toMatchObject({ shared_email: 1 });
});

it('names the columns of a looked-up file that nobody carries', async () => {
  const lookup = `{ lookup: { source: firms, match: Id, with: Firm, take: Name } }`;
  const map = (path: string): string => `sources: { it: { path: it.csv }, firms: { path: ${path} } }
events:
  - type: lead/created
    source: it
    data: { external_id: Id, full_name: Name, custom_params: { company: ${lookup} } }
`;
  const people = 'Id,Name,Firm\n1,Ann,7\n';
  for (const [path, text] of [
    ['firms.csv', 'Id,Name,Tax number,Industry,Empty\n7,Acme,IT1,Steel,\n8,Beta,,Food,\n'],
    [
      'firms.json',
      '[{"Id":7,"Name":"Acme","Tax number":"IT1","Industry":"Steel"},{"Id":8,"Name":"Beta","Industry":"Food"}]',
    ],
  ] as const) {
    const { profile } = await surveyedFiles(map(path), { 'it.csv': people, [path]: text });
    expect(profile.sources['firms']).toMatchObject({
      records: 2,
      unused: { 'Tax number': 1, Industry: 2 },
      never_a_value: [],
      not_carried: [],
    });
  }
});
