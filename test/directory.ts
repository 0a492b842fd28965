import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 30;

/** Where tests write: in memory, where there is enough, since the program waits for the disk at every commit. */
const TEMPORARY = isLarge(MEMORY) ? MEMORY : tmpdir();

function isLarge(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/** A new directory. Whoever calls this removes it: concurrent tests cannot use hooks. */
export function makeDirectory(): string {
  return mkdtempSync(join(TEMPORARY, 'backfill-test-'));
}

/** A new directory that is removed after the test. */
export function temporaryDirectory(): string {
  const path = makeDirectory();
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}
