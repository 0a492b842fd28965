import { countStates, type CountedState } from '../../plan/counts.ts';
import type { Database } from '../../store/sqlite.ts';
import { readCauses, type Causes } from './causes.ts';
import { readDeals, type DealGroup } from './deals.ts';
import { readSkipped, type SkippedRows } from '../../plan/skipped.ts';

/** The figures of a plan, with its checkpoint attached, at one moment: each is read once, when a section first asks for it. */
export class PlanFigures {
  readonly db: Database;
  #states: readonly CountedState[] | undefined;
  #causes: Causes | undefined;
  #deals: readonly DealGroup[] | undefined;
  #skipped: readonly SkippedRows[] | undefined;

  constructor(db: Database) {
    this.db = db;
  }

  get states(): readonly CountedState[] {
    return (this.#states ??= countStates(this.db));
  }

  get causes(): Causes {
    return (this.#causes ??= readCauses(this.db));
  }

  get deals(): readonly DealGroup[] {
    return (this.#deals ??= readDeals(this.db));
  }

  /** Rows that became no event. */
  get skipped(): readonly SkippedRows[] {
    return (this.#skipped ??= readSkipped(this.db));
  }
}
