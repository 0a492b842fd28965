// Lost without it: a correction could replace another record.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/problem.ts';
import { shortPath } from '../../src/files/paths.ts';
import { withFixes } from '../../src/input/fixes.ts';
import { rowHasher } from '../../src/input/reject-columns.ts';
import type { Source } from '../../src/input/source.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';

const EXPORT = 'ID,Status,Status,Note\n1,a,b,"x\ny"\n2,a,b,z,surplus\n3,c\n';

/** What names each record of a source in `_row`. */
async function rowsOf(source: Source): Promise<string[]> {
  const hashOf = rowHasher(source.columns);
  return (await readAll(source)).map((item) => (item.kind === 'row' && item.corrects?.row) || hashOf(item.raw!));
}

function fixedBy(source: Source, folder: string, ...names: readonly string[]) {
  const { name, files } = source;
  return withFixes(source, { name, path: files[0]!.path, fixes: names.map((each) => join(folder, each)) });
}

/** The places of unused corrections as `file:line`. */
function unusedOf(source: Source): string[] {
  return source.unusedFixes().map(({ file, line }) => `${basename(file)}:${line}`);
}

describe('corrected rejects of a table', () => {
  test('replace the records whose content they name, and nothing else', async () => {
    const folder = folderWith({ 'deals.csv': EXPORT });
    const source = await openIn(folder, 'deals.csv');
    const before = await readAll(source);
    const [, row] = await rowsOf(source);
    const text = `ID,Status,Status,Note,_file,_line,_error,_row\n2,A,B,"'=Z",deals.csv,4,too many cells,${row}\n`;
    writeFileSync(join(folder, 'fixed.csv'), text);
    const fixed = await fixedBy(source, folder, 'fixed.csv');
    const after = await readAll(fixed);
    expect(after[0]).toEqual(before[0]);
    expect(before[1]).toMatchObject({ kind: 'unreadable', issue: { code: 'too_many_cells' } });
    const place = { source: 'it', file: shortPath(join(folder, 'fixed.csv')), line: 2, record: 1 };
    const corrects = { row, raw: before[1]!.raw, place: before[1]!.place };
    expect(after[1]).toEqual({ kind: 'row', place, raw: ['2', 'A', 'B', '=Z'], issues: [], corrects });
    expect(after[2]).toEqual(before[2]);
    expect(after).toHaveLength(3);
    expect(fixed.unusedFixes()).toEqual([]);
    expect(fixed.digests()).toEqual([
      ...source.digests()!,
      expect.objectContaining({ path: join(folder, 'fixed.csv'), rows: 1 }),
    ]);
    expect(fixed.columns).toEqual(source.columns);
    expect(fixed.description).toBe('UTF-8, `,`, 4 columns, 1 corrected record');
  });

  test('may have their columns in a different order, and be saved by a spreadsheet', async () => {
    const folder = folderWith({ 'deals.csv': EXPORT });
    const source = await openIn(folder, 'deals.csv');
    const row = (await rowsOf(source))[2];
    writeFileSync(join(folder, 'fixed.csv'), `\ufeff_row;Note;ID;Status;Status\r\n${row};n;3;first;second\r\n`);
    const fixed = await fixedBy(source, folder, 'fixed.csv');
    expect((await readAll(fixed))[2]!.raw).toEqual(['3', 'first', 'second', 'n']);
  });

  test('find their records in an export with other rows, columns, delimiter, encoding and file names', async () => {
    const folder = folderWith({ 'old.csv': 'ID,Name\n1,Zoë\n2,Bob\n' });
    const [row] = await rowsOf(await openIn(folder, 'old.csv'));
    mkdirSync(join(folder, 'new'));
    writeFileSync(join(folder, 'new/a.csv.gz'), gzipSync(Buffer.from('Name;New;ID\nAmy;;0\nBob;;2\n', 'latin1')));
    writeFileSync(
      join(folder, 'new/b.csv.gz'),
      gzipSync(Buffer.from('Name;New;ID\nZo\xeb;;1\nZo\xeb;x;1\n', 'latin1')),
    );
    writeFileSync(join(folder, 'fixed.csv'), `Name,New,ID,_row\nChloé,y,1,${row}\n`);
    const fixed = await fixedBy(
      await openIn(folder, 'new/*.csv.gz', { encoding: 'windows-1252', delimiter: ';' }),
      folder,
      'fixed.csv',
    );
    expect((await readAll(fixed)).map(({ raw }) => raw)).toEqual([
      ['Amy', '', '0'],
      ['Bob', '', '2'],
      ['Chloé', 'y', '1'],
      ['Zoë', 'x', '1'],
    ]);
  });

  test('are listed by their places, however often the source is read, where the input lacks their records', async () => {
    const folder = folderWith({ 'deals.csv': 'ID\n1\n2\n' });
    const [one, two] = await rowsOf(await openIn(folder, 'deals.csv'));
    writeFileSync(join(folder, 'deals.csv'), 'ID\n0\n1\n');
    writeFileSync(join(folder, 'fixed.csv'), `ID,_row\n10,${one}\n20,${two}\n`);
    const fixed = await fixedBy(await openIn(folder, 'deals.csv'), folder, 'fixed.csv');
    for (let time = 0; time < 2; time += 1) {
      expect((await readAll(fixed)).map(({ raw }) => raw)).toEqual([['0'], ['10']]);
    }
    expect(unusedOf(fixed)).toEqual(['fixed.csv:3']);
  });

  test('replace every record with the content that they name', async () => {
    const folder = folderWith({ 'deals.csv': 'ID\n1\n2\n1\n' });
    const source = await openIn(folder, 'deals.csv');
    const [row, other] = await rowsOf(source);
    writeFileSync(join(folder, 'fixed.csv'), `ID,_row\n5,${row}\n5,${row}\n`);
    const fixed = await fixedBy(source, folder, 'fixed.csv');
    expect((await readAll(fixed)).map(({ raw }) => raw)).toEqual([['5'], ['2'], ['5']]);
    expect(await rowsOf(fixed)).toEqual([row, other, row]);
  });

  test('correct nothing in rows that were left as they are, and add to those of files before', async () => {
    const folder = folderWith({ 'deals.csv': 'ID\n1\n2\n3\n' });
    const source = await openIn(folder, 'deals.csv');
    const [one, two, three] = await rowsOf(source);
    writeFileSync(join(folder, 'first.csv'), `ID,_row\n10,${one}\n20,${two}\n3,${three}\n`);
    writeFileSync(join(folder, 'second.csv'), `ID,_row\n1,${one}\n21,${two}\n`);
    // A file named twice, once by a glob, is read once.
    const fixed = await fixedBy(source, folder, 'first.csv', '[fs]*.csv');
    expect((await readAll(fixed)).map(({ raw }) => raw)).toEqual([['10'], ['21'], ['3']]);
    expect(fixed.description).toContain('2 corrected records');
    expect(fixed.notices().map(({ code, at, message }) => [code, basename(at!.file), message])).toEqual([
      ['fixed_again', 'second.csv', expect.stringMatching(/^1 record .*first\.csv/)],
    ]);
  });

  test('name a corrected record by its original, so that it can be corrected again', async () => {
    const folder = folderWith({ 'deals.csv': 'ID\n1\n2\n' });
    const source = await openIn(folder, 'deals.csv');
    const [one, two] = await rowsOf(source);
    // The first record becomes the same as the second, which stays another record.
    writeFileSync(join(folder, 'fixed.csv'), `ID,_row\n2,${one}\n`);
    const fixed = await fixedBy(source, folder, 'fixed.csv');
    expect(await rowsOf(fixed)).toEqual([one, two]);
    writeFileSync(join(folder, 'again.csv'), `ID,_row\n3,${one}\n`);
    const again = await fixedBy(source, folder, 'fixed.csv', 'again.csv');
    expect((await readAll(again)).map(({ raw }) => raw)).toEqual([['3'], ['2']]);
  });

  test('leave the cells of columns that they do not have as they are', async () => {
    const folder = folderWith({ 'deals.csv': 'ID,Status,Status,Note\n1,a,b,c\n' });
    const source = await openIn(folder, 'deals.csv');
    const [row] = await rowsOf(source);
    writeFileSync(join(folder, 'fixed.csv'), `Status,_row\nA,${row}\n`);
    const fixed = await fixedBy(source, folder, 'fixed.csv');
    expect((await readAll(fixed))[0]!.raw).toEqual(['1', 'A', 'b', 'c']);
  });

  test('keep columns of the export that are named like those that rejects add', async () => {
    const folder = folderWith({ 'deals.csv': '_row,_file,__error,ID\na,b,c,1\n' });
    const source = await openIn(folder, 'deals.csv');
    const [row] = await rowsOf(source);
    const text = `_row,_file,__error,ID,___file,___line,___error,___row\nA,B,C,2,deals.csv,2,bad,${row}\n`;
    writeFileSync(join(folder, 'fixed.csv'), text);
    const fixed = await fixedBy(source, folder, 'fixed.csv');
    expect((await readAll(fixed))[0]!.raw).toEqual(['A', 'B', 'C', '2']);
  });

  const ROW = 'r0123456789abcdef0123';

  test.each([
    ['without `_row`', 'ID,Status,Status,Note\n1,a,b,c\n', 'missing column `_row` [missing_column]'],
    [
      'with another column',
      `ID,Status,Status,Note,Notes,_row\n1,a,b,c,d,${ROW}\n`,
      'unknown column `Notes`: the export does not have it [unknown_column]\n  hint: did you mean `Note`?',
    ],
    [
      'with a damaged `_row`',
      `ID,Status,Status,Note,_row\n1,a,b,c,${ROW}\n1,a,b,c,1.2E+10\n`,
      ':3:1 error: `_row` does not name a record: "1.2E+10" [no_row]',
    ],
    [
      'twice for one record',
      `ID,Status,Status,Note,_row\n1,a,b,c,${ROW}\n1,a,b,d,${ROW}\n`,
      ':3:1 error: this record is already corrected on line 2, with other values [fixed_twice]',
    ],
    [
      'that are unreadable themselves',
      `ID,Status,Status,Note,_row\n1,a,b,c,${ROW},surplus\n1,a,b,c,${ROW}\n`,
      ':2:1 error: the row has 6 cells, but the header has 5; unexpected: "surplus" [too_many_cells]',
    ],
  ])('are rejected %s', async (_, text, message) => {
    const folder = folderWith({ 'deals.csv': EXPORT, 'fixed.csv': text });
    const error = await failure(fixedBy(await openIn(folder, 'deals.csv'), folder, 'fixed.csv'));
    expect(error).toBeInstanceOf(ProblemsError);
    expect(error.message).toContain(message);
  });

  test('must be a table too', async () => {
    const folder = folderWith({ 'deals.csv': EXPORT, 'fixed.ndjson': `{"_row":"${ROW}"}\n` });
    const error = await failure(fixedBy(await openIn(folder, 'deals.csv'), folder, 'fixed.ndjson'));
    expect(error.message).toContain('source `it` is a table, so its fix file must be CSV');
  });
});

