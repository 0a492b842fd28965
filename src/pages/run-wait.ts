/** Why an active run sends nothing at the moment. Only the run itself knows: it writes it to its log and to `metrics.prom`. */
import { readFile, stat } from 'node:fs/promises';
import { openRegular } from '../private-file.ts';
import { METRICS_FILE } from '../report/summary.ts';
import { WAITS, type WaitReason } from '../report/words.ts';
import { RUN_LOG_FILE } from '../run-log.ts';
import type { StateDir } from '../state-dir.ts';

export interface RunWait {
  readonly reason: WaitReason;
  readonly since: Date;
}

/** A run writes its metrics every 15 seconds: older ones say nothing about the present. */
const STALE_MS = 60_000;
const TAIL_BYTES = 1 << 16;

/** Undefined if the run sends events, or if this is not known. */
export async function readRunWait(state: StateDir, now: Date): Promise<RunWait | undefined> {
  return (await outage(state)) ?? (await waitInMetrics(state, now));
}

/** By the end of the run's log, which has it at once. */
async function outage(state: StateDir): Promise<RunWait | undefined> {
  const file = await openRegular(state.file(RUN_LOG_FILE)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, TAIL_BYTES)),
      position: Math.max(0, size - TAIL_BYTES),
    });
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n').map(eventIn);
    const last = lines.findLast(({ event }) => ['outage', 'outage_over', 'run', 'end'].includes(event));
    return last?.event === 'outage' ? { reason: 'outage', since: new Date(last.at) } : undefined;
  } finally {
    await file.close();
  }
}

/** The first line may lack its beginning, the last one its end. */
function eventIn(line: string): { readonly event: string; readonly at: string } {
  try {
    return { event: '', at: '', ...(JSON.parse(line) as object) };
  } catch {
    return { event: '', at: '' };
  }
}

async function waitInMetrics(state: StateDir, now: Date): Promise<RunWait | undefined> {
  const path = state.file(METRICS_FILE);
  const file = await stat(path).catch(() => undefined);
  if (!file || now.getTime() - file.mtimeMs > STALE_MS) return undefined;
  const text = await readFile(path, 'utf8').catch(() => '');
  const [, reason = '', seconds] = /^backfill_waiting_seconds\{.*reason="(\w+)".*\} (\S+)$/m.exec(text) ?? [];
  if (!Object.hasOwn(WAITS, reason)) return undefined;
  return { reason: reason as WaitReason, since: new Date(now.getTime() - Number(seconds) * 1000) };
}
