/** Resources that a run holds until its end, above all its state directory, which nobody else writes meanwhile. */
import { UserError } from '../errors.ts';
import { removeLeftovers } from '../files/private-file.ts';
import { RUN_LOG_FILE, RunLog } from '../files/run-log.ts';
import { DRY_RUN, StateDir, statePath } from '../files/state-dir.ts';
import type { Halt } from '../halt.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Redactor } from '../redact.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import { openCheckpoint } from '../store/checkpoint.ts';
import { CHECKPOINT, CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import { Lock, nameHolder } from '../store/lock.ts';
import { checkWhole } from '../store/whole.ts';
import { shortPath } from '../files/paths.ts';

/** Registers a resource to close at the end. */
export type AtEnd = (close: () => void | Promise<void>) => void;

/**
 * Runs `steps`, then everything that they registered with `atEnd`, last first, even if some of it fails. Throws the first error, because
 * errors of closing are mostly its consequences.
 */
export async function closingAfter<Result>(steps: (atEnd: AtEnd) => Promise<Result>): Promise<Result> {
  const closers: (() => void | Promise<void>)[] = [];
  const errors: unknown[] = [];
  const attempt = async <Value>(step: () => Value | Promise<Value>): Promise<Value | undefined> => {
    try {
      return await step();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const result = await attempt(() => steps((close) => closers.push(close)));
  for (const close of closers.reverse()) await attempt(close);
  if (errors.length > 0) throw errors[0];
  return result as Result;
}

interface HoldingJob {
  readonly settings: Pick<RunSettings, 'state' | 'dryRun' | 'mapping'>;
  readonly stateSuffix: string;
  readonly halt: Halt;
  readonly redactor: Redactor;
  readonly monitor: { trouble?(message: string): void };
}

export interface HeldState {
  readonly state: StateDir;
  /** Where plan, reports and log go: the state directory, or `dry-run/` in it. */
  readonly output: StateDir;
  readonly log: RunLog;
  /** Settles once the whole checkpoint has been read. Rejects with a `UserError` (exit 2) if it is damaged. */
  readonly checkpointWhole: Promise<void>;
}

/** Throws a `UserError` if another run holds it (exit 3), or if it cannot be written. `atEnd` closes the log and, last, releases it. */
export async function holdState(job: HoldingJob, mapping: Mapping, atEnd: AtEnd): Promise<HeldState> {
  const { settings, stateSuffix, redactor } = job;
  const state = await StateDir.create(statePath(settings, mapping, stateSuffix));
  const output = settings.dryRun ? await state.directory(DRY_RUN) : state;
  atEnd(settings.dryRun ? await holdDryRun(output, job) : hold(state));
  const check = settings.dryRun ? undefined : checkWhole(state.file(CHECKPOINT_FILE), CHECKPOINT);
  if (check) atEnd(() => check.stop());
  removeLeftovers(output.path);
  const log = new RunLog(output.file(RUN_LOG_FILE), redactor);
  atEnd(() => log.close());
  return { state, output, log, checkpointWhole: check?.whole ?? Promise.resolve() };
}

/** Holds the lock, and says so in the checkpoint. Returns what releases it. */
function hold(state: StateDir): () => void {
  const lock = Lock.acquire(state);
  try {
    openCheckpoint(state).close();
    nameHolder(state, 'run');
    return () => lock.release();
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Dry runs of one state directory write the same files, so they wait for each other. Returns what releases the lock. */
async function holdDryRun(output: StateDir, { halt, monitor }: HoldingJob): Promise<() => void> {
  const lock = await Lock.waitFor(output, halt.signal, () =>
    monitor.trouble?.(`another dry run is using ${shortPath(output.path)}: waiting until it has ended`),
  );
  if (lock) return () => lock.release();
  const { message, exitCode } = halt.reason!;
  throw new UserError(message, { exitCode });
}
