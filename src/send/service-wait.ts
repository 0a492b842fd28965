import type { Clock } from '../clock.ts';
import { probeDelay } from '../service/retry.ts';

/** A wait up to this long lasts as long as the service asked for. */
const ALWAYS_WAITED_MS = 60_000;

/**
 * Waits `ms` milliseconds before an event is sent again. A longer wait than a minute (a maintenance page with
 * `Retry-After: 3600`) ends when the service is back: GET /health answers after it did not, or still answers after a
 * minute. `isUp`: whether the service answered just now. Resolves early when `signal` is aborted. Not for a 429, whose
 * Retry-After is always waited for.
 */
export async function waitForService(
  ms: number,
  options: {
    readonly isUp: boolean;
    readonly health: () => Promise<boolean>;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly random: () => number;
  },
): Promise<void> {
  const { health, clock, signal, random } = options;
  if (ms <= ALWAYS_WAITED_MS) return clock.sleep(ms, signal);
  const began = clock.monotonic();
  const passed = (): number => clock.monotonic() - began;
  let wasDown = !options.isUp;
  for (let probes = 1; passed() < ms && !signal.aborted; probes += 1) {
    const next = wasDown ? probeDelay(probes, random) : ALWAYS_WAITED_MS - passed();
    await clock.sleep(Math.min(Math.max(next, 1), ms - passed()), signal);
    if (signal.aborted || passed() >= ms || (await health())) return;
    wasDown = true;
  }
}
