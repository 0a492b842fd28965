/** The final text of a run. */
import { isStateLost } from '../halt.ts';
import { controlTotalsText, stagesText } from './control-totals.ts';
import type { CodeExample } from './found-codes.ts';
import { endingText } from './ending.ts';
import { adviceFor, inSentence, isNameCode } from './advice.ts';
import { countOmitted, excessText, omittedLines, type OmittedCounts } from './omitted.ts';
import { BARE } from './profile.ts';
import type { Summary } from './summary.ts';
import { codesText, countedList, countsTable, durationText, shortPath, type CountedText } from './text.ts';
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

/** What the final text contains beside the summary. */
export interface EndTextOptions {
  /** The first issue of each code. */
  readonly examples: ReadonlyMap<string, CodeExample>;
  /** How many of the warnings the last survey of the same mapping gave already, by code. */
  readonly told: Readonly<Record<string, number>>;
  readonly columns: number;
}

/** The final text of a run, before how it ended and the next steps: the counts, the problems and how to fix them. */
export function endText(summary: Summary, { examples, told, columns }: EndTextOptions): string {
  const { events, records, this_run: run, omitted } = summary;
  const counts = [countsTable(summary, columns)];
  if (records.unreadable + records.skipped > 0) {
    counts.push(
      `records: ${numberText(records.read)} read = ${numberText(records.mapped)} mapped + ${numberText(records.skipped)} skipped + ${numberText(records.unreadable)} unreadable`,
    );
  }
  const parts = [...firstText(summary, examples), counts.join('\n')];
  const totals = controlTotalsText(summary.totals, columns);
  if (totals !== '') parts.push(totals);
  const stages = stagesText(summary.totals, columns);
  if (stages !== '') parts.push(stages);
  if (events.gone > 0) parts.push(`${counted(events.gone, 'event')} acknowledged earlier and no longer in the input`);
  if (Object.keys(summary.errors_by_code).length > 0) {
    parts.push(`errors\n${codesText(summary.errors_by_code, examples)}`);
  }
  if (countOmitted(omitted) > 0) parts.push(`values left out of their events\n${omittedText(omitted)}`);
  parts.push(...warningsText(summary, told, examples));
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
function warningsText(
  { dry_run: dry, warnings_by_code: warnings }: Summary,
  told: EndTextOptions['told'],
  examples: EndTextOptions['examples'],
): string[] {
  const added = Object.entries(warnings)
    .map(([code, count]) => [code, count - (dry ? 0 : (told[code] ?? 0))] as const)
    .filter(([, count]) => count > 0);
  const all = Object.values(warnings).reduce((sum, count) => sum + count, 0);
  const again = all - added.reduce((sum, [, count]) => sum + count, 0);
  return [
    ...(added.length > 0
      ? [`${again > 0 ? 'new warnings' : 'warnings'}\n${codesText(Object.fromEntries(added), examples)}`]
      : []),
    ...(again > 0 ? [`${counted(again, 'warning')} that the last survey gave too: see the report`] : []),
  ];
}

const MAX_FIRST = 3;

/** What to look at first: what `--max-omitted` refuses and, in a dry run, the findings that concern most records. */
function firstText(summary: Summary, examples: ReadonlyMap<string, CodeExample>): readonly string[] {
  const excess = summary.over_max_omitted.map((each) => {
    const { message, hint } = excessText(each);
    return `  ${message}\n  hint: ${hint}`;
  });
  if (!summary.dry_run) return excess;
  const found = findings(summary, examples).slice(0, MAX_FIRST);
  if (found.length === 0) return excess;
  return [...excess, `what concerns most records\n${countedList(found, 'finding')}`];
}

/** Errors, values left out and warnings, what concerns most records first; without what `over_max_omitted` says. */
function findings(summary: Summary, examples: ReadonlyMap<string, CodeExample>): readonly CountedText[] {
  const { errors_by_code: errors, warnings_by_code: warnings, omitted, over_max_omitted: excess } = summary;
  const said = ({ type, field }: { readonly type: string; readonly field: string }): boolean =>
    excess.some((each) => each.type === type && each.field === field);
  return [
    ...Object.entries({ ...errors, ...warnings }).map(([code, count]) => ({ count, text: meaning(code, examples) })),
    ...omittedLines(omitted)
      .filter((line) => !said(line))
      .map(({ type, field, code, count }) => ({
        count,
        text: `${type}, left out \`${field}\`: ${inSentence(adviceFor(code, 'map').what)}`,
      })),
  ].sort((a, b) => b.count - a.count);
}

/** A message without a place, or about a field that records lack, is about the whole input; others are about one value. */
function meaning(code: string, examples: ReadonlyMap<string, CodeExample>): string {
  const example = examples.get(code);
  if (example && (example.places.length === 0 || code in BARE)) return example.issue.message;
  return inSentence(adviceFor(code, example?.issue.kind).what);
}

function omittedText(counts: OmittedCounts): string {
  const rows = omittedLines(counts).map(({ type, field, code, count }) => {
    const { what, fix } = adviceFor(code, 'map');
    return { count, text: `${type} ${field}: ${code}`, details: [what, `hint: ${inSentence(fix)}`] };
  });
  return countedList(rows, 'reason');
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
