import { createHash, type Hash } from 'node:crypto';
import type { ReadItem } from '../model.ts';
import type { InputFile } from './files.ts';
import type { FileDigest, Source, SourceNotice } from './source.ts';

/** Few enough to bound memory, enough to make passing them on cheap. */
const BATCH = 250;

/** Collects the items of one file into batches. */
export class ItemBatches {
  #items: ReadItem[] = [];
  /** Items so far, those already taken included. */
  count = 0;

  add(item: ReadItem): void {
    this.count += 1;
    this.#items.push(item);
  }

  /** The items since the last call, in batches. */
  *take(): Generator<readonly ReadItem[], void, undefined> {
    const items = this.#items;
    this.#items = [];
    for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH);
  }
}

/** What reading a whole file found. */
export interface FileResult {
  readonly rows: number;
  readonly notices: readonly SourceNotice[];
  /** The file is one page of an API response, and says that there are more. */
  readonly more: boolean;
}

/** One file of a source; it can be read any number of times. */
export interface SourceFile {
  readonly file: InputFile;
  read(hash: Hash): AsyncGenerator<readonly ReadItem[], FileResult, undefined>;
}

/** What is known about a source once its files have been opened. */
export interface SourceHead extends Pick<
  Source,
  'name' | 'kind' | 'columns' | 'duplicateColumns' | 'delimiter' | 'description'
> {
  readonly parts: readonly SourceFile[];
  readonly notices: readonly SourceNotice[];
}

/** Reads the files of a source one after the other, as one. */
export class FilesSource implements Source {
  readonly name: string;
  readonly kind: 'table' | 'tree';
  readonly columns: readonly string[];
  readonly duplicateColumns: ReadonlySet<string>;
  readonly delimiter?: string;
  readonly description: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly #head: SourceHead;
  #digests: readonly FileDigest[] | undefined;
  #found: readonly SourceNotice[] = [];

  constructor(head: SourceHead) {
    this.name = head.name;
    this.kind = head.kind;
    this.columns = head.columns;
    this.duplicateColumns = head.duplicateColumns;
    if (head.delimiter !== undefined) this.delimiter = head.delimiter;
    this.description = head.description;
    this.files = head.parts.map(({ file: { path, bytes } }) => ({ path, bytes }));
    this.#head = head;
  }

  async *batches(): AsyncGenerator<readonly ReadItem[], void, undefined> {
    const digests: FileDigest[] = [];
    const notices: SourceNotice[] = [];
    let more = true;
    for (const part of this.#head.parts) {
      const hash = createHash('sha256');
      const end = yield* part.read(hash);
      digests.push({ path: part.file.path, sha256: hash.digest('hex'), rows: end.rows });
      notices.push(...end.notices);
      more &&= end.more;
    }
    // All pages but the last say that there are more, so more are missing only if the last one says so too.
    const last = this.#head.parts.at(-1);
    if (more && last) {
      notices.push({
        code: 'more_pages',
        message: 'this is one page of an API response, which says that there are more: fetch all pages',
        file: last.file.shown,
      });
    }
    if (last && digests.every(({ rows }) => rows === 0)) {
      notices.push({ code: 'no_records', message: 'there are no records', file: last.file.shown });
    }
    this.#digests = digests;
    this.#found = notices;
  }

  originalOf(): undefined {
    return undefined;
  }

  digests(): readonly FileDigest[] | undefined {
    return this.#digests;
  }

  notices(): readonly SourceNotice[] {
    return [...this.#head.notices, ...this.#found];
  }
}
