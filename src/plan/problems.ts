import { hintFor } from '../report/words/words.ts';
import type { Database } from '../store/sqlite.ts';
import type { Problem } from '../problem.ts';

/** The subject of a problem: an event, a record without one, or (neither) the input as a whole. */
export interface About {
  readonly event?: number | undefined;
  readonly record?: number | undefined;
  /** The letter of the column that the field reads, of a record in a sheet. */
  readonly cell?: string | undefined;
}

/** How a request ended that was not accepted. */
interface Answered {
  readonly httpStatus?: number | undefined;
  readonly attempts: number;
}

const NOT_SENT: Answered = { attempts: 0 };

/** Adds one error or warning to the plan, with the hint of its code unless it has one of its own. */
export function addProblem(db: Database, { event, record, cell }: About, issue: Problem, answered = NOT_SENT): void {
  const { severity, kind, code, count = 1, field, message } = issue;
  db.run(
    `insert into problem (event, record, kind, code, severity, count, field, cell, message, hint, http_status, attempts, at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    event ?? null,
    record ?? null,
    kind,
    code,
    severity,
    count,
    field ?? null,
    cell ?? null,
    message.toWellFormed(),
    hintFor(issue)?.toWellFormed() ?? null,
    answered.httpStatus ?? null,
    answered.attempts,
    new Date().toISOString(),
  );
}

/** Adds values that are left out of an event. */
export function addOmissions(
  db: Database,
  { event, record }: { readonly event: number; readonly record: number },
  omissions: readonly Problem[],
  cellOf: (omission: Problem) => string | undefined = () => undefined,
): void {
  for (const omission of omissions) {
    const { field = '', original = '', code, message } = omission;
    db.run(
      'insert into omission (event, record, field, original, cell, code, reason) values (?, ?, ?, ?, ?, ?, ?)',
      event,
      record,
      field,
      original.toWellFormed(),
      cellOf(omission) ?? null,
      code,
      message.toWellFormed(),
    );
  }
}
