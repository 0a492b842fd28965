import { countStates, type CountedState } from '../../plan/counts.ts';
import { readSkipped, type SkippedRows } from '../../plan/skipped.ts';
import type { Database } from '../../store/sqlite.ts';
import { readDocument, type SurveySnapshot } from '../files/documents.ts';
import { readCauses, type Causes } from './causes.ts';
import { readDeals, type DealGroup } from './deals.ts';

/** The figures of a plan, with its checkpoint attached, at one moment: each is read once, when a section first asks for it. */
export class PlanFigures {
  readonly db: Database;
  #survey: SurveySnapshot | undefined;
  #states: readonly CountedState[] | undefined;
  #causes: Causes | undefined;
  #deals: readonly DealGroup[] | undefined;
  #skipped: readonly SkippedRows[] | undefined;

  constructor(db: Database) {
    this.db = db;
  }

  /** Undefined where there is no plan. */
  get survey(): SurveySnapshot | undefined {
    return (this.#survey ??= readDocument(this.db, 'survey'));
  }

  /** Names without an answer. */
  get names(): SurveySnapshot['names'] {
    return this.survey?.names;
  }

  /** The states of the events of the plan; without one, what the checkpoint knows. */
  get states(): readonly CountedState[] {
    return (this.#states ??= this.survey ? countStates(this.db) : countCheckpoint(this.db));
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

/** The outcome of each event that was sent. */
function countCheckpoint(db: Database): CountedState[] {
  return db.all(`
    select type, iif(is_acknowledged, 'acknowledged', 'rejected') as state, null as code, 1 as is_chosen, 0 as priority, count(*) as count
    from checkpoint.record where is_acknowledged = 1 or rejected is not null group by type, state`);
}
