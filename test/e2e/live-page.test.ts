import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import { BROWSER, openPage } from '../pages/browser.ts';
import { backfill, environmentOf, files, sandbox, start, summaryOf, workspace, type Running } from './harness.ts';

const SOON = { timeout: 20_000, interval: 100 };

const FAULTS: SandboxOptions['faults'] = {
  rules: [{ kind: 'latency', min_ms: 50, max_ms: 60 }],
};

/** Leads of which the first is invalid. */
async function migration(count: number): Promise<string> {
  const cwd = await workspace();
  const rows = Array.from(
    { length: count },
    (_, id) => `<i>${id},Secret Person ${id},${id === 0 ? 'nobody' : `p${id}@x.test`}`,
  );
  await files(cwd, {
    'people.csv': `id,name,mail\n${rows.join('\n')}\n`,
    'mapping.yaml': `version: 1
migration: acme
sources: { people: { path: people.csv } }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name, email: { from: mail, on_error: reject } }
`,
  });
  return cwd;
}

async function serve(cwd: string): Promise<{ url: string; running: Running }> {
  let url = '';
  const running = start(['status', 'mapping.yaml', '--serve'], { cwd });
  running.child.stdout!.on('data', (text: string) => (url += text));
  onTestFinished(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  await expect.poll(() => url, SOON).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/\n$/);
  return { url: url.trim(), running };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

function ask(url: string, options: { method?: string; host?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', host = new URL(url).host } = options;
    request(url, { method, headers: { host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }));
    })
      .on('error', reject)
      .end();
  });
}

/** The sections of the first event, and then of each further one, joined. */
function follow(url: string): () => string {
  let text = '';
  const following = request(`${url}events`, (response) => {
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('error', () => undefined);
  });
  following.on('error', () => undefined).end();
  onTestFinished(() => void following.destroy());
  return () => text;
}

describe('status --serve', { timeout: 60_000 }, () => {
  it('answers GET with the token only, under the names of this machine only', async () => {
    const cwd = await migration(2);
    const service = await sandbox();
    await backfill(['run', 'mapping.yaml'], { cwd, env: environmentOf(service) });
    const { url, running } = await serve(cwd);
    const { origin, port } = new URL(url);
    const page = await ask(url);
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-/,
    );
    expect((await ask(url, { host: `localhost:${Number(port) + 1}` })).status).toBe(200);

    for (const host of [
      'evil.test',
      `evil.test:${port}`,
      `127.0.0.1.evil.test:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
    ]) {
      expect(await ask(url, { host }), host).toMatchObject({ status: 421, body: '' });
    }
    for (const path of [
      '/',
      '/events',
      url.slice(origin.length, -1),
      `${url.slice(origin.length)}../`,
      '/x'.repeat(16),
    ]) {
      expect(await ask(`${origin}${path}`), path).toMatchObject({ status: 404, body: '' });
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']) {
      expect(await ask(url, { method }), method).toMatchObject({ status: 405, body: '', headers: { allow: 'GET' } });
    }
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
  });

  it('follows a run, without values of records, and says when it has died', async () => {
    const service = await sandbox({ faults: FAULTS });
    const cwd = await migration(400);
    const run = start(['run', 'mapping.yaml', '--rate', '100000/1s', '--concurrency', '1'], {
      cwd,
      env: environmentOf(service),
    });
    onTestFinished(() => void run.child.kill('SIGKILL'));
    await expect.poll(() => service.requests().some(({ method }) => method === 'POST'), SOON).toBe(true);
    const { url } = await serve(cwd);
    const followed = follow(url);
    await expect.poll(followed, SOON).toContain('running: process');
    await expect.poll(followed, SOON).toContain('The events answered last');
    await expect.poll(() => followed().split('\n\n').length, SOON).toBeGreaterThan(3);
    run.child.kill('SIGKILL');
    await run.ended;
    await expect.poll(followed, SOON).toContain('the last run ended unexpectedly');
    const page = (await ask(url)).body;
    expect(page).toContain('class="state bad"');
    for (const text of [page, followed()]) {
      expect(text).toContain('&lt;i&gt;');
      expect(text).not.toContain('<i>');
      expect(text).toContain('invalid_email');
      expect(text).not.toMatch(/Secret Person|nobody|x\.test/);
    }
  });

  it('refuses --watch and --json, a port that is in use, and a mapping without state', async () => {
    const cwd = await migration(2);
    const missing = await backfill(['status', 'mapping.yaml', '--serve'], { cwd });
    expect(missing).toMatchObject({ code: 2 });
    const service = await sandbox();
    await backfill(['run', 'mapping.yaml'], { cwd, env: environmentOf(service) });
    const combined = await backfill(['status', 'mapping.yaml', '--serve', '--json'], { cwd });
    expect(combined.code).toBe(2);
    expect(combined.stderr).toContain('--serve cannot be combined');
    const { port } = new URL((await serve(cwd)).url);
    const taken = await backfill(['status', 'mapping.yaml', '--serve', port], { cwd });
    expect(taken.code).toBe(2);
    expect(taken.stderr).toContain(`cannot listen on port ${port}`);
  });
});

const title = BROWSER ? 'the live page in a browser' : 'the live page in a browser (SKIPPED: no chromium on the PATH)';

describe.skipIf(!BROWSER)(title, { timeout: 90_000 }, () => {
  it('updates by itself, is dark and as wide as a phone, and says when its server has ended', async () => {
    const service = await sandbox({ faults: FAULTS });
    const cwd = await migration(300);
    const env = environmentOf(service);
    const run = ['run', 'mapping.yaml', '--rate', '100000/1s', '--concurrency', '1'];
    await backfill([...run, '--max-requests', '20'], { cwd, env });
    const { url, running } = await serve(cwd);
    const page = await openPage(url);
    const text = (): Promise<unknown> => page.evaluate('document.body.innerText');
    await expect.poll(text, SOON).toContain('not running; the last run ended');
    const { events } = summaryOf(await backfill([...run, '--max-requests', '30', '--json'], { cwd, env }));
    expect(events.acknowledged).toBeGreaterThan(30);
    const shown = (): Promise<unknown> => page.evaluate('document.querySelector(".figures .good b").textContent');
    await expect.poll(shown, SOON).toBe(String(events.acknowledged));

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(20, 24, 31)');
    expect(await page.evaluate('document.querySelectorAll("form, button, input, a[href^=http]").length')).toBe(0);
    expect(await page.evaluate('document.getElementById("lost").hidden')).toBe(true);
    running.child.kill('SIGINT');
    await running.ended;
    await expect.poll(() => page.evaluate('document.getElementById("lost").hidden'), SOON).toBe(false);
  });
});
