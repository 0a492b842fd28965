import type { Console } from '../console.ts';
import { EXIT, UserError, type ExitCode } from '../errors.ts';
import { parseOptions } from '../options/option.ts';
import { parseLine } from '../report/lines.ts';
import { openRegular } from '../private-file.ts';
import { MigrationStatusReader } from '../report/migration-status.ts';
import { statusJson, statusText, type StatusView } from '../report/status-text.ts';
import { RUN_LOG_FILE } from '../run-log.ts';
import { lockHolder } from '../lock.ts';
import type { StateDir } from '../state-dir.ts';
import { STATUS } from './definitions.ts';
import { serveStatus } from './status-page.ts';
import type { Argv } from './load.ts';
import { existingState } from './state.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * `backfill status`: the progress of a migration, read from its state directory without taking the lock. `--watch` refreshes
 * it every two seconds until the run ends, `--serve` shows it as a page.
 */
export async function status(argv: Argv, console: Console): Promise<ExitCode> {
  const settings = parseOptions(STATUS, argv);
  if (settings.serve !== undefined && (settings.watch || settings.json)) {
    throw new UserError(
      '--serve cannot be combined with --watch or --json: the page is refreshed, and meant for people',
    );
  }
  const state = await existingState(settings);
  const reader = new MigrationStatusReader(state);
  if (settings.serve !== undefined) return await serveStatus(settings.serve, state, () => look(state, reader), console);
  for (;;) {
    const found = await look(state, reader);
    if (settings.json) console.printJson(JSON.stringify(statusJson(found)));
    else console.redraw(statusText(found, process.stdout.columns ?? 80));
    if (!settings.watch || !found.holder) return EXIT.done;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function look(state: StateDir, reader: MigrationStatusReader): Promise<StatusView> {
  const now = new Date();
  const holder = await lockHolder(state);
  const [migration, downSince] = await Promise.all([reader.read(now.getTime()), outageSince(state)]);
  return { status: migration, holder, downSince, path: state.path, now };
}

const TAIL_BYTES = 1 << 16;

/** When the service became unreachable, by the end of the run's log; undefined while it is reachable. */
async function outageSince(state: StateDir): Promise<string | undefined> {
  const file = await openRegular(state.file(RUN_LOG_FILE)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, TAIL_BYTES)),
      position: Math.max(0, size - TAIL_BYTES),
    });
    let since: string | undefined;
    for (const text of buffer.toString('utf8', 0, bytesRead).split('\n')) {
      const line = parseLine<{ event: string; at: string }>(text);
      if (line?.event === 'outage') since = line.at;
      else if (line?.event === 'outage_over' || line?.event === 'run' || line?.event === 'end') since = undefined;
    }
    return since;
  } finally {
    await file.close();
  }
}
