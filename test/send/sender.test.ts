// Lost without it: the sender could store otherwise than it sends.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Deliverer } from '../../src/send/deliver.ts';
import type { Delivered, Delivery } from '../../src/send/delivery.ts';
import { Sender } from '../../src/send/sender.ts';
import type { Database } from '../../src/store/sqlite.ts';
import { deal, lead, note, Planning, type Given } from '../plan/planning.ts';

/** `there`: somebody else has made it, and `if_exists` skips it. */
type Answer = 'created' | 'none' | 'refused' | 'failed' | 'there';

/** Two of each kind; a parent by its number, of which the third is in no export. */
interface Example {
  readonly leads: readonly Answer[];
  readonly deals: readonly (readonly [parent: number | undefined, answer: Answer])[];
  readonly notes: readonly (readonly [parent: number, answer: Answer])[];
  readonly ifMissing: 'block' | 'send';
  readonly delays: readonly number[];
}

const answers = fc.constantFrom<Answer>('created', 'created', 'none', 'refused', 'failed');
const updatable = fc.oneof({ weight: 5, arbitrary: answers }, { weight: 1, arbitrary: fc.constant<Answer>('there') });
const examples: fc.Arbitrary<Example> = fc.record({
  leads: fc.tuple(updatable, updatable),
  deals: fc.array(fc.tuple(fc.option(fc.nat(2), { nil: undefined }), updatable), { maxLength: 4 }),
  notes: fc.array(fc.tuple(fc.nat(3), answers), { maxLength: 6 }),
  ifMissing: fc.constantFrom('block', 'send'),
  delays: fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
});

interface Planned {
  readonly event: Given;
  readonly id: string;
  readonly parent: string | undefined;
  readonly answer: Answer;
}

function eventsOf({ leads, deals, notes }: Example): readonly Planned[] {
  return [
    ...leads.map((answer, n) => ({ event: lead(`l${n}`), id: `l${n}`, parent: undefined, answer })),
    ...deals.map(([of, answer], n) => {
      const parent = of === undefined ? undefined : `l${of}`;
      return { event: deal(`d${n}`, parent), id: `d${n}`, parent, answer };
    }),
    ...notes.map(([of, answer], n) => ({ event: note(`n${n}`, `d${of}`), id: `n${n}`, parent: `d${of}`, answer })),
  ];
}

const STATES: Readonly<Record<Answer, string>> = {
  created: 'acknowledged',
  none: 'acknowledged',
  there: 'acknowledged',
  refused: 'rejected odd',
  failed: 'rejected timeout',
};

/** The end of each event: its own answer, unless its parent was not accepted. Parents come first. */
function endsOf(planned: readonly Planned[], ifMissing: Example['ifMissing']): ReadonlyMap<string, string> {
  const ends = new Map<string, string>();
  for (const { id, parent, answer } of planned) {
    const above = parent === undefined ? 'acknowledged' : ends.get(parent);
    const isSentWithout = above === undefined && ifMissing === 'send' && id.startsWith('d');
    const isBlocked = above !== 'acknowledged' && !isSentWithout;
    const blocked = above === undefined ? 'blocked parent_missing' : 'blocked parent_failed';
    ends.set(id, isBlocked ? blocked : STATES[answer]);
  }
  return ends;
}

function delivered(answer: Answer, id: string): Delivered {
  const attempts = answer === 'failed' ? 5 : Number(id.slice(1)) + 1;
  if (answer === 'refused') return { kind: 'refused', why: 'other', code: 'odd', message: 'odd', attempts };
  if (answer === 'there') return { kind: 'refused', why: 'exists', code: 'already_exists', message: 'there', attempts };
  if (answer === 'failed') return { kind: 'failed', code: 'timeout', message: 'no answer', attempts };
  const about = { deduplicated: answer === 'none', mayHaveArrived: true, serviceId: `s-${id}` };
  return { kind: 'acknowledged', outcome: answer, attempts, ...about };
}

