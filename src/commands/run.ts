import { systemClock } from '../clock.ts';
import type { Console } from '../report/print/console.ts';
import { credentials, readEnvironment, type Credentials } from '../settings/credentials.ts';
import type { Environment } from '../settings/env-file.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import type { Figures } from '../report/figures/figures.ts';
import { openNamesOf } from '../report/figures/findings.ts';
import { nextSection, resumeSection } from '../report/figures/next-steps.ts';
import { dryRunFigures, runFigures, type RunFound } from '../report/figures/run.ts';
import { notStarted, refusalOf } from '../report/figures/summarise.ts';
import { planSections, surveyFigures } from '../report/figures/survey.ts';
import { briefText } from '../report/figures/verdict.ts';
import { loadMapping } from '../mapping/load.ts';
import { Halt, haltOnSignals, needsAdopt } from '../halt.ts';
import { jsonOf } from '../report/print/json.ts';
import { screenOf, showFigures } from '../report/print/terminal.ts';
import { countDue } from '../plan/counts.ts';
import { runMigration, type Monitor, type RunEnd } from '../run/run.ts';
import type * as progressModule from '../report/print/progress.ts';
import { commandLine } from '../settings/command-line.ts';
import { runSettings, type RunSettings } from '../settings/run-settings.ts';
import type { Account } from '../service/account.ts';
import type { WrittenWorksheet } from '../survey/worksheet-file.ts';
import { durationText } from '../report/words/times.ts';
import { oneLine } from '../report/words/visible.ts';
import { counted, numberText } from '../report/words/numbers.ts';
import type { Argv } from './command.ts';
import { purge, report, verify } from './definitions.ts';
import { confirmer } from '../report/print/ask.ts';

/** `crm-backfill run`: surveys, sends and prints the result. Returns the exit code. With `--json`, always prints a summary. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const [startedAt, began] = [new Date(), systemClock.monotonic()];
  try {
    return await migrate(argv, console);
  } catch (error) {
    if (argv.json === true && error instanceof UserError) {
      const ended = { dryRun: argv.dryRun === true, startedAt, began, exitCode: error.exitCode };
      console.printJson(jsonOf(notStarted(ended)));
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
    const ended = await runMigration({
      settings,
      credentials: target.credentials,
      stateSuffix: settings.sandbox ? '.sandbox' : '',
      halt,
      redactor: console.redactor,
      monitor: watching.monitor,
    });
    watching.end();
    const { summary, unwritten } = ended;
    if (settings.quiet && !halt.reason && summary.exit.code !== EXIT.done) {
      console.complain(briefText(summary));
    }
    if (unwritten.length > 0) {
      console.complain(
        `warning: these files could not be written, so they are missing or outdated: ${unwritten.join(', ')}`,
      );
    }
    const figures = endFigures(ended, watching, { settings, halt, target });
    // Why a run stopped is said whatever becomes of stdout.
    if (halt.reason) console.complain(screenOf(figures, console.columns));
    else showFigures(console, figures, settings);
    if (settings.json) console.printJson(jsonOf(summary));
    return summary.exit.code as ExitCode;
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

function resumeCommand(code: string): string {
  const and = needsAdopt(code) ? ['--adopt'] : [];
  return commandLine(process.argv, { without: ['--fresh', ...and], and });
}

function endFigures(
  { summary, plan, files, unwritten }: RunEnd,
  { said, where }: Watching,
  { settings, halt, target }: { settings: RunSettings; halt: Halt; target: RunTarget },
): Figures {
  const worksheet = said.worksheet;
  const names = worksheet && openNamesOf(worksheet);
  const next = halt.reason
    ? resumeSection(settings.dryRun ? commandLine(process.argv) : resumeCommand(halt.reason.code), RESUME_TEXT)
    : nextSection(summary, {
        argv: process.argv,
        mapping: settings.mapping,
        sandbox: settings.sandbox,
        due: countDue(plan.states),
        pilot: files?.pilot,
        unwritten,
        worksheet: names && { path: worksheet.path, isNamed: worksheet.isNamed },
        optionsOf: (command) => Object.keys({ verify, report, purge }[command].options),
      });
  const found: RunFound = {
    ...plan,
    ...{ summary, mapping: settings.mapping, where: where(), halt: halt.reason, survey: said.sections, names, next },
    triggersFired: target.triggersFired?.(),
    now: new Date(),
  };
  return settings.dryRun ? dryRunFigures(found) : runFigures(found);
}

/** Whether nothing is sent twice is asked at 2 a.m. */
const RESUME_TEXT = 'safe at any time: nothing is sent twice';

