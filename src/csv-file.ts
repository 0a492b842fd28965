import { cannotWrite } from './errors.ts';
import { closeSync, ftruncateSync } from 'node:fs';
import { csvLine } from './csv.ts';
import { openPrivate, writeAll } from './private-file.ts';

const CHUNK = 65_536;
const BOM = '\ufeff';

/** A CSV file for people, written anew: nobody else can read it. Throws a `UserError` if it cannot be written. */
export class CsvFile {
  readonly path: string;
  readonly #file: number;
  #waiting: string;

  /** `bom`: so that spreadsheets read it as UTF-8. */
  constructor(path: string, head: readonly string[], { bom = false }: { bom?: boolean } = {}) {
    this.path = path;
    this.#waiting = bom ? BOM : '';
    try {
      this.#file = openPrivate(path);
      ftruncateSync(this.#file);
    } catch (error) {
      throw cannotWrite(path, error);
    }
    this.add(head);
  }

  add(cells: readonly (string | number | undefined)[]): void {
    this.#waiting += csvLine(cells);
    if (this.#waiting.length >= CHUNK) this.#write();
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
      throw cannotWrite(this.path, error);
    }
  }
}
