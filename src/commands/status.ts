import type { Console } from '../console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { untilStopped } from '../halt.ts';
import { lockHolder } from '../store/lock.ts';
import { parseOptions } from '../options/option.ts';
import { readPageData, type LiveView } from '../pages/page-data.ts';
import { readRunWait } from '../pages/run-wait.ts';
import { startLiveServer } from '../pages/server.ts';
import { statusJson, statusText, type StatusView } from '../pages/status-text.ts';
import { readStatus } from '../pages/status.ts';
import type { StateDir } from '../state-dir.ts';
import { readState } from '../store/open.ts';
import { STATUS } from './definitions.ts';
import type { Argv } from './load.ts';
import { existingState } from './state.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * `crm-backfill status`: the progress of a migration, read from its state directory without taking the lock. `--watch`
 * refreshes it every two seconds until the run ends, `--serve` shows it as a page.
 */
export async function status(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(STATUS, argv);
  if (settings.serve !== undefined && (settings.watch || settings.json)) {
    throw new UserError(
      '--serve cannot be combined with --watch or --json: the page is refreshed, and meant for people',
    );
  }
  const state = await existingState(settings);
  if (settings.serve !== undefined) return await serve(settings.serve, state, console);
  for (;;) {
    const found = await look(state);
    if (settings.json) console.printJson(JSON.stringify(statusJson(found)));
    else console.redraw(statusText(found, console.shownColumns));
    if (!settings.watch || !found.holder) return EXIT.done;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function look(state: StateDir): Promise<StatusView> {
  const now = new Date();
  const live = await liveView(state, now);
  const db = readState(state);
  try {
    db.exec('begin');
    return { ...live, status: readStatus(db, now.getTime()), path: state.path, now };
  } finally {
    db.close();
  }
}

/** `--serve`: the page of the report, alive, until a signal ends it. */
async function serve(port: number, state: StateDir, console: Console): Promise<ExitCode> {
  const server = await startLiveServer(port, async () => {
    const now = new Date();
    return readPageData(state, state, { withValues: false, live: await liveView(state, now), now });
  });
  console.print(server.url);
  console.say('the page can be opened on this machine, or through an ssh tunnel to this port; press Ctrl-C to end it');
  await untilStopped();
  await server.close();
  return EXIT.done;
}

async function liveView(state: StateDir, now: Date): Promise<LiveView> {
  const holder = lockHolder(state);
  return { holder, wait: holder && (await readRunWait(state, now)) };
}
