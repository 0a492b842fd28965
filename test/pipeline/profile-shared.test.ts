import fc from 'fast-check';
import { expect, it } from 'vitest';
import { markOf, ownerOf, SharedValues } from '../../src/pipeline/profile-shared.ts';

type Lead = readonly [value: string, id: string];

function counted(leads: Iterable<Lead>): ReturnType<SharedValues['count']> {
  const shared = new SharedValues();
  for (const [value, id] of leads) shared.add(markOf(value, ownerOf(id)), id);
  return shared.count();
}

/** The same by a Map of all values. */
function byMap(leads: readonly Lead[]): ReturnType<SharedValues['count']> {
  const owners = new Map<string, string>();
  const others = leads.filter(([value, id]) => {
    const owner = owners.get(value) ?? id;
    owners.set(value, owner);
    return owner !== id;
  });
  return { count: others.length, externalId: others[0]?.[1] ?? '' };
}

function* leads(count: number, { of = count, named = 'id' } = {}): Generator<Lead> {
  for (let lead = 0; lead < count; lead += 1) yield [`user${lead % of}@example.test`, `${named}-${lead}`];
}

it('counts none where every lead has values of its own, however often it comes', () => {
  expect(counted([...leads(200_000), ...leads(200_000)])).toEqual({ count: 0, externalId: '' });
});

it('counts the leads whose value an earlier lead has, and names the first, also the very last of many', () => {
  expect(counted([...leads(200_000), ...leads(700, { named: 'other' })])).toEqual({
    count: 700,
    externalId: 'other-0',
  });
  const last: Lead = ['user150000@example.test', 'the-last'];
  expect(counted([...leads(200_000), last])).toEqual({ count: 1, externalId: 'the-last' });
});

it('names one of them also where most records come twice, and none where that used up what it keeps', () => {
  const twice = [...leads(50_000), ...leads(50_000)];
  const { count, externalId } = counted([...twice, ...leads(500, { named: 'other' })]);
  expect(count).toBe(500);
  expect(externalId).toMatch(/^other-\d+$/);
  expect(counted([...twice, ['user7@example.test', 'alone']]).count).toBe(1);
});

it('counts nearly all where all have one value, or each two have one', () => {
  expect(counted(leads(100_000, { of: 1 }))).toEqual({ count: 99_999, externalId: 'id-1' });
  expect(counted(leads(100_000, { of: 50_000 }))).toEqual({ count: 50_000, externalId: 'id-50000' });
});

/** Ids of which no two have the same 20 bits: of more, some do, and are then taken for one lead. */
const IDS = 1000;

it('tells leads apart by their ids', () => {
  const owners = new Set(Array.from({ length: IDS + 1 }, (_, id) => ownerOf(`${id}`)));
  expect(owners.size).toBe(IDS + 1);
});

it.each([5, 900, 100_000])('counts what a Map of all values does, of %d values', (most) => {
  const lead = fc.tuple(fc.nat(most), fc.nat(IDS)).map(([value, id]): Lead => [`${value}`, `${id}`]);
  fc.assert(
    fc.property(fc.array(lead, { maxLength: 4000, size: 'max' }), (all) => {
      expect(counted(all)).toEqual(byMap(all));
    }),
    { numRuns: 40 },
  );
});
