#!/usr/bin/env node
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import {
  API_OPTIONS,
  INIT_OPTIONS,
  PURGE_OPTIONS,
  REPORT_OPTIONS,
  RUN_OPTIONS,
  SANDBOX_OPTIONS,
  STATUS_OPTIONS,
  VERIFY_OPTIONS,
} from './commands/options.ts';
import { Console, type Verbosity } from './console.ts';
import { EXIT, UserError, type ExitCode } from './errors.ts';
import { didYouMean } from './problem.ts';
import { VERSION } from './version.ts';

type Argv = Readonly<Record<string, unknown>>;
const MAPPING = { type: 'string', describe: 'The mapping file (YAML or JSON)', demandOption: true } as const;
type Command = (argv: Argv, console: Console) => Promise<ExitCode>;

/** Runs the command line and returns the exit code; the only place that catches. */
async function main(args: readonly string[]): Promise<ExitCode> {
  const console = new Console({ verbosity: verbosityOf(args) });
  let exitCode: ExitCode = EXIT.done;
  const runs = (load: () => Promise<Command>) => async (argv: Argv) => {
    exitCode = await (await load())(argv, console);
  };
  try {
    const cli = yargs([...args])
      .scriptName('backfill')
      .usage(
        '$0 <command>\n\nMoves CRM history into the service: one event per request, triggers suppressed, resumable.',
      )
      .command(
        'run <mapping>',
        'Survey the input, then send what is not acknowledged yet; rerun to resume',
        (command) =>
          command
            .positional('mapping', MAPPING)
            .options(RUN_OPTIONS)
            .example('$0 run acme.yaml --dry-run', 'validate the mapping and every record')
            .example('$0 run acme.yaml --sandbox', 'rehearse against a sandbox on this machine')
            .example('$0 run acme.yaml --limit 10', 'a pilot: ten events of each type, with their parents')
            .example('$0 run acme.yaml', 'the migration; the same command resumes it'),
        runs(async () => (await import('./commands/run.ts')).run),
      )
      .command(
        'status <mapping>',
        'Where the migration stands, also while a run is going on',
        (command) =>
          command
            .positional('mapping', MAPPING)
            .options(STATUS_OPTIONS)
            .example('$0 status acme.yaml', 'counts by type, pace, and whether a run is going on')
            .example('$0 status acme.yaml --watch', 'the same, again and again, from another terminal'),
        runs(async () => (await import('./commands/status.ts')).status),
      )
      .command(
        'report <mapping>',
        'Write report.html again from the state directory',
        (command) =>
          command
            .positional('mapping', MAPPING)
            .options(REPORT_OPTIONS)
            .example('$0 report acme.yaml', 'a page to hand on; external ids, but no other values')
            .example('$0 report acme.yaml --with-values', 'with messages and values, for those who may see them'),
        runs(async () => (await import('./commands/report.ts')).report),
      )
      .command(
        'sandbox',
        'A local stand-in for the service, for rehearsals',
        (command) =>
          command
            .options(SANDBOX_OPTIONS)
            .example('$0 sandbox --port 8080', 'a service on this machine; its URL and secrets are printed'),
        runs(async () => (await import('./commands/sandbox.ts')).sandbox),
      )
      .command(
        'init <exports..>',
        'Read the heads of exports and write a commented mapping file to start from',
        (command) =>
          command
            .positional('exports', { type: 'string', describe: 'Export files (CSV, JSON, NDJSON)', demandOption: true })
            .options(INIT_OPTIONS)
            .example('$0 init exports/*.csv --out acme.yaml', 'a mapping for these exports, whatever CRM wrote them'),
        runs(async () => (await import('./commands/init.ts')).init),
      )
      .command(
        'schema',
        'Print the JSON Schema of mapping files, for editors',
        {},
        runs(async () => (await import('./commands/schema.ts')).schema),
      )
      .command(
        'verify <mapping>',
        'Read acknowledged leads and deals back and compare them with what the mapping sends',
        (command) =>
          command
            .positional('mapping', MAPPING)
            .options(VERIFY_OPTIONS)
            .example('$0 verify acme.yaml', 'a sample of 100 leads and 100 deals')
            .example('$0 verify acme.yaml --sample all', 'all of them: a request for each hundred'),
        runs(async () => (await import('./commands/verify.ts')).verify),
      )
      .command(
        'purge <mapping>',
        'Delete the state files that hold personal data, once the job is accepted',
        (command) => command.positional('mapping', MAPPING).options(PURGE_OPTIONS),
        runs(async () => (await import('./commands/purge.ts')).purge),
      )
      .command(
        'api <method> <path>',
        'One call of a route of the REST API: authenticated, rate-limited, secrets hidden',
        (command) =>
          command
            .positional('method', { type: 'string', describe: 'GET, POST, PUT, PATCH or DELETE', demandOption: true })
            .positional('path', { type: 'string', describe: 'The path below the base URL', demandOption: true })
            .options(API_OPTIONS)
            .example('$0 api GET /pipelines --query type=DEAL', 'pipelines and stages with their ids')
            .example('$0 api GET /api-logs --query statusGroup=4xx --paginate', 'what the service refused, all pages')
            .example('$0 api POST /leads --write --data \'{"fullName":"Ada"}\'', 'a write; automations may fire'),
        runs(async () => (await import('./commands/api.ts')).api),
      )
      .completion('completion', 'Print a script that completes commands and options, for bash or zsh')
      .example('$0 run acme.yaml --dry-run', 'check everything, send nothing')
      .example('$0 run acme.yaml', 'the migration; the same command resumes it')
      .example('$0 run --help', 'what a command takes, with more examples')
      .demandCommand(1, 'Name a command.')
      .strict()
      .recommendCommands()
      .version(VERSION)
      .parserConfiguration({ 'parse-numbers': false, 'parse-positional-numbers': false })
      .wrap(Math.min(120, console.columns))
      .exitProcess(false)
      .fail((message, error) => {
        throw error ?? usageError(message, args);
      });
    if (args.length === 0) {
      console.complain(await cli.getHelp());
      return EXIT.nothingSent;
    }
    await cli.parseAsync();
    return exitCode;
  } catch (error) {
    return report(error, console);
  }
}

