import { PERSON } from '../kinds/index.ts';
import { systemClock } from '../clock.ts';
import type { Console } from '../terminal/console.ts';
import { credentials, readEnvironment, type Credentials } from '../settings/credentials.ts';
import type { Environment } from '../settings/env-file.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import { Halt, STOPPED } from '../halt.ts';
import { notifyUrl, secretsOf } from '../settings/hook-url.ts';
import { runMigration, type Monitor } from '../run.ts';
import { notStarted } from '../summarise.ts';
import type * as progressModule from '../pages/progress.ts';
import { countMatches } from '../plan/judge/contacts.ts';
import { profileText } from '../report/profile.ts';
import { briefText, endText } from '../report/end-text.ts';
import { durationText, shortPath } from '../report/text.ts';
import { endingText, endingTone } from '../report/ending.ts';
import { fitted, type Segment } from '../terminal/screen.ts';
import { oneLine } from '../terminal/visible.ts';
import { isPilot, runSettings, type RunSettings, MAPPING, RUN_OPTIONS } from '../settings/run-settings.ts';
import { confirmer } from '../terminal/confirm.ts';
import { commandLine, SECRET } from './command-line.ts';
import { nextSteps } from './next-steps.ts';
import { besideText, namesText } from './names-text.ts';
import { changesText, samplesText, surveyText, unusedFixesText } from './survey-text.ts';
import { counted, numberText } from '../terminal/numbers.ts';
import { define, type Argv } from './command.ts';

export const definition = define({
  positionals: MAPPING,
  options: RUN_OPTIONS,
  mostUsed: [
    ...['source', 'dryRun', 'plan', 'pilot', 'pick', 'sandbox', 'fresh'],
    ...['rate', 'maxErrors', 'maxOmitted', 'until', 'notify'],
  ],
  examples: [
    ['$0 run acme.yaml --dry-run', 'validate the mapping and every record'],
    ['$0 run acme.yaml --sandbox', 'rehearse against a sandbox on this machine'],
    ['$0 run acme.yaml --pilot 30', 'a pilot: the 30 records that show most of the plan, with their parents'],
    ['$0 run acme.yaml', 'the migration; the same command resumes it'],
    ['$0 run --help-all', 'all options'],
  ],
});

