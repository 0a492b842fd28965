/** What is wrong, and what to look at: causes, values left out, warnings. */
import type { ExcessOmission } from '../../survey/omitted.ts';
import { counted, enumerated, numberText } from '../words/numbers.ts';
import { MARKS } from '../words/input.ts';
import { inSentence } from '../words/sentence.ts';
import { isNameCode, meaningOf } from '../words/words.ts';
import { quoted } from '../../problem.ts';
import type { OpenNames } from '../files/documents.ts';
import { causeText, omissionText, placesText, severalText, warningText, type Cause, type Causes } from './causes.ts';
import { column, LIMITS, sectionOf, type Cell, type Section } from './figures.ts';
import type { PlanFigures } from './plan-figures.ts';

const MOST_PLACES = 3;

/** Undefined if nothing keeps events from being sent. `excess`: fields of which too many values would be left out. */
export function causesSection(
  { causes, names }: PlanFigures,
  excess: readonly ExcessOmission[] = [],
): Section | undefined {
  const refused = excess.map((each): Cell[] => {
    const { message, hint } = excessText(each);
    return [message, null, null, each.code, hint];
  });
  const rows = causes.errors.map((cause): Cell[] => {
    const name = names && openName(cause, names);
    if (name) {
      const hint = names.isNamed ? name.hint : cause.hint;
      return [name.what, `${names.file}:${name.line}`, cause.frees || null, cause.code, hint];
    }
    return [causeText(cause), placesOf(cause), cause.frees || null, cause.code, cause.hint];
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

/** Those of which the same is said as of the first. */
function placesOf({ places, message, count }: Cause): string {
  return placesText(places.filter((each) => each.message === message).slice(0, MOST_PLACES), count);
}

/** More names than these are only counted. */
const MOST_NAMED = 3;

/** What of the worksheet the cause is about: one name, or all that are open. */
export function openName(
  { code, message, messages, field }: Cause,
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

/** What of the mapping nobody has checked yet: lines that are still to be set have a section. */
export function marksTexts({ warnings }: Causes): string[] {
  return warnings.flatMap(({ code, message }) => (code === MARKS.check ? [message] : []));
}

/** What touches more than this part of a kind of record is on every screen. */
const LOUD = 1 / 10;

/**
 * What touches many records, then values that are left out, then warnings; the most frequent first. A run that is no dry run only counts
 * the warnings that the last survey of the same mapping gave already. Undefined if there is nothing. `said`: the code of what the verdict
 * says.
 */
export function checksSection({ omissions, warnings }: Causes, isDryRun: boolean, said?: string): Section | undefined {
  const told = warnings.filter(({ code }) => code !== said && !SAID.includes(code));
  const repeated = isDryRun ? 0 : told.reduce((sum, each) => sum + each.repeated, 0);
  const rows = [
    ...omissions.map((each) => ({
      ...each,
      text: omissionText(each),
      hint: inSentence(meaningOf(each.code, 'map').fix),
    })),
    ...told.map((each) => ({ ...each, text: warningText(each), count: each.count - (isDryRun ? 0 : each.repeated) })),
  ].filter(({ count }) => count > 0);
  if (rows.length === 0 && repeated === 0) return undefined;
  const loud = rows.filter(({ share }) => share > LOUD).sort((one, other) => other.count - one.count);
  const all = [...loud, ...rows.filter(({ share }) => share <= LOUD)];
  return sectionOf({
    id: 'checks',
    title: 'CHECK',
    // While it sends, advice is too late.
    columns: [column('number'), column('text'), ...(isDryRun ? [column('hint')] : [])],
    rows: all.map(({ count, text, code, hint }): Cell[] => [count, `${text} (${code})`, hint]),
    notes: repeated > 0 ? [`${counted(repeated, 'warning')}, unchanged since the last check: see report.html`] : [],
    limit: { ...LIMITS.checks, most: Math.max(LIMITS.checks.most, loud.length) },
  });
}

const NOUNS: Readonly<Record<string, string>> = { phone_number: 'phone numbers', email: 'e-mail addresses' };

/** `lead/created: 656 of 950 phone numbers have no country code, and defaults.region is not set`, and how to fix it. */
export function excessText(excess: ExcessOmission): { readonly message: string; readonly hint: string } {
  const { type, field, omitted, of, code, count } = excess;
  const { what, fix, several } = meaningOf(code, 'map');
  const cause = several ?? `would be left out: ${inSentence(what)}`;
  const all = omitted === count ? '' : ` (${numberText(omitted)} would be left out in all)`;
  return {
    message: `${type}: ${numberText(count)} of ${numberText(of)} ${NOUNS[field] ?? `values of \`${field}\``} ${cause}${all}`,
    hint: `${inSentence(fix)}; to leave them out, allow it with --max-omitted`,
  };
}
