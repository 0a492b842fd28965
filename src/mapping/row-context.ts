import type { Issue, Omission, Place, Row } from '../model.ts';
import { canonicalJson, type JsonValue } from '../json.ts';
import { ValueError, type Result } from './result.ts';

const NO_ISSUES: readonly Issue[] = [];
const NO_OMISSIONS: readonly Omission[] = [];
const NO_PLACE: Place = { source: '', file: '', line: 0, record: 0 };

/** A value of the mapping as a function of the current record. */
export type Evaluate = (row: RowContext) => Result;

/** Asynchronous work (JSONata evaluates in promises). */
export interface Deferred {
  evaluate(input: JsonValue | undefined, row: RowContext): Promise<Result>;
}

const WAITING = new ValueError('waiting', 'waiting for an expression');

/** The record being mapped, with its issues and omissions. One object serves all records of an entry. */
export class RowContext {
  place = NO_PLACE;
  /** The cells of a table row; empty for trees. */
  cells: readonly string[] = [];
  /** The record of a tree. */
  root: JsonValue | undefined = undefined;
  /** The element within `each`, otherwise the same as `root`. */
  element: JsonValue | undefined = undefined;
  /** The field being mapped, named in issues and omissions. */
  field = '';
  issues: readonly Issue[] = NO_ISSUES;
  omissions: readonly Omission[] = NO_OMISSIONS;
  #answers: Map<Deferred, Map<string, Result>> | undefined;
  #waiting: (() => Promise<void>)[] | undefined;

  begin(record: Row): void {
    this.place = record.place;
    if (Array.isArray(record.raw)) {
      this.cells = record.raw as readonly string[];
      this.element = undefined;
    } else {
      this.root = record.raw;
      this.element = this.root;
    }
    this.clear();
  }

  /** Clears issues and omissions for the next draft. */
  clear(): void {
    this.issues = NO_ISSUES;
    this.omissions = NO_OMISSIONS;
  }

  report(severity: Issue['severity'], code: string, message: string, hint?: string): void {
    const issue: Issue = {
      severity,
      kind: 'map',
      code,
      ...(this.field !== '' && { field: this.field }),
      message,
      ...(hint !== undefined && { hint }),
    };
    this.issues = this.issues.length === 0 ? [issue] : [...this.issues, issue];
  }

  fail(error: ValueError): void {
    this.report('error', error.code, error.message, error.hint);
  }

  omit(error: ValueError): void {
    const { code, original = '', message: reason } = error;
    const omission: Omission = { field: this.field, original, code, reason };
    this.omissions = this.omissions.length === 0 ? [omission] : [...this.omissions, omission];
  }

  /** The result if an earlier round has produced it, otherwise an error: the record is then mapped again. */
  defer(work: Deferred, input: JsonValue | undefined): Result {
    const key = input === undefined ? '' : canonicalJson(input);
    const known = this.#answers?.get(work);
    if (known?.has(key)) return known.get(key);
    (this.#waiting ??= []).push(async () => {
      const result = await work.evaluate(input, this);
      this.#answers ??= new Map();
      const answers = this.#answers.get(work) ?? new Map<string, Result>();
      this.#answers.set(work, answers.set(key, result));
    });
    return WAITING;
  }

  get waits(): boolean {
    return this.#waiting !== undefined;
  }

  /** Runs the work deferred since the last call. */
  async settle(): Promise<void> {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const work of waiting) await work();
  }

  /** Drops deferred work and its results. */
  forgetAnswers(): void {
    this.#answers = undefined;
    this.#waiting = undefined;
  }
}
