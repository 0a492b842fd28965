/** How a run begins: its mapping is read, and its state directory is held. */
import { systemClock } from '../clock.ts';
import { BestEffort } from '../files/best-effort.ts';
import type { Halt } from '../halt.ts';
import { holdState, type HeldState, type AtEnd } from './held-state.ts';
import type { FunctionModule } from '../mapping/functions.ts';
import { loadMapping } from '../mapping/load.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { ProgressView } from '../report/print/progress-tracker.ts';
import { lineAt, mistake, ProblemsError } from '../problem.ts';
import type { PlanFigures } from '../report/figures/plan-figures.ts';
import type { Summary } from '../report/figures/summary.ts';
import { counted } from '../report/words/numbers.ts';
import type { Redactor } from '../redact.ts';
import type { Account } from '../service/account.ts';
import type { Credentials } from '../settings/credentials.ts';
import type { RunSettings } from '../settings/run-settings.ts';
import type { Survey } from '../survey/survey.ts';
import { TOOL } from '../version.ts';

/** Callbacks of a run, called as each stage begins, with the data that progress is computed from. */
export interface Monitor {
  /** The mapping runs code of the user's. */
  runsCode?(functions: Pick<FunctionModule, 'file' | 'sha256'>): void;
  connected?(account: Account, baseUrl: string | undefined): void;
  /** The leads of the account are being read: how many so far, of how many in all if the service says. */
  readingContacts?(read: number, total: number | undefined): void;
  /** Asks the user; undefined if there is no terminal. */
  readonly confirm?: ((question: string, signal: AbortSignal) => Promise<boolean>) | undefined;
  surveyed?(survey: Survey): void;
  /** With --until: the run stops then. */
  stopsAt?(moment: Date): void;
  /** Loads the modules that `sending` needs. */
  load?(): Promise<void>;
  sending?(view: ProgressView): void | Promise<void>;
  /** Called once everything is written, while the plan can be read. */
  ended?(end: RunEnd): void;
  /** Called with problems that do not stop the run. */
  trouble?(message: string): void;
}

/** What is to be told of the end of a run. */
export interface RunEnd {
  readonly summary: Summary;
  readonly plan: PlanFigures;
  readonly survey: Survey;
  /** Names of files for people that could not be written. */
  readonly unwritten: readonly string[];
}

export interface RunJob {
  readonly settings: RunSettings;
  /** Undefined if the network must not be used. */
  readonly credentials: Credentials | undefined;
  /** Appended to the name of the state directory: `.sandbox` for rehearsals. */
  readonly stateSuffix: string;
  readonly halt: Halt;
  readonly redactor: Redactor;
  readonly monitor: Monitor;
}

/** What the steps of one run share. */
export interface Run extends RunJob, HeldState {
  readonly mapping: Mapping;
  readonly startedAt: Date;
  /** By the monotonic clock. */
  readonly began: number;
  readonly bestEffort: BestEffort;
  /** Set once it sends. */
  sent?: { readonly events_sent: number };
  /** What to close at the end. */
  readonly atEnd: AtEnd;
  /** Shows a problem that does not stop the run. */
  readonly warn: (message: string) => void;
}

/** Throws a `ProblemsError` if lines of the mapping are still marked `# set this`: what they assume is for dry runs and rehearsals. */
function assertDecided({ file, marks }: Mapping): void {
  const problems = marks
    .filter(({ mark }) => mark === 'set this')
    .map(({ line, text }) => mistake('marked_line', `not decided: ${text}`, lineAt({ file, line })));
  if (problems.length === 0) return;
  const lines = counted(problems.length, 'line');
  throw new ProblemsError(
    `${lines} still marked "set this" in ${file}: set each, and remove its comment; a dry run needs none of them`,
    problems,
  );
}

/** Throws a `UserError` if the mapping is wrong, or if the state directory cannot be used. */
export async function begin(job: RunJob, atEnd: AtEnd): Promise<Run> {
  const { settings, monitor } = job;
  const mapping = await loadMapping(settings.mapping, { sources: settings.source });
  if (!settings.dryRun && job.stateSuffix === '') assertDecided(mapping);
  const held = await holdState(job, mapping, atEnd);
  const { log } = held;
  const { file, sha256, functions } = mapping;
  log.write('run', { tool: TOOL, mapping: file, mapping_sha256: sha256, dry_run: settings.dryRun });
  if (functions) monitor.runsCode?.(functions);
  const warn = (message: string): void => monitor.trouble?.(message);
  const [startedAt, began] = [new Date(), systemClock.monotonic()];
  return { ...job, ...held, mapping, startedAt, began, atEnd, warn, bestEffort: new BestEffort(warn) };
}
