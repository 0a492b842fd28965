// Lost without it: a glob could miss a file, or read one that is none.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { failure, folderWith, openIn, readAll } from './reading.ts';

const TABLE = 'ID,Name\n1,Ada\n2,Bob\n';

describe('files of a source', () => {
  test('there is a hash of the bytes of each file on disk, but only after a complete reading', async () => {
    const folder = folderWith({ 'a.csv': TABLE, 'b.csv.gz': gzipSync(TABLE) });
    const source = await openIn(folder, '{a,b}.csv*');
    expect(source.digests()).toBeUndefined();
    for await (const _ of source.batches()) break;
    expect(source.digests()).toBeUndefined();
    await readAll(source);
    expect(source.digests()).toMatchObject(
      ['a.csv', 'b.csv.gz'].map((name) => {
        const bytes = readFileSync(join(folder, name));
        return { path: join(folder, name), sha256: createHash('sha256').update(bytes).digest('hex'), rows: 2 };
      }),
    );
    expect(source.files.map(({ bytes }) => bytes)).toEqual([TABLE.length, gzipSync(TABLE).length]);
  });

  test('records and lines count from 1 within each file', async () => {
    const folder = folderWith({ 'a-2.csv': TABLE, 'a-1.csv': TABLE });
    const places = (await readAll(await openIn(folder, 'a-*.csv'))).map(({ place }) => place);
    expect(places).toEqual(
      ['a-1.csv', 'a-2.csv'].flatMap((file) => [
        { source: 'it', file, line: 2, record: 1 },
        { source: 'it', file, line: 3, record: 2 },
      ]),
    );
  });

  test.each([
    ['truncated', (packed: Buffer) => packed.subarray(0, -5), 'a.csv.gz is incomplete: its gzip data ends early'],
    ['damaged', (packed: Buffer) => packed.fill(0x55, 12, 20), 'cannot decompress a.csv.gz'],
  ])('%s gzip data is an error', async (_, spoil, message) => {
    const packed = Buffer.from(gzipSync(`ID,Name\n${'1,Ada\n'.repeat(10)}`));
    const error = await failure(openIn(folderWith({ 'a.csv.gz': spoil(packed) }), 'a.csv.gz'));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(message);
  });

  test('files of one glob with several formats are an error', async () => {
    const folder = folderWith({ 'a.csv': TABLE, 'a.json': '[]' });
    expect((await failure(openIn(folder, 'a.*'))).message).toBe(
      'source `it`: its files have different formats (csv, json)',
    );
  });

  test.skipIf(process.platform !== 'linux')('stopping before the end leaves no file open', async () => {
    const rows = `ID,Name\n${'1,Ada\n'.repeat(200_000)}`;
    const folder = folderWith({
      'a.csv': rows,
      'b.csv.gz': gzipSync(rows),
      'c.json': `[${'{"id":1},'.repeat(200_000)}{}]`,
      'd.ndjson': '{"id":1}\n'.repeat(200_000),
    });
    for (const name of readdirSync(folder)) {
      for await (const batch of (await openIn(folder, name)).batches()) {
        expect(batch.length).toBeGreaterThan(100);
        break;
      }
    }
    const open = (): string[] =>
      readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          const path = readlinkSync(`/proc/self/fd/${fd}`);
          return path.startsWith(folder) ? [path] : [];
        } catch {
          return [];
        }
      });
    // The streams close their files after the loop has ended.
    await expect.poll(open, { timeout: 30_000 }).toEqual([]);
  });
});

