/** The figures of `plan`: counts, the first events of each type as they are sent, and what is wrong. */
import { EVENT_TYPES } from '../kinds/index.ts';
import { placeText, type EventType } from '../model.ts';
import { parseJson, type JsonObject } from '../json.ts';
import { countStates } from '../plan/counts.ts';
import { readFindings } from '../report/findings.ts';
import type { FoundPlan } from '../store/stored-plans.ts';
import { PLAN_FILE, placedFile } from '../store/plan-schema.ts';
import type { Database } from '../store/sqlite.ts';
import { shortPath } from '../files/paths.ts';
import { clockText } from '../terminal/times.ts';
import { printable } from '../terminal/visible.ts';
import { readCauses } from './causes.ts';
import { countsSection } from './counts.ts';
import { present, type Figures, type Section } from './figures.ts';
import { causesSection, checksSection } from './findings.ts';
import { namedValues, valuesSection } from './values.ts';

/** `names`: of stages, pipelines and users, by their ids in lower case. */
export function planFigures(
  db: Database,
  { output, isDryRun, at }: FoundPlan,
  names: ReadonlyMap<string, string>,
  now: Date,
): Figures {
  return {
    verdict: {
      word: 'PLAN',
      text: ` of the ${isDryRun ? 'dry run' : 'run'} of ${clockText(at, now)}`,
      mood: 'done',
      details: [shortPath(output.file(PLAN_FILE))],
    },
    sections: present([
      countsSection(countStates(db)),
      ...EVENT_TYPES.map((type) => sampleSection(db, type, names)),
      causesSection(readCauses(db), { over_max_omitted: [] }, undefined),
      checksSection(readFindings(db), true),
    ]),
  };
}

/** The first event of a type that is sent; undefined if there is none. */
function sampleSection(db: Database, type: EventType, names: ReadonlyMap<string, string>): Section | undefined {
  const sample = db.get<{ id: string | null; data: string; file: string; line: number; record: number }>(
    `select e.external_id as id, e.data, ${placedFile()} as file, r.line, r.number as record
      from event e not indexed join record r on r.id = e.record join file f on f.id = r.file
      where e.type = ? and e.data is not null and e.state not in ('invalid', 'duplicate') order by e.id limit 1`,
    type,
  );
  if (!sample) return undefined;
  const { id, data, file, line, record } = sample;
  const at = placeText({ file, line, record });
  const title = `${type}, for example ${printable(id ?? 'one without an id')} (${at})`;
  return valuesSection(`sample ${type}`, title, namedValues(parseJson(data) as JsonObject, names));
}
