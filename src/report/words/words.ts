/**
 * The one vocabulary: the meaning of every code and how to fix it. The message of one case is beside the sentence of its code, so that
 * terminal, report and tables agree.
 */
import { BARE_WARNINGS, DAMAGE_WARNINGS, INPUT_WARNINGS } from './input.ts';
import { READ, READ_ERRORS, READ_WARNINGS } from './reading.ts';
import {
  BLOCKED_ERRORS,
  DELETED_ERRORS,
  DIFFERENCE_WARNINGS,
  NAME_ERRORS,
  RECORD_ERRORS,
  RECORD_WARNINGS,
} from './records.ts';
import { inSentence, type Codes, type Words } from './sentence.ts';
import { SEND_ERRORS, SEND_WARNINGS } from './service.ts';
import { VALUE_ERRORS, VALUE_WARNINGS } from './values.ts';
import { Problem, type ProblemKind, type ProblemParts } from '../../problem.ts';

type Head = Pick<Problem, 'severity' | 'kind'>;

function of<T extends Codes>(severity: Problem['severity'], kind: ProblemKind, codes: T) {
  return Object.fromEntries(Object.entries(codes).map(([key, words]) => [key, { severity, kind, ...words }])) as {
    readonly [K in keyof T]: T[K] & Head;
  };
}

export const WORDS = {
  ...of('error', 'read', READ_ERRORS),
  ...of('warning', 'read', READ_WARNINGS),
  ...of('error', 'map', VALUE_ERRORS),
  ...of('warning', 'map', VALUE_WARNINGS),
  ...of('warning', 'map', INPUT_WARNINGS),
  ...of('warning', 'map', DAMAGE_WARNINGS),
  ...of('warning', 'map', BARE_WARNINGS),
  ...of('error', 'resolve', NAME_ERRORS),
  ...of('error', 'resolve', DELETED_ERRORS),
  ...of('error', 'map', RECORD_ERRORS),
  ...of('warning', 'map', RECORD_WARNINGS),
  ...of('warning', 'map', DIFFERENCE_WARNINGS),
  ...of('error', 'blocked', BLOCKED_ERRORS),
  ...of('error', 'send', SEND_ERRORS),
  ...of('warning', 'send', SEND_WARNINGS),
};

/** A code, or `code/variant` for a further sentence of it. */
export type SentenceKey = keyof typeof WORDS;

/** What the sentence of one case is made of. */
export type Given<K extends SentenceKey> = (typeof WORDS)[K] extends { readonly says: (...given: infer G) => string }
  ? G
  : [];

/** The issue of one case, with its message; a variant also has a hint of its own. */
export function issueOf<K extends SentenceKey>(key: K, ...given: Given<K>): Problem {
  const { severity, kind, what, says, fix }: Words & Head = WORDS[key];
  const [code, variant] = key.split('/') as [string, string?];
  const message = says ? says(...(given as never[])) : inSentence(what ?? meaningOf(code, kind).what);
  const hint = variant !== undefined && fix !== undefined ? inSentence(fix) : undefined;
  return new Problem({ severity, kind, code, message, hint });
}

const BY_KIND: Readonly<Record<ProblemKind, Advice>> = {
  read: { what: 'A record could not be read.', fix: READ },
  map: { what: 'A value could not be converted.', fix: VALUE_ERRORS.bad_date.fix },
  resolve: { what: 'A name does not exist in the account.', fix: NAME_ERRORS.unresolved_stage.fix },
  blocked: { what: 'A record that this event depends on was not accepted.', fix: BLOCKED_ERRORS.parent_failed.fix },
  send: { what: 'The service rejected the event.', fix: 'Correct the record or the mapping, then rerun.' },
};

/** What a code means and how to fix it, as sentences without any value of a record; empty where there is nothing to say. */
interface Advice {
  readonly what: string;
  readonly fix: string;
  /** What is said of several values, after their number. */
  readonly several?: string;
}

/** `kind`: of the issue, if known. It explains codes of the service that are not listed here. */
export function meaningOf(code: string, kind: string | undefined): Advice {
  if (Object.hasOwn(WORDS, code)) {
    const { what = '', fix = '', several }: Words = WORDS[code as SentenceKey];
    return { what, fix, ...(several !== undefined && { several }) };
  }
  if (kind !== undefined && Object.hasOwn(BY_KIND, kind)) return BY_KIND[kind as ProblemKind];
  return { what: '', fix: '' };
}

/** How to fix what a sentence says. */
export function fixOf(key: SentenceKey): string {
  const { fix }: Words = WORDS[key];
  return fix ?? meaningOf(key.split('/')[0]!, undefined).fix;
}

/** How to fix a problem, as part of a sentence: its own hint, or that of its code. Undefined if nothing need be done. */
export function hintFor({
  severity,
  kind,
  code,
  hint,
  field,
}: Pick<ProblemParts, 'severity' | 'kind' | 'code' | 'hint' | 'field'>) {
  const fix = hint || inSentence(meaningOf(code, severity === 'error' ? kind : undefined).fix) || undefined;
  return fix !== undefined && code === 'bad_date' && field === 'occurred_at' ? `${fix}; ${AUDIT_ONLY}` : fix;
}

const AUDIT_ONLY =
  'or send such records without it (`on_error: omit` on `occurred_at`), since the service keeps it for audit only';

/** The codes of names that the mapping or its worksheet has to resolve. */
export const NAME_CODES: readonly string[] = Object.keys(NAME_ERRORS).filter((key) => !key.includes('/'));

export function isNameCode(code: string): boolean {
  return NAME_CODES.includes(code);
}