describe('globs', () => {
  async function matches(glob: string): Promise<string[]> {
    const names = ['a1.csv', 'a10.csv', 'a2.csv', 'b[1].csv', 'c.CSV', '.hidden.csv', 'd+e.csv'];
    const folder = folderWith(Object.fromEntries(names.map((name) => [name, TABLE])));
    mkdirSync(join(folder, 'sub/deep'), { recursive: true });
    mkdirSync(join(folder, 'dir.csv'));
    writeFileSync(join(folder, 'sub/s.csv'), TABLE);
    writeFileSync(join(folder, 'sub/deep/t.csv'), TABLE);
    symlinkSync(join(folder, 'a1.csv'), join(folder, 'link.csv'));
    const { files } = await openIn(folder, glob, { format: 'csv' });
    return files.map(({ path }) => path.slice(folder.length + 1));
  }

  test.each([
    ['a*.csv', ['a1.csv', 'a2.csv', 'a10.csv']],
    ['a?.csv', ['a1.csv', 'a2.csv']],
    ['a[2-9].csv', ['a2.csv']],
    ['a[!2]*.csv', ['a1.csv', 'a10.csv']],
    ['{a2,c}.{csv,CSV}', ['a2.csv', 'c.CSV']],
    ['b[1].csv', ['b[1].csv']],
    ['.h*.csv', ['.hidden.csv']],
    ['d+*.csv', ['d+e.csv']],
    ['l*.csv', ['link.csv']],
    ['s*/*.csv', ['sub/s.csv']],
    ['**/[st].csv', ['sub/deep/t.csv', 'sub/s.csv']],
  ])('%s', async (glob, expected) => {
    expect(await matches(glob)).toEqual(expected);
  });

  test.each(['acme [1]', 'acme [old]', 'acme {a,b}', 'what?', '[!x] * y'])(
    'a folder is no pattern, whatever its name: %s',
    async (name) => {
      const folder = folderWith({});
      for (const each of [name, 'acme 1', 'acme o', 'acme a', 'what1', 'a b y']) {
        mkdirSync(join(folder, each, 'exports'), { recursive: true });
        writeFileSync(join(folder, each, 'exports', `${each}.csv`), TABLE);
      }
      const read = async (glob: string) => (await openIn(folder, glob)).files.map(({ path }) => basename(path));
      expect(await read(join(name, 'exports/*.csv'))).toEqual([`${name}.csv`]);
      expect(await read(join(name, '*/*.csv'))).toEqual([`${name}.csv`]);
      expect(await read(join(name, '**/*.csv'))).toEqual([`${name}.csv`]);
      expect(await read(join(name, 'exports', '..', '..', name, 'exports/*.c?v'))).toEqual([`${name}.csv`]);
    },
  );

  test('a name is the same in both Unicode forms, in a path and in a glob', async () => {
    const nfd = 'Gesch\u00e4ft'.normalize('NFD');
    const nfc = nfd.normalize('NFC');
    const folder = folderWith({});
    mkdirSync(join(folder, nfd));
    writeFileSync(join(folder, nfd, `${nfd}-1.csv`), TABLE);
    for (const glob of [`${nfc}/${nfc}-1.csv`, `${nfc}/*.csv`, `${nfc}/${nfc}-*.csv`, `*/${nfc}-?.csv`]) {
      expect((await openIn(folder, glob)).files.map(({ path }) => path)).toEqual([join(folder, nfd, `${nfd}-1.csv`)]);
    }
  });

  test.each(['a.csv', 'sub/a.csv'])(
    'a link to nothing is an error that says so, and suggests no name: %s',
    async (path) => {
      const folder = folderWith({});
      mkdirSync(join(folder, 'sub'));
      symlinkSync('/gone/b.csv', join(folder, path));
      const error = await failure(openIn(folder, path));
      expect(error.message).toBe(`${path} is a link to /gone/b.csv, which does not exist`);
      expect(error).toMatchObject({ hint: expect.not.stringContaining('did you mean') as string });
    },
  );

  test.each([
    ['a link to nothing', 'x.csv', (path: string) => symlinkSync('gone.csv', path), 'gone.csv, which does not exist'],
    ['a link to itself', 'x.csv', (path: string) => symlinkSync(path, path), 'cannot read'],
    ['a link to nothing on the way', 'x', (path: string) => symlinkSync('gone', path), 'gone, which does not exist'],
    ['a pipe', 'x.csv', (path: string) => void execFileSync('mkfifo', [path]), 'is not a regular file'],
  ])('%s that one matches is an error that names it', async (_, name, make, message) => {
    const folder = folderWith({ 'a.csv': TABLE });
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'sub/a.csv'), TABLE);
    make(join(folder, name));
    const error = await failure(openIn(folder, name === 'x' ? '*/a.csv' : '*.csv'));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain(name);
    expect(error.message).toContain(message);
  });

  test('a name that is not UTF-8 is an error that names the file', async () => {
    const folder = folderWith({ 'a.csv': TABLE });
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/b`), Buffer.from([0xe9]), Buffer.from('.csv')]), TABLE);
    const error = await failure(openIn(folder, '*.csv'));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain('b\ufffd.csv: its name is not UTF-8');
  });
});
