/** The problems of a plan, counted by their codes. */
import type { Issue, Place } from '../model.ts';
import type { Database } from '../store/sqlite.ts';

/** The first problem with a code, and the first few places with the same message, thus with the same value. */
export interface CodeExample {
  readonly issue: Issue;
  readonly places: readonly Place[];
}

/** What was found, by code. No code is used for both errors and warnings. */
export interface FoundCodes {
  readonly errors: Readonly<Record<string, number>>;
  readonly warnings: Readonly<Record<string, number>>;
  /** Of the warnings, those that the last survey of the same mapping gave already. */
  readonly told: Readonly<Record<string, number>>;
  readonly examples: ReadonlyMap<string, CodeExample>;
}

const MOST_PLACES = 3;

export function foundCodes(db: Database): FoundCodes {
  const codes = db.all<{ code: string; severity: 'error' | 'warning'; count: number; told: number; first: number }>(
    `select code, severity, sum(count) as count, sum(was_told * count) as told,
      ifnull(min(id) filter (where was_told = 0), min(id)) as first
    from problem group by code, severity order by first`,
  );
  const countsOf = (wanted: 'error' | 'warning'): Record<string, number> =>
    Object.fromEntries(codes.filter(({ severity }) => severity === wanted).map(({ code, count }) => [code, count]));
  return {
    errors: countsOf('error'),
    warnings: countsOf('warning'),
    told: Object.fromEntries(codes.filter(({ told }) => told > 0).map(({ code, told }) => [code, told])),
    examples: new Map(codes.map(({ code, first }) => [code, exampleOf(db, first)])),
  };
}

function exampleOf(db: Database, first: number): CodeExample {
  const row = db.get<Record<keyof Issue, string | null>>(
    'select severity, kind, code, field, message, hint from problem where id = ?',
    first,
  )!;
  const issue = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as Issue;
  const places = db.all<Place>(
    `select s.name as source, f.path as file, r.line, r.number as record
     from problem p join record r on r.id = p.record join file f on f.id = r.file join source s on s.id = f.source
     where p.id >= ? and p.code = ? and p.message = ? order by p.id limit ?`,
    first,
    issue.code,
    issue.message.toWellFormed(),
    MOST_PLACES,
  );
  return { issue, places };
}
