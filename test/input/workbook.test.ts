// Lost without it: a cell could be read as another value, or a bomb fill the memory.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { dateKind, dateText, numberText } from '../../src/input/workbook/cells.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';
import { workbookOf } from './zip.ts';

function folderOf(workbook: string, name = workbook): string {
  const folder = folderWith({});
  copyFileSync(join(FIXTURES, 'workbooks', workbook), join(folder, name));
  return folder;
}

const sheetOf = (rows: string): string => `<worksheet><sheetData>${rows}</sheetData></worksheet>`;
const HEADER =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c><c r="B1" t="inlineStr"><is><t>value</t></is></c></row>';

const cellsSheet = (cells: string): string => sheetOf(`${HEADER}<row r="2">${cells}</row>`);

/** The cells of a hand-made sheet with a header `id`, `value`. */
async function cellsOf(rows: string, more: Readonly<Record<string, string>> = {}) {
  const source = await openIn(folderWith({ 'a.xlsx': workbookOf(sheetOf(HEADER + rows), more) }), 'a.xlsx');
  return (await readAll(source)).map(({ raw }) => raw);
}

describe('cells are read by what they hold', () => {
  const first = (long: string) => [
    '00123',
    '  Niccolò ',
    '1200.5',
    '2024-05-01T09:30:00',
    '2024-05-01',
    '09:30:00',
    '0.25',
    'true',
    '#N/A',
    'Call back & ask',
    long,
    '36:00:00',
  ];

  test.each(['cells-openpyxl.xlsx', 'cells-libreoffice.xlsx', 'cells-1904.xlsx'])('%s', async (file) => {
    const source = await openIn(folderOf(file), file);
    expect(source.columns).toEqual([
      'ID',
      'Name',
      'Amount',
      'Created',
      'Day',
      'Time',
      'Share',
      'Active',
      'Status',
      'Note',
      'Long',
      'Span',
    ]);
    const items = await readAll(source);
    const [one, two, three] = items.map(({ raw }) => raw as string[]);
    expect(one).toEqual(first('1.23456789012346E+19'));
    const isComputed = file === 'cells-libreoffice.xlsx';
    expect(two).toEqual([
      '12345678901234567890',
      'Łukasz',
      '0.3',
      '1900-03-01T00:00:00',
      '1999-12-31',
      '23:59:59',
      '1',
      'false',
      isComputed ? '#DIV/0!' : '',
      'line\nbreak',
      '123456789012345',
      '01:30:00',
    ]);
    expect(three).toEqual([
      '42',
      isComputed ? '42x' : '',
      '-0.0000001',
      '2038-01-19T03:14:07',
      '2000-02-29',
      '00:00:00',
      '0.5',
      '',
      'ok',
      'a\rb',
      '7',
      '',
    ]);
    expect(source.notices().map(({ code, at }) => [code, at?.file])).toEqual([
      ['sheet_contents', `${file}#Deals!${isComputed ? 'K2' : 'I3'}`],
    ]);
    expect(items.map(({ place: { file: shown, line } }) => [shown, line])).toEqual(
      [2, 3, 4].map((line) => [`${file}#Deals`, line]),
    );
  });

  test('prefixes, cells without a reference, texts of formulas, ISO dates, readings of characters, rich text', async () => {
    expect(
      await cellsOf(
        '<x:row><x:c t="s"><x:v>1</x:v></x:c><x:c t="str"><x:f>A1</x:f><x:v>a&amp;b</x:v></x:c></x:row>' +
          '<row><c t="d"><v>2024-05-01T10:00:00</v></c><c t="e"><v>#REF!</v></c></row>' +
          '<row r="9"><c r="B9" t="inlineStr"><is><r><t>東</t></r><rPh><t>ひがし</t></rPh><r><t xml:space="preserve"> 京</t></r></is></c></row>',
        { 'xl/sharedStrings.xml': '<sst><si><t>zero</t></si><si><r><t>on</t></r><r><t>e</t></r></si></sst>' },
      ),
    ).toEqual([
      ['one', 'a&b'],
      ['2024-05-01T10:00:00', '#REF!'],
      ['', '東 京'],
    ]);
  });

  test.each([
    ['0.30000000000000004', '0.3'],
    ['1200.5', '1200.5'],
    ['1E3', '1000'],
    ['1.5E-7', '0.00000015'],
    ['-2.50', '-2.5'],
    ['12345678901234567', '12345678901234567'],
    ['1.2345678901234567E+19', '1.23456789012346E+19'],
    ['123456789012345000', '1.23456789012345E+17'],
    ['1234567890123450', '1.23456789012345E+15'],
    ['1234567890123457', '1234567890123457'],
    ['0.1', '0.1'],
    ['-0', '0'],
    ['99.989999999999995', '99.99'],
    ['123456.78900000001', '123456.789'],
    ['0', '0'],
  ])('the number %s is %s', (written, text) => expect(numberText(written)).toBe(text));

  test.each([
    [14, undefined, 'date'],
    [21, undefined, 'time'],
    [22, undefined, 'datetime'],
    [46, undefined, 'duration'],
    [9, undefined, undefined],
    [164, 'yyyy"-"mm', 'date'],
    [164, '[$-407]d. mmmm yyyy;@', 'date'],
    [164, '#,##0.00 "Std"', undefined],
    [164, '[Red]0.00', undefined],
    [164, '0.00E+00', undefined],
    [164, '[h]:mm', 'duration'],
    [164, 'mm:ss.0', 'time'],
    [164, 'General', undefined],
    [164, '_-* #,##0.00\\ "€"_-', undefined],
    [164, 'd/m/yy\\ h:mm', 'datetime'],
    [164, 'mmm', 'date'],
  ])('the number format %s %s is %s', (id, code, kind) => expect(dateKind(id, code)).toBe(kind));

  test.each([
    [1, false, '1900-01-01'],
    [59, false, '1900-02-28'],
    [60, false, '1900-02-29'],
    [61, false, '1900-03-01'],
    [45413, false, '2024-05-01'],
    [0, true, '1904-01-01'],
    [43951, true, '2024-05-01'],
    [45413.5, false, '2024-05-01T12:00:00'],
  ])('the date %s (1904: %s) is %s', (serial, is1904, text) => expect(dateText(serial, 'date', is1904)).toBe(text));

  test('numbers that are shown with zeros before them keep these', async () => {
    const rows =
      '<row r="2"><c r="A2" s="1"><v>123</v></c><c r="B2"><v>123</v></c></row>' +
      '<row r="3"><c r="A3" s="1"><v>1234567</v></c><c r="B3" s="1"><v>1.5</v></c></row>';
    const styles =
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts>' +
      '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>';
    expect(await cellsOf(rows, { 'xl/styles.xml': styles })).toEqual([
      ['00123', '123'],
      ['1234567', '1.5'],
    ]);
    const prefixed = styles.replace('00000', '&quot;D-&quot;0000');
    expect(await cellsOf(rows, { 'xl/styles.xml': prefixed })).toEqual([
      ['D-0123', '123'],
      ['D-1234567', '1.5'],
    ]);
    const money = styles.replace('00000', '&quot;€ &quot;00');
    expect((await cellsOf(rows, { 'xl/styles.xml': money }))[0]).toEqual(['123', '123']);
  });

  test.each([
    [
      'in CDATA',
      '<c t="str"><v><![CDATA[1]]></v></c><c t="inlineStr"><is><t><![CDATA[a <b>]]></t></is></c>',
      ['1', 'a <b>'],
    ],
    [
      'a shared one of a part in other letters',
      '<c t="s"><v>0</v></c><c t="n"><v>2</v></c>',
      ['zero', '2'],
      'xl/SharedStrings.xml',
    ],
    [
      'one in the last column of the sheet',
      '<c r="A2"><v>1</v></c><c r="XFD2" t="str"><v>far</v></c>',
      ['1', '', 'far'],
    ],
  ])('a text is read, whatever its form: %s', async (_name, row, expected, part = 'xl/sharedStrings.xml') => {
    expect(await cellsOf(`<row r="2">${row}</row>`, { [part]: '<sst><si><t>zero</t></si></sst>' })).toEqual([expected]);
  });
});

