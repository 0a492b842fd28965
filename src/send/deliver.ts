import type { Clock } from '../clock.ts';
import { EXIT } from '../errors.ts';
import type { Client } from '../service/client.ts';
import { envelope } from '../service/envelope.ts';
import type { Limiter } from '../service/limiter.ts';
import {
  causeOf,
  type Attempt,
  type Intercepted,
  type NoAnswer,
  type RateLimited,
  type Refused,
  type Unauthorised,
} from '../service/reply.ts';
import { backoff, retryDelay } from '../service/retry.ts';
import type { Halt } from '../halt.ts';
import { dataOf, newSendState, pending, type Delivered, type Delivery, type SendState } from './delivery.ts';
import { Gate, type GateWait } from './gate.ts';
import { allIntercepted, credentialsRefused, intercepted, refused, wrongTarget } from './refusals.ts';
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

const MAX_FAILURES = 5;
/** An event that got no answer this often in a row is silent. */
const SILENT_AFTER = 2;
/** Sent once more, an event that is intercepted again is rejected. */
const MAX_INTERCEPTIONS = 2;

/** Sends requests until each has an outcome, through refusals, lost answers and outages, always with the same id. */
export class Deliverer {
  readonly counters: DeliveryCounters = { requests: 0, events_sent: 0, follow_ups: 0, retries: 0, rate_limited: 0 };
  readonly #options: DelivererOptions;
  readonly #random: () => number;
  readonly #gate: Gate;
  #inProgress = 0;
  #hasAcknowledged = false;
  /** A request of this run may have arrived. */
  #mayHaveArrived = false;
  #interceptedInARow = 0;
  readonly #silent = new Set<string>();
  #onSilent: (() => void) | undefined;

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
    const sending = newSendState(delivery);
    this.#inProgress += 1;
    try {
      for (;;) {
        await this.#gate.pass(delivery.id);
        if (this.#options.halt.requested) return pending(sending);
        const outcome = await this.#conclude(sending, await this.#attempt(sending, beforeSend));
        if (outcome) return outcome;
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

  #attempt(sending: SendState, beforeSend: () => Promise<void>): Promise<Attempt> {
    const { client, halt } = this.#options;
    const { delivery } = sending;
    return client.ingest(envelope(delivery, delivery.id, delivery.type), {
      signal: halt.signal,
      mayStart: () => !this.#gate.holds(delivery.id),
      place: delivery.place,
      beforeSend: async () => {
        if (!sending.isAnnounced) await beforeSend();
        sending.isAnnounced = true;
        this.counters[sending.attempts > 0 ? 'retries' : delivery.isFollowUp ? 'follow_ups' : 'events_sent'] += 1;
        this.counters.requests += 1;
        sending.sentAt = this.#gate.awake();
        sending.attempts += 1;
      },
    });
  }

  /** The outcome after an attempt, or undefined if another attempt is needed. */
  async #conclude(sending: SendState, attempt: Attempt): Promise<Delivered | undefined> {
    this.#mayHaveArrived ||= attempt.kind !== 'withdrawn' && !(attempt.kind === 'unanswered' && attempt.sent === 'no');
    switch (attempt.kind) {
      case 'withdrawn':
        return this.#options.limiter.stopped ? pending(sending) : undefined;
      case 'unanswered':
        return this.#unanswered(sending, attempt);
      case 'unauthorised':
        this.#gate.answered();
        return this.#unauthorised(sending, attempt);
      case 'rate_limited':
        return this.#rateLimited(sending, attempt);
      case 'intercepted':
        this.#gate.answered();
        return this.#intercepted(sending, attempt);
      case 'acknowledged': {
        this.#settled(sending);
        this.#hasAcknowledged = true;
        const { outcome, id: serviceId, deduplicated } = attempt.acknowledgement;
        const { attempts, mayHaveArrived } = sending;
        return { kind: 'acknowledged', outcome, serviceId, deduplicated, mayHaveArrived, attempts };
      }
      case 'refused':
        this.#settled(sending);
        return this.#refused(sending, attempt);
    }
  }

  /** The service itself has acknowledged or refused the event. */
  #settled(sending: SendState): void {
    this.#gate.answered();
    this.#gate.end(sending.delivery.id);
    this.#interceptedInARow = 0;
  }