/** Sends the plan twice, as a run that reads records back does. Returns what was wrong on the way. */
async function sendAll(
  planning: Planning,
  db: Database,
  planned: readonly Planned[],
  delays: readonly number[],
): Promise<string[]> {
  const wrong: string[] = [];
  const [asked, ended, accepted] = [[] as string[], new Set<string>(), new Set<string>()];
  const inFlight = new Set<string>();
  const parents = new Map(planned.map(({ id, parent }) => [id, parent]));
  const deliverer = {
    counters: {},
    whenSilent: () => undefined,
    async deliver({ externalId: id, type }: Delivery, beforeSend: () => Promise<void>): Promise<Delivered> {
      const parent = parents.get(id);
      const open = db.get('select 1 from checkpoint.request where external_id = ?', id);
      if (asked.includes(id)) wrong.push(`${id} is sent again`);
      if (open) wrong.push(`${id} is noted before it may go`);
      if (parent !== undefined && parents.has(parent) && !ended.has(parent)) wrong.push(`${id} before ${parent}`);
      if (id.startsWith('n') && [...inFlight].some((other) => other.startsWith('n') && parents.get(other) === parent))
        wrong.push(`${id} beside another note of ${parent}`);
      if (!accepted.has(type) && inFlight.size > 0) wrong.push(`${id} is a canary, and not alone`);
      asked.push(id);
      inFlight.add(id);
      await beforeSend();
      for (let left = delays[asked.length % delays.length]!; left > 0; left -= 1) await new Promise(setImmediate);
      inFlight.delete(id);
      ended.add(id);
      const { answer } = planned.find((each) => each.id === id)!;
      if (['created', 'none', 'there'].includes(answer)) accepted.add(type);
      return delivered(answer, id);
    },
  };
  const sending = planning.sending(db);
  const sender = new Sender({ ...sending, concurrency: 2, deliverer: deliverer as unknown as Deliverer });
  await sender.sendAll();
  await sender.sendAll();
  if (sending.halt.requested) wrong.push(`stopped: ${sending.halt.reason!.message}`);
  const counted = planned.filter(({ id }) => asked.includes(id));
  const count = (answer: Answer): number => counted.filter((each) => each.answer === answer).length;
  expect(sender.outcomes).toEqual({ created: count('created'), updated: 0, none: count('none') + count('there') });
  expect(sender.adopted).toBe(0);
  return wrong;
}

it('each event is sent once, after its parent, and ends as it was answered', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(examples, async (example) => {
      const { ifMissing, delays } = example;
      const planned = eventsOf(example);
      const planning = await Planning.create({ if_parent_missing: ifMissing, if_exists: 'skip' });
      const db = await planning.survey(planned.map(({ event }) => event));
      expect(await sendAll(planning, db, planned, delays)).toEqual([]);
      const ends = endsOf(planned, ifMissing);
      const states = db.all<{ id: string; state: string }>(
        `select external_id as id, trim(state || ' ' || ifnull(code, '')) as state from event`,
      );
      expect(new Map(states.map(({ id, state }) => [id, state]))).toEqual(ends);
      const requests = db.all<{ id: string }>(
        'select external_id as id, status, outcome, service_id, code, attempts from checkpoint.request order by 1',
      );
      const sent = planned.filter(({ id }) => !ends.get(id)!.startsWith('blocked'));
      expect(requests).toEqual(
        sent.map(({ id, answer }) => requestOf(id, answer)).sort((a, b) => (a.id < b.id ? -1 : 1)),
      );
      const problems = db.all<{ id: string }>(
        `select e.external_id as id from problem p join event e on e.id = p.event where p.severity = 'error' order by 1`,
      );
      const bad = [...ends].filter(([, end]) => end !== 'acknowledged').map(([id]) => ({ id }));
      expect(problems).toEqual(bad.sort((a, b) => (a.id < b.id ? -1 : 1)));
    }),
    { numRuns: 25 },
  );
});

/** The request of an event as the checkpoint has it. */
function requestOf(id: string, answer: Answer) {
  const { attempts } = delivered(answer, id);
  const code = answer === 'there' ? 'already_exists' : answer === 'none' ? 'deduplicated' : null;
  if (answer === 'there') return { id, status: 'rejected', outcome: null, service_id: null, code, attempts };
  if (answer === 'refused') return { id, status: 'rejected', outcome: null, service_id: null, code: 'odd', attempts };
  if (answer === 'failed') return { id, status: 'open', outcome: null, service_id: null, code: 'timeout', attempts };
  return { id, status: 'acknowledged', outcome: answer, service_id: `s-${id}`, code, attempts };
}

it('a later request about a record leaves an earlier one as it was answered', async () => {
  const planning = await Planning.create({ if_changed: 'update' });
  await planning.settle([lead('1', { name: 'Ada' })]);
  await planning.settle([lead('1', { name: 'Ada L.' })], 'rejected');
  const db = await planning.survey([lead('1', { name: 'Ada L.' })]);
  const sql = 'select type, status, attempts, code from checkpoint.request order by n';
  expect(db.all(sql)).toEqual([
    { type: 'lead/created', status: 'acknowledged', attempts: 1, code: null },
    { type: 'lead/updated', status: 'rejected', attempts: 1, code: 'odd' },
  ]);
});
