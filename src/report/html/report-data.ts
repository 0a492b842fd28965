import type { StateDir } from '../../state-dir.ts';
import type { History } from '../history.ts';
import { MigrationStatusReader, type MigrationStatus } from '../migration-status.ts';
import { collectErrors, collectOmitted, type CollectedErrors, type CollectedOmissions } from './collect.ts';

/** All data of the page. */
export interface ReportData {
  readonly status: MigrationStatus;
  readonly errors: CollectedErrors;
  readonly omitted: CollectedOmissions;
  readonly withValues: boolean;
  readonly writtenAt: Date;
}

export interface ReportOptions {
  readonly withValues: boolean;
  /** What the checkpoint contains, if it is known. */
  readonly history?: History;
}

/** Reads everything else from the state directory. */
export async function readReportData(state: StateDir, { withValues, history }: ReportOptions): Promise<ReportData> {
  const [status, errors, omitted] = await Promise.all([
    new MigrationStatusReader(state, history).read(),
    collectErrors(state.file('errors.ndjson')),
    collectOmitted(state.file('omitted.csv')),
  ]);
  return { status, errors, omitted, withValues, writtenAt: new Date() };
}
