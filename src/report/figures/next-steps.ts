/** The next steps after a run or dry run that was not stopped: one command for each need, ready to copy. */
import { basename } from 'node:path';
import { COMBINED } from '../../kinds/index.ts';
import { argumentsOf, commandBeside, commandLine, ONCE } from '../../settings/command-line.ts';
import { SELECTING_FLAGS } from '../../settings/run-settings.ts';
import { shortPath } from '../../files/paths.ts';
import type { Summary } from './summary.ts';
import { counted, enumerated, numberText } from '../words/numbers.ts';
import { isOnlyRepeated } from '../words/service.ts';
import { isNameCode } from '../words/words.ts';
import { CONSEQUENCE } from './causes.ts';
import { column, sectionOf, type Cells, type Section } from './figures.ts';
import type { WrittenPilot } from '../files/pilot.ts';

export interface Circumstances {
  readonly argv: readonly string[];
  readonly mapping: string;
  readonly sandbox: boolean;
  /** Events that this run would send, or would have sent. */
  readonly due: number;
  readonly pilot: WrittenPilot | undefined;
  /** Whether names of stages or owners have no answer, and where to give it. */
  readonly worksheet: { readonly path: string; readonly isNamed: boolean } | undefined;
  /** Files for people that could not be written. */
  readonly unwritten: readonly string[];
  /** The options that another command knows. */
  readonly optionsOf: (command: 'verify' | 'report' | 'purge') => readonly string[];
}

type NextStep = readonly [what: string, command: string];

/** Begins what is done in place of the step before. */
const OR = 'or ';

export function nextSection(summary: Summary, circumstances: Circumstances): Section {
  const steps = stepsAfter(summary, circumstances);
  const isNumbered = steps.length > 1 && !steps.some(([what]) => what.startsWith(OR));
  return stepsSection(
    steps.map(([what, command], at): Cells => {
      if (isNumbered) return [at === 0 ? 'Next' : '', `${at + 1}  ${what}`, command];
      const isOr = what.startsWith(OR);
      return [at === 0 ? 'Next' : isOr ? 'Or' : 'Then', isOr ? what.slice(OR.length) : what, command];
    }),
  );
}

function stepsSection(rows: readonly Cells[]): Section {
  return sectionOf({
    id: 'next',
    columns: [column('label'), column('text'), column('command')],
    rows,
  });
}

export function resumeSection(command: string, what: string): Section {
  return stepsSection([['Resume', what, command]]);
}

function stepsAfter(summary: Summary, circumstances: Circumstances): readonly NextStep[] {
  const { exit, dry_run: dry } = summary;
  const { argv, mapping } = circumstances;
  if (exit.reason === 'too_many_omitted') return [['fix the mapping, then', commandLine(argv)]];
  if (hasFailed(summary)) return correcting(summary, circumstances);
  if (exit.reason === 'too_many_invalid') return [[`fix ${basename(mapping)} or the exports, then`, commandLine(argv)]];
  return dry
    ? sending(summary, circumstances)
    : [...looking(summary, circumstances), ...finishing(summary, circumstances)];
}

/** Whether something can be corrected: what is blocked follows. */
function hasFailed({ events, records }: Summary): boolean {
  return events.invalid + events.rejected + events.blocked + records.unreadable > 0;
}

function correcting(summary: Summary, { argv, mapping, worksheet, sandbox, pilot, due }: Circumstances): NextStep[] {
  const { dry_run: dry, exit } = summary;
  const again = commandLine(argv, { without: dry ? ['--plan'] : [...ONCE, '--plan'] });
  return [
    ...(dry ? [] : looking(summary, { pilot })),
    [
      isRepeated(summary)
        ? 'run it again: no record is at fault'
        : `${correction(summary, { mapping, worksheet })}, then`,
      again,
    ],
    ...(dry &&
    due > 0 &&
    exit.reason !== 'too_many_invalid' &&
    !isUndecided(summary, sandbox) &&
    !('no_account' in summary.warnings_by_code)
      ? [[`${OR}send what is ready${atFullSpeed(summary, argv, sandbox)}`, sendLine(summary, argv, sandbox)] as const]
      : []),
    ...(dry || summary.events.pending === 0 || withoutChoice(argv) === again ? [] : sendingRest(summary, argv, OR)),
  ];
}

function sendingRest({ events }: Summary, argv: readonly string[], label = ''): NextStep[] {
  return [[`${label}send the other ${numberText(events.pending)}`, withoutChoice(argv)]];
}

/** Whether nothing is wrong with the records. */
function isRepeated({ errors_by_code: errors }: Summary): boolean {
  const codes = Object.keys(errors).filter((code) => code !== CONSEQUENCE);
  return codes.length > 0 && codes.every(isOnlyRepeated);
}

