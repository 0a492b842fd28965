/** What is wrong, and what to look at: causes, values left out, warnings. */
import { countFindings, type Finding } from '../files/findings.ts';
import { excessText } from '../files/omitted.ts';
import type { Summary } from '../files/summary.ts';
import type { WrittenWorksheet } from '../../survey/worksheet-file.ts';
import type { NameRow } from '../../survey/worksheet-rows.ts';
import { shortPath } from '../../files/paths.ts';
import { counted, enumerated } from '../words/numbers.ts';
import { MARKS } from '../words/input.ts';
import { fieldWords } from '../words/terms.ts';
import { inSentence } from '../words/sentence.ts';
import { isNameCode, meaningOf } from '../words/words.ts';
import { quoted } from '../../problem.ts';
import { causeText, placesText, severalText, type ErrorCause } from './causes.ts';
import { column, LIMITS, sectionOf, type Cell, type Section } from './figures.ts';

/** Names without an answer, and where the worksheet has them. */
export interface OpenNames {
  /** As messages name it. */
  readonly file: string;
  /** Whether the mapping names the worksheet. */
  readonly isNamed: boolean;
  readonly rows: readonly (Pick<NameRow, 'kind' | 'pipeline' | 'oldName' | 'suggestions'> & {
    readonly line: number;
  })[];
}

/** Undefined if nothing keeps events from being sent. `names`: of the worksheet, where this survey wrote one. */
export function causesSection(
  causes: readonly ErrorCause[],
  { over_max_omitted: excess }: Pick<Summary, 'over_max_omitted'>,
  names: OpenNames | undefined,
): Section | undefined {
  const refused = excess.map((each): Cell[] => {
    const { message, hint } = excessText(each);
    return [message, null, null, each.code, hint];
  });
  const rows = causes.map((cause): Cell[] => {
    const name = names && openName(cause, names);
    if (name) {
      const hint = names.isNamed ? name.hint : cause.hint;
      return [name.what, `${names.file}:${name.line}`, cause.frees, cause.code, hint];
    }
    return [causeText(cause), placesText(cause.places, cause.count), cause.frees, cause.code, cause.hint];
  });
  if (refused.length + rows.length === 0) return undefined;
  return sectionOf({
    id: 'causes',
    title: 'FIX FIRST',
    columns: [column('text'), column('place'), column('number', 'frees'), column('code'), column('hint')],
    rows: [...refused, ...rows],
    notes: severalText(causes),
    limit: LIMITS.causes,
  });
}

/** The names of a worksheet that have no answer; undefined if all have one. */
export function openNamesOf({ path, isNamed, rows }: WrittenWorksheet): OpenNames | undefined {
  const open = rows.filter(({ isOpen }) => isOpen);
  return open.length === 0 ? undefined : { file: shortPath(path), isNamed, rows: open };
}

/** More names than these are only counted. */
const MOST_NAMED = 3;

/** What of the worksheet the cause is about: one name, or all that are open. */
function openName(
  { code, message, messages, field }: ErrorCause,
  { rows: open }: OpenNames,
): { what: string; line: number; hint: string | null } | undefined {
  if (!isNameCode(code) || field?.endsWith('_id')) return undefined;
  const isMeant = ({ kind, oldName }: OpenNames['rows'][number]): boolean =>
    code.endsWith(`_${kind}`) && message.includes(`\`${oldName}\``);
  const rows = messages > 1 ? open : open.filter(isMeant).slice(0, 1);
  const [first] = rows;
  if (!first) return undefined;
  const named = rows.map(({ kind, oldName, pipeline }) => {
    return `${kind} \`${oldName}\`${pipeline === '' ? '' : ` of \`${pipeline}\``}`;
  });
  const byKind = [...new Set(rows.map(({ kind }) => kind))].map((each) => {
    return counted(rows.filter(({ kind }) => kind === each).length, each);
  });
  const what = enumerated(rows.length > MOST_NAMED ? byKind : named, 'and');
  const hint = rows.length === 1 && first.suggestions.length > 0 ? `similar: ${quoted(first.suggestions)}` : null;
  return { what: `${what} ${rows.length === 1 ? 'has' : 'have'} no new name`, line: first.line, hint };
}

/** The survey says it beside the worksheet, and the verdict beside the figures. */
const SAID: readonly string[] = ['unmatched_answer', ...Object.values(MARKS)];

/** What of the mapping nobody has decided or checked yet. */
export function marksTexts(findings: readonly Finding[]): string[] {
  // The lines that are still to be set have a section.
  const codes: readonly string[] = [MARKS.check];
  return findings.flatMap(({ code, examples }) => (codes.includes(code) ? [examples[0]!.message] : []));
}

/**
 * What touches many records, then values that are left out, then warnings; the most frequent first. A run that is no dry run only counts
 * the warnings that the last survey of the same mapping gave already. Undefined if there is nothing. `said`: the code of what the verdict
 * says.
 */
export function checksSection(findings: readonly Finding[], isDryRun: boolean, said?: string): Section | undefined {
  const all = findings.filter((each) => each.severity !== 'error' && each.code !== said && !SAID.includes(each.code));
  const added = all
    .map((each) => ({ ...each, count: each.count - (isDryRun ? 0 : each.repeated) }))
    .filter(({ count }) => count > 0);
  const again = countFindings(all) - countFindings(added);
  if (added.length + again === 0) return undefined;
  const rank = (each: Finding): number => (isLoud(each) ? 0 : each.severity === 'omission' ? 1 : 2);
  const sorted = added.toSorted((one, other) => rank(one) - rank(other));
  return sectionOf({
    id: 'checks',
    title: 'CHECK',
    // While it sends, advice is too late.
    columns: [column('number'), column('text'), ...(isDryRun ? [column('hint')] : [])],
    rows: sorted.map((each): Cell[] => [each.count, `${checkText(each)} (${each.code})`, hintOf(each)]),
    notes: again > 0 ? [`${counted(again, 'warning')}, unchanged since the last check: see report.html`] : [],
    limit: { ...LIMITS.checks, most: Math.max(LIMITS.checks.most, added.filter(isLoud).length) },
  });
}

/** What touches more than this part of a kind of record is on every screen. */
const LOUD = 1 / 10;

function isLoud({ share }: Finding): boolean {
  return (share ?? 0) > LOUD;
}

function checkText(finding: Finding): string {
  const { severity, code, kind, field, count, examples } = finding;
  const [first] = examples;
  const what = inSentence(meaningOf(code, kind).what);
  if (severity === 'omission') return `${fieldWords(field)} left out: ${what}`;
  // Said of the whole input, or of one record.
  if (first?.file === '') return first.message;
  return first && count === 1 ? `${first.message}: ${placesText([first], 1)}` : what;
}

function hintOf({ severity, code, kind, examples: [first] }: Finding): string | null {
  return (severity === 'omission' ? inSentence(meaningOf(code, kind).fix) : first?.hint) || null;
}
