import type { Clock } from '../clock.ts';
import { EXIT } from '../errors.ts';
import type { Halt } from '../halt.ts';
import type { LimiterWait } from '../service/limiter.ts';

export interface SilenceOptions {
  readonly clock: Clock;
  readonly halt: Halt;
  /** Monotonic milliseconds, without the time the machine was asleep. */
  readonly awake: () => number;
  readonly maxOutageMs: number;
  /** What the limiter waits for. */
  readonly limiterWait: () => LimiterWait['reason'] | undefined;
  /** Whether events wait for the end of an outage. */
  readonly isDown: () => boolean;
}

type Cause = 'outage' | 'rate_limited' | 'redis';

const CHECK_MS = 1_000;

const MESSAGES: Readonly<Record<Cause, string>> = {
  outage: 'the service was unreachable for longer than --max-outage',
  rate_limited: 'the service answered 429 for longer than --max-outage',
  redis: 'Redis was unreachable for longer than --max-outage',
};

const HINTS: Readonly<Record<Cause, string>> = {
  outage: 'rerun when the service is back',
  rate_limited: 'check what else uses the API key, and the Retry-After in run.log; rerun later',
  redis: 'rerun when Redis is back',
};

/**
 * Stops the run when nothing has got through for --max-outage, whatever it waits for. The time counts from the first
 * attempt that failed; waiting for our own rate limit does not count.
 */
export class Silence {
  readonly #options: SilenceOptions;
  readonly #stop: () => void;
  #cause: Cause | undefined;
  #lastedMs = 0;
  #countedTo = 0;
  #answeredAt = -Infinity;

  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#stop = options.clock.every(CHECK_MS, () => this.#check());
  }

  /** An attempt sent at `sentAt` (`awake` time) was answered 429 or not at all. */
  failed(cause: Cause, sentAt: number): void {
    if (this.#cause === undefined) {
      this.#lastedMs = 0;
      this.#countedTo = Math.max(sentAt, this.#answeredAt);
    }
    this.#cause = cause;
    this.#check();
  }

  /** The service answered otherwise than 429. */
  answered(): void {
    this.#cause = undefined;
    this.#answeredAt = this.#options.awake();
  }

  close(): void {
    this.#stop();
  }

  #check(): void {
    const { awake, halt, maxOutageMs, limiterWait, isDown } = this.#options;
    const waitsFor = limiterWait();
    if (waitsFor === 'redis' && this.#cause === undefined) return this.failed('redis', awake());
    if (this.#cause === undefined || halt.requested) return;
    const now = awake();
    if (waitsFor !== 'rate' || isDown()) this.#lastedMs += now - this.#countedTo;
    this.#countedTo = now;
    if (this.#lastedMs < maxOutageMs) return;
    const cause = this.#cause;
    halt.request({ code: cause, message: MESSAGES[cause], hint: HINTS[cause], exitCode: EXIT.stopped });
    // The requests in flight would otherwise prolong the outage by up to --timeout.
    if (cause === 'outage') halt.abort();
  }
}
