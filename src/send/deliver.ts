import { SleepWatch, type Clock } from '../clock.ts';
import { EXIT } from '../errors.ts';
import type { Policies } from '../mapping/mapping.ts';
import { isUpdate, type Effect, type EventType, type Outcome, type Sendable } from '../model.ts';
import type { Client } from '../service/client.ts';
import { INGEST_CODES } from '../service/contract.ts';
import { envelope } from '../service/envelope.ts';
import type { Limiter, Waiting } from '../service/limiter.ts';
import type { Attempt, Refused, Unanswered, Unauthorised } from '../service/reply.ts';
import { backoff } from '../service/retry.ts';
import type { Halt } from '../halt.ts';
import { Outage } from './outage.ts';

/** One event to be sent exactly once. */
export interface Delivery {
  readonly ready: Sendable;
  /** The envelope id: the same for every attempt of every run. */
  readonly id: string;
  /** An earlier run sent this record and never recorded an answer; its content was the same, or another. */
  readonly earlierSend?: 'same' | 'other';
  /** What `if_exists: update` or `if_missing: create` sends instead. */
  readonly second?: { readonly type: EventType; readonly id: string };
  readonly policies: Policies;
}

export interface DelivererOptions {
  readonly client: Client;
  readonly limiter: Limiter;
  readonly halt: Halt;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly maxOutageMs: number;
  /** Awaited right before the first attempt goes out; what it throws is all that `deliver` throws. */
  readonly beforeSend: (delivery: Delivery) => Promise<void>;
  readonly log: (event: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** For the jitter of backoffs. */
  readonly random?: () => number;
}

export interface DeliveryStatus {
  /** Why nothing goes out at the moment, if so. */
  readonly waiting?: Waiting | { readonly reason: 'outage' | 'credentials'; readonly nextInMs: number };
}

export interface Counters {
  /** Attempts that went out. */
  requests: number;
  /** Events of which at least one attempt went out. */
  events_sent: number;
  retries: number;
  rate_limited: number;
}

/** Where one event stands. */
interface Sending {
  readonly delivery: Delivery;
  /** Envelope id and type: those of the event, or of its second request. */
  id: string;
  type: EventType;
  isSecond: boolean;
  /** Requests spent on the event. */
  attempts: number;
  /** Of the present id. */
  tries: number;
  /** Attempts without an answer: those that count, and all in a row. */
  failures: number;
  misses: number;
  /** An attempt in this run may have been processed although no answer came. */
  mayHaveArrived: boolean;
  /** The record is there from a send of an earlier run, and only the second request's effect is in doubt. */
  isReplay: boolean;
}

/** The event that is sent once more because the credentials were refused; all others wait. */
interface Doubt {
  readonly id: string;
  readonly until: number;
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

const MOST_FAILURES = 5;
const DOUBT_MS = 5_000;

export function createDeliverer(options: DelivererOptions): Deliverer {
  return new Deliverer(options);
}

/** Brings events to their outcome through refusals, lost answers and outages, each under one id. */
export class Deliverer {
  readonly counters: Counters = { requests: 0, events_sent: 0, retries: 0, rate_limited: 0 };
  readonly #options: DelivererOptions;
  readonly #random: () => number;
  readonly #watch: SleepWatch;
  readonly #outage: Outage;
  #doubt: Doubt | undefined;
  /** An event of this run was acknowledged or refused. */
  #hasSettled = false;