describe('sheets', () => {
  test('of several with rows, the mapping names one; the error lists them', async () => {
    const folder = folderOf('sheets.xlsx');
    expect(await failure(openIn(folder, 'sheets.xlsx'))).toMatchObject({
      setting: 'sheet',
      choices: ['Old deals', 'Contacts'],
    });
    const source = await openIn(folder, 'sheets.xlsx', { sheet: 'Contacts' });
    expect((await readAll(source)).map(({ raw }) => raw)).toEqual([
      ['1', 'Ada'],
      ['2', 'Bob'],
    ]);
    expect(source.notices().map(({ code }) => code)).toEqual(['sheet_contents']);
    expect(source.otherArrays()).toMatchObject([{ label: 'sheets.xlsx', names: ['Old deals'] }]);
    const hidden = await openIn(folder, 'sheets.xlsx', { sheet: 'Old deals' });
    await readAll(hidden);
    expect(hidden.notices().map(({ code, at }) => [code, at?.file])).toEqual([
      ['sheet_contents', 'sheets.xlsx#Old deals!A3'],
    ]);
    expect(await failure(openIn(folder, 'sheets.xlsx', { sheet: 'Contcts' }))).toMatchObject({
      hint: expect.stringContaining('Contacts') as string,
    });
    expect((await failure(openIn(folder, 'sheets.xlsx', { sheet: 'Empty' }))).message).toContain('is empty');
  });

  test('a workbook is recognised under any name', async () => {
    for (const name of ['crm.csv', 'crm.xlsm', 'crm', 'crm.xls']) {
      expect((await openIn(folderOf('sheets.xlsx', name), name, { sheet: 'Contacts' })).columns).toEqual([
        'id',
        'name',
      ]);
    }
  });
});

