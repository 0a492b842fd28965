// Lost without it: a text could be read in the wrong encoding without a word.
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it, test } from 'vitest';
import { startMapping } from '../../src/init/index.ts';
import { openText, readText } from '../../src/input/text/text.ts';
import { candidatesFor } from '../../src/input/text/candidates.ts';
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
  ['a.csv', 'Id,Name\n1,\x1b$B;3ED\x1b(B\n', 'text in ISO-2022'],
  ['a.xml', '<?xml version="1.0"?><contacts/>', 'XML'],
])('%s is refused by what it is', async (name, content, what) => {
  const folder = folderWith({ [name]: Buffer.from(content, 'latin1') });
  expect((await failure(openIn(folder, name))).message).toBe(`${name} is ${what}, which cannot be read as an export`);
});

test('a table that begins with markup in a cell is read', async () => {
  const folder = folderWith({ 'a.csv': '<b>ID</b>,Name\n1,Ada\n', 'b.csv': 'PK,Name\n1,Ada\n' });
  expect(await readAll(await openIn(folder, 'a.csv'))).toHaveLength(1);
  expect(await readAll(await openIn(folder, 'b.csv'))).toHaveLength(1);
});

const encoded = (text: string, encoding: string): Buffer[] =>
  text.split(' ').map((word) => iconv.encode(word, encoding));

it.each([
  ['windows-1252', 'Müller Schäfer Köhler Groß Jürgen Björn Käthe Günther Möbel Straße München für Gespräch Geschäft'],
  [
    'windows-1252',
    'François Amélie Lefèvre Gérard Noël Hélène société générale étape téléphone réunion créé Zoé Benoît',
  ],
  ['windows-1252', 'Åsa Björn Sjöström Åkesson Öberg Håkan Göran Lindström Malmö Västerås möte Märta'],
  [
    'windows-1250',
    'Łukasz Małgorzata Paweł Żaneta Grażyna Wiśniewski Wójcik Dąbrowska Zieliński Żółw Łąka Kraków Łódź',
  ],
  ['windows-1251', 'Иван Пётр Ольга Светлана Дмитрий Екатерина Алексей Петров Иванова Смирнов'],
  ['windows-1253', 'Γιώργος Μαρία Ελένη Παπαδόπουλος Νικολάου Ελληνική Αθήνα εταιρεία'],
  ['shift_jis', '田中太郎 鈴木花子 佐藤次郎 高橋 伊藤 株式会社サンプル 有限会社テスト 顧客 電話番号'],
  ['gb18030', '张伟 王芳 李娜 赵敏 陈静 北京科技有限公司 上海贸易公司 客户 电话'],
  ['euc-kr', '김철수 이영희 박민준 최지우 한국전자 서울상사 고객 전화'],
  ['windows-1252', 'Jørgen Bjørn Ærø Åse'],
  ['windows-1252', 'Nicolò Málaga José Ñuñez'],
  ['windows-1254', 'Işık Şahin Gülşen Çağlar İbrahim Öztürk Doğan'],
  ['windows-1254', 'Ayşe Yılmaz Müdür'],
  ['macintosh', 'Müller Schäfer Größe Jürgen Köhler'],
  ['macintosh', 'François Amélie Zoé'],
  ['shift_jis', 'ヤマダ 佐藤'],
  ['koi8-r', 'Иван Пётр Ольга Светлана'],
  ['cp866', 'Иван Пётр Ольга'],
  ['windows-1250', 'Łódź'],
  ['windows-1250', 'Dvořák Šimůnek Němec'],
  ['windows-1257', 'Jānis Bērziņš Kalniņš Ģirts'],
  ['windows-1255', 'שלום דוד כהן'],
  ['cp850', 'Müller Schäfer Größe'],
  ['windows-1252', '„ok“ – Rückruf 12€ „gut“. l’azienda Müller Schäfer Straße für'],
  ['cp850', 'città però più à ok é'],
])('%s is recognised by words such as %s, and its candidates have one each', async (encoding, words) => {
  const found = await candidatesFor(encoded(words, encoding));
  expect(found[0]!.encoding).toBe(encoding);
  expect(words.split(' ')).toContain(found[0]!.word);
  expect(found.slice(1).map(({ word }) => word)).not.toContain(found[0]!.word);
});

