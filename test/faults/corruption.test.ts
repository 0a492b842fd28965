// Lost without it: an older or damaged checkpoint could be believed.
import { randomUUID } from 'node:crypto';
import { copyFile, cp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDirectory } from '../directory.ts';
import { EXIT } from '../../src/errors.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from '../../src/store/checkpoint-schema.ts';
import { Database } from '../../src/store/sqlite.ts';
import { expectUndisturbed, ingested, inScene, undisturbed, type Scene, type Undisturbed } from './scene.ts';

const STATE = '.backfill/faults';

let calm: Undisturbed;
/** The result of a run of the whole migration: its state directory, and a journal of what the service contains. */
let done: { readonly directory: string };
beforeAll(async () => {
  calm = await undisturbed();
  const directory = makeDirectory();
  await inScene({ journal: join(directory, 'journal') }, async ({ cwd, run }) => {
    await run();
    await cp(join(cwd, STATE), join(directory, STATE), { recursive: true });
    done = { directory };
  });
});
afterAll(() => rm(done.directory, { recursive: true }));

/** A service with the whole migration, and the state directory of the run that sent it. */
async function migrated(act: (scene: Scene) => Promise<unknown>): Promise<void> {
  const journal = join(done.directory, randomUUID());
  await copyFile(join(done.directory, 'journal'), journal);
  await inScene({ journal }, async (scene) => {
    await cp(join(done.directory, STATE), join(scene.cwd, STATE), { recursive: true });
    inCheckpoint(scene.cwd, (db) => db.run('update migration set base_url = ?', scene.service.baseUrl));
    await act(scene);
  });
}

function inCheckpoint<Result>(cwd: string, act: (db: Database) => Result): Result {
  const db = Database.open(join(cwd, STATE, CHECKPOINT_FILE), CHECKPOINT);
  try {
    return act(db);
  } finally {
    db.close();
  }
}

describe('a checkpoint', () => {
  it('of an earlier moment, as a copy without its `-wal` is, stops the run where that shows; then, the result is the same: nothing is sent twice', async () => {
    const moment = fc.record({ sent: fc.double({ min: 0, max: 1, noNaN: true }), unanswered: fc.nat(8) });
    await fc.assert(
      fc.asyncProperty(moment, ({ sent, unanswered }) =>
        migrated(async ({ cwd, service, run }) => {
          const isBehind = inCheckpoint(cwd, (db) => {
            const { last } = db.get<{ last: number }>('select max(n) as last from request')!;
            const kept = Math.floor(last * sent);
            db.run('delete from request where n > ?', kept);
            db.run(
              `update request set status = 'open', outcome = null, service_id = null, code = null, settled_at = null
               where n > ?`,
              kept - unanswered,
            );
            const lost = db.all<{ is_acknowledged: number; code: string | null }>(`
              delete from record where not exists (
                select 1 from request q where q.entity = record.entity and q.external_id = record.external_id)
              returning is_acknowledged, code`);
            db.exec(`
              update record set existence = 'maybe', is_acknowledged = 0, service_id = null, content = null,
                creation = json_object(
                  'id', (select id from request q where q.entity = record.entity and q.external_id = record.external_id),
                  'bodies', json_array((select json_group_object(key, json_extract(value, '$[0]')) from json_each(fields))))
              where exists (select 1 from request q where q.entity = record.entity
                and q.external_id = record.external_id and q.status = 'open');
            `);
            return lost.some((record) => record.is_acknowledged === 1 && record.code === null);
          });
          if (isBehind) {
            const before = ingested(service).length;
            await expect(run()).rejects.toMatchObject({
              message: expect.stringContaining(CHECKPOINT_FILE) as string,
              exitCode: EXIT.stopped,
              hint: expect.stringContaining('--adopt') as string,
            });
            expect(ingested(service).length).toBe(before);
          }
          const summary = await run({ adopt: isBehind });
          expectUndisturbed(service, summary, calm);
          expect((await run()).this_run.events_sent).toBe(0);
        }),
      ),
      {
        numRuns: 8,
        examples: [[{ sent: 0, unanswered: 0 }], [{ sent: 1, unanswered: 8 }], [{ sent: 0.8, unanswered: 8 }]],
      },
    );
  });

  it('that is cut off is refused before anything is sent; without it, --adopt goes on', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0.01, max: 0.9, noNaN: true }), (share) =>
        migrated(async ({ cwd, service, run }) => {
          const path = join(cwd, STATE, CHECKPOINT_FILE);
          await truncate(path, Math.max(1, Math.floor((await stat(path)).size * share)));
          const before = ingested(service).length;
          await expect(run()).rejects.toMatchObject({
            message: expect.stringContaining(CHECKPOINT_FILE) as string,
            exitCode: EXIT.nothingSent,
            hint: expect.stringContaining('--adopt') as string,
          });
          expect(ingested(service).length).toBe(before);
          await rm(path);
          expectUndisturbed(service, await run({ adopt: true }), calm);
        }),
      ),
      { numRuns: 5 },
    );
  });
});

describe('a state directory', () => {
  it.each(['ids.csv', 'run.lock', 'plan.db', 'errors.csv'])('without %s works as before', async (name) => {
    await migrated(async ({ cwd, run, service }) => {
      const ids = await readFile(join(cwd, STATE, 'ids.csv'), 'utf8');
      const path = join(cwd, STATE, name);
      await rm(path, { force: true });
      const summary = await run();
      expect(summary.this_run.events_sent).toBe(0);
      expectUndisturbed(service, summary, calm);
      expect(await readFile(join(cwd, STATE, 'ids.csv'), 'utf8')).toBe(ids);
      if (name !== 'run.lock') expect((await stat(path)).size).toBeGreaterThan(0);
    });
  });

  it.each(['ids.csv', 'plan.db'])('with garbage in %s works as before', async (name) => {
    await migrated(async ({ cwd, run, service }) => {
      await writeFile(join(cwd, STATE, name), '\0\0{"host":1\n"\n[');
      expectUndisturbed(service, await run(), calm);
    });
  });
});
