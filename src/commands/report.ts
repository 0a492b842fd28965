import { existsSync } from 'node:fs';
import type { Console } from '../console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { parseOptions } from '../options/option.ts';
import { writeReport } from '../pages/report.ts';
import { DRY_RUN, StateDir } from '../state-dir.ts';
import { CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import { PLAN_FILE } from '../store/plan-schema.ts';
import { REPORT } from './definitions.ts';
import type { Argv } from './load.ts';
import { existingState } from './state.ts';

/** `crm-backfill report`: writes `report.html` again from the state directory and prints its path. */
export async function report(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(REPORT, argv);
  const state = await existingState(settings);
  const output = settings.dryRun ? await StateDir.existing(state.file(DRY_RUN)) : state;
  if (![PLAN_FILE, CHECKPOINT_FILE].some((name) => existsSync(output.file(name)))) {
    throw new UserError(`there is nothing to report in ${output.path}: it has neither a checkpoint nor a plan`, {
      hint: settings.dryRun
        ? 'run with --dry-run first'
        : 'run the migration first, or add --dry-run to report on the last dry run',
    });
  }
  console.print(await writeReport(state, output, settings));
  if (settings.withValues) console.say('it contains field values of records: treat it like the exports themselves');
  return EXIT.done;
}
