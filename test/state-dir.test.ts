import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { StateDir } from '../src/state-dir.ts';

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'backfill-state-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

it('creates a state directory that only its owner can read', async () => {
  const state = await StateDir.create(join(await directory(), 'a', 'state'));
  expect((await stat(state.path)).mode & 0o777).toBe(0o700);
});
