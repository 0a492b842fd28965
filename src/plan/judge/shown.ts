/** What the records of the plan show, in words of the service: for `--pilot`. */
import type { JsonObject } from '../../json.ts';
import { entityOf, isUpdate } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';
import { BARE, BARE_CODES } from '../../report/files/profile.ts';
import type { FeatureKind } from '../../report/files/pilot.ts';
import { namesById, type Account } from '../../service/account.ts';
import type { Database } from '../../store/sqlite.ts';

/** Something that a record shows, such as a stage; one object for each. */
export interface Feature {
  readonly kind: FeatureKind;
  readonly name: string;
}

/** A record of the plan: its events among those that were read, and what they show. */
export interface ShownRecord {
  readonly record: number;
  readonly events: number[];
  readonly features: Set<Feature>;
}

interface JudgedRow {
  readonly id: number;
  readonly record: number;
  readonly type: EventType;
  readonly entity: string;
  readonly entry: number;
  readonly source: string;
  readonly data: string;
  /** JSON: pairs of field (null: the whole record) and code. */
  readonly omissions: string;
  readonly warnings: string;
  readonly noticed: string | null;
  /** JSON: codes, or null. */
  readonly counted: string;
}

/** Reads what the events of the plan show. */
export class FeatureReader {
  readonly #db: Database;
  readonly #names: ReadonlyMap<string, string>;
  readonly #known = new Map<string, Feature>();
  /** By number: what an entry makes, with its place in the mapping where several make the same. */
  readonly #entries: ReadonlyMap<number, string>;
  /** Of the warnings that the plan only counts: those about the event `e`, as a JSON list in SQL; null for each other one. */
  readonly #counted: string;

  constructor(db: Database, account: Account | undefined) {
    this.#db = db;
    this.#names = namesById(account);
    const said = db.all<{ code: string }>('select distinct code from problem where event is null and record is null');
    const lacking = BARE_CODES.filter((code) => said.some((each) => each.code === code)).map((code) => {
      const { type, lacks } = BARE[code]!;
      return `iif(e.type = '${type}' and (${lacks}), '${code}', null)`;
    });
    this.#counted = `json_array(${[`iif(e.is_derived = 1, 'comment_without_id', null)`, ...lacking].join(', ')})`;
    const entries = db.all<{ entry: number; type: EventType; same: number }>(`
      select entry, type, count(*) over (partition by type) as same from (select distinct entry, type from event)`);
    this.#entries = new Map(
      entries.map(({ entry, type, same }) => [
        entry,
        `${isUpdate(type) ? 'change of a' : 'new'} ${entityOf(type)}${same > 1 ? ` (entry ${entry + 1})` : ''}`,
      ]),
    );
  }

  /** The records of the events that a condition with one list of values selects, in the order of reading. */
  *records(condition: string, values: readonly (string | number)[]): Generator<ShownRecord, void, undefined> {
    let current: ShownRecord | undefined;
    for (const row of this.#db.each<JudgedRow>(
      `with noticed as materialized (
         select record, json_group_array(json_array(field, code)) as list from problem
         where event is null and record is not null and severity = 'warning' group by record)
       select e.id, e.record, e.type, e.entity, e.entry, r.source, e.data, n.list as noticed,
         (select json_group_array(json_array(o.field, o.code)) from omission o where o.event = e.id) as omissions,
         (select json_group_array(json_array(p.field, p.code)) from problem p
           where p.event = e.id and p.severity = 'warning') as warnings,
         ${this.#counted} as counted
       from event e join row r on r.id = e.record
         left join noticed n on n.record = e.record
       where e.data is not null and ${condition} order by e.id`,
      JSON.stringify(values),
    )) {
      if (!current || current.record !== row.record) {
        if (current) yield current;
        current = { record: row.record, events: [], features: new Set() };
      }
      current.events.push(row.id);
      for (const feature of this.#featuresOf(row)) current.features.add(feature);
    }
    if (current) yield current;
  }

  *#featuresOf(row: JudgedRow): Generator<Feature, void, undefined> {
    const data = JSON.parse(row.data) as JsonObject;
    yield this.#feature('source', row.source);
    yield this.#feature('entry', this.#entries.get(row.entry)!);
    for (const kind of ['stage', 'owner'] as const) {
      const id = data[`${kind}_id`] ?? data[`${kind}_name`];
      if (typeof id === 'string') yield this.#feature(kind, this.#names.get(id.toLowerCase()) ?? id);
    }
    for (const field of fieldsOf(data)) yield this.#feature('field', `${row.entity} ${field}`);
    for (const [field, code] of pairsIn(row.omissions)) yield this.#feature('omission', `${field} left out: ${code}`);
    for (const [field, code] of [...pairsIn(row.warnings), ...pairsIn(row.noticed ?? '[]')])
      yield this.#feature('warning', field === null ? code : `${code} of ${field}`);
    for (const code of JSON.parse(row.counted) as (string | null)[])
      if (code !== null) yield this.#feature('warning', code);
  }

  #feature(kind: FeatureKind, name: string): Feature {
    const key = `${kind} ${name}`;
    let feature = this.#known.get(key);
    if (!feature) this.#known.set(key, (feature = { kind, name }));
    return feature;
  }
}

function* fieldsOf(data: JsonObject): Generator<string, void, undefined> {
  for (const [field, value] of Object.entries(data)) {
    if (!field.startsWith('custom_')) yield field;
    else for (const custom of Object.keys(value as JsonObject)) yield `${field}.${custom}`;
  }
}

function pairsIn(json: string): [field: string | null, code: string][] {
  return JSON.parse(json) as [string | null, string][];
}
