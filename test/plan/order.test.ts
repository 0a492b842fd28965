import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ledger } from '../../src/checkpoint/ledger.ts';
import { EVENT_TYPES, type Ready } from '../../src/model.ts';
import { holdAllButFirst, holdAllButPicked } from '../../src/plan/pilot.ts';
import { linkPlan } from '../../src/plan/links.ts';
import { SendOrder } from '../../src/plan/order.ts';
import { deal, event, hasher, lead, leadNote, note, planOf, turnsOf } from './planning.ts';

/** A ledger in which these events were settled by an earlier run. */
function after(
  events: readonly Ready[],
  status: 'acknowledged' | 'rejected' = 'acknowledged',
  ledger = new Ledger({ keepFields: true }),
): Ledger {
  const plan = planOf([]);
  for (const each of events) {
    ledger.settle({
      id: plan.idOf(each, 0),
      type: each.type,
      external_id: each.externalId ?? null,
      status,
      outcome: status === 'acknowledged' ? 'created' : null,
      entity_id: status === 'acknowledged' ? 'e' : null,
      code: status === 'acknowledged' ? null : 'odd',
      content_sha: each.sha,
      fields: hasher.hashesOf(each.data),
      at: '2026-01-01T00:00:00Z',
    });
  }
  return ledger;
}

const idsOf = (...events: readonly Ready[]): string[] => turnsOf(planOf(events)).ids;

describe('without priorities, events', () => {
  it('go by type, and within a type as in the files', () => {
    expect(idsOf(note('n1', 'd1'), lead('2'), deal('d1', '2'), lead('1'))).toEqual(['2', '1', 'd1', 'n1']);
  });

  it('that an earlier run saw rejected go last within their type', () => {
    const [first, second] = [lead('1'), lead('2')];
    const plan = planOf([first, second, deal('d', '2')], { ledger: after([first], 'rejected') });
    expect(turnsOf(plan).ids).toEqual(['2', '1', 'd']);
  });
});

describe('an event with a higher priority', () => {
  it('goes first, after its parents and with everything that hangs on it', () => {
    const plan = planOf([
      lead('1'),
      lead('2'),
      lead('3'),
      deal('closed', '1', { priority: 0 }),
      deal('open', '2', { priority: 1 }),
      note('n1', 'closed'),
      note('n2', 'open'),
      leadNote('n3', '2'),
      leadNote('n4', '3'),
    ]);
    const { ids, order } = turnsOf(plan);
    expect(ids).toEqual(['2', 'open', 'n3', 'n2', '1', '3', 'closed', 'n4', 'n1']);
    expect(order.priorities).toMatchObject([
      { priority: 1, events: 4, left: 4 },
      { priority: 0, events: 5, left: 5 },
    ]);
  });

  it('lifts its parent and the parent of that, and so what hangs on them without a priority of its own', () => {
    const plan = planOf([
      lead('1'),
      deal('other', '1', { priority: 0 }),
      deal('same', '1'),
      deal('d', '1'),
      note('n', 'd', { priority: 5 }),
      note('first', 'same'),
    ]);
    expect(turnsOf(plan).ids).toEqual(['1', 'same', 'd', 'first', 'n', 'other']);
  });

  it('can be a lead, whose deals and comments go with it', () => {
    expect(idsOf(lead('1'), lead('2', { priority: 3 }), deal('d1', '1'), deal('d2', '2'), note('n2', 'd2'))).toEqual([
      '2',
      'd2',
      'n2',
      '1',
      'd1',
    ]);
  });

  it('can be an update, and everything about its record goes with it, in its order', () => {
    const update = (id: string, n: number, priority?: number) =>
      event('lead/updated', { external_id: id, custom_params: { n } }, priority === undefined ? {} : { priority });
    const plan = planOf([lead('1'), lead('2'), update('1', 1), update('2', 1, 0), update('2', 2, 4)]);
    expect(turnsOf(plan).ids).toEqual(['2', '2+', '2+', '1', '1+']);
  });

  it('lifts every parent that its record has, also one that only an update names', () => {
    const plan = planOf([
      lead('1', { priority: 2 }),
      lead('2'),
      deal('d', '1'),
      event('deal/updated', { external_id: 'd', lead_external_id: '2' }),
    ]);
    expect(turnsOf(plan).ids).toEqual(['1', '2', 'd', 'd+']);
  });

  it('is not a duplicate that was dropped, nor one that is invalid', () => {
    const dropped = [
      lead('1'),
      lead('2'),
      deal('d', '2'),
      event('deal/created', { external_id: 'd', lead_external_id: '2', title: 'x' }, { priority: 9 }),
    ];
    expect(turnsOf(planOf(dropped, { policies: { duplicates: 'first' } })).ids).toEqual(['1', '2', 'd']);
    expect(turnsOf(planOf(dropped, { policies: { duplicates: 'last' } })).ids).toEqual(['2', 'd', '1']);
    expect(turnsOf(planOf(dropped)).ids).toEqual(['1', '2']);
  });

  it('may wait for a parent that is nowhere: it is blocked, and lifts nothing', () => {
    expect(idsOf(lead('1'), deal('d', 'nowhere', { priority: 1 }), deal('e', '1'))).toEqual(['1', 'e']);
  });
});

