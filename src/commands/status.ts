import type { Console } from '../report/print/console.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { lockHolder } from '../store/lock.ts';
import { runOf, withoutOption } from '../settings/command-line.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { needsAdopt } from '../halt.ts';
import { readStates, readStatus } from '../report/figures/read-status.ts';
import { statusFigures, type StatusFound } from '../report/figures/status.ts';
import { jsonOf } from '../report/print/json.ts';
import { screenOf } from '../report/print/terminal.ts';
import type { StateDir } from '../files/state-dir.ts';
import { readDocument } from '../report/files/documents.ts';
import { isUnused, readState } from '../store/open.ts';
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
      const resume = resumeOf(settings, found);
      console.redraw(screenOf(statusFigures({ ...found, resume }), console.shownColumns));
    }
    if (!settings.watch || !status.running) return EXIT.done;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

interface StatusReading extends Omit<StatusFound, 'resume'> {
  /** Of the last run, for the next one. */
  readonly options: readonly string[];
}

/** Undefined where nothing is left to do. */
function resumeOf(settings: Parameters<typeof runOf>[0], { status, options }: StatusReading): string | undefined {
  const { last_run: last, dry_run: dryRun } = status;
  if (last?.exit.code === EXIT.done && !dryRun) return undefined;
  // What was corrected since is another plan.
  const again = last?.exit.code === EXIT.finishedWithErrors ? withoutOption(options, '--plan') : options;
  return runOf(settings, ...again, ...(needsAdopt(last?.exit.reason) ? ['--adopt'] : []));
}

function look(state: StateDir, now: Date): StatusReading {
  const holder = lockHolder(state);
  // Where nothing was sent, a dry run is all there is.
  const dryRun = isUnused(state) ? planIn(state, true) : undefined;
  const db = readState(state, dryRun?.output);
  try {
    db.exec('begin');
    const states = readStates(db);
    const status = readStatus(db, { path: state.path, holder, now, states });
    return { status, states, now, options: readDocument(db, 'survey')?.options ?? [] };
  } finally {
    db.close();
  }
}
