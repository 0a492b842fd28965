import type { Issue, IssueKind } from '../model.ts';

/** What an error or warning code means and how to fix it. The texts contain no values of any record. */
export interface Advice {
  readonly what: string;
  readonly fix: string;
}

const READ = 'Correct the record in the export or in the rejects file.';
const CELL = 'Correct the values, or change how the mapping reads the field.';
const NAMES = 'Map the name under `references` in the mapping, or create it in the target account.';
const UNIQUE = 'Under `references` in the mapping, map the name to the id of the right one.';
const RERUN = 'Rerun: the event is sent again with the same id.';
const SKIP = 'Skip such records with `when`.';
const FILL = 'Add the value to the export, or skip such records with `when`.';
const DOUBLES = 'If they are one person, merge them in the old CRM and export again.';
const SPREADSHEET = 'Export again, and do not open the file in a spreadsheet.';
const FOLLOWS = 'Fix that record; the next run then sends this event.';

const BY_CODE: Readonly<Record<string, Advice>> = {
  too_many_cells: { what: 'A row has more cells than the header.', fix: 'Quote the cell that contains the delimiter.' },
  nul_byte: {
    what: 'A cell contains a NUL character.',
    fix: 'Check the encoding of the file, and whether it is damaged.',
  },
  no_json: { what: 'A line is not valid JSON.', fix: READ },
  not_an_object: { what: 'A record is not a JSON object.', fix: READ },
  too_deep: { what: 'A record is nested too deeply.', fix: READ },
  repeated_key: { what: 'A record has the same key twice with different values.', fix: READ },

  bad_date: { what: 'A date does not match the format in the mapping.', fix: CELL },
  bad_number: { what: 'A number does not match the format in the mapping.', fix: CELL },
  bad_boolean: { what: 'A value is neither yes nor no.', fix: 'Convert other values with a `map` transform.' },
  bad_priority: {
    what: 'A priority is not a whole number.',
    fix: 'Convert the values with a `map` transform; `"*"` covers all others.',
  },
  bad_html: {
    what: 'An HTML text is nested too deeply.',
    fix: 'Simplify it in the export, or set `on_error: omit` on the field.',
  },
  no_country_code: {
    what: 'A phone number has no country code, and `defaults.region` is not set.',
    fix: 'Set `defaults.region` to the country of such numbers.',
  },
  unknown_country: {
    what: 'A phone number has no country code, and `region_from` names no country.',
    fix: 'Convert the country with `map` to a two-letter code such as IT.',
  },
  unassigned_number: {
    what: 'A phone number is of a possible length, but no such number is assigned.',
    fix: 'Check the region of the numbers (`region_from`, `defaults.region`), or leave them out with `strict: true`.',
  },
  bad_phone: { what: 'A phone number is invalid.', fix: CELL },
  name_taken: {
    what: 'A column has the name of a custom field that the mapping gives another value.',
    fix: 'Name the custom field differently.',
  },
  scientific_id: { what: 'An id is in scientific notation: its last digits are lost.', fix: SPREADSHEET },
  function_failed: {
    what: 'A function that the mapping calls failed, or returned what is no value.',
    fix: 'Correct the function (the message says where it failed), or the values that it reads.',
  },
  not_mapped: { what: 'A value is not in its `map`.', fix: 'Add the value to the map, or add a "*" entry.' },
  missing_value: { what: 'A required value is missing.', fix: FILL },
  missing_part: { what: 'A part of an id is missing.', fix: FILL },
  list_value: { what: 'A list or object was found where text is expected.', fix: 'Use a path to a value inside it.' },
  not_scalar: {
    what: 'A list or object was found where a single value is expected.',
    fix: 'Use a path to a value inside it.',
  },
  not_text: { what: 'An object was found where text is expected.', fix: 'Use a path to a value inside it.' },
  no_parent: { what: 'A comment has neither a lead nor a deal.', fix: SKIP },
  two_parents: {
    what: 'A comment has both a lead and a deal.',
    fix: 'Choose one with `if_both: deal` or `if_both: lead`.',
  },
  lookup_missing: { what: 'A lookup found no record.', fix: 'Add the record, or set `if_missing: skip`.' },
  ambiguous_lookup: {
    what: 'A lookup found more than one record.',
    fix: 'Remove all but one of them, or set `if_many: first`.',
  },
  duplicate_external_id: {
    what: 'Several records have the same external id with different content.',
    fix: 'Remove all but one, or choose with `duplicates`. If they are of two sources, give the ids of one a `prefix`.',
  },
  source_shrunk: {
    what: 'A source has less than half of the records of the last run.',
    fix: 'Check that the export is complete. A run asks before it goes on, unless --yes is given.',
  },
  deleted_in_service: {
    what: 'A record that has changed in the export was deleted in the service.',
    fix: 'Remove the record from the export, or set `if_changed: ignore`.',
  },
  contact_exists: {
    what: 'The account already has a lead with this e-mail address or phone number.',
    fix: 'Remove the record if `matches.csv` shows the same person, or set `if_contact_exists: report` to send it.',
  },
  contact_in_account: {
    what: 'A lead shares its e-mail address or phone number with one that is in the account already.',
    fix: 'See `matches.csv`. Set `if_contact_exists: reject` to leave such leads out.',
  },
  invalid_email: {
    what: 'An e-mail address is invalid.',
    fix: 'Correct the address, or send the column in `custom_params` as well.',
  },
  invalid_phone_number: {
    what: 'A phone number is not in E.164 format.',
    fix: 'Set `apply: [phone]` on the field, and a region.',
  },
  invalid_currency: {
    what: 'A currency is not an ISO 4217 code.',
    fix: 'Convert it with a `map` transform, or set `on_error: omit` on the field and send the column in `custom_fields`.',
  },
  invalid_content: { what: 'A comment is empty.', fix: SKIP },
  invalid_value: { what: 'A field has a value of the wrong type.', fix: CELL },
  body_too_large: { what: 'An event is larger than the service accepts.', fix: 'Shorten a field with `truncate`.' },
  lone_surrogate: { what: 'A text is damaged: it contains half a character.', fix: CELL },

  unresolved_stage: { what: 'A stage does not exist in the account.', fix: NAMES },
  unresolved_owner: { what: 'An owner does not exist in the account.', fix: NAMES },
  stage_disagrees: {
    what: 'A deal has the id of one stage and the name of another one; the id is sent.',
    fix: 'Map only the one that is right.',
  },
  owner_disagrees: {
    what: 'A deal has the id of one user and the name of another one; the id is sent.',
    fix: 'Map only the one that is right.',
  },
  unresolved_pipeline: { what: 'A pipeline does not exist in the account.', fix: NAMES },
  ambiguous_stage: { what: 'A stage name matches several stages of the account.', fix: UNIQUE },
  ambiguous_owner: { what: 'A name matches several users of the account.', fix: UNIQUE },
  ambiguous_pipeline: { what: 'A pipeline name matches several pipelines of the account.', fix: UNIQUE },

  parent_missing: {
    what: 'The parent is not in the input, or no entry takes it, and it was not acknowledged earlier.',
    fix: 'Add the parent to the input, check the `when` of its entry, or set `if_parent_missing` if the service already has it.',
  },
  parent_failed: { what: 'The parent was not accepted.', fix: FOLLOWS },

  already_exists: {
    what: 'The service already has a record with this external id, which this migration did not create.',
    fix: 'Set `if_exists: skip` to keep such records, or `if_exists: update` (leads and deals only) to overwrite them.',
  },
  not_found: {
    what: 'The record to update does not exist in the service.',
    fix: 'Set `if_missing: skip` to drop such updates, or `if_missing: create` to create the record.',
  },
  parent_not_found: { what: 'The parent does not exist in the service.', fix: 'Send the parent first.' },
  unresolved_reference: {
    what: 'A stage or a user that the account had when this run began does not exist any more.',
    fix: 'Rerun: pipelines and users are read again, and the events that need another name are listed.',
  },
  invalid_payload: { what: 'The service rejected the content.', fix: 'Correct the record or the mapping.' },
  internal: { what: 'The service failed to process this event.', fix: RERUN },
  timeout: { what: 'The service did not answer in time.', fix: RERUN },
  connection_lost: { what: 'The connection was lost repeatedly.', fix: RERUN },
  unreachable: { what: 'The service could not be reached.', fix: RERUN },
  unexpected_answer: { what: 'The answer did not come from the service (possibly from a proxy).', fix: RERUN },
  too_large: { what: 'An answer of the service is too large to be read.', fix: RERUN },
  tls: {
    what: 'A secure connection to the service failed.',
    fix: 'Check the base URL and the certificates of this machine.',
  },
  proxy_auth: { what: 'A proxy refused its credentials.', fix: 'Check its user name and password.' },
  too_many_files: {
    what: 'Too many open files: no connection to the service could be made.',
    fix: 'Raise the limit with `ulimit -n 4096`, then rerun.',
  },
  unsendable: { what: 'The request cannot be built.', fix: 'Check the base URL and the credentials.' },
  rejected_earlier: {
    what: 'An earlier run saw the event rejected, and this run stopped before trying it again.',
    fix: RERUN,
  },
  redirected: { what: 'The service answered with a redirect.', fix: 'Check the base URL.' },

  // Warnings.
  unmatched_answer: {
    what: 'The worksheet answers names that no record has: a spreadsheet may have changed them.',
    fix: 'Write `old_name` as it is in the exports; format the column as text before it is filled in.',
  },
  unused_fix: {
    what: 'The record that a correction replaces is no longer in the input.',
    fix: 'If its successor in the export still needs the correction, correct it there.',
  },
  fixed_again: { what: 'Two files of corrections have the same record; the later one applies.', fix: '' },
  corrected_id: {
    what: 'A correction changes an external id.',
    fix: 'If a spreadsheet did that (`00123` becomes `123`), write the id as it was into the corrected file.',
  },
  short_row: { what: 'A row has fewer cells than the header: the missing cells are read as empty.', fix: '' },
  report_footer: { what: 'A line after the records was skipped as the footer of a report.', fix: '' },
  total_row: { what: 'A row of totals below the records was skipped.', fix: '' },
  ruled_line: { what: 'A line of dashes was skipped.', fix: '' },
  end_of_file_mark: { what: 'A Ctrl-Z at the end of a file was skipped.', fix: '' },
  repeated_header: { what: 'A line repeats the header.', fix: 'Check that no export is included twice.' },
  extension_dropped: { what: 'The extension of a phone number was dropped.', fix: '' },
  ambiguous_date: {
    what: 'A date has a different meaning in two of the formats; the first format was used.',
    fix: 'Specify a single format.',
  },
  seconds_as_ms: {
    what: 'A time in milliseconds since 1970 is in its first weeks: it is probably in seconds.',
    fix: 'Use the format `unix` instead of `unix_ms`.',
  },
  ambiguous_time: { what: 'A local time occurs twice because of a clock change; the earlier one was used.', fix: '' },
  changed: {
    what: 'A record differs from what was acknowledged: its export or the mapping has changed since.',
    fix: 'Set `if_changed` to decide what happens to such records.',
  },
  custom_fields_may_go: {
    what: 'Custom fields of records that somebody else made are sent as a whole: those that the export does not have may go.',
    fix: 'Export them too, or leave custom fields out of that entry.',
  },
  emptied: {
    what: 'A field that was sent no longer has a value in the export. Ingestion cannot clear it, so the service keeps the old one.',
    fix: 'Clear it in the service by hand (`changes.csv` lists each), or set `if_changed: ignore`.',
  },
  comment_changed: {
    what: 'A comment changed after it was sent. A comment can neither be corrected nor withdrawn through ingestion.',
    fix: 'Correct it in the service by hand, or set `if_changed: ignore`.',
  },
  not_comparable: {
    what: 'The service shows a value in a form that cannot be compared, so nothing was overwritten.',
    fix: 'Compare it by hand (`changes.csv` lists each). `if_edited: overwrite` sends the value of the export.',
  },
  row_invalid: {
    what: 'A record has several rows, and one of them cannot be mapped, so nothing of the record is sent.',
    fix: 'Correct that row. With `on_error: omit` a value that cannot be read is left out instead.',
  },
  orphan: {
    what: 'A record was left out, because its parent is not in the input (`if_parent_missing: skip`).',
    fix: '',
  },
  duplicates: { what: 'Another record with the same external id was chosen, by `duplicates`.', fix: '' },
  comment_without_id: {
    what: 'A comment has no id in the export, so it gets one made of its parent, time and text. Changed later, it would be added a second time.',
    fix: '',
  },
  lead_without_contact: {
    what: 'A lead has no name, e-mail address or phone number.',
    fix: 'Map these fields, or skip such records with `when`.',
  },
  marked_line: {
    what: 'A line of the mapping is still marked "set this".',
    fix: 'Set it, and remove the comment.',
  },
  passed_over: {
    what: 'A value is not carried, because one that comes first in its `from` list is another one.',
    fix: 'Read it into a field of its own, such as a custom field.',
  },
  list_cut: {
    what: 'Only one element of a list is carried.',
    fix: 'Read all of them into another field as well, with `join` or `as: json`.',
  },
  lead_without_name: {
    what: 'A lead has no name.',
    fix: 'Map a column to `full_name`, or join first and last name with `list`.',
  },
  deal_without_title: {
    what: 'A deal has no title.',
    fix: 'Map a column to `title`, or make one with `template`.',
  },
  deal_without_amount: {
    what: 'A deal has no amount.',
    fix: 'Map `amount`, if the export has one: see the columns that are not used.',
  },
  currency_without_amount: {
    what: 'A deal has a currency, but no amount.',
    fix: 'Map `amount`, if the export has one: see the columns that are not used.',
  },
  amount_without_currency: {
    what: 'A deal has an amount, but no currency.',
    fix: 'Map a column to `currency`, or set it with `{ value: EUR }`.',
  },
  uncertain: {
    what: 'A request about the record got no answer, so its values in the service are not certain.',
    fix: 'Set `if_changed: update` and rerun, or compare the record in the service by hand.',
  },
  deal_without_lead: {
    what: 'A deal is not tied to a lead.',
    fix: 'Map `lead_external_id` if the export has the ids of the contacts.',
  },
  deal_without_stage: {
    what: "A deal has no stage: it is created in the first stage of the account's default pipeline.",
    fix: 'Map `stage_name`.',
  },
  shared_email: { what: 'Several leads have the same e-mail address.', fix: DOUBLES },
  shared_phone_number: { what: 'Several leads have the same phone number.', fix: DOUBLES },
  never_a_value: {
    what: 'No record has a value in a column or path that the mapping reads.',
    fix: 'Check the name of the column or path, or remove it from the mapping.',
  },
  unread_array: {
    what: 'A JSON file that is read has other arrays, which no source reads.',
    fix: 'Add a source with `records` for an array that belongs to the migration.',
  },
  not_carried: {
    what: 'A column is read only for decisions, so nobody will see its values in the service.',
    fix: 'Name the column among the custom fields, or let `"*": rest` take it.',
  },
  merged_stages: {
    what: 'Several old stages become one, and no other field keeps their names.',
    fix: 'Add the column of the old stage to `custom_fields`, if their deals must be told apart.',
  },
  scientific: { what: 'A spreadsheet has cut long numbers short (3.93E+11).', fix: SPREADSHEET },
  spreadsheet_error: { what: 'A spreadsheet has replaced a value with an error (#REF!).', fix: SPREADSHEET },
  serial_date: { what: 'A spreadsheet has converted a date to a serial number.', fix: SPREADSHEET },
  rounded_id: { what: 'All long ids of a column end in zeros: a spreadsheet has rounded them.', fix: SPREADSHEET },
  leading_zeros_lost: {
    what: 'Some ids or phone numbers lack the zeros with which most others of their column begin.',
    fix: SPREADSHEET,
  },
  day_month_exchanged: {
    what: 'A spreadsheet has probably exchanged day and month of the dates that are valid both ways.',
    fix: SPREADSHEET,
  },
  replacement_character: {
    what: 'Characters were lost in a conversion to another encoding.',
    fix: 'Export again as UTF-8.',
  },
  wrong_encoding: {
    what: 'A text was decoded wrongly before it was exported (`JosÃ©`, `????`).',
    fix: 'Export again as UTF-8; if the old CRM shows it so too, correct it there.',
  },
  html_entities: {
    what: 'A text has HTML entities (`R&amp;D`), and would be shown with them.',
    fix: 'Set `apply: [html_to_text]` on the field.',
  },
  ids_as_decimals: {
    what: 'A program for tables of numbers wrote the ids or phone numbers of a column as decimals; they are read without `.0`.',
    fix: 'Check that the ids are whole numbers in the old CRM.',
  },
  unwrapped_cells: {
    what: 'Cells are written as formulas (`="00123"`); they are read as the text in them.',
    fix: '',
  },
  dates_read_either_way: {
    what: 'All dates of a column are valid both as day/month and as month/day.',
    fix: 'Compare the format in the mapping with dates that you know.',
  },
  dates_read_mixed: {
    what: 'Some dates of a column are valid only as day/month and others only as month/day.',
    fix: 'Export again with one format of dates.',
  },
  more_pages: { what: 'A file is one page of an API response, and there are more.', fix: 'Fetch all pages.' },
  no_records: { what: 'A source has no records.', fix: 'Check that it is the right export.' },
  empty_rows: { what: 'Rows without any value were skipped.', fix: '' },
  doubtful_encoding: { what: 'The encoding of a file is a guess.', fix: 'Set `encoding` on the source.' },
  duplicate_column: {
    what: 'A header has the same name twice.',
    fix: 'Name such a column by its position: `Email#2`.',
  },
  blank_column: { what: 'A column has no name.', fix: '' },
  missing_column: {
    what: 'A file lacks columns that other files of its source have.',
    fix: 'Check that all files are exports of the same kind.',
  },
  unknown_column: {
    what: 'A column in a `from` list does not exist; another one of the list is used.',
    fix: 'Correct its name, or remove it from the list.',
  },
  lookup_unreadable: { what: 'Some records could not be read for a lookup.', fix: READ },
  updated_instead: {
    what: 'The service answered the creation of a record with `updated`: it has changed one that it had already.',
    fix: 'Compare the record in the service.',
  },
  same_service_id: {
    what: 'The service answered the creation of several records with one id: it has one record for them.',
    fix: 'Compare that record in the service, and ask its support why.',
  },
  inactive_owner: {
    what: 'Deals go to users that the service shows as inactive or deleted.',
    fix: 'Map these owners to others under `references.owners`, if somebody is to see the deals.',
  },
  already_combined: {
    what: 'A combined comment is in the service already, sent by a state that is lost, and may lack some of its parts.',
    fix: 'Compare it in the service, and add what is missing there; `if_exists: skip` then takes it as it is.',
  },
  not_created: {
    what: 'The service acknowledged an event without any effect.',
    fix: 'Check the record in the service.',
  },
};

