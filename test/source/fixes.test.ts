import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/problem.ts';
import { withFixes } from '../../src/source/index.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';

const EXPORT = 'ID,Status,Status,Note\n1,a,b,"x\ny"\n2,a,b,z,surplus\n3,c\n';

describe('corrected rejects of a table', () => {
  test('replace the records that they identify, and nothing else', async () => {
    const folder = folderWith({
      'deals.csv': EXPORT,
      'fixed.csv': `ID,Status,Status,Note,_file,_record,_line,_error\n2,A,B,"'=Z",deals.csv,2,4,too many cells\n`,
    });
    const source = await openIn(folder, 'deals.csv');
    const before = await readAll(source);
    const fixed = await withFixes(source, join(folder, 'fixed.csv'));
    const after = await readAll(fixed);
    expect(after[0]).toEqual(before[0]);
    expect(before[1]).toMatchObject({ kind: 'unreadable', issue: { code: 'too_many_cells' } });
    expect(after[1]).toEqual({ kind: 'row', place: before[1]!.place, raw: ['2', 'A', 'B', '=Z'], issues: [] });
    expect(after[2]).toEqual(before[2]);
    expect(after).toHaveLength(3);
    expect(fixed.digests()).toEqual(source.digests());
    expect(fixed.columns).toEqual(source.columns);
    expect(fixed.description).toBe('UTF-8, `,`, 4 columns, 1 corrected record');
  });

  test('may have their columns in a different order, and be saved by a spreadsheet', async () => {
    const folder = folderWith({
      'deals.csv': EXPORT,
      'fixed.csv': '\ufeff_record;Note;_file;ID;Status;Status\r\n3;n;deals.csv;3;first;second\r\n',
    });
    const fixed = await withFixes(await openIn(folder, 'deals.csv'), join(folder, 'fixed.csv'));
    expect((await readAll(fixed))[2]!.raw).toEqual(['3', 'first', 'second', 'n']);
  });

  test('are matched to their file for any directory that the paths are relative to', async () => {
    const folder = folderWith({ 'fixed.csv': 'ID,_file,_record\nA,../x/a/deals.csv,1\nB,b/deals.csv,1\n' });
    for (const name of ['a', 'b']) {
      mkdirSync(join(folder, 'x', name), { recursive: true });
      writeFileSync(join(folder, 'x', name, 'deals.csv'), `ID\n${name}\n`);
    }
    const fixed = await withFixes(await openIn(folder, 'x/*/deals.csv'), join(folder, 'fixed.csv'));
    expect((await readAll(fixed)).map(({ raw }) => raw)).toEqual([['A'], ['B']]);
  });

  test.each([
    ['without `_file`', 'ID,Status,Status,Note,_record\n1,a,b,c,1\n', 'missing column `_file` [missing_column]'],
    [
      'without a column',
      'ID,Status,Note,_file,_record\n1,a,b,deals.csv,1\n',
      'missing column `Status` [missing_column]',
    ],
    [
      'with another column',
      'ID,Status,Status,Note,Notes,_file,_record\n1,a,b,c,d,deals.csv,1\n',
      'unknown column `Notes`: the export does not have it [unknown_column]\n  hint: did you mean `Note`?',
    ],
    [
      'for another file',
      'ID,Status,Status,Note,_file,_record\n1,a,b,c,deal.csv,1\n',
      ':2:1 error: `_file` is not a file of this source: "deal.csv" [unknown_file]\n  hint: did you mean `deals.csv`?',
    ],
    [
      'without a number',
      'ID,Status,Status,Note,_file,_record\n1,a,b,c,deals.csv,\n',
      ':2:1 error: `_record` is not a record number: "" [no_record]',
    ],
    [
      'twice for one record',
      'ID,Status,Status,Note,_file,_record\n1,a,b,c,deals.csv,1\n1,a,b,d,deals.csv,1\n',
      ':3:1 error: record 1 of deals.csv is already corrected on line 2 [fixed_twice]',
    ],
    [
      'that are unreadable themselves',
      'ID,Status,Status,Note,_file,_record\n1,a,b,c,deals.csv,1,surplus\n1,a,b,c,deals.csv,2\n1,a,b,c,deals.csv,3\n',
      ':2:1 error: the row has 7 cells, but the header has 6; unexpected: "surplus" [too_many_cells]',
    ],
  ])('are rejected %s', async (_, text, message) => {
    const folder = folderWith({ 'deals.csv': EXPORT, 'fixed.csv': text });
    const error = await failure(withFixes(await openIn(folder, 'deals.csv'), join(folder, 'fixed.csv')));
    expect(error).toBeInstanceOf(ProblemsError);
    expect(error.message).toContain(message);
  });

  test('that identify a record which does not exist are rejected after a complete reading', async () => {
    const folder = folderWith({
      'deals.csv': EXPORT,
      'fixed.csv': 'ID,Status,Status,Note,_file,_record\n1,a,b,c,deals.csv,4\n',
    });
    const fixed = await withFixes(await openIn(folder, 'deals.csv'), join(folder, 'fixed.csv'));
    const error = await failure(readAll(fixed));
    expect(error).toBeInstanceOf(ProblemsError);
    expect(error.message).toContain(':2:1 error: deals.csv has no record 4 [unknown_record]');
  });

  test('must be a table too', async () => {
    const folder = folderWith({ 'deals.csv': EXPORT, 'fixed.ndjson': '{"_file":"deals.csv","_record":1}\n' });
    const error = await failure(withFixes(await openIn(folder, 'deals.csv'), join(folder, 'fixed.ndjson')));
    expect(error.message).toContain('source `it` is a table, so its fix file must be CSV');
  });
});

describe('corrected rejects of JSON', () => {
  test('replace the records that they identify, and keep all digits', async () => {
    const folder = folderWith({
      'deals.json': '[{"id":1},{"id":2,"id":3},{"id":4}]',
      'fixed.ndjson': '{"id":5.10,"__proto__":1,"_file":"deals.json","_record":2,"_line":1,"_error":"x"}\n',
    });
    const fixed = await withFixes(await openIn(folder, 'deals.json'), join(folder, 'fixed.ndjson'));
    const items = await readAll(fixed);
    expect(items.map(({ kind }) => kind)).toEqual(['row', 'row', 'row']);
    expect(Object.entries(items[1]!.raw!)).toEqual([
      ['id', { text: '5.10' }],
      ['__proto__', 1],
    ]);
    expect(items[1]!.place).toEqual({ source: 'it', file: 'deals.json', line: 1, record: 2 });
  });

  test('are rejected without `_file` and `_record`', async () => {
    const folder = folderWith({ 'deals.json': '[{"id":1}]', 'fixed.ndjson': '{"id":5}\n' });
    const error = await failure(withFixes(await openIn(folder, 'deals.json'), join(folder, 'fixed.ndjson')));
    expect(error.message).toContain(':1:1 error: `_file` is not a file of this source: ""');
  });
});