/** What each command takes, to find what may have been meant. */
const OPTIONS: Readonly<Record<string, object>> = {
  run: RUN_OPTIONS,
  status: STATUS_OPTIONS,
  report: REPORT_OPTIONS,
  sandbox: SANDBOX_OPTIONS,
  init: INIT_OPTIONS,
  schema: {},
  verify: VERIFY_OPTIONS,
  purge: PURGE_OPTIONS,
  api: API_OPTIONS,
};

/** What yargs found wrong with the words of the command line, with what may have been meant. */
function usageError(message: string, args: readonly string[]): UserError {
  const command = args.find((word) => !word.startsWith('-')) ?? '';
  const isKnown = Object.hasOwn(OPTIONS, command);
  const help = `see backfill ${isKnown ? `${command} ` : ''}--help`;
  if (message.startsWith('Did you mean ')) {
    const meant = message.slice('Did you mean '.length).replace(/\?$/, '');
    return new UserError(`there is no command \`${command}\``, { hint: `did you mean \`${meant}\`? ${help}` });
  }
  if (message.startsWith('Not enough non-option arguments')) {
    return new UserError(`\`backfill ${command}\` takes more words than that`, { hint: help });
  }
  const unknown = /^Unknown arguments?: (.*)$/.exec(message)?.[1]?.split(', ')[0];
  if (unknown === undefined) return new UserError(message, { hint: help });
  if (!args.some((word) => word.startsWith('-') && word.includes(unknown))) {
    const what = isKnown ? `one word too many: \`${unknown}\`` : `there is no command \`${unknown}\``;
    return new UserError(what, { hint: help });
  }
  const near = didYouMean(unknown, Object.keys(isKnown ? OPTIONS[command]! : {}));
  const hint = near === undefined ? help : `${near.replace(/`([^`]*)`/g, '`--$1`')} ${help}`;
  return new UserError(`there is no option \`--${unknown}\``, { hint });
}

/** What the person can mend is said in a sentence; anything else is a bug of this program and shows where. */
function report(error: unknown, console: Console): ExitCode {
  if (error instanceof UserError) {
    console.complain(`error: ${error.message}`);
    if (error.hint) console.complain(`hint: ${error.hint}`);
    return error.exitCode;
  }
  console.complain(`this is a bug in backfill ${VERSION}: ${error instanceof Error ? error.stack : String(error)}`);
  return EXIT.stopped;
}

function verbosityOf(args: readonly string[]): Verbosity {
  if (args.includes('--quiet')) return 'quiet';
  return args.includes('--verbose') ? 'verbose' : 'normal';
}

// Set first: a process whose pending promises hold nothing open would otherwise end as if all were well.
process.exitCode = EXIT.stopped;
process.exitCode = await main(hideBin(process.argv));
