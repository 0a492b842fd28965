import parsePrometheus from 'parse-prometheus-text-format';
import { readFile, writeFile } from 'node:fs/promises';
import { setImmediate as immediate } from 'node:timers/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import type { State } from '../../src/plan/states.ts';
import { StateDir } from '../../src/state-dir.ts';
import type { Hooks } from '../../src/hook-url.ts';
import type { Clock } from '../../src/clock.ts';
import { Halt } from '../../src/halt.ts';
import { Watch, type WatchedRun } from '../../src/watch/watch.ts';
import { hookServer } from './hook-server.ts';

type Waiting = ReturnType<WatchedRun['deliverer']['status']>['waiting'];

/** Moves only when the test says so. */
class ManualClock implements Clock {
  #now = 1_000;
  #tick: () => void = () => undefined;

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.#now;
  }

  uptime(): number {
    return this.#now;
  }

  /** Only used for the longest wait at the end of a run. */
  sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal!.addEventListener('abort', () => resolve());
    });
  }

  every(ms: number, tick: () => void): () => void {
    expect(ms).toBe(1_000);
    this.#tick = tick;
    return () => (this.#tick = () => undefined);
  }

  async advance(ms: number): Promise<void> {
    for (const end = this.#now + ms; this.#now < end;) {
      this.#now += 1_000;
      this.#tick();
      await immediate();
    }
  }
}

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

/** A run of 100 leads whose state the test sets. */
function fakeRun() {
  const state: { acknowledged: number; waiting: Waiting } = { acknowledged: 0, waiting: undefined };
  const counted = (inState: State, count: number) =>
    ({ type: 'lead/created', state: inState, code: null, is_chosen: 1, count }) as const;
  const run: WatchedRun = {
    rate: { requests: 100, seconds: 60 },
    count: () => ({
      states: [counted('acknowledged', state.acknowledged), counted('ready', 100 - state.acknowledged)],
      priorities: [],
      recent: { settled: 0, ms: 0 },
    }),
    deliverer: {
      status: () => (state.waiting ? { waiting: state.waiting } : {}),
      counters: { requests: 44, retries: 3, rate_limited: 1 },
    },
  };
  return { state, run };
}

async function watched(hooks: Hooks) {
  const directory = await StateDir.create(temporaryDirectory());
  const logged: string[] = [];
  const halt = new Halt();
  const watch = new Watch({ mapping: 'acme.yaml', hooks, maxOutageMs: 12 * 3_600_000, halt, clock });
  watch.begin('acme "2"', (event, fields) => logged.push(`${event} ${JSON.stringify(fields)}`));
  const { state, run } = fakeRun();
  watch.sending(run, directory);
  return { watch, state, halt, logged, metrics: join(directory.path, 'metrics.prom') };
}

const minutes = (count: number): Promise<void> => clock.advance(count * 60_000);

describe('notifications', () => {
  it('say that a run is held up after five minutes, once, and that it continues', async () => {
    const { calls, secret } = await hookServer();
    const { state } = await watched({ notify: secret });
    await minutes(1);
    state.acknowledged = 40;
    state.waiting = { reason: 'outage', nextInMs: 40_000 };
    await minutes(4.9);
    expect(calls).toEqual([]);
    await minutes(30);
    await expect.poll(() => calls.length).toBe(1);
    expect(calls[0]!.body).toMatchObject({
      event: 'held_up',
      migration: 'acme "2"',
      exit: null,
      events: { total: 100, acknowledged: 40, rejected: 0 },
    });
    expect(calls[0]!.body.text).toMatch(/^crm-backfill acme "2": held up for 5 min.*service down.*40 of 100 events/s);

    state.waiting = undefined;
    state.acknowledged = 41;
    await minutes(0.1);
    await expect.poll(() => calls.length).toBe(2);
    expect(calls[1]!.body).toMatchObject({ event: 'resumed', events: { acknowledged: 41 } });
  });

  it('are not sent for a wait that the rate limit makes', async () => {
    const { calls, secret } = await hookServer();
    const { state } = await watched({ notify: secret });
    state.waiting = { reason: 'rate', nextInMs: 600 };
    await minutes(60);
    expect(calls).toEqual([]);
  });

  it('that fail are a line in the log', async () => {
    const { secret } = await hookServer(() => 404);
    const { watch, logged } = await watched({ notify: secret });
    await watch.failed(new Error('secret text of a bug'));
    expect(logged).toEqual(['notify_failed {"message":"answered 404"}']);
  });
});

describe('the heartbeat', () => {
  it('beats once a minute while there is progress or a wait for the limit, and not while the run is held up', async () => {
    const { calls, secret } = await hookServer();
    const { state } = await watched({ heartbeat: secret });
    state.waiting = { reason: 'rate', nextInMs: 600 };
    for (let minute = 1; minute <= 10; minute += 1) {
      await minutes(1);
      await expect.poll(() => calls.length).toBe(minute + 1);
    }
    state.waiting = { reason: 'outage', nextInMs: 600 };
    await minutes(10);
    expect(calls.length).toBeLessThanOrEqual(12);
    const before = calls.length;
    state.waiting = undefined;
    state.acknowledged += 1;
    await minutes(0.1);
    await expect.poll(() => calls.length).toBe(before + 1);
    expect(calls[0]).toMatchObject({ method: 'GET', body: {} });
  });
});

describe('metrics.prom', () => {
  it('is a valid file for Prometheus, with every count', async () => {
    const { watch, state, metrics } = await watched({});
    state.waiting = { reason: 'rate_limited', nextInMs: 600 };
    await minutes(1);
    state.acknowledged = 40;
    await minutes(1);
    await expect.poll(() => readFile(metrics, 'utf8').catch(() => '')).toContain('last_acknowledged');
    const running = parsePrometheus(await readFile(metrics, 'utf8'));
    const valuesOf = (name: string) => running.find((each) => each.name === name)?.metrics;
    expect(valuesOf('backfill_running')).toEqual([{ value: '1', labels: { migration: 'acme "2"' } }]);
    expect(valuesOf('backfill_events')).toContainEqual({
      value: '60',
      labels: { migration: 'acme "2"', type: 'lead/created', state: 'pending' },
    });
    expect(valuesOf('backfill_events')).toHaveLength(6);
    expect(valuesOf('backfill_requests_total')![0]!.value).toBe('44');
    expect(valuesOf('backfill_retries_total')![0]!.value).toBe('3');
    expect(valuesOf('backfill_rate_limited_total')![0]!.value).toBe('1');
    expect(valuesOf('backfill_allowed_per_minute')![0]!.value).toBe('100');
    expect(valuesOf('backfill_waiting_seconds')![0]!.labels).toMatchObject({ reason: 'rate_limited' });
    expect(Number(valuesOf('backfill_last_acknowledged_timestamp_seconds')![0]!.value)).toBeGreaterThan(0);

    await watch.failed(new Error('x'));
    expect(await readFile(metrics, 'utf8')).toContain('backfill_running{migration="acme \\"2\\""} 0\n');
  });

  it('is not written any more once the state directory was removed, or moved', async () => {
    const { watch, state, halt, metrics } = await watched({});
    await expect.poll(() => readFile(metrics, 'utf8').catch(() => '')).toContain('backfill_running');
    await writeFile(metrics, 'moved');
    halt.request({ code: 'state_removed', message: 'removed', exitCode: 3 });
    state.acknowledged = 50;
    await minutes(1);
    await watch.failed(new Error('x'));
    expect(await readFile(metrics, 'utf8')).toBe('moved');
  });
});
