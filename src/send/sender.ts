import { EXIT, shortageOf, UserError } from '../errors.ts';
import { STOPPED, type HaltReason } from '../halt.ts';
import type { Policies } from '../mapping/policies.ts';
import { dueEvents, type DueEvent } from '../plan/order.ts';
import { StateRemoved } from '../state-dir.ts';
import type { Deliverer } from './deliver.ts';
import type { Delivery } from './delivery.ts';
import { deliveryOf, dueNow } from './due.ts';
import { EventQueue } from './queue.ts';
import { OutcomeRecorder, type RecorderOptions } from './recorder.ts';

export interface SenderOptions extends RecorderOptions {
  readonly policies: readonly Policies[];
  readonly deliverer: Deliverer;
  readonly concurrency: number;
  readonly maxRequests: number | undefined;
  /** All requests of this run so far. */
  readonly sentRequests: () => number;
}

/**
 * Events in progress per request in flight: while some wait for the disk, others are sent. The limiter
 * decides how many are sent at a time.
 */
const IN_PROGRESS = 4;

/**
 * Passes events to the deliverer, several at a time. The events of a type are sent one at a time, with nothing else in
 * flight, until one has been acknowledged. An event waits only for those that it depends on (see `EventQueue`), never for a
 * whole type or priority.
 */
export class Sender {
  /** When the last event of each priority ended. */
  readonly endedAt = new Map<number, Date>();
  readonly #options: SenderOptions;
  readonly #recorder: OutcomeRecorder;
  readonly #queue: EventQueue;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#recorder = new OutcomeRecorder(options);
    this.#queue = new EventQueue(IN_PROGRESS * options.concurrency);
  }

  /** Sends the events in their order. Resolves when every event has ended, or the run is stopping and none is in flight. */
  async sendAll(): Promise<void> {
    const { db, halt } = this.#options;
    let previous: DueEvent['state'] = 'ready';
    for (const due of dueEvents(db)) {
      if (halt.requested) break;
      // What was rejected before goes only when what was never tried has ended.
      if (due.state === 'retry' && previous === 'ready') await this.#queue.idle();
      previous = due.state;
      await this.#take(due);
    }
    await this.#queue.idle();
  }

  get outcomes(): OutcomeRecorder['outcomes'] {
    return this.#recorder.outcomes;
  }

  get counters(): Deliverer['counters'] {
    return this.#options.deliverer.counters;
  }

  /** Resolves when the event is on its way and there is room for the next. */
  async #take(due: DueEvent): Promise<void> {
    const isCanary = !this.#recorder.proven.has(due.type);
    if (isCanary) await this.#queue.idle();
    await this.#stayWithinBudget();
    if (this.#options.halt.requested) return;
    const ended = this.#queue.add(linksOf(due), due.place, () => this.#begin(due));
    await (isCanary ? ended : this.#queue.room());
  }

  /** Near the end of the budget, requests are sent one at a time, so that requests in flight never exceed it. */
  async #stayWithinBudget(): Promise<void> {
    const { maxRequests, sentRequests, halt, concurrency } = this.#options;
    if (maxRequests === undefined) return;
    if (sentRequests() + this.#queue.size + concurrency >= maxRequests) await this.#queue.idle();
    if (sentRequests() < maxRequests) return;
    halt.request({
      code: 'max_requests',
      message: 'the --max-requests budget was spent',
      exitCode: EXIT.stopped,
    });
  }

  /** Everything that the event depends on has ended: it is sent, unless its parent was not accepted. */
  async #begin(due: DueEvent): Promise<void> {
    const { deliverer, halt } = this.#options;
    if (halt.requested) return;
    try {
      const delivery = this.#deliveryOf(due);
      if (delivery) await this.#recorder.record(due, delivery, await deliverer.deliver(delivery));
      this.endedAt.set(due.priority, new Date());
    } catch (error) {
      halt.request(reasonOf(error));
    }
  }

  /** Undefined if the event must not be sent. Waits for no commit: the request is committed before it goes out. */
  #deliveryOf(due: DueEvent): Delivery | undefined {
    const { db, policies } = this.#options;
    const policy = policies[due.entry]!;
    return db.transaction(() => {
      const event = dueNow(db, due, policy);
      return event && deliveryOf(db, event, policy, due.place);
    });
  }
}

function linksOf({
  type,
  entity,
  external_id: id,
  event_id: eventId,
  parent_entity: parentEntity,
  parent_id: parentId,
}: DueEvent) {
  return {
    record: `${entity} ${id ?? eventId}`,
    parent: parentId === null ? undefined : `${parentEntity} ${parentId}`,
    isComment: type === 'comment/created',
  };
}

/** Why a run stops after an error while sending. */
export function reasonOf(thrown: unknown): HaltReason {
  const error = shortageOf(thrown, EXIT.stopped) ?? thrown;
  if (error instanceof UserError) {
    const code = error instanceof StateRemoved ? STOPPED.stateRemoved : STOPPED.notWritten;
    return { code, message: error.message, hint: error.hint, exitCode: EXIT.stopped };
  }
  return {
    code: STOPPED.bug,
    message: `this is a bug: ${error instanceof Error ? error.stack : String(error)}`,
    hint: 'nothing that was acknowledged is lost; rerun to continue',
    exitCode: EXIT.stopped,
  };
}
