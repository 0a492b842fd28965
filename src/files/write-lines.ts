import { closeSync, ftruncateSync, renameSync, rmSync } from 'node:fs';
import { cannotWrite, UserError } from '../errors.ts';
import { openPrivate, temporaryName, writeAll } from './private-file.ts';

const BLOCK = 1 << 16;

/** A text file for people, written anew: nobody else can read it. Throws a `UserError` that names it as `shown`. */
export class LineFile {
  readonly #shown: string;
  readonly #file: number;
  #waiting = '';

  constructor(path: string, shown = path) {
    this.#shown = shown;
    try {
      this.#file = openPrivate(path);
      ftruncateSync(this.#file);
    } catch (error) {
      throw cannotWrite(shown, error);
    }
  }

  /** `lines`: with their line feeds. */
  add(lines: string): void {
    this.#waiting += lines;
    if (this.#waiting.length >= BLOCK) this.#write();
  }

  close(): void {
    try {
      this.#write();
    } finally {
      closeSync(this.#file);
    }
  }

  #write(): void {
    try {
      writeAll(this.#file, this.#waiting);
      this.#waiting = '';
    } catch (error) {
      throw cannotWrite(this.#shown, error);
    }
  }
}

/** Writes a file line by line under a temporary name, and renames it when it is complete. Throws a `UserError`. */
export function writeLines<Row>(path: string, head: string, rows: Iterable<Row>, lineOf: (row: Row) => string): void {
  const temporary = temporaryName(path);
  try {
    const file = new LineFile(temporary, path);
    try {
      file.add(head);
      for (const row of rows) file.add(lineOf(row));
    } finally {
      file.close();
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error instanceof UserError ? error : cannotWrite(path, error);
  }
}

/** Replaces a file: readers see either the old content or the new. Throws as `writeLines` does. */
export function writeWhole(path: string, content: string): void {
  writeLines(path, content, [], String);
}