  /** The limiter makes all events wait. */
  #rateLimited(sending: SendState, { retryAfterMs }: RateLimited): undefined {
    const { limiter, log } = this.#options;
    this.counters.rate_limited += 1;
    sending.unansweredSince = undefined;
    const seconds = Math.round((limiter.waiting()?.nextInMs ?? retryAfterMs ?? 0) / 1000);
    log('rate_limited', { external_id: sending.delivery.externalId, seconds });
    this.#gate.rateLimited(sending.delivery.id, sending.sentAt);
  }

  async #unanswered(sending: SendState, attempt: NoAnswer): Promise<Delivered | undefined> {
    const { halt, log, maxOutageMs } = this.#options;
    if (attempt.sent === 'maybe') sending.mayHaveArrived = true;
    if (attempt.setup) {
      halt.request({
        code: attempt.code,
        message: `cannot send events: ${attempt.message}`,
        hint: attempt.hint ?? 'check the base URL, the certificate and the credentials',
        exitCode: this.#mayHaveArrived ? EXIT.stopped : EXIT.nothingSent,
      });
    }
    if (halt.requested) return undefined;
    sending.unanswered += 1;
    sending.unansweredSince ??= sending.sentAt;
    const { id, externalId, wasRejected } = sending.delivery;
    const data = dataOf(sending.delivery);
    if (sending.unanswered >= SILENT_AFTER) this.#silent.add(id);
    this.#onSilent?.();
    const message = withoutValues(attempt.message, data);
    log('unanswered', { external_id: externalId, code: attempt.code, message });
    this.#gate.failed(id, sending.sentAt, withoutValues(causeOf(attempt), data));
    if (halt.requested) return undefined;
    const isUp = !this.#gate.isDown && (this.#gate.answeredSince(sending.sentAt) || (await this.#health()));
    if (this.#gate.isDown) {
      // Failures during an outage do not count against the event.
      sending.failures = 0;
      sending.unansweredSince = undefined;
      return undefined;
    }
    if (isUp) sending.failures += 1;
    const { code, status, retryAfterMs } = attempt;
    const leftMs = sending.unansweredSince + maxOutageMs - this.#gate.awake();
    // Five attempts, each with a long Retry-After, would last far longer than --max-outage.
    const isOverdue = isUp && retryAfterMs !== undefined && leftMs <= 0;
    // Before anything is acknowledged, nothing shows that the event is at fault and not the service.
    const mayGiveUp = this.#hasAcknowledged || wasRejected;
    if (mayGiveUp && (sending.failures >= MAX_FAILURES || isOverdue)) {
      const hint = 'rerun to send it again with the same id';
      return { kind: 'failed', code, message: attempt.message, hint, httpStatus: status, attempts: sending.attempts };
    }
    const ms = retryDelay(sending.unanswered, { retryAfterMs, leftMs, random: this.#random });
    await this.#wait(sending, ms, isUp);
    return undefined;
  }

  /** Before the event is sent again. `isUp`: whether the service answers other requests. */
  async #wait(sending: SendState, ms: number, isUp = true): Promise<void> {
    const { id, externalId } = sending.delivery;
    this.#options.log('retry', { external_id: externalId, seconds: Math.round(ms / 1000) });
    await this.#gate.retryIn(ms, id, isUp);
  }

  async #health(): Promise<boolean> {
    const health = await this.#options.client.health();
    this.#options.log('health', { ...health });
    return health.answers;
  }

  async #refused(sending: SendState, attempt: Refused): Promise<Delivered | undefined> {
    const ended = refused(sending, attempt);
    if (ended) return ended;
    sending.askedAgain += 1;
    await this.#wait(sending, backoff(sending.askedAgain, this.#random));
    return undefined;
  }

  async #unauthorised(sending: SendState, attempt: Unauthorised): Promise<Delivered | undefined> {
    const { halt, log } = this.#options;
    if (this.#gate.holds(sending.delivery.id)) return undefined;
    if (this.#gate.isAlone(sending.delivery.id)) {
      halt.request(credentialsRefused(attempt));
      return undefined;
    }
    log('credentials_refused', { status: attempt.status, code: attempt.code });
    await this.#gate.begin(sending.delivery.id, 'credentials');
    return undefined;
  }

  async #intercepted(sending: SendState, attempt: Intercepted): Promise<Delivered | undefined> {
    const { halt, log } = this.#options;
    if (this.#gate.holds(sending.delivery.id)) return undefined;
    const { externalId } = sending.delivery;
    const message = withoutValues(attempt.message, dataOf(sending.delivery));
    log('intercepted', { external_id: externalId, status: attempt.status, message });
    sending.interceptions += 1;
    if (sending.interceptions < MAX_INTERCEPTIONS) {
      await this.#gate.begin(sending.delivery.id, 'intercepted');
      return undefined;
    }
    this.#interceptedInARow += 1;
    if (this.#hasAcknowledged && this.#interceptedInARow === 1) return intercepted(sending, attempt);
    halt.request(this.#hasAcknowledged ? allIntercepted(attempt) : wrongTarget(attempt));
    return pending(sending);
  }
}
