/** What `init` calls things, in words for the user, and the names by which it tells them. */
import type { CountryCode } from 'libphonenumber-js/max/es6';
import type { RecordKind, Role } from './roles.ts';

/** What each field is, where no column has it. */
export const MISSING: Readonly<Record<string, readonly [what: string, isNeeded: boolean]>> = {
  full_name: ['a name', true],
  email: ['an e-mail address', false],
  phone_number: ['a phone number', false],
  occurred_at: ['the date of creation', false],
  title: ['a title', true],
  amount: ['an amount', false],
  currency: ['a currency', true],
  stage_name: ['a stage', true],
  stage_pipeline: ['a pipeline', false],
  owner_name: ['an owner', false],
  content: ['a text', true],
  author_name: ['an author', false],
};

/** Roles that may tell records apart together, the best first. */
export const STAND_INS: Readonly<Record<string, readonly (readonly (Role | 'company')[])[]>> = {
  lead: [
    ['email'],
    ['full', 'company'],
    ['first', 'last', 'company'],
    ['full', 'email'],
    ['first', 'last'],
    ['full'],
    ['phone'],
    ['company', 'phone'],
  ],
  deal: [['title'], ['title', 'created'], ['title', 'stage'], ['title', 'amount'], ['created', 'amount']],
};

/** Undefined for comments without an id, which need none, and where nothing is there. `person`: the key of the person in the same row. */

/** Why files are not used, by what they are called. */
export const NOT_USED: Readonly<Record<string, string>> = {
  other: 'the service has no place for such records',
  payment: 'payments and line items are not deals',
  company: 'the service has no companies',
  user: 'nothing refers to these people',
  stage: 'nothing refers to these stages',
  comment: 'it has no text, or no id of a lead or deal',
};

/** What shows that records are of a kind. */
export const SIGNS: Readonly<Record<string, string>> = {
  reach: 'an address or number',
  called: 'others refer to them',
  calledDeal: 'others refer to them',
  parent: 'the id of a lead or deal',
  content: 'a text',
  happened: 'a time',
  ofLead: 'they refer to people',
};

/** What a file may be. */
export const FILE_KINDS: Readonly<Record<string, readonly [label: string, kinds: readonly RecordKind[]]>> = {
  leads: ['people: they become leads', ['lead']],
  deals: ['deals', ['deal']],
  both: ['people and deals: each row becomes both', ['lead', 'deal']],
  comments: ['notes, calls, tasks: they become comments', ['comment']],
  none: ['none of these; other records may look up names in it', []],
};

/** What happens without a line that is no field. */
export const WITHOUT: Readonly<Record<string, string>> = {
  when: ': these records are sent, too',
  duplicates: ': rows with the same id and different values are errors',
};

/** Of answers that are typed. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  region: 'IT',
  timezone: 'Europe/Rome',
  missing_values: 'N/A, -',
};

/** Columns that no CRM exports together, and what the file is. */
export const OWN: readonly (readonly [what: string, columns: readonly string[]])[] = [
  ['the worksheet of names', ['kind', 'pipeline', 'old_name', 'new_name']],
  ['errors of a run', ['event_type', 'external_id', 'event_id', 'kind', 'code']],
  ['values left out by a run', ['external_id', 'field', 'original', 'reason']],
  ['a result of a run', ['external_id', 'service_id']],
  ['rejected records of a run', ['_file', '_line', '_error', '_row']],
  ['a plan', ['new: external_id', 'new: occurred_at']],
];

/** What arrays and sheets are called that hold any records. */
export const WRAPPERS =
  /^(?:data|results?|items|records|list|rows|values?|content|hits|elements|documents|docs|nodes|edges|entries|(?:sheet|tabelle|feuil|hoja|foglio|planilha|blad|arkusz|лист)\s?\d*)$/i;
/** An object around each record. */
export const ENVELOPE =
  /^(?:item|node|_source|record|document|doc|entry|row|element|object|properties|attributes|fields)\./i;

/** Countries that share a calling code and its numbers; the library tells them apart only by area code. */
export const MAIN_COUNTRY: Readonly<Record<string, CountryCode>> = {
  39: 'IT',
  44: 'GB',
  47: 'NO',
  61: 'AU',
  358: 'FI',
};

/** Domains of countries that are in use all over the world. */
export const WORLDWIDE = /\.(?:ac|ai|co|eu|fm|gg|io|ly|me|to|tv)$/;

/** Files that are no tables, by the ends of their names, and what they are. */
export const NO_TABLES: readonly (readonly [end: RegExp, what: string])[] = [
  [/\.ya?ml$/i, 'a mapping'],
  [/\.(?:vcf|vcard)$/i, 'a file of vCards: export the people as CSV'],
  [/\.(?:mbox|eml|msg|pst)$/i, 'e-mail messages: export the notes as CSV'],
  [/\.ics$/i, 'a calendar: export the activities as CSV'],
];
