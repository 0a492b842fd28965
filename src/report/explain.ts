import type { IssueKind } from '../model.ts';

/** What a code stands for and how to mend it, in words that hold no value of any record. */
export interface Explanation {
  readonly what: string;
  readonly fix: string;
}

const READ = 'Correct the record in the export, or in the rejects file.';
const CELL = 'Correct the cells, or adapt how the mapping reads the field.';
const NAMES = 'Map the name under `references` in the mapping, or create it in the target account.';
const UNIQUE = 'Name the one that is meant by its id under `references` in the mapping.';
const RERUN = 'Run again: it is tried once more, under the same id.';

const BY_CODE: Readonly<Record<string, Explanation>> = {
  too_many_cells: { what: 'A row has more cells than the header.', fix: 'Quote the cell that holds the delimiter.' },
  nul_byte: {
    what: 'A cell holds a NUL character.',
    fix: 'The file is damaged, or in another encoding than declared.',
  },
  no_json: { what: 'A line is no JSON.', fix: READ },
  not_an_object: { what: 'A record is no JSON object.', fix: READ },
  too_deep: { what: 'A record is nested too deeply.', fix: READ },
  repeated_key: { what: 'A record has one key twice, with different values.', fix: READ },

  bad_date: { what: 'A date cannot be read as the mapping says.', fix: CELL },
  bad_number: { what: 'A number cannot be read as the mapping says.', fix: CELL },
  bad_boolean: { what: 'A value is neither yes nor no.', fix: 'Turn other words into these with a `map` transform.' },
  bad_phone: { what: 'A phone number cannot be read.', fix: CELL },
  bad_expression: {
    what: 'An expression of the mapping failed.',
    fix: 'Mend the expression, or the values it reads.',
  },
  not_mapped: { what: 'A value is not in its `map`.', fix: 'Add it to the map, or give the map a "*".' },
  missing_value: {
    what: 'A required value is missing.',
    fix: 'Fill it in the export, or skip such records with `when`.',
  },
  missing_part: {
    what: 'A part of an id is missing.',
    fix: 'Fill it in the export, or skip such records with `when`.',
  },
  list_value: { what: 'A list or object stands where a text is needed.', fix: 'Name a path inside it.' },
  not_scalar: { what: 'A list or object stands where a single value is needed.', fix: 'Name a path inside it.' },
  not_text: { what: 'An object stands where a text is needed.', fix: 'Name a path inside it.' },
  no_parent: { what: 'A comment names neither a lead nor a deal.', fix: 'Skip such records with `when`.' },
  missing_parent: { what: 'A comment names neither a lead nor a deal.', fix: 'Skip such records with `when`.' },
  two_parents: { what: 'A comment names a lead and a deal.', fix: 'Choose with `if_both: deal` or `if_both: lead`.' },
  lookup_missing: { what: 'A lookup found no record.', fix: 'Add the record, or set `if_missing: skip`.' },
  ambiguous_lookup: { what: 'A lookup found several records.', fix: 'Make them one, or set `if_many: first`.' },
  duplicate_external_id: {
    what: 'Several records have one external id and different content.',
    fix: 'Remove all but one, or choose with `duplicates: first` or `duplicates: last`.',
  },
  invalid_external_id: { what: 'A record has no external id.', fix: 'Fill it in the export, or skip such records.' },
  invalid_email: { what: 'An e-mail address cannot be one.', fix: 'Correct it, or give the field `on_error: omit`.' },
  invalid_phone_number: { what: 'A phone number is not in the form E.164.', fix: 'Read it with `apply: [phone]`.' },
  invalid_currency: { what: 'A currency is no ISO 4217 code.', fix: 'Turn it into one with a `map` transform.' },
  invalid_content: { what: 'A comment is empty.', fix: 'Skip such records with `when`.' },
  invalid_value: { what: 'A field has a value of the wrong kind.', fix: CELL },
  body_too_large: { what: 'An event is larger than the service takes.', fix: 'Shorten a field with `truncate`.' },
  lone_surrogate: { what: 'A text is damaged (half a character).', fix: CELL },

  unresolved_stage: { what: 'A stage name has no counterpart in the account.', fix: NAMES },
  unresolved_owner: { what: 'An owner has no counterpart in the account.', fix: NAMES },
  unresolved_pipeline: { what: 'A pipeline name has no counterpart in the account.', fix: NAMES },
  ambiguous_stage: { what: 'A stage name stands for several stages of the account.', fix: UNIQUE },
  ambiguous_owner: { what: 'A name stands for several users of the account.', fix: UNIQUE },
  ambiguous_pipeline: { what: 'A name stands for several pipelines of the account.', fix: UNIQUE },

  parent_missing: {
    what: 'The record it hangs on is neither in the input nor in the service as far as known.',
    fix: 'Add the parent to the input, or set `if_parent_missing` if the service has it already.',
  },
  parent_failed: { what: 'The record it hangs on was not accepted.', fix: 'Mend the parent: this follows by itself.' },
  own_created_failed: { what: 'The record it updates was not accepted.', fix: 'Mend that: this follows by itself.' },

  already_exists: {
    what: 'The service has a record with this external id that this migration did not make.',
    fix: '`if_exists: skip` leaves such records alone, `if_exists: update` overwrites them.',
  },
  not_found: {
    what: 'The record to update is not in the service.',
    fix: '`if_missing: skip` drops such updates, `if_missing: create` makes the record.',
  },
  parent_not_found: { what: 'The service does not know the parent.', fix: 'Send the parent first.' },
  unresolved_reference: { what: 'The service does not know a stage or an owner.', fix: NAMES },
  invalid_payload: { what: 'The service refuses the content.', fix: 'Correct the record or the mapping.' },
  internal: { what: 'The service failed on this event.', fix: RERUN },
  timeout: { what: 'The service gave no answer in time.', fix: RERUN },
  connection_lost: { what: 'The connection was lost again and again.', fix: RERUN },
  unreachable: { what: 'The service could not be reached.', fix: RERUN },
  unexpected_answer: { what: 'Something else than the service answered (a proxy?).', fix: RERUN },
  redirected: { what: 'The service answered with a redirect.', fix: 'Check the base URL.' },

  // Warnings.
  short_row: { what: 'A row has fewer cells than the header: those missing count as empty.', fix: '' },
  report_footer: { what: 'A line below the records was taken for the footer of a report.', fix: '' },
  repeated_header: { what: 'A line repeats the header.', fix: 'Check that no export is in twice.' },
  extension_dropped: { what: 'The extension of a phone number was dropped.', fix: '' },
  ambiguous_date: { what: 'Two formats read a date differently; the first was taken.', fix: 'Give one format.' },
  ambiguous_time: { what: 'A local time occurs twice that night; the first was taken.', fix: '' },
  changed: {
    what: 'A record has changed since it was acknowledged.',
    fix: '`if_changed` decides what becomes of such records.',
  },
  comment_without_id: { what: 'A comment without external id cannot be corrected later.', fix: '' },
  lead_without_contact: { what: 'A lead has neither a name nor an e-mail address nor a phone number.', fix: '' },
  deal_without_lead: { what: 'A deal names no lead.', fix: '' },
  deal_without_stage: { what: 'A deal names no stage.', fix: '' },
  not_created: { what: 'The service acknowledged an event without any effect.', fix: 'Look at the record there.' },
};

