import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Console } from '../../src/console.ts';
import { SendOrder } from '../../src/plan/order.ts';
import { linkPlan } from '../../src/plan/links.ts';
import { holdAllButFirst } from '../../src/plan/pilot.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { startProgress } from '../../src/report/progress.ts';
import { deal, lead, note, planOf } from '../plan/planning.ts';

beforeEach(() => {
  vi.stubEnv('TZ', 'UTC');
  vi.useFakeTimers({ now: new Date('2026-03-02T10:41:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** The line that a log gets after a minute in which the first `count` events were acknowledged. */
function lineAfter(plan: Plan, count: number): string {
  const order = new SendOrder(plan);
  let text = '';
  const stderr = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  const view = { rate: { requests: 2, seconds: 60 }, plan, order, deliverer: { status: () => ({}) } };
  const progress = startProgress(new Console({ stderr }), view);
  for (const turn of [...order.turns(10)].slice(0, count)) {
    plan.settle(turn.type, turn.ordinal, 'acknowledged');
    order.ended(turn);
  }
  vi.advanceTimersByTime(60_000);
  progress.stop();
  return text.trim();
}

const families = Array.from({ length: 4 }, (_, n) => [
  lead(`${n}`),
  deal(`d${n}`, `${n}`, { priority: n % 2 }),
  note(`n${n}`, `d${n}`),
]).flat();

it('of a pilot counts the pilot, and neither what it excludes nor duplicates', () => {
  const plan = planOf([...families, lead('0')]);
  holdAllButFirst(plan, 1);
  expect(lineAfter(plan, 2)).toMatch(
    /^10:42 lead\/created 1\/1, deal\/created 1\/1, comment\/created 0\/1; 2\/min, 1 left/,
  );
});

it('of a pilot leaves out what others acknowledged before', () => {
  const plan = planOf(families);
  for (const type of ['lead/created', 'deal/created'] as const) {
    for (const ordinal of [0, 1, 2]) plan.settle(type, ordinal, 'acknowledged');
  }
  holdAllButFirst(plan, 1);
  expect(lineAfter(plan, 0)).toMatch(/^10:42 lead\/created 1\/1, deal\/created 1\/1, comment\/created 0\/1; /);
});

it('with --only counts the types that are selected', () => {
  const plan = planOf(families);
  for (const ordinal of [0, 1, 2, 3]) plan.settle('lead/created', ordinal, 'acknowledged');
  linkPlan(plan, ['deal/created']);
  expect(lineAfter(plan, 1)).toMatch(/^10:42 deal\/created 1\/4; /);
});

it('says when the events of the priority being sent will be done, until only the last is left', () => {
  expect(lineAfter(planOf(families), 2)).toMatch(
    /; 2\/min, priority 1: 4 left until 10:4\d, 10 left, about \d min \(until 10:4\d\)$/,
  );
  expect(lineAfter(planOf(families), 6)).not.toContain('priority');
});
