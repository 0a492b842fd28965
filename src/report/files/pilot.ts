/** What a pilot covers, as the survey and the summary say it. */
import { nameInSql } from '../../kinds/index.ts';
import { counted } from '../words/numbers.ts';
import { temporaryName } from '../../files/private-file.ts';
import type { StateDir } from '../../files/state-dir.ts';
import { SHOWN_STATE } from '../../store/plan-schema.ts';
import type { Database } from '../../store/sqlite.ts';
import { writeTable } from './error-files.ts';
import { publishFiles } from './own-files.ts';

/** The kinds of features that a pilot covers, and what several of one are called. */
const FEATURE_KINDS = {
  source: 'sources',
  entry: 'entries',
  stage: 'stages',
  owner: 'owners',
  omission: 'omissions',
  warning: 'warnings',
  field: 'fields',
} as const;
export type FeatureKind = keyof typeof FEATURE_KINDS;

/** The share of the features of the plan that the records chosen by `--pilot` show. */
export interface PilotCounts {
  /** Records of the exports that were chosen; their parents come in addition. */
  readonly records: number;
  /** Events of these records and of their parents. */
  readonly events: number;
  /** By kind: how many features the chosen records have, of those that occur. */
  readonly features: Readonly<Partial<Record<FeatureKind, { readonly covered: number; readonly occurring: number }>>>;
}

/** A feature in words: `stage Sales / Won`, `phone_number left out: bad_phone`. */
export function featureText({ kind, name }: { readonly kind: FeatureKind; readonly name: string }): string {
  return kind === 'entry' || kind === 'omission' ? name : `${kind} ${name}`;
}

/** The features in words; fields, which are many, come last and together. */
export function featureTexts(features: readonly { readonly kind: FeatureKind; readonly name: string }[]): string[] {
  const kinds = Object.keys(FEATURE_KINDS);
  const others = features.filter(({ kind }) => kind !== 'field');
  const fields = features.filter(({ kind }) => kind === 'field').map(({ name }) => name);
  return [
    ...others.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind)).map(featureText),
    ...(fields.length === 0 ? [] : [`fields ${fields.join(', ')}`]),
  ];
}

/** One line about covered features and, if there are any, one about features that are not covered. */
export function pilotLines({ records, events, features }: PilotCounts, missed: readonly string[]): string[] {
  const kinds = (Object.keys(FEATURE_KINDS) as FeatureKind[]).flatMap((kind) => {
    const { covered, occurring } = features[kind] ?? { covered: 0, occurring: 0 };
    return occurring === 0 ? [] : [`${covered} of ${occurring} ${occurring === 1 ? kind : FEATURE_KINDS[kind]}`];
  });
  const shown = missed.slice(0, MOST_SHOWN);
  const more = missed.length - shown.length;
  return [
    `pilot of ${counted(records, 'record')}, ${counted(events, 'event')} with their parents: ${kinds.join(', ')}`,
    ...(shown.length === 0
      ? []
      : [`in the input but not in the pilot: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`]),
  ];
}

const MOST_SHOWN = 20;

/** Which records of a pilot to look at in the service, in which order, and what each of them shows. */
export const PILOT_FILE = 'pilot.csv';

const COLUMNS = 'order look_at external_id service_id name events state shows file line';

/** The `pilot.csv` that a run wrote. */
export interface WrittenPilot {
  readonly path: string;
  /** Where it usually is, if it is elsewhere: people have changed that file. */
  readonly usual: string | undefined;
  /** How many of its records are in the service. */
  readonly toLookAt: number;
}

/**
 * Writes `pilot.csv`, or beside it if people have made their notes in it: the records that `--pilot` chose, in the order in
 * which to look at them. Undefined if the plan is that of another run.
 */
export async function writePilot(db: Database, output: StateDir): Promise<WrittenPilot | undefined> {
  if (!db.get('select 1 from pilot limit 1')) return undefined;
  const gathered = temporaryName(output.file(PILOT_FILE));
  let toLookAt = 0;
  writeTable(db, gathered, COLUMNS, PILOT, { seen: (row) => (toLookAt += Number(row.service_id !== null)) });
  const nameOf = (number: number): string => (number === 1 ? PILOT_FILE : `pilot.${number}.csv`);
  const owns = (name: string): boolean => /^pilot(?:\.\d+)?\.csv$/.test(name);
  const directory = { db, root: output.path, path: output.path, owns };
  const [name = PILOT_FILE] = await publishFiles(directory, [{ path: gathered, nameOf }]);
  return { path: output.file(name), usual: name === PILOT_FILE ? undefined : output.file(PILOT_FILE), toLookAt };
}

const PILOT = `
    select p.place as "order", p.shows, seen.entity as look_at, seen.external_id, r.file, r.line,
      ${SHOWN_STATE} as state,
      (select q.service_id from checkpoint.record q
        where q.entity = seen.entity and q.external_id = seen.external_id) as service_id,
      (select ${nameInSql('c')} from event c
        where c.entity = seen.entity and c.external_id = seen.external_id and c.state <> 'duplicate'
        order by c.id limit 1) as name,
      (select group_concat(distinct c.type) from event c where c.record = e.record) as events
    from pilot p
      join (select id, iif(k.is_note, parent_entity, entity) as entity, iif(k.is_note, parent_id, external_id) as external_id
        from event join kind k on k.name = entity) seen on seen.id = p.event
      join event e on e.id = p.event join row r on r.id = e.record
    order by p.place`;
