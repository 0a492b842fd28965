/** What is missing in the service, and who must act: one list, without values of records. */
import { basename } from 'node:path';
import { entityOf, kindOf } from '../../kinds/index.ts';
import type { OpenNames, StoredMapping } from '../files/documents.ts';
import { enumerated, numberText } from '../words/numbers.ts';
import { parseJson, type JsonObject } from '../../json.ts';
import type { SkippedRows } from '../../plan/skipped.ts';
import { withoutValues } from '../../send/without-values.ts';
import { placeText } from '../../model.ts';
import { UNUSED } from '../words/unused.ts';
import { capital, fieldText, typeName, typeNoun } from '../words/terms.ts';
import { inSentence } from '../words/sentence.ts';
import { fixOf, isNameCode, meaningOf, type SentenceKey } from '../words/words.ts';
import { causeText, severalText, type Cause, type Causes } from './causes.ts';
import { column, LIMITS, sectionOf, type Cells, type Section } from './figures.ts';
import { openName } from './to-fix.ts';

/** Rows of the list; all others are in errors.csv and left_out.csv. */
const MOST = 60;

const TEAM = 'migration team';
const EXPORTER = 'whoever exports';
const CUSTOMER = 'customer';

/** Who can mend an error, and how, by its kind. The appendix says what the mapping can do. */
const ACTS: Readonly<Record<string, readonly [who: string, how: string]>> = {
  read: [EXPORTER, 'Export the file again, or correct the row.'],
  map: [CUSTOMER, 'Correct the value in the old CRM, or say what it should be.'],
  resolve: [CUSTOMER, 'Say which names of the new CRM to use, or create the missing ones there.'],
  blocked: [EXPORTER, 'Add the record that it belongs to, or agree to send it without that record.'],
  send: [TEAM, 'Read the answer of the service in the appendix.'],
};

/** Errors that somebody else than by their kind can mend, as their own words say: most of them by the mapping. */
const MENDED_BY: Readonly<Record<string, readonly SentenceKey[]>> = {
  [TEAM]: [
    'bad_date/no_offset',
    'bad_date/skipped',
    'bad_date/not_iso',
    'bad_date/out_of_range',
    'bad_number/not_plain',
    'bad_boolean',
    'bad_priority',
    'bad_html',
    'no_country_code',
    'unknown_country',
    'invalid_phone_number',
    'invalid_currency',
    'invalid_content',
    'name_taken',
    'function_failed',
    'not_mapped',
    'list_value',
    'not_scalar',
    'not_text',
    'two_parents',
    'body_too_large',
    'duplicate_external_id/sources',
    'id_of_combined',
    'parent_missing/unused',
    'parent_missing/skipped',
    'deleted_in_service',
    'merged_in_service',
    'refused_in_service',
    'unresolved_stage/id',
    'unresolved_owner/id',
  ],
  [EXPORTER]: ['bad_phone/rounded', 'bad_phone/two_readings', 'scientific_id', 'lookup_missing', 'lone_surrogate'],
};

/** What only one of them can answer. */
const QUESTIONS: Readonly<Record<string, readonly [who: string, how: string]>> = {
  duplicate_external_id: [CUSTOMER, 'Which of the two is right?'],
  rejected_earlier: [TEAM, 'Run the migration again.'],
};

/** `hint`: tells further sentences of a code apart. */
function actsOf({ code, kind, hint }: Pick<Cause, 'code' | 'kind' | 'hint'>): readonly [who: string, how: string] {
  const question = QUESTIONS[code];
  if (question && !(hint ?? '').includes('prefix:')) return question;
  const isVariant = (key: SentenceKey): boolean =>
    key.startsWith(`${code}/`) && hint !== null && hint.endsWith(inSentence(fixOf(key)));
  for (const [who, keys] of Object.entries(MENDED_BY)) {
    const key = keys.find(isVariant) ?? keys.find((each) => each === code);
    if (key !== undefined) return [who, fixOf(key)];
  }
  return ACTS[kind] ?? ACTS.send!;
}

/** `names`: those of the worksheet without an answer. */
export function missingSection(
  causes: Causes,
  pending: number,
  isDryRun: boolean,
  names?: OpenNames,
): Section | undefined {
  const { errors, omissions } = causes;
  const rows = [
    ...errors.map((cause) => [missingText(cause, names), recordsText(cause, 3), cause.frees || null, ...actsOf(cause)]),
    ...(pending > 0 && !isDryRun
      ? [['Not selected, or not sent yet', '', pending, TEAM, 'Run the migration again.']]
      : []),
    ...omissions.map((cause) => [
      onlyText(cause),
      recordsText(cause, 2),
      cause.count,
      ...actsOf({ ...cause, hint: null }),
    ]),
  ];
  if (rows.length === 0) return undefined;
  const hidden = rows.length - MOST;
  const records =
    '“Records” is how many records arrive once this is fixed, with those that depend on them. errors.csv lists each one.';
  return sectionOf({
    id: 'missing',
    title: 'What is missing, and who acts',
    columns: [
      column('text', 'What is missing'),
      column('place', 'First records'),
      column('number', 'Records'),
      column('label', 'Who acts'),
      column('text', 'What to do'),
    ],
    rows: rows.slice(0, MOST),
    notes: [
      ...severalText(causes, 'record').map((text) => `${text}.`),
      ...(errors.length > 0 ? [records] : []),
      ...(omissions.length > 0
        ? [`If only a value is missing, its record ${isDryRun ? 'is sent' : 'has arrived'} without it.`]
        : []),
      ...(hidden > 0 ? [`${hidden} more are in errors.csv and left_out.csv.`] : []),
    ],
  });
}

