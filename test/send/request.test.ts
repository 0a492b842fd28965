// Lost without it: a request could carry another body or id than the step says.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOTHING_KNOWN, type Known, type Request } from '../../src/core/known.ts';
import { next } from '../../src/core/next.ts';
import type { JsonObject } from '../../src/json.ts';
import { entityOf, isUpdate } from '../../src/kinds/index.ts';
import { policiesOf } from '../../src/mapping/policies.ts';
import type { EventType } from '../../src/model.ts';
import { wantedOf } from '../../src/plan/known/wanted.ts';
import type { DueEvent } from '../../src/plan/order/turns.ts';
import type { Delivered } from '../../src/send/delivery.ts';
import { concluded, deliveryOf, requestOf, type Turn } from '../../src/send/request.ts';
import { canonicalJson } from '../../src/json.ts';
import { fieldsOf, FieldHasher } from '../../src/store/field-hashes.ts';

const HASHER = new FieldHasher('k');
const DATA = { external_id: '17', full_name: 'Ada', email: 'ada@x.test', custom_params: { size: 5, city: 'Roma' } };

interface About {
  readonly type?: EventType;
  readonly data?: JsonObject;
  readonly known?: Known;
  readonly occurredAt?: string;
  readonly rows?: number;
}

function turnOf({ type = 'lead/created', data = DATA, known = NOTHING_KNOWN, occurredAt, rows = 1 }: About = {}): Turn {
  const row = { type, content: 'c', data: canonicalJson(data), entry: 0, field_entries: null };
  const due: DueEvent = {
    ...{ ...row, id: 1, entity: entityOf(type), external_id: '17', record_id: 1, priority: 0, place: 4, rows },
    ...{
      occurred_at: occurredAt ?? null,
      parent_entity: null,
      parent_id: null,
      state: 'ready',
      code: null,
      sends: null,
    },
  };
  const wanted = wantedOf(
    row,
    [policiesOf({ type, if_changed: type.startsWith('comment/') ? 'report' : 'update' })],
    HASHER,
  );
  const record = { entity: due.entity, external_id: '17', type, wanted };
  return { due, record, known, shown: undefined, decided: next(wanted, known, () => false) };
}

/** What was sent of these fields, and acknowledged. */
const knownOf = (data: JsonObject): Known => ({
  ...{ exists: 'yes', whose: 'ours', serviceId: 's' },
  fields: Object.fromEntries([...fieldsOf(data)].map(([name, value]) => [name, [HASHER.hashOf(name, value)]])),
});

function asked(turn: Turn): { request: Request; delivery: ReturnType<typeof deliveryOf> } {
  const { step } = turn.decided;
  if (step.kind !== 'create' && step.kind !== 'update') throw new Error(`nothing is sent: ${step.kind}`);
  const request = requestOf(turn, step, 'acme');
  return { request, delivery: deliveryOf(turn, request, { isFollowUp: false }) };
}

describe('a request', () => {
  it('to create a record carries all of it, under the same id on every machine', () => {
    const [one, other] = [asked(turnOf()), asked(turnOf())];
    expect(one.delivery).toMatchObject({
      type: 'lead/created',
      content: canonicalJson(DATA),
      externalId: '17',
      place: 4,
    });
    expect(one.request.id).toBe(other.request.id);
    expect(one.request.id[14]).toBe('5');
  });

  it('to update one carries the fields that differ, custom fields as a whole, under a new id', () => {
    const text = fc.constantFrom('a', 'b');
    const some = fc.record({ full_name: text, email: text, size: text, city: text });
    const of = ({ size, city, ...rest }: { size: string; city: string }): JsonObject => ({
      ...{ external_id: '17', ...rest, custom_params: { size, city } },
    });
    fc.assert(
      fc.property(some, some, (before, now) => {
        const turn = turnOf({ data: of(now), known: knownOf(of(before)) });
        fc.pre(JSON.stringify(before) !== JSON.stringify(now));
        const { request, delivery } = asked(turn);
        const isCustom = before.size !== now.size || before.city !== now.city;
        const plain = (['full_name', 'email'] as const).filter((name) => before[name] !== now[name]);
        expect(JSON.parse(delivery.content)).toEqual({
          external_id: '17',
          ...Object.fromEntries(plain.map((name) => [name, now[name]])),
          ...(isCustom && { custom_params: { size: now.size, city: now.city } }),
        });
        expect([delivery.type, request.id[14]]).toEqual(['lead/updated', '4']);
        expect(asked(turn).request.id).not.toBe(request.id);
      }),
    );
  });

  it.each<[type: EventType, isKnown: boolean, isDated: boolean]>([
    ['lead/created', false, true],
    ['lead/created', true, false],
    ['lead/updated', false, true],
    ['lead/updated', true, true],
  ])('of %s (sent before: %j) has the time of its row: %j', (type, isKnown, isDated) => {
    const occurredAt = '2024-01-01T00:00:00Z';
    const known = isKnown ? knownOf({ ...DATA, full_name: 'Eve' }) : NOTHING_KNOWN;
    const { delivery } = asked(turnOf({ type, occurredAt, known }));
    expect(isUpdate(delivery.type)).toBe(isKnown || isUpdate(type));
    expect(delivery.occurredAt).toBe(isDated ? occurredAt : undefined);
  });

  it('that went out before and got no answer may have arrived', () => {
    const first = asked(turnOf());
    expect(first.delivery.mayHaveArrivedBefore).toBe(false);
    const { id, fields } = first.request;
    const known: Known = { exists: 'maybe', whose: 'ours', fields: {}, create: { id, bodies: [fields] } };
    const again = asked(turnOf({ known }));
    expect([again.request.id, again.delivery.mayHaveArrivedBefore]).toEqual([id, true]);
  });
});

