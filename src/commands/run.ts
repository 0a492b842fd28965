import { systemClock } from '../clock.ts';
import type { Console } from '../report/print/console.ts';
import { credentials, readEnvironment, type Credentials } from '../settings/credentials.ts';
import type { Environment } from '../settings/env-file.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import type { Figures } from '../report/figures/figures.ts';
import { refusalOf } from '../report/figures/ending.ts';
import { PlanFigures } from '../report/figures/plan-figures.ts';
import { endFigures, readyFigures } from '../report/figures/screens.ts';
import { notStarted } from '../report/figures/summary.ts';
import { loadMapping } from '../mapping/load.ts';
import { Halt, haltOnSignals } from '../halt.ts';
import { jsonOf } from '../report/print/json.ts';
import { RUN_PRINTERS } from '../report/print/run-output.ts';
import type { Monitor } from '../run/begin.ts';
import { runMigration } from '../run/run.ts';
import type * as progressModule from '../report/print/progress.ts';
import { commandLine } from '../settings/command-line.ts';
import { runSettings, type RunSettings } from '../settings/run-settings.ts';
import type { Account } from '../service/account.ts';
import { durationText } from '../report/words/times.ts';
import { oneLine } from '../report/words/visible.ts';
import { counted, numberText } from '../report/words/numbers.ts';
import type { Argv } from './command.ts';
import { optionsOf } from './state.ts';
import { confirmer } from '../report/print/ask.ts';

/** `crm-backfill run`: surveys, sends and prints the result. Returns the exit code. With `--json`, always prints a summary. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const [startedAt, began] = [new Date(), systemClock.monotonic()];
  try {
    return await migrate(argv, console);
  } catch (error) {
    if (argv.json === true && error instanceof UserError) {
      const ending = { code: error.exitCode, reason: 'not_started' };
      console.printJson(jsonOf(notStarted({ dryRun: argv.dryRun === true, startedAt, began, ending })));
    }
    throw error;
  }
}

async function migrate(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = runSettings(argv);
  const halt = new Halt();
  const env = environmentOf(settings, console);
  const target = await targetOf(settings, env, console);
  const stopListening = listenForSignals(halt, console);
  const watching = watch(settings, console, target);
  try {
    const { summary, profile, unwritten } = await runMigration({
      settings,
      credentials: target.credentials,
      stateSuffix: settings.sandbox ? '.sandbox' : '',
      halt,
      redactor: console.redactor,
      monitor: watching.monitor,
    });
    if (unwritten.length > 0) {
      console.complain(
        `warning: these files could not be written, so they are missing or outdated: ${unwritten.join(', ')}`,
      );
    }
    const { stopped, end } = RUN_PRINTERS[settings.output];
    const print = summary.exit.message === undefined ? end : stopped;
    print(console, { figures: watching.screen!, summary, json: jsonOf({ ...summary, profile }) });
    return summary.exit.code;
  } catch (error) {
    if (!halt.reason || !(error instanceof UserError) || error.hint !== undefined) throw error;
    const hint = `to begin again: ${commandLine(process.argv)}`;
    throw new UserError(error.message, { exitCode: error.exitCode, hint });
  } finally {
    watching.end();
    stopListening();
    await target.close();
  }
}

/** Neither a rehearsal nor a run without network needs a `.env` file. */
function environmentOf(settings: RunSettings, console: Console): Environment {
  if (settings.sandbox || settings.offline) return process.env;
  return readEnvironment(settings.credentials, (message) => console.complain(`warning: ${message}`));
}

interface RunTarget {
  readonly credentials: Credentials | undefined;
  /** Whether its pipelines are those of an example, and not of the customer's account. */
  readonly isExample: boolean;
  close(): Promise<void>;
}

/** The service, the embedded sandbox, or neither (`--offline`). The sandbox is loaded only if it is used. */
async function targetOf(settings: RunSettings, env: Environment, console: Console): Promise<RunTarget> {
  const close = async (): Promise<void> => undefined;
  if (settings.offline) return { credentials: undefined, isExample: false, close };
  if (settings.sandbox) {
    const { startRehearsal } = await import('./rehearsal.ts');
    return startRehearsal(settings, console.redactor);
  }
  // Errors in the mapping are reported before missing credentials: fixing them needs none.
  await loadMapping(settings.mapping, { sources: settings.source });
  const real = credentials(settings.baseUrl, env);
  console.redactor.add(real.apiKey, real.ingestToken);
  return { credentials: real, isExample: false, close };
}

