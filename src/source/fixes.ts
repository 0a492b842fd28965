import { UserError } from '../errors.ts';
import type { Place, RawRecord, ReadItem } from '../model.ts';
import { readFixFile, type Correction, type FixFile } from './fix-file.ts';
import { rowHasher } from './row-hash.ts';
import type { FileDigest, Source, SourceNotice } from './source.ts';
import { counted } from '../numbers.ts';

/**
 * The source with some records replaced: each row of a fix file replaces every record with the content that its `_row`
 * names, and of two corrections of one record that of the later file. A replaced record has the place of its correction,
 * which is where its mistakes can be repaired; all other records are read as before. Throws a `ProblemsError` if a file
 * cannot be used.
 */
export async function withFixes(
  source: Source,
  files: readonly FixFile[],
  options: { readonly display?: (path: string) => string } = {},
): Promise<FixedSource> {
  const corrections = new Map<string, Correction>();
  for (const file of files) {
    const found = await readFixFile(source, file, options).catch((error: unknown) => {
      throw file.isKept && error instanceof UserError ? keptUnusable(file.path, error) : error;
    });
    for (const [row, correction] of found) corrections.set(row, correction);
  }
  return new FixedSource(source, corrections);
}

function corrected(original: RawRecord, { raw, lacking }: Correction): RawRecord {
  if (lacking.length === 0) return raw;
  const cells = [...(raw as readonly string[])];
  for (const index of lacking) cells[index] = (original as readonly string[])[index] ?? '';
  return cells;
}

function keptUnusable(path: string, error: UserError): UserError {
  return new UserError(error.message, {
    hint: `an earlier run accepted these corrections: repair ${path}, or delete it to continue without them`,
    cause: error,
  });
}

/** A source with corrected records. */
export class FixedSource implements Source {
  readonly name: string;
  readonly kind: Source['kind'];
  readonly columns: readonly string[];
  readonly duplicateColumns: ReadonlySet<string>;
  readonly files: Source['files'];
  readonly description: string;
  readonly #source: Source;
  readonly #corrections: ReadonlyMap<string, Correction>;
  readonly #hashOf: (raw: RawRecord) => string;
  /** By the place of a correction: the hash of the content that it replaces. */
  readonly #replaced: ReadonlyMap<string, string>;
  #unused: readonly Place[] = [];

  constructor(source: Source, corrections: ReadonlyMap<string, Correction>) {
    const count = corrections.size;
    this.name = source.name;
    this.kind = source.kind;
    this.columns = source.columns;
    this.duplicateColumns = source.duplicateColumns;
    this.files = source.files;
    this.description = `${source.description}, ${counted(count, 'corrected record')}`;
    this.#source = source;
    this.#corrections = corrections;
    this.#replaced = new Map([...corrections].map(([row, { place }]) => [keyOf(place), row]));
    this.#hashOf = rowHasher(source.columns);
  }

  async *batches(): AsyncGenerator<readonly ReadItem[], void, undefined> {
    const used = new Set<string>();
    for await (const batch of this.#source.batches()) {
      yield batch.map((item) => {
        if (!item.raw) return item;
        const row = this.#hashOf(item.raw);
        const correction = this.#corrections.get(row);
        if (!correction) return item;
        used.add(row);
        const { place, issues } = correction;
        return { kind: 'row', place, raw: corrected(item.raw, correction), issues };
      });
    }
    this.#unused = [...this.#corrections].flatMap(([row, { place }]) => (used.has(row) ? [] : [place]));
  }

  originalOf(place: Place): string | undefined {
    return this.#replaced.get(keyOf(place));
  }

  digests(): readonly FileDigest[] | undefined {
    return this.#source.digests();
  }

  notices(): readonly SourceNotice[] {
    return this.#source.notices();
  }

  /** Where the corrections stand that replaced no record in the last complete reading. */
  unused(): readonly Place[] {
    return this.#unused;
  }
}

function keyOf({ file, record }: Place): string {
  return `${record} ${file}`;
}
