/**
 * A migration from its mapping file to its summary:
 *
 *     mapping -> account -> survey -> (dry run: stop here) -> send -> summary
 */
import { systemClock } from '../clock.ts';
import { begin, type Run, type RunJob } from './begin.ts';
import { connect, type Target } from './connect.ts';
import { EXIT, shortageOf, UserError } from '../errors.ts';
import { isStateLost } from '../halt.ts';
import { closingAfter } from './held-state.ts';
import { planCounter } from '../report/print/progress-tracker.ts';
import { writeFiles } from '../report/print/written-files.ts';
import { countDue } from '../plan/counts.ts';
import { endingOf, refusalOf, type Ending } from '../report/figures/ending.ts';
import { PlanFigures } from '../report/figures/plan-figures.ts';
import { REPORT_FILE, summaryOf, type Summary } from '../report/figures/summary.ts';
import { readWait } from '../store/checkpoint.ts';
import { CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import type { Sender } from '../send/sender.ts';
import { findDamage } from '../store/sqlite.ts';
import type { Survey } from '../survey/survey.ts';
import { isAgreed, surveyed, type Surveyed } from './surveyed.ts';
import { noteWaits } from './waits.ts';
import { counted } from '../report/words/numbers.ts';

export type { Monitor, RunJob } from './begin.ts';

/** What a run leaves. */
export interface RunResult {
  readonly summary: Summary;
  readonly profile: Survey['profile'];
  /** Names of files for people that could not be written. */
  readonly unwritten: readonly string[];
}

/** Runs, resumes or (dry run) rehearses a migration. Throws a `UserError` if even a survey was not possible. */
export async function runMigration(job: RunJob): Promise<RunResult> {
  let run: Run | undefined;
  try {
    return await closingAfter(async (atEnd) => {
      run = await begin(job, atEnd);
      const target = await connectTo(run);
      const plan = await surveyed(run, target);
      const sender = await send(run, target, plan);
      return await end(run, target, plan, sender);
    });
  } catch (error) {
    throw withExitCode(error, (run?.sent?.events_sent ?? 0) > 0);
  }
}

/** The exit code says whether anything was sent, whatever the error is about. */
function withExitCode(thrown: unknown, hasSent: boolean): unknown {
  const error = thrown instanceof UserError ? thrown : (shortageOf(thrown, EXIT.nothingSent) ?? findDamage());
  if (!error || !hasSent || error.exitCode !== EXIT.nothingSent) return error ?? thrown;
  const { message, hint } = error;
  return new UserError(message, { ...(hint !== undefined && { hint }), exitCode: EXIT.stopped, cause: thrown });
}

/** Undefined if the network must not be used. */
async function connectTo(run: Run): Promise<Target | undefined> {
  const { settings, credentials, state, output, log, warn } = run;
  if (!settings.dryRun) await loadSending(run);
  if (!credentials || settings.offline) return undefined;
  const target = await connect(settings, credentials, { state, output }, (message) => {
    log.write('trouble', { message });
    warn(message);
  });
  run.atEnd(() => target.close());
  run.monitor.connected?.(target.account, target.baseUrl);
  return target;
}

/** Loads every module that sending needs before the first request: one that cannot be loaded must not stop a run halfway. */
async function loadSending({ monitor }: Run): Promise<void> {
  try {
    await Promise.all([import('../send/send.ts'), monitor.load?.()]);
  } catch (error) {
    throw shortageOf(error, EXIT.nothingSent) ?? error;
  }
}

/** Sends the rest of the plan, unless this is a dry run or something forbids it. */
async function send(run: Run, target: Target | undefined, plan: Surveyed): Promise<Sender | undefined> {
  const { settings, mapping, state, halt, log, monitor, bestEffort, warn, atEnd } = run;
  const { survey, hasher } = plan;
  // It was read beside the survey; nothing is sent before it is known to be whole.
  await run.checkpointWhole;
  if (!target || settings.dryRun || halt.requested) return undefined;
  if (refusalOf(settings, survey, survey.states) !== undefined) return undefined;
  await confirmFirst(run, target, plan);
  const [{ sendPlan }, { momentOf }] = await Promise.all([import('../send/send.ts'), import('../send/until.ts')]);
  const until = settings.until && momentOf(settings.until, mapping.timezone);
  if (until) monitor.stopsAt?.(until);
  return sendPlan({
    ...{ settings, mapping, state, target, survey, hasher, halt, log, until, bestEffort, warn },
    started: async (deliverer) => {
      const view = { rate: target.rate, count: planCounter(survey.db, target.rate), deliverer };
      run.sent = deliverer.counters;
      const waiting = (): ReturnType<typeof deliverer.waiting> => deliverer.waiting();
      atEnd(
        noteWaits({ ...{ waiting, db: survey.db, halt, clock: systemClock }, log: (...line) => log.write(...line) }),
      );
      // Bars of a run that sends nothing are full before it begins.
      if (countDue(survey.states) > 0) await monitor.sending?.(view);
    },
  });
}

/** The first live run asks: what it sends cannot be deleted. Without a terminal it goes on. */
async function confirmFirst(run: Run, { baseUrl }: Target, { survey: { db, states } }: Surveyed): Promise<void> {
  const { settings, monitor } = run;
  const isRehearsal = run.stateSuffix !== '';
  if (settings.yes || settings.plan !== undefined || isRehearsal || !monitor.confirm) return;
  const due = countDue(states);
  if (due === 0 || db.get('select 1 from checkpoint.run limit 1')) return;
  const question = `${counted(due, 'event')} will be sent to ${baseUrl}; none of them can be deleted afterwards. Send them?`;
  if (await isAgreed(run, question)) return;
  throw new UserError('nothing was sent', {
    hint: 'rerun and answer y, or add --yes or --plan DIGEST to send without a question',
  });
}

/** Returns the summary, and writes it to the plan together with what people read. */
async function end(
  run: Run,
  target: Target | undefined,
  { survey }: Surveyed,
  sender: Sender | undefined,
): Promise<RunResult> {
  const { settings, mapping, state, output, log, bestEffort, monitor } = run;
  const plan = new PlanFigures(survey.db);
  const rate = target?.rate ?? settings.rate;
  const summary = summaryOf(plan, {
    ...{ mapping, survey, rate, sender, startedAt: run.startedAt, began: run.began, dryRun: settings.dryRun },
    ending: endOf(run, survey, plan),
    baseUrl: target?.baseUrl ?? null,
    requests: target?.client.requests ?? 0,
    overMaxOmitted: survey.omitted.excess(settings.maxOmitted),
    files: {
      checkpoint: settings.dryRun ? null : state.file(CHECKPOINT_FILE),
      errors: output.file('errors.csv'),
      report: output.file(REPORT_FILE),
    },
  });
  if (!isStateLost(summary.exit.reason)) await writeFiles(run, plan, summary);
  log.write('end', { exit: summary.exit, events: summary.events });
  const unwritten = bestEffort.failed;
  monitor.ended?.({ summary, plan, survey, unwritten });
  return { summary, profile: survey.profile, unwritten };
}

/** Waits that end in a halt, whose message says it. */
const SAID_WAITS: readonly string[] = ['credentials', 'intercepted'];

function endOf({ settings, halt, redactor }: Run, survey: Surveyed['survey'], { db, states }: PlanFigures): Ending {
  if (halt.reason) {
    const { exitCode, code: reason, message, hint } = halt.reason;
    const wait = readWait(db);
    const why = { message: redactor.redact(message), ...(hint !== undefined && { hint: redactor.redact(hint) }) };
    return { code: exitCode, reason, ...why, ...(wait && !SAID_WAITS.includes(wait.reason) && { waits_for: wait }) };
  }
  const refusal = refusalOf(settings, survey, states);
  // A dry run says what the run would refuse.
  if (refusal) return { code: settings.dryRun ? EXIT.finishedWithErrors : EXIT.nothingSent, reason: refusal };
  return endingOf(db, states);
}
