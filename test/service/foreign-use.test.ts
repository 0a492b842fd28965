import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ForeignUse } from '../../src/service/foreign-use.ts';

const WINDOW_MS = 1_000;
/** Answers this close together may be counted as one moment. */
const MOMENT_MS = 10;

it('subtracts all own answers in the window, and none that came well before it', () => {
  const gap = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 60 }));
  const gaps = fc.array(gap, { minLength: 1, maxLength: 60 });
  const nearby = fc.integer({ min: -30, max: 30 });
  fc.assert(
    fc.property(gaps, fc.nat(), nearby, (waits, which, offset) => {
      const use = new ForeignUse(WINDOW_MS, 1_000_000);
      const answers: number[] = [];
      let now = 0;
      for (const wait of waits) answers.push((now += wait));
      for (const at of answers) use.answered(at);
      // The window begins beside one of them.
      const begin = answers[which % answers.length]! + offset;
      // More than all our own requests, to distinguish what is subtracted from what remains.
      use.observe({ now, sentAt: begin + WINDOW_MS, used: 1_000, inFlight: 0, limit: 1_000 });
      const takenOff = 1_000 - use.estimate(now);
      const since = (time: number): number => answers.filter((at) => at > time).length;
      expect(takenOff).toBeGreaterThanOrEqual(since(begin));
      expect(takenOff).toBeLessThanOrEqual(since(begin - MOMENT_MS));
    }),
    { numRuns: 500 },
  );
});
