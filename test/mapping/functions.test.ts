// Lost without it: a function could change the input, or return what is no value.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadMapping } from '../../src/mapping/load.ts';
import { files, project, summaryOf } from '../e2e/harness.ts';
import { apply } from './apply.ts';
import { mapped } from './inline.ts';

const EXPORT = { 'rows.csv': 'Id,Name,Mail,Mail\n00123, Ada ,a@x.test,\n' };
const JSON_EXPORT = { 'rows.json': '[{"Id":7,"Sum":5.10,"Big":12345678901234567890,"Tags":["a"],"Of":{"Name":"B"}}]' };

/** What `custom_params.x` is, made by this code of the column `Name` (or `from`). */
async function called(code: string, exports: Readonly<Record<string, string>> = EXPORT, from = 'Name') {
  const mapping =
    `functions: functions.mjs\nsources: { rows: { path: ${Object.keys(exports)[0]!} } }\nevents:\n` +
    `  - type: lead/created\n    source: rows\n    data:\n      external_id: Id\n` +
    `      custom_params: { x: { from: ${from}, as: json, apply: [{ call: f }] } }\n`;
  const [draft] = await mapped(mapping, { ...exports, 'functions.mjs': `export ${code}\n` });
  const { x } = (draft!.data.custom_params ?? {}) as { x?: unknown };
  return { x, omissions: draft!.omissions };
}

describe('a function gets', () => {
  it('the value as the mapping reads it, and the record as the file has it', async () => {
    const { x } = await called('const f = (value, record) => [value, record]');
    expect(x).toEqual(['Ada', { Id: '00123', Name: ' Ada ', Mail: 'a@x.test', 'Mail#2': '' }]);
  });

  it.each([
    ['a cell', 'record.Name = value', EXPORT, 'Name'],
    ['a list', 'value.push("b")', JSON_EXPORT, 'Tags'],
    ['a nested key', 'record.Of.Name = "C"', JSON_EXPORT, 'Of'],
  ])('no way to change the input: %s', async (_what, change, exports, from) => {
    const { x, omissions } = await called(`function f(value, record) { ${change}; return 1; }`, exports, from);
    expect(x).toBeUndefined();
    expect(omissions).toMatchObject([
      {
        field: 'custom_params.x',
        code: 'function_failed',
        message: expect.stringMatching(/read only|not extensible/) as string,
      },
    ]);
  });
});

describe('what a function returns', () => {
  it.each([
    ['a text', "'b'", 'b'],
    ['a number', '-1.5', -1.5],
    ['false', 'false', false],
    ['undefined', 'undefined', undefined],
    ['null', 'null', undefined],
    ['an empty text', "''", undefined],
    ['a list with gaps', "['a', undefined, null]", ['a', null, null]],
    ['an object', '({ a: [1], b: undefined, c: null })', { a: [1], c: null }],
    ['an object without a prototype', 'Object.create(null, { a: { value: 1, enumerable: true } })', { a: 1 }],
  ])('is a value or none: %s', async (_what, returned, x) => {
    expect(await called(`const f = () => ${returned}`)).toEqual({ x, omissions: [] });
  });

  it.each([
    ['NaN', 'NaN', 'NaN'],
    ['an infinite number', '1 / 0', 'Infinity'],
    ['an integer without all its digits', '2 ** 53', '9007199254740992'],
    ['a bigint', '1n', 'a bigint'],
    ['a symbol', 'Symbol()', 'a symbol'],
    ['a function', '() => 1', 'a function'],
    ['a date', 'new Date(0)', 'class `Date`'],
    ['a map', 'new Map()', 'class `Map`'],
    ['NaN in a list', '[NaN]', 'NaN'],
    ['a promise', 'Promise.resolve(1)', 'a promise'],
    ['a promise that fails later', 'Promise.reject(new Error("later"))', 'a promise'],
  ])('fails with its place where it is no value: %s', async (_what, returned, named) => {
    const { x, omissions } = await called(`const f = () => ${returned}`);
    expect(x).toBeUndefined();
    expect(omissions).toMatchObject([{ code: 'function_failed', original: 'Ada' }]);
    expect(omissions[0]!.message).toContain(named);
    expect(omissions[0]!.message).toContain('(functions.mjs, called at mapping.yaml:10:59)');
  });

  it.each([
    ['an error', 'function f(value) {\n  throw new Error(`no ${value}`);\n}', 'Error: no Ada (functions.mjs:2:9, '],
    ['a text', 'function f() {\n  throw "nothing";\n}', 'nothing (functions.mjs, '],
    ['an endless recursion', 'function f(value) {\n  return f(value) + 1;\n}', 'RangeError: Maximum call stack'],
    ['an object that contains itself', 'function f() { const a = {}; a.a = a; return a; }', 'RangeError: Maximum call'],
  ])('fails with what was thrown and where: %s', async (_what, code, said) => {
    const { omissions } = await called(code);
    expect(omissions).toMatchObject([{ code: 'function_failed', message: expect.stringContaining(said) as string }]);
  });
});

describe('the functions of the reference', () => {
  const outcome = async (name: string, value: Parameters<typeof apply>[1]) =>
    (await apply(`{ call: ${name} }`, value)).result;

  it('primaryAddress takes the address that is marked, else the first', async () => {
    const [a, b] = [{ value: 'a@x.test' }, { value: 'b@x.test', primary: true }];
    expect(await outcome('primaryAddress', [a, b])).toBe('b@x.test');
    expect(await outcome('primaryAddress', [a, { value: '' }])).toBe('a@x.test');
    expect(await outcome('primaryAddress', a)).toBe('a@x.test');
    expect(await outcome('primaryAddress', [{ value: null }])).toBeUndefined();
  });
});

const MAPPING = `version: 1
migration: functions
functions: functions.mjs
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    if_changed: update
    data: { external_id: id, full_name: { from: name, apply: [{ call: nameOf }] } }
`;

describe('code of a mapping', () => {
  it('is named by the survey with its hash, and what it makes now is sent in a rerun', async () => {
    const code = 'export const nameOf = (name) => name;\n';
    const place = await project({
      'mapping.yaml': MAPPING,
      'functions.mjs': code,
      'people.csv': 'id,name\n1,Ada\n2,Bob\n',
    });
    const first = await place.run();
    expect(summaryOf(first)).toMatchObject({ exit: { code: 0 }, events: { acknowledged: 2 } });
    const { functions } = await loadMapping(join(place.cwd, 'mapping.yaml'));
    expect(first.stderr.replace(/\s+/g, ' ')).toContain(`runs code of functions.mjs (sha256 ${functions!.sha256})`);
    await files(place.cwd, { 'functions.mjs': code.replace('=> name', '=> name.toUpperCase()') });
    expect(summaryOf(await place.run())).toMatchObject({ exit: { code: 0 } });
    expect(place.service.state().leads.map(({ fullName }) => fullName)).toEqual(['ADA', 'BOB']);
  });
});
