// Lost without it: a long run could drift from the limit, or grow.
import { expect, it } from 'vitest';
import { disturbedWeek, undisturbedWeek } from './week.ts';

const EVENTS = Number(process.env.SOAK_EVENTS ?? 1_000_000);

it(`a week of crashes, maintenance and other disturbances ends as if none had happened (${EVENTS} events)`, async () => {
  const say = (message: string): boolean => process.stderr.write(`${message}\n`);
  const began = performance.now();
  const { content, summary, ...figures } = await disturbedWeek(EVENTS, say);
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  say(JSON.stringify({ ...figures, events: summary.events, content, minutes }, undefined, 2));
  const calm = await undisturbedWeek(EVENTS);
  expect(content).toEqual(calm.content);
  expect(summary.events).toEqual(calm.summary.events);
});
