import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadCheckpoint } from '../../src/checkpoint/load.ts';
import { EXIT } from '../../src/errors.ts';

import { expectUndisturbed, ingested, inScene, undisturbed, type Scene, type Undisturbed } from './scene.ts';

let calm: Undisturbed;
beforeAll(async () => {
  calm = await undisturbed();
});

const STATE = '.backfill/faults';

/** A service that has the whole migration already, and the checkpoint of the run that brought it there. */
async function migrated(act: (scene: Scene, checkpoint: Buffer) => Promise<void>): Promise<void> {
  await inScene({}, async (scene) => {
    await scene.run();
    await act(scene, await readFile(join(scene.cwd, STATE, 'checkpoint.ndjson')));
  });
}

/** Reruns from this checkpoint alone; `adopt` as a person would, where the run asks for it. */
async function rerunFrom({ cwd, service, run }: Scene, checkpoint: Buffer): Promise<void> {
  await rm(join(cwd, STATE), { recursive: true });
  await mkdir(join(cwd, STATE), { recursive: true });
  await writeFile(join(cwd, STATE, 'checkpoint.ndjson'), checkpoint);
  const first = await run();
  const summary = first.exit.reason === 'unknown_history' ? await run({ adopt: true }) : first;
  expectUndisturbed(service, summary, calm);
}

/** The checkpoint with a part of some lines turned to zeros, as a disk leaves them; `at` and `part` are fractions. */
function damaged(checkpoint: Buffer, spots: readonly { line: number; at: number; part: number }[]): Buffer {
  const lines = checkpoint.toString('utf8').trimEnd().split('\n');
  for (const { line, at, part } of spots) {
    // The first line is the header: without it nobody can tell whose checkpoint this is.
    const index = 1 + (line % (lines.length - 1));
    const text = lines[index]!;
    const from = Math.floor(at * text.length);
    const length = Math.max(1, Math.floor(part * (text.length - from)));
    lines[index] = text.slice(0, from) + '\0'.repeat(length) + text.slice(from + length);
  }
  return Buffer.from(`${lines.join('\n')}\n`);
}

describe('a checkpoint', () => {
  it('cut off at any byte can be read, and a rerun converges without doubling anything', async () => {
    await migrated(async (scene, whole) => {
      const path = join(scene.cwd, 'cut.ndjson');
      onTestFinished(() => rm(path, { force: true }));
      for (let bytes = 0; bytes <= whole.length; bytes += 37) {
        await writeFile(path, whole.subarray(0, bytes));
        const { wholeBytes, tornBytes, damagedLines } = await loadCheckpoint(path, { keepFields: true });
        expect(damagedLines).toEqual([]);
        expect(wholeBytes + tornBytes).toBe(bytes);
      }
      await fc.assert(
        fc.asyncProperty(fc.nat(whole.length), (bytes) => rerunFrom(scene, whole.subarray(0, bytes))),
        { numRuns: 20, examples: [[0], [1], [whole.length - 1]] },
      );
    });
  });

  it('damaged anywhere inside loses nothing and doubles nothing', async () => {
    await migrated(async (scene, whole) => {
      const fraction = fc.double({ min: 0, max: 0.999, noNaN: true });
      const spot = fc.record({ line: fc.nat(), at: fraction, part: fraction });
      await fc.assert(
        fc.asyncProperty(fc.array(spot, { minLength: 1, maxLength: 6 }), (spots) =>
          rerunFrom(scene, damaged(whole, spots)),
        ),
        { numRuns: 20 },
      );
    });
  });

  it('whose header is damaged is refused, and nothing is sent', async () => {
    await migrated(async (scene, whole) => {
      const before = ingested(scene.service).length;
      await expect(rerunFrom(scene, Buffer.from(whole).fill(0, 3, 9))).rejects.toMatchObject({
        exitCode: EXIT.nothingSent,
      });
      expect(ingested(scene.service).length).toBe(before);
    });
  });

  it('without the lines that settled the first updates of a record keeps their ids, so that none is applied again', async () => {
    await migrated(async (scene, whole) => {
      const lines = whole.toString('utf8').split('\n');
      const updates = lines.filter((line) => line.startsWith('{"id"') && line.includes('"lead/updated"'));
      const [first, second] = updates.filter((line) => line.includes('"external_id":"10114"'));
      const damaged = lines.map((line) => (line === first || line === second ? line.slice(0, 60) : line));
      const before = ingested(scene.service).length;
      await rerunFrom(scene, Buffer.from(damaged.join('\n')));
      expect(ingested(scene.service).length).toBe(before + 2);
      expect((await scene.run()).this_run.events_sent).toBe(0);
    });
  });
});

describe('a state directory', () => {
  it.each(['rate.ndjson', 'ids.csv', 'lock.json', 'account.json', 'errors.csv', 'summary.json'])(
    'without %s is as good as before',
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
    'with rubbish in %s is as good as before',
    async (name) => {
      await migrated(async ({ cwd, run, service }) => {
        await writeFile(join(cwd, STATE, name), '\0\0{"host":1\n"\n[');
        expectUndisturbed(service, await run(), calm);
      });
    },
  );
});
