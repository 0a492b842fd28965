import { expect, it } from 'vitest';
import { parseMappingDocument } from '../../src/mapping/document.ts';

it.each([
  ['lists', `${'['.repeat(500)}${']'.repeat(500)}`],
  ['maps', `${'{a: '.repeat(500)}1${'}'.repeat(500)}`],
  ['dashes', `${'- '.repeat(500)}1`],
  ['20,000 lists', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
])('a mapping of %s within each other is refused', (_what, nested) => {
  const { data, problems } = parseMappingDocument(nested, 'mapping.yaml');
  expect(data).toBeUndefined();
  expect(problems).toHaveLength(1);
  expect(problems[0]!.message).toContain('100 levels');
});
