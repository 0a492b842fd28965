import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { Console } from '../../src/console.ts';
import { planCounter } from '../../src/pages/progress-tracker.ts';
import { startProgress } from '../../src/pages/progress.ts';
import { PLAN, PLAN_FILE } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { stateDirectory, type GivenEvent } from '../state.ts';

beforeEach(() => {
  vi.stubEnv('TZ', 'UTC');
  vi.useFakeTimers({ now: new Date('2026-03-02T10:41:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** The line that a log gets after a minute in which the first `count` events to send were acknowledged. */
async function lineAfter(events: readonly GivenEvent[], count: number): Promise<string> {
  const state = await stateDirectory({ events });
  const db = Database.open(state.file(PLAN_FILE), PLAN);
  onTestFinished(() => db.close());
  let text = '';
  const stderr = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  const deliverer = { status: () => ({}) };
  const progress = startProgress(new Console({ stderr }), {
    rate: { requests: 2, seconds: 60 },
    count: planCounter(db),
    deliverer,
  });
  db.run(
    `update event set state = 'acknowledged'
     where id in (select id from event where state = 'ready' order by priority desc, id limit ?)`,
    count,
  );
  vi.advanceTimersByTime(60_000);
  progress.stop();
  return text.trim();
}

const FAMILIES: readonly GivenEvent[] = [
  { state: 'ready', times: 4, priority: 1 },
  { state: 'ready', times: 4, type: 'deal/created' },
  { state: 'ready', times: 4, type: 'comment/created' },
];

const PILOT: readonly GivenEvent[] = [
  { state: 'ready' },
  { state: 'ready', type: 'deal/created' },
  { state: 'ready', type: 'comment/created' },
  { state: 'held', times: 3, isChosen: false },
  { state: 'held', times: 3, type: 'deal/created', isChosen: false },
  { state: 'duplicate' },
];

it('of a pilot counts the pilot, and neither what it excludes nor duplicates', async () => {
  expect(await lineAfter(PILOT, 2)).toMatch(
    /^10:42 lead\/created 1\/1, deal\/created 1\/1, comment\/created 0\/1; 2\/min, 1 left/,
  );
});

it('of a pilot leaves out what others acknowledged before', async () => {
  const before: GivenEvent[] = [
    { state: 'acknowledged', isChosen: true },
    { state: 'acknowledged', times: 2, isChosen: false },
    { state: 'ready', type: 'comment/created' },
  ];
  expect(await lineAfter(before, 0)).toMatch(/^10:42 lead\/created 1\/1, comment\/created 0\/1; /);
});

it('says when the events of the priority being sent will be done, until only the last is left', async () => {
  expect(await lineAfter(FAMILIES, 2)).toMatch(
    /; 2\/min, priority 1: 2 left until 10:4\d, 10 left, about \d min \(until 10:4\d\)$/,
  );
  expect(await lineAfter(FAMILIES, 4)).not.toContain('priority');
});

it('counts a rejected event as settled, and not as acknowledged', async () => {
  expect(await lineAfter([{ state: 'ready', times: 3 }, { state: 'rejected' }], 1)).toMatch(
    /^10:42 lead\/created 1\/4 \(1 rejected\); 1\/min, 2 left/,
  );
});
