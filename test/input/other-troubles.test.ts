// Lost without it: pages of an API, guards of spreadsheets or decimal ids could be read as they stand.
import { describe, expect, test } from 'vitest';
import { mapping, project, rowsIn } from '../e2e/harness.ts';
import { folderWith, openIn, readAll } from './reading.ts';

async function codesOf(content: string, file = 'a.json', records: string | undefined = 'data'): Promise<string[]> {
  const source = await openIn(folderWith({ [file]: content }), file, records === undefined ? {} : { records });
  await readAll(source);
  return source.notices().map(({ code }) => code);
}

describe('a page of an API that says that there are more', () => {
  const around = (signs: object) => JSON.stringify({ data: [{ id: 1 }, { id: 2 }], ...signs });

  test.each([
    { has_more: true },
    { done: false },
    { info: { more_records: true } },
    { additional_data: { pagination: { more_items_in_collection: true } } },
    { paging: { next: { after: '2' } } },
    { links: { next: 'https://x.example/2' } },
    { '@odata.nextLink': 'https://x.example/2' },
    { nextPageToken: 'abc' },
    { _links: { next: { href: '/2' } } },
    { next_page: 2 },
    { next: 'https://x.example/2' },
    { meta: { next_cursor: 'abc' } },
    { nextRecordsUrl: '/2' },
    { pageInfo: { hasNextPage: true } },
    { page: 1, total_pages: 3 },
    { meta: { current_page: 1, last_page: 2 } },
    { number: 0, totalPages: 2, last: false },
    { total: 120 },
    { meta: { total_count: 3 } },
    { continuationToken: 'x' },
    { hasMore: true },
    { isLast: false },
  ])('%j', async (signs) => expect(await codesOf(around(signs))).toEqual(['more_pages']));

  test.each([
    {},
    { has_more: false, next_page: null },
    { paging: {} },
    { paging: { next: {} } },
    { links: { next: null, prev: 'https://x.example/1', self: 'https://x.example/2' } },
    { _links: { next: { href: null } } },
    { nextPageToken: '' },
    { page: 3, total_pages: 3 },
    { number: 1, totalPages: 2, last: true },
    { total: 2 },
    { pageInfo: { hasNextPage: false, endCursor: 'abc' } },
    { done: true, totalSize: 2 },
    { sum: { total: 1234.5 } },
  ])('and not %j', async (signs) => expect(await codesOf(around(signs))).toEqual([]));
});

test.each(['{"id":1}\r\n{"id":2}\r\n', '{"id":1} \t\r\n{"id":2}', '{"id":1,\r"name":"x"}\n{"id":2}'])(
  'raw records of NDJSON with other line ends are one line of JSON everywhere: %j',
  async (text) => {
    const { run, command, state, stored } = await project({
      'it.ndjson': text,
      'mapping.yaml': mapping({
        it: 'type: lead/created, data: { external_id: id, full_name: { from: name, required: true } }',
      }).replace('it.csv', 'it.ndjson'),
    });
    await run('--dry-run', '--offline');
    const plan = await command('plan', '--dry-run', '--json');
    expect(plan.stdout).not.toContain('\r');
    expect(
      plan.stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { raw: { id: number } }).raw.id),
    ).toEqual([1, 2]);
    const broken = "select 1 from record where raw like '%' || char(13) || '%'";
    expect(await rowsIn(state('dry-run'), broken)).toEqual([]);
    const rejects = await stored('dry-run/rejects/it.ndjson');
    expect(rejects).not.toContain('\r');
    for (const line of rejects.trim().split('\n')) JSON.parse(line);
  },
);

describe('tables', () => {
  test.each([
    ['Id,Name,\n1,Ada,VIP\n2,Bob,\n', 1],
    ['Id,Name,,\n1,Ada,,x\n2,Bob,y,\n3,Cy,,\n4,Di,,\n', 2],
    ['Id,Name,\n1,Ada,\n2,Bob, \n', 0],
    ['Id,Name\n1,Ada\n', 0],
  ])('values below a last column without a name are said: %j', async (text, count) => {
    const source = await openIn(folderWith({ 'a.csv': text }), 'a.csv');
    await readAll(source);
    expect(source.notices().map(({ code, message }) => [code, Number(/\d+/.exec(message)![0])])).toEqual(
      count === 0 ? [] : [['unnamed_values', count]],
    );
  });

  test("a guard's apostrophe is taken off where a spreadsheet would take the rest for something else, and counted", async () => {
    const cells = ["'=Bob", "'00123", "'+1 519 555 0100", "'-5", "'@ada", "'\tx", "'t Hooft", "O'Neil", "''=x", "'a"];
    const source = await openIn(
      folderWith({ 'a.csv': `id,v\n${cells.map((cell, at) => `${at},"${cell}"`).join('\n')}\n` }),
      'a.csv',
    );
    const values = (await readAll(source)).map(({ raw }) => (raw as string[])[1]);
    expect(values).toEqual([
      '=Bob',
      '00123',
      '+1 519 555 0100',
      '-5',
      '@ada',
      '\tx',
      "'t Hooft",
      "O'Neil",
      "''=x",
      "'a",
    ]);
    expect(source.notices()).toMatchObject([
      { code: 'guard_apostrophe', at: { line: 2 }, message: expect.stringMatching(/^6 .*'=Bob/) as string },
    ]);
  });

  test('what the first records show of a column holds for all of it, and values that are otherwise are counted', async () => {
    const rows = Array.from({ length: 1_200 }, (_, at) => `${at + 1}.0,'n${at}`).join('\n');
    const source = await openIn(folderWith({ 'a.csv': `id,name\n${rows}\nA7,Bob\n8,'9\n` }), 'a.csv');
    source.expectIds([{ path: 'id', column: 0 }]);
    const read = (await readAll(source)).map(({ raw }) => raw);
    expect([read[0], ...read.slice(-2)]).toEqual([
      ['1', 'n0'],
      ['A7', 'Bob'],
      ['8', '9'],
    ]);
    expect(
      source.notices().map(({ code, at, message }) => [code, at?.line, ...message.match(/\d[\d,]*(?= )/g)!]),
    ).toEqual([
      ['guard_apostrophe', 2, '1,201', '1'],
      ['ids_as_decimals', 2, '1,200', '2'],
    ]);
    const mixed = await openIn(folderWith({ 'a.csv': 'id,name\n1.0,Ada\n2,Bob\n' }), 'a.csv');
    mixed.expectIds([{ path: 'id', column: 0 }]);
    expect((await readAll(mixed)).map(({ raw }) => (raw as string[])[0])).toEqual(['1.0', '2']);
  });
});
