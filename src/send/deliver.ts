import type { Clock } from '../clock.ts';
import type { Client } from '../service/client.ts';
import { envelope } from '../service/envelope.ts';
import type { Limiter } from '../service/limiter.ts';
import type { Attempt } from '../service/reply.ts';
import type { Halt } from '../halt.ts';
import { durationText } from '../report/words/times.ts';
import { decide, decideAfterHealth, type Around, type Decided } from './decide.ts';
import { dataOf, pendingAfter, UNSENT, type Delivered, type Delivery, type Sending } from './delivery.ts';
import { Gate, type GateWait } from './gate.ts';
import { withoutValues } from './without-values.ts';

interface DelivererOptions {
  readonly client: Client;
  readonly limiter: Limiter;
  readonly halt: Halt;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly maxOutageMs: number;
  readonly log: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Shows a warning. */
  readonly warn: (message: string) => void;
  /** Source of backoff jitter. */
  readonly random?: () => number;
}

interface DeliveryCounters {
  /** Attempts sent. */
  requests: number;
  /** Events with at least one attempt sent. */
  events_sent: number;
  /** Second requests about an event, as `if_exists` and `if_missing` want them. */
  follow_ups: number;
  retries: number;
  rate_limited: number;
}

/** An event that got no answer this often in a row is silent. */
const SILENT_AFTER = 2;

/** Sends requests until each has an outcome, through refusals, lost answers and outages, always with the same id: as `decide` says. */
export class Deliverer {
  readonly counters: DeliveryCounters = { requests: 0, events_sent: 0, follow_ups: 0, retries: 0, rate_limited: 0 };
  readonly #options: DelivererOptions;
  readonly #random: () => number;
  readonly #gate: Gate;
  #inProgress = 0;
  readonly #silent = new Set<string>();
  #onSilent: (() => void) | undefined;
  /** That the service asks for a longer wait than --max-outage. */
  #hasSaidSo = false;

