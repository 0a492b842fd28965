// Lost without it: control totals could be a cent off.
import { describe, expect, it } from 'vitest';
import { DecimalSum, grouped } from '../src/decimal.ts';

function sumOf(...values: (number | string)[]): string {
  const sum = new DecimalSum();
  for (const value of values) expect(sum.add(value), String(value)).toBe(true);
  return sum.toString();
}

describe('an exact sum', () => {
  it.each([
    [[], '0.00'],
    [[0.1, 0.2], '0.30'],
    [[1200.5], '1200.50'],
    [[-5, 2.25], '-2.75'],
    [[0.005, 0.005], '0.01'],
    [[0.005], '0.005'],
    [[-0.001], '-0.001'],
    [[-0.25], '-0.25'],
    [[1e21, 1], '1000000000000000000001.00'],
    [[1e-7], '0.0000001'],
    [[9007199254740991, 9007199254740991], '18014398509481982.00'],
    [[9999999999999.99, 0.01], '10000000000000.00'],
    [[99999999999999.9, 99999999999999.9], '199999999999999.80'],
    [['9007199254740993.10', 0.9, '-0.001'], '9007199254740993.999'],
    [['1.5e3', '25E-1'], '1502.50'],
  ] as const)('of %j is %s', (values, expected) => {
    expect(sumOf(...values)).toBe(expected);
  });

  it('of many amounts in cents and in fractions of them is the sum of their digits', () => {
    let state = 1;
    const next = (): number => (state = (state * 48_271) % 2_147_483_647);
    const texts = Array.from({ length: 20_000 }, (_, index) => {
      const fraction = String(next())
        .padStart(10, '0')
        .slice(0, 1 + (index % 4));
      return `${index % 5 === 0 ? '-' : ''}${next() % 10_000_000}.${fraction}`;
    });
    const exact = texts.reduce(
      (sum, text) => sum + BigInt(text.replace(/\.(\d+)$/, (_, end: string) => end.padEnd(4, '0'))),
      0n,
    );
    expect(BigInt(sumOf(...texts.map(Number)).replace('.', ''))).toBe(exact);
    // As floats they do not add up, so that this test means something.
    const floating = texts.reduce((sum, text) => sum + Number(text), 0);
    expect(BigInt(floating.toFixed(8).replace('.', ''))).not.toBe(exact * 10_000n);
  });

  it.each(['', 'n/a', '1,200', '1e9999', '0x10', 'NaN', NaN, Infinity])('does not take %j', (value) => {
    const sum = new DecimalSum();
    expect(sum.add(value)).toBe(false);
    expect(sum.toString()).toBe('0.00');
  });
});

describe('a decimal for people', () => {
  it.each([
    ['0.00', '0.00'],
    ['999.50', '999.50'],
    ['-1234.00', '-1,234.00'],
    ['1234567.123456', '1,234,567.123456'],
  ])('%s is shown as %s', (decimal, text) => {
    expect(grouped(decimal)).toBe(text);
  });
});
