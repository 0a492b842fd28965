import { EXIT } from '../errors.ts';
import type { Halt } from '../halt.ts';
import { numberText } from '../terminal/numbers.ts';

/** Counts the rejections of a run, and stops it if there are too many. */
export class Rejections {
  readonly #options: { readonly halt: Halt; readonly maxRejections: number; readonly maxRejectionsInARow: number };
  #count = 0;
  #inARow = { code: '', count: 0 };

  /** `maxRejectionsInARow`: with the same code; 0 = no limit. */
  constructor(options: { halt: Halt; maxRejections: number; maxRejectionsInARow: number }) {
    this.#options = options;
  }

  /** An event was acknowledged. */
  interrupt(): void {
    this.#inARow = { code: '', count: 0 };
  }

  add(code: string): void {
    const { halt, maxRejections, maxRejectionsInARow } = this.#options;
    this.#count += 1;
    this.#inARow = { code, count: this.#inARow.code === code ? this.#inARow.count + 1 : 1 };
    if (maxRejectionsInARow > 0 && this.#inARow.count >= maxRejectionsInARow) {
      halt.request({
        code: 'rejections_in_a_row',
        message: `the service rejected ${numberText(this.#inARow.count)} events in a row with \`${code}\``,
        hint: 'see errors.csv; fix the mapping or the account, then rerun (`--max-rejections-in-a-row 0` turns this off)',
        exitCode: EXIT.stopped,
      });
    } else if (this.#count > maxRejections) {
      halt.request({
        code: 'too_many_errors',
        message: `the service rejected ${numberText(this.#count)} events of this run, more than --max-errors allows`,
        hint: 'see errors.csv; fix the common cause, then rerun',
        exitCode: EXIT.stopped,
      });
    }
  }
}
