/** Every option of every command, declared once. Checks, defaults, `--help` and the usage text of the README derive from it. */
import type { z } from 'zod';
import { LIMITS } from '../contract.ts';
import * as checks from './checks.ts';
import type { OptionTable, ValueOption } from './option.ts';

const flag = (describe: string) => ({ type: 'boolean' as const, describe });
const repeatable = <Check extends z.ZodType>(check: Check, describe: string) => ({
  ...{ type: 'repeatable' as const, check, describe },
});
/** `more`: its default, or what the help shows as that. */
const value = <Check extends z.ZodType, const More extends Pick<ValueOption, 'default' | 'shownDefault'> = object>(
  check: Check,
  describe: string,
  more?: More,
) => ({ type: 'value' as const, check, describe, ...(more as More) });

/** Options with their heading in the help. */
function under<const Group extends string, const Options extends Readonly<Record<string, object>>>(
  group: Group,
  options: Options,
) {
  return Object.fromEntries(Object.entries(options).map(([name, option]) => [name, { group, ...option }])) as {
    readonly [Name in keyof Options]: Options[Name] & { readonly group: Group };
  };
}

/** The files of `mappings/` that `init` knows. */
const PRESETS = [
  ...['bitrix24', 'close-json', 'dynamics365', 'hubspot-api', 'hubspot-csv', 'pipedrive-api', 'pipedrive-csv'],
  ...['salesforce-api', 'salesforce-dataloader', 'salesforce-export', 'salesforce-report', 'zoho-api', 'zoho-csv'],
];

export const OPTIONS = {
  ...under('Input:', {
    source: repeatable(
      checks.pathsByName,
      'Read this file for source NAME instead of the one in the mapping (NAME=PATH, repeatable)',
    ),
    encoding: value(checks.text('an encoding'), 'Encoding of the exports, such as windows-1252', {
      shownDefault: 'detected',
    }),
    delimiter: value(checks.delimiter, 'Delimiter of the CSV files among them: one character, or `tab`', {
      shownDefault: 'detected',
    }),
    state: value(checks.text('a directory'), 'State directory; by default beside the mapping file', {
      shownDefault: '.backfill/<migration>',
    }),
    live: flag('Read the record from the service and compare it with what was sent'),
    sample: value(checks.sampleSize, 'Records of each type to read back, or `all`', { default: '100' }),
    preset: value(checks.text('the name of a preset'), `Start from this preset: ${PRESETS.join(', ')}`, {
      shownDefault: 'the best match',
    }),
    why: value(
      checks.text('the name of a column'),
      'Print what decided about a column, such as `Amount` or `deals.Amount`, and write nothing',
    ),
    answer: repeatable(
      checks.answers,
      'Answer a question (NAME=VALUE, repeatable): `region=IT`, `people.lead.email=Mail`; a wrong name prints the list of questions',
    ),
    account: value(
      checks.text('a mapping file'),
      'Copy the pipelines, stages and users that the last run or dry run of this mapping read',
      { shownDefault: 'a small company' },
    ),
  }),
  ...under('What to send:', {
    dryRun: flag('Check every record and send nothing'),
    plan: value(checks.planDigest, 'Send this plan or nothing: the 12 hexadecimal digits that a dry run printed'),
    offline: flag('With --dry-run: no network access; names are resolved from the stored account'),
    pilot: value(
      checks.oneOrMore,
      'Send the first N records alone, of every entry, stage and owner, with their parents',
    ),
    pick: repeatable(
      checks.pickedRecords,
      'Send this record alone, with its parents and children (lead:ID or deal:ID, repeatable)',
    ),
    only: repeatable(
      checks.eventTypes,
      'Send only these event types or entities (`lead`, `deal/created`; repeatable, or separated by commas)',
    ),
  }),
  ...under('Service:', {
    sandbox: flag('Rehearse: send to a sandbox that is started for this run'),
    fresh: flag('With --sandbox: start the rehearsal over; its state is deleted'),
    baseUrl: value(checks.text('a URL'), 'Base URL of the API [BACKFILL_BASE_URL]; plain http for this machine only'),
    credentials: value(checks.text('a file'), 'File that holds the credentials, one NAME=VALUE a line', {
      shownDefault: '.env, if it exists',
    }),
    port: value(checks.port, 'Port on 127.0.0.1; 0 = any free port', { default: '0' }),
  }),
  ...under('Pace:', {
    rate: value(checks.rate, 'Requests per sliding window (N/SECONDSs)', {
      default: `${LIMITS.requestsPerWindow}/${LIMITS.windowSeconds}s`,
    }),
    concurrency: value(checks.concurrency, 'Maximum number of requests in flight', { default: '10' }),
    timeout: value(checks.seconds, 'Seconds before a request times out', { default: '30' }),
  }),
  ...under('When to stop:', {
    maxErrors: value(
      checks.tolerance,
      'Error limit: refuse to start above this many invalid events, stop above this many rejected ones (N or P%)',
      { default: '100' },
    ),
    maxOmitted: value(
      checks.tolerance,
      'Refuse to start if more values of any one field would be left out (N, or P% and at least 10 values)',
      { default: '25%' },
    ),
    maxRejectionsInARow: value(
      checks.zeroOrMore,
      'Stop after this many rejections in a row with the same code; 0 = off',
      {
        default: '25',
      },
    ),
    maxOutage: value(checks.duration, 'How long to wait for a service that is down (90s, 30m, 12h, 2d)', {
      default: '12h',
    }),
    until: value(checks.time, 'Stop at this time (06:00 in `defaults.timezone`, or ISO 8601)'),
  }),
  ...under('State:', {
    adopt: flag(
      'Continue after losing the state directory: treat events already in the service as sent by this migration',
    ),
    yes: flag('Do not ask for confirmation'),
  }),
  ...under('Output:', {
    json: flag('Print the final summary as one JSON object to stdout'),
    quiet: flag('Show only errors and warnings'),
    watch: flag('Refresh every two seconds until the current run ends'),
    withValues: flag('Include messages and omitted values, which contain personal data'),
    out: value(checks.text('a file'), 'Write to this new file', {
      shownDefault: 'stdout; where it asks questions, FOLDER/FOLDER.yaml for exports in FOLDER',
    }),
  }),
} as const satisfies OptionTable;

/** Forms of what a run prints, other than a screen; the first one that is given holds. */
export const FORMS = ['json', 'quiet'] as const;

/** How a command that sends requests reaches the service. */
export const CONNECTION = ['baseUrl', 'credentials', 'rate', 'concurrency', 'timeout'] as const;
