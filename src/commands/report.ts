import type { Console } from '../report/print/console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { isThere } from '../files/private-file.ts';
import { writeReport } from '../report/print/page.ts';
import { figuresJson } from '../report/print/json.ts';
import { writeTables } from '../report/print/written-files.ts';
import { DRY_RUN, StateDir } from '../files/state-dir.ts';
import { isUnused } from '../store/open.ts';
import { shortPath } from '../files/paths.ts';
import { lockHolder } from '../store/lock.ts';
import { PLAN_FILE } from '../store/plan-schema.ts';
import { existingState, otherPlanHint } from './state.ts';
import type { Argv } from './command.ts';
import { report as definition } from './definitions.ts';

/** `crm-backfill report`: writes again what people read of the last run, and prints the path of `report.html`. */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const { withValues, dryRun } = settings;
  const state = await existingState(settings);
  const output = dryRun ? StateDir.find(state.file(DRY_RUN)) : state;
  if (!output || isUnused(output)) {
    const where = shortPath(output?.path ?? state.file(DRY_RUN));
    throw new UserError(`there is nothing to report in ${where}: nothing was sent, and there is no plan`, {
      hint: otherPlanHint(state, settings),
    });
  }
  if (isThere(output.file(PLAN_FILE))) {
    await writeTables(state, output, (message) => console.complain(`warning: ${message}`));
  }
  const holder = dryRun ? undefined : lockHolder(state);
  const { path, figures } = writeReport(state, output, { withValues, holder });
  if (settings.json) console.printJson(figuresJson(figures, { report: path }));
  else console.print(path);
  if (withValues) console.say('it contains field values of records: treat it like the exports themselves');
  return EXIT.done;
}
