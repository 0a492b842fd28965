import yargs, { type Argv as Yargs } from 'yargs';
import type { Argv, CommandDefinition } from './commands/command.ts';
import { COMMANDS, definitionOf, loadCommand, nameOf } from './commands/index.ts';
import { Console } from './report/print/console.ts';
import { EXIT, messageOf, shortageOf, UserError, type ExitCode } from './errors.ts';
import { kebab, yargsOption, yargsPositional } from './settings/option.ts';
import { didYouMean } from './problem.ts';
import { commandOf } from './settings/program.ts';
import { wrapped } from './report/print/layout.ts';
import { PROGRAM, VERSION } from './version.ts';
import { ENVIRONMENT, EXIT_CODES } from './report/words/help.ts';

/** The help with the options that few need. */
const HELP_ALL = '--help-all';

/** The streams to which a command writes: those of the process or of a test. */
interface Io {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/** Runs the command line and returns the exit code: not 0 where stdout did not take what was printed. */
export async function main(args: readonly string[], { stdout, stderr }: Io): Promise<ExitCode> {
  const console = new Console({ verbosity: args.includes('--quiet') ? 'quiet' : 'normal', stdout, stderr });
  const exitCode = await runCommand(args, console);
  const lost = await console.flushed();
  if (!lost) return exitCode;
  console.complain(`error: stdout was not written: ${messageOf(lost)}`);
  return exitCode === EXIT.done ? EXIT.finishedWithErrors : exitCode;
}

/** The only place that catches every error. */
async function runCommand(args: readonly string[], console: Console): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  // Set by the script that `completion` prints.
  const isCompletion = args.includes('--get-yargs-completions');
  const isWhole = isCompletion || args.includes(HELP_ALL);
  const words = asTyped(args.map((arg) => (arg === HELP_ALL ? '--help' : arg)));
  try {
    const topic = words.length === 2 && words[1] === '--help' ? TOPICS.get(words[0]!) : undefined;
    if (topic) {
      console.print(topic());
      return EXIT.done;
    }
    if (args[0] === 'help' && words.length > 1 && !COMMANDS.some(([usage]) => nameOf(usage) === words[0])) {
      const { CODES, codeHelp } = await import('./report/words/code-help.ts');
      const text = codeHelp(words[0]!);
      if (!text) throw unknownCommand(words[0]!, CODES);
      console.show(text.join('\n'));
      return EXIT.done;
    }
    if (words[1] === '-') {
      throw new UserError('`-` (stdin) cannot be read', {
        hint: 'save the input to a file, and give the name of that file',
      });
    }
    const cli = yargs()
      .scriptName(PROGRAM)
      .usage(
        '$0 <command>\n\nMoves CRM history into the service: one event per request, triggers suppressed, resumable.',
      );
    for (const [usage, describe] of COMMANDS) {
      const handler = async (argv: Argv): Promise<void> => {
        exitCode = await loadCommand(nameOf(usage)).handler(argv, console);
      };
      const build = (inner: Yargs, isHelp = true): void => {
        const definition = definitionOf(nameOf(usage));
        refuseValues(words, definition);
        declare(inner, definition, { isHelp: isHelp || isCompletion, isWhole });
      };
      cli.command(usage, describe, build, handler);
    }
    cli
      .completion('completion', 'Print a completion script for bash or zsh')
      .example('$0 init exports/*.csv', 'start here: write a mapping for these exports')
      .example('$0 run acme.yaml --dry-run', 'check everything, send nothing')
      .example('$0 run acme.yaml', 'migrate; the same command resumes')
      .example('$0 run --help', 'show the options of a command, with more examples')
      .demandCommand(1, 'missing command')
      .strict()
      .updateStrings({ 'Positionals:': 'Arguments:' })
      .recommendCommands()
      .version(VERSION)
      .epilogue(`More: ${PROGRAM} help COMMAND, help CODE (such as bad_date), help exit-codes, help environment`)
      .parserConfiguration({
        'parse-numbers': false,
        'parse-positional-numbers': false,
        'boolean-negation': false,
      })
      .wrap(Math.min(120, console.columns))
      .exitProcess(false)
      .fail((message, error) => {
        throw error && error.name !== 'YError' ? error : usageError(message || error.message, args);
      });
    if (args.length === 0) {
      console.complain(withoutTypes(await cli.getHelp()));
      return EXIT.nothingSent;
    }
    // The callback is given what yargs would print: a help, the version, a completion script.
    await cli.parseAsync(words, {}, (_error, _argv, output) => {
      if (output !== '') console.print(withoutTypes(output));
    });
    return exitCode;
  } catch (error) {
    return await report(error, console);
  }
}

/** Help and version as people type them: `help run`, `version`, `-h`. As aliases, they would be columns of every help. */
function asTyped(args: readonly string[]): readonly string[] {
  const [first, ...others] = args;
  if (first === 'help') return [...others, '--help'];
  if (others.length === 0 && (first === 'version' || first === '-v')) return ['--version'];
  return args.map((arg) => (arg === '-h' ? '--help' : arg));
}