describe('a negative priority', () => {
  it('goes last, and does not lower a parent', () => {
    expect(idsOf(lead('1'), deal('d', '1', { priority: -1 }), note('n', 'd'), lead('2'), deal('e', '2'))).toEqual([
      '1',
      '2',
      'e',
      'd',
      'n',
    ]);
  });

  it('of comments leaves their deals where they are', () => {
    const plan = planOf([
      lead('1'),
      deal('d', '1', { priority: 1 }),
      note('n', 'd', { priority: -1 }),
      lead('2'),
      deal('e', '2'),
    ]);
    expect(turnsOf(plan).ids).toEqual(['1', 'd', '2', 'e', 'n']);
  });
});

describe('the priority of a record is the same', () => {
  const events = [
    lead('1'),
    lead('2'),
    deal('open', '2', { priority: 1 }),
    leadNote('a', '1'),
    leadNote('b', '2'),
    note('c', 'open'),
  ];

  it('in a rerun, where its deal is acknowledged already', () => {
    const plan = planOf(events, { ledger: after(events.slice(0, 3)) });
    const { ids, order } = turnsOf(plan);
    expect(ids).toEqual(['b', 'c', 'a']);
    expect(order.priorities).toMatchObject([
      { priority: 1, events: 4, acknowledged: 2, left: 2 },
      { priority: 0, events: 2, acknowledged: 1, left: 1 },
    ]);
  });

  it('with --only, which excludes its deals', () => {
    const plan = planOf(events);
    linkPlan(plan, ['lead/created']);
    expect(turnsOf(plan).ids).toEqual(['2', '1']);
    expect(new SendOrder(plan).priorities).toMatchObject([{ events: 1 }, { events: 1 }]);
  });

  it('with --limit, which chooses the same events as without priorities', () => {
    const plan = planOf(events);
    holdAllButFirst(plan, 1);
    const { ids, order } = turnsOf(plan);
    expect(ids).toEqual(['2', 'open', '1', 'a']);
    expect(order.priorities).toMatchObject([{ events: 2 }, { events: 2 }]);
  });

  it('with --pick', () => {
    const plan = planOf(events);
    holdAllButPicked(plan, [{ entity: 'deal', externalId: 'open' }]);
    expect(turnsOf(plan).ids).toEqual(['2', 'open', 'c']);
  });
});

