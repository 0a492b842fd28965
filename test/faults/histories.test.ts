/** Histories of a migration: exports that change from run to run, faults, kills; the service must end as if undisturbed. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { canonicalJson, type JsonObject } from '../../src/json.ts';
import type { Summary } from '../../src/report/summary.ts';
import type { FaultPlan, Sandbox } from '../../src/sandbox/index.ts';
import { files } from '../e2e/harness.ts';
import { send } from '../sandbox/client.ts';
import { migrate } from './in-process.ts';
import { bodyOf, inScene, ingested } from './scene.ts';

/** HISTORIES runs more of them, HISTORIES_SEED others. */
const RUNS = Number(process.env.HISTORIES ?? 10);
const SEED = Number(process.env.HISTORIES_SEED ?? 1);

const MAPPING = `version: 1
migration: histories
sources:
  changes: { path: changes.csv }
  leads: { path: leads.csv }
events:
  - type: lead/created
    source: leads
    if_exists: update
    if_changed: update
    data: { external_id: id, full_name: name, email: { from: email, on_error: reject }, custom_params: { city: city } }
  - type: lead/updated
    source: changes
    if_missing: create
    data: { external_id: id, full_name: name, email: { from: email, on_error: reject }, custom_params: { city: city } }
`;

const COLUMNS = ['name', 'email', 'city'] as const;
const DAYS = 3;

/** A row of the exports. It always sets the same fields, so that no value of an earlier day is left over at the end. */
interface ExportRow {
  readonly id: string;
  readonly columns: readonly (typeof COLUMNS)[number][];
  /** Which version of its values it has on each day; absent if it is not in the export yet. */
  readonly versions: readonly (number | undefined)[];
  /** Until this day it is invalid. */
  readonly validFrom: number;
}

interface Day {
  readonly faults: FaultPlan['rules'];
  /** Requests after which the run ends, and whether the last answer is not recorded, as after kill -9. */
  readonly requests: number | undefined;
  readonly kill: boolean;
}

interface Past {
  readonly leads: readonly ExportRow[];
  readonly changes: readonly ExportRow[];
  /** Records of somebody else. */
  readonly foreign: readonly string[];
  readonly seed: number;
  readonly days: readonly Day[];
}

const IDS = ['1', '2', '3'];

const versions = fc
  .tuple(fc.nat(DAYS - 1), fc.array(fc.boolean(), { minLength: DAYS, maxLength: DAYS }))
  .map(([first, changes]) => {
    let version = 0;
    return changes.map((isChanged, day) => (day < first ? undefined : isChanged ? (version += 1) : version));
  });

const columns = fc.subarray([...COLUMNS], { minLength: 1 });
const validFrom = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(DAYS));
const change = fc.record({ id: fc.constantFrom(...IDS), columns, versions, validFrom });
/** Created events are there from the first day. */
const lead = (id: string): fc.Arbitrary<ExportRow> =>
  fc.record({
    id: fc.constant(id),
    columns: fc.constant([...COLUMNS]),
    versions: versions.map((all) => all.map((version) => version ?? 0)),
    validFrom,
  });

const LOST = ['status', 'status_after', 'drop_before', 'drop_after'] as const;

const fault = fc.oneof(
  fc
    .record({ kind: fc.constantFrom(...LOST), probability: fc.constantFrom(0.1, 0.3) })
    .map(({ kind, probability }) => ({
      kind,
      status: 503,
      when: { probability },
    })),
  // Every attempt of one event, which is rejected then.
  fc
    .record({ kind: fc.constantFrom(...LOST), id: fc.constantFrom(...IDS), from: fc.integer({ min: 1, max: 4 }) })
    .map(({ kind, id, from }) => ({
      kind,
      status: 503,
      when: { event: { external_id: id }, requests: { from, to: from + 4 } },
    })),
  fc.constantFrom(0.2, 0.5).map((probability) => ({
    kind: 'status' as const,
    status: 422,
    code: 'unresolved_reference',
    when: { probability },
  })),
);

const day: fc.Arbitrary<Day> = fc.record({
  faults: fc.array(fault, { maxLength: 3 }).map((rules) => rules.map(asRule)),
  requests: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  kill: fc.boolean(),
});

function asRule({ kind, status, when, ...more }: { kind: (typeof LOST)[number]; status: number; when: object }) {
  return (kind.startsWith('status') ? { kind, status, when, ...more } : { kind, when }) as FaultPlan['rules'][number];
}

const past: fc.Arbitrary<Past> = fc.record({
  leads: fc.subarray(IDS, { minLength: 1 }).chain((ids) => fc.tuple(...ids.map(lead))),
  changes: fc.array(change, { minLength: 1, maxLength: 6 }),
  foreign: fc.subarray(IDS),
  seed: fc.nat(1000),
  days: fc.array(day, { minLength: DAYS, maxLength: DAYS }),
});

