import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { Sandbox } from '../../src/commands/sandbox/index.ts';
import { processed, serve } from '../service/scripted-server.ts';
import {
  backfill,
  environmentOf,
  FAST,
  files,
  filesBelow,
  sandbox,
  summaryOf,
  workspace,
  type Ended,
} from './harness.ts';
import { useFastClock } from '../clock.ts';
import type { FaultPlan } from '../sandbox/faults.ts';

useFastClock();

function expectNoSecret(service: Sandbox, secrets: readonly string[], where: string, text: string): void {
  for (const secret of secrets) expect(text.includes(secret), `a secret occurs in ${where}`).toBe(false);
}

async function expectClean(service: Sandbox, cwd: string, ended: Ended): Promise<void> {
  const secrets = [service.apiKey.reveal(), service.ingestToken.reveal()];
  expectNoSecret(service, secrets, 'stdout', ended.stdout);
  expectNoSecret(service, secrets, 'stderr', ended.stderr);
  for (const [path, text] of await filesBelow(cwd)) expectNoSecret(service, secrets, path, text);
}

describe('the API key and the ingestion token', () => {
  const faults: readonly [string, FaultPlan][] = [
    ['nothing goes wrong', { rules: [] }],
    ['the connection is lost', { rules: [{ kind: 'reset', when: { probability: 0.3 } }] }],
    ['the service redirects', { rules: [{ kind: 'redirect', when: { delivery: { to: 1 } } }] }],
    [
      'the token is rotated during the run',
      { rules: [{ kind: 'rotate_token', when: { requests: { from: 10 }, times: 1 } }] },
    ],
    [
      'the key is rotated during the run',
      { rules: [{ kind: 'rotate_key', when: { requests: { from: 10 }, times: 1 } }] },
    ],
  ];
  it.each(faults)('appear in no output and no file when %s', async (_name, plan) => {
    const service = await sandbox({ faults: plan });
    const cwd = await workspace('demo');
    const env = environmentOf(service);
    const before = { key: env.BACKFILL_API_KEY!, token: env.BACKFILL_INGEST_TOKEN! };
    const ended = await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env });
    await expectClean(service, cwd, ended);
    for (const text of [ended.stdout, ended.stderr, ...(await filesBelow(cwd)).values()]) {
      expect(text).not.toContain(before.key);
      expect(text).not.toContain(before.token);
    }
  });

  it('appear in no error when the URL copied from the dashboard is wrong', async () => {
    const cwd = await workspace('demo');
    const env = {
      BACKFILL_INGEST_URL: 'http//broken/webhooks/ingest/whi_secret-token',
      BACKFILL_API_KEY: 'secret-key',
    };
    const ended = await backfill(['run', 'mapping.yaml'], { cwd, env });
    expect(ended.code).toBe(2);
    expect(ended.stderr).not.toContain('secret');
  });
});

test('a secret that the service echoes, encoded in any way, reaches no screen and no file', async () => {
  const [key, token] = ['Ke%y\\1/2+3=4"5', 'whi_a%2Fb\\c/d+e=='];
  const json = (text: string): string => JSON.stringify(text).slice(1, -1);
  const forms = [key, token].flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    decodeURIComponent(secret.replace('%y', '%25y')),
    json(secret),
    json(json(secret)),
    json(secret).replaceAll('/', '\\/'),
    Buffer.from(`user:${secret}`).toString('base64'),
  ]);
  const server = await serve(({ method, body }) => {
    if (method === 'GET') return { status: 200, body: [] };
    const form = forms[Number(body.data.external_id)];
    if (form === undefined) return processed();
    // JSON with escaped slashes: only what is parsed from it is as above.
    const error = JSON.stringify({ success: false, error: { code: 'invalid_payload', message: `no ${form}` } });
    return { status: 400, body: error.replaceAll('/', '\\/') };
  });
  const cwd = await workspace();
  const ids = ['first', ...forms.keys()];
  await files(cwd, {
    'people.csv': `id,name\n${ids.map((id) => `${id},Ada ${id}\n`).join('')}`,
    'mapping.yaml': `version: 1
migration: echo
sources: { people: { path: people.csv } }
events:
  - { type: lead/created, source: people, if_contact_exists: ignore, data: { external_id: id, full_name: name } }
`,
  });
  const env = { BACKFILL_BASE_URL: server.baseUrl, BACKFILL_API_KEY: key, BACKFILL_INGEST_TOKEN: token };
  const ended = await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env });
  expect(summaryOf(ended).errors_by_code).toEqual({ invalid_payload: forms.length });
  const texts = [ended.stdout, ended.stderr, ...(await filesBelow(cwd)).values()];
  for (const form of forms) for (const text of texts) expect(text.includes(form), form).toBe(false);
  expect(texts.filter((text) => text.includes('no ***')).length).toBeGreaterThan(1);
});

describe('a proxy of the environment', () => {
  const proxies = { HTTP_PROXY: 'http://ada:proxy-secret@', https_proxy: '' };

  it('that is unusable is a usage error that names the variable, never its credentials', async () => {
    const cwd = await workspace('demo');
    const service = {
      BACKFILL_INGEST_URL: 'https://service.invalid/webhooks/ingest/token-1',
      BACKFILL_API_KEY: 'key-1',
    };
    const ended = await backfill(['run', 'mapping.yaml'], { cwd, env: { ...service, ...proxies } });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('error: HTTP_PROXY is not the address of an HTTP proxy\nhint: ');
    expect(ended.stderr).not.toMatch(/ada|proxy-secret/);
  });

  it('is not used for a rehearsal', async () => {
    const cwd = await workspace('demo');
    const ended = await backfill(['run', 'mapping.yaml', '--sandbox', '--json'], { cwd, env: proxies });
    expect(summaryOf(ended).events.acknowledged).toBeGreaterThan(0);
  });
});

describe('the state directory', () => {
  it('can be read only by its owner, as can every file in it', async () => {
    const service = await sandbox();
    const cwd = await workspace('demo');
    await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env: environmentOf(service) });
    const state = join(cwd, '.backfill/demo');
    expect((await stat(state)).mode & 0o777).toBe(0o700);
    const modes = [];
    for (const path of (await filesBelow(state)).keys()) modes.push([path, (await stat(path)).mode & 0o777]);
    expect(modes.length).toBeGreaterThan(5);
    expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
  });
});
