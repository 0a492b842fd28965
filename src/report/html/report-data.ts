import type { StateDir } from '../../state-dir.ts';
import type { History } from '../history.ts';
import { MigrationStatusReader, type MigrationStatus } from '../migration-status.ts';
import { readMapping } from '../stored.ts';
import { MAPPING_FILE, type StoredMapping } from '../stored-mapping.ts';
import { collectErrors, collectOmitted, type CollectedErrors, type CollectedOmissions } from './collect.ts';

/** All data of the page. */
export interface ReportData {
  readonly status: MigrationStatus;
  readonly errors: CollectedErrors;
  readonly omitted: CollectedOmissions;
  /** How the exports are mapped; undefined if it is not known. */
  readonly mapping: StoredMapping | undefined;
  /** An IANA time zone; undefined for that of this machine. */
  readonly timezone: string | undefined;
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
  const [status, errors, omitted, mapping] = await Promise.all([
    new MigrationStatusReader(state, history).read(),
    collectErrors(state.file('errors.ndjson')),
    collectOmitted(state.file('omitted.csv')),
    readMapping(state.file(MAPPING_FILE)),
  ]);
  const timezone = mapping?.timezone ?? 'UTC';
  return { status, errors, omitted, mapping, timezone, withValues, writtenAt: new Date() };
}
