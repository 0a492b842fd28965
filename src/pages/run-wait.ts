/** Why an active run sends nothing at the moment. Only the run itself knows: it writes it to `metrics.prom`. */
import { readFile, stat } from 'node:fs/promises';
import { METRICS_FILE } from '../report/summary.ts';
import { WAITS, type WaitReason } from '../report/words.ts';
import type { StateDir } from '../state-dir.ts';

export interface RunWait {
  readonly reason: WaitReason;
  readonly since: Date;
}

/** A run writes its metrics every 15 seconds: older ones say nothing about the present. */
const STALE_MS = 60_000;

/** Undefined if the run sends events, or if this is not known. */
export async function readRunWait(state: StateDir, now: Date): Promise<RunWait | undefined> {
  const path = state.file(METRICS_FILE);
  const file = await stat(path).catch(() => undefined);
  if (!file || now.getTime() - file.mtimeMs > STALE_MS) return undefined;
  const text = await readFile(path, 'utf8').catch(() => '');
  const [, reason = '', seconds] = /^backfill_waiting_seconds\{.*reason="(\w+)".*\} (\S+)$/m.exec(text) ?? [];
  if (!Object.hasOwn(WAITS, reason)) return undefined;
  return { reason: reason as WaitReason, since: new Date(now.getTime() - Number(seconds) * 1000) };
}
