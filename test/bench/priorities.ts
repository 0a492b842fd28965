/**
 * What `priority` changes for the people who wait for a migration: `npx tsx test/bench/priorities.ts`. A migration of about
 * 100,000 events, 80 % of whose deals are closed, is sent in simulated time (100 requests a minute, answers of 50 to 500 ms).
 * Measured are the hours until 95 % of the amount of the open deals is complete: the deal, its lead, and all comments on both.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { dueEvents } from '../../src/plan/order.ts';
import { EventQueue } from '../../src/send/queue.ts';
import type { Database } from '../../src/store/sqlite.ts';
import { deal, event, lead, Planning, type Given } from '../plan/planning.ts';

const DEALS = 13_350;
const LIMIT = 100;
const WINDOW_MS = 60_000;
const CONCURRENCY = 10;

/** The same random numbers every time (Park-Miller generator). */
let seed = 1_234_567;
const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;

interface Family {
  readonly amount: number;
  readonly isOpen: boolean;
  /** External ids of the deal, its lead and the comments on both. */
  readonly events: string[];
}

/** Leads, deals and comments as exports have them: the oldest first, and most open deals among the last. */
function families(): Family[] {
  return Array.from({ length: DEALS }, (_, n) => {
    const isOpen = random() < 0.4 * (n / DEALS);
    const notes = Array.from({ length: Math.floor(random() * 12) }, (_, m) => `n${n}-${m}`);
    return { amount: Math.round(1_000 * Math.exp(2 * random())), isOpen, events: [`l${n}`, `d${n}`, ...notes] };
  });
}

async function planOf(all: readonly Family[], hasPriorities: boolean): Promise<Database> {
  const leads = all.map((_, n) => lead(`l${n}`));
  const deals = all.map(({ isOpen }, n) => deal(`d${n}`, `l${n}`, hasPriorities ? { priority: isOpen ? 1 : 0 } : {}));
  const notes = all.flatMap(({ events }, n) =>
    events.slice(2).map((id): Given => {
      const parent = random() < 0.3 ? { lead_external_id: `l${n}` } : { deal_external_id: `d${n}` };
      return event('comment/created', { external_id: id, content: 'x', ...parent });
    }),
  );
  return (await Planning.in(directory)).survey([...leads, ...deals, ...notes]);
}

/** Simulated milliseconds; what sleeps is woken in order, each after everything that the one before it caused. */
class SimulatedTime {
  now = 0;
  readonly #sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => {
      const at = this.now + ms;
      const later = this.#sleepers.findIndex((other) => other.at > at);
      this.#sleepers.splice(later < 0 ? this.#sleepers.length : later, 0, { at, wake });
    });
  }

  async until(done: Promise<void>): Promise<void> {
    let isDone = false;
    void done.then(() => (isDone = true));
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (isDone) return;
      const next = this.#sleepers.shift();
      if (!next) throw new Error('nothing is left that could wake the sender');
      this.now = next.at;
      next.wake();
    }
  }
}

/** When each event is acknowledged, by its external id. */
async function send(plan: Database): Promise<Map<string, number>> {
  const time = new SimulatedTime();
  const turns = new PQueue({ concurrency: CONCURRENCY });
  let tokens = LIMIT;
  const request = async (): Promise<void> => {
    tokens -= 1;
    if (tokens === 0) turns.pause();
    await time.sleep(50 + random() * 450);
    // As the limiter does: a token comes back one window after the answer.
    void time.sleep(WINDOW_MS).then(() => {
      tokens += 1;
      turns.start();
    });
  };
  const acknowledged = new Map<string, number>();
  const queue = new EventQueue(4 * CONCURRENCY);
  const all = async (): Promise<void> => {
    for (const due of dueEvents(plan)) {
      const links = {
        record: `${due.entity}:${due.external_id}`,
        parent: due.parent_entity === null ? undefined : `${due.parent_entity}:${due.parent_id}`,
        isComment: due.entity === 'comment',
      };
      void queue.add(links, due.place, async () => {
        await turns.add(request, { priority: -due.place });
        acknowledged.set(due.external_id!, time.now);
      });
      await queue.room();
    }
    await queue.idle();
  };
  await time.until(all());
  return acknowledged;
}

/** Hours until the open deals that are complete have this share of the amount of all open deals. */
function hoursUntil(share: number, all: readonly Family[], acknowledged: ReadonlyMap<string, number>): number {
  const open = all
    .filter(({ isOpen }) => isOpen)
    .map(({ amount, events }) => ({ amount, at: Math.max(...events.map((id) => acknowledged.get(id)!)) }))
    .sort((one, other) => one.at - other.at);
  let left = share * open.reduce((sum, { amount }) => sum + amount, 0);
  for (const { amount, at } of open) if ((left -= amount) <= 0) return at / 3_600_000;
  return NaN;
}

const directory = mkdtempSync(join(tmpdir(), 'backfill-bench-'));
const all = families();
const events = all.reduce((sum, family) => sum + family.events.length, 0);
const open = all.filter(({ isOpen }) => isOpen).length;
process.stdout.write(`${events} events, ${DEALS} deals, ${open} of them open\n`);
try {
  for (const hasPriorities of [true, false]) {
    const plan = await planOf(all, hasPriorities);
    const acknowledged = await send(plan);
    plan.close();
    const [most, end] = [hoursUntil(0.95, all, acknowledged), Math.max(...acknowledged.values()) / 3_600_000];
    const name = hasPriorities ? 'with priority' : 'in file order';
    process.stdout.write(
      `${name}: 95 % of the open amount complete after ${most.toFixed(1)} h, everything after ${end.toFixed(1)} h\n`,
    );
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
