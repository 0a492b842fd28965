import type { AppendLog } from '../append-log.ts';
import type { FieldHasher } from '../checkpoint/field-hashes.ts';
import { IF_CHANGED, type SettledLine } from '../checkpoint/lines.ts';
import { CheckpointRemoved, type CheckpointWriter } from '../checkpoint/write.ts';
import { EXIT, shortageOf, UserError } from '../errors.ts';
import type { Policies } from '../mapping/mapping.ts';
import {
  entityOf,
  isUpdate,
  type Effect,
  type EventType,
  type Outcome,
  type Planned,
  type Sendable,
} from '../model.ts';
import { csvLine } from '../csv.ts';
import type { ErrorReport } from '../report/error-report.ts';
import type { Deliverer, Delivery } from './deliver.ts';
import { STOPPED, type Halt, type HaltReason } from '../halt.ts';
import type { DueEvent, SendOrder } from '../plan/order.ts';
import type { Plan } from '../plan/plan.ts';
import { reportBlocked, reportSuperseded } from '../plan/verdicts.ts';
import { InFlight } from './in-flight.ts';

/** One event to send. */
interface Due {
  readonly event: Planned;
  readonly turn: DueEvent;
}

export interface SenderOptions {
  readonly plan: Plan;
  readonly order: SendOrder;
  readonly policies: readonly Policies[];
  readonly deliverer: Deliverer;
  readonly checkpoint: CheckpointWriter;
  readonly hasher: FieldHasher;
  readonly ids: AppendLog;
  readonly report: ErrorReport;
  readonly halt: Halt;
  readonly concurrency: number;
  /** Stop after this many rejections in a row with the same code; 0 = off. */
  readonly maxRejectionsInARow: number;
  /** Stop if this run has more rejections than this. */
  readonly maxRejections: number;
  readonly maxRequests: number | undefined;
  /** All requests of this run so far. */
  readonly requests: () => number;
  /** Whether the checkpoint is new: then a first answer `deduplicated` stops the run. */
  readonly isFirstRun: boolean;
}

/**
 * Events in progress per request in flight: while some wait for the disk, others are sent. The limiter
 * decides how many are sent at a time.
 */
const IN_PROGRESS = 4;

/**
 * Passes events to the deliverer, several at a time, and records how each ended: first in the error report, then in the
 * checkpoint, then in the plan. The events of a type are sent one at a time, with nothing else in flight, until one has
 * been acknowledged. An event waits only for those that it depends on (see `InFlight`), never for a whole type or priority.
 */