describe('the files of corrections', () => {
  test('may lie beside the exports that a glob matches, and are no exports themselves', async () => {
    const folder = folderWith({ 'a.csv': 'ID\n1\n', 'b.csv': 'ID\n2\n' });
    const [one] = await rowsOf(await openIn(folder, '*.csv'));
    writeFileSync(join(folder, 'c.csv'), `ID,_row\n10,${one}\n`);
    const spec = { fixes: [join(folder, 'c.csv')] };
    const fixed = await fixedBy(await openIn(folder, '*.csv', spec), folder, 'c.csv');
    expect((await readAll(fixed)).map(({ raw }) => raw)).toEqual([['10'], ['2']]);
    expect(fixed.files.map(({ path }) => basename(path))).toEqual(['a.csv', 'b.csv', 'c.csv']);
    const none = await failure(openIn(folder, 'c.csv', spec));
    expect(none.message).toContain('`fixes` names every file of its path');
  });
});

describe('corrected rejects of JSON', () => {
  test('replace the records whose content they name, whatever the order of keys, and keep all digits', async () => {
    const folder = folderWith({ 'deals.json': '[{"id":1},{"id":2,"n":5.10,"id":3},{"id":4}]' });
    const [, row] = await rowsOf(await openIn(folder, 'deals.json'));
    writeFileSync(join(folder, 'newer.json'), '[{"id":0},{"n":5.10,"id":3},{"n":5.1,"id":3}]');
    writeFileSync(
      join(folder, 'fixed.ndjson'),
      `{"id":5.10,"__proto__":1,"_file":"deals.json","_line":1,"_error":"x","_row":"${row}"}\n`,
    );
    const fixed = await fixedBy(await openIn(folder, 'newer.json'), folder, 'fixed.ndjson');
    const items = await readAll(fixed);
    expect(items.map(({ kind }) => kind)).toEqual(['row', 'row', 'row']);
    expect(Object.entries(items[1]!.raw!)).toEqual([
      ['id', { text: '5.10' }],
      ['__proto__', 1],
    ]);
    expect(items[1]!.place).toEqual({
      source: 'it',
      file: shortPath(join(folder, 'fixed.ndjson')),
      line: 1,
      record: 1,
    });
    expect(items[2]!.raw).toEqual({ n: 5.1, id: 3 });
  });

  test('keep keys of the record that are named like those that rejects add', async () => {
    const folder = folderWith({ 'deals.ndjson': '{"_row":1,"__file":2}\n{"row":3}\n' });
    const source = await openIn(folder, 'deals.ndjson');
    const [first, second] = await rowsOf(source);
    const lines = [
      { _row: 10, __file: 20, ___file: 'deals.ndjson', ___line: 1, ___error: 'x', ___row: first },
      { row: 30, _file: 'deals.ndjson', _line: 2, _error: 'x', _row: second },
    ];
    writeFileSync(join(folder, 'fixed.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const fixed = await fixedBy(source, folder, 'fixed.ndjson');
    expect((await readAll(fixed)).map(({ raw }) => raw)).toEqual([{ _row: 10, __file: 20 }, { row: 30 }]);
  });
});
