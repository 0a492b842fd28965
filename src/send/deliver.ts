import { SleepWatch, type Clock } from '../clock.ts';
import { EXIT } from '../errors.ts';
import type { Outcome } from '../model.ts';
import type { Client } from '../service/client.ts';
import { envelope } from '../service/envelope.ts';
import type { Limiter, LimiterWait } from '../service/limiter.ts';
import type { Attempt, NoAnswer, Refused, Unauthorised } from '../service/reply.ts';
import { backoff } from '../service/retry.ts';
import type { Halt } from '../halt.ts';
import { acknowledged, newSendState, pending, rejected, type Delivery, type SendState } from './delivery.ts';
import { Outage } from './outage.ts';
import { applyPolicies } from './refusals.ts';

export type { Delivery } from './delivery.ts';

export interface DelivererOptions {
  readonly client: Client;
  readonly limiter: Limiter;
  readonly halt: Halt;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly maxOutageMs: number;
  /** Awaited immediately before the first attempt is sent. `deliver` throws only what this throws. */
  readonly beforeSend: (delivery: Delivery) => Promise<void>;
  readonly log: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Source of backoff jitter. */
  readonly random?: () => number;
}

export interface DeliveryStatus {
  /** Why nothing is being sent at the moment; absent if events can be sent. */
  readonly waiting?: LimiterWait | { readonly reason: 'outage' | 'credentials'; readonly nextInMs: number };
}

export interface DeliveryCounters {
  /** Attempts sent. */
  requests: number;
  /** Events with at least one attempt sent. */
  events_sent: number;
  retries: number;
  rate_limited: number;
}

/** After refused credentials, one event is sent once more while all others wait. */
interface CredentialsCheck {
  readonly id: string;
  readonly until: number;
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

const MAX_FAILURES = 5;
const CREDENTIALS_RETRY_MS = 5_000;

export function createDeliverer(options: DelivererOptions): Deliverer {
  return new Deliverer(options);
}

/** Sends events until each has an outcome, through refusals, lost answers and outages, always with the same id. */
export class Deliverer {
  readonly counters: DeliveryCounters = { requests: 0, events_sent: 0, retries: 0, rate_limited: 0 };
  readonly #options: DelivererOptions;
  readonly #random: () => number;
  readonly #sleepWatch: SleepWatch;
  readonly #outage: Outage;
  #credentialsCheck: CredentialsCheck | undefined;
  /** An event of this run was acknowledged or refused. */
  #hasSettled = false;