/** Values tell row and version, so that no two rows have the same content. */
function csv(rows: readonly ExportRow[], name: string, at: number): string {
  const lines = rows.flatMap((row, number) => {
    const version = row.versions[at];
    if (version === undefined) return [];
    const value = `${name}${number}v${version}`;
    const email = at < row.validFrom ? 'none' : `${value}@example.test`;
    const cell = { name: value, email, city: value };
    const isInvalid = at < row.validFrom;
    const has = (column: (typeof COLUMNS)[number]) => row.columns.includes(column) || (isInvalid && column === 'email');
    return [[row.id, ...COLUMNS.map((column) => (has(column) ? cell[column] : ''))].join(',')];
  });
  return [`id,${COLUMNS.join(',')}`, ...lines, ''].join('\n');
}

async function write(cwd: string, { leads, changes }: Past, at: number): Promise<void> {
  await files(cwd, {
    'mapping.yaml': MAPPING,
    'leads.csv': csv(leads, 'lead', at),
    'changes.csv': csv(changes, 'change', at),
  });
}

async function addForeign(service: Sandbox, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const fields = { full_name: 'foreign', email: 'foreign@example.test', custom_params: { city: 'foreign' } };
    const answer = await send(service, 'lead/created', { external_id: id, ...fields });
    expect(answer.status).toBe(200);
  }
}

/** As after kill -9 between an answer and its line in the checkpoint. */
async function forgetLastAnswer(cwd: string): Promise<void> {
  const path = join(cwd, '.backfill/histories/checkpoint.ndjson');
  const lines = (await readFile(path, 'utf8')).split('\n');
  if (lines.at(-2)?.startsWith('{"id"')) await writeFile(path, lines.toSpliced(-2, 1).join('\n'));
}

const OPTIONS = { maxRejectionsInARow: '0', maxErrors: '100%', quiet: true };

function expectTotals({ events }: Summary): void {
  const { total, acknowledged, duplicates, invalid, rejected, blocked, pending } = events;
  expect(acknowledged + duplicates + invalid + rejected + blocked + pending).toBe(total);
}

/** The content of the records. */
function content(service: Sandbox): unknown {
  return service
    .state()
    .leads.map(({ externalId, fullName, email, customParams }) => ({ externalId, fullName, email, customParams }));
}

/** Runs until nothing is left to send. */
async function finish(service: Sandbox, cwd: string): Promise<void> {
  service.setFaults({ rules: [] });
  for (let runs = 0; runs < 8; runs += 1) {
    const before = ingested(service).length;
    const summary = await migrate(service, join(cwd, 'mapping.yaml'), OPTIONS);
    expectTotals(summary);
    if (ingested(service).length > before) continue;
    expect(summary.exit).toEqual({ code: 0, reason: 'done' });
    return;
  }
  throw new Error('runs go on sending');
}

/**
 * What the events that took effect wrote, according to the journal of the service. A record that `if_missing: create`
 * made is updated once more, with the same content, if the answer to its creation was lost.
 */
async function effects(service: Sandbox, journal: string): Promise<string[]> {
  const bodies = new Map(ingested(service).map((request) => [bodyOf(request).id, bodyOf(request)]));
  const lines = (await readFile(journal, 'utf8')).trim().split('\n');
  const written = lines.map((line) => bodies.get((JSON.parse(line) as { event: { id: string } }).event.id)!);
  return written.map(({ type, data }) => `${type} ${canonicalJson(data as JsonObject)}`);
}

async function undisturbed(given: Past): Promise<unknown> {
  return inScene({}, async ({ service, cwd }) => {
    await addForeign(service, given.foreign);
    await write(cwd, given, DAYS);
    await finish(service, cwd);
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
    fc.asyncProperty(past, async (drawn) => {
      // On the last day every row is as on the day before, and valid.
      const extended = (rows: readonly ExportRow[]) =>
        rows.map((row) => ({ ...row, versions: [...row.versions, row.versions[DAYS - 1]] }));
      const given = { ...drawn, leads: extended(drawn.leads), changes: extended(drawn.changes) };
      const expected = await undisturbed(given);
      const directory = await mkdtemp(join(tmpdir(), 'backfill-histories-'));
      const journal = join(directory, 'journal');
      await inScene({ journal }, async ({ service, cwd }) => {
        await addForeign(service, given.foreign);
        for (const [at, { faults, requests, kill }] of given.days.entries()) {
          await write(cwd, given, at);
          service.setFaults({ seed: given.seed + at, rules: faults });
          const options = requests === undefined ? OPTIONS : { ...OPTIONS, maxRequests: String(requests) };
          expectTotals(await migrate(service, join(cwd, 'mapping.yaml'), options));
          if (kill) await forgetLastAnswer(cwd);
        }
        await write(cwd, given, DAYS);
        await finish(service, cwd);
        expect(content(service)).toEqual(expected);
        const written = await effects(service, journal);
        expect(written).toEqual([...new Set(written)]);
      }).finally(() => rm(directory, { recursive: true }));
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});
