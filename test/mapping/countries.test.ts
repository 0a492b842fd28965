import { expect, test } from 'vitest';
import { countryCode } from '../../src/mapping/transforms/countries.ts';

test.each([
  ['IT', 'IT'],
  ['it', 'IT'],
  [' Italy ', 'IT'],
  ['Italia', 'IT'],
  ['ITALIË', 'IT'],
  ['Włochy', 'IT'],
  ['wlochy', undefined],
  ['Brazil', 'BR'],
  ['Brasil', 'BR'],
  ['Brésil', 'BR'],
  ['Bresil', 'BR'],
  ['Бразилия', 'BR'],
  ['巴西', 'BR'],
  ['México', 'MX'],
  ['Vereinigtes Königreich', 'GB'],
  ['U.K.', 'GB'],
  ['USA', 'US'],
  ['U.S.A.', 'US'],
  ['EE.UU.', 'US'],
  ['base.it', 'IT'],
  ['Antigua and Barbuda', 'AG'],
  ['Antigua & Barbuda', 'AG'],
  ['Saint Lucia', 'LC'],
  ['St. Lucia', 'LC'],
  ['The Bahamas', 'BS'],
  ['The United States of America', 'US'],
  ['Kongo', undefined],
  ['Narnia', undefined],
  ['Rome', undefined],
  ['', undefined],
])('%j is %s', (text, code) => {
  expect(countryCode(text)).toBe(code);
});
