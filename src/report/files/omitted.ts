/** Values left out of events, in words. The texts contain no values of any record. */
import type { EventType } from '../../model.ts';
import { inSentence } from '../words/sentence.ts';
import { meaningOf } from '../words/words.ts';
import { numberText } from '../words/numbers.ts';

/** How many values were left out: by type, field and the code of the reason. */
export type OmittedCounts = Readonly<Record<EventType, Readonly<Record<string, Readonly<Record<string, number>>>>>>;

/** A field of which more values would be left out than `--max-omitted` allows, with the most frequent reason. */
export interface ExcessOmission {
  readonly type: EventType;
  readonly field: string;
  readonly code: string;
  /** Values left out for this reason. */
  readonly count: number;
  /** Events that would be sent without a value of the field, and events that have one. */
  readonly omitted: number;
  readonly of: number;
}

export function countOmitted(counts: OmittedCounts): number {
  const byReason = Object.values(counts).flatMap((fields) => Object.values(fields));
  return byReason.flatMap((codes) => Object.values(codes)).reduce((sum, count) => sum + count, 0);
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
