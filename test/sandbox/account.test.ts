import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { defaultAccount } from '../../src/sandbox/index.ts';
import { readStoredAccount } from '../../src/service/account.ts';

async function stored(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'account-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'account.json');
  await writeFile(path, text);
  return path;
}

test('a stored account is read unchanged', async () => {
  const account = { base_url: 'https://api.example.test', read_at: '2026-11-21T08:00:00.000Z', ...defaultAccount() };
  expect(await readStoredAccount(await stored(JSON.stringify(account)))).toEqual(account);
});

test.each([
  ['{"base_url": "x"', /cannot read/],
  ['{"base_url": "x", "read_at": "2026-11-21T08:00:00Z", "pipelines": []}', /users/],
  ['{"base_url": "x", "read_at": "now", "pipelines": [], "users": []}', /read_at/],
])('an invalid stored account is refused with its path: %s', async (text, message) => {
  const path = await stored(text);
  await expect(readStoredAccount(path)).rejects.toThrow(message);
  await expect(readStoredAccount(path)).rejects.toThrow(path);
});

test('a missing stored account is refused with its path', async () => {
  await expect(readStoredAccount('/nowhere/account.json')).rejects.toThrow('/nowhere/account.json');
});
