import { REPORT_FILE } from '../report/summary.ts';
import { writeWhole, type StateDir } from '../state-dir.ts';
import { reportPage } from './html/page.ts';
import { readPageData } from './page-data.ts';

/**
 * Writes `report.html` into `output` (the state directory, or `dry-run/` in it) from the databases, and returns its path.
 * `withValues`: with messages and values of records.
 */
export async function writeReport(
  state: StateDir,
  output: StateDir,
  options: { readonly withValues: boolean },
): Promise<string> {
  const path = output.file(REPORT_FILE);
  await writeWhole(path, reportPage(readPageData(state, output, options)));
  return path;
}
