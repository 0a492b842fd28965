import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Names of files that are exports, and of those that only look like one. */
const EXPORT = /\.(?:csv|tsv|txt|json|ndjson|jsonl|xlsx?|ods)(?:\.gz)?$/i;
const NO_EXPORT = new Set(['package.json', 'package-lock.json', 'tsconfig.json']);

/** The exports beside those that were read: absolute paths, in the order of their names. */
export async function unreadFiles(read: readonly string[]): Promise<string[]> {
  const folders = [...new Set(read.map((path) => dirname(path)))].sort();
  const found = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
      const exports = names.filter((name) => EXPORT.test(name) && !NO_EXPORT.has(name));
      return exports.sort().map((name) => join(folder, name));
    }),
  );
  const known = new Set(read);
  return found.flat().filter((path) => !known.has(path));
}
