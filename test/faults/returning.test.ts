/** Histories in which values come back: the exports say again what they said before a change whose answer was lost. */
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { verify } from '../../src/commands/verify.ts';
import { EXIT } from '../../src/errors.ts';
import { Halt } from '../../src/halt.ts';
import type { Summary } from '../../src/report/summary.ts';
import type { FaultPlan, Sandbox } from '../../src/sandbox/index.ts';
import { PLAN } from '../../src/store/plan-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { call, envFile } from '../commands/in-process.ts';
import { files } from '../e2e/harness.ts';
import { migrate } from './in-process.ts';
import { forgetLastAnswer, inScene, ingested, UNSTOPPED } from './scene.ts';

/** HISTORIES runs more of them, HISTORIES_SEED others. */
const RUNS = Number(process.env.HISTORIES ?? 6);
const SEED = Number(process.env.HISTORIES_SEED ?? 1);

const DAYS = 4;
/** An export of one day may have far fewer rows than that of the day before. */
const OPTIONS = { ...UNSTOPPED, yes: true };
const VALUES = ['a', 'b', 'c'] as const;
type Value = (typeof VALUES)[number];
type Entity = 'lead' | 'deal';
type Column = 'name' | 'city';

/** A row, whose columns have a value on each day; a row of updates may be absent. */
interface Row {
  readonly entity: Entity;
  readonly id: string;
  readonly days: readonly (Readonly<Partial<Record<Column, Value>>> | undefined)[];
}

/** How a run of one day ends before its end: after so many requests, as by kill -9, or by a second signal. */
interface Day {
  readonly faults: FaultPlan['rules'];
  readonly requests: number | undefined;
  readonly end: 'budget' | 'kill' | 'signals';
}

interface History {
  readonly policy: 'update' | 'report' | 'ignore' | 'listed';
  readonly edited: 'keep' | 'overwrite';
  readonly created: readonly Row[];
  readonly updates: readonly Row[];
  readonly days: readonly Day[];
  readonly seed: number;
}

const value = fc.constantFrom(...VALUES);
const whole = fc.record({ name: value, city: value });
const partial = fc.record({ name: value, city: value }, { requiredKeys: [] });

const record = fc.constantFrom<readonly [Entity, string]>(['lead', 'L1'], ['lead', 'L2'], ['deal', 'D1']);

function row(about: readonly [Entity, string], day: fc.Arbitrary<Row['days'][number]>): fc.Arbitrary<Row> {
  const [entity, id] = about;
  return fc.array(day, { minLength: DAYS, maxLength: DAYS }).map((days) => ({ entity, id, days }));
}

const LOST = ['status_after', 'drop_after', 'drop_before', 'status'] as const;

const fault = fc
  .record({
    kind: fc.constantFrom(...LOST),
    when: fc.oneof(
      fc.constantFrom(0.2, 0.5).map((probability) => ({ probability })),
      fc
        .record({ id: fc.constantFrom('L1', 'L2', 'D1'), from: fc.integer({ min: 1, max: 3 }) })
        .map(({ id, from }) => ({ event: { external_id: id }, requests: { from, to: from + 4 } })),
    ),
  })
  .map(({ kind, when }) => (kind.startsWith('status') ? { kind, status: 503, when } : { kind, when })) as fc.Arbitrary<
  FaultPlan['rules'][number]
>;

const history: fc.Arbitrary<History> = fc.record({
  policy: fc.constantFrom<History['policy']>('update', 'update', 'report', 'ignore', 'listed'),
  edited: fc.constantFrom('keep', 'overwrite'),
  created: fc.tuple(row(['lead', 'L1'], whole), row(['lead', 'L2'], whole), row(['deal', 'D1'], whole)),
  updates: fc.array(
    record.chain((about) => row(about, fc.option(partial, { nil: undefined, freq: 3 }))),
    { maxLength: 3 },
  ),
  days: fc.array(
    fc.record({
      faults: fc.array(fault, { maxLength: 2 }),
      requests: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
      end: fc.constantFrom('budget', 'kill', 'signals'),
    }),
    { minLength: DAYS, maxLength: DAYS },
  ),
  seed: fc.nat(1000),
});

function mapping({ policy, edited }: History): string {
  const changed = (field: string): string => (policy === 'listed' ? `[${field}]` : policy);
  const created = (field: string): string => `if_changed: ${changed(field)}, if_edited: ${edited}, if_exists: update`;
  const updated = (field: string): string => `if_changed: ${changed(field)}, if_missing: create`;
  const lead = '{ external_id: id, full_name: name, custom_params: { city: city } }';
  const deal = '{ external_id: id, title: name, custom_fields: { city: city } }';
  return `version: 1
migration: returning
sources:
  leads: { path: leads.csv }
  lead_changes: { path: lead-changes.csv }
  deals: { path: deals.csv }
  deal_changes: { path: deal-changes.csv }
events:
  - { type: lead/created, source: leads, ${created('full_name')}, data: ${lead} }
  - { type: lead/updated, source: lead_changes, ${updated('full_name')}, data: ${lead} }
  - { type: deal/created, source: deals, ${created('title')}, data: ${deal} }
  - { type: deal/updated, source: deal_changes, ${updated('title')}, data: ${deal} }
`;
}