/** The first signal waits for the requests in flight; the second aborts them and exits within a second. */
function listenForSignals(halt: Halt, console: Console): () => void {
  const abort = (exitCode: ExitCode): void => {
    halt.abort();
    setTimeout(() => process.exit(exitCode), 1000).unref();
  };
  return haltOnSignals(halt, abort, (signal) =>
    console.complain(`${signal}: waiting for the requests in flight (repeat it to stop at once)`),
  );
}

/** Leads of the account, a multiple of those on a page. */
const PROGRESS_EVERY = 1000;

interface Watching {
  readonly monitor: Monitor;
  /** Set once the run has ended. */
  screen?: Figures;
  end(): void;
}

function watch(settings: RunSettings, console: Console, target: RunTarget): Watching {
  let progress: progressModule.Progress | undefined;
  let where: readonly string[] = [];
  const printer = RUN_PRINTERS[settings.output];
  const monitor: Monitor = {
    runsCode: ({ file, sha256 }) => printer.note(console, `runs code of ${oneLine(file)} (sha256 ${sha256})`),
    connected(found, baseUrl) {
      where = [accountText(found, baseUrl, target.isExample)];
      // Before the input is read, which may take long. The token is tried by the first event.
      if (target.credentials && !settings.sandbox) console.say(`the API key works: ${where.join('')}`);
    },
    readingContacts(read, total) {
      const of = total === undefined ? '' : ` of ${numberText(total)}`;
      if (read > 0 && read % PROGRESS_EVERY === 0) console.say(`read ${numberText(read)}${of} leads of the account`);
    },
    confirm: confirmer(),
    surveyed(survey) {
      const { worksheet, changes } = survey;
      // Before hours of sending; a dry run, and a run that is refused, say it all at their end.
      if (!settings.dryRun && refusalOf(settings, survey, survey.states) === undefined) {
        const around = { where, worksheet, now: new Date() };
        printer.survey(console, readyFigures(new PlanFigures(survey.db), changes, around));
      }
      if (worksheet.elsewhere !== undefined) console.complain(`warning: ${worksheet.elsewhere}`);
    },
    ended({ summary, plan, survey, unwritten }) {
      watching.end();
      const { dry_run: isDryRun, exit } = summary;
      const isToSay = exit.message === undefined && (isDryRun || exit.code === EXIT.nothingSent);
      watching.screen = endFigures(plan, summary, {
        // The screen of the survey has said it, or somebody who was called has no use for it.
        where: isToSay ? where : [],
        ...{ worksheet: survey.worksheet, now: new Date(), argv: process.argv, optionsOf, unwritten },
      });
    },
    stopsAt(moment) {
      const seconds = (moment.getTime() - systemClock.wall()) / 1000;
      printer.note(
        console,
        `stops at ${moment.toISOString().replace(/:\d\d\.\d{3}/, '')}, in ${durationText(Math.max(0, seconds))}`,
      );
    },
    trouble: (message) => console.complain(`warning: ${oneLine(message)}`),
    async load() {
      if (printer.hasProgress) await loadProgress();
    },
    async sending(view) {
      if (printer.hasProgress) progress = (await loadProgress()).startProgress(console, view);
    },
  };
  const watching: Watching = {
    monitor,
    end() {
      progress?.stop();
      progress = undefined;
    },
  };
  return watching;
}

/** `sandbox, with example pipelines (Sales, Partners)`; `https://… : 2 deal pipelines (Sales, Partners), 11 stages, 8 users`. */
function accountText(account: Account, baseUrl: string | undefined, isExample: boolean): string {
  const names = account.pipelines.map(({ name }) => oneLine(name)).join(', ');
  if (isExample) return `${baseUrl}, with example pipelines (${names})`;
  const stages = account.pipelines.reduce((sum, pipeline) => sum + pipeline.stages.length, 0);
  const size = `${counted(account.pipelines.length, 'deal pipeline')} (${names}), ${counted(stages, 'stage')}, ${counted(account.users.length, 'user')}`;
  return `${baseUrl ?? 'stored account'}: ${size}`;
}

/** With the library of the bars, which a dry run does not need. */
function loadProgress(): Promise<typeof progressModule> {
  return import('../report/print/progress.ts');
}
