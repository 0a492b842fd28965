import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { openText, readText } from '../../src/input/text/text.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';

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

test('the last line needs no end, and a byte-order mark is none of the text', async () => {
  expect(await read(Buffer.concat([Buffer.from('\ufeffé\n'), western('é')]))).toBe('é\né');
});

test('a line without end is read in pieces', async () => {
  const word = 'Żółw ';
  expect(await read(Buffer.from(word.repeat(400_000)))).toBe(word.repeat(400_000));
});

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
