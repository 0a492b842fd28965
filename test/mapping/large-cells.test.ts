// Lost without it: a large cell could take an hour: one that looks at all of it for each character would.
import { expect, it } from 'vitest';
import { bareAddress } from '../../src/mapping/values/entry-fields.ts';
import { pathReader } from '../../src/mapping/values/path.ts';
import { outcome } from './apply.ts';

const filled = (unit: string): string => unit.repeat(2_000_000 / unit.length);

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

it.each(['<b>', '<table>', '<ul><li>', '<p><li>', '<a href=x>', '<pre>'])(
  'html_to_text of many %j that are never closed is an error',
  async (unit) => {
    expect(await outcome('html_to_text', `${unit.repeat(1_000_000 / unit.length)}b`)).toBe('error bad_html');
  },
);

it.each(['</b>', '<br>', '<p>a', '<li>', '<td>', '<b></b>', '<a href="x">y</a>'])(
  'html_to_text of many %j, which are not nested, is a text',
  async (unit) => {
    expect(await outcome('html_to_text', `a${unit.repeat(50_000)}b`)).toMatch(/^a[^]*b$/);
  },
);

it.each([
  ['{ replace: { pattern: "a", with: "bc" } }', 'a', /^xbc.*bcy$/],
  ['{ replace: { pattern: "(a+)+$", with: "" } }', 'a', /^xa.*ay$/],
  ['{ extract: "(a*)*b" }', 'a', /^undefined$/],
  ['{ map: { customer: client, other: lead } }', 'a', /^error not_mapped$/],
  ['{ truncate: 5 }', '😀', /^x😀😀😀😀$/u],
  ['{ split: ";" }', ';', /^x,.*,y$/],
  ['collapse_whitespace', ' a', /^x a.* ay$/],
])('%s of many %j takes linear time', async (transform, unit, result) => {
  const found = await outcome(transform, `x${unit.repeat(1_000_000 / unit.length)}y`);
  expect(Array.isArray(found) ? found.join(',') : `${found as string | undefined}`).toMatch(result);
});

it('a path across lists of 200,000 elements reads them all', () => {
  const many = Array.from({ length: 200_000 }, (_, n) => n);
  expect(pathReader('tags.v')({ tags: many.map((n) => ({ v: [n, n] })) })).toHaveLength(400_000);
  expect(pathReader('tags.v')({ tags: [{ v: many }, { v: null }, { v: many }] })).toHaveLength(400_000);
});
