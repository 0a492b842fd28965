/** What to do after a run, with the commands for it. */
import { COMBINED } from '../kinds/index.ts';
import { flow } from './init/lines/yaml.ts';
import { kebab } from '../settings/option.ts';
import { isNameCode } from '../vocabulary/words.ts';
import type { WrittenPilot } from '../report/pilot-file.ts';
import type { Summary } from '../report/summary.ts';
import type { ToCorrect } from '../report/to-correct.ts';
import { shortPath } from '../report/text.ts';
import { counted, numberText } from '../terminal/numbers.ts';
import { argumentsOf, commandLine, commandOf, ONCE, quoted } from './command-line.ts';
import type { CommandDefinition } from './command.ts';
import { definition as report } from './report.ts';
import { definition as verify } from './verify.ts';

/** Sources of which the commands are printed. */
const MOST_TO_CORRECT = 3;

/** What the next steps depend on besides the summary. */
interface Circumstances {
  readonly mapping: string;
  readonly sandbox: boolean;
  readonly toCorrect: readonly ToCorrect[];
  readonly pilot: WrittenPilot | undefined;
}

/** The next steps after a run that was not stopped, with their commands. */
export function nextSteps(summary: Summary, argv: readonly string[], circumstances: Circumstances): readonly string[] {
  const { pilot } = circumstances;
  if (summary.dry_run || !pilot || pilot.toLookAt === 0) return stepsAfter(summary, argv, circumstances, 'next:');
  const comments = (summary.by_type[`${COMBINED}/created`]?.acknowledged ?? 0) > 0;
  return [
    `next: look at ${counted(pilot.toLookAt, 'record')} in the service, in the order of ${shortPath(pilot.path)}, which says what each shows` +
      (comments ? '; above all at the comments, which cannot be corrected or deleted' : ''),
    ...stepsAfter(summary, argv, circumstances, 'then'),
  ];
}

/** `first`: the word before the first step. */
function stepsAfter(
  summary: Summary,
  argv: readonly string[],
  { mapping, sandbox, toCorrect }: Circumstances,
  first: 'next:' | 'then',
): readonly string[] {
  const { events, records, dry_run: dry, exit, plan } = summary;
  const failed = events.invalid + events.rejected + events.blocked + records.unreadable;
  const approved = dry && plan.digest !== null ? ['--plan', plan.digest] : [];
  // A rehearsal shows what becomes of the events, not how long that takes.
  if (dry && sandbox && !argumentsOf(argv).some(({ option }) => option === '--rate'))
    approved.push('--rate', '10000/1s');
  const plain = commandLine(argv, { without: [...ONCE, '--plan'], and: approved });
  if (exit.reason === 'too_many_omitted') return [`${first} fix the mapping, then:`, `  ${commandLine(argv)}`];
  if (toCorrect.length > 0) {
    const hasNames = Object.keys(summary.errors_by_code).some(isNameCode);
    return [
      `${first} ${hasNames ? 'fill in the names (see the worksheet above), ' : ''}fix the mapping or exports, or correct copies of the rejects and name them in ${shortPath(mapping)}:`,
      ...toCorrect
        .slice(0, MOST_TO_CORRECT)
        .flatMap(({ source, rejects, copy, fixes }) => [
          `  cp ${quoted(shortPath(rejects))} ${quoted(shortPath(copy))}`,
          `  fixes: ${flow(fixes.length === 1 ? fixes[0] : fixes)}  # in source ${flow(source)}`,
        ]),
      ...(toCorrect.length > MOST_TO_CORRECT
        ? [
            `and likewise ${toCorrect
              .slice(MOST_TO_CORRECT)
              .map(({ source }) => flow(source))
              .join(', ')}`,
          ]
        : []),
      'then run again:',
      // Corrected records make another plan.
      `  ${commandLine(argv, { without: dry ? ['--plan'] : [...ONCE, '--plan'] })}`,
      ...(dry && events.pending > 0 && exit.reason !== 'too_many_invalid'
        ? ['to send the valid events now:', `  ${plain}`]
        : []),
    ];
  }
  if (dry) {
    if (exit.reason === 'too_many_invalid')
      return [`${first} fix the mapping or exports, then:`, `  ${commandLine(argv)}`];
    if (events.pending === 0) return [];
    const isPilot = argv.some((arg) => /^--(pilot|pick|sandbox)\b/.test(arg));
    return [
      ...(isPilot
        ? []
        : [`${first} send a pilot of 30 records and check them in the service:`, `  ${plain} --pilot 30`]),
      isPilot ? first : 'then send everything:',
      `  ${plain}`,
    ];
  }
  if (events.pending > 0) {
    const whole = commandLine(argv, {
      without: [...ONCE, '--pilot', '--pick', '--only', '--max-requests', '--until'],
    });
    return [`${first} send the ${numberText(events.pending)} events that are still pending:`, `  ${whole}`];
  }
  if (sandbox || failed > 0 || events.total === 0) return [];
  return [
    `${first} read the records back and compare them:`,
    `  ${lineOf('verify', verify, argv)}`,
    'then write the report again, to hand it over:',
    `  ${lineOf('report', report, argv)}`,
  ];
}

/** Another command with what the run was told about the account and the files. */
function lineOf(command: string, { options }: CommandDefinition, argv: readonly string[]): string {
  const names = Object.keys(options).filter((name) => name !== 'json');
  const known = new Set(names.map((name) => `--${kebab(name)}`));
  const [, ...kept] = argumentsOf(argv).filter(({ option }) => option === undefined || known.has(option));
  return commandOf(argv, command, ...kept.flatMap(({ words }) => words));
}
