/** Words for values that the mapping cannot convert, or converts with a doubt. */
import { counted } from './numbers.ts';
import { READ } from './reading.ts';
import type { Codes } from './sentence.ts';

const CELL = 'Fix the value in the export, or change how the mapping reads the field.';
const FILL = 'Add the value to the export, or skip such records with `when`.';
const SKIP = 'Skip such records with `when`.';
const INSIDE = 'Use a path to a value inside it.';
export const SPREADSHEET = 'Export again, and do not open the file in a spreadsheet.';

const notAddress = (value: string): string => `${value} is not a valid e-mail address (\`name@example.com\`)`;
const notCurrency = (value: string): string => `${value} is not an ISO 4217 code (such as \`EUR\`)`;

/** `value`: as it is shown in messages. */
export const VALUE_ERRORS = {
  bad_date: {
    what: 'A date does not match the format in the mapping.',
    says: (value: string, formats: string) => `${value} does not match the date format ${formats}`,
    fix: 'Fix the date in the export, or change the format in the mapping (`date: …`).',
  },
  'bad_date/no_offset': {
    says: (value: string) => `${value} has no offset and no time zone is set`,
    fix: 'Set `defaults.timezone`.',
  },
  'bad_date/skipped': {
    says: (value: string) => `${value} does not exist: the change to daylight saving time skips it`,
    fix: 'Check the time zone of the export.',
  },
  'bad_date/not_iso': {
    says: (value: string) => `${value} is not an ISO 8601 time with an offset`,
    fix: 'Parse it with `apply: [{ date: FORMAT }]`.',
  },
  'bad_date/impossible': {
    says: (value: string) => `${value} has a day, time or offset that does not exist`,
    fix: 'Correct it in the export.',
  },
  'bad_date/out_of_range': {
    says: (value: string) => `${value} is not in the years 1 to 9999 (UTC)`,
    fix: 'If it means that there is no date, add it to `missing_values`.',
  },
  bad_number: {
    what: 'A number does not match the format in the mapping.',
    says: (value: string) => `${value} is not a number`,
    fix: 'Fix the number in the export, or change its format in the mapping (`number: …`).',
  },
  'bad_number/not_plain': {
    says: (value: string) => `${value} is not a plain decimal number`,
    fix: 'Parse it with `apply: [{ number: { decimal: ",", group: "." } }]`, using the separators of the export.',
  },
  'bad_number/too_long': {
    says: (value: string) => `${value} has too many digits to be represented exactly`,
  },
  bad_boolean: {
    what: 'A value is neither yes nor no.',
    says: (value: string) => `${value} is neither yes nor no`,
    fix: 'Convert other values with a `map` transform.',
  },
  bad_priority: {
    what: 'A priority is not a whole number.',
    says: (value: string) => `${value} is not a priority`,
    fix: 'Convert the values with a `map` transform; `"*"` covers all others.',
  },
  bad_html: {
    what: 'An HTML text is nested too deeply.',
    fix: 'Simplify it in the export, or set `on_error: omit` on the field.',
  },
  no_country_code: {
    what: 'A phone number has no country code, and `defaults.region` is not set.',
    says: (value: string) => `${value} has no country code, and \`defaults.region\` is not set`,
    several: 'have no country code, and `defaults.region` is not set',
    fix: 'Set `defaults.region` to the country of such numbers.',
  },
  unknown_country: {
    what: 'A phone number has no country code, and `region_from` names no country.',
    says: (value: string, region: string) =>
      `${value} has no country code, and ${region} is no region code or name of a country`,
    fix: 'Use `map` to convert the country to a two-letter code such as IT.',
  },
  bad_phone: {
    what: 'A phone number is invalid.',
    says: (value: string, region: string | undefined) =>
      `${value} is not a valid phone number${region === undefined ? '' : ` in ${region}`}`,
    fix: CELL,
  },
  'bad_phone/rounded': {
    says: (value: string) => `${value} is not a valid phone number`,
    fix: 'A spreadsheet rounded the number: export it again as text.',
  },
  'bad_phone/two_readings': {
    says: (value: string, readings: string) =>
      `${value} may be ${readings}: it begins with the country code, but has no +`,
    fix: 'Export it with + and country code, or as people in that country dial it.',
  },
  name_taken: {
    what: 'A column has the name of a custom field that the mapping gives another value.',
    says: (name: string) => `the mapping gives the custom field ${name} another value`,
    fix: 'Name the custom field differently.',
  },
  scientific_id: {
    what: 'An id is in scientific notation: its last digits are lost.',
    says: (value: string) => `${value} is an id in scientific notation: its last digits are lost`,
    fix: SPREADSHEET,
  },
  'formula_cell/id': {
    says: (value: string) => `${value} is a formula in place of an id`,
    fix: 'in the spreadsheet, copy the column and paste its values; then export again',
  },
  function_failed: {
    what: 'A function of the mapping failed, or returned something that is not a value.',
    says: (name: string, value: string, why: string, places: string) =>
      `${name} failed on ${value}: ${why} (${places})`,
    fix: 'Correct the function (the message says where it failed), or the values that it reads.',
  },
  not_mapped: {
    what: 'A value is not in its `map`.',
    says: (value: string) => `${value} is not in the map`,
    fix: 'Add the value to the map, or add a "*" entry.',
  },
  missing_value: { what: 'A required value is missing.', fix: FILL },
  missing_part: {
    what: 'A part of an id is missing.',
    says: (path: string) => `\`${path}\` has no value, but the id needs it`,
    fix: FILL,
  },
  list_value: {
    what: 'A list or object was found where text is expected.',
    says: (value: string) => `a list or object (${value}) cannot be used in a template`,
    fix: INSIDE,
  },
  not_scalar: {
    what: 'A list or object was found where a single value is expected.',
    says: (what: string, value: string) => `expected a single value, found ${what} (${value})`,
    fix: INSIDE,
  },
  not_text: {
    what: 'An object was found where text is expected.',
    says: (value: string) => `expected text, found an object (${value})`,
    fix: INSIDE,
  },
  no_parent: {
    what: 'A comment has neither a lead nor a deal.',
    fix: SKIP,
  },
  two_parents: {
    what: 'A comment has both a lead and a deal.',
    says: (lead: string, deal: string) => `the comment names both a lead (${lead}) and a deal (${deal})`,
    fix: 'Choose one with `if_both: deal` or `if_both: lead`.',
  },
  lookup_missing: {
    what: 'A lookup found no record.',
    says: (source: string, value: string) => `no record of \`${source}\` matches ${value}`,
    fix: 'Add the record, or set `if_missing: skip`.',
  },
  ambiguous_lookup: {
    what: 'A lookup found more than one record.',
    says: (source: string, value: string) => `multiple records of \`${source}\` match ${value}, with different values`,
    fix: 'Remove all but one of them, or set `if_many: first`.',
  },
  invalid_email: {
    what: 'An e-mail address is invalid.',
    says: notAddress,
    fix: 'Correct the address; if no other field sends the cell as it is, send it in `custom_params`.',
  },
  'bad_phone/no_country': {
    says: (value: string, sent: string) =>
      `${value} would be ${sent}: no number of that country begins so and has that length`,
    fix: 'Correct the number in the export, or the region of the numbers (`region_from`, `defaults.region`).',
  },
  invalid_phone_number: {
    what: 'A phone number is not in E.164 format.',
    says: (value: string) => `${value} is not in E.164 format (\`+390612345678\`)`,
    fix: 'Set `apply: [phone]` on the field, and a region.',
  },
  invalid_currency: {
    what: 'A currency is not an ISO 4217 code.',
    says: notCurrency,
    fix: 'Convert it with a `map` transform, or set `on_error: omit` on the field and send the column in `custom_fields`, if no other field does.',
  },
  invalid_content: { what: 'A comment is empty.', says: (value: string) => `${value} is empty`, fix: SKIP },
  invalid_value: {
    what: 'A field has a value of the wrong type.',
    says: (mistake: string) => mistake,
    fix: CELL,
  },
  lone_surrogate: {
    what: 'A text is damaged: it contains half a character.',
    says: (field: string) => `${field} contains half of a surrogate pair`,
    fix: CELL,
  },
  body_too_large: {
    what: 'An event is larger than the service accepts.',
    says: (bytes: string, most: string) => `the event has ${bytes} bytes; the service accepts at most ${most}`,
    fix: 'Shorten a field with `truncate`.',
  },
} as const satisfies Codes;

