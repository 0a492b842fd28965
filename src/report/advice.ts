import type { Issue, IssueKind } from '../model.ts';
import { READ, SPREADSHEET, WARNINGS, type Advice } from './warnings.ts';

const CELL = 'Correct the values, or change how the mapping reads the field.';
const NAMES = 'Map the name under `references` in the mapping, or create it in the target account.';
const UNIQUE = 'Under `references` in the mapping, map the name to the id of the right one.';
const RERUN = 'Rerun: the event is sent again with the same id.';
const SKIP = 'Skip such records with `when`.';
const FILL = 'Add the value to the export, or skip such records with `when`.';
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
  ...WARNINGS,
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
