import { writeWhole, type StateDir } from '../../state-dir.ts';
import { REPORT_FILE } from '../summary.ts';
import { readReportData } from './report-data.ts';
import { reportPage } from './page.ts';

/** Writes `report.html` from the files in the state directory, and returns its path. */
export async function writeReport(state: StateDir, options: { withValues: boolean }): Promise<string> {
  const path = state.file(REPORT_FILE);
  await writeWhole(path, reportPage(await readReportData(state, options)));
  return path;
}
