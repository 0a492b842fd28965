import { writeWhole, type StateDir } from '../../state-dir.ts';
import { REPORT_FILE } from '../summary.ts';
import { readReportData, type ReportOptions } from './report-data.ts';
import { reportPage } from './page.ts';

/** Writes `report.html` from the files in the state directory, and returns its path. */
export async function writeReport(state: StateDir, options: ReportOptions): Promise<string> {
  const path = state.file(REPORT_FILE);
  await writeWhole(path, reportPage(await readReportData(state, options)));
  return path;
}
