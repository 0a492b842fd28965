/** What a survey or a run has to say: collected once, by one select; every text and page prints it, and cuts it as it likes. */
import { placedFile } from '../../store/plan-schema.ts';
import { PERSON } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';
import { BARE } from './profile.ts';
import type { Database } from '../../store/sqlite.ts';

type Severity = 'error' | 'warning' | 'omission';

/** Errors or warnings with one code, or values of one field that were left out for one reason. */
export interface Finding {
  readonly severity: Severity;
  readonly kind: string;
  readonly code: string;
  /** What was left out; otherwise empty. */
  readonly field: string;
  readonly count: number;
  /** Of all events of these types, from 0 to 1; null where it is about something else than events. */
  readonly share: number | null;
  /** Of warnings: how many of them the last survey of the same mapping gave already. */
  readonly repeated: number;
  /** The number of findings by event type; findings about whole records and about the input have an empty name. */
  readonly types: Readonly<Record<string, number>>;
  /** A few of the first ones that are new. */
  readonly examples: readonly FindingExample[];
}

interface FindingExample {
  /** Empty, and 0, where the input as a whole is meant. */
  readonly file: string;
  readonly line: number;
  readonly record: number;
  /** Null for records that became no event. */
  readonly type: EventType | null;
  readonly externalId: string | null;
  readonly field: string | null;
  /** Contains field values; so does the hint. */
  readonly message: string;
  readonly hint: string | null;
  /** The value that was left out. */
  readonly original: string | null;
  /** Of an event that the service refused: its data, as JSON. */
  readonly data: string | null;
}

const MOST_EXAMPLES = 5;

/** The most frequent first. */
export function readFindings(db: Database): readonly Finding[] {
  const all = new Map(
    db
      .all<{ type: string; count: number }>('select type, count(*) as count from event group by type')
      .map(({ type, count }) => [type, count]),
  );
  const groups = db.all<
    Omit<Finding, 'share' | 'types' | 'examples'> & { readonly types: string; readonly first: number }
  >(`
    with found as (
      select p.severity, p.kind, p.code, '' as field, coalesce(e.type, '') as type, sum(p.count) as count,
        sum(p.is_repeated * p.count) as repeated, min(p.id) as first, min(p.id) filter (where p.is_repeated = 0) as first_new
      from problem p left join event e on e.id = p.event group by 1, 2, 3, 5
      union all
      select 'omission', 'map', o.code, o.field, coalesce(e.type, ''), count(*), 0, min(o.id), null
      from omission o join event e on e.id = o.event group by 3, 4, 5)
    select severity, kind, code, field, sum(count) as count, sum(repeated) as repeated, json_group_object(type, count) as types,
      coalesce(min(first_new), min(first)) as first
    from found group by severity, kind, code, field order by 5 desc, severity, code, field`);
  return groups.map(({ types: json, first, ...group }) => {
    const types = JSON.parse(json) as Finding['types'];
    return {
      ...group,
      types,
      share: shareOf(group, Object.keys(types), all),
      examples: group.severity === 'omission' ? omitted(db, group, first) : problems(db, group, first),
    };
  });
}

/** An event may have more than one finding of a kind. A warning about the input as a whole is about one type of events, or about the largest. */
function shareOf(
  { code, count }: Group & { count: number },
  types: readonly string[],
  all: ReadonlyMap<string, number>,
) {
  const usual = code.startsWith('shared_') ? `${PERSON}/created` : BARE[code]?.type;
  const of = (type: string): number => all.get(type || (usual ?? '')) ?? Math.max(0, ...all.values());
  const events = types.reduce((sum, type) => sum + of(type), 0);
  return events === 0 ? null : Math.min(1, count / events);
}

export function ofSeverity(findings: readonly Finding[], severity: Severity): readonly Finding[] {
  return findings.filter((each) => each.severity === severity);
}

/** Their number. */
export function countFindings(findings: readonly Pick<Finding, 'count'>[]): number {
  return findings.reduce((sum, { count }) => sum + count, 0);
}

/** By code: as `--json` has them. */
export function countsByCode(findings: readonly Finding[], severity: Severity): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { code, count } of ofSeverity(findings, severity)) counts[code] = (counts[code] ?? 0) + count;
  return counts;
}

type Group = Pick<Finding, 'severity' | 'kind' | 'code' | 'field'>;

const place = (of: 'p' | 'o'): string =>
  `coalesce(${placedFile(of)}, '') as file, coalesce(r.line, 0) as line, coalesce(r.record, 0) as record, e.type`;

function problems(db: Database, { severity, kind, code }: Group, first: number): FindingExample[] {
  return db.all(
    `select ${place('p')}, e.external_id as externalId, p.field, p.message, p.hint, null as original,
       iif(p.kind = 'send', e.data, null) as data
     from problem p left join event e on e.id = p.event
       left join row r on r.id = coalesce(p.record, e.record)
     where p.id >= ? and p.severity = ? and p.kind = ? and p.code = ? order by p.id limit ${MOST_EXAMPLES}`,
    first,
    severity,
    kind,
    code,
  );
}

function omitted(db: Database, { code, field }: Group, first: number): FindingExample[] {
  return db.all(
    `select ${place('o')}, e.external_id as externalId, o.field, o.reason as message,
       null as hint, o.original, null as data
     from omission o join event e on e.id = o.event join row r on r.id = o.record
     where o.id >= ? and o.field = ? and o.code = ? order by o.id limit ${MOST_EXAMPLES}`,
    first,
    field,
    code,
  );
}

/** Of fewer, and of a smaller share, the count says enough. */
const LEAST_SHARED = 10;
const LEAST_PERCENT = 10;

/** ` (12 %)`, of a finding that concerns many of its events. */
export function shareText({ count, share }: Finding): string {
  const percent = Math.floor((share ?? 0) * 100);
  return count < LEAST_SHARED || percent < LEAST_PERCENT ? '' : ` (${percent} %)`;
}
