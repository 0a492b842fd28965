import type { Console } from '../report/print/console.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { mappingJsonSchema } from '../mapping/schema.ts';
import type { Argv } from './command.ts';

/** `crm-backfill schema`: prints the JSON Schema of mapping files. */
export async function handler(_argv: Argv, console: Console): Promise<ExitCode> {
  console.printJson(JSON.stringify(mappingJsonSchema(), null, 2));
  return EXIT.done;
}
