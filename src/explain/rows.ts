/** What the CSV files of a state directory say about one record. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Place } from '../model.ts';
import { rowsOf } from '../report/html/collect.ts';
import { parseLine, wholeLines } from '../report/lines.ts';
import type { NamedRecord } from '../settings.ts';
import { rejectColumnsIn } from '../source/reject-columns.ts';
import type { StateDir } from '../state-dir.ts';

/** The record as the rejects have it; null if they do not, or have several on its line. */
export async function rejectedRecord(
  output: StateDir,
  { source, file, line }: Place,
  id: string,
): Promise<JsonObject | null> {
  // A run gathers its rejects there until it ends.
  for (const directory of ['rejects.tmp', 'rejects'].map((name) => output.file(name))) {
    const names = await readdir(directory).catch((): string[] => []);
    const found: JsonObject[] = [];
    for (const name of names.filter((each) => each.startsWith(`${source}.`))) {
      for await (const row of recordsIn(join(directory, name))) {
        const added = rejectColumnsIn(Object.keys(row));
        if (row[added.file] !== file || Number(row[added.line]) !== line) continue;
        const columns = Object.keys(row).filter((column) => !Object.values(added).includes(column));
        found.push(Object.fromEntries(columns.map((column) => [column, row[column]])));
      }
    }
    const named = found.length === 1 ? found : found.filter((row) => Object.values(row).includes(id));
    if (named.length === 1) return named[0]!;
  }
  return null;
}

async function* recordsIn(path: string): AsyncGenerator<JsonObject, void, undefined> {
  if (path.endsWith('.csv')) yield* rowsOf(path);
  else for await (const text of wholeLines(path)) yield parseLine<Record<string, JsonValue>>(text) ?? {};
}

/** A row of `omitted.csv`. */
export interface LeftOut {
  readonly file: string;
  readonly line: number;
  readonly field: string;
  readonly original: string;
  readonly reason: string;
}

export type OmittedRow = LeftOut & { readonly source: string };

export async function omissionsOf(
  output: StateDir,
  { externalId }: NamedRecord,
  sources: ReadonlySet<string>,
): Promise<OmittedRow[]> {
  const omitted: OmittedRow[] = [];
  const path = output.file('omitted.csv');
  if (!(await stat(path).catch(() => undefined))) return omitted;
  for await (const { source = '', file = '', line, external_id: id, field = '', ...row } of rowsOf(path)) {
    if (id !== externalId || !sources.has(source)) continue;
    omitted.push({ source, file, line: Number(line), field, original: row.original ?? '', reason: row.reason ?? '' });
  }
  return omitted;
}
