import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ForeignUse } from '../../src/service/foreign-use.ts';
import { MemoryWindow } from '../../src/service/memory-window.ts';
import { RecentAnswers } from '../../src/service/recent-answers.ts';
import { VirtualClock } from './virtual-clock.ts';

const WINDOW_MS = 1_000;

it('all own answers in the window may be those that the service counts, and none that came before it', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(gaps, fc.nat(), fc.integer({ min: -30, max: 30 }), (waits, which, offset) => {
      const clock = new VirtualClock();
      clock.stop();
      const recent = new RecentAnswers(1_000_000);
      const window = new MemoryWindow(clock, recent);
      const answers: number[] = [];
      for (const wait of waits) {
        clock.pass(wait);
        answers.push(clock.monotonic());
        recent.add(clock.monotonic());
      }
      // The window begins beside one of them.
      const begin = answers[which % answers.length]! + offset;
      expect(window.own(clock.monotonic() - begin)).toBe(answers.filter((at) => at > begin).length);
    }),
    { numRuns: 500 },
  );
});

it('the largest estimate of the last window counts, and slightly more is withheld', () => {
  const use = new ForeignUse(WINDOW_MS);
  for (const [at, count] of [
    [0, 20],
    [500, -3],
    [600, 10],
  ] as const) {
    use.observe(at, count);
  }
  expect([999, 1_000, 1_600].map((now) => use.estimate(now))).toEqual([20, 10, 0]);
  expect([1_000, 1_600].map((now) => use.withhold(now))).toEqual([0, 0]);
  use.observe(2_000, 10);
  expect(use.withhold(2_100)).toBe(12);
});
