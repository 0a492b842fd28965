// Lost without it: of several values the wrong one could be taken, or one vanish.
import { describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../src/json.ts';
import type { Draft } from '../../src/model.ts';
import { ProblemsError } from '../../src/problem.ts';
import { FieldHasher } from '../../src/store/field-hashes.ts';
import { mapped } from './inline.ts';

/** The only draft of a record with two phone numbers and two e-mail addresses. */
async function draftOf(cells: string, data: string) {
  const mapping =
    'defaults: { region: IT }\nsources: { it: { path: it.csv } }\n' +
    `events: [{ type: lead/created, source: it, data: { external_id: Id, ${data} } }]\n`;
  const [draft] = await mapped(mapping, { 'it.csv': `Id,Phone,Mobile,Mail,Other\n1,${cells}\n` });
  return draft!;
}

const PHONES = 'phone_number: { from: [Phone, Mobile], apply: [phone] }';

it('of several phone numbers the first readable one is taken, and the unreadable one before it is listed as left out', async () => {
  const draft = await draftOf('ask Ada,333 123 4567,,', PHONES);
  expect(draft.data).toMatchObject({ phone_number: '+393331234567' });
  expect(draft.omissions).toMatchObject([{ field: 'phone_number', original: 'ask Ada', code: 'bad_phone' }]);
  expect(draft.issues).toEqual([]);
});

it('of several e-mail addresses the first that is one is taken', async () => {
  const draft = await draftOf(',,none,ada@example.test', 'email: { from: [Mail, Other], apply: [lowercase] }');
  expect(draft.data).toMatchObject({ email: 'ada@example.test' });
  expect(draft.omissions).toMatchObject([{ field: 'email', original: 'none', code: 'invalid_email' }]);
});

it('a required one is an error only where none is readable', async () => {
  const required = PHONES.replace(' }', ', required: true }');
  expect(await draftOf('ask Ada,333 123 4567,,', required)).toMatchObject({
    data: { phone_number: '+393331234567' },
    issues: [],
  });
  const { issues } = await draftOf('ask Ada,12,,', required);
  expect(issues).toMatchObject([{ severity: 'error', code: 'bad_phone', field: 'phone_number' }]);
});

it('with `on_error: reject` the first that has a value decides', async () => {
  const strict = PHONES.replace(' }', ', on_error: reject }');
  const { data, issues } = await draftOf('ask Ada,333 123 4567,,', strict);
  expect(data).not.toHaveProperty('phone_number');
  expect(issues.map(({ code }) => code)).toContain('bad_phone');
});

async function draftWith(priority: string, stage = 'Open') {
  const mapping =
    'sources: { it: { path: it.csv } }\n' +
    `events: [{ type: deal/created, source: it, priority: ${priority}, data: { external_id: Id } }]\n`;
  const [draft] = await mapped(mapping, { 'it.csv': `Id,Stage\n1,${stage}\n` });
  return draft!;
}

describe('the priority of an event', () => {
  it.each([
    ['2', 2],
    ['-5', -5],
    ['{ value: 3 }', 3],
    ['{ from: Stage, apply: [{ map: { Open: 1, "*": 0 } }] }', 1],
    ['{ from: Stage, apply: [{ map: { Won: 1, "*": 0 } }] }', 0],
    ['{ from: Stage, apply: [{ map: { Won: 1, "*": null } }] }', undefined],
    ['{ from: Stage, apply: [{ map: { Won: 1, "*": null } }], default: -1 }', -1],
  ])('%s is %s', async (value, priority) => {
    const draft = await draftWith(value);
    expect(draft.issues).toEqual([]);
    expect(draft.priority).toBe(priority);
  });

  it.each(['high', '1.5', '3000000000', '1e3'])('that is not a whole number, %s, is an error of it', async (text) => {
    const { priority, issues } = await draftWith('Stage', text);
    expect(priority).toBeUndefined();
    expect(issues).toMatchObject([{ severity: 'error', code: 'bad_priority', field: 'priority' }]);
  });

  it.each([
    ['1.5', '1.5'],
    ['{ value: high }', 'high'],
    ['{ from: Stage, default: low }', 'low'],
    ['{ from: [Stage, { value: 0.5 }] }', '0.5'],
    ['{ from: Stage, apply: [{ map: { Open: first, "*": 0 } }] }', 'first'],
    ['3000000000', '3000000000'],
  ])('is a mistake of the mapping where a constant is none: %s', async (value, constant) => {
    const error = (await draftWith(value).catch((thrown: unknown) => thrown)) as ProblemsError;
    expect(error).toBeInstanceOf(ProblemsError);
    expect(error.problems).toMatchObject([
      { code: 'bad_priority', message: expect.stringContaining(`\`${constant}\``) as string },
    ]);
  });
});

const IMPOSSIBLE = [
  '2023-02-30T10:00:00Z',
  '2023-02-29T10:00:00Z',
  '2023-13-01T10:00:00Z',
  '2023-02-01T25:00:00Z',
  '2023-02-01T10:60:00Z',
  '2023-02-01T10:00:00+99:99',
  '2023-02-01T10:00:00+14:01',
  '2023-02-01T10:00:00-12:30',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:00-01:00',
  '0001-01-01T00:00:00+01:00',
];

/** How a text can reach `occurred_at`, and what follows from it where the text is a time that exists. */
const WAYS: Readonly<Record<string, (text: string) => string>> = {
  'a column used as it is': () => 'At',
  'a `date` transform': () => '{ from: At, apply: [{ date: iso }] }',
  'a `date` transform with a format': () => `{ from: At, apply: [{ date: "yyyy-MM-dd'T'HH:mm:ssXXX" }] }`,
  'a constant': (text) => `{ value: "${text}" }`,
  'a function': () => '{ from: At, apply: [{ call: same }] }',
  'a template': () => '{ template: "{At}" }',
};

async function occurred(value: string, text: string) {
  const mapping =
    'functions: functions.mjs\nsources: { it: { path: it.csv } }\n' +
    `events: [{ type: lead/created, source: it, occurred_at: ${value}, data: { external_id: Id } }]\n`;
  const exports = { 'it.csv': `Id,At\n1,${text}\n`, 'functions.mjs': 'export const same = (text) => text;\n' };
  const [draft] = await mapped(mapping, exports);
  return draft!;
}

describe.each(Object.entries(WAYS))('an `occurred_at` from %s', (_way, value) => {
  it.each(IMPOSSIBLE)('that is no time, %s, is an error of its event', async (text) => {
    const { occurredAt, issues } = await occurred(value(text), text);
    expect(occurredAt).toBeUndefined();
    expect(issues).toMatchObject([{ severity: 'error', code: 'bad_date', field: 'occurred_at' }]);
  });

  it.each(['2024-02-29T23:59:59Z', '2023-02-01T10:00:00+14:00', '0001-01-01T00:00:00-12:00'])(
    'that exists, %s, is kept',
    async (text) => {
      const { occurredAt, issues } = await occurred(value(text), text);
      expect(issues.map(({ code }) => code)).toEqual(text.startsWith('0001') ? ['far_date'] : []);
      expect(Date.parse(occurredAt!)).toBe(Date.parse(text));
    },
  );
});

it('keeps a fraction of any length as it is', async () => {
  const text = '2023-02-01T10:00:00.123456789012+14:00';
  expect(await occurred('At', text)).toMatchObject({ occurredAt: text, issues: [] });
});

/** The drafts of one lead entry; `more` are keys of it besides its data. */
async function leads(custom: string, text: string, more = '', file = 'it.csv'): Promise<Draft[]> {
  const mapping =
    `sources: { it: { path: ${file}, missing_values: [N/A] }, owners: { path: owners.csv } }\n` +
    `events: [{ type: lead/created, source: it, ${more} data: { external_id: Id, full_name: Name, custom_params: ${custom} } }]\n`;
  return mapped(mapping, { [file]: text, 'owners.csv': 'Key,Mail\n7,ada@x.test\n' });
}

function customOf(draft: Draft | undefined): string {
  return canonicalJson((draft!.data.custom_params as JsonObject | undefined) ?? {});
}

describe('`"*": rest`', () => {
  it('takes every column that no other value of the entry carries, those that only decide included, without empty ones', async () => {
    const csv =
      'Id,Name,Type,Owner,When,City,Zip,Zip,,Size\n1,Ann,lead,7,2024-05-01,Rome,00123,N/A,x, \n2,Bob,other,7,,,,,,\n';
    const drafts = await leads(
      '{ "*": rest, owner: { lookup: { source: owners, match: Key, with: Owner, take: Mail } } }',
      csv,
      'when: { from: Type, equals: lead }, occurred_at: { from: When, apply: [{ date: { formats: yyyy-MM-dd, timezone: UTC } }] },',
    );
    expect(drafts.map(customOf)).toEqual([
      '{"City":"Rome","Owner":"7","Type":"lead","Zip":"00123","owner":"ada@x.test"}',
    ]);
    expect(drafts[0]!.omissions).toEqual([]);
  });

  it('takes every key of a JSON record, also the rest of an object that is read in part', async () => {
    const record = { Id: 1, Name: 'A', size: 5, ok: false, none: null, empty: '', nothing: [], in: { a: 1, b: 'x' } };
    const [lead] = await leads('{ "*": rest, first: in.a }', JSON.stringify([record]), '', 'it.json');
    expect(customOf(lead)).toBe('{"first":1,"in.b":"x","ok":false,"size":5}');
  });

  it('reaches what has the list of an element, and records by their keys', async () => {
    const deals = [1, 2].map((at) => ({ id: `d${at}`, log: [{ Id: `n${at}`, Name: 'A' }] }));
    const record = { id: 'c1', deals, notes: { k1: { Name: 'B' }, k2: { Name: 'C', id: 'own' } }, none: {} };
    const custom = async (each: string, fields: string): Promise<(string | undefined)[]> =>
      (await leads(fields, JSON.stringify([record]), `each: ${each},`, 'it.json')).map(customOf);
    expect(await custom('deals.log', '{ deal: ..id, all: $.id }')).toEqual([
      '{"all":"c1","deal":"d1"}',
      '{"all":"c1","deal":"d2"}',
    ]);
    expect(await custom("'deals[1].log'", '{ deal: ..id }')).toEqual(['{"deal":"d2"}']);
    expect(await custom('notes', '{ key: _key, of: ..id }')).toEqual([
      '{"key":"k1","of":"c1"}',
      '{"key":"k2","of":"c1"}',
    ]);
    expect(await custom('none', '{ key: _key }')).toEqual([]);
  });

  it('lists what it cannot take among the values left out', async () => {
    const record = { Id: 1, Name: 'A', tags: ['x'], origin: 'fair' };
    const [lead] = await leads('{ "*": rest, origin: { value: old } }', JSON.stringify([record]), '', 'it.json');
    expect(customOf(lead)).toBe('{"origin":"old"}');
    expect(lead!.omissions.map(({ field, original }) => [field, original])).toEqual([
      ['custom_params.tags', '["x"]'],
      ['custom_params.origin', 'fair'],
    ]);
  });
});

describe('`as: json`', () => {
  it('sends a list or object from JSON as it is', async () => {
    const text = '[{"Id":1,"Name":"A","tags":[" x ","",null,5.10],"deep":{"a":[{"b":""}]},"no":null,"flat":" y "}]';
    const custom =
      '{ t: { from: tags, as: json }, d: { from: deep, as: json }, n: { from: no, as: json }, f: { from: flat, as: json } }';
    const [lead] = await leads(custom, text, '', 'it.json');
    expect(customOf(lead)).toBe('{"d":{"a":[{"b":""}]},"f":"y","t":[" x ","",null,5.10]}');
    expect(lead!.issues).toEqual([]);
  });
});

it.each(['{ from: T, required: true }', '{ from: T, required: true, as: json }'])(
  'a custom field that is required, %s, makes the event invalid without a value',
  async (value) => {
    const [lead] = await leads(`{ t: ${value} }`, 'Id,Name,T\n1,A,\n');
    expect(lead!.issues).toMatchObject([{ severity: 'error', code: 'missing_value', field: 'custom_params.t' }]);
  },
);

describe('keys named `__proto__` and `constructor`', () => {
  it('are keys like any other in columns, JSON and hashes', async () => {
    const mapping = `
sources: { table: { path: it.csv }, tree: { path: it.json } }
events:
  - type: lead/created
    source: table
    data: { external_id: Id, custom_params: { "*": rest, constructor: { from: Id, apply: [{ map: { "*": y } }] } } }
  - type: lead/updated
    source: tree
    data: { external_id: Id, custom_params: { "*": rest, own: { from: own, as: json } } }
`;
    const json = '[{"Id":"1","__proto__":"p","constructor":"c","own":{"__proto__":{"a":1}}}]';
    const [created, updated] = await mapped(mapping, { 'it.csv': 'Id,__proto__\n__proto__,v\n', 'it.json': json });
    expect(customOf(created)).toBe('{"__proto__":"v","constructor":"y"}');
    expect(customOf(updated)).toBe('{"__proto__":"p","constructor":"c","own":{"__proto__":{"a":1}}}');
    expect(Object.keys(FieldHasher.random().hashesOf(updated!.data))).toEqual([
      'custom_params.own',
      'custom_params.__proto__',
      'custom_params.constructor',
    ]);
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it('are no names in a mapping', async () => {
    await expect(leads('{ __proto__: City }', 'Id,Name,City\n1,A,x\n')).rejects.toThrow('`__proto__` cannot be a key');
  });
});
