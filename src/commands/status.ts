import type { Console } from '../terminal/console.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { lockHolder } from '../store/lock.ts';
import { parseOptions } from '../options/option.ts';
import { statusJson, statusText, type StatusView } from '../pages/status-text.ts';
import { readStatus } from '../pages/status.ts';
import type { StateDir } from '../files/state-dir.ts';
import { readState } from '../store/open.ts';
import { STATUS } from './definitions.ts';
import type { Argv } from './load.ts';
import { existingState } from './state.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * `crm-backfill status`: the progress of a migration, read from its state directory without taking the lock. `--watch`
 * refreshes it every two seconds until the run ends.
 */
export async function status(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(STATUS, argv);
  const state = await existingState(settings);
  for (;;) {
    const found = look(state);
    if (settings.json) console.printJson(JSON.stringify(statusJson(found)));
    else console.redraw(statusText(found, console.shownColumns));
    if (!settings.watch || !found.holder) return EXIT.done;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function look(state: StateDir): StatusView {
  const now = new Date();
  const holder = lockHolder(state);
  const db = readState(state);
  try {
    db.exec('begin');
    return { holder, status: readStatus(db, now.getTime()), path: state.path, now };
  } finally {
    db.close();
  }
}
