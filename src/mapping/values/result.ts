/** What a value of the mapping is for one record, the record that is being mapped, and the form of values in messages. */
import { cellText, NumberText, type JsonValue } from '../../json.ts';
import type { Place, Row } from '../../model.ts';
import type { Problem } from '../../problem.ts';
import { shortened } from '../../report/words/visible.ts';

/** Undefined is "no value"; within a list, null is, which preserves positions. */
export type Result = JsonValue | undefined | Problem;

/** Records the value that caused an error, unless a more specific one is known already. */
export function withOriginal(error: Problem, original: JsonValue | undefined): Problem {
  error.original ??= cellText(original);
  return error;
}

/** A value in a message: in backticks, on one line, at most 60 characters. */
export function valueText(value: JsonValue | undefined): string {
  return `\`${shortened(cellText(value).replace(/\s+/g, ' '), 60)}\``;
}

/** The text of a scalar; numbers keep all their digits. Undefined for lists, objects and null. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value instanceof NumberText ? value.text : undefined;
}

const NO_ISSUES: readonly Problem[] = [];
const NO_OMISSIONS: readonly Problem[] = [];
const NO_PLACE: Place = { source: '', file: '', line: 0, record: 0 };

/** A value of the mapping as a function of the current record. */
export type Evaluate = (row: RowContext) => Result;

/** No value, of any record: what the export has no column or no file for. Compared by identity. */
export const ABSENT: Evaluate = () => undefined;

/** The record being mapped, with its issues and omissions. One object serves all records of an entry. */
export class RowContext {
  place = NO_PLACE;
  /** The cells of a table row; empty for trees. */
  cells: readonly string[] = [];
  /** Of a sheet: as in `RecordText`. */
  decimals: readonly number[] | undefined = undefined;
  /** The record of a tree. */
  root: JsonValue | undefined = undefined;
  /** The element within `each`, otherwise the same as `root`. */
  element: JsonValue | undefined = undefined;
  /** What has the list of the element: the element of a list around it, or the record. */
  holder: JsonValue | undefined = undefined;
  /** The field being mapped, named in issues and omissions. */
  field = '';
  issues: readonly Problem[] = NO_ISSUES;
  omissions: readonly Problem[] = NO_OMISSIONS;

  begin(record: Row): void {
    this.place = record.place;
    if (Array.isArray(record.raw)) {
      this.cells = record.raw as readonly string[];
      this.decimals = record.decimals;
      this.element = undefined;
      this.holder = undefined;
    } else {
      this.root = record.raw;
      this.element = this.root;
      this.holder = this.root;
    }
    this.clear();
  }

  /** Clears issues and omissions for the next draft. */
  clear(): void {
    this.issues = NO_ISSUES;
    this.omissions = NO_OMISSIONS;
  }

  /** Adds an issue about the current field. */
  report(problem: Problem): void {
    this.issues = [...this.issues, this.#ofField(problem)];
  }

  /** Leaves the value of the current field out. */
  omit(problem: Problem): void {
    this.omissions = [...this.omissions, this.#ofField(problem)];
  }

  #ofField(problem: Problem): Problem {
    return this.field === '' ? problem : problem.with({ field: this.field });
  }
}
