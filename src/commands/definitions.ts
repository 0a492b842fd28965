/** Each command as data, for parsing the command line and for the help. The functions are in separate files. */
import { oneRecord, rate, text, texts, value } from '../options/checks.ts';
import { pick, type ArgumentsOf, type OptionTable, type PositionalTable, type SettingsOf } from '../options/option.ts';
import { CONNECTION, OPTIONS } from '../options/table.ts';
import { LIMITS } from '../contract.ts';
import { MAPPING, RUN_OPTIONS } from '../settings.ts';

export interface Command<P extends PositionalTable = PositionalTable, O extends OptionTable = OptionTable> {
  /** The name and the positionals, as yargs writes them. */
  readonly usage: string;
  readonly describe: string;
  readonly positionals: P;
  readonly options: O;
  /** The options that `--help` shows; `--help-all` shows all of them. All if absent. */
  readonly mostUsed?: readonly string[];
  readonly examples: readonly (readonly [command: string, what: string])[];
}

function define<P extends PositionalTable, O extends OptionTable>(command: Command<P, O>): Command<P, O> {
  return command;
}

/** What a command is called with, once checked. */
export type CommandSettings<C extends Command> = ArgumentsOf<C['positionals']> & SettingsOf<C['options']>;

const STATE_OPTIONS = {
  ...pick(OPTIONS, 'state'),
  sandbox: {
    ...OPTIONS.sandbox,
    group: OPTIONS.state.group,
    describe: 'Use the state of rehearsals (`run --sandbox`)',
  },
};

export const RUN = define({
  usage: 'run <mapping>',
  describe: 'Survey the input, then send what is not acknowledged yet; rerun to resume',
  positionals: MAPPING,
  options: RUN_OPTIONS,
  mostUsed: [
    ...['source', 'dryRun', 'plan', 'pilot', 'pick', 'sandbox', 'fresh'],
    ...['rate', 'maxErrors', 'maxOmitted', 'until', 'notify'],
  ],
  examples: [
    ['$0 run acme.yaml --dry-run', 'validate the mapping and every record'],
    ['$0 run acme.yaml --sandbox', 'rehearse against a sandbox on this machine'],
    ['$0 run acme.yaml --pilot 30', 'a pilot: the 30 records that show most of the plan, with their parents'],
    ['$0 run acme.yaml', 'the migration; the same command resumes it'],
    ['$0 run --help-all', 'all options'],
  ],
});

export const STATUS = define({
  usage: 'status <mapping>',
  describe: 'Show the progress of a migration, even while a run is active',
  positionals: MAPPING,
  options: {
    ...STATE_OPTIONS,
    ...pick(OPTIONS, 'watch'),
    json: { ...OPTIONS.json, describe: 'Print one JSON object to stdout (one per refresh with --watch)' },
  },
  examples: [
    ['$0 status acme.yaml', 'counts by type, rate, and whether a run is active'],
    ['$0 status acme.yaml --watch', 'the same, refreshed, in another terminal'],
  ],
});

export const REPORT = define({
  usage: 'report <mapping>',
  describe: 'Write report.html, errors.csv, rejects and omitted.csv again from the state directory',
  positionals: MAPPING,
  options: {
    ...STATE_OPTIONS,
    dryRun: { ...OPTIONS.dryRun, group: OPTIONS.state.group, describe: 'Report on the last dry run' },
    ...pick(OPTIONS, 'withValues'),
    watch: {
      ...OPTIONS.watch,
      describe: 'Write the page every ten seconds until the current run ends; it reloads itself meanwhile',
    },
  },
  examples: [
    ['$0 report acme.yaml', 'a page to share: external ids, but no other values'],
    ['$0 report acme.yaml --watch', 'a page that follows the run'],
    ['$0 report acme.yaml --with-values', 'with messages and values, for those who may see them'],
  ],
});

const USUAL = `${LIMITS.requestsPerWindow}/${LIMITS.windowSeconds}s`;

export const SANDBOX = define({
  usage: 'sandbox',
  describe: 'Start a local stand-in for the service, for rehearsals',
  positionals: {},
  options: {
    ...pick(OPTIONS, 'port', 'account'),
    state: { ...OPTIONS.state, group: undefined, describe: 'State directory of that mapping, if it is elsewhere' },
    rate: { type: 'value', check: rate, default: USUAL, describe: 'Requests per sliding window' },
    journal: OPTIONS.journal,
  },
  examples: [
    ['$0 sandbox --port 8080', 'a service on this machine; its URL and secrets are printed'],
    ['$0 sandbox --account acme.yaml', 'the same, with the pipelines and users of the real account'],
  ],
});

