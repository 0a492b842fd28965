import type { Console } from '../console.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { mappingJsonSchema } from '../mapping/load.ts';

/** `backfill schema`: the JSON Schema of mapping files on stdout. */
export async function schema(_argv: Readonly<Record<string, unknown>>, console: Console): Promise<ExitCode> {
  console.print(JSON.stringify(mappingJsonSchema(), null, 2));
  return EXIT.done;
}
