/** Files that a glob matches, or nearly matches, and that are no exports: an old reject must not be sent in place of its correction. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isOwnTable } from '../files/own-tables.ts';
import { CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import { PLAN_FILE } from '../store/plan-schema.ts';
import { readBytes } from './bytes.ts';
import type { InputFile } from './files.ts';
import { patternFor } from './glob.ts';

/** By their paths: why these are not read. `files`: those that the glob matches. */
export async function passedOver(glob: string, files: readonly InputFile[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const folders = new Set(files.map(({ path }) => dirname(path)));
  for (const file of files) {
    if (basename(file.path).startsWith('~$')) found.set(file.path, 'of a spreadsheet that has the file open');
    else if (await isOwn(file)) found.set(file.path, 'written by this program');
  }
  const nearly = patternFor(basename(glob), true);
  const matched = new Set(files.map(({ path }) => path));
  for (const folder of folders) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isFile() && nearly.test(entry.name.normalize()) && !matched.has(path))
        found.set(path, 'the letter case is not that of the glob');
    }
  }
  return found;
}

async function isOwn(file: InputFile): Promise<boolean> {
  for (const folder of [dirname(file.path), dirname(dirname(file.path))])
    if ([CHECKPOINT_FILE, PLAN_FILE].some((name) => existsSync(join(folder, name)))) return true;
  for await (const head of readBytes(file)) return isOwnTable(head.toString('utf8', 0, LONGEST_HEAD));
  return false;
}

const LONGEST_HEAD = 64 * 1024;
