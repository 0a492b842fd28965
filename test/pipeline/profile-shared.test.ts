import { expect, it } from 'vitest';
import { SharedValues } from '../../src/pipeline/profile-shared.ts';

it('counts the leads whose value another lead has, once each, and names the first', () => {
  const shared = new SharedValues();
  for (let lead = 0; lead < 50_000; lead += 1) shared.add(`user${lead}@example.test`, `id-${lead}`);
  expect(shared).toMatchObject({ count: 0, externalId: '' });
  for (let lead = 0; lead < 50_000; lead += 1) shared.add(`user${lead}@example.test`, `id-${lead}`);
  expect(shared).toMatchObject({ count: 0, externalId: '' });
  for (let lead = 0; lead < 700; lead += 1) shared.add(`user${lead * 70}@example.test`, `other-${lead}`);
  expect(shared).toMatchObject({ count: 700, externalId: 'other-0' });
});
