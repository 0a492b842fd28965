// Lost without it: a key or token could reach a file or the screen.
import { describe, expect, it, test } from 'vitest';
import { processed, serve } from '../service/scripted-server.ts';
import { backfill, FAST, filesBelow, mapping, project, summaryOf, workspace, type Ended } from './harness.ts';
import { useFastClock } from '../clock.ts';
import type { FaultPlan } from '../sandbox/faults.ts';

useFastClock();

/** No output and no file has any of these. */
async function expectClean(secrets: readonly string[], cwd: string, { stdout, stderr }: Ended): Promise<void> {
  for (const [where, text] of [['stdout', stdout], ['stderr', stderr], ...(await filesBelow(cwd))] as const) {
    for (const secret of secrets) expect(text.includes(secret), `a secret occurs in ${where}`).toBe(false);
  }
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
    const { service, cwd, env, run } = await project('demo', { faults: plan });
    const ended = await run();
    const now = [service.apiKey.reveal(), service.ingestToken.reveal()];
    await expectClean([...now, env.BACKFILL_API_KEY!, env.BACKFILL_INGEST_TOKEN!], cwd, ended);
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

test('a secret that the service echoes, percent-encoded or in Base64, too, reaches no screen and no file', async () => {
  const [key, token] = ['Ke%y\\1/2+3=4"5', 'whi_a%2Fb\\c/d+e=='];
  const forms = [key, token].flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
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
  const ids = ['first', ...forms.keys()];
  const { cwd } = await project({
    'people.csv': `id,name\n${ids.map((id) => `${id},Ada ${id}\n`).join('')}`,
    'mapping.yaml': mapping({
      people: 'type: lead/created, if_contact_exists: ignore, data: { external_id: id, full_name: name }',
    }),
  });
  const env = { BACKFILL_BASE_URL: server.baseUrl, BACKFILL_API_KEY: key, BACKFILL_INGEST_TOKEN: token };
  const ended = await backfill(['run', 'mapping.yaml', '--json', ...FAST], { cwd, env });
  expect(summaryOf(ended).errors_by_code).toEqual({ invalid_payload: forms.length });
  const texts = [ended.stdout, ended.stderr, ...(await filesBelow(cwd)).values()];
  for (const form of forms) for (const text of texts) expect(text.includes(form), form).toBe(false);
  expect(texts.filter((text) => text.includes('no ***')).length).toBeGreaterThan(1);
});
