/** A later export is another file: what differs from the input of the last run in its columns and its number of records. */
import { readFile } from 'node:fs/promises';
import type { Issue } from '../model.ts';
import { SURVEY_FILE, type SourceShape, type SurveySnapshot } from '../report/summary.ts';
import type { Source } from '../source/source.ts';
import type { StateDir } from '../state-dir.ts';

export type SourceShapes = Readonly<Record<string, SourceShape>>;

/** The sources of the last run; empty if there was none, or if it was one of an older version. */
export async function earlierSources(state: StateDir): Promise<SourceShapes> {
  try {
    const snapshot = JSON.parse(await readFile(state.file(SURVEY_FILE), 'utf8')) as Partial<SurveySnapshot>;
    return snapshot.sources ?? {};
  } catch {
    return {};
  }
}

/** Columns that a source has lost or gained. One that the mapping uses and that is missing is a mistake, found before. */
export function changedColumns(sources: Iterable<Source>, earlier: SourceShapes): readonly Issue[] {
  return [...sources].flatMap(({ name, kind, columns }) => {
    const before = earlier[name]?.columns;
    if (kind !== 'table' || before === undefined) return [];
    const listed = (names: readonly string[]): string => names.map((column) => `\`${column}\``).join(', ');
    const [gone, added] = [without(before, columns), without(columns, before)];
    return [
      ...(gone.length === 0 ? [] : [warning('column_gone', `${name} no longer has ${listed(gone)}`)]),
      ...(added.length === 0 ? [] : [warning('column_new', `${name} has new columns: ${listed(added)}`)]),
    ];
  });
}

/** The sources with less than half of their earlier records, in words. Call it when all have been read. */
export function shrunkSources(sources: Iterable<Source>, earlier: SourceShapes): readonly string[] {
  return [...sources].flatMap((source) => {
    const before = earlier[source.name]?.records ?? 0;
    const now = recordsOf(source);
    return now * 2 < before ? [`${source.name} has ${now} records, and had ${before} in the last run`] : [];
  });
}

/** What the next run compares with: names of columns and numbers of records. */
export function shapesOf(sources: Iterable<Source>): SourceShapes {
  return Object.fromEntries(
    [...sources].map((source) => [source.name, { columns: source.columns, records: recordsOf(source) }]),
  );
}

function recordsOf(source: Source): number {
  return (source.digests() ?? []).reduce((sum, { rows }) => sum + rows, 0);
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  return names.filter((name) => !others.includes(name));
}

function warning(code: string, message: string): Issue {
  return { severity: 'warning', kind: 'read', code, message };
}