  constructor(options: DelivererOptions) {
    const { client, clock, halt, log } = options;
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#watch = new SleepWatch(clock, (ms) => {
      log('machine_slept', { seconds: Math.round(ms / 1000) });
      client.dropSockets('asleep');
    });
    this.#outage = new Outage({
      ...options,
      health: () => client.health(),
      awake: () => this.#watch.awake(),
      random: this.#random,
    });
    halt.hardSignal.addEventListener('abort', () => client.dropSockets('aborted'), { once: true });
  }

  /** Never throws for anything the service or the network does. `pending` only where the run is stopping. */
  async deliver(delivery: Delivery): Promise<Outcome> {
    const { clock, halt } = this.#options;
    const sending: Sending = {
      delivery,
      id: delivery.id,
      type: delivery.ready.type,
      isSecond: false,
      attempts: 0,
      tries: 0,
      failures: 0,
      misses: 0,
      mayHaveArrived: false,
      isReplay: false,
    };
    try {
      for (;;) {
        await this.#turn(sending.id);
        if (halt.requested) return pending(sending);
        const sentAt = clock.monotonic();
        const outcome = await this.#conclude(sending, await this.#attempt(sending), sentAt);
        if (outcome) return outcome;
      }
    } finally {
      this.#settleDoubt(sending);
    }
  }

  status(): DeliveryStatus {
    const { clock, limiter } = this.#options;
    if (this.#doubt) {
      return { waiting: { reason: 'credentials', nextInMs: Math.max(0, this.#doubt.until - clock.monotonic()) } };
    }
    if (this.#outage.isDown) return { waiting: { reason: 'outage', nextInMs: this.#outage.nextInMs } };
    const waiting = limiter.waiting();
    return waiting ? { waiting } : {};
  }

  /** Ends the watch over the machine's sleep. */
  close(): void {
    this.#watch.stop();
  }

  /** Resolves when nothing holds the event back, or the run is stopping. */
  async #turn(id: string): Promise<void> {
    while (this.#isHeld(id)) {
      if (this.#doubt && this.#doubt.id !== id) await this.#doubt.settled;
      else await this.#outage.pass(id);
    }
  }

  #isHeld(id: string): boolean {
    if (this.#options.halt.requested) return false;
    return (this.#doubt !== undefined && this.#doubt.id !== id) || this.#outage.holds(id);
  }

  #attempt(sending: Sending): Promise<Attempt> {
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

  /** What an attempt means for its event: an outcome, or (undefined) the next attempt. */
  async #conclude(sending: Sending, attempt: Attempt, sentAt: number): Promise<Outcome | undefined> {
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
        return refused(sending, attempt);
    }
  }

  #answered(sending: Sending): void {
    this.#outage.answered();
    this.#settleDoubt(sending);
  }

  async #unanswered(sending: Sending, attempt: Unanswered, sentAt: number): Promise<Outcome | undefined> {
    const { client, clock, halt, log } = this.#options;
    if (attempt.sent === 'maybe') sending.mayHaveArrived = true;
    if (attempt.setup) {
      halt.request({
        code: attempt.code,
        message: `nothing can be sent: ${attempt.message}`,
        hint: 'check the base URL, the certificate and the credentials',
        exitCode: EXIT.nothingSent,
      });
    }
    if (halt.requested) return undefined;
    sending.misses += 1;
    const { externalId } = sending.delivery.ready;
    log('unanswered', { id: sending.id, external_id: externalId, code: attempt.code, message: attempt.message });
    this.#outage.failed(sending.id);
    const counts = !this.#outage.isDown && (this.#outage.answeredSince(sentAt) || (await client.health()));
    if (this.#outage.isDown) {
      // What failed while the service was down says nothing about the event.
      sending.failures = 0;
      return undefined;
    }
    if (counts) sending.failures += 1;
    if (sending.failures >= MOST_FAILURES) {
      const { code, message, status } = attempt;
      const hint = 'a rerun tries it again, under the same id';
      return rejected(sending, { code, message, hint, ...(status === undefined ? {} : { httpStatus: status }) });
    }
    await clock.sleep(Math.max(backoff(sending.misses, this.#random), attempt.retryAfterMs ?? 0), halt.signal);
    return undefined;
  }

  async #unauthorised(sending: Sending, attempt: Unauthorised): Promise<Outcome | undefined> {
    const { clock, halt, log } = this.#options;
    if (this.#doubt && this.#doubt.id !== sending.id) return undefined;
    if (this.#doubt) {
      halt.request({
        code: attempt.code,
        message: `the service refuses the credentials (${attempt.status}): ${attempt.message}`,
        hint:
          attempt.status === 401
            ? 'check BACKFILL_API_KEY, then rerun'
            : 'copy the ingestion URL from the dashboard again, with the key of the same account, then rerun',
        exitCode: EXIT.stopped,
      });
      return undefined;
    }
    log('credentials_refused', { status: attempt.status, code: attempt.code });
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    this.#doubt = { id: sending.id, until: clock.monotonic() + DOUBT_MS, settled, settle };
    await clock.sleep(DOUBT_MS, halt.signal);
    return undefined;
  }

  #settleDoubt(sending: Sending): void {
    if (this.#doubt?.id !== sending.id) return;
    this.#doubt.settle();
    this.#doubt = undefined;
  }

  #wrongUrl(sending: Sending, attempt: Extract<Attempt, { kind: 'wrong_url' }>): Outcome {
    this.#options.halt.request({
      code: 'wrong_base_url',
      message: `there is no ingestion webhook under this base URL (${attempt.status}): ${attempt.message}`,
      hint: 'compare the base URL with the ingestion URL in the dashboard, then rerun',
      exitCode: this.#hasSettled ? EXIT.stopped : EXIT.nothingSent,
    });
    return pending(sending);
  }
}

