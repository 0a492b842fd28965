import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FieldHasher } from '../../src/checkpoint/field-hashes.ts';
import { Ledger } from '../../src/checkpoint/ledger.ts';
import { IF_CHANGED, type SettledLine } from '../../src/checkpoint/lines.ts';
import { contentSha } from '../../src/identity.ts';
import { canonicalJson, type JsonObject } from '../../src/json.ts';
import type { Policies } from '../../src/mapping/mapping.ts';
import { DEFAULT_POLICIES } from '../../src/mapping/policies.ts';
import { EVENT_TYPES, type EventType, type Invalid, type Planned, type Ready, type Sendable } from '../../src/model.ts';
import { countWaiting } from '../../src/plan/counts.ts';
import { holdAllButFirst, holdAllButPicked } from '../../src/plan/pilot.ts';
import { linkPlan } from '../../src/plan/links.ts';
import { Plan } from '../../src/plan/plan.ts';
import { PlanBuilder, type Verdict } from '../../src/plan/plan-builder.ts';
import { PlanFile } from '../../src/plan/plan-file.ts';

const hasher = FieldHasher.random();
let ledger: Ledger;
beforeEach(() => {
  ledger = new Ledger({ keepFields: true });
});

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backfill-plan-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

let plans = 0;
const files: PlanFile[] = [];
afterEach(() => files.splice(0).forEach((file) => file.close()));

/** A plan with a real file, and with the ways to fill it. */
class TestPlan extends Plan {
  readonly #builder = new PlanBuilder(this);

  add(event: Ready): Verdict {
    return this.#builder.add(event, { raw: ['a cell'] });
  }

  addInvalid(event: Invalid): void {
    this.#builder.addInvalid(event);
  }

  link(only: readonly EventType[]): void {
    linkPlan(this, only);
  }
}

function planWith(policies: Partial<Policies> = {}): TestPlan {
  plans += 1;
  const file = PlanFile.create(join(directory, `${plans}.ndjson`));
  files.push(file);
  return new TestPlan({
    migration: 'm',
    checkpoint: { ledger, hasher },
    policies: [{ ...DEFAULT_POLICIES, ...policies }],
    file,
  });
}

function event(type: EventType, externalId: string | undefined, data: JsonObject = {}): Ready {
  const { lead_external_id: lead, deal_external_id: deal } = data;
  const parent =
    typeof deal === 'string'
      ? ({ entity: 'deal', externalId: deal } as const)
      : typeof lead === 'string'
        ? ({ entity: 'lead', externalId: lead } as const)
        : undefined;
  const whole = externalId === undefined ? data : { external_id: externalId, ...data };
  const content = canonicalJson(whole);
  return {
    kind: 'ready',
    type,
    entry: 0,
    place: { source: 's', file: 's.csv', line: 2, record: 1 },
    ...(externalId === undefined ? {} : { externalId }),
    ...(parent ? { parent } : {}),
    data: whole,
    content,
    sha: contentSha(content),
    issues: [],
    omissions: [],
  };
}

const lead = (id: string, data: JsonObject = {}): Ready => event('lead/created', id, data);
const deal = (id: string, parent: string): Ready => event('deal/created', id, { lead_external_id: parent });
const note = (id: string, parent: string): Ready =>
  event('comment/created', id, { content: 'x', deal_external_id: parent });
const invalid = (of: Ready) => ({ ...of, kind: 'invalid' as const });

function settle(of: Sendable, line: Partial<SettledLine> = {}): void {
  ledger.settle({
    id: planWith().idOf(of, 0),
    type: of.type,
    external_id: of.externalId ?? null,
    status: 'acknowledged',
    outcome: 'created',
    entity_id: 'e',
    code: null,
    content_sha: of.sha,
    fields: hasher.hashesOf(of.data),
    at: '2026-01-01T00:00:00Z',
    ...line,
  });
}

/** States by type in reading order, after the whole input was read. */
function states(plan: Plan, only: readonly EventType[] = EVENT_TYPES): Record<string, string[]> {
  linkPlan(plan, only);
  return statesNow(plan);
}

function statesNow(plan: Plan): Record<string, string[]> {
  return Object.fromEntries(
    Object.values(plan.tables)
      .filter(({ size }) => size > 0)
      .map((table) => [table.type, Array.from({ length: table.size }, (_, ordinal) => table.state(ordinal))]),
  );
}

