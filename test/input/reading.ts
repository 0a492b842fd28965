import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../directory.ts';
import type { ReadItem } from '../../src/model.ts';
import { openSource } from '../../src/input/open.ts';
import type { Source, SourceSpec } from '../../src/input/source.ts';

/** A temporary directory with these files; it is removed after the test. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryDirectory();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** The working directory is the folder until the test ends: paths are shown relative to it. */
export function workIn(folder: string): void {
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
}

/** Opens a file of the folder as the source `it`; the folder becomes the working directory. */
export async function openIn(
  folder: string,
  path: string,
  spec: Omit<Partial<SourceSpec>, 'name' | 'path'> = {},
): Promise<Source> {
  workIn(folder);
  return openSource({ name: 'it', path: join(folder, path), ...spec });
}

export async function readAll(source: Source): Promise<ReadItem[]> {
  const items: ReadItem[] = [];
  for await (const batch of source.batches()) items.push(...batch);
  return items;
}

export async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error('expected an error');
    },
    (error: unknown) => error as Error,
  );
}
