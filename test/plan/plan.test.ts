// Lost without it: what the model does not have: times, dropped rows, policies of lists.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRecords } from '../../src/plan/counts.ts';
import { countGone } from '../../src/plan/known/gone.ts';
import type { Database } from '../../src/store/sqlite.ts';
import { project } from '../e2e/harness.ts';
import { deal, event, lead, note, planOf, Planning, statesOf, turnsOf, type Given } from './planning.ts';

const update = (id: string, name: string): Given => event('lead/updated', { external_id: id, full_name: name });
/** What the ids of the events depend on. */
const contentsIn = (db: Database): string[] =>
  db.all<{ content: string }>(`select content from event where data is not null order by id`).map((row) => row.content);

/** The events of which something is sent as an update, though the input has them as created. */
function changesIn(db: Database): string[] {
  return db
    .all<{ name: string }>(
      `select external_id || ' ' || sends as name from event where state = 'ready' and sends <> type order by id`,
    )
    .map(({ name }) => name);
}

function codesIn(db: Database): string[] {
  return db.all<{ code: string }>('select code from problems order by code').map(({ code }) => code);
}

describe('duplicates', () => {
  it.each([
    ['the row whose content was sent stays', ['Acme', 'Ada'], ['invalid', 'acknowledged']],
    ['rows with that content stay', ['Acme', 'Ada', 'Ada'], ['invalid', 'acknowledged', 'duplicate']],
    ['none stays where no row has the content that was sent', ['Acme', 'Ada B'], ['invalid', 'invalid']],
  ] as const)('under `reject`: %s', async (_, names, expected) => {
    const planning = await Planning.create();
    await planning.settle([lead('1', { name: 'Ada' })]);
    const db = await planning.survey(names.map((name) => lead('1', { name })));
    expect(statesOf(db)).toEqual({ 'lead/created': expected });
  });

  it.each([
    ['last', [false, true], []],
    ['first', [true, false], []],
    ['last', [true, false], ['b']],
    ['first', [false, true], ['a']],
  ] as const)(
    'of which `%s` is chosen before `when` is asked, one is left out (%j)',
    async (duplicates, excluded, sent) => {
      const rows = ['a', 'b'].map((name, n) => lead('1', { name, isExcluded: excluded[n]! }));
      const planning = await Planning.create({ duplicates });
      const db = await planning.survey(rows);
      expect(
        db.all<{ name: string }>(`select data ->> 'full_name' as name from turn join event on event.id = event`),
      ).toEqual(sent.map((name) => ({ name })));
      expect(countRecords(db)).toEqual({ read: 2, mapped: sent.length, skipped: 2 - sent.length, unreadable: 0 });
      const told = db.all<{ reason: string }>('select reason from left_out').map(({ reason }) => reason);
      expect(told.filter((reason) => reason.includes('`duplicates`'))).toHaveLength(1 - sent.length);
      // Sent before, it is gone from the input.
      planning.forget();
      await planning.settle([lead('1', { name: 'a' })]);
      expect(countGone(await planning.survey(rows)).gone).toBe(1 - sent.length);
    },
  );

  it('under `reject`: a comment that was sent in a combined one stays', async () => {
    const planning = await Planning.create({ combine: 50 });
    const sent = event('comment/created', { external_id: 'n1', content: 'Called', lead_external_id: '1' });
    await planning.settle([lead('1'), sent]);
    const other = { ...sent, data: { ...sent.data, content: 'Met' } };
    const states = statesOf(await planning.survey([lead('1'), other, sent]))['comment/created'];
    expect(states).toEqual(['invalid', 'acknowledged']);
  });

  it('that one of two unanswered bodies has brought are uncertain, and the others are not', async () => {
    const planning = await Planning.create({ combine: 50 });
    const part = (id: string): Given =>
      event('comment/created', { external_id: id, content: 'Called', lead_external_id: '1' });
    await planning.settle([lead('1')]);
    const parts = ['n1', 'n2', 'n3'].map(part);
    await planning.settle([lead('1'), ...parts], 'open');
    await planning.settle([lead('1'), ...parts.slice(0, 2)], 'open');
    await planning.settle([lead('1'), ...parts.slice(0, 2)], 'deduplicated');
    const states = (db: Database) => db.all(`select state, code from event where entity = 'comment'`);
    const all = await planning.survey([lead('1'), ...parts]);
    expect(states(all)).toEqual([{ state: 'rejected', code: 'uncertain' }]);
    const certain = await planning.survey([lead('1'), ...parts.slice(0, 2)]);
    expect(states(certain)).toEqual([{ state: 'acknowledged', code: null }]);
  });
});

