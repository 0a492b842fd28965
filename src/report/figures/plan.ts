/** The figures of `plan`: counts, the first events of each type as they are sent, and what is wrong. And how values are shown. */
import { EVENT_TYPES, KINDS } from '../../kinds/index.ts';
import { placeText, type EventType } from '../../model.ts';
import { canonicalJson, parseJson, type JsonObject, type JsonValue } from '../../json.ts';
import { countStates } from '../../plan/counts.ts';
import { readFindings } from '../files/findings.ts';
import type { FoundPlan } from '../../store/stored-plans.ts';
import { PLAN_FILE } from '../../store/plan-schema.ts';
import { fieldsOf } from '../../store/field-hashes.ts';
import type { Database } from '../../store/sqlite.ts';
import { shortPath } from '../../files/paths.ts';
import { clockText } from '../words/times.ts';
import { printable, shortened } from '../words/visible.ts';
import { readCauses } from './causes.ts';
import { countsSection } from './counts.ts';
import { column, LIMITS, present, sectionOf, type Figures, type Section } from './figures.ts';
import { causesSection, checksSection } from './findings.ts';

/** `names`: of stages, pipelines and users, by their ids in lower case. */
export function planFigures(
  db: Database,
  { output, isDryRun, at }: FoundPlan,
  names: ReadonlyMap<string, string>,
  now: Date,
): Figures {
  const states = countStates(db);
  const isSampled = (type: EventType): boolean =>
    states.some((each) => each.type === type && each.state !== 'invalid' && each.state !== 'duplicate');
  return {
    verdict: {
      word: 'PLAN',
      text: ` of the last ${isDryRun ? 'dry run' : 'run'}, as of ${clockText(at, now)}`,
      mood: 'done',
      details: [shortPath(output.file(PLAN_FILE))],
    },
    sections: present([
      countsSection(states),
      ...EVENT_TYPES.filter(isSampled).map((type) => sampleSection(db, type, names)),
      causesSection(readCauses(db), { over_max_omitted: [] }, undefined),
      checksSection(readFindings(db), true),
    ]),
  };
}

/** The first event of a type that is sent; undefined if there is none, for which all events are read. */
function sampleSection(db: Database, type: EventType, names: ReadonlyMap<string, string>): Section | undefined {
  const sample = db.get<{ id: string | null; data: string; file: string; line: number; record: number }>(
    `select e.external_id as id, e.data, r.file, r.line, r.record
      from event e not indexed join row r on r.id = e.record
      where e.type = ? and e.data is not null and e.state not in ('invalid', 'duplicate') order by e.id limit 1`,
    type,
  );
  if (!sample) return undefined;
  const { id, data, file, line, record } = sample;
  const at = placeText({ file, line, record });
  const title = `${type}, for example ${printable(id ?? 'one without an id')} (${at})`;
  return valuesSection(`sample ${type}`, title, namedValues(parseJson(data) as JsonObject, names));
}

/** Of one event on a screen; `--all` shows all of them. */
const LIMIT = { ...LIMITS.values, isSummed: false } as const;

export function valuesSection(
  id: string,
  title: string,
  values: readonly (readonly [name: string, value: string])[],
): Section {
  return sectionOf({
    id,
    title,
    columns: [column('label'), column('value')],
    rows: values.map(([name, value]) => [printable(name), printable(value)]),
    limit: LIMIT,
  });
}

const ORDER: readonly string[] = KINDS.flatMap(({ fields }) => fields.map(({ name }) => name));

/** The fields in the order of their kind: custom ones, of which there may be many, come last. */
function rankOf(name: string): number {
  return ORDER.indexOf(name.split('.')[0]!);
}

/** The fields of an event, with names beside ids. `names`: of stages, pipelines and users, by their ids in lower case. */
export function namedValues(data: JsonObject, names: ReadonlyMap<string, string>): [name: string, value: string][] {
  const fields = [...fieldsOf(data)].sort(([one], [other]) => rankOf(one) - rankOf(other));
  return fields.map(([name, value]) => {
    const text = valueText(value);
    const known = name.endsWith('_id') ? names.get(text.toLowerCase()) : undefined;
    return [name, known === undefined ? text : `${known} (${text})`];
  });
}

export function shownValue(text: string): string {
  return `\`${shortened(printable(text), 40)}\``;
}

export function valueText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : canonicalJson(value);
}
