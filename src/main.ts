import yargs, { type Argv as Yargs, type Options } from 'yargs';
import { COMMANDS, loadCommand, nameOf, type Argv, type Command } from './commands/commands.ts';
import { Console, type Verbosity } from './console.ts';
import { EXIT, UserError, type ExitCode } from './errors.ts';
import { didYouMean } from './problem.ts';
import { VERSION } from './version.ts';

/** Runs the command line and returns the exit code; the only place that catches. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  const console = new Console({ verbosity: verbosityOf(args) });
  let exitCode: ExitCode = EXIT.done;
  // What the script of `completion` asks with.
  const isCompletion = args.includes('--get-yargs-completions');
  try {
    const cli = yargs([...args])
      .scriptName('backfill')
      .usage(
        '$0 <command>\n\nMoves CRM history into the service: one event per request, triggers suppressed, resumable.',
      );
    for (const { usage, describe, ...command } of COMMANDS) {
      const handler = async (argv: Argv): Promise<void> => {
        exitCode = await loadCommand(nameOf({ usage }))(argv, console);
      };
      cli.command(usage, describe, (inner, isHelp = true) => takes(inner, command, isHelp || isCompletion), handler);
    }
    cli
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

/**
 * Tells yargs what a command takes. It lays out the help of a command that it carries out as well, which takes longer than
 * all else it does: nothing is in there unless it is asked for.
 */
function takes(
  inner: Yargs,
  { words, options, examples }: Pick<Command, 'words' | 'options' | 'examples'>,
  isHelp: boolean,
): void {
  for (const [name, word] of Object.entries(words)) inner.positional(name, word);
  for (const [name, option] of Object.entries<Options>(options)) inner.option(name, { ...option, hidden: !isHelp });
  if (isHelp) for (const [line, what] of examples) inner.example(line, what);
}

/** What yargs found wrong with the words of the command line, with what may have been meant. */
function usageError(message: string, args: readonly string[]): UserError {
  const command = args.find((word) => !word.startsWith('-')) ?? '';
  const options = COMMANDS.find((each) => nameOf(each) === command)?.options;
  const help = `see backfill ${options ? `${command} ` : ''}--help`;
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
    const what = options ? `one word too many: \`${unknown}\`` : `there is no command \`${unknown}\``;
    return new UserError(what, { hint: help });
  }
  const near = didYouMean(unknown, Object.keys(options ?? {}));
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
