import { hintFor } from '../report/words/words.ts';
import type { Database } from '../store/sqlite.ts';
import type { State } from '../model.ts';
import type { Problem } from '../problem.ts';
import { setState } from './events.ts';

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
export function addProblem(db: Database, about: About, issue: Problem, answered = NOT_SENT): void {
  const { severity, kind, code, count = 1, field } = issue;
  const texts = { message: issue.message.toWellFormed(), hint: hintFor(issue)?.toWellFormed() };
  const { httpStatus: http_status, attempts } = answered;
  const at = new Date().toISOString();
  db.add('problem', { ...about, kind, code, severity, count, field, ...texts, http_status, attempts, at });
}

/** Nothing is sent of an event, since this is wrong with it. */
export function rejectEvent(
  db: Database,
  { id, record }: { readonly id: number; readonly record: number },
  issue: Problem,
  state: State = 'invalid',
): void {
  setState(db, id, state, issue.code);
  addProblem(db, { event: id, record }, issue);
}

/** Adds values that are left out of an event. */
export function addOmissions(
  db: Database,
  { event, record }: { readonly event: number; readonly record: number },
  omissions: readonly Problem[],
  cellOf: (omission: Problem) => string | undefined = () => undefined,
): void {
  for (const omission of omissions) {
    const { field = '', code } = omission;
    const texts = { original: (omission.original ?? '').toWellFormed(), reason: omission.message.toWellFormed() };
    db.add('omission', { event, record, field, code, ...texts, cell: cellOf(omission) });
  }
}
