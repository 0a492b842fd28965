/** A later export is another file: what differs from the input of the last run in its columns and its number of records. */
import type { Issue } from '../model.ts';
import { askPlan } from '../plan/earlier-plans.ts';
import type { Source } from '../source/source.ts';
import type { StateDir } from '../state-dir.ts';
import { PLAN_FILE } from '../store/plan-schema.ts';

/** A source without its values: its columns (none for JSON), and how many records it has. */
interface SourceShape {
  readonly columns: readonly string[];
  readonly records: number;
}

export type SourceShapes = Readonly<Record<string, SourceShape>>;

/** The sources of the last run; empty if there was none, or if its plan was deleted or cannot be read. */
export function earlierSources(state: StateDir): SourceShapes {
  const sources = askPlan(state.file(PLAN_FILE), (plan) =>
    plan.all<{ name: string; columns: string; records: number }>('select name, columns, records from source'),
  );
  return Object.fromEntries(
    (sources ?? []).map(({ name, columns, records }) => [name, { columns: JSON.parse(columns) as string[], records }]),
  );
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

function recordsOf(source: Source): number {
  return (source.digests() ?? []).reduce((sum, { rows }) => sum + rows, 0);
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  return names.filter((name) => !others.includes(name));
}

function warning(code: string, message: string): Issue {
  return { severity: 'warning', kind: 'read', code, message };
}
