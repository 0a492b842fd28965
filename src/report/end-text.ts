/** The final text of a run. */
import { isStateLost } from '../halt.ts';
import { controlTotalsText, stagesText } from './control-totals.ts';
import { endingText } from './ending.ts';
import { inSentence } from '../vocabulary/sentence.ts';
import { isNameCode, meaningOf } from '../vocabulary/words.ts';
import { countFindings, isDropped, leftOut, ofSeverity, type Finding } from './findings.ts';
import { countOmitted, excessText } from './omitted.ts';
import type { Summary } from './summary.ts';
import { countedList, countsTable, durationText, findingsText, shortPath, typesOf } from './text.ts';
import { counted, numberText } from '../terminal/numbers.ts';

/** The result in a single line, for `--quiet`. */
export function briefText(summary: Summary): string {
  const { events, exit, files, omitted, over_max_omitted: excess } = summary;
  const failed = events.invalid + events.rejected + events.blocked;
  const left = countOmitted(omitted);
  return [
    endingText(summary) ?? exit.reason,
    ...excess.map((each) => `${excessText(each).message}.`),
    `${counted(events.total, 'event')}, ${numberText(failed)} not accepted`,
  ]
    .join(' ')
    .concat(left > 0 ? `, ${counted(left, 'value')} left out` : '', `; see ${shortPath(files.errors)}`);
}

/** The final text of a run, before how it ended and the next steps: the counts, the problems and how to fix them. */
export function endText(summary: Summary, findings: readonly Finding[], columns: number): string {
  const { events, records, this_run: run } = summary;
  const counts = [countsTable(summary, columns)];
  if (records.unreadable + records.skipped > 0) {
    counts.push(
      `records: ${numberText(records.read)} read = ${numberText(records.mapped)} mapped + ${numberText(records.skipped)} skipped + ${numberText(records.unreadable)} unreadable`,
    );
  }
  const first = firstFindings(summary, findings);
  const parts = [...firstText(summary, first), counts.join('\n')];
  const totals = controlTotalsText(summary.totals, columns);
  if (totals !== '') parts.push(totals);
  const stages = stagesText(summary.totals, columns);
  if (stages !== '') parts.push(stages);
  if (events.gone > 0) parts.push(`${counted(events.gone, 'event')} acknowledged earlier and no longer in the input`);
  const errors = ofSeverity(findings, 'error');
  if (errors.length > 0) parts.push(`errors\n${findingsText(errors)}`);
  const left = leftOut(findings);
  if (left.length > 0) parts.push(`values left out of their events\n${findingsText(left)}`);
  parts.push(...warningsText(summary, ofSeverity(findings, 'warning'), first));
  if (!summary.dry_run) {
    parts.push(
      `this run: ${counted(run.requests, 'request')}, ${counted(run.events_sent, 'event')} sent, ` +
        `${numberText(run.retries)} ${run.retries === 1 ? 'retry' : 'retries'}, ` +
        `rate-limited ${counted(run.rate_limited, 'time')}, ${durationText(run.seconds)}`,
    );
  }
  const look = filesToRead(summary);
  if (look.length > 0) parts.push(look.map(([name, path]) => `${name.padEnd(8)} ${shortPath(path)}`).join('\n'));
  return parts.join('\n\n');
}

/** A dry run is there to be read: it shows all of them. A run shows those that are new, and counts the others. */
function warningsText({ dry_run: dry }: Summary, warnings: readonly Finding[], first: readonly Finding[]): string[] {
  const added = warnings
    .map((each) => ({ ...each, count: each.count - (dry ? 0 : each.told), isSaid: isSaidInFull(each, first) }))
    .filter(({ count }) => count > 0);
  const again = countFindings(warnings) - countFindings(added);
  return [
    ...(added.length > 0 ? [`${again > 0 ? 'new warnings' : 'warnings'}\n${findingsText(added)}`] : []),
    ...(again > 0 ? [`${counted(again, 'warning')} that the last survey gave too: see the report`] : []),
  ];
}

const MAX_FIRST = 3;

/** The findings of a dry run that concern most records, without what `over_max_omitted` says. */
function firstFindings({ dry_run: dry, over_max_omitted: excess }: Summary, findings: readonly Finding[]): Finding[] {
  if (!dry) return [];
  const isSaid = ({ field, types }: Finding): boolean =>
    excess.some((each) => each.field === field && each.type in types);
  return findings.filter((each) => !isDropped(each) && !isSaid(each)).slice(0, MAX_FIRST);
}

/** What to look at first: what `--max-omitted` refuses and, in a dry run, the findings that concern most records. */
function firstText(summary: Summary, first: readonly Finding[]): readonly string[] {
  const excess = summary.over_max_omitted.map((each) => {
    const { message, hint } = excessText(each);
    return `  ${message}\n  hint: ${hint}`;
  });
  if (first.length === 0) return excess;
  const rows = first.map((each) => ({ count: each.count, text: findingText(each) }));
  return [...excess, `what concerns most records\n${countedList(rows, 'finding')}`];
}

/** Whether its message stands among the first findings already. */
function isSaidInFull(finding: Finding, first: readonly Finding[]): boolean {
  return first.includes(finding) && isOfInput(finding);
}

/** A message without a place is about the whole input; others are about one value. */
function isOfInput({ severity, examples: [example] }: Finding): boolean {
  return severity !== 'omission' && example?.file === '';
}

function findingText(finding: Finding): string {
  const { severity, code, kind, field, examples } = finding;
  const what = inSentence(meaningOf(code, kind).what);
  if (severity === 'omission') return `${typesOf(finding)}, left out \`${field}\`: ${what}`;
  return isOfInput(finding) ? examples[0]!.message : what;
}

function filesToRead({
  exit,
  files,
  errors_by_code: errors,
  warnings_by_code: warnings,
  omitted,
  pilot,
}: Summary): (readonly [name: string, path: string])[] {
  if (isStateLost(exit.reason)) return [];
  const beside = (name: string): string => files.errors.replace(/errors\.csv$/, name);
  const failed = Object.keys(errors).length > 0;
  const all = [
    [pilot !== null, 'pilot', beside('pilot.csv')],
    [files.report !== null, 'report', files.report ?? ''],
    [failed, 'errors', files.errors],
    [failed, 'rejects', beside('rejects')],
    [Object.keys(errors).some(isNameCode), 'names', beside('references.csv')],
    ['contact_exists' in errors || 'contact_in_account' in warnings, 'matches', beside('matches.csv')],
    [countOmitted(omitted) > 0, 'omitted', beside('omitted.csv')],
  ] as const;
  return all.flatMap(([isThere, name, path]) => (isThere ? [[name, path] as const] : []));
}
