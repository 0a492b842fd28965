/** All commands, for the help. Their options are loaded for the help of one, and its module when it is called. */
import { createRequire } from 'node:module';
import type { Command, CommandDefinition } from './command.ts';

/** The usage of each command, as yargs writes it, and its description; in the order of the help. */
export const COMMANDS = [
  ['init <exports..>', 'Read exports and write a commented mapping file to start from'],
  ['run <mapping>', 'Check every record, then send the events; the same command resumes'],
  ['status <mapping>', 'Show the progress of a migration, even while a run is active'],
  [
    'plan <mapping>',
    'Write the events as they will be sent, with their rows: --json, or --csv for the customer to sign',
  ],
  ['explain <mapping> <record>', 'Show one record: its row, its event, values left out, requests and answers'],
  ['verify <mapping>', 'Read records back from the service and compare them with what was sent'],
  ['report <mapping>', 'Write the report and the lists of problems again from the state directory'],
  ['purge <mapping>', 'Delete the state files that contain personal data, once the migration is accepted'],
  ['sandbox', 'Start a local stand-in for the service, for rehearsals'],
  ['schema', 'Print the JSON Schema of mapping files, for editors'],
] as const satisfies readonly (readonly [usage: string, describe: string])[];

/** A command's name. */
export function nameOf(usage: string): string {
  return usage.split(' ', 1)[0]!;
}

const require = createRequire(import.meta.url);

/** Loads what the help of a command needs. */
export function definitionOf(name: string): CommandDefinition {
  return (require('./definitions.js') as Readonly<Record<string, CommandDefinition>>)[name]!;
}

/** Loads a command. `require` needs three quarters of the time of `import()`. */
export function loadCommand(name: string): Command {
  return require(`./${name}.js`) as Command;
}
