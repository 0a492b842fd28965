import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { makeDirectory } from '../directory.ts';
import { EVENT_TYPES } from '../../src/kinds/index.ts';
import type { EventType } from '../../src/model.ts';
import { judged, type Choice, type Rules } from './model.ts';
import { event, judgedIn, Planning, type About, type Given } from './planning.ts';

const option = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(values, { nil: undefined });
const id = fc.constantFrom('1', '2', '3');

const about: fc.Arbitrary<About> = fc
  .record({
    priority: option(fc.integer({ min: -2, max: 2 })),
    day: option(fc.integer({ min: 1, max: 3 })),
    isInvalid: fc.nat(5).map((n) => n === 0),
  })
  .map(({ priority, day, isInvalid }) => ({
    ...(priority === undefined ? {} : { priority }),
    ...(day === undefined ? {} : { occurredAt: `2024-01-0${day}T00:00:00Z` }),
    isInvalid,
  }));

const content = fc.constantFrom('a', 'b');
/** Also one that the input may lack. */
const parent = fc.constantFrom('1', '2', '3', '4');

function dataOf(type: EventType, own: string, text: string, on: string | undefined, onLead: boolean): Given['data'] {
  if (type === 'comment/created') {
    return { external_id: own, content: text, [onLead ? 'lead_external_id' : 'deal_external_id']: on ?? '1' };
  }
  if (type.startsWith('lead/')) return { external_id: own, full_name: text };
  return { external_id: own, title: text, ...(on !== undefined && { lead_external_id: on }) };
}

const row: fc.Arbitrary<Given> = fc
  .tuple(fc.constantFrom(...EVENT_TYPES), id, fc.nat(99), content, option(parent), fc.boolean(), about)
  .map(([type, own, n, text, on, onLead, more]) =>
    // Few comments are duplicates.
    event(type, dataOf(type, type === 'comment/created' && n > 9 ? `n${n}` : own, text, on, onLead), more),
  );
const rows = fc.array(row, { minLength: 1, maxLength: 14 });

const nameOf = ({ type, data }: Given): string => `${type.split('/')[0]!} ${data.external_id as string}`;

/** One valid row of each of these records, as created. */
function onePerRecord(given: readonly Given[]): Given[] {
  const created = given.filter(({ type, isInvalid }) => type.endsWith('/created') && !isInvalid);
  return [...new Map(created.map((each) => [nameOf(each), each])).values()];
}

const directory = makeDirectory();
/** Without deals of leads that are not among them. */
function withParents(given: readonly Given[]): readonly Given[] {
  const names = new Set(given.map(nameOf));
  return given.filter(
    ({ type, data: { lead_external_id: lead } }) =>
      type !== 'deal/created' || lead === undefined || names.has(`lead ${lead as string}`),
  );
}

const plannings = new Map<string, Promise<Planning>>();
afterAll(async () => {
  for (const planning of plannings.values()) (await planning).forget();
  rmSync(directory, { recursive: true });
});

/** What the survey decides and what the model decides are the same. */
async function check(given: readonly Given[], rules: Rules, history: readonly Given[], choice: Choice): Promise<void> {
  const key = JSON.stringify(rules);
  if (!plannings.has(key)) plannings.set(key, Planning.in(mkdtempSync(join(directory, 'plan-')), rules));
  const planning = await plannings.get(key)!;
  planning.forget();
  const ends = (['acknowledged', 'rejected'] as const).map(
    (end, at) => [end, withParents(history.filter((_, n) => n % 2 === at))] as const,
  );
  for (const [end, events] of ends) if (events.length > 0) await planning.settle(events, end);
  const earlier = new Map(ends.flatMap(([end, events]) => events.map((each) => [nameOf(each), end] as const)));
  const pick = choice.pick?.replace(' ', ':');
  const db = await planning.survey(given, { ...(pick && { pick: [pick] }), ...(choice.only && { only: choice.only }) });
  expect(judgedIn(db)).toEqual(judged(given, rules, earlier, choice));
}

const NONE: Choice = {};
const PLAIN: Rules = { duplicates: 'reject', if_parent_missing: 'block' };
const rulesOf = fc.record({
  duplicates: fc.constantFrom('reject', 'first', 'last'),
  if_parent_missing: fc.constantFrom('block', 'send', 'omit', 'skip'),
} satisfies { [K in keyof Required<Omit<Rules, 'combine'>>]: fc.Arbitrary<Rules[K]> });

describe('a survey decides as a plain model of its rules does', () => {
  it('about duplicates, rows of one record, parents, priorities and order', async () => {
    await fc.assert(
      fc.asyncProperty(rows, rulesOf, (given, rules) => check(given, rules, [], NONE)),
      { numRuns: 150 },
    );
  });

  it('about comments that are combined', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom(2, 50), (given, combine) => check(given, { ...PLAIN, combine }, [], NONE)),
      { numRuns: 60 },
    );
  });

  it('about records that were sent before, and those that are gone', async () => {
    await fc.assert(
      fc.asyncProperty(rows, rows, rulesOf, (given, before, rules) => {
        const history = onePerRecord(before);
        const known = new Set(history.map(nameOf));
        // What is known of a record is compared elsewhere: here it is as it was, or gone.
        const rest = given.filter((each) => !known.has(nameOf(each)));
        const input = [...history.filter((_, n) => n % 3 > 0), ...rest];
        fc.pre(input.length > 0);
        return check(input, rules, history, NONE);
      }),
      { numRuns: 80 },
    );
  });

  it('about what --only and --pick leave out', async () => {
    const choice = fc.oneof(
      fc.constantFrom(...EVENT_TYPES).map((only) => ({ only })),
      fc.nat(20),
    );
    await fc.assert(
      fc.asyncProperty(rows, rows, choice, (given, more, chosen) => {
        const all = onePerRecord([...given, ...more]);
        const parents = all.filter(({ type }) => type !== 'comment/created');
        fc.pre(parents.length > 0);
        const pick = typeof chosen === 'number' ? nameOf(parents[chosen % parents.length]!) : undefined;
        return check(all, PLAIN, [], typeof chosen === 'number' ? { pick } : chosen);
      }),
      { numRuns: 80 },
    );
  });
});
