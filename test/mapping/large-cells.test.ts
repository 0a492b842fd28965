/** Cells of 10 MB, built against one transform each: one that looks at the whole cell once for each character would take hours. */
import { expect, it } from 'vitest';
import { bareAddress } from '../../src/mapping/transforms/email.ts';
import { outcome } from './apply.ts';

const MB = 10_000_000;
const filled = (unit: string): string => unit.repeat(MB / unit.length);

it.each(['mailto:', '"', "'", '<', ' ', ' ;', '.', '@'])('an address of many %j is none', (unit) => {
  const bare = bareAddress(`a${filled(unit)}b`);
  expect(bare.endsWith('b')).toBe(true);
  expect(bareAddress(`${filled(unit)}b`)).not.toBe('');
});

it.each<[transform: string, unit: string]>([
  ['phone', '0'],
  ['phone', ' '],
  ['{ phone: { region: IT } }', '1-'],
  ['number', '0'],
  ['number', '1,'],
  ['number', ' '],
  ['{ date: iso }', '2024-'],
  ['{ date: ["dd/MM/yyyy", "MMMM d, yyyy"] }', ' '],
])('%s of many %j is an error', async (transform, unit) => {
  expect(await outcome(transform, `1${filled(unit)}1`, { timezone: 'Europe/Rome' })).toMatch(/^error bad_/);
});

it.each([' ', '\n', '<', '&'])('html_to_text of many %j keeps what is around them', async (unit) => {
  const text = (await outcome('html_to_text', `a${unit.repeat(200_000)}b`)) as string;
  expect([text.startsWith('a'), text.endsWith('b')]).toEqual([true, true]);
});
