import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startMapping } from '../../src/commands/init/index.ts';
import { FIXTURES } from '../e2e/harness.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';

/** A folder with a workbook under this name. */
function folderOf(workbook: string, name: string): string {
  const folder = folderWith({});
  copyFileSync(join(FIXTURES, 'workbooks', workbook), join(folder, name));
  return folder;
}

const SAVE = expect.stringMatching(/"CSV UTF-8".*ids and phone numbers the format Text/) as string;
const OLE = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);

describe('a workbook', () => {
  test.each([
    ['contacts.xlsx', 'contacts.xlsx'],
    ['contacts.xlsx', 'contacts.csv'],
    ['contacts.ods', 'contacts.ods'],
    ['contacts.ods', 'contacts.csv'],
  ])('is refused with how to save its sheets: %s as %s', async (workbook, name) => {
    const folder = folderOf(workbook, name);
    const refusal = { message: `${name} is a workbook, not a text file`, hint: SAVE };
    expect(await failure(openIn(folder, name))).toMatchObject(refusal);
    const path = join(folder, name);
    expect(await failure(startMapping([path], {}))).toMatchObject({
      message: expect.stringContaining(refusal.message) as string,
      hint: SAVE,
    });
  });

  test.each([
    ['old.xls', OLE, 'a workbook of an old format, or one with a password'],
    ['a.csv', OLE, 'a workbook of an old format, or one with a password'],
    ['a.xls', '<html xmlns:x="urn:x">\n<body><table><tr><td>ID</td></tr></table></body></html>', 'a table in HTML'],
    ['a.xls', Buffer.from('\ufeff<table border=1><tr><td>ID</td></tr></table>', 'utf16le'), 'a table in HTML'],
    ['a.xls', '<?xml version="1.0"?>\n<Workbook xmlns:ss="urn:x"></Workbook>', 'a workbook in XML'],
  ])('is recognised by its content: %s', async (name, content, what) => {
    expect(await failure(openIn(folderWith({ [name]: content }), name))).toMatchObject({
      message: `${name} is ${what}, not a text file`,
      hint: SAVE,
    });
  });

  test('that is damaged is still a workbook', async () => {
    const bytes = Buffer.concat([
      Buffer.from('PK\x03\x04'),
      Buffer.alloc(100, 7),
      Buffer.from('PK\x05\x06'),
      Buffer.alloc(18, 0xff),
    ]);
    expect((await failure(openIn(folderWith({ 'a.xlsx': bytes }), 'a.xlsx'))).message).toBe(
      'a.xlsx is a workbook, not a text file',
    );
    expect((await failure(openIn(folderWith({ 'a.zip': bytes }), 'a.zip'))).message).toBe(
      'a.zip is a zip archive, not a text file',
    );
  });
});

test.each([
  ['a.pdf', '%PDF-1.7\n', 'a PDF'],
  ['a.csv', '\x89PNG\r\n\x1a\n', 'a picture'],
  ['a.csv', '<!DOCTYPE html><html><body>Sign in</body></html>', 'an HTML page'],
  ['a.xml', '<?xml version="1.0"?><contacts/>', 'XML'],
])('%s is refused by what it is', async (name, content, what) => {
  const folder = folderWith({ [name]: Buffer.from(content, 'latin1') });
  expect((await failure(openIn(folder, name))).message).toBe(`${name} is ${what}, not a text file`);
});

test('a packed file is refused by what is in it', async () => {
  const folder = folderWith({ 'a.csv.gz': gzipSync('%PDF-1.7\n') });
  expect((await failure(openIn(folder, 'a.csv.gz'))).message).toBe('a.csv.gz is a PDF, not a text file');
});

test('a table that begins with markup in a cell is read', async () => {
  const folder = folderWith({ 'a.csv': '<b>ID</b>,Name\n1,Ada\n', 'b.csv': 'PK,Name\n1,Ada\n' });
  expect(await readAll(await openIn(folder, 'a.csv'))).toHaveLength(1);
  expect(await readAll(await openIn(folder, 'b.csv'))).toHaveLength(1);
});
