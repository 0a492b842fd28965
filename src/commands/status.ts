import { SANDBOX } from '../settings/credentials.ts';
import type { Console } from '../report/print/console.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { lockHolder } from '../store/lock.ts';
import { runArguments } from '../settings/command-line.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { PlanFigures } from '../report/figures/plan-figures.ts';
import { readStatus, statusFigures } from '../report/figures/status.ts';
import { jsonOf } from '../report/print/json.ts';
import { screenOf } from '../report/print/terminal.ts';
import { isUnused, readState } from '../store/open.ts';
import { planIn } from '../store/stored-plans.ts';
import { existingState, optionsOf } from './state.ts';
import type { Argv } from './command.ts';
import { status as definition } from './definitions.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * `crm-backfill status`: the progress of a migration, read from its state directory without taking the lock. `--watch`
 * refreshes it every two seconds until the run ends.
 */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const state = await existingState(settings);
  for (;;) {
    const holder = lockHolder(state);
    // Where nothing was sent, a dry run is all there is.
    const dryRun = isUnused(state) ? planIn(state, true) : undefined;
    const db = readState(state, dryRun?.output);
    try {
      db.exec('begin');
      const [plan, now] = [new PlanFigures(db), new Date()];
      const status = readStatus(plan, { path: state.path, holder, now });
      if (settings.json) console.printJson(jsonOf(status));
      else {
        const place = { ...settings, sandbox: settings.sandbox || status.base_url === SANDBOX };
        const options = [...(plan.survey?.options ?? []), ...(status.dry_run ? ['--dry-run'] : [])];
        const run = { argv: runArguments(place, ...options), unwritten: [], optionsOf };
        console.redraw(screenOf(statusFigures(plan, status, run, now), console.shownColumns));
      }
    } finally {
      db.close();
    }
    if (!settings.watch || holder === undefined) return EXIT.done;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
