import { expect, it } from 'vitest';
import { TextIndex } from '../src/text-index.ts';
import { jitter } from './send/delivery.ts';

/** Short ones of few letters, so that many are equal or begin alike. */
function textsOf(count: number): string[] {
  const random = jitter();
  const letters = ['0', '1', 'a', 'é', '😀', '\ud800', '\u0000'];
  return Array.from({ length: count }, () =>
    Array.from({ length: Math.floor(random() * 7) }, () => letters[Math.floor(random() * letters.length)]).join(''),
  );
}

it('finds the number of each text, like a Map', () => {
  const index = new TextIndex();
  const map = new Map<string, number>();
  for (const [number, text] of textsOf(60_000).entries()) {
    expect(index.get(text)).toBe(map.get(text));
    if (map.has(text)) continue;
    index.add(text, number);
    map.set(text, number);
  }
  expect(map.size).toBeGreaterThan(10_000);
  for (const [text, number] of map) expect(index.get(text)).toBe(number);
});

it('keeps texts of any length apart', () => {
  const index = new TextIndex();
  const long = 'x'.repeat(100_000);
  index.add('', 4_294_967_295);
  index.add(long, 1);
  expect([index.get(''), index.get(long), index.get(`${long}x`), index.get('x')]).toEqual([
    4_294_967_295,
    1,
    undefined,
    undefined,
  ]);
});
