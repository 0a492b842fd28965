// Lost without it: digits could be lost, or a broken file be read in part.
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { NumberText } from '../../src/json.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';

describe('JSON', () => {
  test('gives every record the number of its first line, even in a large file', async () => {
    const records: string[] = [];
    const lines: number[] = [];
    let line = 3;
    for (let id = 0; id < 20_000; id += 1) {
      lines.push(line);
      const record = JSON.stringify({ id, note: `é😀 "]}\\ ${id}`, list: [{}, []] }, null, id % 3);
      records.push(record);
      line += record.split('\n').length;
    }
    const text = `{ "data": {\n  "items": [\n${records.join(',\n')}\n] } }`;
    const folder = folderWith({ 'a.json': text, 'b.json.gz': gzipSync(text) });
    for (const name of ['a.json', 'b.json.gz']) {
      const items = await readAll(await openIn(folder, name, { records: 'data.items' }));
      expect(items.map(({ place }) => place.line)).toEqual(lines);
      expect(items.map(({ raw }) => raw)).toEqual(records.map((record) => JSON.parse(record) as unknown));
    }
  });

  test('a mistake outside the records is an error with its place', async () => {
    const folder = folderWith({ 'a.json': '{"results":[{"id":1}],\n "total": nope}' });
    expect((await failure(openIn(folder, 'a.json', { records: 'results' }))).message).toContain('a.json:2:11: ');
  });

  test.each([
    ['[{"a":1}', 'a.json:1:9: the file ends here, before the end of the JSON'],
    ['[{"a":1},', 'a.json:1:10: the file ends here, before the end of the JSON'],
    ['[{"a":1},]', 'a.json:1:10: expected value, but found "]"'],
    ['[,{"a":1}]', 'a.json:1:2: expected value or ], but found ","'],
    ['[{"a":1}}', 'a.json:1:9: expected , or ], but found "}"'],
    ['[{"a":[1}]', "a.json:1:9: Comma ',' expected after value but got '}'"],
    ["[{'a':1}]", "a.json:1:3: Quoted object key expected but got '''"],
    ['[{"a":1\n,"b":01}]', "a.json:2:7: Comma ',' expected after value but got '1'"],
    ['[{"a":"x\ny"}]', "a.json:1:9: Invalid character '\n'"],
    ['{"x":1}', 'a.json:1:1: the top level is an object, not an array of records'],
    ['"x"', 'a.json:1:1: the top level is a string, not an array of records'],
    ['12', 'a.json:1:1: the top level is a single value, not an array of records'],
    ['[{"a":tru}]', "a.json:1:7: Object value expected after ':'"],
    ['[tru]', 'a.json:1:2: JSON value expected but got'],
    ['ID,Name\n1,Ada', 'a.json:1:1: expected value, but found "I"'],
    ['{"a" 1}', 'a.json:1:6: expected :, but found "1"'],
    ['{1:1}', 'a.json:1:2: expected key or }, but found "1"'],
    [`${'['.repeat(300)}`, 'a.json:1:2: the file ends before the end of the record that begins here'],
  ])('%j is an error with its place', async (text, message) => {
    const error = await failure(openIn(folderWith({ 'a.json': text }), 'a.json').then(readAll));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(message);
  });

  test.each([
    [
      'a record whose quote is never closed',
      '[{"a":1},\n {"a":"x},\n',
      ' {"a":1},\n',
      'a.json.gz:2:11: Invalid character',
    ],
    [
      'a record without an end',
      '[{"a":1},\n {"a":[1,\n',
      '1,1,1,1,1,\n',
      'a.json.gz:2:2: the record that begins here is larger than 16 MiB',
    ],
    [
      'one string in the array',
      '[{"a":1},\n "',
      'x',
      'a.json.gz:2:2: the record that begins here is larger than 16 MiB',
    ],
    ['one string', '"', 'x', 'a.json.gz:1:1: the value that begins here is larger than 16 MiB'],
    ['one number', '1', '1', 'a.json.gz:1:1: the value that begins here is larger than 16 MiB'],
    ['one key', '{"', 'x', 'a.json.gz:1:2: the value that begins here is larger than 16 MiB'],
  ])('%s is an error with its place, and is not read into memory', async (_name, beginning, rest, message) => {
    const text = beginning + rest.repeat(40_000_000 / rest.length);
    const error = await failure(openIn(folderWith({ 'a.json.gz': gzipSync(text) }), 'a.json.gz').then(readAll));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(message);
  });

  test('a record of 10 MB is read', async () => {
    const record = { id: 1, text: 'x'.repeat(10_000_000) };
    const text = JSON.stringify(record);
    const folder = folderWith({ 'a.json': `[${text}]`, 'b.ndjson': text });
    for (const name of ['a.json', 'b.ndjson']) {
      expect((await readAll(await openIn(folder, name))).map(({ raw }) => raw)).toEqual([record]);
    }
  });

  test('a record that is nested too deeply is unreadable, and does not overflow the stack', async () => {
    const bomb = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const folder = folderWith({ 'a.json': `[{"id":1},${bomb},{"id":2}]`, 'b.ndjson': `{"id":1}\n${bomb}\n{"id":2}\n` });
    for (const name of ['a.json', 'b.ndjson']) {
      const items = await readAll(await openIn(folder, name));
      expect(items.map((item) => (item.kind === 'row' ? item.raw : item.issue.code))).toEqual([
        { id: 1 },
        'too_deep',
        { id: 2 },
      ]);
    }
  });

  test('numbers are kept as text only if a JavaScript number would change them', async () => {
    const texts = ['0', '-1', '12.5', '123456789012345', '9007199254740993', '5.0', '1E5', '-0', '0.1', '1e-7'];
    const text = `[${texts.map((number) => `{"n": ${number} }`).join(',')}]`;
    const items = await readAll(await openIn(folderWith({ 'a.json': text }), 'a.json'));
    expect(items.map(({ raw }) => (raw as { n: unknown }).n)).toEqual(
      texts.map((number) => (String(Number(number)) === number ? Number(number) : new NumberText(number))),
    );
  });

  test('`__proto__` is a key like any other', async () => {
    const text = '[{"__proto__":{"polluted":true},"n":5.0}]';
    const [item] = await readAll(await openIn(folderWith({ 'a.json': text }), 'a.json'));
    expect(Object.keys(item!.raw!)).toEqual(['__proto__', 'n']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((item!.raw as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('NDJSON', () => {
  test('gives every record its line number, even in a large file', async () => {
    const lines = Array.from({ length: 20_000 }, (_, id) => (id % 5 === 4 ? '' : JSON.stringify({ id, t: 'é\u2028' })));
    const items = await readAll(await openIn(folderWith({ 'a.ndjson': lines.join('\r\n') }), 'a.ndjson'));
    expect(items.map(({ place, raw }) => [place.line, (raw as { id: number }).id])).toEqual(
      lines.flatMap((line, id) => (line === '' ? [] : [[id + 1, id]])),
    );
  });

  test('a line that is not JSON is unreadable, with the column of the mistake', async () => {
    const [item] = await readAll(await openIn(folderWith({ 'a.ndjson': '{"id":1,}\n' }), 'a.ndjson'));
    expect(item).toMatchObject({
      kind: 'unreadable',
      place: { source: 'it', file: 'a.ndjson', line: 1, record: 1 },
      issue: { code: 'no_json', kind: 'read', severity: 'error' },
    });
    expect(item?.kind === 'unreadable' && item.issue.message).toContain('invalid JSON at column 9');
  });
});
