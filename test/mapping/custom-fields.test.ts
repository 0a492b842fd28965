import { describe, expect, it } from 'vitest';
import { FieldHasher } from '../../src/store/field-hashes.ts';
import { canonicalJson, type JsonObject } from '../../src/json.ts';
import type { Draft } from '../../src/model.ts';
import { ProblemsError } from '../../src/problem.ts';
import { mapped } from './inline.ts';

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

  it('keeps columns that share a name apart', async () => {
    const [lead] = await leads('{ "*": rest }', 'Id,Name,Mail,Mail\n1,Ann,a@x.test,b@x.test\n');
    expect(customOf(lead)).toBe('{"Mail":"a@x.test","Mail#2":"b@x.test"}');
  });

  it('takes every key of a JSON record, also the rest of an object that is read in part', async () => {
    const record = { Id: 1, Name: 'A', size: 5, ok: false, none: null, empty: '', nothing: [], in: { a: 1, b: 'x' } };
    const [lead] = await leads('{ "*": rest, first: in.a }', JSON.stringify([record]), '', 'it.json');
    expect(customOf(lead)).toBe('{"first":1,"in.b":"x","ok":false,"size":5}');
  });

  it('takes the keys of the element within `each`', async () => {
    const record = { Deal: 9, people: [{ Id: 1, Name: 'A', City: 'Rome' }] };
    const [lead] = await leads('{ "*": rest, deal: $.Deal }', JSON.stringify([record]), 'each: people,', 'it.json');
    expect(customOf(lead)).toBe('{"City":"Rome","deal":9}');
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

  it('is the only meaning of the name `*`', async () => {
    await expect(leads('{ "*": City }', 'Id,Name,City\n1,A,x\n')).rejects.toBeInstanceOf(ProblemsError);
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

  it('sends a list that transforms make of a cell', async () => {
    const [lead] = await leads('{ t: { from: T, apply: [{ split: ";" }], as: json } }', 'Id,Name,T\n1,A,a; b\n');
    expect(customOf(lead)).toBe('{"t":["a","b"]}');
  });

  it('is for custom fields only', async () => {
    const mapping =
      'sources: { it: { path: it.csv } }\n' +
      'events: [{ type: lead/created, source: it, data: { external_id: Id, full_name: { from: Id, as: json } } }]\n';
    await expect(mapped(mapping, { 'it.csv': 'Id\n1\n' })).rejects.toThrow('unknown key `as`');
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
  it('are keys like any other in mappings, columns, JSON, maps and hashes', async () => {
    const mapping = `
sources: { table: { path: it.csv }, tree: { path: it.json } }
events:
  - type: lead/created
    source: table
    data: { external_id: Id, custom_params: { __proto__: __proto__, constructor: { from: Id, apply: [{ map: { __proto__: x, "*": y } }] } } }
  - type: lead/updated
    source: tree
    data: { external_id: Id, custom_params: { "*": rest, own: { from: own, as: json } } }
`;
    const json = '[{"Id":"1","__proto__":"p","constructor":"c","own":{"__proto__":{"a":1}}}]';
    const [created, updated] = await mapped(mapping, { 'it.csv': 'Id,__proto__\n__proto__,v\n', 'it.json': json });
    expect(customOf(created)).toBe('{"__proto__":"v","constructor":"x"}');
    expect(customOf(updated)).toBe('{"__proto__":"p","constructor":"c","own":{"__proto__":{"a":1}}}');
    expect(Object.keys(FieldHasher.random().hashesOf(updated!.data))).toEqual([
      'custom_params.own',
      'custom_params.__proto__',
      'custom_params.constructor',
    ]);
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it('are checked like any other', async () => {
    const refusal = leads('{ __proto__: Cty }', 'Id,Name,City\n1,A,x\n');
    await expect(refusal).rejects.toThrow('has no column `Cty`');
    await expect(leads('{ __proto__: { form: City } }', 'Id,Name,City\n1,A,x\n')).rejects.toThrow(
      'did you mean `from`',
    );
  });
});
