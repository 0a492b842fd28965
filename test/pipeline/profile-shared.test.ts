import { expect, it } from 'vitest';
import { markOf, ownerOf, SharedValues } from '../../src/pipeline/profile-shared.ts';

it.each([0, 3, 30_000, 340_000])(
  'counts the leads whose value another lead has (%d expected), and names the first',
  (expected) => {
    const shared = new SharedValues(expected);
    const add = (value: string, id: string): void => shared.add(markOf(value, ownerOf(id)), id);
    for (let lead = 0; lead < 50_000; lead += 1) add(`user${lead}@example.test`, `id-${lead}`);
    expect(shared).toMatchObject({ count: 0, externalId: '' });
    for (let lead = 0; lead < 50_000; lead += 1) add(`user${lead}@example.test`, `id-${lead}`);
    expect(shared).toMatchObject({ count: 0, externalId: '' });
    for (let lead = 0; lead < 700; lead += 1) add(`user${lead * 70}@example.test`, `other-${lead}`);
    expect(shared).toMatchObject({ count: 700, externalId: 'other-0' });
  },
);
