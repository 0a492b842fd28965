import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { messageOf, UserError } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { didYouMean } from '../problem.ts';
import { openSource, withFixes } from '../source/index.ts';
import type { FileDigest, Source } from '../source/source.ts';
import { writeWhole, type StateDir } from '../state-dir.ts';
import { InputChanged } from './pass.ts';

/** The opened sources of a mapping, and the means to notice that a file is not what it was. */
export class Input {
  readonly sources: ReadonlyMap<string, Source>;
  readonly #stamps = new Map<string, string>();

  private constructor(sources: ReadonlyMap<string, Source>) {
    this.sources = sources;
  }

  static async open(mapping: Mapping, fixes: Fixes): Promise<Input> {
    const sources = new Map<string, Source>();
    for (const spec of mapping.sources) {
      if (!mapping.usedSources.includes(spec.name)) continue;
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

  /** Throws (exit 3) when a file that the survey read has other content now; one that was only touched is let pass. */
  async assertUnchanged(): Promise<void> {
    const digests = new Map(this.digests().map(({ path, sha256 }) => [path, sha256]));
    for (const [path, stamp] of this.#stamps) {
      const now = await stampOf(path).catch(() => undefined);
      if (now === stamp) continue;
      if (now === undefined || (await sha256Of(path)) !== digests.get(path)) throw new InputChanged(path);
      this.#stamps.set(path, now);
    }
  }

  *#paths(): Generator<string> {
    for (const source of this.sources.values()) for (const { path } of source.files) yield path;
  }
}

/** Files of corrected rejects by source name, in the order in which they apply: a later one wins. */
export type Fixes = ReadonlyMap<string, readonly string[]>;

/**
 * The corrected rejects to apply: those of earlier runs, which the state directory keeps, then those given now with
 * `--fix`. `keep`: those are kept too, unless they are the ones that were given last time.
 */
export async function collectFixes(
  state: StateDir,
  mapping: Mapping,
  given: ReadonlyMap<string, string>,
  keep: boolean,
): Promise<Fixes> {
  const directory = state.file('fixes');
  const names = mapping.sources.map(({ name }) => name);
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