/** `crm-backfill run`: surveys, sends and prints the result. Returns the exit code. With `--json`, always prints a summary. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const [startedAt, began] = [new Date(), systemClock.monotonic()];
  try {
    return await migrate(argv, console);
  } catch (error) {
    if (argv.json === true && error instanceof UserError) {
      const ended = { dryRun: argv.dryRun === true, startedAt, began, exitCode: error.exitCode };
      console.printJson(JSON.stringify(notStarted(ended)));
    }
    throw error;
  }
}

async function migrate(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = runSettings(argv);
  const halt = new Halt();
  const env = environmentOf(settings, console);
  const notify = notifyUrl(settings.notify, env);
  if (notify) console.redactor.add(...secretsOf(notify));
  const target = await targetOf(settings, env, console);
  const stopListening = listenForSignals(halt, console);
  const print = keeping(settings, console);
  // A dry run is there to be read: all of it at its end, on a screen or two.
  const segments: Segment[] = [];
  const show: Show = settings.dryRun ? (text, tone) => void segments.push({ text, tone }) : print;
  const showExtra = (text: string): void => void segments.push({ text, isExtra: true });
  const watching = watch(settings, console, show, showExtra);
  const showAll = (rest: string): void => {
    for (const { text, tone } of fitted(segments.splice(0), MOST_LINES, rest)) print(text, tone);
  };
  try {
    const { summary, findings, files, undelivered, unwritten } = await runMigration({
      settings,
      credentials: target.credentials,
      stateSuffix: settings.sandbox ? '.sandbox' : '',
      halt,
      redactor: console.redactor,
      monitor: watching.monitor,
      notify,
    });
    watching.end();
    const columns = settings.json ? console.columns : console.shownColumns;
    if (settings.quiet && !halt.reason && summary.exit.code !== EXIT.done) {
      console.complain(briefText(summary), endingTone(summary));
    }
    const rest = shortPath(summary.files.report ?? summary.files.errors);
    const ending = `\n${endText(summary, findings, columns)}`;
    if (settings.dryRun) show(ending);
    else for (const { text, tone } of fitted([{ text: ending }], MOST_LINES_AT_END, rest)) show(text, tone);
    if (target.triggersFired && !settings.dryRun) {
      show(`${counted(target.triggersFired(), 'automation')} fired`);
    }
    if (undelivered !== undefined) console.complain(`warning: ${undelivered}`);
    if (unwritten.length > 0) {
      console.complain(`warning: could not be written, so missing or of an earlier time: ${unwritten.join(', ')}`);
    }
    // Why it ended and what to do next come last: what is above may fill several screens.
    const result = endingText(summary);
    if (result !== undefined) show(`\n${result}`, endingTone(summary));
    if (!halt.reason) {
      const next = nextSteps(summary, process.argv, {
        ...settings,
        toCorrect: files?.toCorrect ?? [],
        pilot: files?.pilot,
      });
      if (next.length > 0 && !settings.dryRun) show('');
      for (const line of next) show(line, line.startsWith(' ') ? 'command' : undefined);
    }
    showAll(rest);
    if (halt.reason) {
      console.complain(`\nstopped: ${halt.reason.message}`);
      if (halt.reason.hint) console.complain(`hint: ${halt.reason.hint}`);
    }
    if (halt.reason && !settings.dryRun) {
      const secret = SECRET.filter((name) => process.argv.some((arg) => arg.split('=', 1)[0] === name));
      const also = secret.length === 0 ? '' : ` (and ${secret.join(', ')}, whose URL is not shown)`;
      const and = LOST.includes(halt.reason.code) ? ['--adopt'] : [];
      console.complain(
        `to resume: ${commandLine(process.argv, { without: ['--fresh', ...and], and })}${also}`,
        'command',
      );
    }
    if (settings.json) console.printJson(JSON.stringify(summary));
    return summary.exit.code as ExitCode;
  } finally {
    watching.end();
    showAll('the files in the state directory');
    stopListening();
    await target.close();
  }
}

/** What people read of a dry run, beside a few warnings, and at the end of a run. The rest is in the report. */
const MOST_LINES = 56;
const MOST_LINES_AT_END = 40;

type Show = Console['show'];

/** Where what people keep goes: with --json, stdout has the JSON alone. */
function keeping({ json }: RunSettings, console: Console): Show {
  return (text, tone) => (json ? console.say(text, tone) : console.show(text, tone));
}

/** Stops after which the service knows events that the state directory does not. */
const LOST: readonly string[] = [STOPPED.unknownHistory, STOPPED.stateRemoved];

/** Neither a rehearsal nor a run without network needs a `.env` file. */
function environmentOf(settings: RunSettings, console: Console): Environment {
  if (settings.sandbox || settings.offline) return process.env;
  return readEnvironment(settings.envFile, (message) => console.complain(`warning: ${message}`));
}

interface RunTarget {
  readonly credentials: Credentials | undefined;
  /** Of a rehearsal. */
  triggersFired?(): number;
  close(): Promise<void>;
}

/** The service, the embedded sandbox, or neither (`--offline`). The sandbox is loaded only if it is used. */
async function targetOf(settings: RunSettings, env: Environment, console: Console): Promise<RunTarget> {
  const close = async (): Promise<void> => undefined;
  if (settings.offline) return { credentials: undefined, close };
  if (settings.sandbox) {
    const { startRehearsal } = await import('./rehearsal.ts');
    const rehearsal = await startRehearsal(settings);
    console.redactor.add(rehearsal.credentials.apiKey, rehearsal.credentials.ingestToken);
    return rehearsal;
  }
  // Errors in the mapping are reported before missing credentials: fixing them needs none.
  await loadMapping(settings.mapping, { sources: settings.source });
  const real = credentials(settings.baseUrl, env);
  console.redactor.add(real.apiKey, real.ingestToken, ...(real.otherSecrets ?? []));
  return { credentials: real, close };
}