/** Service interface, sections 3 and 7.3: what already exists, or does not exist yet, is the mapping's to decide. */
function refused(sending: Sending, attempt: Refused): Outcome | undefined {
  const { delivery, isSecond, type } = sending;
  const { policies, earlierSend } = delivery;
  const { status, code, message, field } = attempt;
  let hint: string | undefined;
  if (status === 409 && (code === INGEST_CODES.alreadyExists || code === `http_${status}`)) {
    if (sending.mayHaveArrived) return acknowledged(sending, 'none', '', 'replayed');
    if (!isSecond) {
      if (earlierSend === 'other') return acknowledged(sending, 'none', '', 'changed');
      // The earlier run may have got as far as the second request, so that one is repeated: its id makes it harmless.
      if (policies.if_exists === 'update' && second(sending)) {
        sending.isReplay = earlierSend === 'same';
        return undefined;
      }
      if (earlierSend === 'same') return acknowledged(sending, 'none', '', 'replayed');
      if (policies.if_exists === 'skip') return acknowledged(sending, 'none', '', INGEST_CODES.alreadyExists);
      hint = '`if_exists: skip` leaves such records alone, `if_exists: update` overwrites them';
    }
  }
  if (status === 422 && code === INGEST_CODES.notFound && isUpdate(type) && !isSecond) {
    if (policies.if_missing === 'skip') return acknowledged(sending, 'none', '', INGEST_CODES.notFound);
    if (policies.if_missing === 'create' && second(sending)) return undefined;
    hint = '`if_missing: skip` drops such updates, `if_missing: create` makes the record';
  }
  const more = { ...(field === undefined ? {} : { field }), ...(hint === undefined ? {} : { hint }) };
  return rejected(sending, { code, message, httpStatus: status, ...more });
}

/** Turns to the event's second request; false where it has none. */
function second(sending: Sending): boolean {
  const { second: next } = sending.delivery;
  if (!next) return false;
  Object.assign(sending, { ...next, isSecond: true, tries: 0, failures: 0, misses: 0, mayHaveArrived: false });
  return true;
}

function acknowledged(sending: Sending, outcome: Effect, entityId: string, code: string | undefined): Outcome {
  const how = sending.isReplay ? 'replayed' : code;
  const { attempts } = sending;
  return { status: 'acknowledged', outcome, entityId, attempts, ...(how === undefined ? {} : { code: how }) };
}

function rejected(
  { attempts }: Sending,
  why: Omit<Extract<Outcome, { status: 'rejected' }>, 'status' | 'attempts'>,
): Outcome {
  return { status: 'rejected', ...why, attempts };
}

function pending({ attempts }: Sending): Outcome {
  return { status: 'pending', attempts };
}
