import { describe, expect, it } from 'vitest';
import { useFastClock } from '../clock.ts';
import type { FaultyOptions } from '../sandbox/faults.ts';
import { mapping, project, type Project } from './harness.ts';

useFastClock();

const SLOW: FaultyOptions = { faults: { rules: [{ kind: 'latency', min_ms: 100, max_ms: 150 }] } };

function leads(count: number, options?: FaultyOptions): Promise<Project> {
  const rows = Array.from({ length: count }, (_, id) => `${id},Person ${id}\n`);
  const people = 'type: lead/created, data: { external_id: id, full_name: name }';
  return project({ 'people.csv': `id,name\n${rows.join('')}`, 'mapping.yaml': mapping({ people }) }, options);
}

it('a pause of an hour that the service asks for is said at once, and the next run does not ask before it is over', async () => {
  const { service, run } = await leads(3, {
    faults: { rules: [{ kind: 'status', status: 429, retry_after_s: 3600 }] },
  });
  const stopped = await run('--max-outage', '1s');
  expect(stopped.code).toBe(3);
  expect(stopped.stderr).toMatch(/warning: .*(?:1 h|6[01] min).*Retry-After.*1 s.*--max-outage/);
  const requests = service.requests().length;
  const again = await run();
  expect(again.code).toBe(2);
  expect(again.stderr).toMatch(/asked to wait for another (?:1 h|6[01] min|5\d min)/);
  expect(service.requests()).toHaveLength(requests);
});

describe('a run whose terminal is closed', () => {
  it('records the requests in flight, exits with 129 and can be resumed', async () => {
    const { start, posts, summary } = await leads(60, SLOW);
    const running = start();
    await expect.poll(posts, { timeout: 20_000 }).toBeGreaterThan(5);
    // Nobody reads what it prints any more, as when ssh is lost.
    running.child.stdout!.destroy();
    running.child.stderr!.destroy();
    running.child.kill('SIGHUP');
    expect(await running.ended).toMatchObject({ code: 129, signal: null });
    const sent = posts();
    expect((await summary()).this_run.already_acknowledged).toBe(sent);
    expect(posts()).toBe(60);
  });

  it('goes on if only its output is closed', async () => {
    const { start, posts } = await leads(20);
    const running = start();
    await expect.poll(posts, { timeout: 20_000 }).toBeGreaterThan(0);
    running.child.stdout!.destroy();
    running.child.stderr!.destroy();
    expect((await running.ended).code).toBe(0);
    expect(posts()).toBe(20);
  });
});
