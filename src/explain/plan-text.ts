/** The plan on a screen: counts, the first events of each type, what is left out, and what is wrong. */
import { parseJson, type JsonObject } from '../json.ts';
import { EVENT_TYPES, type EventType } from '../model.ts';
import { numberText } from '../numbers.ts';
import { adviceFor, inSentence } from '../report/advice.ts';
import { cutTo, table, valueRows } from '../layout.ts';
import { clockText, countedList, shortPath, type CountedText } from '../report/text.ts';
import type { FoundPlan } from '../store/stored-plans.ts';
import { PLAN_FILE } from '../store/plan-schema.ts';
import type { Database } from '../store/sqlite.ts';
import { printable } from '../visible.ts';
import { namedValues } from './text.ts';

const SAMPLES = 2;
const STATES = ['pending', 'acknowledged', 'duplicate', 'invalid', 'rejected', 'blocked'] as const;

/** `names`: of stages, pipelines and users, by their ids in lower case. */
export function planText(
  db: Database,
  { output, isDryRun, at }: FoundPlan,
  names: ReadonlyMap<string, string>,
  now: Date,
  columns: number,
): string {
  const parts = [
    `plan of the ${isDryRun ? 'dry run' : 'run'} of ${clockText(at, now)}: ${shortPath(output.file(PLAN_FILE))}`,
    countsText(db),
    ...EVENT_TYPES.map((type) => samplesText(db, type, names, columns)),
    listText('values left out', leftOut(db), 'field'),
    listText('problems', problems(db), 'problem'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function countsText(db: Database): string {
  const counts = db.all<{ type: EventType; state: string; number: number }>(
    'select type, state, count(*) as number from events group by type, state',
  );
  const sum = (type?: EventType, state?: string): number =>
    counts
      .filter((each) => (type ?? each.type) === each.type && (state ?? each.state) === each.state)
      .reduce((total, { number }) => total + number, 0);
  const states = STATES.filter((state) => sum(undefined, state) > 0);
  const row = (name: string, type?: EventType): string[] => [
    name,
    ...[sum(type), ...states.map((state) => sum(type, state))].map(numberText),
  ];
  const types = EVENT_TYPES.filter((type) => sum(type) > 0);
  return table([['', 'total', ...states], ...types.map((type) => row(type, type)), row('all')]);
}

function samplesText(db: Database, type: EventType, names: ReadonlyMap<string, string>, columns: number): string {
  const samples = db.all<{ id: string | null; data: string; file: string; line: number; record: number }>(
    `select e.external_id as id, e.data, f.path as file, r.line, r.number as record
      from event e not indexed join record r on r.id = e.record join file f on f.id = r.file
      where e.type = ? and e.data is not null and e.state not in ('invalid', 'duplicate') order by e.id limit ?`,
    type,
    SAMPLES,
  );
  const texts = samples.map(({ id, data, file, line, record }) => {
    const where = line > 0 ? `${file}:${line}` : `${file} record ${record}`;
    const head = cutTo(`${type}  ${printable(id ?? 'without an id')}  ${where}`, columns);
    return `${head}\n${valueRows(namedValues(parseJson(data) as JsonObject, names), columns)}`;
  });
  return texts.join('\n\n');
}

function leftOut(db: Database): CountedText[] {
  const rows = db.each<{ type: string | null; field: string; count: number; reason: string }>(
    `select e.type, o.field, count(*) as count, o.reason, min(o.id)
      from omission o left join event e on e.id = o.event group by e.type, o.field, o.code order by count(*) desc`,
  );
  return Array.from(rows, ({ type, field, count, reason }) => ({
    count,
    text: `${type ?? 'record'} ${field}`,
    details: [reason],
  }));
}

function problems(db: Database): CountedText[] {
  const rows = db.each<ProblemRow>(
    `select p.code, p.kind, p.severity, count(*) as count, p.message, p.hint, f.path as file, r.line, min(p.id)
      from problem p left join record r on r.id = p.record left join file f on f.id = r.file
      group by p.severity, p.kind, p.code order by p.severity, count(*) desc`,
  );
  return Array.from(rows, ({ code, kind, severity, count, message, hint, file, line }) => {
    const fix = hint ?? inSentence(adviceFor(code, severity === 'error' ? kind : undefined).fix);
    const where = file === null ? '' : `${file}:${line}: `;
    return {
      count,
      text: severity === 'error' ? code : `${code} (warning)`,
      details: [`${where}${message}`, ...(fix === '' ? [] : [`hint: ${fix}`])],
    };
  });
}

interface ProblemRow {
  readonly code: string;
  readonly kind: string;
  readonly severity: 'error' | 'warning';
  readonly count: number;
  readonly message: string;
  readonly hint: string | null;
  readonly file: string | null;
  readonly line: number | null;
}

function listText(title: string, rows: readonly CountedText[], noun: string): string {
  return rows.length === 0 ? '' : `${title}\n${countedList(rows, noun)}`;
}