export class Sender {
  readonly outcomes: Record<Effect, number> = { created: 0, updated: 0, none: 0 };
  readonly #options: SenderOptions;
  readonly #inFlight: InFlight;
  readonly #proven = new Set<EventType>();
  #rejections = 0;
  #inARow = { code: '', count: 0 };
  #answered = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#inFlight = new InFlight(IN_PROGRESS * options.concurrency);
  }

  /** Sends the events in their order. Resolves when every event has ended, or the run is stopping and none is in flight. */
  async sendAll(): Promise<void> {
    const { order, halt, concurrency } = this.#options;
    let previous: DueEvent['state'] = 'ready';
    for (const turn of order.turns(IN_PROGRESS * concurrency)) {
      if (halt.requested) break;
      // What was rejected before goes only when what was never tried has ended.
      if (turn.state === 'retry' && previous === 'ready') await this.#inFlight.idle();
      previous = turn.state;
      await this.#take(turn);
    }
    await this.#inFlight.idle();
  }

  /** Resolves when the event is on its way and there is room for the next. */
  async #take(turn: DueEvent): Promise<void> {
    const { plan, halt } = this.#options;
    const { type, ordinal } = turn;
    const isCanary = !this.#proven.has(type);
    if (isCanary) await this.#inFlight.idle();
    await this.#stayWithinBudget();
    if (halt.requested) return;
    const table = plan.tables[type];
    const links = { record: table.key(ordinal)!, parent: table.parent(ordinal), isComment: type === 'comment/created' };
    const ended = this.#inFlight.add(links, () => this.#begin(turn));
    await (isCanary ? ended : this.#inFlight.room());
  }

  get counters(): Deliverer['counters'] {
    return this.#options.deliverer.counters;
  }

  /** Near the end of the budget, requests are sent one at a time, so that requests in flight never exceed it. */
  async #stayWithinBudget(): Promise<void> {
    const { maxRequests, requests, halt, concurrency } = this.#options;
    if (maxRequests === undefined) return;
    if (requests() + this.#inFlight.size + concurrency >= maxRequests) await this.#inFlight.idle();
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
    if (!ready) return reportSuperseded(plan, report, due.event, ordinal);
    const { delivery, earlier } = this.#deliveryOf(ready, ordinal, place);
    await this.#settle(due, delivery, await deliverer.deliver(delivery), earlier);
  }

  /** `earlier`: the content of an earlier request about the record whose answer is unknown (`Plan.earlierSend`). */
  #deliveryOf(ready: Planned, ordinal: number, place: number): { delivery: Delivery; earlier: string | undefined } {
    const { plan, policies } = this.#options;
    const id = plan.idOf(ready, ordinal);
    const policy = policies[ready.entry]!;
    const second = secondType(ready.type, policy);
    const earlier = plan.earlierSend(ready, id);
    const delivery: Delivery = {
      ready,
      id,
      policies: policy,
      place,
      ...(earlier === undefined ? {} : { earlierSend: earlier === ready.sha ? 'same' : 'other' }),
      ...(second ? { second: { type: second, id: plan.secondId(ready, second, id) } } : {}),
    };
    return { delivery, earlier };
  }

  async #settle(due: Due, delivery: Delivery, outcome: Outcome, earlier: string | undefined): Promise<void> {
    if (outcome.status === 'pending') return;
    if (outcome.status === 'acknowledged') await this.#acknowledge(due, delivery, outcome, earlier);
    else await this.#reject(due, delivery, outcome);
    this.#answered += 1;
  }

  async #acknowledge(
    due: Due,
    delivery: Delivery,
    outcome: Extract<Outcome, { status: 'acknowledged' }>,
    earlier: string | undefined,
  ): Promise<void> {
    const { plan, checkpoint, ids, report, halt, isFirstRun } = this.#options;
    // A duplicate of an attempt of this run says nothing about earlier runs.
    if (isFirstRun && this.#answered === 0 && outcome.code === 'deduplicated' && outcome.attempts === 1) {
      halt.request(WRONG_STATE_DIRECTORY);
      return;
    }
    this.#inARow = { code: '', count: 0 };
    const { ready } = delivery;
    const { type } = due.event;
    const entityId = outcome.entityId === '' ? null : outcome.entityId;
    const code = due.event.isDerived ? IF_CHANGED : (outcome.code ?? null);
    const line = this.#settledLine(ready, due.turn.ordinal, 'acknowledged', {
      outcome: outcome.outcome,
      entityId,
      code,
    });
    const differs = code === CHANGED && earlier !== undefined;
    await checkpoint.settle(differs ? { ...line, content_sha: earlier, fields: {} } : line);
    plan.settle(type, due.turn.ordinal, 'acknowledged');
    if (differs) plan.settleChanged(ready, due.turn.ordinal);
    this.outcomes[outcome.outcome] += 1;
    this.#proven.add(type);
    if (outcome.outcome === 'none' && outcome.code === undefined) {
      const message = 'acknowledged with outcome `none`: nothing was created or updated';
      report.warning({ severity: 'warning', kind: 'send', code: 'not_created', message }, due.event.place);
    }
    if (entityId !== null) {
      await ids.append(csvLine([type, ready.externalId, entityId]), { durable: false });
    }
  }

  async #reject(due: Due, delivery: Delivery, outcome: Extract<Outcome, { status: 'rejected' }>): Promise<void> {
    const { plan, checkpoint, report } = this.#options;
    const { code, message, field, httpStatus, refused = false, attempts } = outcome;
    const hints = [outcome.hint, due.event.type === 'comment/created' ? COMMENT_ORDER : undefined];
    const hint = hints.filter((each) => each !== undefined).join('; ');
    // Counted before waiting for the disk: it may stop the run, and then no other event must be sent. Another rejection of
    // what an earlier run saw rejected does not count.
    if (due.turn.state !== 'retry') this.#countRejection(code);
    const issue = {
      severity: 'error',
      kind: 'send',
      code,
      message,
      ...(field === undefined ? {} : { field }),
      ...(hint === '' ? {} : { hint }),
    } as const;
    const { type, place, externalId } = delivery.ready;
    await report.error(
      { place, type, externalId, eventId: delivery.id, issues: [issue], httpStatus, attempts, raw: due.event.raw },
      { durable: true },
    );
    const how = { outcome: null, entityId: null, code };
    await checkpoint.settle(this.#settledLine(delivery.ready, due.turn.ordinal, 'rejected', how));
    plan.settleRejected(type, due.turn.ordinal, refused);
  }

  /** Under the id of the whole event, with the fields that were sent. */
  #settledLine(
    ready: Sendable,
    ordinal: number,
    status: SettledLine['status'],
    how: { outcome: Effect | null; entityId: string | null; code: string | null },
  ): SettledLine {
    const { plan, hasher } = this.#options;
    return {
      id: plan.wholeIdOf(ready, ordinal),
      type: ready.type,
      external_id: ready.externalId ?? null,
      status,
      outcome: how.outcome,
      entity_id: how.entityId,
      code: how.code,
      content_sha: ready.sha,
      fields: hasher.hashesOf(ready.data),
      at: new Date().toISOString(),
    };
  }

  #countRejection(code: string): void {
    const { halt, maxRejections, maxRejectionsInARow } = this.#options;
    this.#rejections += 1;
    this.#inARow = { code, count: this.#inARow.code === code ? this.#inARow.count + 1 : 1 };
    if (maxRejectionsInARow > 0 && this.#inARow.count >= maxRejectionsInARow) {
      halt.request({
        code: 'rejections_in_a_row',
        message: `the service rejected ${this.#inARow.count} events in a row with \`${code}\``,
        hint: 'see errors.csv; fix the mapping or the account, then rerun (`--max-rejections-in-a-row 0` turns this off)',
        exitCode: EXIT.stopped,
      });
    } else if (this.#rejections > maxRejections) {
      halt.request({
        code: 'too_many_errors',
        message: `the service rejected ${this.#rejections} events of this run, more than --max-errors allows`,
        hint: 'see errors.csv; fix the common cause, then rerun',
        exitCode: EXIT.stopped,
      });
    }
  }
}

