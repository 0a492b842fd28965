import { readDocument, readVerification, type StoredMapping } from '../files/documents.ts';
import type { StoredSummary, SurveySnapshot } from '../files/summary.ts';
import { readSkipped } from '../files/skipped.ts';
import { readFindings, type Finding } from '../files/findings.ts';
import type { StateDir } from '../../files/state-dir.ts';
import type { LockHolder } from '../../store/lock.ts';
import { readState } from '../../store/open.ts';
import { readCauses } from '../figures/causes.ts';
import { readDeals } from '../figures/deals.ts';
import { readExports } from '../figures/exports.ts';
import { pageFigures, type PageFigures } from '../figures/page.ts';
import { readStates, readStatus, type Status } from '../figures/read-status.ts';

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
  readonly summary: StoredSummary | undefined;
  readonly survey: SurveySnapshot | undefined;
  readonly now: Date;
  readonly isDryRun: boolean;
  /** The most frequent first. */
  readonly findings: readonly Finding[];
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
    const summary = readDocument(db, 'summary');
    const mapping = readDocument(db, 'mapping');
    const states = readStates(db);
    const found = {
      status: readStatus(db, { path: output.path, holder, now, states }),
      states,
      now,
      summary,
      findings: readFindings(db),
      isDryRun: summary?.dry_run ?? output.path !== state.path,
    };
    const figures = pageFigures({
      ...found,
      causes: readCauses(db),
      deals: readDeals(db),
      exports: readExports(db, readDocument(db, 'inputs') ?? []),
      skipped: readSkipped(db),
      verification: readVerification(db),
      mapping,
    });
    return {
      ...found,
      figures,
      survey: readDocument(db, 'survey'),
      mapping,
      timezone: mapping?.timezone ?? 'UTC',
      withValues,
    };
  } finally {
    db.close();
  }
}
