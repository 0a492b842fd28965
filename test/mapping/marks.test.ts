import { expect, it } from 'vitest';
import { markedLines } from '../../src/mapping/marks.ts';

it('finds the lines of a mapping that a person still has to look at', () => {
  const text = [
    '# Check everything marked "set this" or "check".',
    'migration: acme # set this: the name of the migration',
    'defaults:',
    '  # region: IT # set this: nothing shows the country',
    '  timezone: Europe/Rome # check: the country is IT',
    '  locale: en # no check is needed',
    "  missing_values: ['', '# set this']",
  ].join('\n');
  expect(markedLines(text)).toEqual([
    { line: 2, mark: 'set this', why: 'the name of the migration' },
    { line: 4, mark: 'set this', why: 'nothing shows the country' },
    { line: 5, mark: 'check', why: 'the country is IT' },
  ]);
});
