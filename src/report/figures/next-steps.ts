/** The next steps after a run or dry run: one command for each need, ready to copy. */
import { COMBINED } from '../../kinds/index.ts';
import { needsAdopt } from '../../halt.ts';
import { argumentsOf, commandBeside, commandLine, ONCE } from '../../settings/command-line.ts';
import { SANDBOX } from '../../settings/credentials.ts';
import { SELECTING_FLAGS } from '../../settings/run-settings.ts';
import { countDue } from '../../plan/counts.ts';
import { shortPath } from '../../files/paths.ts';
import { countPilotThere, PILOT_FILE, readPilot } from '../files/pilot.ts';
import { counted, enumerated, numberText } from '../words/numbers.ts';
import { isOnlyRepeated } from '../words/service.ts';
import { isNameCode } from '../words/words.ts';
import { CONSEQUENCE } from './causes.ts';
import { column, sectionOf, type Cells, type Section } from './figures.ts';
import type { PlanFigures } from './plan-figures.ts';
import type { Summary } from './summary.ts';

/** The command line of a run, from which the next ones are made. */
export interface Invocation {
  readonly argv: readonly string[];
  /** Files for people that could not be written. */
  readonly unwritten: readonly string[];
  /** The options that another command knows. */
  readonly optionsOf: (command: 'verify' | 'purge') => readonly string[];
}

/** A run or dry run that has ended, and how it was called. */
interface EndedRun extends Invocation {
  readonly plan: PlanFigures;
  readonly summary: Summary;
  /** The name of the mapping file. */
  readonly mapping: string;
  readonly sandbox: boolean;
}

type NextStep = readonly [what: string, command: string];

/** Begins what is done in place of the step before. */
const OR = 'or ';

export function nextSection(plan: PlanFigures, summary: Summary, invocation: Invocation): Section {
  if (summary.exit.message !== undefined) return resumeSection(summary, invocation);
  const { mapping = 'the mapping', base_url: baseUrl } = plan.survey ?? {};
  const steps = stepsAfter({ plan, summary, mapping, sandbox: baseUrl === SANDBOX, ...invocation });
  const isNumbered = steps.length > 1 && !steps.some(([what]) => what.startsWith(OR));
  return stepsSection(
    steps.map(([what, command], at): Cells => {
      if (isNumbered) return [at === 0 ? 'Next' : '', `${at + 1}  ${what}`, command];
      const isOr = what.startsWith(OR);
      return [at === 0 ? 'Next' : isOr ? 'Or' : 'Then', isOr ? what.slice(OR.length) : what, command];
    }),
  );
}

/** Whether nothing arrives twice is asked at 2 a.m. `summary`: undefined if the run was killed. */
export function resumeSection(summary: Summary | undefined, { argv }: Invocation): Section {
  const and = needsAdopt(summary?.exit.reason) ? ['--adopt'] : [];
  const command = commandLine(argv, summary?.dry_run ? {} : { without: ['--fresh', ...and], and });
  return stepsSection([['Resume', 'safe at any time: nothing arrives twice', command]]);
}

function stepsSection(rows: readonly Cells[]): Section {
  return sectionOf({ id: 'next', columns: [column('label'), column('text'), column('command')], rows });
}

function stepsAfter(ended: EndedRun): readonly NextStep[] {
  const { summary, argv, mapping } = ended;
  const { exit, events, records, dry_run: dry } = summary;
  if (exit.reason === 'too_many_omitted') return [['fix the mapping, then', commandLine(argv)]];
  // What is blocked follows what can be corrected.
  if (events.invalid + events.rejected + events.blocked + records.unreadable > 0) return correcting(ended);
  if (exit.reason === 'too_many_invalid') return [[`fix ${mapping} or the exports, then`, commandLine(argv)]];
  return dry ? sending(ended) : [...looking(ended), ...finishing(ended)];
}

function correcting(ended: EndedRun): NextStep[] {
  const { plan, summary, argv } = ended;
  const { dry_run: dry, exit, warnings_by_code: warnings } = summary;
  const again = commandLine(argv, { without: dry ? ['--plan'] : [...ONCE, '--plan'] });
  const fix = isRepeated(summary) ? 'run it again: no record is at fault' : `${correction(ended)}, then`;
  if (!dry) {
    const [first, ...others] = finishing(ended);
    const rest: NextStep[] = first
      ? [[`${OR}${summary.events.pending > 0 ? '' : 'accept them: '}${first[0]}`, first[1]]]
      : [];
    return [...looking(ended), [fix, again], ...rest.filter(([, command]) => command !== again), ...others];
  }
  const isReady = countDue(plan.states) > 0 && exit.reason !== 'too_many_invalid';
  const isSendable = isReady && !isUndecided(ended) && !('no_account' in warnings);
  return [
    [fix, again],
    ...(isSendable ? [[`${OR}send what is ready${atFullSpeed(ended)}`, sendLine(ended)] as const] : []),
  ];
}