/** The first signal waits for the requests in flight; the second aborts them and exits within a second. */
function listenForSignals(halt: Halt, console: Console): () => void {
  let signalled = false;
  const on = (signal: 'SIGHUP' | 'SIGINT' | 'SIGTERM', exitCode: ExitCode) => {
    const listener = (): void => {
      if (signalled) {
        halt.abort();
        setTimeout(() => process.exit(exitCode), 1000).unref();
        return;
      }
      signalled = true;
      console.complain(`${signal}: waiting for the requests in flight (repeat the signal to stop immediately)`);
      halt.request({ code: 'interrupted', message: `interrupted by ${signal}`, exitCode });
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  };
  const removals = [on('SIGHUP', EXIT.hungUp), on('SIGINT', EXIT.interrupted), on('SIGTERM', EXIT.terminated)];
  return () => removals.forEach((remove) => remove());
}

/** Leads of the account, a multiple of those on a page. */
const PROGRESS_EVERY = 1000;

interface Watching {
  readonly monitor: Monitor;
  end(): void;
}

function watch(settings: RunSettings, console: Console, show: Show, showExtra: (text: string) => void): Watching {
  let progress: progressModule.Progress | undefined;
  // At once, also in a dry run: the survey may take a while.
  const print = keeping(settings, console);
  const monitor: Monitor = {
    runsCode: ({ file, sha256 }) => print(`runs code of ${oneLine(file)} (sha256 ${sha256})`),
    connected(account, baseUrl) {
      const stages = account.pipelines.reduce((sum, { stages: list }) => sum + list.length, 0);
      const names = account.pipelines.map(({ name }) => `\`${oneLine(name)}\``).join(', ');
      print(
        `${baseUrl ?? 'stored account'}: ${counted(account.pipelines.length, 'deal pipeline')} (${names}) with ` +
          `${counted(stages, 'stage')}, ${counted(account.users.length, 'user')}`,
      );
    },
    readingContacts(read, total) {
      const of = total === undefined ? '' : ` of ${numberText(total)}`;
      if (read > 0 && read % PROGRESS_EVERY === 0) console.say(`read ${numberText(read)}${of} leads of the account`);
    },
    confirm: confirmer(),
    surveyed(surveyed, rate) {
      const { compiled, unusedFixes, samples, profile, changes, worksheet } = surveyed;
      const { reserve, dryRun, selection } = settings;
      // A dry run has them among its warnings.
      if (!dryRun) for (const warning of compiled.warnings) show(`warning: ${oneLine(warning.message)}`);
      if (!dryRun && unusedFixes.length > 0) show(unusedFixesText(unusedFixes));
      show(surveyText(surveyed, { rate, reserve, now: new Date() }));
      const there = countMatches(surveyed.db);
      if (there > 0) {
        const leads = `${counted(there, PERSON)} of the input`;
        show(`  ${leads} may be in the account already, by e-mail address or phone number: see matches.csv`);
      }
      if (changes) show(changesText(changes));
      if (dryRun) {
        (isPilot(selection) ? show : showExtra)(`\n${samplesText(samples, isPilot(selection))}`);
        showExtra(`\n${profileText(profile)}`);
      }
      const names = dryRun && worksheet && namesText(worksheet);
      if (names) {
        show(`\n${names.how}`);
        show(names.yaml, 'command');
      }
      const beside = worksheet && besideText(worksheet);
      if (beside !== undefined) console.complain(`warning: ${beside}`);
    },
    stopsAt(moment) {
      const seconds = (moment.getTime() - systemClock.wall()) / 1000;
      show(`stops at ${moment.toISOString().replace(/:\d\d\.\d{3}/, '')}, in ${durationText(Math.max(0, seconds))}`);
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
  return { monitor, end };
}

/** With the library of the bars, which a dry run does not need. */
function loadProgress(): Promise<typeof progressModule> {
  return import('../pages/progress.ts');
}
