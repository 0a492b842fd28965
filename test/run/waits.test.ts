// Lost without it: status could not say what a run waits for.
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { Halt } from '../../src/halt.ts';
import { noteWaits } from '../../src/run/waits.ts';
import type { GateWait } from '../../src/send/gate.ts';
import type { RunWait } from '../../src/store/checkpoint.ts';
import { openPlan } from '../../src/survey/plan-file.ts';
import { AT, stateDirectory } from '../state.ts';
import { VirtualClock } from '../service/virtual-clock.ts';

/** Moves only when the test says so. */
let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
  clock.stop();
});

async function noting() {
  const directory = await stateDirectory({ events: [{ state: 'ready' }], runs: [{ at: AT, answers: [] }] });
  const db = openPlan(directory, directory);
  onTestFinished(() => db.close());
  const [logged, halt]: [string[], Halt] = [[], new Halt()];
  const state: { waiting: GateWait | undefined } = { waiting: undefined };
  const stop = noteWaits({ waiting: () => state.waiting, db, halt, clock, log: (event) => logged.push(event) });
  const wait = (reason: GateWait['reason']): void => {
    state.waiting = { reason, nextInMs: 600 };
    clock.pass(2_000);
  };
  const noted = () => {
    const { waits } = db.get<{ waits: string | null }>('select waits from checkpoint.run')!;
    return waits === null ? undefined : (JSON.parse(waits) as RunWait);
  };
  return { db, halt, logged, stop, wait, noted };
}

it('what a run waits for is in its row of the checkpoint while it waits, with its beginning', async () => {
  const { stop, wait, noted } = await noting();
  expect(noted()).toBeUndefined();
  wait('outage');
  const { reason, since, next_at: next } = noted()!;
  expect(reason).toBe('outage');
  expect(Math.abs(Date.parse(since) - Date.now())).toBeLessThan(60_000);
  expect(Date.parse(next!) - Date.parse(since)).toBeGreaterThanOrEqual(600);
  wait('rate');
  expect(noted()).toBeUndefined();
  wait('rate_limited');
  expect(noted()).toMatchObject({ reason: 'rate_limited' });
  stop();
  expect(noted()).toBeUndefined();
});

it('nothing is written once the state directory was removed or moved', async () => {
  const { halt, wait, noted } = await noting();
  halt.request({ code: 'state_removed', message: 'removed', exitCode: 3 });
  wait('outage');
  expect(noted()).toBeUndefined();
});

it('a wait that cannot be noted is in the log alone', async () => {
  const { db, logged, stop, wait } = await noting();
  db.exec('pragma query_only = on');
  wait('outage');
  expect(logged).toEqual(['wait_not_noted']);
  stop();
});