  constructor(options: DelivererOptions) {
    const { client, clock, halt, log } = options;
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#sleepWatch = new SleepWatch(clock, (ms) => {
      log('machine_slept', { seconds: Math.round(ms / 1000) });
      client.dropSockets('asleep');
    });
    this.#outage = new Outage({
      ...options,
      health: () => client.health(),
      awake: () => this.#sleepWatch.awake(),
      random: this.#random,
    });
    halt.hardSignal.addEventListener('abort', () => client.dropSockets('aborted'), { once: true });
  }

  /** Never throws for errors of the service or the network. The outcome is `pending` only if the run is stopping. */
  async deliver(delivery: Delivery): Promise<Outcome> {
    const { clock, halt } = this.#options;
    const sending = newSendState(delivery);
    try {
      for (;;) {
        await this.#turn(sending.id);
        if (halt.requested) return pending(sending);
        const sentAt = clock.monotonic();
        const outcome = await this.#conclude(sending, await this.#attempt(sending), sentAt);
        if (outcome) return outcome;
      }
    } finally {
      this.#endCredentialsCheck(sending);
    }
  }

  status(): DeliveryStatus {
    const { clock, limiter } = this.#options;
    if (this.#credentialsCheck) {
      return {
        waiting: { reason: 'credentials', nextInMs: Math.max(0, this.#credentialsCheck.until - clock.monotonic()) },
      };
    }
    if (this.#outage.isDown) return { waiting: { reason: 'outage', nextInMs: this.#outage.nextInMs } };
    const waiting = limiter.waiting();
    return waiting ? { waiting } : {};
  }

  /** Stops watching for the machine's sleep. */
  close(): void {
    this.#sleepWatch.stop();
  }

  /** Resolves when the event may be sent or the run is stopping. */
  async #turn(id: string): Promise<void> {
    while (this.#isHeld(id)) {
      if (this.#credentialsCheck && this.#credentialsCheck.id !== id) await this.#credentialsCheck.settled;
      else await this.#outage.pass(id);
    }
  }

  #isHeld(id: string): boolean {
    if (this.#options.halt.requested) return false;
    return (this.#credentialsCheck !== undefined && this.#credentialsCheck.id !== id) || this.#outage.holds(id);
  }

  #attempt(sending: SendState): Promise<Attempt> {
    const { client, halt, beforeSend } = this.#options;
    const { delivery, id, type } = sending;
    return client.ingest(envelope(delivery.ready, id, type), {
      signal: halt.signal,
      mayStart: () => !this.#isHeld(id),
      beforeSend: async () => {
        if (sending.attempts === 0) {
          await beforeSend(delivery);
          this.counters.events_sent += 1;
        }
        if (sending.tries > 0) this.counters.retries += 1;
        this.counters.requests += 1;
        sending.attempts += 1;
        sending.tries += 1;
      },
    });
  }

  /** The outcome after an attempt, or undefined if another attempt is needed. */
  async #conclude(sending: SendState, attempt: Attempt, sentAt: number): Promise<Outcome | undefined> {
    switch (attempt.kind) {
      case 'withdrawn':
        return this.#options.limiter.stopped ? pending(sending) : undefined;
      case 'unanswered':
        return this.#unanswered(sending, attempt, sentAt);
      case 'unauthorised':
        this.#outage.answered();
        return this.#unauthorised(sending, attempt);
      case 'rate_limited':
        this.#answered(sending);
        this.counters.rate_limited += 1;
        return undefined;
      case 'wrong_url':
        this.#answered(sending);
        return this.#wrongUrl(sending, attempt);
      case 'acknowledged': {
        this.#answered(sending);
        this.#hasSettled = true;
        const { outcome, id, deduplicated } = attempt.acknowledgement;
        return acknowledged(sending, outcome, id, deduplicated ? 'deduplicated' : undefined);
      }
      case 'refused':
        this.#answered(sending);
        this.#hasSettled = true;
        return this.#refused(sending, attempt);
    }
  }

  #answered(sending: SendState): void {
    this.#outage.answered();
    this.#endCredentialsCheck(sending);
  }

  async #unanswered(sending: SendState, attempt: NoAnswer, sentAt: number): Promise<Outcome | undefined> {
    const { client, clock, halt, log } = this.#options;
    if (attempt.sent === 'maybe') sending.mayHaveArrived = true;
    if (attempt.setup) {
      halt.request({
        code: attempt.code,
        message: `cannot send events: ${attempt.message}`,
        hint: attempt.hint ?? 'check the base URL, the certificate and the credentials',
        exitCode: this.#hasSettled ? EXIT.stopped : EXIT.nothingSent,
      });
    }
    if (halt.requested) return undefined;
    sending.unanswered += 1;
    const { externalId } = sending.delivery.ready;
    log('unanswered', { id: sending.id, external_id: externalId, code: attempt.code, message: attempt.message });
    this.#outage.failed(sending.id);
    const isCounted = !this.#outage.isDown && (this.#outage.answeredSince(sentAt) || (await client.health()));
    if (this.#outage.isDown) {
      // Failures during an outage do not count against the event.
      sending.failures = 0;
      return undefined;
    }
    if (isCounted) sending.failures += 1;
    if (sending.failures >= MAX_FAILURES) {
      const { code, message, status } = attempt;
      const hint = 'rerun to send it again with the same id';
      return rejected(sending, { code, message, hint, ...(status === undefined ? {} : { httpStatus: status }) });
    }
    await clock.sleep(Math.max(backoff(sending.unanswered, this.#random), attempt.retryAfterMs ?? 0), halt.signal);
    return undefined;
  }

  async #refused(sending: SendState, attempt: Refused): Promise<Outcome | undefined> {
    const { clock, halt } = this.#options;
    const next = applyPolicies(sending, attempt);
    if (typeof next === 'object') return next;
    if (next === 'again') {
      sending.askedAgain += 1;
      await clock.sleep(backoff(sending.askedAgain, this.#random), halt.signal);
    }
    return undefined;
  }

  async #unauthorised(sending: SendState, attempt: Unauthorised): Promise<Outcome | undefined> {
    const { clock, halt, log } = this.#options;
    if (this.#credentialsCheck && this.#credentialsCheck.id !== sending.id) return undefined;
    if (this.#credentialsCheck) {
      halt.request({
        code: attempt.code,
        message: `the service refused the credentials (${attempt.status}): ${attempt.message}`,
        hint:
          attempt.status === 401
            ? 'check BACKFILL_API_KEY, then rerun'
            : 'copy the ingestion URL and the API key of the same account from the dashboard, then rerun',
        exitCode: EXIT.stopped,
      });
      return undefined;
    }
    log('credentials_refused', { status: attempt.status, code: attempt.code });
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    this.#credentialsCheck = { id: sending.id, until: clock.monotonic() + CREDENTIALS_RETRY_MS, settled, settle };
    await clock.sleep(CREDENTIALS_RETRY_MS, halt.signal);
    return undefined;
  }

  #endCredentialsCheck(sending: SendState): void {
    if (this.#credentialsCheck?.id !== sending.id) return;
    this.#credentialsCheck.settle();
    this.#credentialsCheck = undefined;
  }

  #wrongUrl(sending: SendState, attempt: Extract<Attempt, { kind: 'wrong_url' }>): Outcome {
    this.#options.halt.request({
      code: 'wrong_base_url',
      message: `no ingestion webhook at this base URL (${attempt.status}): ${attempt.message}`,
      hint: 'compare the base URL with the ingestion URL in the dashboard, then rerun',
      exitCode: this.#hasSettled ? EXIT.stopped : EXIT.nothingSent,
    });
    return pending(sending);
  }
}
