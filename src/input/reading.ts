import type { Hash } from 'node:crypto';
import type { Place, ReadItem, RecordText } from '../model.ts';
import { shortened } from '../report/words/visible.ts';
import type { InputFile } from './files.ts';
import type { FileEnd } from './format.ts';
import type { Source } from './source.ts';
import type { Problem } from '../problem.ts';

/**
 * Largest record, in bytes: more than any body that the service accepts (10 MB, service interface, section 8), with room for fields that a
 * mapping leaves out. Without a limit, an unclosed quote would read the rest of the file into memory.
 */
export const MAX_RECORD = 16 * 1024 * 1024;

const NO_ISSUES: readonly Problem[] = [];

/** Collects the records of one file, and numbers them. */
export class Items {
  readonly #source: string;
  readonly #file: string;
  readonly #letters: Pick<Place, 'letters'>;
  #items: ReadItem[] = [];
  /** Records so far, those already taken included. */
  count = 0;

  /** `source`: its name. */
  constructor(source: string, { file: { label }, letters }: Pick<SourceFile, 'file' | 'letters'>) {
    this.#source = source;
    this.#file = label;
    this.#letters = letters ? { letters } : {};
  }

  row(line: number, record: RecordText, issues = NO_ISSUES): void {
    this.#items.push({ kind: 'row', place: this.#place(line), ...record, issues });
  }

  /** `record`: its readable part, for the rejects file. */
  unreadable(line: number, issue: Problem, record: Partial<RecordText> = {}): void {
    this.#items.push({ kind: 'unreadable', place: this.#place(line), ...record, issue });
  }

  take(): readonly ReadItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  #place(line: number): Place {
    this.count += 1;
    return { source: this.#source, file: this.#file, line, record: this.count, ...this.#letters };
  }
}

/** The part of a record that a message shows. */
export function shorten(text: string): string {
  return shortened(text.replaceAll('\0', '\u2400'), 60);
}

/** One file of a source; it can be read any number of times. */
export interface SourceFile {
  readonly file: InputFile;
  /** Of a sheet: the letter of each column of the source. */
  readonly letters?: readonly string[] | undefined;
  read(items: Items, hash: Hash): AsyncGenerator<readonly ReadItem[], FileEnd, undefined>;
}

/** What is known about a source once its files have been opened. */
export interface SourceHead extends Pick<Source, 'kind' | 'columns' | 'duplicateColumns' | 'delimiter'> {
  readonly parts: readonly SourceFile[];
  readonly notices: readonly Problem[];
}
