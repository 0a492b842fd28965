import { setImmediate as immediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Halt } from '../../../src/halt.ts';
import type { ProgressView } from '../../../src/report/print/progress-tracker.ts';
import type { Secret } from '../../../src/redact.ts';
import { openPlan } from '../../../src/survey/plan-file.ts';
import { Watch } from '../../../src/report/print/watch.ts';
import { AT, stateDirectory } from '../../state.ts';
import { VirtualClock } from '../../service/virtual-clock.ts';
import { hookServer } from './hook-server.ts';
import type { State } from '../../../src/plan/events.ts';

type Waiting = ReturnType<ProgressView['deliverer']['waiting']>;

/** Moves only when the test says so. */
let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
  clock.stop();
});

async function minutes(count: number): Promise<void> {
  for (let second = 0; second < count * 60; second += 1) {
    clock.pass(1_000);
    await immediate();
  }
}

/** A run of 100 leads whose state the test sets. */
function fakeRun() {
  const state: { acknowledged: number; waiting: Waiting } = { acknowledged: 0, waiting: undefined };
  const counted = (inState: State, count: number) =>
    ({ type: 'lead/created', state: inState, code: null, is_chosen: 1, priority: 0, count }) as const;
  const run: ProgressView = {
    rate: { requests: 100, seconds: 60 },
    count: () => ({
      states: [counted('acknowledged', state.acknowledged), counted('ready', 100 - state.acknowledged)],
      recent: { settled: 0, ms: 0 },
    }),
    deliverer: { counters: { events_sent: 0 }, waiting: () => state.waiting },
  };
  return { state, run };
}

async function watched(notify: Secret | undefined) {
  const logged: string[] = [];
  const warned: string[] = [];
  const halt = new Halt();
  const warn = (message: string): unknown => warned.push(message);
  const watch = new Watch({ mapping: 'acme.yaml', notify, maxOutageMs: 12 * 3_600_000, halt, warn, clock });
  watch.begin('acme "2"', (event, fields) => logged.push(`${event} ${JSON.stringify(fields)}`));
  const directory = await stateDirectory({ events: [{ state: 'ready' }], runs: [{ at: AT, answers: [] }] });
  const db = openPlan(directory, directory);
  onTestFinished(() => db.close());
  const { state, run } = fakeRun();
  watch.sending(run, db);
  return { watch, state, halt, logged, warned, db };
}

describe('notifications', () => {
  it('say that a run is held up after five minutes, once, and that it continues', async () => {
    const { calls, secret } = await hookServer();
    const { state } = await watched(secret);
    await minutes(1);
    state.acknowledged = 40;
    state.waiting = { reason: 'outage', nextInMs: 40_000 };
    await minutes(4.9);
    await expect.poll(() => calls.map(({ body }) => body.event)).toEqual(['started']);
    await minutes(30);
    await expect.poll(() => calls.length).toBe(2);
    expect(calls[1]!.body).toMatchObject({
      event: 'held_up',
      migration: 'acme "2"',
      exit: null,
      events: { total: 100, acknowledged: 40, rejected: 0 },
    });
    expect(calls[1]!.body.text).toMatch(/^crm-backfill acme "2": held up for 5 min.*service down.*40 of 100 events/is);

    state.waiting = undefined;
    state.acknowledged = 41;
    await minutes(0.1);
    await expect.poll(() => calls.length).toBe(3);
    expect(calls[2]!.body).toMatchObject({ event: 'resumed', events: { acknowledged: 41 } });
  });

  it('are not sent for a wait that the rate limit makes', async () => {
    const { calls, secret } = await hookServer();
    const { state } = await watched(secret);
    state.waiting = { reason: 'rate', nextInMs: 600 };
    await minutes(60);
    await expect.poll(() => calls.map(({ body }) => body.event)).toEqual(['started']);
  });

  it('that fail are warnings at once, lines in the log, and counted at the end', async () => {
    const { secret } = await hookServer(() => 404);
    const { watch, logged, warned } = await watched(secret);
    expect(watch.undelivered).toBeUndefined();
    await expect.poll(() => warned.length, { timeout: 20_000 }).toBe(1);
    await watch.failed(new Error('secret text of a bug'));
    expect(logged).toEqual([
      'notify_failed {"notification":"started","message":"answered 404"}',
      'notify_failed {"notification":"stopped","message":"answered 404"}',
    ]);
    for (const message of warned) expect(message).toMatch(/`(?:started|stopped)`.*answered 404/);
    expect(watch.undelivered).toMatch(/^2 messages .*answered 404/);
  });

  it('without an answer when the run ends are counted as not delivered', async () => {
    const { secret } = await hookServer(() => undefined);
    const { watch, warned } = await watched(secret);
    const ended = watch.failed(new Error('secret text of a bug'));
    await minutes(1);
    await ended;
    expect(warned).toHaveLength(2);
    expect(watch.undelivered).toMatch(/^2 messages .*before it was answered/);
  });
});

describe('what a run waits for', () => {
  it('is in its row of the checkpoint while it waits, with its beginning', async () => {
    const { watch, state, db } = await watched(undefined);
    const waits = () => db.all('select waits_for, waits_since from checkpoint.run');
    expect(waits()).toEqual([{ waits_for: null, waits_since: null }]);
    state.waiting = { reason: 'outage', nextInMs: 600 };
    await minutes(1);
    const [noted] = waits() as [{ waits_since: string }];
    expect(noted).toMatchObject({ waits_for: 'outage' });
    expect(Math.abs(Date.parse(noted.waits_since) - Date.now())).toBeLessThan(60_000);
    state.waiting = { reason: 'rate', nextInMs: 600 };
    await minutes(1);
    expect(waits()).toEqual([{ waits_for: null, waits_since: null }]);
    state.waiting = { reason: 'rate_limited', nextInMs: 600 };
    await minutes(1);
    expect(waits()).toMatchObject([{ waits_for: 'rate_limited' }]);
    await watch.failed(new Error('x'));
    expect(waits()).toEqual([{ waits_for: null, waits_since: null }]);
  });

  it('is not written any more once the state directory was removed, or moved', async () => {
    const { state, halt, db } = await watched(undefined);
    halt.request({ code: 'state_removed', message: 'removed', exitCode: 3 });
    state.waiting = { reason: 'outage', nextInMs: 600 };
    await minutes(1);
    expect(db.all('select waits_for from checkpoint.run')).toEqual([{ waits_for: null }]);
  });

  it('does not stop a run if it cannot be written', async () => {
    const { watch, state, db, logged } = await watched(undefined);
    db.exec('pragma query_only = on');
    state.waiting = { reason: 'outage', nextInMs: 600 };
    await minutes(2);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('wait_not_noted');
    await watch.failed(new Error('x'));
  });
});
