/** Every option of every command, declared once. Checks, defaults, `--help` and the usage text of the README derive from it. */
import { LIMITS } from '../contract.ts';
import {
  answers,
  concurrency,
  delimiter,
  duration,
  eventTypes,
  oneOrMore,
  pathsByName,
  pickedRecords,
  planDigest,
  port,
  rate,
  sampleSize,
  seconds,
  text,
  time,
  tolerance,
  zeroOrMore,
} from './checks.ts';
import type { OptionTable } from './option.ts';

const INPUT = 'Input:';
const WHAT = 'What to send:';
const WHERE = 'Service:';
const PACE = 'Pace:';
const STOP = 'When to stop:';
const STATE = 'State:';
const OUTPUT = 'Output:';

/** The files of `mappings/` that `init` knows. */
const PRESETS = [
  ...['bitrix24', 'close-json', 'dynamics365', 'hubspot-api', 'hubspot-csv', 'pipedrive-api', 'pipedrive-csv'],
  ...['salesforce-api', 'salesforce-dataloader', 'salesforce-export', 'salesforce-report', 'zoho-api', 'zoho-csv'],
];

export const OPTIONS = {
  source: {
    group: INPUT,
    type: 'repeatable',
    check: pathsByName,
    describe: 'Read this file for source NAME instead of the one in the mapping (NAME=PATH, repeatable)',
  },
  encoding: {
    group: INPUT,
    type: 'value',
    check: text('an encoding'),
    shownDefault: 'detected',
    describe: 'Encoding of the exports, such as windows-1252',
  },
  delimiter: {
    group: INPUT,
    type: 'value',
    check: delimiter,
    shownDefault: 'detected',
    describe: 'Delimiter of the CSV files among them: one character, or `tab`',
  },
  state: {
    group: INPUT,
    type: 'value',
    check: text('a directory'),
    shownDefault: '.backfill/<migration>',
    describe: 'State directory; by default beside the mapping file',
  },
  dryRun: { group: WHAT, type: 'boolean', describe: 'Check every record and send nothing' },
  plan: {
    group: WHAT,
    type: 'value',
    check: planDigest,
    describe: 'Send this plan or nothing: the 12 hexadecimal digits that a dry run printed',
  },
  offline: {
    group: WHAT,
    type: 'boolean',
    describe: 'With --dry-run: no network access; names are resolved from the stored account',
  },
  pilot: {
    group: WHAT,
    type: 'value',
    check: oneOrMore,
    describe: 'Send the first N records alone, of every entry, stage and owner, with their parents',
  },
  pick: {
    group: WHAT,
    type: 'repeatable',
    check: pickedRecords,
    describe: 'Send this record alone, with its parents and children (lead:ID or deal:ID, repeatable)',
  },
  only: {
    group: WHAT,
    type: 'repeatable',
    check: eventTypes,
    describe: 'Send only these event types or entities (`lead`, `deal/created`; repeatable, or separated by commas)',
  },
  sandbox: { group: WHERE, type: 'boolean', describe: 'Rehearse: send to a sandbox that is started for this run' },
  fresh: { group: WHERE, type: 'boolean', describe: 'With --sandbox: start the rehearsal over; its state is deleted' },
  baseUrl: {
    group: WHERE,
    type: 'value',
    check: text('a URL'),
    describe: 'Base URL of the API [BACKFILL_BASE_URL]; plain http for this machine only',
  },
  credentials: {
    group: WHERE,
    type: 'value',
    check: text('a file'),
    shownDefault: '.env, if it exists',
    describe: 'File that holds the credentials, one NAME=VALUE a line',
  },
  rate: {
    group: PACE,
    type: 'value',
    check: rate,
    default: `${LIMITS.requestsPerWindow}/${LIMITS.windowSeconds}s`,
    describe: 'Requests per sliding window (N/SECONDSs)',
  },
  concurrency: {
    group: PACE,
    type: 'value',
    check: concurrency,
    default: '10',
    describe: 'Maximum number of requests in flight',
  },
  timeout: {
    group: PACE,
    type: 'value',
    check: seconds,
    default: '30',
    describe: 'Seconds before a request times out',
  },
  maxErrors: {
    group: STOP,
    type: 'value',
    check: tolerance,
    default: '100',
    describe:
      'Error limit: refuse to start above this many invalid events, stop above this many rejected ones (N or P%)',
  },
  maxOmitted: {
    group: STOP,
    type: 'value',
    check: tolerance,
    default: '25%',
    describe: 'Refuse to start if more values of any one field would be left out (N, or P% and at least 10 values)',
  },
  maxRejectionsInARow: {
    group: STOP,
    type: 'value',
    check: zeroOrMore,
    default: '25',
    describe: 'Stop after this many rejections in a row with the same code; 0 = off',
  },
  maxOutage: {
    group: STOP,
    type: 'value',
    check: duration,
    default: '12h',
    describe: 'How long to wait for a service that is down (90s, 30m, 12h, 2d)',
  },
  until: {
    group: STOP,
    type: 'value',
    check: time,
    describe: 'Stop at this time (06:00 in `defaults.timezone`, or ISO 8601)',
  },
  adopt: {
    group: STATE,
    type: 'boolean',
    describe:
      'Continue after losing the state directory: treat events already in the service as sent by this migration',
  },
  yes: { group: STATE, type: 'boolean', describe: 'Do not ask for confirmation' },
  json: { group: OUTPUT, type: 'boolean', describe: 'Print the final summary as one JSON object to stdout' },
  quiet: { group: OUTPUT, type: 'boolean', describe: 'Show only errors and warnings' },
  watch: { group: OUTPUT, type: 'boolean', describe: 'Refresh every two seconds until the current run ends' },
  withValues: {
    group: OUTPUT,
    type: 'boolean',
    describe: 'Include messages and omitted values, which contain personal data',
  },
  live: {
    group: INPUT,
    type: 'boolean',
    describe: 'Read the record from the service and compare it with what was sent',
  },
  sample: {
    group: INPUT,
    type: 'value',
    check: sampleSize,
    default: '100',
    describe: 'Records of each type to read back, or `all`',
  },
  preset: {
    group: INPUT,
    type: 'value',
    check: text('the name of a preset'),
    shownDefault: 'the best match',
    describe: `Start from this preset: ${PRESETS.join(', ')}`,
  },
  why: {
    group: INPUT,
    type: 'value',
    check: text('the name of a column'),
    describe: 'Print what decided about a column, such as `Amount` or `deals.Amount`, and write nothing',
  },
  answer: {
    group: INPUT,
    type: 'repeatable',
    check: answers,
    describe:
      'Answer a question (NAME=VALUE, repeatable): `region=IT`, `people.lead.email=Mail`; a wrong name prints the list of questions',
  },
  out: {
    group: OUTPUT,
    type: 'value',
    check: text('a file'),
    shownDefault: 'stdout; where it asks questions, FOLDER/FOLDER.yaml for exports in FOLDER',
    describe: 'Write to this new file',
  },
  port: { group: WHERE, type: 'value', check: port, default: '0', describe: 'Port on 127.0.0.1; 0 = any free port' },
  account: {
    group: INPUT,
    type: 'value',
    check: text('a mapping file'),
    shownDefault: 'a small company',
    describe: 'Copy the pipelines, stages and users that the last run or dry run of this mapping read',
  },
} as const satisfies OptionTable;

/** Forms of what a run prints, other than a screen; the first one that is given holds. */
export const FORMS = ['json', 'quiet'] as const;

/** How a command that sends requests reaches the service. */
export const CONNECTION = ['baseUrl', 'credentials', 'rate', 'concurrency', 'timeout'] as const;
