/** What is missing in the service, and who must act: one list, without values of records. */
import { basename } from 'node:path';
import { entityOf, kindOf } from '../../kinds/index.ts';
import type { StoredMapping } from '../files/documents.ts';
import { enumerated } from '../words/numbers.ts';
import { countFindings, ofSeverity, type Finding } from '../files/findings.ts';
import type { SkippedRows } from '../files/skipped.ts';
import { placeText, type EventCounts, type EventType } from '../../model.ts';
import { UNUSED } from '../words/unused.ts';
import { capital, fieldWords, typeName, typeNoun } from '../words/terms.ts';
import { inSentence } from '../words/sentence.ts';
import { fixOf, isNameCode, meaningOf, type SentenceKey } from '../words/words.ts';
import { causeText, severalText, type ErrorCause, type ErrorPlace } from './causes.ts';
import { column, LIMITS, sectionOf, type Cell, type Cells, type Section } from './figures.ts';

/** Rows of the list; all others are in errors.csv and left_out.csv. */
const MOST = 60;

const TEAM = 'whoever runs the migration';
const EXPORTER = 'whoever made the export';

/** Who can mend an error, and how, by its kind. The appendix says what the mapping can do. */
const ACTS: Readonly<Record<string, readonly [who: string, how: string]>> = {
  read: [EXPORTER, 'Export the file again, or correct the row.'],
  map: ['whoever knows the record', 'Correct the value in the old CRM, or say what it should be.'],
  resolve: ['whoever decides on names', 'Say which names of the new CRM to use, or create the missing ones there.'],
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
    'invalid_currency/carried',
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

/** `hint`: tells further sentences of a code apart. */
function actsOf(code: string, kind: string, hint: string | null): readonly [who: string, how: string] {
  const isVariant = (key: SentenceKey): boolean =>
    key.startsWith(`${code}/`) && hint !== null && hint.endsWith(inSentence(fixOf(key)));
  for (const [who, keys] of Object.entries(MENDED_BY)) {
    const key = keys.find(isVariant) ?? keys.find((each) => each === code);
    if (key !== undefined) return [who, fixOf(key)];
  }
  return ACTS[kind] ?? ACTS.send!;
}

interface MissingFound {
  readonly causes: readonly ErrorCause[];
  readonly findings: readonly Finding[];
  readonly events: EventCounts;
  readonly isDryRun: boolean;
}

export function missingSection({ causes, findings, events, isDryRun }: MissingFound): Section | undefined {
  const omitted = ofSeverity(findings, 'omission');
  const rows = [
    ...causes.map(causeRow),
    ...(events.pending > 0 && !isDryRun
      ? [['Not selected, or not sent yet', '', events.pending, TEAM, 'Run the migration again.']]
      : []),
    ...omitted.map(omissionRow),
  ] satisfies Cell[][];
  if (rows.length === 0) return undefined;
  const hidden = rows.length - MOST;
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
      ...severalText(causes).map((text) => `${text}.`),
      ...(causes.length > 0
        ? [
            '“Records” is how many records arrive once this is fixed, with those that depend on them. errors.csv lists each one.',
          ]
        : []),
      ...(countFindings(omitted) > 0
        ? [`If only a value is missing, its record ${isDryRun ? 'is sent' : 'has arrived'} without it.`]
        : []),
      ...(hidden > 0 ? [`${hidden} more are in errors.csv and left_out.csv.`] : []),
    ],
  });
}

function causeRow(cause: ErrorCause): Cell[] {
  const { kind, code, field, places, count, frees, hint } = cause;
  const { what } = meaningOf(code, kind);
  const about = field === null ? '' : `${capital(wordsOf(field))}: `;
  // Names of stages and owners are no values of records.
  const text = isNameCode(code) ? capital(causeText(cause)) : `${about}${what || 'The service refused the record.'}`;
  return [text, recordsText(places, count), frees, ...actsOf(code, kind, hint)];
}

function omissionRow({ field, code, kind, count, types, examples }: Finding): Cell[] {
  const { what } = meaningOf(code, kind);
  const of = Object.keys(types)
    .map((type) => (count === 1 ? `one ${typeNoun(type)}` : typeName(type as EventType | '').toLowerCase()))
    .join(' or ');
  const places = examples.filter(({ file }) => file !== '').slice(0, 2);
  return [
    `Only the ${wordsOf(field)} of ${of}: ${what}`,
    recordsText(places, count),
    count,
    ...actsOf(code, kind, null),
  ];
}

/** `contacts.csv:5 (id 17), contacts.csv:30 (id 18), …`: the first of `count` records. */
function recordsText(places: readonly ErrorPlace[], count: number): string {
  const texts = places.map(({ externalId: id, ...at }) => {
    return `${placeText({ ...at, file: basename(at.file) })}${id === null ? '' : ` (${id})`}`;
  });
  if (places.length > 0 && count > places.length) texts.push('…');
  return texts.join(', ');
}

function wordsOf(field: string): string {
  const [, custom] = /^custom_(?:params|fields)\.(.*)$/s.exec(field) ?? [];
  return custom === undefined ? fieldWords(field) : `custom field “${custom}”`;
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
      return [source, `no ${what}, for want of ${enumerated(columns.map(code), 'and')}`];
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