/** Whether nothing is wrong with the records. */
function isRepeated({ errors_by_code: errors }: Summary): boolean {
  const codes = Object.keys(errors).filter((code) => code !== CONSEQUENCE);
  return codes.length > 0 && codes.every(isOnlyRepeated);
}

/** Where the corrections are made: two lines of a screen. */
function correction({ plan: { names }, summary: { errors_by_code: errors }, mapping }: EndedRun): string {
  const places = `${mapping} or the exports`;
  if (!names) return `fix ${places} (or correct rejects/, see the guide)`;
  const codes = Object.keys(errors).filter((code) => code !== CONSEQUENCE);
  const rest = codes.length > 0 && codes.every(isNameCode) ? '' : `; fix ${places}`;
  if (names.isNamed) return `fill in \`new_name\` in ${names.file}${rest}`;
  return `fill in a copy of ${names.file} and name it in \`references.file\`${rest}`;
}

/** A live run would stop at the lines that are still marked `set this`. */
function isUndecided({ summary: { warnings_by_code: warnings }, sandbox }: EndedRun): boolean {
  return !sandbox && 'marked_line' in warnings;
}

function sending(ended: EndedRun): NextStep[] {
  const { plan, summary, argv, mapping, sandbox } = ended;
  const { pending, acknowledged } = summary.events;
  const due = countDue(plan.states);
  if (pending === 0 && due === 0) return [];
  if (isUndecided(ended))
    return [[`set the lines of ${mapping} that are marked, then`, commandLine(argv, { without: ['--plan'] })]];
  // With the names of the account it is another plan.
  if ('no_account' in summary.warnings_by_code)
    return [['check the names in the account', commandLine(argv, { without: ['--offline', '--plan'] })]];
  if (due === 0) return [['send what the selected records wait for', withoutChoice(argv, '--plan')]];
  const line = sendLine(ended);
  const how = atFullSpeed(ended);
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
function isHurried({ summary: { estimate_seconds: seconds }, argv, sandbox }: EndedRun): boolean {
  return sandbox && seconds > 0 && !argumentsOf(argv).some(({ option }) => option === '--rate');
}

function atFullSpeed(ended: EndedRun): string {
  return isHurried(ended) ? ' at full speed' : '';
}

/** The plan of this dry run. */
function sendLine(ended: EndedRun): string {
  const { digest } = ended.summary.plan;
  const and = [...(digest === null ? [] : ['--plan', digest]), ...(isHurried(ended) ? ['--rate', '10000/1s'] : [])];
  return commandLine(ended.argv, { without: [...ONCE, '--plan'], and });
}

/** The same command for everything, which is the same plan. */
function withoutChoice(argv: readonly string[], ...more: readonly string[]): string {
  return commandLine(argv, { without: [...ONCE, ...SELECTING_FLAGS, '--until', ...more] });
}

function looking({ plan: { db }, summary }: EndedRun): NextStep[] {
  const pilot = readPilot(db);
  const there = pilot ? countPilotThere(db) : 0;
  if (there === 0) return [];
  const comments = (summary.by_type[`${COMBINED}/created`]?.acknowledged ?? 0) > 0;
  const above = comments ? '; check the comments first, because they cannot be corrected or deleted' : '';
  const file = shortPath(summary.files.errors.replace(/errors\.csv$/, pilot?.file ?? PILOT_FILE));
  return [[`look at ${counted(there, 'record')} in the service, in the order of ${file}${above}`, '']];
}

function finishing({ summary, argv, sandbox, unwritten, optionsOf }: EndedRun): NextStep[] {
  const { events, files } = summary;
  if (events.pending > 0) return [[`send the other ${numberText(events.pending)}`, withoutChoice(argv)]];
  if (sandbox || events.total === 0) return [];
  const line = (command: 'verify' | 'purge'): string => commandBeside(argv, command, optionsOf(command));
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
