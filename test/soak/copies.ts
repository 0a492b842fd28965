import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse/sync';

/** Events that are sent for one copy of fixtures/faults. */
export const EVENTS_PER_COPY = 73;

/** Repeats the records of fixtures/faults in `cwd` with other ids. */
export async function multiply(cwd: string, copies: number): Promise<void> {
  for (const name of ['leads', 'lead-changes', 'deals', 'deal-changes', 'notes']) {
    const path = join(cwd, `${name}.csv`);
    const [header, ...rows] = parse(await readFile(path, 'utf8'));
    const isId = header!.map((column) => ['id', 'lead', 'deal'].includes(column));
    const line = (cells: readonly string[]) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`;
    const copied = function* (): Generator<string> {
      yield line(header!);
      for (let copy = 0; copy < copies; copy += 1) {
        yield rows
          .map((row) => line(row.map((cell, at) => (isId[at] && cell !== '' ? `${cell}/${copy}` : cell))))
          .join('');
      }
    };
    await pipeline(Readable.from(copied()), createWriteStream(path));
  }
}
