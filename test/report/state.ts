/** State directories to report on. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { StateDir } from '../../src/state-dir.ts';

export const FIXTURES = fileURLToPath(new URL('../../fixtures/report/', import.meta.url));

/** An empty state directory, or a copy of a case, that goes with the test. */
export async function stateDirectory(from?: string): Promise<StateDir> {
  const directory = await mkdtemp(join(tmpdir(), 'backfill-report-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  if (from) await cp(join(FIXTURES, from), directory, { recursive: true });
  return StateDir.existing(directory);
}
