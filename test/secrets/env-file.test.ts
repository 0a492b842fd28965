// Lost without it: a key could be taken from another place than its URL.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { credentials, readEnvironment } from '../../src/settings/credentials.ts';
import { readEnvFile, type Environment } from '../../src/settings/env-file.ts';
import { UserError } from '../../src/errors.ts';
import { backfill, environmentOf, files, mapping, sandbox, workspace } from '../e2e/harness.ts';

const FILE = [
  '# the service',
  'BACKFILL_INGEST_URL="https://api.example.test/webhooks/ingest/tok1"',
  "export BACKFILL_API_KEY = 'key1'   # of the integration",
  'BACKFILL_INGEST_TOKEN=',
  '',
].join('\n');

const EXPECTED = {
  BACKFILL_INGEST_URL: 'https://api.example.test/webhooks/ingest/tok1',
  BACKFILL_API_KEY: 'key1',
  BACKFILL_INGEST_TOKEN: '',
};

const PEOPLE = {
  'mapping.yaml': mapping({ people: 'type: lead/created, data: { external_id: ID, full_name: Name }' }),
  'people.csv': 'ID,Name\n1,Ada\n',
};

async function fileOf(content: string | Buffer): Promise<string> {
  const path = join(await workspace(), 'my.env');
  await writeFile(path, content);
  return path;
}

function thrownBy(work: () => unknown): UserError {
  try {
    work();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

describe('an env file', () => {
  const utf16 = Buffer.from(`\ufeff${FILE}`, 'utf16le');
  it.each<[string, string | Buffer]>([
    ['UTF-8', FILE],
    ['UTF-8 with a byte-order mark', `\ufeff${FILE}`],
    ['UTF-16 as PowerShell writes it', utf16],
    ['UTF-16 in the other byte order', Buffer.from(utf16).swap16()],
    ['CRLF', FILE.replaceAll('\n', '\r\n')],
    ['no line break at the end', FILE.trimEnd()],
  ])('is read in %s', async (_name, content) => {
    const env = readEnvFile(await fileOf(content));
    expect(env).toEqual(EXPECTED);
    const { baseUrl, apiKey, ingestToken } = credentials(undefined, { ...env, BACKFILL_BASE_URL: '' });
    expect([baseUrl, apiKey.reveal(), ingestToken.reveal()]).toEqual(['https://api.example.test', 'key1', 'tok1']);
  });

  it.each<[string, Environment]>([
    ['A=a b  # c', { A: 'a b' }],
    ['A=a#b', { A: 'a#b' }],
    ['A= # c', { A: '' }],
    ['A="a # b" # c', { A: 'a # b' }],
    ['A=`"x"`', { A: '"x"' }],
    ['A="-----BEGIN\n=====\nEND"\nB=1', { A: '-----BEGIN\n=====\nEND', B: '1' }],
    ['A="x\\ny"', { A: 'x\ny' }],
    ['  \n\n\texport\tA=1\n# end', { A: '1' }],
    ['A=1\nA=2', { A: '2' }],
  ])('%j is read', async (text, variables) => {
    expect(readEnvFile(await fileOf(text))).toEqual(variables);
  });

  it.each([
    ['A=1\nBACKFILL_API_KEY: hunter2', 2],
    ['A=1\r\n\r\n$env:BACKFILL_API_KEY = "hunter2"\r\n', 3],
    ['set BACKFILL_API_KEY=hunter2', 1],
    ['A="1\n2"\nhunter2', 3],
    ['BACKFILL_API_KEY="hunter2', 1],
    ['BACKFILL_API_KEY="hunter2"s', 1],
    ['BACKFILL_API_KEY=#hunter2', 1],
    ['A=1\nBACKFILL_API_KEY="hunter2\nB="2"', 2],
  ])('%j is refused with the number of its line, and nothing of it is shown', async (text, line) => {
    const path = await fileOf(text);
    const { message, hint, exitCode } = thrownBy(() => readEnvFile(path));
    expect(message).toBe(`${path}:${line}: expected NAME=VALUE`);
    expect(`${message}${hint}`).not.toContain('hunter2');
    expect(exitCode).toBe(2);
  });

  it('that is not text is refused', async () => {
    const path = await fileOf(Buffer.from('A=\xe9', 'latin1'));
    expect(thrownBy(() => readEnvFile(path)).message).toBe(`${path} is not UTF-8 text`);
  });

  it.each(['missing.env', 'directory', 'fifo', '/dev/zero'])(
    'that is not a file is a usage error: %s',
    async (name) => {
      const cwd = await workspace();
      await mkdir(join(cwd, 'directory'));
      execFileSync('mkfifo', [join(cwd, 'fifo')]);
      const path = name.startsWith('/') ? name : join(cwd, name);
      const { message, exitCode } = thrownBy(() => readEnvironment(path, () => undefined, {}));
      expect(message).toBe(`${path} ${name === 'missing.env' ? 'does not exist' : 'is not a regular file'}`);
      expect(exitCode).toBe(2);
    },
  );
});

describe('the URL, the key and the token', () => {
  const path = (): Promise<string> => fileOf(`${FILE}BACKFILL_OTHER=https://file.example.test\nOTHER=file`);

  it('come from the env file if the environment has none of them', async () => {
    const warn = vi.fn();
    const env = readEnvironment(await path(), warn, { OTHER: 'environment', BACKFILL_API_KEY: '' });
    expect(env).toMatchObject({ ...EXPECTED, OTHER: 'environment', BACKFILL_OTHER: 'https://file.example.test' });
    expect(warn).not.toHaveBeenCalled();
  });

  it('come from the environment if it has one of them, and those of the file are ignored with a warning', async () => {
    const warn = vi.fn<(message: string) => void>();
    const file = await path();
    const env = readEnvironment(file, warn, { BACKFILL_API_KEY: 'key of the environment' });
    expect(env.BACKFILL_API_KEY).toBe('key of the environment');
    expect(env.BACKFILL_INGEST_URL).toBeUndefined();
    expect(env.OTHER).toBe('file');
    expect(warn.mock.calls).toEqual([
      [
        `BACKFILL_INGEST_URL, BACKFILL_API_KEY in ${file} are ignored, because the environment has BACKFILL_API_KEY: ` +
          'the URL, the key and the token are taken from one place',
      ],
    ]);
    expect(() => credentials(undefined, env)).toThrow('no credentials');
  });

  it('of the environment are never sent to a host that a .env in the working directory names', async () => {
    const [ours, other] = [await sandbox(), await sandbox()];
    const cwd = await workspace();
    await files(cwd, { ...PEOPLE, '.env': `BACKFILL_BASE_URL=${other.baseUrl}\n` });
    const { BACKFILL_BASE_URL: baseUrl = '', ...secrets } = environmentOf(ours);
    const refused = await backfill(['run', 'mapping.yaml', '--dry-run'], { cwd, env: secrets });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('warning: BACKFILL_BASE_URL in .env is ignored');
    const sent = await backfill(['run', 'mapping.yaml', '--dry-run', '--base-url', baseUrl], { cwd, env: secrets });
    expect(sent.code).toBe(0);
    expect(other.requests()).toHaveLength(0);
    expect(ours.requests()).not.toHaveLength(0);
  });
});
