/** The files that a run writes for people at its end, and that `report` writes again. */
import type { BestEffort } from '../../files/best-effort.ts';
import type { StateDir } from '../../files/state-dir.ts';
import { storeDocument } from '../files/documents.ts';
import { writeFile } from '../files/error-files.ts';
import { REJECTS, writeRejects } from '../files/rejects.ts';
import { PLAN_FOLDER, writePlanFolder } from '../files/plan-csv.ts';
import { REPORT_FILE, type Summary } from '../figures/summary.ts';
import { lockHolder } from '../../store/lock.ts';
import { PLAN_FILE } from '../../store/plan-schema.ts';
import type { PlanFigures } from '../figures/plan-figures.ts';
import { openPlan } from '../../survey/plan-file.ts';
import { drawReport } from './page.ts';
import { PILOT_FILE, writePilot } from '../files/pilot.ts';

interface WritingJob {
  readonly state: StateDir;
  readonly output: StateDir;
  readonly bestEffort: BestEffort;
  readonly warn: (message: string) => void;
}

const TABLES = ['errors.csv', 'left_out.csv'] as const;

/** Each by itself: what cannot be written leaves the others as they should be. The plan gets the summary, which the page shows. */
export async function writeFiles(
  { state, output, bestEffort, warn }: WritingJob,
  plan: PlanFigures,
  summary: Summary,
): Promise<void> {
  const { db } = plan;
  await bestEffort.attempt(PLAN_FILE, () => storeDocument(db, 'summary', summary));
  for (const name of [...TABLES, ...(summary.dry_run ? [] : (['ids.csv'] as const))]) {
    await bestEffort.attempt(name, () => writeFile(db, output, name));
  }
  const rejects = await bestEffort.attempt(REJECTS, () => writeRejects(db, output));
  const planned = summary.dry_run ? await bestEffort.attempt(PLAN_FOLDER, () => writePlanFolder(db, output)) : [];
  const pilot = await bestEffort.attempt(PILOT_FILE, () => writePilot(db, output));
  await bestEffort.attempt(REPORT_FILE, () => drawReport(plan, state, output, { withValues: false }));
  for (const { usual, path } of [...(rejects ?? []), ...(planned ?? []), ...(pilot ? [pilot] : [])]) {
    if (usual !== undefined) warn(notReplaced(usual, path));
  }
}

/** Errors, rejects and values left out, from the plan. The rejects of a run that is under way are left to it. */
export async function writeTables(state: StateDir, output: StateDir, warn: WritingJob['warn']): Promise<void> {
  const db = openPlan(state, output);
  try {
    for (const name of TABLES) writeFile(db, output, name);
    if (lockHolder(state)) return;
    for (const { usual, path } of await writeRejects(db, output)) warn(notReplaced(usual, path));
  } finally {
    db.close();
  }
}

function notReplaced(usual: string, path: string): string {
  return `${usual} was changed or created outside this program, so it was not overwritten; the one of this run is ${path}`;
}