it('a file that is not UTF-8 is refused with a word for each candidate', async () => {
  const error = await failure(
    openIn(folderWith({ 'it.csv': iconv.encode('Id,Name\n1,Ayşe\n2,Yılmaz\n', 'windows-1254') }), 'it.csv').then(
      readAll,
    ),
  );
  expect(error).toMatchObject({
    setting: 'encoding',
    choices: expect.arrayContaining(['windows-1254', 'windows-1252']) as string[],
  });
  expect(error).toMatchObject({ hint: expect.stringMatching(/windows-1254.*Ayşe.*windows-1252.*Ayþe/) as string });
});

it.each([
  ['windows-1254', 'windows-1252', 'Ayşe Yılmaz Şahin Doğan', true],
  ['macintosh', 'windows-1252', 'Müller Schäfer Größe Jürgen', true],
  ['koi8-r', 'windows-1251', 'Иван Пётр Ольга', true],
  ['windows-1252', 'windows-1252', 'Müller Schäfer François Ñuñez', false],
  ['windows-1254', 'windows-1254', 'Ayşe Yılmaz Şahin Doğan', false],
  ['iso-8859-15', 'iso-8859-15', 'Müller Schäfer François', false],
  ['shift_jis', 'Shift_JIS', '田中太郎 鈴木花子 高橋', false],
  ['cp852', 'cp852', 'Dvořák Šimůnek Němec', false],
])(
  'a text in %s that is set to be %s is doubted with a word of each: %s, %s',
  async (actual, encoding, words, isDoubted) => {
    const text = `Id,Name\n${words
      .split(' ')
      .map((word, at) => `${at},${word}`)
      .join('\n')}\n`;
    const source = await openIn(folderWith({ 'it.csv': iconv.encode(text, actual) }), 'it.csv', { encoding });
    const doubts = source.notices().filter(({ code }) => code === 'doubtful_encoding');
    const named = doubts.map(({ message }) => words.split(' ').some((word) => message.includes(word)));
    expect(named).toEqual(isDoubted ? [true] : []);
  },
);

async function read(bytes: Buffer, folder = folderWith({})): Promise<string> {
  const path = join(folder, 'it.csv');
  writeFileSync(path, bytes);
  const parts: Buffer[] = [];
  const { file } = await openText({ path, label: 'it.csv', isArgument: false, bytes: 1 }, { encoding: 'mixed' });
  for await (const part of readText(file)) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

const western = (text: string): Buffer => iconv.encode(text, 'windows-1252');

test.each(['\n', '\r\n', '\r'])(
  'each line is UTF-8, else windows-1252, whatever the chunks (line ends %j)',
  async (end) => {
    // Longer than several chunks of a file; the numbers move the borders.
    const lines = Array.from(
      { length: 9000 },
      (_, n) => [`${n};Nicolò;Málaga – “x”${'.'.repeat(n % 37)}`, n % 3] as const,
    );
    const bytes = Buffer.concat(
      lines.flatMap(([line, kind]) => [kind === 0 ? western(line) : Buffer.from(line), Buffer.from(end)]),
    );
    expect(await read(bytes)).toBe(lines.map(([line]) => line + end).join(''));
  },
);

test('a byte that is neither is refused with its line', async () => {
  const bytes = Buffer.concat([Buffer.from('id\r\n1é\r\n'), Buffer.from([0x32, 0x81, 0x0a])]);
  const error = await failure(read(bytes));
  expect(error.message).toBe(
    'it.csv:3 is neither UTF-8 nor windows-1252 text, which is the encoding set in the mapping',
  );
});

test('a source reads both', async () => {
  const folder = folderWith({ 'it.csv': Buffer.concat([Buffer.from('Id,Name\n1,Müller\n'), western('2,Müller\n')]) });
  const items = await readAll(await openIn(folder, 'it.csv', { encoding: 'mixed' }));
  expect(items.map((item) => 'raw' in item && item.raw)).toEqual([
    ['1', 'Müller'],
    ['2', 'Müller'],
  ]);
});