/** Without values of records, save names of stages and owners, which are none. */
function missingText(cause: Cause, names: OpenNames | undefined): string {
  const { code, kind } = cause;
  const open = names && openName(cause, names);
  if (open) return capital(open.what);
  if (isNameCode(code)) return capital(causeText(cause));
  return `${aboutText(cause)}${meaningOf(code, kind).what || 'The service refused the record.'}`;
}

function aboutText({ field }: Cause): string {
  return field === null ? '' : `${capital(fieldText(field))}: `;
}

function onlyText({ code, kind, field, count, types }: Cause): string {
  const of = types.map((type) => (count === 1 ? `one ${typeNoun(type)}` : typeName(type).toLowerCase())).join(' or ');
  return `Only the ${fieldText(field!)} of ${of}: ${meaningOf(code, kind).what}`;
}

/** `contacts.csv:5 (id 17), contacts.csv:30 (id 18), …`: the first of its records. */
function recordsText({ places, count }: Cause, most: number): string {
  const named = places.filter(({ file }) => file !== '').slice(0, most);
  const texts = named.map(({ externalId: id, ...at }) => {
    return `${placeText({ ...at, file: basename(at.file) })}${id === null ? '' : ` (${id})`}`;
  });
  if (named.length > 0 && count > named.length) texts.push('…');
  return texts.join(', ');
}

const MOST_LISTED = 40;

/** For those who put right what is wrong: every cause with its code, its places, and how to fix it. `withValues`: with what was said of the first. */
export function appendixSections({ errors, omissions, warnings }: Causes, withValues: boolean): readonly Section[] {
  const columns = [
    column('text', 'what'),
    column('code', 'code'),
    column('number', 'count'),
    column('place', 'first places'),
    column('text', 'how to fix it'),
  ];
  const line = (cause: Cause, text: string): Cells => [
    withValues && cause.file !== '' ? `${text} (${[cause.message, cause.original].filter(Boolean).join(': ')})` : text,
    cause.code,
    cause.count,
    recordsText(cause, 5),
    fixText(cause) || '–',
  ];
  const lists = [
    ['errors', 'Errors by cause', errors, (cause: Cause) => refusalText(cause) ?? missingText(cause, undefined)],
    ['omitted', 'Values left out', omissions, onlyText],
    ['warnings', 'Warnings', warnings, ({ code, kind }: Cause) => meaningOf(code, kind).what || code],
  ] as const;
  return lists.map(([id, title, causes, textOf]) => {
    const rows = causes.slice(0, MOST_LISTED).map((cause) => line(cause, textOf(cause)));
    const left = causes.length - rows.length;
    const notes = left > 0 ? [`${numberText(left)} more are in errors.csv or left_out.csv.`] : [];
    return sectionOf({ id, title, columns, rows, notes });
  });
}

/** What the service said of a record, without the values that it repeats. */
function refusalText(cause: Cause): string | undefined {
  const { kind, message, data } = cause;
  if (kind !== 'send' || data === null) return undefined;
  return `${aboutText(cause)}The service answered: ${withoutValues(message, parseJson(data) as JsonObject)}`;
}

/** Of a code that only the service knows, it follows the status, which its hint knows; hints of refusals have no values. */
function fixText({ kind, code, hint }: Cause): string {
  if (kind === 'send' && meaningOf(code, undefined).what === '' && hint) return `${capital(hint)}.`;
  return meaningOf(code, kind).fix;
}

/** Rows that become no event, by source and reason. Undefined if every row became one. */
export function skippedSection(rows: readonly SkippedRows[]): Section | undefined {
  if (rows.length === 0) return undefined;
  return sectionOf({
    id: 'skipped',
    title: 'Rows skipped',
    columns: [column('label', 'source'), column('text', 'why'), column('number', 'rows'), column('number', 'of')],
    rows: rows.map(({ source, reason, why, count, of }) => [source, why ?? UNUSED[reason].words, count, of]),
    limit: LIMITS.skipped,
  });
}

/** Sources without a file first, then events of which there are none, then single values. */
export function notInExportSection({ not_in_export: { sources, entries, values, named } }: StoredMapping): Section {
  const code = (name: string): string => `\`${name}\``;
  const rows: Cells[] = [
    ...sources.map((source) => [source, 'no file']),
    ...entries.map(({ type, source, columns }) => {
      const what = kindOf(entityOf(type)).words[1];
      return [source, `no ${what}: no column ${enumerated(columns.map(code), 'or')}`];
    }),
    ...values.map((each) => [each.source, code(each.column)]),
    ...named.map(({ source, name, header }) => [source, `${code(name)} is read from ${code(header)}`]),
  ];
  return sectionOf({
    id: 'not-in-export',
    title: 'Not in this export',
    columns: [column('label'), column('text')],
    rows,
    limit: LIMITS.lacking,
  });
}

export function assumedSection({ assumed }: StoredMapping): Section {
  return sectionOf({
    id: 'assumed',
    title: 'Set before a live run',
    columns: [column('label'), column('text', 'assumed now')],
    rows: assumed.map(({ place, text }) => [place, text.startsWith('#') ? `nothing: ${text}` : text]),
    limit: LIMITS.assumed,
  });
}