const ANSWERED = {
  kind: 'acknowledged',
  outcome: 'created',
  serviceId: 's',
  mayHaveArrived: false,
  attempts: 1,
} as const;
const acknowledged = { ...ANSWERED, deduplicated: false } as const;
const repeated = { ...ANSWERED, outcome: 'none', deduplicated: true } as const;
const none = { ...acknowledged, outcome: 'none' } as const;
const failure = { code: 'odd', message: 'odd', attempts: 5 };
const COMMENT: About = { type: 'comment/created', data: { external_id: '17', content: 'Hi' }, rows: 3 };

describe('an answer', () => {
  it.each<
    [name: string, about: About, delivered: Delivered, isAdopted: boolean, means: string, exists: Known['exists']]
  >([
    ['of acknowledgement', {}, acknowledged, false, 'acknowledged', 'yes'],
    [
      'that a stopping run did not wait for',
      {},
      { kind: 'pending', hadNoEffect: true, attempts: 0 },
      false,
      'unsent',
      'no',
    ],
    ['that a request had no effect', {}, { kind: 'pending', hadNoEffect: true, attempts: 1 }, false, 'pending', 'no'],
    ['that did not come', {}, { kind: 'pending', hadNoEffect: false, attempts: 1 }, false, 'pending', 'maybe'],
    ['that never came', {}, { kind: 'failed', ...failure }, false, 'failed', 'maybe'],
    ['of refusal', {}, { kind: 'refused', why: 'other', ...failure }, false, 'refused', 'no'],
    ['that it is somebody else’s', {}, { kind: 'refused', why: 'exists', ...failure }, false, 'refused', 'yes'],
    ['`deduplicated`, and we have sent nothing', {}, repeated, false, 'unknown_history', 'no'],
    ['the same with --adopt: it is ours', {}, repeated, true, 'acknowledged', 'yes'],
    [
      '`deduplicated` after a lost answer of this run',
      {},
      { ...repeated, mayHaveArrived: true },
      false,
      'acknowledged',
      'yes',
    ],
    ['`none` for several comments that we have not sent', COMMENT, none, false, 'unknown_history', 'no'],
    ['the same with --adopt: it may lack some', COMMENT, none, true, 'refused', 'yes'],
    [
      'the same after a lost answer of this run',
      COMMENT,
      { ...none, mayHaveArrived: true },
      false,
      'acknowledged',
      'yes',
    ],
    ['`none` for one comment', { ...COMMENT, rows: 1 }, none, false, 'acknowledged', 'yes'],
  ])('%s', (_, about, delivered, isAdopted, means, exists) => {
    const turn = turnOf(about);
    const { request, delivery } = asked(turn);
    const found = concluded(turn, request, delivery, { delivered, isAdopted });
    expect([found.means, found.known.exists]).toEqual([means, exists]);
    const isForeign = means === 'unknown_history' || (isAdopted && delivered !== acknowledged);
    expect(found.isForeign).toBe(isForeign);
  });

  it('leaves something to be sent where the record has another body than the one that is wanted', () => {
    const first = asked(turnOf({ data: { ...DATA, custom_params: { size: 6, city: 'Roma' } } }));
    const { id, fields } = first.request;
    const known: Known = { exists: 'maybe', whose: 'ours', fields: {}, create: { id, bodies: [fields] } };
    const turn = turnOf({ known });
    const { request, delivery } = asked(turn);
    const found = concluded(turn, request, delivery, { delivered: repeated, isAdopted: false });
    expect(found.means).toBe('left');
    const size = HASHER.hashOf('custom_params.size', 5);
    expect(found.decided.step).toMatchObject({ kind: 'update', fields: { 'custom_params.size': size } });
  });
});