/** Neither a rehearsal nor a run without network needs a `.env` file. */
function environmentOf(settings: RunSettings, console: Console): Environment {
  if (settings.sandbox || settings.offline) return process.env;
  return readEnvironment(settings.envFile, (message) => console.complain(`warning: ${message}`));
}

interface RunTarget {
  readonly credentials: Credentials | undefined;
  /** Of a rehearsal. */
  triggersFired?(): number;
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
    console.complain(`${signal}: waiting for the requests in flight (repeat the signal to stop immediately)`),
  );
}

/** Leads of the account, a multiple of those on a page. */
const PROGRESS_EVERY = 1000;

interface Watching {
  readonly monitor: Monitor;
  /** What the survey found, once it has ended. */
  readonly said: { sections: RunFound['survey']; worksheet: WrittenWorksheet | undefined };
  /** Which account was found, in words. */
  readonly where: () => readonly string[];
  end(): void;
}

function watch(settings: RunSettings, console: Console, { isExample }: RunTarget): Watching {
  let progress: progressModule.Progress | undefined;
  let account: readonly string[] = [];
  const said: Watching['said'] = { sections: [], worksheet: undefined };
  // What people keep: with --json, stdout has the JSON alone.
  const print = (text: string): void => (settings.json ? console.say(text) : console.show(text));
  const monitor: Monitor = {
    runsCode: ({ file, sha256 }) => print(`runs code of ${oneLine(file)} (sha256 ${sha256})`),
    connected(found, baseUrl) {
      account = [accountText(found, baseUrl, isExample)];
    },
    readingContacts(read, total) {
      const of = total === undefined ? '' : ` of ${numberText(total)}`;
      if (read > 0 && read % PROGRESS_EVERY === 0) console.say(`read ${numberText(read)}${of} leads of the account`);
    },
    confirm: confirmer(),
    surveyed(survey, rate) {
      const { worksheet } = survey;
      const pace = { rate, now: new Date() };
      said.sections = planSections(survey, pace);
      said.worksheet = worksheet;
      // Before hours of sending; a dry run, and a run that is refused, say it all at their end.
      if (!settings.dryRun && refusalOf(settings, survey, survey.states) === undefined)
        showFigures(console, surveyFigures(survey, pace, account), settings);
      if (worksheet.elsewhere !== undefined) console.complain(`warning: ${worksheet.elsewhere}`);
    },
    stopsAt(moment) {
      const seconds = (moment.getTime() - systemClock.wall()) / 1000;
      print(`stops at ${moment.toISOString().replace(/:\d\d\.\d{3}/, '')}, in ${durationText(Math.max(0, seconds))}`);
    },
    trouble: (message) => console.complain(`warning: ${oneLine(message)}`),
    async load() {
      if (!settings.quiet) await loadProgress();
    },
    async sending(view) {
      if (!settings.quiet) progress = (await loadProgress()).startProgress(console, view);
    },
  };
  const end = (): void => {
    progress?.stop();
    progress = undefined;
  };
  return { monitor, said, where: () => account, end };
}

/** `sandbox, with example pipelines (Sales, Partners)`; `https://… : 2 deal pipelines (Sales, Partners), 11 stages, 8 users`. */
function accountText(account: Account, baseUrl: string | undefined, isExample: boolean): string {
  const names = account.pipelines.map(({ name }) => oneLine(name)).join(', ');
  const stages = account.pipelines.reduce((sum, pipeline) => sum + pipeline.stages.length, 0);
  if (isExample) return `${baseUrl}, with example pipelines (${names})`;
  const size = `${counted(account.pipelines.length, 'deal pipeline')} (${names}), ${counted(stages, 'stage')}, ${counted(account.users.length, 'user')}`;
  return `${baseUrl ?? 'stored account'}: ${size}`;
}

/** With the library of the bars, which a dry run does not need. */
function loadProgress(): Promise<typeof progressModule> {
  return import('../report/print/progress.ts');
}
