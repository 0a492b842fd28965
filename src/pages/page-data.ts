import { readDocument, type StoredMapping } from '../report/documents.ts';
import { readFindings, type Finding } from '../report/findings.ts';
import type { StateDir } from '../files/state-dir.ts';
import type { LockHolder } from '../store/lock.ts';
import { readState } from '../store/open.ts';
import { readChains, type Chains } from './chains.ts';
import { readRuns, readTimeline, type RunSpan, type Timeline } from './history.ts';
import type { StatusView } from './status-text.ts';
import { readStatus } from './status.ts';

export interface PageOptions {
  /** With messages and values of records. */
  readonly withValues: boolean;
  /** The process of the current run, if there is one. */
  readonly holder?: LockHolder | undefined;
  /** The page is written again and again, so it reloads itself. */
  readonly reloads?: boolean;
  readonly now?: Date;
}

/** All data of the page. */
export interface PageData extends StatusView {
  readonly reloads: boolean;
  readonly isDryRun: boolean;
  /** The most frequent first. */
  readonly findings: readonly Finding[];
  readonly chains: Chains;
  readonly timeline: Timeline;
  readonly runs: readonly RunSpan[];
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
  { withValues, holder, reloads = false, now = new Date() }: PageOptions,
): PageData {
  const db = readState(state, output);
  try {
    db.exec('begin');
    const status = readStatus(db, now.getTime());
    const mapping = readDocument(db, 'mapping');
    return {
      status,
      holder,
      path: output.path,
      now,
      reloads,
      isDryRun: status.summary?.dry_run ?? output.path !== state.path,
      findings: readFindings(db),
      chains: readChains(db),
      timeline: readTimeline(db),
      runs: readRuns(db),
      mapping,
      timezone: mapping?.timezone ?? 'UTC',
      withValues,
    };
  } finally {
    db.close();
  }
}
