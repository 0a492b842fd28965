import type { Console } from '../terminal/console.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { lockHolder } from '../store/lock.ts';
import { pick } from '../settings/option.ts';
import { parseOptions } from '../settings/parse-options.ts';
import { statusText } from '../pages/status-text.ts';
import { readStatus, type Status } from '../pages/status.ts';
import type { StateDir } from '../files/state-dir.ts';
import { readState } from '../store/open.ts';
import { existingState } from './state.ts';
import { OPTIONS } from '../settings/table.ts';
import { MAPPING } from '../settings/run-settings.ts';
import { define, STATE_OPTIONS, type Argv } from './command.ts';

export const definition = define({
  positionals: MAPPING,
  options: {
    ...STATE_OPTIONS,
    ...pick(OPTIONS, 'watch'),
    json: { ...OPTIONS.json, describe: 'Print one JSON object to stdout (one per refresh with --watch)' },
  },
  examples: [
    ['$0 status acme.yaml', 'counts by type, rate, and whether a run is active'],
    ['$0 status acme.yaml --watch', 'the same, refreshed, in another terminal'],
  ],
});

const LOOK_EVERY_MS = 2_000;

/**
 * `crm-backfill status`: the progress of a migration, read from its state directory without taking the lock. `--watch`
 * refreshes it every two seconds until the run ends.
 */
export async function handler(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(definition, argv);
  const state = await existingState(settings);
  for (;;) {
    const now = new Date();
    const status = look(state, now);
    if (settings.json) console.printJson(JSON.stringify(status));
    else console.redraw(statusText(status, now, console.shownColumns));
    if (!settings.watch || !status.running) return EXIT.done;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function look(state: StateDir, now: Date): Status {
  const holder = lockHolder(state);
  const db = readState(state);
  try {
    db.exec('begin');
    return readStatus(db, { path: state.path, holder, now });
  } finally {
    db.close();
  }
}