/** A help without what yargs says of the types of options: `[string] [required]`. */
function withoutTypes(help: string): string {
  return help
    .replace(/(\s+\[(?:string|boolean|array|required|default: \[\])\])+$/gm, '')
    .replace(/\[(?:string|array)\](?= \[)/g, (tag) => ' '.repeat(tag.length));
}

/** Topics of the help that are not commands. */
const TOPICS = new Map<string, () => string>([
  ['completion', () => COMPLETION],
  [
    'exit-codes',
    () =>
      topicText(
        'Exit codes',
        EXIT_CODES.map(([code, meaning]) => [String(code), meaning]),
      ),
  ],
  ['environment', () => topicText('Variables of the environment, or of a .env file', ENVIRONMENT)],
]);

const COMPLETION = `${PROGRAM} completion

Prints a completion script. For bash: ${PROGRAM} completion >> ~/.bashrc
For zsh: ${PROGRAM} completion >> ~/.zshrc`;

function topicText(title: string, rows: readonly (readonly [name: string, what: string])[]): string {
  return [`${title}:`, ...rows.map(([name, what]) => `  ${name}\n${wrapped(`      ${what}`, 80)}`)].join('\n');
}

/**
 * Declares the positionals and options of a command. yargs lays out the help even of a command that it runs, and that is most of its time.
 * So options are hidden from it unless the help is shown. `isWhole`: with all options.
 */
function declare(
  inner: Yargs,
  { positionals, options, mostUsed = Object.keys(options), examples }: CommandDefinition,
  { isHelp, isWhole }: { readonly isHelp: boolean; readonly isWhole: boolean },
): void {
  for (const [name, positional] of Object.entries(positionals)) inner.positional(name, yargsPositional(positional));
  for (const [name, option] of Object.entries(options)) {
    const isShown = isHelp && (isWhole || mostUsed.includes(name));
    inner.option(kebab(name), { ...yargsOption(option), hidden: !isShown });
  }
  // Not as examples of yargs, which breaks commands that are to be copied.
  if (isHelp && examples.length > 0)
    inner.epilogue(['Examples:', ...examples.map(([line, what]) => `  ${line}\n      ${what}`)].join('\n'));
}

/** yargs takes any value of a switch but `true` for false: `--dry-run=yes` would send. */
function refuseValues(args: readonly string[], { options }: CommandDefinition): void {
  for (const [name, { type }] of Object.entries(options)) {
    const switches = type === 'boolean' ? [`--${kebab(name)}`, `--${name}`] : [];
    const at = args.findIndex((arg, index) => {
      const isFollowed = /^(?:true|false)$/.test(args[index + 1] ?? '');
      return switches.some((each) => arg.startsWith(`${each}=`) || (arg === each && isFollowed));
    });
    if (at >= 0)
      throw new UserError(`\`${switches[0]!}\` takes no value`, {
        hint: `see ${commandOf(process.argv, args[0]!, '--help')}`,
      });
  }
}

function unknownCommand(name: string, codes: readonly string[] = []): UserError {
  const near = didYouMean(name, [...COMMANDS.map(([usage]) => nameOf(usage)), ...TOPICS.keys(), ...codes]);
  const help = `see ${commandOf(process.argv, '--help')}`;
  return new UserError(`unknown command: \`${name}\``, { hint: near === undefined ? help : `${near} ${help}` });
}

/** What yargs found wrong with the command line, in the words of this program, with what was probably meant. */
function usageError(message: string, args: readonly string[]): UserError {
  const name = args.find((arg) => !arg.startsWith('-')) ?? '';
  const isCommand = COMMANDS.some(([usage]) => nameOf(usage) === name);
  const command = isCommand ? definitionOf(name) : undefined;
  const help = `see ${commandOf(process.argv, ...(command ? [name] : []), '--help')}`;
  if (message.startsWith('Did you mean ')) return unknownCommand(name);
  const valueless = /^Not enough arguments following: (\S+)/.exec(message)?.[1];
  if (valueless !== undefined) return new UserError(`\`--${kebab(valueless)}\` needs a value`, { hint: help });
  const given = /^Not enough non-option arguments: got (\d+)/.exec(message)?.[1];
  if (given !== undefined) {
    const missing = Object.keys(command?.positionals ?? {}).slice(Number(given));
    const list = missing.map((each) => `<${each}>`).join(', ');
    return new UserError(`missing ${missing.length === 1 ? 'argument' : 'arguments'}: ${list}`, { hint: help });
  }
  const unknown = /^Unknown (?:argument|command)s?: (.*)$/.exec(message)?.[1]?.split(', ')[0];
  if (unknown === undefined) return new UserError(message, { hint: help });
  if (!args.some((arg) => arg.startsWith('-') && arg.includes(unknown))) {
    return command ? new UserError(`unexpected argument: \`${unknown}\``, { hint: help }) : unknownCommand(unknown);
  }
  const near = didYouMean(unknown, Object.keys(command?.options ?? {}).map(kebab));
  const hint = near === undefined ? help : `${near.replace(/`([^`]*)`/g, '`--$1`')} ${help}`;
  return new UserError(`unknown option: \`--${unknown}\``, { hint });
}

/**
 * Reports an error that a command threw. A `UserError` is something the user can fix: message and hint. Anything else is a
 * bug in this program and shows its stack. A failure that is already reported is not thrown: the command returns its exit code.
 */
async function report(thrown: unknown, console: Console): Promise<ExitCode> {
  const error =
    thrown instanceof UserError
      ? thrown
      : (shortageOf(thrown, EXIT.nothingSent) ?? (await import('./store/sqlite.ts')).findDamage() ?? thrown);
  if (error instanceof UserError) {
    console.complain(`error: ${error.message}`);
    if (error.hint) console.complain(`hint: ${error.hint}`);
    return error.exitCode;
  }
  console.complain(
    `internal error in ${PROGRAM} ${VERSION}; please report it: ${error instanceof Error ? error.stack : String(error)}`,
  );
  return EXIT.stopped;
}
