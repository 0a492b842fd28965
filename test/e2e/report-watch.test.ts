import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BROWSER, openPage } from '../pages/browser.ts';
import { backfill, environmentOf, files, sandbox, start, workspace, type Running } from './harness.ts';

const SOON = { timeout: 45_000, interval: 200 };

/** A run of 2,000 leads that takes minutes, of which the first is invalid. */
async function slowRun(): Promise<{ cwd: string; run: Running; posts: () => number }> {
  const service = await sandbox({ faults: { rules: [{ kind: 'latency', min_ms: 150, max_ms: 151 }] } });
  const cwd = await workspace();
  const rows = Array.from(
    { length: 2_000 },
    (_, id) => `r${id},Secret Person ${id},${id === 0 ? 'nobody' : `p${id}@x.test`}`,
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
  const run = start(['run', 'mapping.yaml', '--rate', '100000/1s', '--concurrency', '1'], {
    cwd,
    env: environmentOf(service),
  });
  onTestFinished(async () => {
    run.child.kill('SIGKILL');
    await run.ended;
  });
  const posts = (): number => service.requests().filter(({ method }) => method === 'POST').length;
  await expect.poll(posts, SOON).toBeGreaterThan(0);
  return { cwd, run, posts };
}

const pageIn = (cwd: string): string => join(cwd, '.backfill/acme/report.html');

function watchReport(cwd: string): Running {
  const watching = start(['report', 'mapping.yaml', '--watch'], { cwd });
  onTestFinished(async () => {
    watching.child.kill('SIGKILL');
    await watching.ended;
  });
  return watching;
}

describe('report --watch', { timeout: 120_000 }, () => {
  it('writes the page until the run ends, without values of records, and says at last how it ended', async () => {
    const { cwd, run } = await slowRun();
    const watching = watchReport(cwd);
    const page = (): Promise<string> => readFile(pageIn(cwd), 'utf8').catch(() => '');
    await expect.poll(page, SOON).toContain('http-equiv="refresh"');
    const first = await page();
    expect(first).toContain('invalid_email');
    expect(first).not.toMatch(/Secret Person|nobody|x\.test/);
    run.child.kill('SIGKILL');
    await run.ended;
    expect(await watching.ended).toMatchObject({ code: 0, stdout: `${await realpath(pageIn(cwd))}\n` });
    const last = await page();
    expect(last).not.toContain('http-equiv="refresh"');
    expect(last).toContain('ended unexpectedly');
  });

  it('writes the page once if no run is going on, and is refused for a dry run', async () => {
    const cwd = await workspace();
    await files(cwd, {
      'people.csv': 'id\n1\n',
      'mapping.yaml': `version: 1
migration: acme
sources: { people: { path: people.csv } }
events: [{ type: lead/created, source: people, data: { external_id: id } }]
`,
    });
    await backfill(['run', 'mapping.yaml'], { cwd, env: environmentOf(await sandbox()) });
    expect(await backfill(['report', 'mapping.yaml', '--watch'], { cwd })).toMatchObject({ code: 0 });
    expect(await readFile(pageIn(cwd), 'utf8')).not.toContain('http-equiv="refresh"');
    const refused = await backfill(['report', 'mapping.yaml', '--watch', '--dry-run'], { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/--watch.*--dry-run/);
  });
});

const title = BROWSER ? 'in a browser' : 'in a browser (SKIPPED: no chromium on the PATH)';

describe.skipIf(!BROWSER)(`report --watch ${title}`, { timeout: 180_000 }, () => {
  it('follows the run, and stays as it is once the run has ended', async () => {
    const { cwd, run } = await slowRun();
    const watching = watchReport(cwd);
    await expect.poll(() => readFile(pageIn(cwd), 'utf8').catch(() => ''), SOON).toContain('http-equiv="refresh"');
    const page = await openPage(pathToFileURL(pageIn(cwd)).href);
    const acknowledged = async (): Promise<number> =>
      Number(await page.evaluate('document.querySelector(".figures .good b")?.textContent.replace(",", "")'));
    const loadedAt = (): Promise<unknown> => page.evaluate('performance.timeOrigin');
    await expect.poll(acknowledged, SOON).toBeGreaterThan(0);
    const [before, then] = [await acknowledged(), await loadedAt()];
    await expect.poll(acknowledged, SOON).toBeGreaterThan(before);
    expect(await loadedAt()).not.toBe(then);
    expect(await page.evaluate('document.querySelector(".state").innerText')).toBe('Sending');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);

    run.child.kill('SIGTERM');
    await run.ended;
    expect(await watching.ended).toMatchObject({ code: 0 });
    await expect
      .poll(() => page.evaluate('document.querySelector(".state")?.innerText'), SOON)
      .toContain('interrupted');
    expect(await page.evaluate('document.querySelector("meta[http-equiv=refresh]")')).toBeNull();
    const last = await loadedAt();
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    expect(await loadedAt()).toBe(last);
  });
});