const BY_KIND: Readonly<Record<IssueKind, Advice>> = {
  read: { what: 'A record could not be read.', fix: READ },
  map: { what: 'A value could not be converted.', fix: CELL },
  resolve: { what: 'A name does not exist in the account.', fix: NAMES },
  blocked: { what: 'A record that this event depends on was not accepted.', fix: FOLLOWS },
  send: { what: 'The service rejected the event.', fix: 'Correct the record or the mapping, then rerun.' },
};

/** `kind` is the kind of the issue, if known. It explains codes of the service that are not listed here. */
export function adviceFor(code: string, kind: string | undefined): Advice {
  if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code]!;
  if (kind !== undefined && Object.hasOwn(BY_KIND, kind)) return BY_KIND[kind as IssueKind];
  return { what: '', fix: '' };
}

/** How to fix a problem, as part of a sentence: its own hint, or that of its code. Undefined if nothing need be done. */
export function hintFor({ severity, kind, code, hint }: Pick<Issue, 'severity' | 'kind' | 'code' | 'hint'>) {
  return hint || inSentence(adviceFor(code, severity === 'error' ? kind : undefined).fix) || undefined;
}

/** Whether the code is of a name that the mapping or its worksheet has to resolve. */
export function isNameCode(code: string): boolean {
  return /^(?:unresolved|ambiguous)_(?:pipeline|stage|owner)$/.test(code);
}

/** A sentence as part of another: without its capital letter and full stop. */
export function inSentence(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, '')}`;
}

/** What the events of the ingestion webhook cannot contain (service interface, sections 2 and 4.2). */
export const NOT_MIGRATED: readonly (readonly [string, string])[] = [
  ['The owner of a lead', 'lead events have no owner field; the service assigns the account owner'],
  ['Original creation dates', 'the service dates records by their arrival; the original time is kept for audit only'],
  ['Companies', 'there are no company events, and leads have no company field'],
  ['Further contacts of a deal', 'a deal has only one lead'],
  ['Dates of comments', 'the service dates comments by their arrival; the original time is kept for audit only'],
  ['Corrections of comments', 'a comment cannot be corrected or deleted once it is in the service'],
];
