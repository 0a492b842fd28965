import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Console } from '../report/print/console.ts';
import { codeOf, EXIT, messageOf, UserError, type ExitCode } from '../errors.ts';
import { writePlanCsv } from '../report/files/plan-csv.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { shortPath } from '../files/paths.ts';
import { makeDirectory } from '../files/private-file.ts';
import { planIn } from '../store/stored-plans.ts';
import { readState } from '../store/open.ts';
import type { Database } from '../store/sqlite.ts';
import { existingState, otherPlanHint } from './state.ts';
import type { Argv } from './command.ts';
import { plan as definition } from './definitions.ts';

/** `crm-backfill plan`: what will be sent, for programs or for the customer to sign. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  if (settings.json === (settings.csv !== undefined)) {
    throw new UserError('give either --json or --csv DIR', {
      hint: 'a dry run shows what is in the plan, and writes the files of --csv into its folder',
    });
  }
  const state = await existingState(settings);
  const found = planIn(state, settings.dryRun);
  if (!found) {
    throw new UserError(`there is no plan of a ${settings.dryRun ? 'dry run' : 'run'} in ${shortPath(state.path)}`, {
      hint: otherPlanHint(state, settings),
    });
  }
  const db = readState(state, found.output);
  try {
    if (settings.csv === undefined) await printEvents(db, console);
    else {
      const directory = newDirectory(resolve(settings.csv));
      const files = await writePlanCsv(db, directory);
      console.print(files.map((name) => shortPath(join(directory, name))).join('\n'));
      console.say('they contain field values of records: treat them like the exports themselves');
    }
    return EXIT.done;
  } finally {
    db.close();
  }
}

/** A row of the view `events`. */
interface EventLine {
  readonly type: string;
  readonly data: string | null;
  readonly raw: string | null;
}

/** Lines that are printed before stdout is waited for. */
const BATCH = 200;

async function printEvents(db: Database, console: Console): Promise<void> {
  let printed = 0;
  for (const { data, raw, ...columns } of db.each<EventLine>('select * from events')) {
    // They are JSON already, with all their digits.
    console.printJson(`${JSON.stringify(columns).slice(0, -1)},"data":${data ?? 'null'},"raw":${raw ?? 'null'}}`);
    printed += 1;
    if (printed % BATCH === 0 && !(await console.drained())) return;
  }
}

/** Throws a `UserError` unless the directory is empty or can be created. */
function newDirectory(path: string): string {
  try {
    makeDirectory(path);
    if (readdirSync(path).length === 0) return path;
  } catch (error) {
    const what = codeOf(error) === 'EEXIST' ? 'it is not a directory' : messageOf(error);
    throw new UserError(`cannot write to ${path}: ${what}`, { hint: 'give the name of a new directory', cause: error });
  }
  throw new UserError(`${shortPath(path)} is not empty`, {
    hint: 'give the name of a new directory: no file is replaced',
  });
}
