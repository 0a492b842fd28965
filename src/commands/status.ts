import type { Console } from '../terminal/console.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { lockHolder } from '../store/lock.ts';
import { runOf } from '../settings/command-line.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { needsAdopt } from '../halt.ts';
import { readStates, readStatus, type Status } from '../figures/read-status.ts';
import { statusFigures, type StatusFound } from '../figures/status.ts';
import { jsonOf } from '../print/json.ts';
import { screenOf } from '../print/terminal.ts';
import type { StateDir } from '../files/state-dir.ts';
import { isThere } from '../files/private-file.ts';
import { CHECKPOINT_FILE } from '../store/checkpoint-schema.ts';
import { readState } from '../store/open.ts';
import { PLAN_FILE } from '../store/plan-schema.ts';
import { planIn } from '../store/stored-plans.ts';
import { existingState } from './state.ts';
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
    const found = look(state, new Date());
    const { status } = found;
    if (settings.json) console.printJson(jsonOf(status));
    else {
      const resume = resumeOf(settings, status);
      console.redraw(screenOf(statusFigures({ ...found, resume }), { columns: console.shownColumns }));
    }
    if (!settings.watch || !status.running) return EXIT.done;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Undefined where nothing is left to do. */
function resumeOf(
  settings: Parameters<typeof runOf>[0],
  { last_run: last, dry_run: dryRun }: Status,
): string | undefined {
  if (last?.exit.code === EXIT.done && !dryRun) return undefined;
  return runOf(settings, ...(needsAdopt(last?.exit.reason) ? ['--adopt'] : []));
}

function look(state: StateDir, now: Date): Omit<StatusFound, 'resume'> {
  const holder = lockHolder(state);
  // Where nothing was sent, a dry run is all there is.
  const dryRun = [PLAN_FILE, CHECKPOINT_FILE].some((name) => isThere(state.file(name)))
    ? undefined
    : planIn(state, true);
  const db = readState(state, dryRun?.output);
  try {
    db.exec('begin');
    const states = readStates(db);
    return { status: readStatus(db, { path: state.path, holder, now, states }), states, now };
  } finally {
    db.close();
  }
}