/** Why a run stops after an error while sending. */
function reasonOf(thrown: unknown): HaltReason {
  const error = shortageOf(thrown, EXIT.stopped) ?? thrown;
  if (error instanceof UserError) {
    const code = error instanceof CheckpointRemoved ? STOPPED.stateRemoved : STOPPED.notWritten;
    return { code, message: error.message, hint: error.hint, exitCode: EXIT.stopped };
  }
  return {
    code: STOPPED.bug,
    message: `this is a bug: ${error instanceof Error ? error.stack : String(error)}`,
    hint: 'nothing that was acknowledged is lost; rerun to continue',
    exitCode: EXIT.stopped,
  };
}

/** Later comments do not wait for one that is rejected. */
const COMMENT_ORDER = 'the service dates comments by arrival, so this one will appear after those sent meanwhile';

/** The record has different content: that of an earlier request, whose answer was lost. */
const CHANGED = 'changed';

const WRONG_STATE_DIRECTORY = {
  code: STOPPED.unknownHistory,
  message:
    'the service has already processed the first event of this migration, but this state directory has no record of it',
  hint: 'specify the right directory with --state DIR, or continue with --adopt if it is lost',
  exitCode: EXIT.stopped,
} as const;

function secondType(type: EventType, policies: Policies): EventType | undefined {
  const entity = entityOf(type);
  if (entity === 'comment') return undefined;
  if (isUpdate(type)) return policies.if_missing === 'create' ? `${entity}/created` : undefined;
  return policies.if_exists === 'update' ? `${entity}/updated` : undefined;
}
