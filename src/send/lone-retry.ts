import type { Clock } from '../clock.ts';

const RETRY_MS = 5_000;

interface Retry {
  readonly id: string;
  readonly reason: 'credentials' | 'intercepted';
  readonly until: number;
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

/**
 * After an answer that tells of wrong credentials, a wrong base URL or a firewall, one event is sent once more, after
 * five seconds, while all others wait.
 */
export class LoneRetry {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #retry: Retry | undefined;

  constructor({ clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }) {
    this.#clock = clock;
    this.#signal = signal;
  }

  get waiting(): { readonly reason: Retry['reason']; readonly nextInMs: number } | undefined {
    if (!this.#retry) return undefined;
    const { reason, until } = this.#retry;
    return { reason, nextInMs: Math.max(0, until - this.#clock.monotonic()) };
  }

  /** Resolves when the other events may be sent again. */
  get settled(): Promise<void> | undefined {
    return this.#retry?.settled;
  }

  /** Whether this event waits for another one. */
  holds(id: string): boolean {
    return this.#retry !== undefined && this.#retry.id !== id;
  }

  /** Whether it is this event that is sent once more. */
  isOf(id: string): boolean {
    return this.#retry?.id === id;
  }

  /** Resolves when the event may be sent once more, or the run is stopping. */
  async begin(id: string, reason: Retry['reason']): Promise<void> {
    this.end(id);
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    this.#retry = { id, reason, until: this.#clock.monotonic() + RETRY_MS, settled, settle };
    await this.#clock.sleep(RETRY_MS, this.#signal);
  }

  /** The event was answered, or has its outcome. */
  end(id: string): void {
    if (this.#retry?.id !== id) return;
    this.#retry.settle();
    this.#retry = undefined;
  }
}
