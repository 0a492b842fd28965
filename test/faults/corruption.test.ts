import { FieldHasher } from '../../src/store/field-hashes.ts';
import { randomUUID } from 'node:crypto';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadCheckpoint } from '../../src/checkpoint/load.ts';
import { EXIT } from '../../src/errors.ts';
import { EVENT_TYPES, isUpdate } from '../../src/model.ts';
import type { EventCounts, Summary } from '../../src/report/summary.ts';
import { expectUndisturbed, ingested, inScene, undisturbed, type Scene, type Undisturbed } from './scene.ts';

const STATE = '.backfill/faults';
const CHECKPOINT = join(STATE, 'checkpoint.ndjson');

let calm: Undisturbed;
/** The result of a run of the whole migration: its state directory, and a journal of what the service contains. */
let done: { readonly directory: string; readonly baseUrl: string };
beforeAll(async () => {
  calm = await undisturbed();
  const directory = await mkdtemp(join(tmpdir(), 'backfill-done-'));
  await inScene({ journal: join(directory, 'journal') }, async ({ service, cwd, run }) => {
    await run();
    await cp(join(cwd, STATE), join(directory, STATE), { recursive: true });
    done = { directory, baseUrl: service.baseUrl };
  });
});
afterAll(() => rm(done.directory, { recursive: true }));

/** A service with the whole migration, and the state directory and checkpoint of the run that sent it. */
async function migrated(act: (scene: Scene, checkpoint: Buffer) => Promise<unknown>): Promise<void> {
  const journal = join(done.directory, randomUUID());
  await copyFile(join(done.directory, 'journal'), journal);
  await inScene({ journal }, async (scene) => {
    await cp(join(done.directory, STATE), join(scene.cwd, STATE), { recursive: true });
    const path = join(scene.cwd, CHECKPOINT);
    const checkpoint = (await readFile(path, 'utf8')).replace(done.baseUrl, scene.service.baseUrl);
    await writeFile(path, checkpoint);
    await act(scene, Buffer.from(checkpoint));
  });
}

/**
 * Reruns from this checkpoint only, as a user would: removes each damaged line that the run reports, and uses --adopt if
 * the run asks for it. An update whose answer is lost counts as a duplicate if a later one has set all its fields.
 */
async function rerunFrom(scene: Scene, checkpoint: Buffer): Promise<Summary> {
  const { cwd, service, run } = scene;
  await rm(join(cwd, STATE), { recursive: true });
  await mkdir(join(cwd, STATE), { recursive: true });
  await writeFile(join(cwd, CHECKPOINT), checkpoint);
  const first = await runOnceRepaired(scene);
  const summary = first.exit.reason === 'unknown_history' ? await run({ adopt: true }) : first;
  expectUndisturbed(service, withoutSuperseded(summary), calm);
  return summary;
}

/** The summary with superseded updates counted as acknowledged, as in the run that sent them. */
function withoutSuperseded(summary: Summary): Summary {
  const moved = <T extends EventCounts>(counts: T, count: number): T => ({
    ...counts,
    acknowledged: counts.acknowledged + count,
    duplicates: counts.duplicates - count,
  });
  const count = summary.warnings_by_code.superseded ?? 0;
  const byType = { ...summary.by_type };
  let found = 0;
  for (const type of EVENT_TYPES.filter(isUpdate)) {
    const missing = calm.summary.by_type[type]!.acknowledged - byType[type]!.acknowledged;
    byType[type] = moved(byType[type]!, missing);
    found += missing;
  }
  expect(found).toBe(count);
  return { ...summary, events: moved(summary.events, count), by_type: byType };
}

/** Runs until no more lines are refused; a refused run must send nothing. */
async function runOnceRepaired({ cwd, service, run }: Scene): Promise<Summary> {
  for (;;) {
    const before = ingested(service).length;
    const ended = await run().catch((error: unknown) => error as Error);
    if (!(ended instanceof Error)) return ended;
    const [, number] = /checkpoint\.ndjson:(\d+): damaged line/.exec(ended.message) ?? [];
    if (number === undefined) throw ended;
    expect(ended).toMatchObject({ exitCode: EXIT.nothingSent, hint: expect.stringContaining('remove') as string });
    expect(ingested(service).length).toBe(before);
    await removeLine(join(cwd, CHECKPOINT), Number(number));
  }
}

async function removeLine(path: string, number: number): Promise<void> {
  const lines = (await readFile(path)).toString('latin1').split('\n');
  await writeFile(path, lines.toSpliced(number - 1, 1).join('\n'), 'latin1');
}

/** A sequence of zeros, as a failing disk leaves it, that starts at a position (0 to 1) in a line and may go past its end. */
interface Hole {
  readonly line: number;
  readonly at: number;
  readonly bytes: number;
}

