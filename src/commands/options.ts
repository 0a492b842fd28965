import type { Options } from 'yargs';

/**
 * The options of `run` as yargs takes them. All values arrive as text and are checked in `settings.ts`: yargs would take
 * `--rate abc` for a number that is none.
 */
export const RUN_OPTIONS = {
  source: {
    group: 'Input:',
    type: 'string',
    describe: 'Read this file for source NAME instead of the one in the mapping (NAME=PATH, repeatable)',
    array: true,
    nargs: 1,
  },
  fix: {
    group: 'Input:',
    type: 'string',
    describe: 'Corrected rejects of source NAME (NAME=PATH, repeatable); kept, and applied on every rerun',
    array: true,
    nargs: 1,
  },
  state: {
    group: 'Input:',
    type: 'string',
    describe: 'State directory [default: .backfill/<migration> beside the mapping file]',
  },
  'dry-run': { group: 'What to send:', type: 'boolean', describe: 'Survey only: nothing is sent' },
  offline: {
    group: 'What to send:',
    type: 'boolean',
    describe: 'With --dry-run: touch no network; names are resolved from the account as last read',
  },
  limit: {
    group: 'What to send:',
    type: 'string',
    describe: 'Pilot: the first N events of each type, with their parents',
  },
  pick: {
    group: 'What to send:',
    type: 'string',
    describe: 'Pilot: this record with its parents and children (lead:ID or deal:ID, repeatable)',
    array: true,
    nargs: 1,
  },
  only: {
    group: 'What to send:',
    type: 'string',
    describe: 'Only these event types or entities (`lead`, `deal/created`; repeatable, or separated by commas)',
    array: true,
    nargs: 1,
  },
  sandbox: {
    group: 'Where to:',
    type: 'boolean',
    describe: 'Rehearse: send to a sandbox that is started for this run',
  },
  'base-url': {
    group: 'Where to:',
    type: 'string',
    describe: "The service's API address [BACKFILL_BASE_URL]; plain http for this machine only",
  },
  'env-file': {
    group: 'Where to:',
    type: 'string',
    describe: 'File with the secrets [default: .env, if there is one]',
  },
  rate: { group: 'Pace:', type: 'string', describe: 'Requests per sliding window [default: 100/60s]' },
  reserve: {
    group: 'Pace:',
    type: 'string',
    describe: 'Requests of each window left to other users of the key [default: 0]',
  },
  concurrency: { group: 'Pace:', type: 'string', describe: 'Most requests in flight [default: 10]' },
  timeout: { group: 'Pace:', type: 'string', describe: 'Seconds one request may take [default: 30]' },
  'max-errors': {
    group: 'When to stop:',
    type: 'string',
    describe: 'Invalid events (N or P%) above which nothing is sent, and rejections that stop the run [default: 100]',
  },
  'max-rejections-in-a-row': {
    group: 'When to stop:',
    type: 'string',
    describe: 'Rejections in a row with one code that stop the run; 0 = off [default: 25]',
  },
  'max-outage': {
    group: 'When to stop:',
    type: 'string',
    describe: 'How long to wait for a service that is down (90s, 30m, 12h, 2d) [default: 12h]',
  },
  until: { group: 'When to stop:', type: 'string', describe: 'Stop by itself at this time (06:00, or ISO 8601)' },
  'max-requests': { group: 'When to stop:', type: 'string', describe: 'Stop by itself after this many requests' },
  'take-over': { group: 'State:', type: 'boolean', describe: 'Take the lock that another machine left' },
  adopt: {
    group: 'State:',
    type: 'boolean',
    describe: 'Go on although the service knows events that this checkpoint does not (a lost state directory)',
  },
  json: { group: 'Output:', type: 'boolean', describe: 'The final summary as one JSON object on stdout' },
  progress: { group: 'Output:', type: 'boolean', describe: 'Show progress (--no-progress hides it)', default: true },
  verbose: { group: 'Output:', type: 'boolean', describe: 'Say more' },
  quiet: { group: 'Output:', type: 'boolean', describe: 'Say only what went wrong' },
} as const satisfies Record<string, Options>;
