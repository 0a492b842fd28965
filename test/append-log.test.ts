import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppendLog } from '../src/append-log.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'append-log-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('lines are written in the order in which they were appended, durable or not', async () => {
  const path = join(directory, 'log');
  const log = await AppendLog.open(path);
  const lines = Array.from({ length: 500 }, (_, index) => `line ${index}\n`);
  await Promise.all(
    lines.map(async (line, index) => {
      if (index % 7 === 0) await new Promise(setImmediate);
      await log.append(line, { durable: index % 3 === 0 });
    }),
  );
  await log.close();
  const text = await readFile(path, 'utf8');
  expect(text.split(/(?<=\n)/).sort()).toEqual([...lines].sort());
  const prompt = lines.filter((_, index) => index % 7 !== 0);
  expect(text.startsWith(prompt.join(''))).toBe(true);
});

test('a resolved append can be read, and closing waits for pending appends', async () => {
  const path = join(directory, 'log');
  const log = await AppendLog.open(path);
  await log.append('sent\n', { durable: false });
  expect(await readFile(path, 'utf8')).toBe('sent\n');
  await log.append('settled\n', { durable: true });
  expect(await readFile(path, 'utf8')).toBe('sent\nsettled\n');
  const last = [log.append('a\n', { durable: true }), log.append('b\n', { durable: false })];
  await log.close();
  await Promise.all(last);
  expect(await readFile(path, 'utf8')).toBe('sent\nsettled\na\nb\n');
});

test('opening with keepBytes cuts off a torn last line', async () => {
  const path = join(directory, 'log');
  await writeFile(path, 'whole\nto');
  const log = await AppendLog.open(path, { keepBytes: 6 });
  await log.append('next\n', { durable: true });
  await log.close();
  expect(await readFile(path, 'utf8')).toBe('whole\nnext\n');
});

test.runIf(existsSync('/dev/full'))('on a full disk, the append and all later ones fail', async () => {
  const log = await AppendLog.open('/dev/full');
  const both = [log.append('a\n', { durable: false }), log.append('b\n', { durable: true })];
  for (const append of both) await expect(append).rejects.toThrow(/cannot write \/dev\/full/);
  await expect(log.append('', { durable: false })).rejects.toThrow(/cannot write/);
  await log.close();
});
