/** The plan on a screen: counts, the first events of each type, what is left out, and what is wrong. */
import { parseJson, type JsonObject } from '../../json.ts';
import { EVENT_TYPES } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';
import { countStates, outcomesOf, totalOf } from '../../plan/counts.ts';
import { ofSeverity, readFindings, type Severity } from '../../report/findings.ts';
import { cutTo, valueRows } from '../../terminal/layout.ts';
import { clockText, countsTable, findingsText, placeText, shortPath } from '../../report/text.ts';
import type { FoundPlan } from '../../store/stored-plans.ts';
import { PLAN_FILE } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import { printable } from '../../terminal/visible.ts';
import { namedValues } from './text.ts';

const SAMPLES = 2;

/** `names`: of stages, pipelines and users, by their ids in lower case. */
export function planText(
  db: Database,
  { output, isDryRun, at }: FoundPlan,
  names: ReadonlyMap<string, string>,
  now: Date,
  columns: number,
): string {
  const findings = readFindings(db);
  const section = (title: string, severity: Severity): string => {
    const found = ofSeverity(findings, severity);
    return found.length > 0 ? `${title}\n${findingsText(found)}` : '';
  };
  const byType = outcomesOf(countStates(db));
  const parts = [
    `plan of the ${isDryRun ? 'dry run' : 'run'} of ${clockText(at, now)}: ${shortPath(output.file(PLAN_FILE))}`,
    countsTable({ by_type: byType, events: totalOf(Object.values(byType)) }, columns),
    ...EVENT_TYPES.map((type) => samplesText(db, type, names, columns)),
    section('values left out', 'omission'),
    section('errors', 'error'),
    section('warnings', 'warning'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function samplesText(db: Database, type: EventType, names: ReadonlyMap<string, string>, columns: number): string {
  const samples = db.all<{ id: string | null; data: string; file: string; line: number; record: number }>(
    `select e.external_id as id, e.data, f.path as file, r.line, r.number as record
      from event e not indexed join record r on r.id = e.record join file f on f.id = r.file
      where e.type = ? and e.data is not null and e.state not in ('invalid', 'duplicate') order by e.id limit ?`,
    type,
    SAMPLES,
  );
  const texts = samples.map(({ id, data, ...place }) => {
    const head = cutTo(`${type}  ${printable(id ?? 'without an id')}  ${placeText(place)}`, columns);
    return `${head}\n${valueRows(namedValues(parseJson(data) as JsonObject, names), columns)}`;
  });
  return texts.join('\n\n');
}
