import { closeSync, ftruncateSync, renameSync, rmSync } from 'node:fs';
import { cannotWrite, UserError } from './errors.ts';
import { openPrivate, writeAll } from './private-file.ts';

const BLOCK = 1 << 16;

/** Writes a file line by line under a temporary name, and renames it when it is complete. Throws a `UserError`. */
export function writeLines<Row>(
  path: string,
  head: readonly string[],
  rows: Iterable<Row>,
  lineOf: (row: Row) => string,
): void {
  const temporary = `${path}.tmp`;
  try {
    // Whatever has this name is not written to: it may be a link.
    rmSync(temporary, { force: true });
    const file = openPrivate(temporary);
    try {
      ftruncateSync(file);
      let text = head.join('');
      for (const row of rows) {
        text += lineOf(row);
        if (text.length < BLOCK) continue;
        writeAll(file, text);
        text = '';
      }
      writeAll(file, text);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    throw error instanceof UserError ? error : cannotWrite(path, error);
  }
}