describe('duplicates', () => {
  it('with the same content count once', () => {
    const plan = planWith();
    [lead('1'), lead('1'), lead('2')].forEach((each) => plan.add(each));
    expect(states(plan)).toEqual({ 'lead/created': ['ready', 'duplicate', 'ready'] });
  });

  it('with different content are all invalid, and their children are blocked', () => {
    const plan = planWith();
    [lead('1', { full_name: 'a' }), lead('1', { full_name: 'b' }), deal('d', '1')].forEach((each) => plan.add(each));
    expect(states(plan)).toEqual({ 'lead/created': ['invalid', 'invalid'], 'deal/created': ['blocked'] });
  });

  it.each([
    ['first', ['ready', 'duplicate', 'duplicate']],
    ['last', ['duplicate', 'duplicate', 'ready']],
  ] as const)('with different content follow `duplicates: %s`', (duplicates, expected) => {
    const plan = planWith({ duplicates });
    for (const name of ['a', 'b', 'c']) plan.add(lead('1', { full_name: name }));
    expect(states(plan)).toEqual({ 'lead/created': expected });
  });

  it('do not exist among updates, which keep their order and have separate ids', () => {
    const plan = planWith();
    const update = event('lead/updated', '1', { full_name: 'a' });
    const ordinals = [plan.add(update).ordinal, plan.add(update).ordinal];
    expect(states(plan)).toEqual({ 'lead/updated': ['ready', 'ready'] });
    expect(plan.idOf(update, ordinals[0]!)).not.toBe(plan.idOf(update, ordinals[1]!));
  });

  it('among comments without an id are separate events, each recognised on a rerun', () => {
    const comment = event('comment/created', undefined, { content: 'same', lead_external_id: '1' });
    settle(comment);
    settle(lead('1'));
    const plan = planWith();
    [lead('1'), comment, comment].forEach((each) => plan.add(each));
    expect(states(plan)['comment/created']).toEqual(['acknowledged', 'ready']);
    expect(plan.matched.gone).toBe(0);
  });
});

describe('event ids', () => {
  it('do not depend on the order of the rows', () => {
    const id = fc.constantFrom('1', '2', '3');
    const comment = fc.tuple(fc.constantFrom(undefined, 'a', 'b'), fc.constantFrom('x', 'y'), id);
    const events = fc.array(
      fc.oneof(
        id.map((of) => lead(of, { full_name: `name ${of}` })),
        fc.tuple(id, id).map(([of, parent]) => deal(of, parent)),
        comment.map(([of, content, parent]) => event('comment/created', of, { content, lead_external_id: parent })),
      ),
      { maxLength: 12 },
    );
    const idsIn = (order: readonly Ready[]): string[] => {
      const plan = planWith({ duplicates: 'first' });
      return order.map((each) => plan.idOf(each, plan.add(each).ordinal)).sort();
    };
    const shuffled = events.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        ledger = new Ledger({ keepFields: false });
        const ids = idsIn(all);
        ledger = new Ledger({ keepFields: false });
        expect(idsIn(other)).toEqual(ids);
      }),
    );
  });
});