export const INIT = define({
  usage: 'init <exports..>',
  describe: 'Read the first records of exports and write a commented mapping file to start from',
  positionals: {
    exports: { type: 'repeatable', check: texts('export files'), describe: 'Export files (CSV, JSON, NDJSON)' },
  },
  options: {
    ...pick(OPTIONS, 'encoding', 'delimiter', 'preset', 'out'),
    quiet: { ...OPTIONS.quiet, group: undefined, describe: 'Do not list what was recognised' },
  },
  examples: [['$0 init exports/*.csv --out acme.yaml', 'a mapping for these exports, whichever CRM wrote them']],
});

export const SCHEMA = define({
  usage: 'schema',
  describe: 'Print the JSON Schema of mapping files, for editors',
  positionals: {},
  options: {},
  examples: [],
});

export const PLAN = define({
  usage: 'plan <mapping>',
  describe: 'Show the plan: every event as it will be sent, with the record that it comes from',
  positionals: MAPPING,
  options: {
    ...STATE_OPTIONS,
    dryRun: { ...OPTIONS.dryRun, group: OPTIONS.state.group, describe: 'Show the plan of the last dry run' },
    json: { ...OPTIONS.json, describe: 'Print one JSON object per event to stdout' },
    csv: {
      type: 'value',
      check: text('a directory'),
      describe: 'Write a CSV file per event type into this new directory, for the customer to sign',
    },
  },
  examples: [
    ['$0 plan acme.yaml --dry-run', 'counts, and the first events of each type'],
    ['$0 plan acme.yaml --dry-run --csv plan/', 'the old columns beside the new fields, and what is left out'],
  ],
});

export const VERIFY = define({
  usage: 'verify <mapping>',
  describe: 'Read acknowledged leads and deals back and compare them with what the mapping sends',
  positionals: MAPPING,
  options: {
    ...pick(OPTIONS, 'sample', 'state'),
    sandbox: { ...OPTIONS.sandbox, describe: 'Verify the rehearsal, whose records are in the state directory' },
    ...pick(OPTIONS, ...CONNECTION),
    json: { ...OPTIONS.json, describe: 'Print the result as one JSON object to stdout' },
  },
  examples: [
    ['$0 verify acme.yaml', 'a sample of 100 leads and 100 deals'],
    ['$0 verify acme.yaml --sample all', 'all of them, with one request per hundred'],
  ],
});

export const EXPLAIN = define({
  usage: 'explain <mapping> <record>',
  describe: "Show one record's story: its row, the event as planned, what was left out, sent and answered",
  positionals: {
    ...MAPPING,
    record: {
      type: 'value',
      check: oneRecord,
      describe: 'Its id in the export; lead:ID, deal:ID or comment:ID where several records have it',
    },
  },
  options: {
    ...STATE_OPTIONS,
    ...pick(OPTIONS, 'live', 'baseUrl', 'envFile', 'timeout', 'redis'),
    json: { ...OPTIONS.json, describe: 'Print the same as one JSON object to stdout' },
  },
  examples: [
    ['$0 explain acme.yaml 4', 'what became of the record with this id, from the last run or dry run'],
    ['$0 explain acme.yaml deal:8 --live', 'the same, and what the service shows now'],
  ],
});

export const PURGE = define({
  usage: 'purge <mapping>',
  describe: 'Delete the state files that contain personal data, once the migration is accepted',
  positionals: MAPPING,
  options: {
    ...pick(OPTIONS, 'state'),
    sandbox: { ...OPTIONS.sandbox, group: OPTIONS.state.group, describe: 'Purge the state of the rehearsal' },
    ...pick(OPTIONS, 'yes'),
  },
  examples: [],
});

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export const API = define({
  usage: 'api <method> <path>',
  describe: 'Call a route of the REST API: authenticated, rate-limited, secrets hidden',
  positionals: {
    method: {
      type: 'value',
      check: value(`one of ${METHODS.join(', ')}`, (given) => METHODS.find((name) => name === given.toUpperCase())),
      describe: METHODS.join(', '),
    },
    path: { type: 'value', check: value('a path', (given) => given), describe: 'The path below the base URL' },
  },
  options: pick(
    OPTIONS,
    'data',
    'query',
    'paginate',
    'write',
    'idempotencyKey',
    'baseUrl',
    'envFile',
    'timeout',
    'redis',
  ),
  examples: [
    ['$0 api GET /pipelines --query type=DEAL', 'pipelines and stages with their ids'],
    ['$0 api GET /api-logs --query statusGroup=4xx --paginate', 'all requests that the service refused'],
    ['$0 api POST /leads --write --data \'{"fullName":"Ada"}\'', 'a write; automations may fire'],
  ],
});

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  RUN,
  STATUS,
  PLAN,
  REPORT,
  SANDBOX,
  INIT,
  SCHEMA,
  VERIFY,
  EXPLAIN,
  PURGE,
  API,
];

/** A command's name. */
export function nameOf({ usage }: Pick<Command, 'usage'>): string {
  return usage.split(' ', 1)[0]!;
}
