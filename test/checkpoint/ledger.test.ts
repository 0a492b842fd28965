import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Ledger } from '../../src/checkpoint/ledger.ts';
import { isUpdate, type EventType } from '../../src/model.ts';

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

/** Ids that differ as little as those of other records do. */
function idOf({ type, record, content }: Step): string {
  return `0000000${TYPES.findIndex((each) => each === type)}-${String(record).padStart(4, '0')}-5000-8000-00000000000${content}`;
}

function shaOf({ content }: Step): string {
  return String(content).repeat(32);
}

/** What was sent and not answered, as lists of all of it. */
class Lists {
  readonly #sends = new Map<string, Step[]>();
  readonly #overtaken = new Map<number, Step[]>();
  readonly #acknowledged = new Set<string>();

  take(step: Step): void {
    const record = `${step.type} ${step.record}`;
    const others = (this.#sends.get(record) ?? []).filter((other) => idOf(other) !== idOf(step));
    if (step.what === 'sent') this.#sends.set(record, [...others, step]);
    else if (step.what === 'rejected') this.#sends.set(record, others);
    else {
      this.#sends.delete(record);
      if (!isUpdate(step.type)) return;
      this.#acknowledged.add(idOf(step));
      this.#overtaken.set(step.record, [...(this.#overtaken.get(step.record) ?? []), ...others]);
    }
  }

  shas(type: EventType, record: number): string[] {
    return (this.#sends.get(`${type} ${record}`) ?? []).map(shaOf);
  }

  updates(record: number): string[] {
    const last = this.#sends.get(`lead/updated ${record}`) ?? [];
    return [...(this.#overtaken.get(record) ?? []), ...last].map(idOf).filter((id) => !this.#acknowledged.has(id));
  }
}

it('knows what was sent and not answered, however requests and answers follow each other', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(40), (steps, asked) => {
      const ledger = new Ledger({ keepFields: false });
      const lists = new Lists();
      const compare = (record: number): void => {
        for (const type of TYPES) {
          const key = ledger.keyOf(type, String(record), '');
          expect(ledger.unansweredShas(type, key)).toEqual(lists.shas(type, record));
          if (type === 'lead/updated') expect(ledger.unansweredUpdates(type, key)).toEqual(lists.updates(record));
        }
      };
      steps.forEach((each, nth) => {
        const { what, type, record } = each;
        const about = { id: idOf(each), type, external_id: String(record), content_sha: shaOf(each) };
        if (what === 'sent') ledger.sent({ kind: 'sent', ...about });
        else ledger.settle({ ...about, status: what, outcome: null, entity_id: null, code: null, fields: {}, at: '' });
        lists.take(each);
        // That it is asked may change nothing.
        if (nth === asked) compare(record);
      });
      for (let record = 0; record < 4; record += 1) compare(record);
    }),
    { numRuns: 2000 },
  );
});
