import { expect, it } from 'vitest';
import { disturbedWeek, undisturbedWeek } from '../soak/week.ts';

/** `npm run soak` takes a million. */
const EVENTS = 300;

it('crashes, maintenance, sleep, a new token and a lower limit change nothing but the time that a migration takes', async () => {
  const [calm, week] = await Promise.all([undisturbedWeek(EVENTS), disturbedWeek(EVENTS)]);
  expect(week.runs).toEqual(['SIGKILL', 'SIGKILL', 'webhook_auth_failed', 'SIGKILL', calm.summary.exit.reason]);
  expect(week.content).toEqual(calm.content);
  expect(week.summary.events).toEqual(calm.summary.events);
  expect(week.triggersFired).toBe(0);
  expect(week.most).toBeLessThanOrEqual(100);
  expect(week.mostWhileLowered).toBeLessThanOrEqual(60);
  // Those that were in flight when the limit was lowered.
  expect(week.refused).toBeLessThanOrEqual(10);
  expect(week.simulatedHours).toBeGreaterThan(4);
});
