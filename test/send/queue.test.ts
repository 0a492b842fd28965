// Lost without it: priorities and the order of comments could cost throughput.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { dueEvents } from '../../src/plan/order/turns.ts';
import { EventQueue } from '../../src/send/queue.ts';
import { Limiter } from '../../src/service/limiter.ts';
import { fakedClock } from '../service/strict-window.ts';
import { deal, lead, note, planOf, type Given } from '../plan/planning.ts';

const FAKED: Parameters<typeof vi.useFakeTimers>[0] = {
  toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
};
afterEach(() => {
  vi.useRealTimers();
});

interface Sent {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

interface Scene {
  readonly latency: (id: string) => number;
  /** Without any order: no event waits for another. */
  readonly isFree?: boolean;
}

/** Sends the events in their order, at 100 a minute with ten in flight, in simulated time. */
async function send(events: readonly Given[], { latency, isFree = false }: Scene): Promise<Sent[]> {
  vi.useRealTimers();
  const plan = await planOf(events);
  vi.useFakeTimers(FAKED);
  const limiter = new Limiter({
    rate: { requests: 100, seconds: 60 },

    concurrency: 10,
    clock: fakedClock,
  });
  const queue = new EventQueue(40);
  const sent: Sent[] = [];
  const all = async (): Promise<void> => {
    for (const { type, place, external_id: externalId, entity, parent_entity, parent_id } of dueEvents(plan)) {
      const id = externalId!;
      const record = isFree ? `${place}` : `${entity} ${id}`;
      const parent = isFree || parent_id === null ? undefined : `${parent_entity} ${parent_id}`;
      void queue.add({ record, parent, isNote: type === 'comment/created' }, place, () =>
        limiter.schedule(
          async () => {
            const from = Date.now();
            await fakedClock.sleep(latency(id));
            sent.push({ id, from, to: Date.now() });
          },
          { place },
        ),
      );
      await queue.room();
    }
    await queue.idle();
  };
  let isDone = false;
  void all().finally(() => (isDone = true));
  while (!isDone) await vi.advanceTimersByTimeAsync(50);
  void limiter.stop();
  return sent;
}

const minutes = (sent: readonly Sent[]): number =>
  (Math.max(...sent.map(({ to }) => to)) - Math.min(...sent.map(({ from }) => from))) / 60_000;
const at = (index: number): string => new Date(Date.UTC(2024, 0, 1) + index * 60_000).toISOString();

describe('comments of one parent', () => {
  const deals = Array.from({ length: 12 }, (_, n) => `d${n}`);
  const notes = (each: number): Given[] =>
    deals.flatMap((id) => Array.from({ length: each }, (_, n) => note(`${id}-${n}`, id, { occurredAt: at(each - n) })));
  const events = [lead('1'), ...deals.map((id) => deal(id, '1')), ...notes(20)];

  it('are sent one after the other, in the order of time, while those of others use the limit', async () => {
    const latency = () => 150;
    const sent = await send(events, { latency });
    for (const id of deals) {
      const own = sent.filter((each) => each.id.startsWith(`${id}-`));
      expect(own.map((each) => each.id)).toEqual(Array.from({ length: 20 }, (_, n) => `${id}-${19 - n}`));
      for (const [n, each] of own.entries()) expect(each.from).toBeGreaterThanOrEqual(own[n - 1]?.to ?? 0);
    }
    const free = await send(events, { latency, isFree: true });
    expect(minutes(sent)).toBeLessThan(minutes(free) * 1.05);
  });
});

it('hundreds of priorities use the limit like one', async () => {
  const families = (priority: (n: number) => number): Given[] =>
    Array.from({ length: 200 }, (_, n) => [
      lead(`${n}`),
      deal(`${n}-deal`, `${n}`, { priority: priority(n) }),
      note(`${n}-note`, `${n}-deal`),
    ]).flat();
  const latency = () => 800;
  const one = await send(
    families(() => 1),
    { latency },
  );
  const many = await send(
    families((n) => n),
    { latency },
  );
  expect(many[0]!.id).toBe('199');
  expect(minutes(many)).toBeLessThan(minutes(one) * 1.02);
});

it('events of a lower priority fill the gaps, without delaying those of a higher one', async () => {
  const latency = () => 150;
  const open = ['a', 'b', 'c'].flatMap((id) => [
    deal(id, '0', { priority: 1 }),
    ...Array.from({ length: 60 }, (_, n) => note(`${id}-${n}`, id, { occurredAt: at(n) })),
  ]);
  const others = Array.from({ length: 300 }, (_, n) => lead(`${n + 1}`));
  const alone = await send([lead('0'), ...open], { latency });
  const together = await send([...others, lead('0'), ...open], { latency });
  const isOpen = ({ id }: Sent): boolean => /^(0|[abc].*)$/.test(id);
  expect(minutes(together.filter(isOpen))).toBeLessThan(minutes(alone) * 1.05);
  const all = await send([...others, lead('0'), ...open], { latency, isFree: true });
  expect(minutes(together)).toBeLessThan(minutes(all) * 1.02);
});
