import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { StateDir } from '../../src/files/state-dir.ts';
import { assertNotOld } from '../../src/store/checkpoint.ts';
import { lockHolder } from '../../src/store/lock.ts';
import { readState } from '../../src/store/open.ts';
import { workspace } from '../e2e/harness.ts';
import { StateOf } from '../state.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('a state without a checkpoint or a plan reads as an empty one, and cannot be written to', async () => {
  const root = join(await workspace(), 'state');
  const dry = await StateOf.create(join(root, 'dry-run'));
  dry.source('people').event('lead/created', '1', { full_name: 'Ada' });
  dry.close();
  const state = await StateDir.existing(root);
  for (const [output, events] of [
    [await StateDir.existing(join(root, 'dry-run')), 1],
    [state, 0],
  ] as const) {
    const db = readState(state, output);
    expect(db.get('select count(*) as number from event')).toEqual({ number: events });
    expect(db.get('select count(*) as number from checkpoint.sent')).toEqual({ number: 0 });
    expect(() => db.run('delete from event')).toThrow('it cannot be written');
    db.close();
  }
});

it('a state of which is not known whether it has a checkpoint is not read as an empty one', async () => {
  const root = await workspace();
  symlinkSync('loop', join(root, 'loop'));
  const files = { file: (name: string) => join(root, 'loop', name) } as StateDir;
  expect(() => readState(files)).toThrow('cannot look for');
  expect(() => lockHolder(files)).toThrow('cannot look for');
  expect(() => assertNotOld(files)).toThrow('cannot look for');
  await expect(StateDir.existing(files.file('state'))).rejects.toThrow('cannot look for');
});

it('rows are read one by one while memory is collected', async () => {
  const given = await StateOf.create(join(await workspace(), 'state'));
  given.source('people');
  given.plan.transaction(() => {
    for (let id = 0; id < 2_000; id += 1) given.event('lead/created', String(id), { full_name: 'x' });
  });
  const db = readState(given.close());
  let read = 0;
  for (const { data } of db.each<{ data: string }>('select data from event')) {
    expect(JSON.parse(data)).toMatchObject({ full_name: 'x' });
    read += 1;
    // An iterator once lost its statement to this, and the process with it.
    if (read % 500 !== 0) continue;
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(read).toBe(2_000);
  db.close();
});
