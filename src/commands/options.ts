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
  plan: {
    group: 'What to send:',
    type: 'string',
    describe: 'Send this plan or nothing: the 12 hexadecimal digits that a dry run printed',
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
  redis: {
    group: 'Pace:',
    type: 'string',
    describe:
      'Share the limit with all processes that name this Redis server and use the same key [BACKFILL_REDIS_URL]',
  },
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
  verbose: { group: 'Output:', type: 'boolean', describe: 'Show the lines of run.log as they are written' },
  quiet: { group: 'Output:', type: 'boolean', describe: 'Say only what went wrong' },
} as const satisfies Record<string, Options>;

const { source, state, sandbox, rate, reserve, concurrency, timeout, redis, json } = RUN_OPTIONS;
const baseUrl = RUN_OPTIONS['base-url'];
const envFile = RUN_OPTIONS['env-file'];

export const VERIFY_OPTIONS = {
  sample: { type: 'string', describe: 'Records of each type to read back, or `all` [default: 100]' },
  source,
  state,
  sandbox: { ...sandbox, describe: 'Verify the rehearsal: its records are in the state directory' },
  'base-url': baseUrl,
  'env-file': envFile,
  rate,
  reserve,
  concurrency,
  timeout,
  redis,
  json: { ...json, describe: 'The result as one JSON object on stdout' },
} as const satisfies Record<string, Options>;

export const PURGE_OPTIONS = {
  state,
  sandbox: { ...sandbox, describe: 'Purge the state of the rehearsal' },
  yes: { type: 'boolean', describe: 'Do not ask' },
} as const satisfies Record<string, Options>;

export const API_OPTIONS = {
  data: { type: 'string', describe: 'Body: JSON, or @FILE' },
  query: { type: 'string', describe: 'A parameter (NAME=VALUE, repeatable)', array: true, nargs: 1 },
  paginate: { type: 'boolean', describe: 'All pages of a list, as one array' },
  write: { type: 'boolean', describe: 'Allow a method other than GET; automations may fire' },
  'idempotency-key': {
    type: 'string',
    describe: 'Of a POST; the same key and body repeat nothing [default: a new one]',
  },
  'base-url': baseUrl,
  'env-file': envFile,
  timeout,
  redis,
} as const satisfies Record<string, Options>;

const STATE_OPTIONS = {
  state: RUN_OPTIONS.state,
  sandbox: { group: 'Input:', type: 'boolean', describe: 'The state of rehearsals (`run --sandbox`)' },
} as const satisfies Record<string, Options>;

export const STATUS_OPTIONS = {
  ...STATE_OPTIONS,
  watch: {
    group: 'Output:',
    type: 'boolean',
    describe: 'Look again every two seconds until the run that is going on has ended',
  },
  json: { group: 'Output:', type: 'boolean', describe: 'One JSON object on stdout (one a look with --watch)' },
} as const satisfies Record<string, Options>;

export const REPORT_OPTIONS = {
  ...STATE_OPTIONS,
  'dry-run': { group: 'Input:', type: 'boolean', describe: 'Of the last dry run' },
  'with-values': {
    group: 'Output:',
    type: 'boolean',
    describe: 'Show messages and left-out values too: they hold field values of records',
  },
} as const satisfies Record<string, Options>;

export const SANDBOX_OPTIONS = {
  port: { type: 'string', describe: 'Port on 127.0.0.1 [default: any that is free]' },
  account: { type: 'string', describe: 'A stored account.json: its pipelines, stages and users' },
  rate: { type: 'string', describe: 'Requests per sliding window [default: 100/60s]' },
  journal: { type: 'string', describe: 'File in which records outlive the sandbox' },
  faults: { type: 'string', describe: 'JSON file with faults to inject' },
} as const satisfies Record<string, Options>;

export const INIT_OPTIONS = {
  preset: { type: 'string', describe: 'Take the field table of this preset [default: the one that fits best]' },
  out: { type: 'string', describe: 'A file that does not exist yet [default: stdout]' },
  quiet: { type: 'boolean', describe: 'Do not say what was recognised' },
} as const satisfies Record<string, Options>;
