import { UserError } from './errors.ts';
import { oneLine } from './report/words/visible.ts';

/** A place in a file that the user wrote; line and column count from 1. */
export interface Location {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Without a line where the whole file is meant. */
type Where = Pick<Location, 'file'> & { readonly [Part in 'line' | 'column']?: number | undefined };

/** The stage at which an event (or record) failed. */
export type ProblemKind = 'read' | 'map' | 'resolve' | 'blocked' | 'send';

export interface ProblemParts {
  readonly severity?: 'error' | 'warning';
  readonly kind?: ProblemKind;
  /** snake_case, stable: people filter on it. */
  readonly code: string;
  /** Names the offending value, shortened; ends without a full stop. */
  readonly message: string;
  /** How to fix it, in place of the hint of its code: "did you mean `Email`?" */
  readonly hint?: string | undefined;
  readonly at?: Where | undefined;
  /** The field of the event's data, `custom_params.origin`; absent if it concerns the whole record. */
  readonly field?: string | undefined;
  /** The position of the column that has the value, where the field reads several. */
  readonly column?: number | undefined;
  /** The value before any transform. */
  readonly original?: string | undefined;
  /** Of a warning about the input as a whole: how many values it is about; 1 if absent. */
  readonly count?: number | undefined;
}

/**
 * What is wrong, or worth knowing: in a file of the user (then it has a place), in a source as a whole, or in a record. A value that cannot
 * be read is a problem in place of the value: returned, never thrown.
 */
export class Problem implements ProblemParts {
  readonly severity: 'error' | 'warning';
  readonly kind: ProblemKind;
  readonly code: string;
  readonly field: string | undefined;
  readonly message: string;
  readonly hint: string | undefined;
  column: number | undefined;
  original: string | undefined;
  readonly at: Where | undefined;
  readonly count: number | undefined;

  /** An error of the mapping, unless it says otherwise. */
  constructor(parts: ProblemParts) {
    const { severity = 'error', kind = 'map', code, message, hint, at, field, column, original, count } = parts;
    this.severity = severity;
    this.kind = kind;
    this.code = code;
    this.field = field;
    this.message = message;
    this.hint = hint;
    this.column = column;
    this.original = original;
    this.at = at;
    this.count = count;
  }

  with(parts: Partial<ProblemParts>): Problem {
    return new Problem({ ...this, ...parts });
  }

  /** `line`: absent where the whole file is meant. */
  in(file: string, line?: number): Problem {
    return this.with({ at: { file, line } });
  }
}

/** A mistake in a file of the user. */
export function mistake(code: string, message: string, at: Location, hint?: string): Problem {
  return new Problem({ code, message, at, hint });
}

/** Where a line begins. */
export function lineAt({ file, line }: { readonly file: string; readonly line: number }): Location {
  return { file, line, column: 1 };
}

/** `file:line:column`, as far as it is known. */
export function locationText({ file, line, column }: Where): string {
  return [file, line, column].filter((part) => part !== undefined).join(':');
}

/** All problems at once; the message lists each as `file:line:column message`. Exit code 2. */
export class ProblemsError extends UserError {
  override readonly name = 'ProblemsError';
  readonly problems: readonly Problem[];

  constructor(summary: string, problems: readonly Problem[], sources: ReadonlyMap<string, string> = new Map()) {
    super([summary, ...problems.map((problem) => formatProblem(problem, sources))].join('\n\n'));
    this.problems = problems;
  }
}

/** `file:line:column severity: message [code]`, the lines around it if `sources` has the file's text, and the hint. */
function formatProblem(problem: Problem, sources: ReadonlyMap<string, string> = new Map()): string {
  const { at } = problem;
  const where = at ? `${locationText(at)} ` : '';
  const text = at && sources.get(at.file);
  return [
    `${where}${problem.severity}: ${oneLine(problem.message)} [${problem.code}]`,
    ...(at && text !== undefined ? [codeFrame(text, at)] : []),
    ...(problem.hint ? [`  hint: ${oneLine(problem.hint)}`] : []),
  ].join('\n');
}

/** The line named by `at` with a caret under the column, and one line of context on either side. */
function codeFrame(text: string, { line = 1, column = 1 }: Where): string {
  const lines = text.split(/\r\n|\n|\r/);
  const first = Math.max(1, line - 1);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = first; number <= last; number += 1) {
    frame.push(`  ${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${lines[number - 1] ?? ''}`);
    if (number === line) frame.push(`    ${' '.repeat(width)} | ${' '.repeat(Math.max(0, column - 1))}^`);
  }
  return frame.join('\n');
}

/** The candidates most similar to `name`, best first; none if no candidate is similar enough. */
export function nearest(name: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = fold(name);
  const scored: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const other = fold(candidate);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, other.length) / 3));
    const contained = wanted.length >= 3 && other.length >= 3 && (other.includes(wanted) || wanted.includes(other));
    // The distance is at least the difference in length: of a cell of megabytes it is not computed.
    if (!contained && Math.abs(wanted.length - other.length) > allowed) continue;
    const distance = contained ? 1 : editDistance(wanted, other);
    if (distance <= allowed) scored.push({ candidate, distance });
  }
  return scored
    .sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate, 'en'))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** "did you mean `a`, `b` or `c`?", or undefined if no candidate is similar. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  return meant(nearest(name, candidates));
}

/** "did you mean `a`, `b` or `c`?", or undefined if there are none. */
export function meant(names: readonly string[]): string | undefined {
  const last = names.at(-1);
  if (last === undefined) return undefined;
  return `did you mean ${names.length > 1 ? `${quoted(names.slice(0, -1))} or ` : ''}${quoted([last])}?`;
}

/** `` `a`, `b` `` */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function fold(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, ' ')
    .trim();
}

/** Optimal string alignment distance: swapping two adjacent characters counts as one edit. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1);
      current.push(best);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length]!;
}
