import { describe, expect, it } from 'vitest';
import type { RequestEntry, Sandbox } from '../../src/commands/sandbox/index.ts';
import { hasRedis, redisServer } from '../service/redis-server.ts';
import {
  backfill,
  environmentOf,
  FAST,
  files,
  filesBelow,
  sandbox,
  start,
  summaryOf,
  workspace,
  type Running,
} from './harness.ts';

const RATE = { requests: 40, seconds: 4 };
const PACE = ['--rate', '40/4s', '--timeout', '2'];

/** A separate migration, whose event ids no other migration has. */
async function leads(name: string, count: number): Promise<string> {
  const cwd = await workspace();
  const rows = Array.from({ length: count }, (_, id) => `${name}-${id},Name ${id}`);
  await files(cwd, {
    'people.csv': `id,name\n${rows.join('\n')}\n`,
    'mapping.yaml': `version: 1
migration: ${name}
sources:
  people: { path: people.csv }
events:
  - type: lead/created
    source: people
    data: { external_id: id, full_name: name }
`,
  });
  return cwd;
}

function counted(service: Sandbox): RequestEntry[] {
  return service.requests().filter(({ path }) => path !== '/health');
}

function statuses(service: Sandbox): Set<number | undefined> {
  return new Set(counted(service).map(({ status }) => status));
}

/**
 * The window divided by the median time between two requests that are one full limit apart: the share of the limit that
 * was used. The start-up time of the processes does not count.
 */
function utilisation(requests: readonly RequestEntry[]): number {
  const times = requests.map(({ at }) => at).sort((a, b) => a - b);
  const cycles = times.slice(RATE.requests).map((at, index) => at - times[index]!);
  return (RATE.seconds * 1000) / cycles.sort((a, b) => a - b)[Math.floor(cycles.length / 2)]!;
}

const succeeds = async ({ ended }: Running): Promise<void> => {
  const { code, stderr } = await ended;
  expect(code, stderr).toBe(0);
};

describe.skipIf(!hasRedis)('processes that share the limit over Redis', { timeout: 120_000 }, () => {
  it('together use all of it and no more, and continue after one of them is killed', async () => {
    const redis = await redisServer();
    const service = await sandbox({ rate: RATE });
    const env = { ...environmentOf(service), BACKFILL_REDIS_URL: redis.url };
    const [one, two, three] = [await leads('one', 70), await leads('two', 70), await leads('three', 70)];
    const args = ['run', 'mapping.yaml', ...PACE];
    const runs = [one, two, three].map((cwd) => start(args, { cwd, env }));
    await expect.poll(() => counted(service).length, { timeout: 60_000 }).toBeGreaterThan(110);
    runs[2]!.child.kill('SIGKILL');
    await runs[2]!.ended;
    await Promise.all([succeeds(runs[0]!), succeeds(runs[1]!)]);
    // Before the others ran out of events: 99 % on an idle machine; the margin allows for slow answers on a busy one.
    const used = utilisation(counted(service).slice(0, 110));
    process.stderr.write(`shared limit: ${(used * 100).toFixed(1)} % of the rate by three processes\n`);
    expect(used).toBeGreaterThan(0.95);
    await succeeds(start(args, { cwd: three, env }));
    expect(statuses(service)).not.toContain(429);
    expect(service.state().leads).toHaveLength(210);
  });

  it('wait while Redis is unreachable, report it, and continue when it returns empty', async () => {
    const redis = await redisServer();
    const service = await sandbox({ rate: RATE });
    const env = { ...environmentOf(service), BACKFILL_REDIS_URL: redis.url };
    const args = ['run', 'mapping.yaml', ...PACE];
    const runs = [await leads('one', 80), await leads('two', 80)].map((cwd) => start(args, { cwd, env }));
    await expect.poll(() => counted(service).length, { timeout: 60_000 }).toBeGreaterThan(50);
    await redis.kill();
    for (const each of runs)
      await expect.poll(() => each.stderr(), { timeout: 20_000 }).toContain('Redis cannot be reached');
    const sent = counted(service).length;
    await new Promise((resolve) => setTimeout(resolve, RATE.seconds * 1000));
    expect(counted(service).length).toBe(sent);
    await redis.start();
    await Promise.all(runs.map(succeeds));
    for (const each of runs) expect(each.stderr()).toContain('Redis is reachable again');
    expect(statuses(service)).toEqual(new Set([200]));
    expect(service.state().leads).toHaveLength(160);
  });

  it('never show its password', async () => {
    const redis = await redisServer({ password: 'pass/word-of-redis' });
    const service = await sandbox();
    const cwd = await leads('one', 5);
    const encoded = redis.url.replace('pass/word', 'pass%2Fword');
    const env = { ...environmentOf(service), BACKFILL_REDIS_URL: encoded };
    const ended = await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env });
    expect(ended.code).toBe(0);
    const wrong = { ...env, BACKFILL_REDIS_URL: encoded.replace('-of-redis', '-of-nobody') };
    const refused = await backfill(['run', 'mapping.yaml', ...FAST], { cwd, env: wrong });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('WRONGPASS');
    const texts = [ended.stdout, ended.stderr, refused.stdout, refused.stderr, ...(await filesBelow(cwd)).values()];
    for (const text of texts) expect(text).not.toMatch(/word-of-/);
  });
});

it('an estimate believes the limit of the service where --rate is above it', async () => {
  const service = await sandbox({ rate: { requests: 100, seconds: 60 } });
  const cwd = await leads('one', 250);
  const args = ['run', 'mapping.yaml', '--dry-run', '--json', '--rate', '10000/1s'];
  const ended = await backfill(args, { cwd, env: environmentOf(service) });
  expect(ended.stderr.replace(/\s+/g, ' ')).toContain('about 2 min (100 requests per 60 s)');
  expect(summaryOf(ended).estimate_seconds).toBe(120);
});

describe('--redis', () => {
  it('does not start if Redis is unreachable, and does not fall back to a separate limit', async () => {
    const service = await sandbox();
    const cwd = await leads('one', 5);
    const args = ['run', 'mapping.yaml', '--redis', 'redis://127.0.0.1:1', ...FAST];
    const ended = await backfill(args, { cwd, env: environmentOf(service) });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('ECONNREFUSED');
    expect(service.requests()).toEqual([]);
  });

  it.each([
    ['redis://:not-to-be-shown@127.0.0.1:1', 'BACKFILL_REDIS_URL'],
    ['https://not-to-be-shown.test', 'not a Redis URL'],
    ['not-to-be-shown', 'not a URL'],
  ])('refuses %s and does not print it', async (url, said) => {
    const cwd = await leads('one', 5);
    const ended = await backfill(['run', 'mapping.yaml', '--redis', url], { cwd });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(said);
    expect(ended.stderr).not.toContain('not-to-be-shown');
  });

  it('is the only option that loads the Redis client', async () => {
    const service = await sandbox();
    const cwd = await leads('one', 5);
    const spy = `import { createRequire } from 'node:module';
      process.on('exit', () => process.stderr.write('LOADED ' + Object.keys(createRequire('/x.js').cache).join(' ')));`;
    const env = {
      ...environmentOf(service),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(spy)}`,
    };
    const without = await start(['run', 'mapping.yaml', ...FAST], { cwd, env }).ended;
    expect(without.code).toBe(0);
    expect(without.stderr).toContain('bottleneck');
    expect(without.stderr).not.toContain('ioredis');
    const args = ['run', 'mapping.yaml', '--redis', 'redis://127.0.0.1:1', ...FAST];
    expect((await start(args, { cwd, env }).ended).stderr).toContain('ioredis');
  });
});
