import type { StateDir } from '../../state-dir.ts';
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

/** Reads everything from the state directory. */
export async function readReportData(state: StateDir, options: { withValues: boolean }): Promise<ReportData> {
  const [status, errors, omitted] = await Promise.all([
    new MigrationStatusReader(state).read(),
    collectErrors(state.file('errors.ndjson')),
    collectOmitted(state.file('omitted.csv')),
  ]);
  return { status, errors, omitted, withValues: options.withValues, writtenAt: new Date() };
}
