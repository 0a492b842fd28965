import { EXIT, shortageOf, UserError } from '../errors.ts';
import { STOPPED, type HaltReason } from '../halt.ts';
import type { Policies } from '../mapping/mapping.ts';
import { entityOf, isUpdate, type EventType, type Planned } from '../model.ts';
import type { DueEvent, SendOrder } from '../plan/order.ts';
import { reportBlocked, reportLeftOut, reportSuperseded } from '../plan/verdicts.ts';
import { StateRemoved } from '../state-dir.ts';
import type { Deliverer } from './deliver.ts';
import type { Delivery } from './delivery.ts';
import { EventQueue } from './queue.ts';
import { OutcomeRecorder, type Due, type RecorderOptions } from './recorder.ts';

export interface SenderOptions extends RecorderOptions {
  readonly order: SendOrder;
  readonly policies: readonly Policies[];
  readonly deliverer: Deliverer;
  readonly concurrency: number;
  readonly maxRequests: number | undefined;
  /** All requests of this run so far. */
  readonly requests: () => number;
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
    const { order, halt, concurrency } = this.#options;
    let previous: DueEvent['state'] = 'ready';
    for (const turn of order.turns(IN_PROGRESS * concurrency)) {
      if (halt.requested) break;
      // What was rejected before goes only when what was never tried has ended.
      if (turn.state === 'retry' && previous === 'ready') await this.#queue.idle();
      previous = turn.state;
      await this.#take(turn);
    }
    await this.#queue.idle();
  }

  /** Resolves when the event is on its way and there is room for the next. */
  async #take(turn: DueEvent): Promise<void> {
    const { plan, halt } = this.#options;
    const { type, ordinal } = turn;
    const isCanary = !this.#recorder.proven.has(type);
    if (isCanary) await this.#queue.idle();
    await this.#stayWithinBudget();
    if (halt.requested) return;
    const table = plan.tables[type];
    const links = { record: table.key(ordinal)!, parent: table.parent(ordinal), isComment: type === 'comment/created' };
    const ended = this.#queue.add(links, turn.place, () => this.#begin(turn));
    await (isCanary ? ended : this.#queue.room());
  }

  get outcomes(): OutcomeRecorder['outcomes'] {
    return this.#recorder.outcomes;
  }

  get counters(): Deliverer['counters'] {
    return this.#options.deliverer.counters;
  }

  /** Near the end of the budget, requests are sent one at a time, so that requests in flight never exceed it. */
  async #stayWithinBudget(): Promise<void> {
    const { maxRequests, requests, halt, concurrency } = this.#options;
    if (maxRequests === undefined) return;
    if (requests() + this.#queue.size + concurrency >= maxRequests) await this.#queue.idle();
    if (requests() < maxRequests) return;
    halt.request({
      code: 'max_requests',
      message: `the ${maxRequests} requests allowed by --max-requests have been used`,
      exitCode: EXIT.stopped,
    });
  }

  /** Everything that the event depends on has ended: it is sent, unless its parent was not accepted. */
  async #begin(turn: DueEvent): Promise<void> {
    const { plan, order, report, halt } = this.#options;
    const { type, ordinal } = turn;
    if (halt.requested) return;
    try {
      const event = plan.read(type, ordinal);
      const parent = plan.links.parentStatus(type, ordinal);
      if (parent === 'none' || parent === 'exists') await this.#sendOne({ event, turn });
      else if (parent === 'held' || parent === 'expected') plan.settle(type, ordinal, 'held');
      else {
        plan.settle(type, ordinal, 'blocked');
        await reportBlocked(plan, report, event, ordinal);
      }
      order.ended(turn);
    } catch (error) {
      halt.request(reasonOf(error));
    }
  }

  async #sendOne(due: Due): Promise<void> {
    const { plan, deliverer, report } = this.#options;
    const { ordinal, place } = due.turn;
    const ready = plan.precedence.due(due.event, ordinal);
    await reportLeftOut(plan, report);
    if (!ready) return reportSuperseded(plan, report, due.event, ordinal);
    const delivery = this.#deliveryOf(ready, ordinal, place);
    await this.#recorder.record(due, delivery, await deliverer.deliver(delivery));
  }

  #deliveryOf(ready: Planned, ordinal: number, place: number): Delivery {
    const { plan, policies, hasher } = this.#options;
    const id = plan.idOf(ready, ordinal);
    const policy = policies[ready.entry]!;
    const second = secondType(ready.type, policy);
    const content = second && isUpdate(second) ? plan.precedence.asUpdate(ready, ordinal) : ready;
    return {
      ready,
      id,
      fields: hasher.hashesOf(ready.data),
      policies: policy,
      earlierRequests: plan.earlierRequests(ready, id),
      place,
      ...(second && {
        second: {
          type: second,
          id: plan.secondId(content, second, id),
          ...(content !== ready && { ready: content }),
        },
      }),
    };
  }
}

/** Why a run stops after an error while sending. */
function reasonOf(thrown: unknown): HaltReason {
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

function secondType(type: EventType, policies: Policies): EventType | undefined {
  const entity = entityOf(type);
  if (entity === 'comment') return undefined;
  if (isUpdate(type)) return policies.if_missing === 'create' ? `${entity}/created` : undefined;
  return policies.if_exists === 'update' ? `${entity}/updated` : undefined;
}
