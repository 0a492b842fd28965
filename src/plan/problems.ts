import type { Issue, Omission } from '../model.ts';
import { hintFor } from '../report/words/words.ts';
import type { Database } from '../store/sqlite.ts';

/** The subject of a problem: an event, a record without one, or (neither) the input as a whole. */
export interface About {
  readonly event?: number | undefined;
  readonly record?: number | undefined;
  /** Of a warning about the input as a whole: how many values it is about; 1 if absent. */
  readonly count?: number | undefined;
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
export function addProblem(
  db: Database,
  { event, record, count = 1, cell }: About,
  issue: Issue,
  answered = NOT_SENT,
): void {
  const { severity, kind, code, field, message } = issue;
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
  omissions: readonly Omission[],
  cellOf: (omission: Omission) => string | undefined = () => undefined,
): void {
  for (const omission of omissions) {
    const { field, original, code, reason } = omission;
    db.run(
      'insert into omission (event, record, field, original, cell, code, reason) values (?, ?, ?, ?, ?, ?, ?)',
      event,
      record,
      field,
      original.toWellFormed(),
      cellOf(omission) ?? null,
      code,
      reason.toWellFormed(),
    );
  }
}
