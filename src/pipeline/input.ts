import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { messageOf, UserError } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { didYouMean } from '../problem.ts';
import { openSource, withFixes } from '../source/index.ts';
import type { FileDigest, Source } from '../source/source.ts';
import type { StateDir } from '../state-dir.ts';
import { inputChanged } from './pass.ts';

/** The opened sources of a mapping, and the means to notice that a file is not what it was. */
export class Input {
  readonly sources: ReadonlyMap<string, Source>;
  readonly #stamps = new Map<string, string>();

  private constructor(sources: ReadonlyMap<string, Source>) {
    this.sources = sources;
  }

  /** `fixes` are corrected rejects by source name, applied over the records that they name. */
  static async open(mapping: Mapping, fixes: ReadonlyMap<string, string>): Promise<Input> {
    const sources = new Map<string, Source>();
    for (const spec of mapping.sources) {
      if (!mapping.usedSources.includes(spec.name)) continue;
      const source = await openSource(spec);
      const fix = fixes.get(spec.name);
      sources.set(spec.name, fix === undefined ? source : await withFixes(source, fix));
    }
    const input = new Input(sources);
    for (const path of input.#paths()) input.#stamps.set(path, await stampOf(path));
    return input;
  }

  /** One digest per file, of the last complete reading. */
  digests(): FileDigest[] {
    return [...this.sources.values()].flatMap((source) => [...(source.digests() ?? [])]);
  }

  /** Throws (exit 3) when a file that the survey read has other content now; one that was only touched is let pass. */
  async assertUnchanged(): Promise<void> {
    const digests = new Map(this.digests().map(({ path, sha256 }) => [path, sha256]));
    for (const [path, stamp] of this.#stamps) {
      const now = await stampOf(path).catch(() => undefined);
      if (now === stamp) continue;
      if (now === undefined || (await sha256Of(path)) !== digests.get(path)) throw inputChanged(path);
      this.#stamps.set(path, now);
    }
  }

  *#paths(): Generator<string> {
    for (const source of this.sources.values()) for (const { path } of source.files) yield path;
  }
}

/**
 * Keeps the corrected rejects given with `--fix` in the state directory, so that every rerun applies them, and returns
 * all that are kept, by source name.
 */
export async function keepFixes(
  state: StateDir,
  mapping: Mapping,
  given: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const directory = state.file('fixes');
  const names = mapping.sources.map(({ name }) => name);
  if (given.size > 0) await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const [name, path] of given) {
    if (!names.includes(name)) {
      throw new UserError(`--fix ${name}=…: the mapping has no source \`${name}\``, {
        hint: didYouMean(name, names) ?? `it has ${names.join(', ')}`,
      });
    }
    const kept = join(directory, `${name}${extname(path) || '.csv'}`);
    await copyFile(path, kept).catch((error: unknown) => {
      throw new UserError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
    });
  }
  const files = await readdir(directory).catch(() => []);
  return new Map(files.map((file) => [file.slice(0, -extname(file).length), join(directory, file)]));
}

async function stampOf(path: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(path);
  return `${ino}:${size}:${mtimeMs}`;
}

async function sha256Of(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest('hex');
}
