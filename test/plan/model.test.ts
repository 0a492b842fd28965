// Lost without it: SQL could decide otherwise than the rules: compared with a plain model, over random events.
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { makeDirectory } from '../directory.ts';
import { EVENT_TYPES } from '../../src/kinds/index.ts';
import type { EventType } from '../../src/model.ts';
import { countStates, outcomesOf, totalOf } from '../../src/plan/counts.ts';
import { judged, type Choice, type Earlier, type Rules } from './model.ts';
import { Comments } from './model-comments.ts';
import { event, judgedIn, lead, Planning, type About, type Given } from './planning.ts';

/** How many times as many random surveys: `npm run soak` has more. */
const TIMES = Number(process.env.PLAN_TIMES ?? 1);

const option = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(values, { nil: undefined });
const id = fc.constantFrom('1', '2', '3');

const about: fc.Arbitrary<About> = fc
  .record({
    priority: option(fc.integer({ min: -2, max: 2 })),
    day: option(fc.integer({ min: 1, max: 3 })),
    isInvalid: fc.nat(5).map((n) => n === 0),
    isExcluded: fc.nat(7).map((n) => n === 0),
  })
  .map(({ priority, day, isInvalid, isExcluded }) => ({
    ...(priority === undefined ? {} : { priority }),
    ...(day === undefined ? {} : { occurredAt: `2024-01-0${day}T00:00:00Z` }),
    ...{ isInvalid, isExcluded },
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
  const created = given.filter(
    ({ type, isInvalid, isExcluded }) => type.endsWith('/created') && !isInvalid && !isExcluded,
  );
  return [...new Map(created.map((each) => [nameOf(each), each])).values()];
}

const directory = makeDirectory();
/** Without deals of leads that are not among them, which may be sent in another form. */
function withParents(given: readonly Given[]): readonly Given[] {
  const names = new Set(given.map(nameOf));
  return given.filter(({ type, data: { lead_external_id: on } }) => {
    return type !== 'deal/created' || on === undefined || names.has(`lead ${on as string}`);
  });
}

/** Up to five notes about two leads, each with its text, parent and time of the moment. */
const notes = fc
  .array(fc.tuple(fc.nat(4), fc.constantFrom('1', '1', '2'), fc.constantFrom('a', 'a', 'b'), about), { maxLength: 6 })
  .map((all) => {
    const several = all.map(([n, on, text, more]) =>
      event('comment/created', dataOf('comment/created', `n${n}`, `${text}${n}`, on, true), more),
    );
    return [...new Map(several.map((each) => [nameOf(each), each])).values()];
  });
const combine = fc.constantFrom(50, 50, 2, undefined);

const plannings = new Map<string, Promise<Planning>>();
afterAll(async () => {
  for (const planning of plannings.values()) (await planning).forget();
  rmSync(directory, { recursive: true });
});

function planningOf(rules: Rules): Promise<Planning> {
  const key = JSON.stringify(rules);
  if (!plannings.has(key)) plannings.set(key, Planning.in(directory, rules));
  return plannings.get(key)!;
}

/** What the survey decides and what the model decides are the same. */
async function check(given: readonly Given[], rules: Rules, history: readonly Given[], choice: Choice): Promise<void> {
  const planning = await planningOf(rules);
  planning.forget();
  const earlier = new Map<string, 'acknowledged' | 'rejected'>();
  for (const [at, end] of (['acknowledged', 'rejected'] as const).entries()) {
    const part = withParents(history.filter((_, n) => n % 2 === at));
    const sent = part.length === 0 ? [] : await planning.settle(part, end);
    for (const name of sent) earlier.set(name, end);
  }
  const pick = choice.pick?.replace(' ', ':');
  const db = await planning.survey(given, {
    ...(pick && { pick: [pick] }),
    ...(choice.only && { only: choice.only.join(',') }),
  });
  expect(judgedIn(db)).toEqual(judged(given, rules, earlier, choice).judged);
  const { total, ...states } = totalOf(Object.values(outcomesOf(countStates(db))));
  expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(total);
}

const NONE: Choice = {};
const PLAIN: Rules = { duplicates: 'reject', if_parent_missing: 'block' };
const rulesOf = fc.record({
  duplicates: fc.constantFrom('reject', 'first', 'last'),
  if_parent_missing: fc.constantFrom('block', 'send', 'omit', 'skip'),
} satisfies { [K in 'duplicates' | 'if_parent_missing']: fc.Arbitrary<Rules[K]> });

describe('a survey decides as a plain model of its rules does', () => {
  it('about duplicates, rows of one record, parents, priorities and order', async () => {
    await fc.assert(
      fc.asyncProperty(rows, rulesOf, (given, rules) => check(given, rules, [], NONE)),
      { numRuns: 40 * TIMES },
    );
  });

  it('about comments that are combined, after any other runs', async () => {
    const round = fc.record({
      combine,
      notes,
      end: fc.constantFrom('open', 'open', 'deduplicated', 'acknowledged', 'rejected'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 3, maxLength: 5 }), async (rounds) => {
        const leads = ['1', '2'].map((each) => lead(each));
        const acknowledged: Earlier = new Map(leads.map((each) => [nameOf(each), 'acknowledged']));
        const comments = new Comments();
        (await planningOf(PLAIN)).forget();
        await (await planningOf(PLAIN)).settle(leads);
        for (const { combine: most, notes: given, end } of rounds) {
          const rules = { ...PLAIN, combine: most };
          const planning = await planningOf(rules);
          const db = await planning.survey([...leads, ...given]);
          const expected = judged([...leads, ...given], rules, acknowledged, NONE, comments);
          expect(judgedIn(db)).toEqual(expected.judged);
          await planning.sent(db, end);
          comments.sent(expected.toSend, end);
        }
      }),
      { numRuns: 40 * TIMES },
    );
  });

  const withNotes = fc.tuple(rows, notes).map((both) => both.flat());

  it('about records that were sent before, and those that are gone', async () => {
    await fc.assert(
      fc.asyncProperty(withNotes, withNotes, rulesOf, (given, before, rules) => {
        const history = onePerRecord([lead('1'), lead('2'), ...before]);
        const known = new Set(history.map(nameOf));
        // What is known of a record is compared elsewhere: here it is as it was, or gone.
        const rest = given.filter((each) => !known.has(nameOf(each)));
        const input = [...history.filter((_, n) => n % 3 > 0), ...rest];
        fc.pre(input.length > 0);
        return check(input, rules, history, NONE);
      }),
      { numRuns: 20 * TIMES },
    );
  });

  it('about a record of two entries: each field follows the `if_changed` of the entry that set it', async () => {
    const policy = fc.constantFrom('report', 'ignore', 'update');
    const row = (type: EventType, data: object): Given => event(type, { external_id: '1', ...data });
    await fc.assert(
      fc.asyncProperty(policy, policy, fc.boolean(), fc.boolean(), async (if_changed, updates, isName, isMail) => {
        const planning = await planningOf({ ...PLAIN, if_changed, updates });
        planning.forget();
        const rows = (name: string, email: string): Given[] => [
          row('lead/created', { full_name: name, email: 'first@x.test' }),
          row('lead/updated', { email }),
        ];
        await planning.settle(rows('Ada', 'ada@x.test'));
        const db = await planning.survey(rows(isName ? 'Eve' : 'Ada', isMail ? 'eve@x.test' : 'ada@x.test'));
        const changed = [...(isName ? [if_changed] : []), ...(isMail ? [updates] : [])];
        const code = changed.includes('report') ? 'changed' : null;
        const expected = changed.includes('update')
          ? { state: 'ready', code: null, sends: 'lead/updated' }
          : { state: 'acknowledged', code, sends: null };
        expect(db.get('select state, code, sends from event')).toEqual(expected);
      }),
      { numRuns: 18 * TIMES },
    );
  });

  it('about what --only and --pick leave out', async () => {
    const choice = fc.oneof(
      fc.subarray([...EVENT_TYPES], { minLength: 1 }).map((only) => ({ only })),
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
      { numRuns: 20 * TIMES },
    );
  });
});
