import { expect, it } from 'vitest';
import { prioritiesTable } from '../../src/report/text.ts';

const NOW = new Date('2026-03-02T10:42:00Z');
const counts = (priority: number, done: string | null) => ({
  priority,
  events: 12_400,
  acknowledged: 200,
  done_at: done,
});

it('says of each priority how many events it has, and when they are done', () => {
  const text = prioritiesTable(
    [counts(1, '2026-03-01T10:42:00Z'), counts(0, '2026-03-20T12:00:00Z'), counts(-5, null)],
    NOW,
  );
  expect(text.split('\n').map((line) => line.split(/ {2,}/).map((cell) => cell.trim()))).toMatchObject([
    ['priority', 'events', 'acknowledged', 'done'],
    ['1', '12,400', '200', expect.stringMatching(/^Sun \d\d:\d\d$/) as string],
    ['0', '12,400', '200', expect.stringMatching(/^about 20 Mar \d\d:\d\d$/) as string],
    ['-5', '12,400', '200', '–'],
  ]);
});

it('is left out where there is one priority, and shows the highest of many', () => {
  expect(prioritiesTable([counts(0, null)], NOW)).toBe('');
  const many = Array.from({ length: 300 }, (_, n) => counts(300 - n, null));
  const lines = prioritiesTable(many, NOW).split('\n');
  expect(lines).toHaveLength(12);
  expect(lines.at(-1)).toBe('and 290 lower ones');
});
