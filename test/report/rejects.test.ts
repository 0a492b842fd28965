import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeRejects, type WrittenRejects } from '../../src/report/rejects.ts';
import type { StateDir } from '../../src/files/state-dir.ts';
import { openPlan } from '../../src/survey/plan-file.ts';
import { folderWith } from '../input/reading.ts';
import { StateOf } from '../state.ts';

/** A state directory with one reject, of a source `it`. */
async function stateWith(content: string, folder = folderWith({})): Promise<StateDir> {
  const given = await StateOf.create(folder);
  given.source('it', ['ID']);
  given.problem(given.event('lead/created', null, null, { state: 'invalid', raw: [content] }), 'bad', 'bad');
  return given.close();
}

/** Writes the rejects with this content, as the end of a run does. */
async function publish(state: StateDir, content: string): Promise<WrittenRejects> {
  const db = openPlan(state, state);
  db.run('update record set raw = ?', JSON.stringify([content]));
  try {
    return await writeRejects(db, state);
  } finally {
    db.close();
  }
}

function read(state: StateDir, name = 'it.csv'): string {
  return readFileSync(join(state.path, 'rejects', name), 'utf8');
}

function visible(state: StateDir): string[] {
  return readdirSync(join(state.path, 'rejects')).sort();
}

describe('rejects', () => {
  it('are readable only by their owner, and nothing else is left beside them', async () => {
    const state = await stateWith('a');
    const before = readdirSync(state.path);
    const { files, beside } = await publish(state, 'a');
    expect([...files]).toEqual([['it', join(state.path, 'rejects/it.csv')]]);
    expect(beside).toEqual([]);
    expect(statSync(join(state.path, 'rejects')).mode & 0o777).toBe(0o700);
    expect(visible(state)).toEqual(['it.csv']);
    expect(statSync(join(state.path, 'rejects/it.csv')).mode & 0o777).toBe(0o600);
    const isOfDatabase = (name: string): boolean => /-(?:wal|shm)$/.test(name);
    expect(
      readdirSync(state.path)
        .filter((name) => !isOfDatabase(name))
        .sort(),
    ).toEqual([...before.filter((name) => !isOfDatabase(name)), 'rejects'].sort());
  });

  it.each(['before', 'after'])(
    'are recognised if a kill came just %s one content replaced the other',
    async (moment) => {
      const state = await stateWith('a');
      const contents: string[] = [];
      for (const content of ['a', 'b']) {
        await publish(state, content);
        contents.push(read(state));
      }
      writeFileSync(join(state.path, 'rejects/it.csv'), contents[moment === 'before' ? 0 : 1]!);
      await publish(state, 'c');
      expect(visible(state)).toEqual(['it.csv']);
      expect(read(state)).toContain('\nc,');
    },
  );

  it('count as changed by others if no plan knows them', async () => {
    const state = await stateWith('a');
    await publish(state, 'a');
    rmSync(join(state.path, 'plan.db'));
    await stateWith('b', state.path);
    const { beside } = await publish(state, 'b');
    expect(read(state)).toContain('\na,');
    expect(read(state, 'it.2.csv')).toContain('\nb,');
    expect(beside).toEqual([{ usual: join(state.path, 'rejects/it.csv'), path: join(state.path, 'rejects/it.2.csv') }]);
  });

  it('go back to their usual name once it is free, and leave no older ones', async () => {
    const state = await stateWith('a');
    mkdirSync(join(state.path, 'rejects'));
    writeFileSync(join(state.path, 'rejects/it.csv'), 'mine');
    await publish(state, 'a');
    expect(visible(state)).toEqual(['it.2.csv', 'it.csv']);
    expect(read(state)).toBe('mine');
    writeFileSync(join(state.path, 'rejects/mine.csv'), 'mine');
    rmSync(join(state.path, 'rejects/it.csv'));
    await publish(state, 'b');
    expect(visible(state)).toEqual(['it.csv', 'mine.csv']);
  });
});