const CORRECTED = 'a copy of rejects/ (see `fixes`)';

/** Where the corrections are made: two lines of a screen. */
function correction(
  { errors_by_code: errors }: Summary,
  { mapping, worksheet }: Pick<Circumstances, 'mapping' | 'worksheet'>,
): string {
  const places = [basename(mapping), 'the exports', ...(worksheet?.isNamed === false ? [] : [CORRECTED])];
  const fixed = `fix ${enumerated(places, 'or')}`;
  if (!worksheet) return fixed;
  const { path, isNamed } = worksheet;
  const codes = Object.keys(errors).filter((code) => code !== CONSEQUENCE);
  const rest = codes.length > 0 && codes.every(isNameCode) ? '' : `; ${fixed}`;
  if (isNamed) return `fill in \`new_name\` in ${shortPath(path)}${rest}`;
  return `fill in a copy of ${shortPath(path)} and name it in \`references.file\`${rest}`;
}

/** A live run would stop at the lines that are still marked `set this`. */
function isUndecided({ warnings_by_code: warnings }: Summary, sandbox: boolean): boolean {
  return !sandbox && 'marked_line' in warnings;
}

function sending(summary: Summary, { argv, mapping, sandbox, due }: Circumstances): NextStep[] {
  const { pending, acknowledged } = summary.events;
  if (pending === 0 && due === 0) return [];
  if (isUndecided(summary, sandbox))
    return [
      [`set the lines of ${basename(mapping)} that are marked, then`, commandLine(argv, { without: ['--plan'] })],
    ];
  // With the names of the account it is another plan.
  if ('no_account' in summary.warnings_by_code)
    return [['check the names in the account', commandLine(argv, { without: ['--offline', '--plan'] })]];
  if (due === 0) return [['send what the selected records wait for', withoutChoice(argv)]];
  const line = sendLine(summary, argv, sandbox);
  const how = atFullSpeed(summary, argv, sandbox);
  const isPilot = argv.some((arg) => /^--(pilot|pick|sandbox)\b/.test(arg));
  if (isPilot) return [[`${sandbox ? 'rehearse it' : 'send it'}${how}`, line]];
  // After a pilot, or whatever else was sent.
  if (acknowledged > 0) return [[`send the other ${numberText(due)}${how}`, line]];
  return [
    ['send a pilot of 30 records, and check them in the service', `${line} --pilot 30`],
    ['send everything', line],
  ];
}

/** A rehearsal shows the outcome of the events, not their duration. */
function isHurried({ estimate_seconds: seconds }: Summary, argv: readonly string[], sandbox: boolean): boolean {
  return sandbox && seconds > 0 && !argumentsOf(argv).some(({ option }) => option === '--rate');
}

function atFullSpeed(...run: Parameters<typeof isHurried>): string {
  return isHurried(...run) ? ' at full speed' : '';
}

/** The plan of this dry run. */
function sendLine(summary: Summary, argv: readonly string[], sandbox: boolean): string {
  const { digest } = summary.plan;
  const and = digest === null ? [] : ['--plan', digest];
  if (isHurried(summary, argv, sandbox)) and.push('--rate', '10000/1s');
  return commandLine(argv, { without: [...ONCE, '--plan'], and });
}

/** The same command for everything. */
function withoutChoice(argv: readonly string[]): string {
  return commandLine(argv, {
    without: [...ONCE, '--plan', ...SELECTING_FLAGS, '--until'],
  });
}

function looking(summary: Summary, { pilot }: Pick<Circumstances, 'pilot'>): NextStep[] {
  if (!pilot || pilot.toLookAt === 0) return [];
  const comments = (summary.by_type[`${COMBINED}/created`]?.acknowledged ?? 0) > 0;
  const above = comments ? '; check the comments first, because they cannot be corrected or deleted' : '';
  return [
    [
      `look at ${counted(pilot.toLookAt, 'record')} in the service, in the order of ${shortPath(pilot.path)}${above}`,
      '',
    ],
  ];
}

function finishing(summary: Summary, { argv, sandbox, unwritten, optionsOf }: Circumstances): NextStep[] {
  const { events, files } = summary;
  if (summary.events.pending > 0) return sendingRest(summary, argv);
  if (sandbox || events.total === 0) return [];
  const line = (command: 'verify' | 'report' | 'purge'): string => commandBeside(argv, command, optionsOf(command));
  const report = files.report === null ? 'the report' : shortPath(files.report);
  return [
    ...(unwritten.length > 0
      ? [[`fix what the warnings say, then write ${enumerated(unwritten, 'and')} again`, withoutChoice(argv)] as const]
      : []),
    ['read the records back and compare', line('verify')],
    [`hand over ${report} and ids.csv`, ''],
    ['once it is accepted, delete the personal data', line('purge')],
  ];
}
