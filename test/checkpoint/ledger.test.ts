import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Ledger } from '../../src/checkpoint/ledger.ts';
import { IF_CHANGED, type SettledLine } from '../../src/checkpoint/lines.ts';
import type { EventType } from '../../src/model.ts';

const TYPES = ['lead/created', 'lead/updated', 'deal/created'] as const satisfies readonly EventType[];

interface Step {
  readonly what: 'sent' | 'acknowledged' | 'rejected';
  readonly type: EventType;
  readonly record: number;
  readonly content: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('sent', 'sent', 'acknowledged', 'rejected'),
  type: fc.constantFrom(...TYPES),
  record: fc.nat(3),
  content: fc.nat(2),
});

/** Ids that differ as little as real ones do. */
function idOf({ type, record, content }: Step): string {
  return `0000000${TYPES.findIndex((each) => each === type)}-${String(record).padStart(4, '0')}-5000-8000-00000000000${content}`;
}

function shaOf({ content }: Step): string {
  return String(content).repeat(32);
}

/** A simple model of the requests without an answer, as lists. */
class PendingLists {
  readonly #sends = new Map<string, Step[]>();

  take(step: Step): void {
    const record = `${step.type} ${step.record}`;
    const others = (this.#sends.get(record) ?? []).filter((other) => idOf(other) !== idOf(step));
    if (step.what === 'sent') this.#sends.set(record, [...others, step]);
    else if (step.what === 'rejected') this.#sends.set(record, others);
    else this.#sends.delete(record);
  }

  shas(type: EventType, record: number): string[] {
    return (this.#sends.get(`${type} ${record}`) ?? []).map(shaOf);
  }
}

it('knows which requests have no recorded answer, for any order of requests and answers', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(40), (steps, asked) => {
      const ledger = new Ledger({ keepFields: false });
      const lists = new PendingLists();
      const compare = (record: number): void => {
        for (const type of TYPES) {
          const key = ledger.keyOf(type, String(record), '');
          expect(ledger.unanswered(type, key).map(({ sha }) => sha)).toEqual(lists.shas(type, record));
        }
      };
      steps.forEach((each, nth) => {
        const { what, type, record } = each;
        const about = { id: idOf(each), type, external_id: String(record), content_sha: shaOf(each) };
        if (what === 'sent') ledger.sent({ kind: 'sent', ...about });
        else ledger.settle({ ...about, status: what, outcome: null, entity_id: null, code: null, fields: {}, at: '' });
        lists.take(each);
        // Reading must not change anything.
        if (nth === asked) compare(record);
      });
      for (let record = 0; record < 4; record += 1) compare(record);
    }),
    { numRuns: 2000 },
  );
});

function update(content: number, line: Partial<SettledLine> = {}): SettledLine {
  const step: Step = { what: 'acknowledged', type: 'lead/updated', record: 1, content };
  return {
    id: idOf(step),
    type: 'lead/updated',
    external_id: '1',
    status: 'acknowledged',
    outcome: 'updated',
    entity_id: 'e1',
    code: null,
    content_sha: shaOf(step),
    fields: {},
    at: '',
    ...line,
  };
}

it('counts the acknowledged updates of a record by content, claimed or not, created by if_changed or not', () => {
  const ledger = new Ledger({ keepFields: false });
  const [sha, other] = [update(1).content_sha, update(2).content_sha];
  ledger.settle(update(1));
  ledger.settle(update(1, { code: IF_CHANGED }));
  ledger.settle(update(2, { status: 'rejected', code: 'invalid_payload' }));
  ledger.settle(update(1, { external_id: '2' }));
  const key = ledger.keyOf('lead/updated', '1', '');
  const counts = (): number[] => [
    ledger.acknowledgedUpdatesOf(key, sha),
    ledger.acknowledgedUpdatesOf(key, other),
    ledger.acknowledgedUpdates(key),
  ];
  expect(counts()).toEqual([2, 0, 2]);
  // Only the one that if_changed did not create can be claimed.
  expect([ledger.claimUpdate(key, sha), ledger.claimUpdate(key, sha)]).toEqual([true, false]);
  expect(counts()).toEqual([2, 0, 2]);
  ledger.settle(update(2));
  expect(counts()).toEqual([2, 1, 3]);
});
