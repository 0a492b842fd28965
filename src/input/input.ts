import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UserError } from '../errors.ts';
import type { Place } from '../model.ts';
import { shortPath } from '../files/paths.ts';
import { unreadable } from './glob.ts';
import { withFixes } from './fixes.ts';
import { formatByName, openSource } from './open.ts';
import type { FileDigest, Source, SourceSpec } from './source.ts';
import { OTHER_WORKBOOK } from './text/not-text.ts';

/** The opened sources of a mapping, and the means to notice that a file changes while it is read. */
export class Input implements OpenedSources {
  readonly sources: ReadonlyMap<string, Source>;
  readonly failures: ReadonlyMap<string, UserError>;
  readonly #stamps = new Map<string, string>();

  private constructor({ sources, failures }: OpenedSources) {
    this.sources = sources;
    this.failures = failures;
  }

  static async open(specs: readonly SourceSpec[]): Promise<Input> {
    const input = new Input(await openSources(specs));
    const files = [...input.sources.values()].flatMap((source) => source.files);
    for (const { path } of files) input.#stamps.set(path, await stampOf(path));
    return input;
  }

  /** One digest per file, of the last complete reading. */
  digests(): FileDigest[] {
    return [...this.sources.values()].flatMap((source) => [...(source.digests() ?? [])]);
  }

  /**
   * To be called when all was read: lookups and events may have read a file twice, and must have seen the same content.
   * Throws a `UserError` where a file changed meanwhile.
   */
  async assertUnchanged(): Promise<void> {
    for (const [path, stamp] of this.#stamps) {
      if ((await stampOf(path).catch(() => undefined)) === stamp) continue;
      throw new UserError(`${path} changed while it was being read`, {
        hint: 'nothing was sent; rerun once the export is complete',
      });
    }
  }

  /** Places of corrections whose records are no longer in the input. */
  unusedFixes(): readonly Place[] {
    return [...this.sources.values()].flatMap((source) => source.unusedFixes());
  }
}

/** The sources that could be opened, and why the others could not. */
export interface OpenedSources {
  readonly sources: ReadonlyMap<string, Source>;
  readonly failures: ReadonlyMap<string, UserError>;
}

export async function openSources(specs: readonly SourceSpec[]): Promise<OpenedSources> {
  const sources = new Map<string, Source>();
  const failures = new Map<string, UserError>();
  for (const spec of specs) {
    try {
      const source = await openSource(spec);
      sources.set(spec.name, source.isAbsent ? source : await withFixes(source, spec));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failures.set(spec.name, error);
    }
  }
  return { sources, failures };
}

async function stampOf(path: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(path).catch((error: unknown) => {
    throw unreadable(shortPath(path), error);
  });
  return `${ino}:${size}:${mtimeMs}`;
}

/** Names of files that only look like exports. */
const NO_EXPORT = new Set(['package.json', 'package-lock.json', 'tsconfig.json']);

function isExport(name: string): boolean {
  return !NO_EXPORT.has(name) && (formatByName({ path: name }) !== undefined || OTHER_WORKBOOK.test(name));
}

/** The exports beside those that were read: absolute paths, in the order of their names. */
export async function unreadFiles(read: readonly string[]): Promise<string[]> {
  const folders = [...new Set(read.map((path) => dirname(path)))].sort();
  const found = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
      const exports = names.filter((name) => isExport(name));
      return exports.sort().map((name) => join(folder, name));
    }),
  );
  const known = new Set(read);
  return found.flat().filter((path) => !known.has(path));
}