export const VALUE_WARNINGS = {
  extension_dropped: {
    what: 'The extension of a phone number was dropped.',
    says: (value: string) => `dropped the extension of ${value}`,
  },
  unassigned_number: {
    what: 'A phone number has a possible length, but its prefix is not in use.',
    says: (value: string, sent: string, where: string) =>
      `${value} is sent as ${sent}, but its prefix is not in use${where}`,
    fix: 'Check the region of the numbers (`region_from`, `defaults.region`), or leave them out with `strict: true`.',
  },
  ambiguous_date: {
    what: 'A date has a different meaning in two of the formats; the first format was used.',
    says: (value: string) => `${value} matches two formats with different results; using the first`,
    fix: 'Specify a single format.',
  },
  short_year_ahead: {
    what: 'A year of two digits is read as one that is still to come.',
    says: (value: string, year: number) => `${value} is read as ${year}`,
    fix: 'Export years with four digits, if these are past dates such as birth dates.',
  },
  far_date: {
    what: 'A date is far from today: before 1901, more than 50 years ahead, or the first moment of 1970.',
    says: (value: string, year: number) => `${value} is in the year ${year}`,
    fix: 'Correct it in the export. If it means that there is no date, add it to `missing_values`; a year of another calendar (2567) needs a function.',
  },
  seconds_as_ms: {
    what: 'A time in milliseconds since 1970 is in its first weeks: it is probably in seconds.',
    says: (value: string, time: string) => `${value} is ${time} in milliseconds since 1970; is it in seconds?`,
    fix: 'Use the format `unix` instead of `unix_ms`.',
  },
  ambiguous_time: {
    what: 'A local time occurs twice because of a clock change; the earlier one was used.',
    says: (value: string) => `${value} occurs twice because daylight saving time ends; using the first`,
  },
  other_currency: {
    what: 'An amount has the sign or code of another currency than the one that is sent with it.',
    says: (amount: string, mark: string, currency: string) => `${amount} has \`${mark}\`, but is sent as ${currency}`,
    fix: 'Read `currency` from the export, or derive it from the sign with `map`.',
  },
  passed_over: {
    what: 'A later column of a `from` list has a different value, which is not migrated.',
    says: (path: string, taken: string) => `the value of \`${path}\` is not migrated, because \`${taken}\` comes first`,
    fix: 'Read it into a field of its own, such as a custom field.',
  },
  list_cut: {
    what: 'Only one element of a list is migrated.',
    says: (elements: number, list: string) => `only one of the ${elements} values of ${list} is migrated`,
    fix: 'Read all of them into another field as well, with `join` or `as: json`.',
  },
  lookup_unreadable: {
    what: 'Some records could not be read for a lookup.',
    says: (records: number, source: string) =>
      `${counted(records, 'record')} of source \`${source}\` could not be read for a lookup`,
    fix: READ,
  },
  corrected_id: {
    what: 'A correction changes an external id.',
    says: (entity: string, from: string, to: string) =>
      `the correction makes "${to}" of the ${entity}'s external id "${from}"`,
    fix: 'If a spreadsheet did that (`00123` becomes `123`), write the id as it was into the corrected file.',
  },
} as const satisfies Codes;