function damaged(checkpoint: Buffer, holes: readonly Hole[]): Buffer {
  const starts = [...checkpoint].flatMap((byte, at) => (byte === 0x0a ? [at + 1] : []));
  const copy = Buffer.from(checkpoint);
  for (const { line, at, bytes } of holes) {
    // Not the first line: a damaged header cannot be removed.
    const index = line % (starts.length - 1);
    const from = starts[index]! + Math.floor(at * (starts[index + 1]! - starts[index]!));
    copy.fill(0, from, Math.min(from + bytes, copy.length));
  }
  return copy;
}

describe('a checkpoint', () => {
  it('that is cut off at any byte can be read, and a rerun completes the migration without sending anything twice', async () => {
    await migrated(async (scene, whole) => {
      const path = join(scene.cwd, 'cut.ndjson');
      onTestFinished(() => rm(path, { force: true }));
      for (let bytes = 0; bytes <= whole.length; bytes += 37) {
        await writeFile(path, whole.subarray(0, bytes));
        const { wholeBytes, tornBytes } = await loadCheckpoint(path, {
          keepFields: true,
          hasher: FieldHasher.random(),
        });
        expect(wholeBytes + tornBytes).toBe(bytes);
      }
      await fc.assert(
        fc.asyncProperty(fc.nat(whole.length), (bytes) =>
          migrated((scene, checkpoint) => rerunFrom(scene, checkpoint.subarray(0, bytes))),
        ),
        { numRuns: 20, examples: [[0], [1], [whole.length - 1]] },
      );
    });
  });

  it('with damaged lines is refused before anything is sent; without them, nothing is lost or duplicated', async () => {
    const hole = fc.record({
      line: fc.nat(),
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      bytes: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 20 }) }, fc.integer({ min: 1, max: 4096 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(hole, { minLength: 1, maxLength: 6 }), (holes) =>
        migrated((scene, checkpoint) => rerunFrom(scene, damaged(checkpoint, holes))),
      ),
      { numRuns: 20 },
    );
  });

  it('with a damaged header is refused, and nothing is sent', async () => {
    await migrated(async (scene, whole) => {
      const before = ingested(scene.service).length;
      await expect(rerunFrom(scene, Buffer.from(whole).fill(0, 3, 9))).rejects.toMatchObject({
        message: expect.stringContaining('checkpoint.ndjson:1: the header line is damaged') as string,
        exitCode: EXIT.nothingSent,
      });
      expect(ingested(scene.service).length).toBe(before);
    });
  });

  // The lines of the three updates of a record: for each, the request and then the answer.
  it.each([
    ['the answers to the first two', [1, 3], 2],
    ['the answer to the second and the request of the third', [3, 4], 1],
    ['both lines of the second', [2, 3], 1],
    ['both lines of the first and the answer to the second', [0, 1, 3], 2],
    ['every line but the last answer', [0, 1, 2, 3, 4], 2],
  ])(
    'without %s among the updates of a record sends none again, since later ones have set their fields',
    async (_, gone, count) => {
      await migrated(async (scene, whole) => {
        const lines = whole.toString('utf8').split('\n');
        const updates = lines.filter((line) => line.includes('"type":"lead/updated","external_id":"10114"'));
        const cut = gone.map((index) => updates[index]!);
        const damaged = lines.map((line) => (cut.includes(line) ? line.slice(0, 60) : line));
        const before = ingested(scene.service).length;
        const summary = await rerunFrom(scene, Buffer.from(damaged.join('\n')));
        expect(summary.warnings_by_code.superseded).toBe(count);
        expect(ingested(scene.service).length).toBe(before);
        expect((await scene.run()).this_run.events_sent).toBe(0);
      });
    },
  );
});

describe('a state directory', () => {
  it.each(['rate.ndjson', 'ids.csv', 'lock.json', 'account.json', 'errors.csv', 'summary.json'])(
    'without %s works as before',
    async (name) => {
      await migrated(async ({ cwd, run, service }) => {
        const ids = await readFile(join(cwd, STATE, 'ids.csv'), 'utf8');
        const path = join(cwd, STATE, name);
        await rm(path, { force: true });
        const summary = await run();
        expect(summary.this_run.events_sent).toBe(0);
        expectUndisturbed(service, summary, calm);
        expect(await readFile(join(cwd, STATE, 'ids.csv'), 'utf8')).toBe(ids);
        if (name !== 'lock.json') expect((await stat(path)).size).toBeGreaterThan(0);
      });
    },
  );

  it.each(['rate.ndjson', 'ids.csv', 'lock.json', 'account.json', 'survey.json'])(
    'with garbage in %s works as before',
    async (name) => {
      await migrated(async ({ cwd, run, service }) => {
        await writeFile(join(cwd, STATE, name), '\0\0{"host":1\n"\n[');
        expectUndisturbed(service, await run(), calm);
      });
    },
  );
});