const BY_KIND: Readonly<Record<IssueKind, Explanation>> = {
  read: { what: 'A record could not be read.', fix: READ },
  map: { what: 'A value could not become what the service takes.', fix: CELL },
  resolve: { what: 'A name has no counterpart in the account.', fix: NAMES },
  blocked: { what: 'Something it hangs on was not accepted.', fix: 'Mend that: this follows by itself.' },
  send: { what: 'The service refused it.', fix: 'Correct the record or the mapping, then run again.' },
};

/** `kind` is that of the issue, where known: it explains codes that only the service knows. */
export function explain(code: string, kind: string | undefined): Explanation {
  if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code]!;
  if (kind !== undefined && Object.hasOwn(BY_KIND, kind)) return BY_KIND[kind as IssueKind];
  return { what: '', fix: '' };
}

/** What no event of the ingestion webhook can carry (service interface, sections 2 and 4.2). */
export const NOT_CARRIED: readonly (readonly [string, string])[] = [
  ['The owner of a lead', 'an event about a lead has no field for it; the service assigns the account’s owner'],
  ['Original creation dates', 'records are dated by their arrival; the original time is kept for audit only'],
  ['Companies', 'there is no event for companies, and a lead names none'],
  ['Further contacts of a deal', 'a deal hangs on one lead'],
  ['Dates of comments', 'comments are dated by their arrival; the original time is kept for audit only'],
  ['Corrections of comments', 'a comment can be neither corrected nor withdrawn once it is in the service'],
];

/**
 * A reason without the values it names, for whoever may not see them: what stands between the outermost quotes is left
 * out, and where any word of the value is still in sight, all of it.
 */
export function withoutValues(reason: string, original: string): string {
  const plain = reason.replace(/`.*`/s, '…').replace(/".*"/s, '…').trim();
  const words = original.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const seen = plain.toLowerCase();
  return words.some((word) => seen.includes(word)) ? 'the value cannot be read' : plain;
}
