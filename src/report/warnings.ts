/** What warnings mean, and what to do: about values that go out all the same, and about the input as a whole. */

/** What an error or warning code means and how to fix it. The texts contain no values of any record. */
export interface Advice {
  readonly what: string;
  readonly fix: string;
}

export const READ = 'Correct the record in the export or in the rejects file.';
const DOUBLES = 'If they are one person, merge them in the old CRM and export again.';
export const SPREADSHEET = 'Export again, and do not open the file in a spreadsheet.';

export const WARNINGS: Readonly<Record<string, Advice>> = {
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
  combined_unknown: {
    what: 'The checkpoint is lost in which it stood what combined comments carry.',
    fix: 'Use the exports of the last run, or put a copy of the checkpoint back.',
  },
  not_created: {
    what: 'The service acknowledged an event without any effect.',
    fix: 'Check the record in the service.',
  },
};