  constructor(options: DelivererOptions) {
    const { client, halt, limiter } = options;
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#gate = new Gate({
      ...options,
      random: this.#random,
      health: () => this.#health(),
      limiterWait: () => limiter.waiting(),
      onSleep: () => client.dropSockets('asleep'),
    });
    halt.hardSignal.addEventListener('abort', () => client.dropSockets('aborted'), { once: true });
  }

  /**
   * Never throws for errors of the service or the network. The outcome is `pending` only if the run is stopping. `beforeSend` is
   * awaited immediately before the first attempt; only what it throws is thrown.
   */
  async deliver(delivery: Delivery, beforeSend: () => Promise<void>): Promise<Delivered> {
    let sending = UNSENT;
    this.#inProgress += 1;
    try {
      for (;;) {
        await this.#gate.pass(delivery.id);
        if (this.#options.halt.requested) return pendingAfter(sending, delivery);
        const sent = await this.#attempt(delivery, sending, beforeSend);
        const decided = await this.#decide(delivery, sent.sending, sent.attempt);
        const outcome = await this.#follow(delivery, decided);
        if (outcome) return outcome;
        ({ sending } = decided);
      }
    } finally {
      this.#inProgress -= 1;
      this.#silent.delete(delivery.id);
      this.#gate.end(delivery.id);
    }
  }

  /** Why nothing is being sent at the moment; undefined if events can be sent. */
  waiting(): GateWait | undefined {
    return this.#gate.waiting(this.#inProgress);
  }

  /** Calls `listener` now and whenever another event is silent, with the number of those in progress; replaces the one before. */
  whenSilent(listener: (events: number) => void): void {
    this.#onSilent = () => listener(this.#silent.size);
    this.#onSilent();
  }

  /** Stops watching for the machine's sleep and for --max-outage. */
  close(): void {
    this.#gate.close();
  }

  async #attempt(
    delivery: Delivery,
    before: Sending,
    beforeSend: () => Promise<void>,
  ): Promise<{ readonly sending: Sending; readonly attempt: Attempt }> {
    const { client, halt } = this.#options;
    let sending = before;
    const attempt = await client.ingest(envelope(delivery, delivery.id, delivery.type), {
      signal: halt.signal,
      mayStart: () => !this.#gate.holds(delivery.id),
      place: delivery.place,
      beforeSend: async () => {
        if (before.attempts === 0) await beforeSend();
        this.counters[before.attempts > 0 ? 'retries' : delivery.isFollowUp ? 'follow_ups' : 'events_sent'] += 1;
        this.counters.requests += 1;
        sending = { ...before, sentAt: this.#gate.moment().now, attempts: before.attempts + 1 };
      },
    });
    return { sending, attempt };
  }

  async #decide(delivery: Delivery, sending: Sending, attempt: Attempt): Promise<Decided> {
    const before = this.#gate.lane;
    const decided = decide({ lane: before, sending }, attempt, this.#about(delivery));
    this.#gate.lane = decided.lane;
    this.#note(delivery, attempt, decided);
    if (decided.then.kind !== 'ask' || attempt.kind !== 'unanswered') return decided;
    const isUp = await this.#health();
    const lane = this.#gate.lane;
    const next = decideAfterHealth({ lane, sending: decided.sending }, attempt, isUp, this.#about(delivery));
    this.#gate.lane = next.lane;
    return next;
  }

  #about(delivery: Delivery): Around {
    const { halt, limiter, maxOutageMs } = this.#options;
    return { ...this.#gate.moment(), delivery, maxOutageMs, isStopping: halt.requested || limiter.stopped };
  }

  /** The outcome, or undefined if another attempt follows. */
  async #follow(delivery: Delivery, { sending, then }: Decided): Promise<Delivered | undefined> {
    if (then.kind === 'end') return then.delivered;
    if (then.kind === 'stop') {
      this.#gate.stop(then.reason);
      return pendingAfter(sending, delivery);
    }
    if (then.kind === 'hold') await this.#gate.hold();
    if (then.kind === 'wait') {
      this.#options.log('retry', { external_id: delivery.externalId, seconds: Math.round(then.ms / 1000) });
      await this.#gate.retryIn(then.ms, delivery.id, then.isUp);
    }
    return undefined;
  }

  /** For `run.log`, the progress line, and those who wait for an answer of any event. */
  #note(delivery: Delivery, attempt: Attempt, { sending, then }: Decided): void {
    const { log, limiter, maxOutageMs, warn } = this.#options;
    const { externalId: external_id } = delivery;
    if (attempt.kind === 'rate_limited') {
      this.counters.rate_limited += 1;
      const pauseMs = limiter.waiting()?.nextInMs ?? attempt.retryAfterMs ?? 0;
      log('rate_limited', { external_id, seconds: Math.round(pauseMs / 1000) });
      if (pauseMs > maxOutageMs && !this.#hasSaidSo) {
        this.#hasSaidSo = true;
        const [asked, most] = [pauseMs, maxOutageMs].map((ms) => durationText(ms / 1000));
        warn(
          `the service asks to wait for ${asked} (429, Retry-After), but the run stops after ${most} (--max-outage)`,
        );
      }
    } else if (attempt.kind === 'unanswered') {
      if (sending.unanswered >= SILENT_AFTER) this.#silent.add(delivery.id);
      this.#onSilent?.();
      log('unanswered', { external_id, code: attempt.code, message: withoutValues(attempt.message, dataOf(delivery)) });
    } else if (attempt.kind !== 'withdrawn') {
      this.#hasSaidSo = false;
      if (attempt.kind === 'unauthorised' && then.kind === 'hold')
        log('credentials_refused', { status: attempt.status, code: attempt.code });
      if (attempt.kind === 'intercepted')
        log('intercepted', {
          external_id,
          status: attempt.status,
          message: withoutValues(attempt.message, dataOf(delivery)),
        });
    }
  }

  async #health(): Promise<boolean> {
    const health = await this.#options.client.health();
    this.#options.log('health', { ...health });
    return health.answers;
  }
}
