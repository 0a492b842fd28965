// Lost without it: a record could get the line of another one, or a footer become a record.
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';

describe('CSV', () => {
  test('is read in batches of a few KiB', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => `${index + 1},${'ä'.repeat(500)}`);
    const source = await openIn(folderWith({ 'a.csv': `ID,Name\n${rows.join('\n')}` }), 'a.csv');
    const sizes: number[] = [];
    for await (const batch of source.batches()) {
      sizes.push(batch.reduce((sum, { raw }) => sum + Buffer.byteLength((raw as string[])[1]!), 0));
    }
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(17 * 1024);
  });

  test.each(['\n', '\r\n', '\r'])(
    'gives every record the number of its first line, even in a large file (%j)',
    async (end) => {
      const expected: number[] = [];
      let line = 2;
      let text = `ID,Note,Owner${end}`;
      for (let id = 0; id < 5_000; id += 1) {
        const breaks = id % 7;
        if (id % 11 === 0) {
          text += end.repeat(2);
          line += 2;
        }
        expected.push(line);
        text += `${id},"${`é“${end}`.repeat(breaks)}",Ada${end}`;
        line += breaks + 1;
      }
      const folder = folderWith({ 'a.csv': text, 'b.csv.gz': gzipSync(text) });
      for (const name of ['a.csv', 'b.csv.gz']) {
        expect((await readAll(await openIn(folder, name))).map(({ place }) => place.line)).toEqual(expected);
      }
    },
  );

  test('names the line of invalid bytes late in a file', async () => {
    const rows = '1,Zoe\r\n'.repeat(20_000);
    const bad = Buffer.concat([Buffer.from(`ID,Name\r\n${rows}`), Buffer.from([0x32, 0x2c, 0xeb, 0x0a])]);
    const folder = folderWith({ 'a.csv': bad, 'b.csv.gz': gzipSync(bad) });
    for (const name of ['a.csv', 'b.csv.gz']) {
      const source = await openIn(folder, name);
      expect((await failure(readAll(source))).message).toBe(`${name}:20002 is not UTF-8 text (bytes eb)`);
    }
  });

  test('names the line of an unclosed quote, not the end of the file', async () => {
    const rows = '1,"a\r\nb"\r\n'.repeat(10_000);
    const source = await openIn(
      folderWith({ 'a.csv': `ID,Name\r\n${rows}2,"x\r\n${'3,y\r\n'.repeat(1000)}` }),
      'a.csv',
    );
    expect((await failure(readAll(source))).message).toBe('a.csv:20002: a quote opens here and is never closed');
  });

  test('an unclosed quote in a large file is reported after 16 MiB', async () => {
    const source = await openIn(folderWith({ 'a.csv': `ID,Name\n1,x\n2,"x\n${'3,y\n'.repeat(5_000_000)}` }), 'a.csv');
    expect((await failure(readAll(source))).message).toBe(
      'a.csv:3: a quote opens here and is not closed within 16 MiB',
    );
  });

  test('a cell as large as the body of a request is read, with its line', async () => {
    const note = `"${'A "" line\n'.repeat(1_000_000)}"`;
    const source = await openIn(folderWith({ 'a.csv': `ID,Note\n1,x\n2,${note}\n3,y\n` }), 'a.csv');
    const items = await readAll(source);
    expect(items.map(({ place, raw }) => [place.line, (raw as string[])[1]!.length])).toEqual([
      [2, 1],
      [3, 9_000_000],
      [1_000_004, 1],
    ]);
  });

  test.each([
    ['delimiters', `2${','.repeat(20_000_000)}\n`, 'a.csv.gz:3: this record is larger than 16 MiB'],
    ['text', `${'x'.repeat(20_000_000)}\n`, 'a.csv.gz:3: this record is larger than 16 MiB'],
    ['blank lines', `2,y\r3,z\n${'\n'.repeat(20_000_000)}`, 'this record is larger than 16 MiB'],
  ])('a long run of %s is an error, and is not read into memory', async (_name, text, message) => {
    const folder = folderWith({ 'a.csv.gz': gzipSync(`ID,Name\n1,x\n${text}`) });
    const error = await failure(openIn(folder, 'a.csv.gz').then(readAll));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(message);
  });

  test('a header may be as long as any record', async () => {
    const names = Array.from({ length: 2500 }, (_, index) => `"A property of the contacts, number ${index}"`);
    const header = names.join(';');
    expect(header.length).toBeGreaterThan(100_000);
    const cells = names.map((_, index) => index).join(';');
    const folder = folderWith({
      'a.csv': `${header}\r\n${cells}\r\n`,
      'b.csv': header,
      'c.csv': `Export\n\n${header}\n`,
    });
    const source = await openIn(folder, 'a.csv');
    expect(source.columns).toHaveLength(2500);
    expect(source.columns[2499]).toBe('A property of the contacts, number 2499');
    expect((await readAll(source)).map(({ raw }) => (raw as string[])[2499])).toEqual(['2499']);
    expect((await openIn(folder, 'b.csv')).columns).toHaveLength(2500);
    expect((await openIn(folder, 'c.csv', { headerLine: 3 })).columns).toHaveLength(2500);
  });

  test.each([
    ['a footer padded with empty cells', ['', 'Generated by Acme on 3 May,,'], 'report_footer'],
    ['a footer below a padded blank line', [',,', 'Generated by Acme on 3 May,,'], 'report_footer'],
    ['totals without an id', [',Total,1250.00'], 'total_row'],
    ['totals in the place of the id', ['Gesamt:,,"1.250,00 €"'], 'total_row'],
    ['totals with a count', ['Total (2),,"$1,250"'], 'total_row'],
    ['totals in another language', [',celkem,1250'], 'total_row'],
    ['a count alone', [',,Итого: 2 клиента'], 'total_row'],
    ['a Ctrl-Z', ['\x1a'], 'end_of_file_mark'],
    ['a rule', ['---,-----,------'], 'ruled_line'],
  ])('%s is no record, and said to be none', async (_name, lines, code) => {
    const text = ['ID,Name,Amount', '1,Ada,500', '2,Grace,750', ...lines, ''].join('\n');
    const items = await readAll(await openIn(folderWith({ 'a.csv': text }), 'a.csv'));
    expect(items.map(({ kind }) => kind)).toEqual(['row', 'row', 'unreadable']);
    expect(items[2]).toMatchObject({ issue: { severity: 'warning', code } });
  });

  test.each([
    ['a company of that name', '00012,Total,3'],
    ['a company of that name with other data', ',Total,SA'],
    ['a row of that name before other records', ',Total,1250.00\n3,Alan,7'],
    ['a row with missing values', '-,-,-'],
    ['an id alone, without a blank line', '3,,'],
  ])('%s is a record', async (_name, line) => {
    const items = await readAll(await openIn(folderWith({ 'a.csv': `ID,Name,Amount\n1,Ada,5\n${line}\n` }), 'a.csv'));
    expect(items.every(({ kind }) => kind === 'row')).toBe(true);
  });

  const joined = async (...lines: readonly string[]) => {
    const text = ['ID,Full Name,Email', '1,Ada,ada@x.example', '2,Bob,bob@x.example', ...lines, ''].join('\n');
    const items = (await readAll(await openIn(folderWith({ 'a.csv': text }), 'a.csv'))).slice(2);
    return items.map((item) => (item.kind === 'row' ? item.raw : item.issue.code));
  };

  test.each([
    ['in the same order', 'ID,Full Name,Email', '3,Cy,cy@x.example'],
    ['in another letter case', 'id,FULL_NAME,E-mail', '3,Cy,cy@x.example'],
    ['in another order', 'Email,ID,Full Name', 'cy@x.example,3,Cy'],
    ['in another order and letter case', 'E-MAIL,full name,Id', 'cy@x.example,Cy,3'],
  ])('below the header once more, %s, the rows are read by it', async (_, header, row) => {
    expect(await joined(header, row, 'ID,Full Name,Email', '4,Di,')).toEqual([
      'repeated_header',
      ['3', 'Cy', 'cy@x.example'],
      'repeated_header',
      ['4', 'Di', ''],
    ]);
  });

  test.each([
    ['another column', 'ID,Full Name,Phone'],
    ['one column more', 'ID,Full Name,Email,Phone'],
    ['names in another language', 'Kennung,Name,E-Mail-Adresse'],
    ['no name in common', 'Nummer,Kunde,Adresse'],
  ])('below a header with %s, no row is read until a known one', async (_, header) => {
    expect(await joined(header, '3,Cy,555', 'Cy,3,x', 'ID,Full Name,Email', '4,Di,')).toEqual([
      'other_header',
      'other_header',
      'other_header',
      'repeated_header',
      ['4', 'Di', ''],
    ]);
  });

  test('a second header below the first one is no record', async () => {
    const records = ['7,Ada,ada@x.example', '8,Bob,bob@x.example', '9,Cy,cy@x.example'];
    const kinds = async (first: string, rows: readonly string[]) => {
      const text = ['id,name,email', first, ...rows, ''].join('\n');
      return (await readAll(await openIn(folderWith({ 'a.csv': text }), 'a.csv'))).map(({ kind }) => kind);
    };
    expect(await kinds('Record ID,Full name,E-mail address', records)).toEqual(['unreadable', 'row', 'row', 'row']);
    expect(await kinds('A7,Zoe,', records)).toEqual(['row', 'row', 'row', 'row']);
    expect(await kinds('Record ID,Full name,E-mail address', records.slice(1))).toEqual(['row', 'row', 'row']);
  });

  test.each(['A,B,none', 'X1,Email,', 'Email,,', 'ID,Cy,cy@x.example', ',Full Name,unknown'])(
    'a record is none, whatever its texts: %s',
    async (row) => {
      const [read] = await joined(row);
      if (row === 'A,B,none') expect(read).toBe('other_header');
      else expect(Array.isArray(read)).toBe(true);
    },
  );

  test.each(['\n', '\r\n', '\r'])('cells written as formulas are read as the text in them (%j)', async (end) => {
    const rows = Array.from({ length: 2000 }, (_, at) => `="000${at}",=" é ",Ada,"=""0${at}""","a, =""x"", b"`);
    const text = ['ID,Note,Name,Ref,Text', ...rows].join(end);
    const source = await openIn(folderWith({ 'a.csv': text }), 'a.csv');
    const items = await readAll(source);
    expect(items).toHaveLength(2000);
    expect(items[1321]!.raw).toEqual(['0001321', ' é ', 'Ada', '01321', 'a, ="x", b']);
    const message = expect.stringContaining('6000') as string;
    expect(source.notices()).toMatchObject([{ code: 'unwrapped_cells', message }]);
  });
});
