import { createRequire } from 'node:module';
import type { Options, PositionalOptions } from 'yargs';
import type { Console } from '../console.ts';
import type { ExitCode } from '../errors.ts';
import {
  API_OPTIONS,
  INIT_OPTIONS,
  PURGE_OPTIONS,
  REPORT_OPTIONS,
  RUN_OPTIONS,
  SANDBOX_OPTIONS,
  STATUS_OPTIONS,
  VERIFY_OPTIONS,
} from './options.ts';

export type Argv = Readonly<Record<string, unknown>>;

/** Carries a command out. */
export type Run = (argv: Argv, console: Console) => Promise<ExitCode>;

/** What yargs reads a command by and shows of it. */
export interface Command {
  /** The name, and the words it takes. */
  readonly usage: string;
  readonly describe: string;
  readonly words: Readonly<Record<string, PositionalOptions>>;
  readonly options: Readonly<Record<string, Options>>;
  readonly examples: readonly (readonly [command: string, what: string])[];
}

const MAPPING = { type: 'string', describe: 'The mapping file (YAML or JSON)', demandOption: true } as const;

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    usage: 'run <mapping>',
    describe: 'Survey the input, then send what is not acknowledged yet; rerun to resume',
    words: { mapping: MAPPING },
    options: RUN_OPTIONS,
    examples: [
      ['$0 run acme.yaml --dry-run', 'validate the mapping and every record'],
      ['$0 run acme.yaml --sandbox', 'rehearse against a sandbox on this machine'],
      ['$0 run acme.yaml --limit 10', 'a pilot: ten events of each type, with their parents'],
      ['$0 run acme.yaml', 'the migration; the same command resumes it'],
    ],
  },
  {
    usage: 'status <mapping>',
    describe: 'Where the migration stands, also while a run is going on',
    words: { mapping: MAPPING },
    options: STATUS_OPTIONS,
    examples: [
      ['$0 status acme.yaml', 'counts by type, pace, and whether a run is going on'],
      ['$0 status acme.yaml --watch', 'the same, again and again, from another terminal'],
    ],
  },
  {
    usage: 'report <mapping>',
    describe: 'Write report.html again from the state directory',
    words: { mapping: MAPPING },
    options: REPORT_OPTIONS,
    examples: [
      ['$0 report acme.yaml', 'a page to hand on; external ids, but no other values'],
      ['$0 report acme.yaml --with-values', 'with messages and values, for those who may see them'],
    ],
  },
  {
    usage: 'sandbox',
    describe: 'A local stand-in for the service, for rehearsals',
    words: {},
    options: SANDBOX_OPTIONS,
    examples: [['$0 sandbox --port 8080', 'a service on this machine; its URL and secrets are printed']],
  },
  {
    usage: 'init <exports..>',
    describe: 'Read the heads of exports and write a commented mapping file to start from',
    words: { exports: { type: 'string', describe: 'Export files (CSV, JSON, NDJSON)', demandOption: true } },
    options: INIT_OPTIONS,
    examples: [['$0 init exports/*.csv --out acme.yaml', 'a mapping for these exports, whatever CRM wrote them']],
  },
  {
    usage: 'schema',
    describe: 'Print the JSON Schema of mapping files, for editors',
    words: {},
    options: {},
    examples: [],
  },
  {
    usage: 'verify <mapping>',
    describe: 'Read acknowledged leads and deals back and compare them with what the mapping sends',
    words: { mapping: MAPPING },
    options: VERIFY_OPTIONS,
    examples: [
      ['$0 verify acme.yaml', 'a sample of 100 leads and 100 deals'],
      ['$0 verify acme.yaml --sample all', 'all of them: a request for each hundred'],
    ],
  },
  {
    usage: 'purge <mapping>',
    describe: 'Delete the state files that hold personal data, once the job is accepted',
    words: { mapping: MAPPING },
    options: PURGE_OPTIONS,
    examples: [],
  },
  {
    usage: 'api <method> <path>',
    describe: 'One call of a route of the REST API: authenticated, rate-limited, secrets hidden',
    words: {
      method: { type: 'string', describe: 'GET, POST, PUT, PATCH or DELETE', demandOption: true },
      path: { type: 'string', describe: 'The path below the base URL', demandOption: true },
    },
    options: API_OPTIONS,
    examples: [
      ['$0 api GET /pipelines --query type=DEAL', 'pipelines and stages with their ids'],
      ['$0 api GET /api-logs --query statusGroup=4xx --paginate', 'what the service refused, all pages'],
      ['$0 api POST /leads --write --data \'{"fullName":"Ada"}\'', 'a write; automations may fire'],
    ],
  },
];

/** A command's name. */
export function nameOf({ usage }: Pick<Command, 'usage'>): string {
  return usage.split(' ', 1)[0]!;
}

const require = createRequire(import.meta.url);

/**
 * Loads a command, which is the function of its name in the module of its name. So many modules load in three quarters of the
 * time that `import()` would take.
 */
export function loadCommand(name: string): Run {
  return (require(`./${name}.js`) as Record<string, Run>)[name]!;
}
