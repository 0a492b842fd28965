import { readFile, stat } from 'node:fs/promises';
import type { StateDir } from '../../state-dir.ts';
import { METRICS_FILE } from '../summary.ts';

/** Why an active run sends nothing at the moment. Only the run itself knows; it writes it to `metrics.prom`. */
export interface RunWait {
  /** As in `WaitingState`. */
  readonly reason: string;
  readonly seconds: number;
}

/** A run writes the file every 15 seconds: an older one says nothing about the present. */
const STALE_MS = 60_000;

/** Undefined if the run sends events, or if this is not known. */
export async function readRunWait(state: StateDir, now: Date): Promise<RunWait | undefined> {
  const path = state.file(METRICS_FILE);
  const file = await stat(path).catch(() => undefined);
  if (!file || now.getTime() - file.mtimeMs > STALE_MS) return undefined;
  const text = await readFile(path, 'utf8').catch(() => '');
  const [, reason = 'none', seconds] = /^backfill_waiting_seconds\{.*reason="(\w+)".*\} (\S+)$/m.exec(text) ?? [];
  return reason === 'none' ? undefined : { reason, seconds: Number(seconds) };
}
