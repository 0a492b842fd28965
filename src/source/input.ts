import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { messageOf, UserError } from '../errors.ts';
import { didYouMean } from '../problem.ts';
import { writeWhole, type StateDir } from '../state-dir.ts';
import { withFixes } from './fixes.ts';
import { openSource } from './open.ts';
import type { FileDigest, Source, SourceSpec } from './source.ts';

/** The opened sources of a mapping, and the means to notice that a file changes while it is read. */
export class Input {
  readonly sources: ReadonlyMap<string, Source>;
  readonly #stamps = new Map<string, string>();

  private constructor(sources: ReadonlyMap<string, Source>) {
    this.sources = sources;
  }

  static async open(specs: readonly SourceSpec[], fixes: FixFiles): Promise<Input> {
    const sources = new Map<string, Source>();
    for (const spec of specs) {
      let source = await openSource(spec);
      for (const path of fixes.get(spec.name) ?? []) source = await withFixes(source, path);
      sources.set(spec.name, source);
    }
    const input = new Input(sources);
    for (const path of input.#paths()) input.#stamps.set(path, await stampOf(path));
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

  *#paths(): Generator<string> {
    for (const source of this.sources.values()) for (const { path } of source.files) yield path;
  }
}

/** Files of corrected rejects by source name, in the order in which they apply: a later one wins. */
export type FixFiles = ReadonlyMap<string, readonly string[]>;

/**
 * The corrected rejects to apply: those of earlier runs, which the state directory keeps, then those given now with
 * `--fix`. `names`: of the mapping's sources. `keep`: the given ones are kept too, unless they were the last ones given.
 */
export async function collectFixes(
  state: StateDir,
  names: readonly string[],
  given: ReadonlyMap<string, string>,
  keep: boolean,
): Promise<FixFiles> {
  const directory = state.file('fixes');
  const fixes = new Map<string, string[]>();
  for (const file of (await readdir(directory).catch(() => [])).sort()) {
    const [, name] = /^(.+)\.\d{4}\.[^.]+$/.exec(file) ?? [];
    if (name !== undefined) fixes.set(name, [...(fixes.get(name) ?? []), join(directory, file)]);
  }
  if (keep && given.size > 0) await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const [name, path] of given) {
    if (!names.includes(name)) {
      throw new UserError(`--fix ${name}=…: the mapping has no source \`${name}\``, {
        hint: didYouMean(name, names) ?? `it has ${names.join(', ')}`,
      });
    }
    const kept = fixes.get(name) ?? [];
    const last = kept.at(-1);
    if (last !== undefined && (await sha256Of(last)) === (await sha256Of(path).catch(() => undefined))) continue;
    const target = join(directory, `${name}.${String(kept.length + 1).padStart(4, '0')}${extname(path) || '.csv'}`);
    if (keep) await copyPrivate(path, target);
    fixes.set(name, [...kept, keep ? target : path]);
  }
  return fixes;
}

async function copyPrivate(path: string, target: string): Promise<void> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new UserError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
  });
  await writeWhole(target, bytes);
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