describe('what is dangerous or damaged is refused or inert', () => {
  const open = (sheet: string, more?: Readonly<Record<string, string | Buffer>>) =>
    openIn(folderWith({ 'a.xlsx': workbookOf(sheet, more) }), 'a.xlsx').then(readAll);

  test.each([
    ['a bomb', sheetOf(HEADER + ' '.repeat(80 * 1024 * 1024)), 'would unpack to'],
    [
      'a million columns',
      sheetOf('<row r="1"><c r="ZZZZ1"><v>1</v></c></row>'.replace('ZZZZ1', 'XFE1')),
      'outside of any sheet',
    ],
    ['a row beyond the last', sheetOf('<row r="99999999"><c><v>1</v></c></row>'), 'outside of any sheet'],
    ['a document type', `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${sheetOf(HEADER)}`, 'document type'],
    ['an unknown entity', sheetOf('<row><c t="str"><v>&e;</v></c></row>'), 'cannot be read as a workbook'],
    ['a shared text that is not there', sheetOf(`${HEADER}<row r="2"><c t="s"><v>7</v></c></row>`), 'A2'],
    ['no index of a shared text', sheetOf(`${HEADER}<row r="2"><c t="s"><v>x</v></c></row>`), 'A2'],
    ['an inline text of another type', sheetOf(`${HEADER}<row r="2"><c><is><t>Ada</t></is></c></row>`), 'A2'],
    ['a value of an inline text', sheetOf(`${HEADER}<row r="2"><c t="inlineStr"><v>Ada</v></c></row>`), 'A2'],
    ['an unknown type', sheetOf(`${HEADER}<row r="2"><c t="x"><v>1</v></c></row>`), 'A2'],
    ['a number that is none', sheetOf(`${HEADER}<row r="2"><c/><c><v>Ada</v></c></row>`), 'B2'],
    ['a truth value that is none', sheetOf(`${HEADER}<row r="2"><c t="b"><v>yes</v></c></row>`), 'A2'],
    ['a style that is not there', sheetOf(`${HEADER}<row r="2"><c s="4"><v>1</v></c></row>`), 'A2'],
    ['a cell twice', sheetOf(`${HEADER}<row r="2"><c r="A2"><v>1</v></c><c r="A2"><v>2</v></c></row>`), 'A2'],
    ['a row twice', sheetOf(`${HEADER}<row r="1"><c><v>1</v></c></row>`), 'row 1'],
    ['two values of a cell', sheetOf(`${HEADER}<row r="2"><c><v>1</v><v>2</v></c></row>`), 'A2'],
    ['two inline texts of a cell', cellsSheet('<c t="inlineStr"><is><t>a</t></is><is><t>b</t></is></c>'), 'A2'],
    ['an inline text without its parent', cellsSheet('<c/><c t="inlineStr"><t>a</t></c>'), 'B2'],
    ['a text that is no value', cellsSheet('<c t="str">a</c>'), 'A2'],
    ['a value outside of cells', cellsSheet('<v>1</v>'), 'row 2'],
    ['another encoding', `<?xml version="1.0" encoding="windows-1252"?>${sheetOf(HEADER)}`, 'windows-1252'],
    ['another root', '<html/>', 'html'],
    ['XML that is cut off', sheetOf(HEADER).slice(0, -20), 'cannot be read as a workbook'],
  ])('%s', async (_, sheet, message) => {
    const error = await failure(open(sheet));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(message);
  });

  test.each<[string, Readonly<Record<string, string | Buffer>>, string]>([
    [
      'two sheets of one name',
      {
        'xl/workbook.xml':
          '<workbook><sheets><sheet name="A" r:id="rId9"/><sheet name="a" r:id="rId9"/></sheets></workbook>',
      },
      'two sheets',
    ],
    [
      'a sheet without a part',
      { 'xl/workbook.xml': '<workbook><sheets><sheet name="A" r:id="none"/></sheets></workbook>' },
      '`A`',
    ],
    ['two parts of one name', { 'XL/workbook.xml': '<workbook/>' }, 'two parts'],
    [
      'bytes that are no UTF-8',
      { 'xl/sharedStrings.xml': Buffer.from('<sst><si><t>Zo\xeb</t></si></sst>', 'latin1') },
      'sharedStrings.xml',
    ],
  ])('%s', async (_, parts, message) => {
    const error = await failure(open(sheetOf(HEADER), parts));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(message);
  });

  test('a part whose checksum is wrong', async () => {
    const bytes = workbookOf(sheetOf(`${HEADER}<row><c><v>1</v></c></row>`));
    const at = bytes.lastIndexOf('xl/worksheets/sheet7.xml') - 46 + 16;
    bytes.writeUInt32LE(bytes.readUInt32LE(at) + 1, at);
    const error = await failure(openIn(folderWith({ 'a.xlsx': bytes }), 'a.xlsx').then(readAll));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain('checksum');
  });

  test('a declared size of a million columns costs nothing, and links to other files are not followed', async () => {
    const sheet = `<worksheet><dimension ref="A1:XFD1048576"/><sheetData>${HEADER}<row r="2"><c r="A2"><v>1</v></c></row></sheetData></worksheet>`;
    const items = await open(sheet, { 'xl/externalLinks/externalLink1.xml': '<externalLink/>' });
    expect(items.map(({ raw }) => raw)).toEqual([['1', '']]);
  });

  test('a zip archive that is no workbook', async () => {
    const { zipOf } = await import('./zip.ts');
    const folder = folderWith({ 'a.xlsx': zipOf({ 'a.txt': 'text' }), 'b.xlsx': 'id,name\n1,Ada\n' });
    expect((await failure(openIn(folder, 'a.xlsx'))).message).toContain('not a workbook');
    expect(await failure(openIn(folder, 'b.xlsx'))).toMatchObject({
      hint: expect.stringContaining('format: csv') as string,
    });
  });
});
