import type { LockHolder } from '../store/lock.ts';
import { readDocument, type StoredMapping } from '../report/documents.ts';
import type { StateDir } from '../state-dir.ts';
import { readState } from '../store/open.ts';
import { readFindings, type Findings } from './findings.ts';
import { readLatest, readRuns, readTimeline, type AnsweredEvent, type RunSpan, type Timeline } from './history.ts';
import type { RunWait } from './run-wait.ts';
import type { StatusView } from './status-text.ts';
import { readStatus } from './status.ts';

/** All data of the page. */
export interface PageData extends StatusView {
  /** `report.html` is of the moment at which it was written; the page of `status --serve` follows the run. */
  readonly isAlive: boolean;
  readonly isDryRun: boolean;
  readonly findings: Findings;
  /** When the service answered: always, or on the live page in the last hours. */
  readonly timeline: Timeline;
  /** None on the live page, which is about the present. */
  readonly runs: readonly RunSpan[];
  /** The latest answers; none in a report. */
  readonly latest: readonly AnsweredEvent[];
  /** How the exports are mapped; undefined if it is not known. */
  readonly mapping: StoredMapping | undefined;
  /** An IANA time zone; undefined for that of this machine. */
  readonly timezone: string | undefined;
  readonly withValues: boolean;
}

export interface LiveView {
  readonly holder: LockHolder | undefined;
  readonly wait: RunWait | undefined;
}

/** How far back the chart of the live page goes, in steps of five minutes. */
export const LIVE_HOURS = 6;
const LIVE_BINS = LIVE_HOURS * 12;

/** Reads both databases at one moment. `live`: for the live page. */
export function readPageData(
  state: StateDir,
  output: StateDir,
  { withValues, live, now = new Date() }: { withValues: boolean; live?: LiveView; now?: Date },
): PageData {
  const db = readState(state, output);
  try {
    db.exec('begin');
    const status = readStatus(db, now.getTime());
    const mapping = readDocument(db, 'mapping');
    const since = new Date(now.getTime() - LIVE_HOURS * 3_600_000).toISOString();
    return {
      status,
      holder: live?.holder,
      wait: live?.wait,
      path: output.path,
      now,
      isAlive: live !== undefined,
      isDryRun: status.summary?.dry_run ?? output.path !== state.path,
      findings: readFindings(db),
      timeline: readTimeline(db, live ? { maxBins: LIVE_BINS, since } : {}),
      runs: live ? [] : readRuns(db),
      latest: live ? readLatest(db) : [],
      mapping,
      timezone: live ? undefined : (mapping?.timezone ?? 'UTC'),
      withValues,
    };
  } finally {
    db.close();
  }
}
