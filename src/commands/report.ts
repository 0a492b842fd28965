import { stat } from 'node:fs/promises';
import { CHECKPOINT_FILE } from '../checkpoint/lines.ts';
import type { Console } from '../console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { parseOptions } from '../options/option.ts';
import { writeReport } from '../report/html/write.ts';
import { SUMMARY_FILE } from '../report/summary.ts';
import { StateDir } from '../state-dir.ts';
import { REPORT } from './definitions.ts';
import type { Argv } from './load.ts';
import { existingState } from './state.ts';

/** `backfill report`: writes `report.html` again from the state directory and prints its path. */
export async function report(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(REPORT, argv);
  const found = await existingState(settings);
  const state = settings.dryRun ? await StateDir.existing(found.file('dry-run')) : found;
  const files = [CHECKPOINT_FILE, SUMMARY_FILE].map((name) => stat(state.file(name)));
  if ((await Promise.allSettled(files)).every(({ status }) => status === 'rejected')) {
    throw new UserError(`there is nothing to report in ${state.path}: it has neither a checkpoint nor a summary`, {
      hint: settings.dryRun
        ? 'run with --dry-run first'
        : 'run the migration first, or add --dry-run to report on the last dry run',
    });
  }
  console.print(await writeReport(state, settings));
  if (settings.withValues) console.say('it contains field values of records: treat it like the exports themselves');
  return EXIT.done;
}
