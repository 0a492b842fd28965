import { readDocument, type StoredMapping, type SurveySnapshot } from '../files/documents.ts';
import type { StateDir } from '../../files/state-dir.ts';
import type { LockHolder } from '../../store/lock.ts';
import { readState } from '../../store/open.ts';
import { pageFigures, type PageFigures } from '../figures/page.ts';
import { PlanFigures } from '../figures/plan-figures.ts';
import { readStatus, type Status } from '../figures/read-status.ts';
import { readSummary, type Summary } from '../figures/summary.ts';

export interface PageOptions {
  /** With messages and values of records. */
  readonly withValues: boolean;
  /** The process of the current run, if there is one. */
  readonly holder?: LockHolder | undefined;
  readonly now?: Date;
}

export interface PageData {
  readonly status: Status;
  /** The verdict, three numbers, and the tables of the page. */
  readonly figures: PageFigures;
  /** Undefined until the run of this plan has ended. */
  readonly summary: Summary | undefined;
  readonly survey: SurveySnapshot | undefined;
  readonly now: Date;
  readonly isDryRun: boolean;
  /** How the exports are mapped; undefined if it is not known. */
  readonly mapping: StoredMapping | undefined;
  /** An IANA time zone. */
  readonly timezone: string;
  readonly withValues: boolean;
}

/** Reads both databases at one moment. */
export function readPageData(
  state: StateDir,
  output: StateDir,
  { withValues, holder, now = new Date() }: PageOptions,
): PageData {
  const db = readState(state, output);
  try {
    db.exec('begin');
    const summary = readSummary(db);
    const mapping = readDocument(db, 'mapping');
    const found = {
      status: readStatus(db, { path: output.path, holder, now }),
      ...{ summary, withValues, now },
      isDryRun: summary?.dry_run ?? output.path !== state.path,
    };
    const figures = pageFigures({ ...found, plan: new PlanFigures(db) });
    return { ...found, figures, survey: readDocument(db, 'survey'), mapping, timezone: mapping?.timezone ?? 'UTC' };
  } finally {
    db.close();
  }
}
