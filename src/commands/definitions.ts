/** The arguments, options, help and examples of each command, as data: all that the help needs. */
import { LIMITS } from '../contract.ts';
import { oneRecord, rate, text, texts } from '../settings/checks.ts';
import { pick } from '../settings/option.ts';
import { MAPPING, RUN_OPTIONS } from '../settings/run-settings.ts';
import { CONNECTION, OPTIONS } from '../settings/table.ts';
import { define } from './command.ts';

/** Of commands that read the state directory of a mapping. */
const STATE_OPTIONS = {
  ...pick(OPTIONS, 'state'),
  sandbox: {
    ...OPTIONS.sandbox,
    group: OPTIONS.state.group,
    describe: 'Use the state of rehearsals (`run --sandbox`)',
  },
};

export const run = define({
  positionals: MAPPING,
  options: RUN_OPTIONS,
  mostUsed: [
    ...['source', 'dryRun', 'plan', 'pilot', 'pick', 'sandbox', 'fresh'],
    ...['rate', 'maxErrors', 'maxOmitted', 'until'],
  ],
  examples: [
    ['$0 run acme.yaml --dry-run', 'validate the mapping and every record'],
    ['$0 run acme.yaml --sandbox', 'rehearse against a sandbox on this machine'],
    ['$0 run acme.yaml --pilot 30', 'a pilot: 30 records of every entry, stage and owner, with their parents'],
    ['$0 run acme.yaml', 'migrate; the same command resumes'],
    ['$0 run --help-all', 'all options'],
  ],
});

export const status = define({
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

export const plan = define({
  positionals: MAPPING,
  options: {
    ...STATE_OPTIONS,
    dryRun: { ...OPTIONS.dryRun, group: OPTIONS.state.group, describe: 'Take the plan of the last dry run' },
    json: { ...OPTIONS.json, describe: 'Print one JSON object per event to stdout' },
    csv: {
      group: OPTIONS.json.group,
      type: 'value',
      check: text('a directory'),
      describe: 'Write a CSV file per event type into this new directory, for the customer to sign',
    },
  },
  examples: [
    ['$0 plan acme.yaml --json', 'one line per event, for jq and diff'],
    ['$0 plan acme.yaml --dry-run --csv plan/', 'the old columns beside the new fields, and what is left out'],
  ],
});

export const report = define({
  positionals: MAPPING,
  options: {
    ...STATE_OPTIONS,
    dryRun: { ...OPTIONS.dryRun, group: OPTIONS.state.group, describe: 'Report on the last dry run' },
    ...pick(OPTIONS, 'withValues'),
    json: { ...OPTIONS.json, describe: 'Print the figures of the page as one JSON object to stdout' },
  },
  examples: [
    ['$0 report acme.yaml', 'a page to share: external ids, but no other values'],
    ['$0 report acme.yaml --with-values', 'with messages and values, for those who may see them'],
  ],
});

const USUAL = `${LIMITS.requestsPerWindow}/${LIMITS.windowSeconds}s`;

export const sandbox = define({
  positionals: {},
  options: {
    ...pick(OPTIONS, 'port', 'account'),
    state: { ...OPTIONS.state, describe: 'State directory of that mapping, if it is elsewhere' },
    rate: {
      group: OPTIONS.port.group,
      type: 'value',
      check: rate,
      default: USUAL,
      describe: 'Requests per sliding window',
    },
  },
  examples: [
    ['$0 sandbox --port 8080', 'a service on this machine; its URL and secrets are printed'],
    ['$0 sandbox --account acme.yaml', 'the same, with the pipelines and users of the real account'],
  ],
});

export const init = define({
  positionals: {
    exports: {
      type: 'repeatable',
      check: texts('export files'),
      describe: 'Export files (CSV, JSON, NDJSON, Excel workbooks)',
    },
  },
  options: {
    ...pick(OPTIONS, 'encoding', 'delimiter', 'preset', 'answer', 'out', 'why'),
    yes: { ...OPTIONS.yes, group: OPTIONS.answer.group, describe: 'Ask nothing: mark what is not certain' },
    json: {
      ...OPTIONS.json,
      describe: 'Print what became of each file, and the mapping unless --out is given, as one JSON object to stdout',
    },
    quiet: { ...OPTIONS.quiet, describe: 'Do not list what was recognised' },
  },
  examples: [
    ['$0 init exports/*.csv --out acme.yaml', 'a mapping for these exports, whichever CRM wrote them'],
    ['$0 init people.csv --yes --answer region=IT --answer people=leads', 'answers without a terminal'],
  ],
});

export const schema = define({
  positionals: {},
  options: {},
  examples: [],
});

export const verify = define({
  positionals: MAPPING,
  options: {
    ...pick(OPTIONS, 'sample', 'state'),
    sandbox: { ...OPTIONS.sandbox, describe: 'Verify the rehearsal, whose records are in the state directory' },
    ...pick(OPTIONS, ...CONNECTION),
    json: { ...OPTIONS.json, describe: 'Print the result as one JSON object to stdout' },
  },
  examples: [
    ['$0 verify acme.yaml', 'a sample of 100 records of each type'],
    ['$0 verify acme.yaml --sample all', 'all of them, with one request per hundred'],
  ],
});

export const explain = define({
  positionals: {
    ...MAPPING,
    record: {
      type: 'value',
      check: oneRecord,
      describe:
        'Its id or place in the export (4, contacts.csv:5); lead:ID, deal:ID or comment:ID where several have it',
    },
  },
  options: {
    ...STATE_OPTIONS,
    ...pick(OPTIONS, 'live', 'baseUrl', 'credentials', 'timeout'),
    json: { ...OPTIONS.json, describe: 'Print the same as one JSON object to stdout' },
  },
  examples: [
    ['$0 explain acme.yaml 4', 'what became of the record with this id, from the last run or dry run'],
    ['$0 explain acme.yaml deal:8 --live', 'the same, and what the service shows now'],
  ],
});

export const purge = define({
  positionals: MAPPING,
  options: {
    ...pick(OPTIONS, 'state'),
    sandbox: { ...OPTIONS.sandbox, group: OPTIONS.state.group, describe: 'Purge the state of the rehearsal alone' },
    ...pick(OPTIONS, 'yes'),
    json: { ...OPTIONS.json, describe: 'Print what was deleted and kept as one JSON object to stdout' },
  },
  examples: [],
});
