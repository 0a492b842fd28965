/** What a pilot chose, as the survey, the summary and `pilot.csv` say it. */
import { nameInSql } from '../../kinds/index.ts';
import { STATE_IN_SQL } from '../../model.ts';
import { counted, enumerated } from '../words/numbers.ts';
import { temporaryName } from '../../files/private-file.ts';
import type { StateDir } from '../../files/state-dir.ts';
import { readSetting, storeSetting } from '../../store/setting.ts';
import type { Database } from '../../store/sqlite.ts';
import { writeTable } from './error-files.ts';
import { publishFiles } from './own-files.ts';

interface Covered {
  readonly covered: number;
  readonly occurring: number;
}

export interface PilotCounts {
  /** Records of the exports that were chosen; their parents come in addition. */
  readonly records: number;
  /** Events of these records and of their parents. */
  readonly events: number;
  /** How many stages occur in the chosen records, of those in the plan. */
  readonly stages: Covered;
  readonly owners: Covered;
  /** The name of its `pilot.csv`, once it is written. */
  readonly file?: string;
}

const SETTING = 'pilot';

export function storePilot(db: Database, counts: PilotCounts): void {
  storeSetting(db, SETTING, JSON.stringify(counts));
}

/** Undefined if the plan is that of a run without `--pilot`. */
export function readPilot(db: Database): PilotCounts | undefined {
  const stored = readSetting(db, SETTING);
  return stored === undefined ? undefined : (JSON.parse(stored) as PilotCounts);
}

/** `Pilot: 5 records and their parents, 10 events. They cover 3 of 5 stages and 2 of 2 owners.` */
export function pilotText({ records, events, stages, owners }: PilotCounts): string {
  const shown = Object.entries({ stages, owners }).flatMap(([name, { covered, occurring }]) =>
    occurring === 0 ? [] : [`${covered} of ${counted(occurring, name.slice(0, -1))}`],
  );
  const covers = shown.length === 0 ? '' : ` They cover ${enumerated(shown, 'and')}.`;
  return `Pilot: ${counted(records, 'record')} and their parents, ${counted(events, 'event')}.${covers}`;
}

/** Which records of a pilot to look at in the service: every chosen one and its parents, each after its parent. */
export const PILOT_FILE = 'pilot.csv';

const COLUMNS = 'order look_at external_id service_id name events state file line';

/**
 * Writes `pilot.csv`, or beside it if people have made their notes in it. Returns its path, and where it usually is if it is elsewhere.
 * Undefined if the plan is that of another run.
 */
export async function writePilot(
  db: Database,
  output: StateDir,
): Promise<{ readonly path: string; readonly usual: string | undefined } | undefined> {
  if (!readPilot(db)) return undefined;
  const gathered = temporaryName(output.file(PILOT_FILE));
  writeTable(db, gathered, COLUMNS, PILOT);
  const nameOf = (number: number): string => (number === 1 ? PILOT_FILE : `pilot.${number}.csv`);
  const owns = (name: string): boolean => /^pilot(?:\.\d+)?\.csv$/.test(name);
  const directory = { db, root: output.path, path: output.path, owns };
  const [name = PILOT_FILE] = await publishFiles(directory, [{ path: gathered, nameOf }]);
  db.run(`update setting set value = json_set(value, '$.file', ?) where name = ?`, name, SETTING);
  return { path: output.file(name), usual: name === PILOT_FILE ? undefined : output.file(PILOT_FILE) };
}

/** How many records of the pilot are in the service. */
export function countPilotThere(db: Database): number {
  return db.get<{ count: number }>(`select count(service_id) as count from (${PILOT})`)!.count;
}

/** Notes are looked at with the record that they are about. */
const PILOT = `
  with seen as (
    select iif(k.is_note, e.parent_entity, e.entity) as entity, iif(k.is_note, e.parent_id, e.external_id) as external_id,
      min(e.id) as first, group_concat(distinct e.type) as events
    from event e join kind k on k.name = e.entity
    where e.is_chosen = 1 group by 1, 2)
  select row_number() over (order by k.rank, s.first) as "order", s.entity as look_at, s.external_id, s.events, r.file, r.line,
    ${STATE_IN_SQL} as state,
    (select q.service_id from checkpoint.record q where q.entity = s.entity and q.external_id = s.external_id) as service_id,
    (select ${nameInSql('c')} from event c
      where c.entity = s.entity and c.external_id = s.external_id and c.state <> 'duplicate' order by c.id limit 1) as name
  from seen s join kind k on k.name = s.entity join event e on e.id = s.first join row r on r.id = e.record
  order by 1`;
