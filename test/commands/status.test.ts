// Lost without it: monitoring could show a run that is dead, or a wrong time left.
import { readdir, readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { handler as report } from '../../src/commands/report.ts';
import { handler as status } from '../../src/commands/status.ts';
import { Lock } from '../../src/store/lock.ts';
import type { Rate } from '../../src/rate.ts';
import { stateDirectory } from '../state.ts';
import { call } from './in-process.ts';

const MINUTE = 60_000;

/** A state directory with a run under way: `settled` are the ages of its answers in milliseconds. */
async function underWay(settled: readonly number[], surveyAge: number, rate: Rate): Promise<string> {
  const at = (age: number): string => new Date(Date.now() - age).toISOString();
  const own = settled.filter((age) => age <= surveyAge).length;
  const state = await stateDirectory({
    events: [
      { state: 'acknowledged', times: own },
      { state: 'ready', times: 1000 - own },
    ],
    survey: { at: at(surveyAge), rate },
    runs: [{ at: at(surveyAge), answers: settled.map((age) => ({ at: at(age) })) }],
  });
  const lock = Lock.acquire(state);
  onTestFinished(() => lock.release());
  return state.path;
}

interface Shown {
  readonly per_minute: number;
  readonly left: number;
}

async function shown(state: string): Promise<Shown> {
  return JSON.parse((await call(status, { mapping: 'mapping.yaml', state, json: true })).stdout) as Shown;
}

it('status shows the speed of the run over the last minute, which two bursts cannot exceed, without the run before it', async () => {
  const earlier = Array.from({ length: 200 }, () => 3 * MINUTE);
  // Two full windows in seventy seconds.
  const own = Array.from({ length: 100 }, (_, at) => (at < 50 ? 70_000 : 5_000));
  const { per_minute, left } = await shown(
    await underWay([...earlier, ...own], 2.5 * MINUTE, { requests: 50, seconds: 60 }),
  );
  expect(left).toBe(900);
  expect(per_minute).toBeCloseTo(50, 0);
});

it('status gives no time before the first run has begun to send, for it may ask first', async () => {
  const state = await stateDirectory({
    events: [{ state: 'ready', times: 3 }],
    survey: { at: new Date().toISOString() },
  });
  const lock = Lock.acquire(state);
  onTestFinished(() => lock.release());
  expect(await shown(state.path)).toMatchObject({ left: 3, seconds_left: null, begun_at: null });
  const { stdout } = await call(status, { mapping: 'mapping.yaml', state: state.path });
  expect(stdout).toMatch(/^RUNNING [^]*3 to send/);
  expect(stdout).not.toContain('until');
  // Nobody killed it if the answer was no.
  lock.release();
  expect((await call(status, { mapping: 'mapping.yaml', state: state.path })).stdout).toMatch(/^NOT STARTED: nothing/);
});

it('status says what the run waits for, and not what a run that was killed before it waited for', async () => {
  const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * MINUTE).toISOString();
  const waits = {
    ...{ reason: 'outage', since: minutesAgo(20), because: '500 internal: out of memory' },
    ...{ next_at: minutesAgo(-2), gives_up_at: minutesAgo(-60) },
  };
  const look = async (at: string): Promise<{ json: unknown; text: string }> => {
    const state = await stateDirectory({
      events: [{ state: 'ready' }],
      holder: minutesAgo(30),
      runs: [{ at, answers: [{ at }], waits }],
    });
    const lock = Lock.acquire(state);
    onTestFinished(() => lock.release());
    const { waits_for } = (await shown(state.path)) as Shown & { waits_for: unknown };
    return { json: waits_for, text: (await call(status, { mapping: 'mapping.yaml', state: state.path })).stdout };
  };
  const current = await look(minutesAgo(25));
  expect(current.json).toMatchObject(waits);
  expect(current.text).toMatch(/^SERVICE DOWN for 2\d min: 500 internal: out of memory/);
  expect(current.text).toMatch(/goes on by itself, next try in [12] min; gives up at (?:\w+ )?\d\d:\d\d/);
  expect(current.text).toContain('process 1 on here, since');
  const earlier = await look(minutesAgo(40));
  expect(earlier.json).toBeNull();
  expect(earlier.text).not.toContain('SERVICE DOWN');
});

it('status of a run that has ended says how, by its summary, and of which run the counts are while another surveys', async () => {
  const state = await stateDirectory({
    events: [{ state: 'acknowledged', times: 3 }, { state: 'invalid' }],
    summary: {
      exit: { code: 3, reason: 'until', message: 'the --until time was reached', hint: 'start it again' },
      finished_at: new Date().toISOString(),
    },
  });
  const ended = await call(status, { mapping: 'mapping.yaml', state: state.path });
  expect(ended.stdout).toMatch(
    /^STOPPED .*--until .*\(exit code 3\)[^]*start it again[^]*Resume .*\n? *\S*.*crm-backfill run mapping.yaml/,
  );
  const lock = Lock.acquire(state);
  onTestFinished(() => lock.release());
  const surveying = await call(status, { mapping: 'mapping.yaml', state: state.path });
  expect(surveying.stdout).toMatch(/reading the exports.* previous\s+run/);
});

it('report writes errors, rejects and values left out again', async () => {
  const state = await stateDirectory({
    events: [
      {
        state: 'invalid',
        id: 'L7',
        at: 'input.csv:7',
        problem: { code: 'bad_date', message: 'no date' },
        omitted: [{ field: 'email', original: 'ada(at)', code: 'bad_email' }],
      },
    ],
    summary: {},
  });
  const { code, stdout } = await call(report, { mapping: 'mapping.yaml', state: state.path });
  expect(code).toBe(0);
  expect(stdout).toContain(state.file('report.html'));
  expect(await readFile(state.file('errors.csv'), 'utf8')).toMatch(/^input.csv,input.csv,7,.*L7.*bad_date.*no date/m);
  expect(await readFile(state.file('left_out.csv'), 'utf8')).toMatch(/^input.csv,input.csv,7,L7,email,ada\(at\)/m);
  expect(await readdir(state.file('rejects'))).toEqual(['input.csv.csv']);
});
