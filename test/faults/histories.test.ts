/** Histories of a migration: exports that change from run to run, faults, kills; the service must end as if undisturbed. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { makeDirectory } from '../directory.ts';
import { canonicalJson, type JsonObject } from '../../src/json.ts';
import type { Summary } from '../../src/report/summary.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { send, withoutTimes } from '../sandbox/client.ts';
import { migrate } from './in-process.ts';
import { account, commentOrder, DAYS, past, writeExports, type Past } from './past.ts';
import { bodyOf, forgetLastAnswer, inScene, ingested, UNSTOPPED } from './scene.ts';

/** HISTORIES runs more of them, HISTORIES_SEED others. */
const RUNS = Number(process.env.HISTORIES ?? 6);
const SEED = Number(process.env.HISTORIES_SEED ?? 1);

async function addForeign(service: Sandbox, { foreignLeads, foreignDeals }: Past): Promise<void> {
  const lead = { full_name: 'foreign', email: 'foreign@example.test', custom_params: { city: 'foreign' } };
  const deal = { title: 'foreign', amount: 1, custom_fields: { origin: 'foreign' } };
  const added = [
    ...foreignLeads.map((id) => send(service, 'lead/created', { external_id: id, ...lead })),
    ...foreignDeals.map((id) => send(service, 'deal/created', { external_id: id, ...deal })),
  ];
  for (const { status } of await Promise.all(added)) expect(status).toBe(200);
}

function expectTotals({ events }: Summary): void {
  const { total, acknowledged, duplicates, invalid, rejected, blocked, pending } = events;
  expect(acknowledged + duplicates + invalid + rejected + blocked + pending).toBe(total);
}

/** The content of the records. A comment without an external id has an id that is derived from its event's. */
function content(service: Sandbox): unknown {
  const { leads, deals, comments } = withoutTimes(service.state());
  const unrevised = (records: readonly object[]) => records.map((record) => ({ ...record, revision: 0 }));
  return { leads: unrevised(leads), deals: unrevised(deals), comments };
}

/** Runs until nothing is left to send. */
async function finish(service: Sandbox, cwd: string): Promise<void> {
  service.setFaults({ rules: [] });
  for (let runs = 0; runs < 8; runs += 1) {
    const before = ingested(service).length;
    const summary = await migrate(service, join(cwd, 'mapping.yaml'), UNSTOPPED);
    expectTotals(summary);
    if (ingested(service).length > before) continue;
    expect(summary.exit).toEqual({ code: 0, reason: 'done' });
    return;
  }
  throw new Error('runs go on sending');
}

/**
 * What the events that took effect wrote, according to the journal of the service. A record that `if_missing: create`
 * made is updated once more, with the same content, if the answer to its creation was lost. Not told apart by their content are
 * the leads of deals, and comments without an external id.
 */
async function effects(service: Sandbox, journal: string): Promise<string[]> {
  const bodies = new Map(ingested(service).map((request) => [bodyOf(request).id, bodyOf(request)]));
  const lines = (await readFile(journal, 'utf8')).trim().split('\n');
  const written = lines.map((line) => bodies.get((JSON.parse(line) as { event: { id: string } }).event.id)!);
  return written.flatMap(({ type, data: { lead_external_id: _lead, ...data } }) =>
    data.external_id === undefined || Object.keys(data).length === 1
      ? []
      : [`${type} ${canonicalJson(data as JsonObject)}`],
  );
}

/** The contents of the comments of each parent, in the order in which the service received them. */
function receivedComments(service: Sandbox): Map<unknown, unknown[]> {
  const received = new Map<unknown, unknown[]>();
  for (const { type, data } of ingested(service).map(bodyOf)) {
    if (type !== 'comment/created') continue;
    const parent = data.lead_external_id ?? data.deal_external_id;
    received.set(parent, [...(received.get(parent) ?? []), data.content]);
  }
  return received;
}

async function undisturbed(given: Past): Promise<unknown> {
  return inScene({ account: account() }, async ({ service, cwd }) => {
    await addForeign(service, given);
    await writeExports(cwd, given, DAYS);
    await finish(service, cwd);
    expect(receivedComments(service)).toEqual(commentOrder(given));
    return content(service);
  });
}

/** No backoff. */
beforeEach(() => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
});

it(`ends as an undisturbed run of the last exports would, and no event takes effect twice (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(past, async (given) => {
      const expected = await undisturbed(given);
      const directory = makeDirectory();
      const journal = join(directory, 'journal');
      await inScene({ account: account(), journal }, async ({ service, cwd }) => {
        await addForeign(service, given);
        for (const [at, { faults, requests, kill }] of given.days.entries()) {
          await writeExports(cwd, given, at);
          service.setFaults({ seed: given.seed + at, rules: faults });
          const options = requests === undefined ? UNSTOPPED : { ...UNSTOPPED, maxRequests: String(requests) };
          expectTotals(await migrate(service, join(cwd, 'mapping.yaml'), options));
          if (kill) forgetLastAnswer(join(cwd, '.backfill/histories'));
        }
        await writeExports(cwd, given, DAYS);
        await finish(service, cwd);
        expect(content(service)).toEqual(expected);
        const written = await effects(service, journal);
        expect(written).toEqual([...new Set(written)]);
      }).finally(() => rm(directory, { recursive: true }));
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});
