import { CUSTOM_FIELDS, SENT_AS } from '../kinds/index.ts';
import type { EventType } from '../model.ts';
import type { Tolerance } from '../settings/run-settings.ts';
import type { Database } from '../store/sqlite.ts';

/** How many values were left out: by type, field and the code of the reason. */
export type OmittedCounts = Readonly<Record<EventType, Readonly<Record<string, Readonly<Record<string, number>>>>>>;

/** A field of which more values would be left out than `--max-omitted` allows, with the most frequent reason. */
export interface ExcessOmission {
  readonly type: EventType;
  readonly field: string;
  readonly code: string;
  /** Values left out for this reason. */
  readonly count: number;
  /** Events that would be sent without a value of the field, and events that have one. */
  readonly omitted: number;
  readonly of: number;
}

/** A percentage of fewer values than these says nothing about the mapping. */
const FEWEST = 10;

/** Values that decide about an event, but are not part of it. */
const NOT_SENT: readonly string[] = ['', 'each', 'stage_pipeline'];

export function countOmitted(db: Database): OmittedCounts {
  const counts: Record<EventType, Record<string, Record<string, number>>> = {};
  for (const { type, field, code, count } of db.all<{ type: EventType; field: string; code: string; count: number }>(
    `select e.type, o.field, o.code, count(*) as count from omission o join event e on e.id = o.event group by 1, 2, 3`,
  ))
    ((counts[type] ??= {})[field] ??= {})[code] = count;
  return counts;
}

/** The values that the mapping left out of events. To be made when the input has been read, and nothing has been judged. */
export class OmittedValues {
  readonly #lost: readonly ExcessOmission[];

  constructor(db: Database) {
    this.#lost = Object.entries(countOmitted(db)).flatMap(([type, fields]) =>
      Object.keys(fields).flatMap((field) => lostValues(db, type as EventType, field)),
    );
  }

  /** The fields of which more values would be left out than `allowed`. */
  excess(allowed: Tolerance): ExcessOmission[] {
    return this.#lost
      .filter(({ omitted, of }) =>
        'count' in allowed ? omitted > allowed.count : omitted >= FEWEST && omitted * 100 > of * allowed.percent,
      )
      .sort((a, b) => b.omitted - a.omitted);
  }
}

/** The events that go out without a value of this field, because it was left out; none if there are no such events. */
function lostValues(db: Database, type: EventType, field: string): ExcessOmission[] {
  if (NOT_SENT.includes(field)) return [];
  const value = `iif(? = 'occurred_at', e.occurred_at, coalesce(json_type(e.data, ?), json_type(e.data, ?)))`;
  const values = [field, pathOf(field), pathOf(SENT_AS[field] ?? field)];
  const reasons = db.all<{ code: string; count: number }>(
    `select code, count(*) as count from (
       select o.code, min(o.id) from omission o join event e on e.id = o.event
       where e.type = ? and o.field = ? and e.data is not null and ${value} is null group by o.event)
     group by code order by count desc`,
    type,
    field,
    ...values,
  );
  const [first] = reasons;
  if (!first) return [];
  const { sent } = db.get<{ sent: number }>(
    `select count(*) as sent from event e where e.type = ? and e.data is not null and ${value} is not null`,
    type,
    ...values,
  )!;
  const omitted = reasons.reduce((sum, { count }) => sum + count, 0);
  return [{ type, field, omitted, of: omitted + sent, ...first }];
}

/** Where the data of an event has a field; custom fields have names of any kind. */
function pathOf(field: string): string {
  const outer = CUSTOM_FIELDS.find((custom) => field.startsWith(`${custom}.`));
  return outer === undefined ? `$.${field}` : `$.${outer}.${JSON.stringify(field.slice(outer.length + 1))}`;
}