describe('an event whose parent', () => {
  it('comes later in the input is sent', () => {
    const plan = planWith();
    [note('n', 'd'), deal('d', '1'), lead('1')].forEach((each) => plan.add(each));
    expect(states(plan)).toEqual({
      'comment/created': ['ready'],
      'deal/created': ['ready'],
      'lead/created': ['ready'],
    });
  });

  it('is invalid is blocked, and so are its own children', () => {
    const plan = planWith();
    plan.addInvalid(invalid(lead('1')));
    [deal('d', '1'), note('n', 'd')].forEach((each) => plan.add(each));
    expect(states(plan)).toMatchObject({ 'deal/created': ['blocked'], 'comment/created': ['blocked'] });
  });

  it('was acknowledged earlier and is no longer in the input is sent', () => {
    settle(lead('1'));
    const plan = planWith();
    plan.add(deal('d', '1'));
    expect(states(plan)).toEqual({ 'deal/created': ['ready'] });
    expect(plan.matched.gone).toBe(1);
  });

  it.each([
    ['block', 'blocked', true],
    ['send', 'ready', true],
    ['omit', 'ready', false],
  ] as const)('is missing follows `if_parent_missing: %s`', (if_parent_missing, state, keepsParent) => {
    const plan = planWith({ if_parent_missing });
    const orphan = deal('d', 'nobody');
    const { ordinal } = plan.add(orphan);
    expect(states(plan)).toEqual({ 'deal/created': [state] });
    expect('lead_external_id' in plan.read('deal/created', ordinal).data).toBe(keepsParent);
  });

  it('was omitted is recognised as acknowledged on a rerun', () => {
    settle(event('deal/created', 'd'));
    const plan = planWith({ if_parent_missing: 'omit' });
    plan.add(deal('d', 'nobody'));
    expect(states(plan)).toEqual({ 'deal/created': ['acknowledged'] });
    expect(plan.changed).toBe(0);
  });

  it('is rejected in this run has failed', () => {
    const plan = planWith();
    plan.add(lead('1'));
    plan.add(deal('d', '1'));
    plan.link(EVENT_TYPES);
    expect(plan.links.parentStatus('deal/created', 0)).toBe('expected');
    plan.settle('lead/created', 0, 'rejected');
    expect(plan.links.parentStatus('deal/created', 0)).toBe('failed');
  });

  it('is only updated by this input can be sent once an update was acknowledged', () => {
    const plan = planWith();
    plan.add(event('lead/updated', '1', { full_name: 'a' }));
    plan.add(deal('d', '1'));
    plan.link(EVENT_TYPES);
    expect(plan.links.parentStatus('deal/created', 0)).toBe('expected');
    plan.settle('lead/updated', 0, 'acknowledged');
    expect(plan.links.parentStatus('deal/created', 0)).toBe('exists');
  });

  it('is the same record (an update whose created event failed) is blocked', () => {
    const plan = planWith();
    plan.addInvalid(invalid(lead('1')));
    plan.add(event('lead/updated', '1', { full_name: 'a' }));
    expect(states(plan)).toMatchObject({ 'lead/updated': ['blocked'] });
  });
});

describe('a rerun', () => {
  it('distinguishes acknowledged, changed, rejected and new events', () => {
    settle(lead('1'));
    settle(lead('2', { full_name: 'before' }));
    settle(lead('3'), { status: 'rejected' });
    settle(lead('4', { full_name: 'before' }), { status: 'rejected' });
    const plan = planWith();
    const verdicts = [lead('1'), lead('2'), lead('3'), lead('4'), lead('5')].map((each) => plan.add(each));
    expect(verdicts.map(({ state, changed }) => (changed ? 'changed' : state))).toEqual([
      'acknowledged',
      'changed',
      'retry',
      'ready',
      'ready',
    ]);
    expect(plan.changed).toBe(1);
  });

  it('counts events that the input no longer has as gone', () => {
    settle(lead('1'));
    settle(lead('2'));
    const plan = planWith();
    plan.add(lead('2'));
    expect(plan.matched.gone).toBe(1);
  });

  it('recognises each acknowledged update by its content once, and numbers the others after them', () => {
    const a = event('lead/updated', '1', { full_name: 'a' });
    const b = event('lead/updated', '1', { full_name: 'b' });
    const fresh = planWith();
    const first = [a, b, a].map((each) => fresh.idOf(each, fresh.add(each).ordinal));
    settle(a);
    const plan = planWith();
    const second = [a, b, a].map((each) => plan.idOf(each, plan.add(each).ordinal));
    expect(statesNow(plan)).toEqual({ 'lead/updated': ['acknowledged', 'ready', 'ready'] });
    expect(second.slice(1)).toEqual(first.slice(1));
  });
});

