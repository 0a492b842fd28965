import { createHash, type Hash } from 'node:crypto';
import type { ReadItem, Unread } from '../model.ts';
import type { InputFile } from './files.ts';
import type { FileDigest, Source, SourceNotice } from './source.ts';

/** Items that travel together: enough to make the way cheap, few enough to stay small. */
const BATCH = 250;

/** Collects the items of one file into batches. */
export class Outbox<Item extends ReadItem | Unread> {
  readonly #full: Item[][] = [];
  #filling: Item[] = [];
  rows = 0;

  add(item: Item): void {
    this.rows += 1;
    if (this.#filling.push(item) < BATCH) return;
    this.#full.push(this.#filling);
    this.#filling = [];
  }

  /** All so far. */
  take(): Item[][] {
    if (this.#filling.length > 0) this.#full.push(this.#filling);
    this.#filling = [];
    return this.#full.splice(0);
  }
}

/** What a complete reading of one file found. */
export interface FileEnd {
  readonly rows: number;
  readonly notices: readonly SourceNotice[];
  /** The file is a page of an API's answer, and says that another one follows. */
  readonly more: boolean;
}

/** One file of a source, ready to be read any number of times. */
export interface Part {
  readonly file: InputFile;
  read(hash: Hash): AsyncGenerator<readonly (ReadItem | Unread)[], FileEnd, undefined>;
}

/** What is known of a source once its files are opened. */
export interface SourceHead extends Pick<Source, 'name' | 'kind' | 'columns' | 'duplicateColumns' | 'description'> {
  readonly parts: readonly Part[];
  readonly notices: readonly SourceNotice[];
}

/** Reads the parts of a source one after the other, as one. */
export class FilesSource implements Source {
  readonly name: string;
  readonly kind: 'table' | 'tree';
  readonly columns: readonly string[];
  readonly duplicateColumns: ReadonlySet<string>;
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
    this.description = head.description;
    this.files = head.parts.map(({ file: { path, bytes } }) => ({ path, bytes }));
    this.#head = head;
  }

  batches(): AsyncGenerator<readonly ReadItem[], void, undefined> {
    return readNow(this.unread());
  }

  async *unread(): AsyncGenerator<readonly (ReadItem | Unread)[], void, undefined> {
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
    // Of several pages all but the last say that more is to come.
    const last = this.#head.parts.at(-1);
    if (more && last) {
      notices.push({
        code: 'more_pages',
        message: 'this is one page of an API answer, which says that more is to come: fetch all pages',
        file: last.file.shown,
      });
    }
    if (last && digests.every(({ rows }) => rows === 0)) {
      notices.push({ code: 'no_records', message: 'there are no records', file: last.file.shown });
    }
    this.#digests = digests;
    this.#found = notices;
  }

  digests(): readonly FileDigest[] | undefined {
    return this.#digests;
  }

  notices(): readonly SourceNotice[] {
    return [...this.#head.notices, ...this.#found];
  }
}

/** `unread` as `batches`. */
export async function* readNow(
  batches: AsyncIterable<readonly (ReadItem | Unread)[]>,
): AsyncGenerator<readonly ReadItem[], void, undefined> {
  for await (const batch of batches) yield batch.map((item) => (item.kind === 'unread' ? item.read() : item));
}