describe('comments of one parent', () => {
  const at = (day: number) => ({ occurredAt: `2024-01-0${day}T10:00:00+01:00` });

  it('go in the order of time, then as in the files, and those without a time last', () => {
    const plan = planOf([
      lead('1'),
      deal('d', '1'),
      note('none', 'd'),
      note('third', 'd', at(3)),
      note('first', 'd', { occurredAt: '1969-12-31T23:00:00Z' }),
      note('second', 'd', at(2)),
      note('second too', 'd', at(2)),
      note('none too', 'd'),
    ]);
    expect(turnsOf(plan).ids.slice(2)).toEqual(['first', 'second', 'second too', 'third', 'none', 'none too']);
  });

  it('take turns with those of other parents', () => {
    const notes = ['a', 'b', 'c'].flatMap((id) => [1, 2, 3].map((n) => note(`${id}${n}`, id, at(n))));
    const plan = planOf([lead('1'), ...['a', 'b', 'c'].map((id) => deal(id, '1')), ...notes]);
    expect(turnsOf(plan, 2).ids.slice(4)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'c1', 'c2', 'c3']);
    expect(turnsOf(plan, 3).ids.slice(4)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
  });

  it('all take the highest priority among them, so that their order holds', () => {
    const plan = planOf([
      lead('1'),
      deal('d', '1'),
      note('late', 'd', { ...at(2), priority: 7 }),
      note('early', 'd', { ...at(1), priority: 0 }),
      deal('e', '1', { priority: 1 }),
    ]);
    expect(turnsOf(plan).ids).toEqual(['1', 'd', 'early', 'late', 'e']);
  });

  it('that were rejected before go last, in their order', () => {
    const comments = [note('n1', 'd', at(1)), note('n2', 'd', at(2)), note('n3', 'd', at(3)), note('n4', 'd', at(4))];
    const ledger = after([comments[2]!, comments[0]!], 'rejected', after([lead('1'), deal('d', '1')]));
    const plan = planOf([lead('1'), deal('d', '1'), ...comments], { ledger });
    expect(turnsOf(plan).ids).toEqual(['n2', 'n4', 'n1', 'n3']);
  });

  it('are ordered in a time that grows little faster than their number', () => {
    const took = [10_000, 80_000].map((count) => {
      const notes = Array.from({ length: count }, (_, n) =>
        note(`n${n}`, 'd', { occurredAt: new Date((n * 7919) % 1e9).toISOString() }),
      );
      const plan = planOf([lead('1'), deal('d', '1'), ...notes]);
      const order = new SendOrder(plan);
      const startedAt = performance.now();
      expect([...order.turns(40)]).toHaveLength(count + 2);
      return performance.now() - startedAt;
    });
    // Of eight times as many: quadratic would be 64 times as long.
    expect(took[1]! / Math.max(took[0]!, 5)).toBeLessThan(32);
  });
});

it('every event has one turn, after all that it depends on, and a higher priority before a lower one', () => {
  const priority = fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined });
  const time = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });
  const one = fc.record({ type: fc.constantFrom(...EVENT_TYPES), id: fc.nat(5), parent: fc.nat(5), priority, time });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 40 }), (given) => {
      const events = given.map(({ type, id, parent, priority: own, time: day }, n) => {
        const about = {
          ...(own === undefined ? {} : { priority: own }),
          ...(day === undefined ? {} : { occurredAt: `2024-01-0${day}T00:00:00Z` }),
        };
        if (type === 'comment/created') {
          const on = parent % 2 === 0 ? { lead_external_id: `l${parent}` } : { deal_external_id: `d${parent}` };
          return event(type, { external_id: `c${n}`, content: 'x', ...on }, about);
        }
        if (type.startsWith('lead/')) return event(type, { external_id: `l${id}`, custom_params: { n } }, about);
        return event(type, { external_id: `d${id}`, lead_external_id: `l${parent}`, custom_fields: { n } }, about);
      });
      const plan = planOf(events, { policies: { duplicates: 'first' } });
      const due = Object.values(plan.tables).reduce((sum, { counts }) => sum + counts.ready, 0);
      const { order, turns } = turnsOf(plan, 3);
      expect(turns).toHaveLength(due);
      expect(order.priorities.reduce((sum, { left }) => sum + left, 0)).toBe(due);
      const levels = turns.map(({ progress }) => progress.priority);
      expect(levels).toEqual([...levels].sort((a, b) => b - a));
      const lastTime = new Map<number, number>();
      const seen = new Map<string, number>();
      for (const turn of turns) {
        const { type, ordinal } = turn;
        const parent = plan.links.parentStatus(type, ordinal);
        expect(['none', 'exists', 'missing', 'failed']).toContain(parent);
        const table = plan.tables[type];
        const record = `${type} ${table.key(ordinal)}`;
        // Events of one type about one record keep the order of the files.
        expect(seen.get(record) ?? -1).toBeLessThan(ordinal);
        seen.set(record, ordinal);
        if (type === 'comment/created') {
          const on = table.parent(ordinal)!;
          expect(lastTime.get(on) ?? -Infinity).toBeLessThanOrEqual(table.time(ordinal));
          lastTime.set(on, table.time(ordinal));
        }
        plan.settle(type, ordinal, parent === 'none' || parent === 'exists' ? 'acknowledged' : 'blocked');
        order.ended(turn);
      }
      expect(order.priorities.every(({ left, acknowledged, events: all }) => left === 0 && acknowledged <= all)).toBe(
        true,
      );
    }),
    { numRuns: 300 },
  );
});