describe('if_changed', () => {
  /** The update that a changed record produces. */
  function derivedBy(plan: TestPlan, changed: Ready): Planned {
    plan.add(changed);
    return plan.read('lead/updated', 0);
  }

  it('ignores, or sends the whole record as an update', () => {
    settle(lead('1', { full_name: 'before' }));
    const changed = lead('1', { full_name: 'after' });
    const ignoring = planWith({ if_changed: 'ignore' });
    expect(ignoring.add(changed)).toMatchObject({ state: 'acknowledged', changed: false });
    const updating = planWith({ if_changed: 'update' });
    updating.add(changed);
    expect(updating.read('lead/updated', 0)).toMatchObject({ type: 'lead/updated', data: changed.data });
    expect(states(updating)).toEqual({ 'lead/created': ['acknowledged'], 'lead/updated': ['ready'] });
  });

  it('with a list compares and sends only those fields', () => {
    const before = { full_name: 'x', custom_params: { city: 'Roma', size: '1' } };
    settle(lead('1', before));
    const plan = planWith({ if_changed: ['city'] });
    const same = lead('1', { full_name: 'y', custom_params: { city: 'Roma', size: '2' } });
    expect(plan.add(same)).toMatchObject({ state: 'acknowledged', changed: false });
    const other = planWith({ if_changed: ['city'] });
    const moved = lead('1', { full_name: 'y', custom_params: { city: 'Pisa', size: '2' } });
    other.add(moved);
    expect(other.read('lead/updated', 0).data).toEqual({ external_id: '1', custom_params: { city: 'Pisa' } });
  });

  it('does not repeat an update, but sends one with a new id if the content changes back and forth', () => {
    settle(lead('1', { full_name: 'a' }));
    const b = lead('1', { full_name: 'b' });
    const first = planWith({ if_changed: 'update' });
    const toB = derivedBy(first, b);
    const idOfB = first.idOf(toB, 0);
    settle(toB, { code: IF_CHANGED });
    expect(planWith({ if_changed: 'update' }).add(b)).toMatchObject({ state: 'acknowledged', changed: false });
    const toA = derivedBy(planWith({ if_changed: 'update' }), lead('1', { full_name: 'a' }));
    settle(toA, { code: IF_CHANGED });
    const third = planWith({ if_changed: 'update' });
    const again = derivedBy(third, b);
    expect(third.idOf(again, 0)).not.toBe(idOfB);
  });
});

describe('a pilot', () => {
  function small(): Plan {
    const plan = planWith();
    for (let id = 0; id < 9; id += 1) plan.add(lead(`l${id}`));
    for (let id = 0; id < 9; id += 1) plan.add(deal(`d${id}`, `l${8 - id}`));
    for (let id = 0; id < 9; id += 1) plan.add(note(`n${id}`, `d${id + 1 > 8 ? 8 : id + 1}`));
    plan.link(EVENT_TYPES);
    return plan;
  }

  function due(plan: Plan): Record<string, number[]> {
    return Object.fromEntries(
      Object.entries(statesNow(plan)).map(([type, all]) => [
        type,
        all.flatMap((state, ordinal) => (state === 'held' ? [] : [ordinal])),
      ]),
    );
  }

  it('of the first N events includes the parents they need, from the last type to the first', () => {
    const plan = small();
    holdAllButFirst(plan, 2);
    expect(due(plan)).toEqual({ 'comment/created': [0, 1], 'deal/created': [1, 2], 'lead/created': [6, 7] });
  });

  it('of picked records includes their parents and all their children', () => {
    const ofLead = small();
    holdAllButPicked(ofLead, [{ entity: 'lead', externalId: 'l7' }]);
    expect(due(ofLead)).toEqual({ 'lead/created': [7], 'deal/created': [1], 'comment/created': [0] });
    const ofDeal = small();
    holdAllButPicked(ofDeal, [{ entity: 'deal', externalId: 'd3' }]);
    expect(due(ofDeal)).toEqual({ 'lead/created': [5], 'deal/created': [3], 'comment/created': [2] });
  });

  it('of a record that the input does not have is refused', () => {
    expect(() => holdAllButPicked(small(), [{ entity: 'lead', externalId: 'nobody' }])).toThrow('lead:nobody');
  });

  it('by type makes children wait for parents that are not selected', () => {
    const plan = planWith();
    [lead('1'), deal('d', '1'), note('n', 'd')].forEach((each) => plan.add(each));
    expect(states(plan, ['deal/created', 'comment/created'])).toEqual({
      'lead/created': ['held'],
      'deal/created': ['waiting'],
      'comment/created': ['waiting'],
    });
    expect(countWaiting(plan)).toEqual({ 'deal/created': { lead: 1 }, 'comment/created': { deal: 1 } });
  });

  it('by type and limit takes waiting events only where there are too few others', () => {
    settle(lead('there'));
    const plan = planWith();
    [lead('1'), deal('a', '1'), deal('b', '1'), deal('c', 'there')].forEach((each) => plan.add(each));
    plan.link(['deal/created']);
    holdAllButFirst(plan, 2);
    expect(statesNow(plan)).toEqual({ 'lead/created': ['held'], 'deal/created': ['waiting', 'held', 'ready'] });
  });
});
