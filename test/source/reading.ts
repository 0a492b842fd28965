import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { temporaryDirectory } from '../directory.ts';
import type { ReadItem } from '../../src/model.ts';
import { openSource } from '../../src/source/open.ts';
import type { Source, SourceSpec } from '../../src/source/source.ts';

/** A temporary directory with these files; it is removed after the test. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryDirectory();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** Opens a file of the folder as the source `it`; the paths in its places are relative to the folder. */
export async function openIn(
  folder: string,
  path: string,
  spec: Omit<Partial<SourceSpec>, 'name' | 'path'> = {},
): Promise<Source> {
  return openSource({ name: 'it', path: join(folder, path), ...spec }, { display: (file) => relative(folder, file) });
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