it.each([
  ['', ['2']],
  ['when: { from: kind, equals: firm },', ['1', '2']],
])('the newest version is excluded whatever else its row becomes, but for another kind (%s)', async (when, sent) => {
  const mapping = `version: 1
migration: test
sources: { it: { path: it.csv } }
events:
  - { type: lead/created, source: it, duplicates: last, when: { from: kind, in: [new] }, data: { external_id: id, full_name: name } }
  - { type: deal/created, source: it, duplicates: first, ${when} data: { external_id: id, title: name, stage_name: { value: New } } }
`;
  const csv = 'id,name,kind\n1,Ada,new\n1,Ada B,firm\n2,Bo,new\n';
  const { told, cwd } = await project({ 'it.csv': csv, 'mapping.yaml': mapping });
  await told('--dry-run', '--offline');
  const leads = await readFile(join(cwd, '.backfill/test/dry-run/plan/lead-created.csv'), 'utf8');
  expect([...leads.matchAll(/,pending,,(\d),/g)].map(([, id]) => id)).toEqual(sent);
});

describe('the rows of one record', () => {
  it.each([
    ['of its created row', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.000Z'],
    ['of the last row that has one', undefined, '2024-01-03T00:00:00.000Z'],
  ])('have one time: that %s', async (_, occurredAt, expected) => {
    const dated = (day: string): Given => ({ ...update('1', 'Ada'), occurredAt: `2024-01-0${day}T00:00:00Z` });
    const created = lead('1', occurredAt === undefined ? {} : { occurredAt });
    const db = await planOf([created, dated('2'), dated('3'), update('1', 'Eve')]);
    expect(db.get('select occurred_at from event')).toEqual({ occurred_at: expected });
  });

  const full = (id: string, name: string, city?: string): Given =>
    event('lead/created', { external_id: id, full_name: name, ...(city && { custom_params: { city } }) });
  const partly = (id: string, data: object): Given => event('lead/updated', { external_id: id, ...data });

  it('that update a record of somebody else are a warning where they have custom fields, which may replace all others', async () => {
    const codes = async (...events: Given[]): Promise<string[]> => codesIn(await planOf(events));
    expect(await codes(partly('1', { custom_params: { size: 5 } }))).toContain('custom_fields_may_go');
    expect(await codes(partly('1', { full_name: 'Ada' }))).not.toContain('custom_fields_may_go');
    expect(await codes(full('1', 'Ada', 'Bari'))).not.toContain('custom_fields_may_go');
  });
});

describe('event ids', () => {
  it('do not depend on the order of the rows', async () => {
    const id = fc.constantFrom('1', '2', '3');
    const events = fc.array(
      fc.oneof(
        id.map((of) => lead(of, { name: `name ${of}` })),
        fc.tuple(id, id).map(([of, parent]) => deal(of, parent)),
        // Of two updates of a field, the last one counts.
        id.map((of) => update(of, `new ${of}`)),
        fc
          .tuple(fc.constantFrom(undefined, 'a', 'b'), fc.constantFrom('x', 'y'), id)
          .map(([of, content, parent]) =>
            event('comment/created', { ...(of && { external_id: of }), content, lead_external_id: parent }),
          ),
      ),
      { minLength: 1, maxLength: 12 },
    );
    const shuffled = events.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    const planning = await Planning.create({ duplicates: 'first' });
    const sortedIds = async (given: readonly Given[]): Promise<string[]> => {
      const db = await planning.survey(given);
      const ids = contentsIn(db).sort();
      db.close();
      return ids;
    };
    await fc.assert(
      fc.asyncProperty(shuffled, async ([all, other]) => {
        expect(await sortedIds(other)).toEqual(await sortedIds(all));
      }),
      { numRuns: 30 },
    );
  });
});

it('`if_changed` with a list compares and sends only those fields', async () => {
  const of = (name: string, city: string, size: string): Given =>
    event('lead/created', { external_id: '1', full_name: name, custom_params: { city, size } });
  const planning = await Planning.create({ if_changed: ['custom_params'] });
  await planning.settle([of('x', 'Roma', '1')]);
  expect(changesIn(await planning.survey([of('y', 'Roma', '1')]))).toEqual([]);
  expect(changesIn(await planning.survey([of('y', 'Pisa', '1')]))).toEqual(['1 lead/updated']);
});

it('comments of one parent go by the moment, whatever its offset and its fraction of a second', async () => {
  const times = ['2024-01-01T10:00:00.002Z', '2024-01-01T10:00:00.001Z', '2024-01-01T11:30:00+02:00'];
  const notes = times.map((occurredAt, n) => note(`n${n}`, 'd', { occurredAt }));
  expect(turnsOf(await planOf([lead('1'), deal('d', '1'), ...notes])).slice(2)).toEqual(['n2', 'n1', 'n0']);
});
