import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isThere } from '../files/private-file.ts';
import { DRY_RUN, type StateDir } from '../files/state-dir.ts';
import { PLAN_FILE } from './plan-schema.ts';

/** A plan, by the directory that it is in. */
export interface FoundPlan {
  readonly output: Pick<StateDir, 'file'>;
  readonly isDryRun: boolean;
  /** When it was last written. */
  readonly at: Date;
}

/** The plans of a state directory, the newest first: that of the last run and that of the last dry run. */
export function storedPlans(state: Pick<StateDir, 'file'>): FoundPlan[] {
  const found = [planIn(state, false), planIn(state, true)].filter((plan) => plan !== undefined);
  return found.sort((one, other) => other.at.getTime() - one.at.getTime());
}

/** The plan of the last run, or of the last dry run. */
export function planIn(state: Pick<StateDir, 'file'>, isDryRun: boolean): FoundPlan | undefined {
  const output = isDryRun ? { file: (name: string) => join(state.file(DRY_RUN), name) } : state;
  const path = output.file(PLAN_FILE);
  return isThere(path) ? { output, isDryRun, at: statSync(path).mtime } : undefined;
}

/** Their files. */
export function storedPlanFiles(state: Pick<StateDir, 'file'>): string[] {
  return storedPlans(state).map(({ output }) => output.file(PLAN_FILE));
}