async function writeExports(cwd: string, given: History, day: number): Promise<void> {
  const csv = (rows: readonly Row[], entity: Entity): string =>
    ['id,name,city', ...rows.filter((each) => each.entity === entity).flatMap((each) => lineOf(each, day)), ''].join(
      '\n',
    );
  await files(cwd, {
    'mapping.yaml': mapping(given),
    'leads.csv': csv(given.created, 'lead'),
    'deals.csv': csv(given.created, 'deal'),
    'lead-changes.csv': csv(given.updates, 'lead'),
    'deal-changes.csv': csv(given.updates, 'deal'),
  });
}

function lineOf({ id, days }: Row, day: number): string[] {
  const cells = days[day];
  if (!cells || (cells.name === undefined && cells.city === undefined)) return [];
  return [`${id},${cells.name ?? ''},${cells.city ?? ''}`];
}

/** What the input alone says that each record is: its rows, one over the other. */
function wanted({ created, updates }: History, day: number): Map<string, Partial<Record<Column, Value>>> {
  const records = new Map<string, Partial<Record<Column, Value>>>();
  for (const { id, days } of [...created, ...updates]) records.set(id, { ...records.get(id), ...days[day] });
  return records;
}

function cityIn(custom: unknown): unknown {
  return (custom as { city: unknown }).city;
}

function found(service: Sandbox): Map<string | null, Partial<Record<Column, unknown>>> {
  const { leads, deals } = service.state();
  return new Map<string | null, Partial<Record<Column, unknown>>>([
    ...leads.map(
      ({ externalId, fullName, customParams }) => [externalId, { name: fullName, city: cityIn(customParams) }] as const,
    ),
    ...deals.map(
      ({ externalId, title, customFields }) => [externalId, { name: title, city: cityIn(customFields) }] as const,
    ),
  ]);
}

/** External ids of records with an event that is reported: not accepted, changed, or uncertain. */
function reported(cwd: string): Set<string> {
  const plan = Database.read(join(cwd, '.backfill/returning/plan.db'), PLAN)!;
  const rows = plan.all<{ id: string }>(
    `select external_id as id from event where state in ('invalid', 'rejected', 'blocked') or code in ('changed', 'uncertain')`,
  );
  plan.close();
  return new Set(rows.map(({ id }) => id));
}

async function finish(service: Sandbox, cwd: string): Promise<Summary> {
  service.setFaults({ rules: [] });
  for (let runs = 0; runs < 8; runs += 1) {
    const before = ingested(service).length;
    const summary = await migrate(service, join(cwd, 'mapping.yaml'), OPTIONS);
    if (ingested(service).length === before) return summary;
  }
  throw new Error('runs go on sending');
}

/** Stops a run as two signals do once so many requests have arrived. */
function signalAfter(service: Sandbox, requests: number, halt: Halt): () => void {
  const until = ingested(service).length + requests;
  const timer = setInterval(() => {
    if (ingested(service).length < until) return;
    halt.request({ code: 'interrupted', message: 'interrupted', exitCode: EXIT.interrupted });
    halt.abort();
  }, 1);
  return () => clearInterval(timer);
}

async function disturbedRun(service: Sandbox, cwd: string, { requests, end }: Day): Promise<void> {
  const halt = new Halt();
  const stop = requests !== undefined && end === 'signals' ? signalAfter(service, requests, halt) : undefined;
  const options = requests === undefined || stop ? OPTIONS : { ...OPTIONS, maxRequests: String(requests) };
  try {
    await migrate(service, join(cwd, 'mapping.yaml'), options, halt);
  } finally {
    stop?.();
  }
  if (end === 'kill') forgetLastAnswer(join(cwd, '.backfill/returning'));
}

/** No backoff. */
beforeEach(() => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
});

it(`every field ends as the exports say, or its record is reported (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(history, async (given) => {
      await inScene({}, async ({ service, cwd }) => {
        for (const [at, day] of given.days.entries()) {
          await writeExports(cwd, given, at);
          service.setFaults({ seed: given.seed + at, rules: day.faults });
          await disturbedRun(service, cwd, day);
        }
        const summary = await finish(service, cwd);
        const told = reported(cwd);
        const present = found(service);
        for (const [id, fields] of wanted(given, DAYS - 1)) {
          for (const [column, expected] of Object.entries(fields)) {
            const isListed = given.policy === 'update' || (given.policy === 'listed' && column === 'name');
            // A change of an unlisted field is ignored, and so is every change under `ignore`.
            if (!isListed && given.policy !== 'report') continue;
            const isTold = !isListed && summary.exit.code === EXIT.finishedWithErrors && told.has(id);
            if (!isTold) expect([id, column, present.get(id)?.[column as Column]]).toEqual([id, column, expected]);
          }
        }
        if (given.policy !== 'update') return;
        expect(summary.exit).toEqual({ code: 0, reason: 'done' });
        const argv = {
          mapping: join(cwd, 'mapping.yaml'),
          envFile: await envFile(service),
          rate: '100000/1s',
          json: true,
        };
        const { code, stdout } = await call(verify, { ...argv, sample: 'all' });
        expect(code, stdout).toBe(0);
      });
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});
