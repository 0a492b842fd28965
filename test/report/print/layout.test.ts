// Lost without it: a line could be broken where it must be copied.
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { cutTo, wrapped } from '../../../src/report/print/layout.ts';
import { counted, numberText } from '../../../src/report/words/numbers.ts';

it('breaks long lines between words, and indents what follows', () => {
  expect(wrapped(`short\n${'word '.repeat(9)}end`, 30)).toBe(
    'short\nword word word word word\n  word word word word end',
  );
  expect(wrapped(`  ${'word '.repeat(6)}end`, 30)).toBe('  word word word word word\n    word end');
});

it('continues a row below its text', () => {
  expect(wrapped(`  1,200  ${'word '.repeat(6)}`, 30)).toBe('  1,200  word word word word\n         word word');
});

it('breaks no word, and nothing in backticks', () => {
  const path = `/a/${'x'.repeat(40)}/b.csv`;
  expect(wrapped(`see ${path} for more`, 30)).toBe(`see\n  ${path}\n  for more`);
  expect(wrapped('correct it, then run `crm-backfill run a.yaml --dry-run` once more', 30)).toBe(
    'correct it, then run\n  `crm-backfill run a.yaml --dry-run`\n  once more',
  );
});

it('cuts lines of a file, so that the mark stays below its place', () => {
  expect(wrapped(`  > 12 |   email: { from: ${'x'.repeat(30)} }\n       |   ^`, 30)).toBe(
    '  > 12 |   email: { from: xxx…\n       |   ^',
  );
});

it('wide characters take two columns, when lines are broken and cut', () => {
  const names = '株式会社 山田太郎 東京都 営業部 '.repeat(4);
  for (const columns of [20, 33, 40]) {
    for (const line of wrapped(`  12  ${names}`, columns).split('\n')) {
      expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
    }
    expect(stringWidth(cutTo(names, columns))).toBeLessThanOrEqual(columns);
    expect(cutTo(names, columns)).toMatch(/^株式会社 .*…$/);
  }
});

it('numbers have separators of thousands', () => {
  expect([0, 999, 3900, 1_234_567].map(numberText)).toEqual(['0', '999', '3,900', '1,234,567']);
});

it('counts agree with their nouns', () => {
  expect([0, 1, 3900].map((count) => counted(count, 'event'))).toEqual(['0 events', '1 event', '3,900 events']);
});
