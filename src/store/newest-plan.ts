import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DRY_RUN, StateDir } from '../state-dir.ts';
import { PLAN_FILE } from './plan-schema.ts';

/** A plan, by the directory that it is in. */
export interface FoundPlan {
  readonly output: StateDir;
  readonly isDryRun: boolean;
  /** When it was last written. */
  readonly at: Date;
}

/** The newest plan of a state directory: its own, or that of its last dry run. Undefined if there is none. */
export async function newestPlan(state: StateDir): Promise<FoundPlan | undefined> {
  const plans = await Promise.all([planIn(state, false), planIn(state, true)]);
  return plans.filter((plan) => plan !== undefined).sort((a, b) => b.at.getTime() - a.at.getTime())[0];
}

/** The plan of the last run, or of the last dry run. */
export async function planIn(state: StateDir, isDryRun: boolean): Promise<FoundPlan | undefined> {
  const path = isDryRun ? state.file(DRY_RUN) : state.path;
  const file = await stat(join(path, PLAN_FILE)).catch(() => undefined);
  return file && { output: await StateDir.existing(path), isDryRun, at: file.mtime };
}
