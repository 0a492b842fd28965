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

const SAVE = expect.stringContaining('save it as .xlsx') as string;
const SAVE_CSV = expect.stringMatching(/"CSV UTF-8".*ids and phone numbers the format Text/) as string;
const OLE = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);

describe('a workbook', () => {
  test.each([
    ['contacts.ods', 'contacts.ods'],
    ['contacts.ods', 'contacts.csv'],
    ['cells.xls', 'cells.xls'],
    ['cells.xls', 'cells.csv'],
    ['cells.xls', 'cells.xlsx'],
  ])('of another format is refused with how to save it: %s as %s', async (workbook, name) => {
    const folder = folderOf(workbook, name);
    const refusal = { message: expect.stringContaining(`${name} is a workbook of `) as string, hint: SAVE };
    expect(await failure(openIn(folder, name))).toMatchObject(refusal);
    expect(await failure(startMapping([join(folder, name)], {}))).toMatchObject(refusal);
  });

  test.each([
    ['old.xls', OLE, 'a workbook of an old format (.xls)', SAVE],
    ['a.csv', OLE, 'a workbook of an old format (.xls)', SAVE],
    ['a.xlsx', OLE, 'a workbook with a password', SAVE],
    ['a.csv', Buffer.concat([OLE, Buffer.from('EncryptedPackage', 'utf16le')]), 'a workbook with a password', SAVE],
    [
      'a.xls',
      '<html xmlns:x="urn:x">\n<body><table><tr><td>ID</td></tr></table></body></html>',
      'a table in HTML',
      SAVE_CSV,
    ],
    [
      'a.xls',
      Buffer.from('\ufeff<table border=1><tr><td>ID</td></tr></table>', 'utf16le'),
      'a table in HTML',
      SAVE_CSV,
    ],
    ['a.xls', '<?xml version="1.0"?>\n<Workbook xmlns:ss="urn:x"></Workbook>', 'a workbook in XML', SAVE_CSV],
  ])('is recognised by its content: %s', async (name, content, what, hint) => {
    expect(await failure(openIn(folderWith({ [name]: content }), name))).toMatchObject({
      message: `${name} is ${what}, which cannot be read as an export`,
      hint,
    });
  });

  test('that is damaged is still a workbook', async () => {
    const bytes = Buffer.concat([
      Buffer.from('PK\x03\x04'),
      Buffer.alloc(100, 7),
      Buffer.from('PK\x05\x06'),
      Buffer.alloc(18, 0xff),
    ]);
    expect((await failure(openIn(folderWith({ 'a.xlsx': bytes }), 'a.xlsx'))).message).toContain(
      'a.xlsx cannot be read as a workbook',
    );
    expect((await failure(openIn(folderWith({ 'a.zip': bytes }), 'a.zip'))).message).toBe(
      'a.zip is a zip archive, which cannot be read as an export',
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
  expect((await failure(openIn(folder, name))).message).toBe(`${name} is ${what}, which cannot be read as an export`);
});

test('a packed file is refused by what is in it', async () => {
  const folder = folderWith({ 'a.csv.gz': gzipSync('%PDF-1.7\n') });
  expect((await failure(openIn(folder, 'a.csv.gz'))).message).toBe(
    'a.csv.gz is a PDF, which cannot be read as an export',
  );
});

test('a table that begins with markup in a cell is read', async () => {
  const folder = folderWith({ 'a.csv': '<b>ID</b>,Name\n1,Ada\n', 'b.csv': 'PK,Name\n1,Ada\n' });
  expect(await readAll(await openIn(folder, 'a.csv'))).toHaveLength(1);
  expect(await readAll(await openIn(folder, 'b.csv'))).toHaveLength(1);
});
