import type { AppendLog } from '../append-log.ts';
import type { FieldHasher } from '../checkpoint/field-hashes.ts';
import { IF_CHANGED, type SettledLine } from '../checkpoint/lines.ts';
import { CheckpointRemoved, type CheckpointWriter } from '../checkpoint/write.ts';
import { EXIT, UserError } from '../errors.ts';
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
import type { Plan } from '../plan/plan.ts';
import { reportSuperseded } from '../plan/verdicts.ts';
import { SmallSet } from '../small-set.ts';

/** One event to send. */
interface Due {
  readonly event: Planned;
  readonly ordinal: number;
  /** It was rejected by an earlier run, so another rejection does not count towards a stop. */
  readonly again: boolean;
}

/** An event on its way, by the number of its record. */
interface InFlight {
  readonly key: number;
  readonly ended: Promise<void>;
}

export interface SenderOptions {
  readonly plan: Plan;
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
 * checkpoint, then in the plan. The events of a type are sent one at a time until one has been acknowledged; two events
 * about one record are never in flight together.
 */
export class Sender {
  readonly outcomes: Record<Effect, number> = { created: 0, updated: 0, none: 0 };
  readonly #options: SenderOptions;
  readonly #inFlight = new SmallSet<InFlight>();
  /** Tells the one who waits for it that an event has ended. */
  #onEnded: () => void = () => undefined;
  readonly #proven = new Set<EventType>();
  #rejections = 0;
  #inARow = { code: '', count: 0 };
  #answered = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the event is on its way and there is room for the next. `again`: it was rejected by an earlier run, so
   * another rejection does not count towards a stop.
   */
  async send(event: Planned, ordinal: number, again: boolean): Promise<void> {
    const { plan, halt, concurrency } = this.#options;
    const key = plan.tables[event.type].key(ordinal)!;
    await this.#inFlight.find((other) => other.key === key)?.ended;
    await this.#stayWithinBudget();
    if (halt.requested) return;
    const sending = { key, ended: this.#sendOne({ event, ordinal, again }) };
    this.#inFlight.add(sending);
    const ended = sending.ended.finally(() => {
      this.#inFlight.delete(sending);
      this.#onEnded();
    });
    if (!this.#proven.has(event.type)) await ended;
    else await this.#untilFewerThan(IN_PROGRESS * concurrency);
  }

  get counters(): Deliverer['counters'] {
    return this.#options.deliverer.counters;
  }

  /** Resolves when every event passed to `send` has ended. */
  idle(): Promise<void> {
    return this.#untilFewerThan(1);
  }

  /** Resolves when fewer than `count` events are in flight. */
  async #untilFewerThan(count: number): Promise<void> {
    while (this.#inFlight.size >= count) await new Promise<void>((resolve) => (this.#onEnded = resolve));
  }

  /** Near the end of the budget, requests are sent one at a time, so that requests in flight never exceed it. */
  async #stayWithinBudget(): Promise<void> {
    const { maxRequests, requests, halt, concurrency } = this.#options;
    if (maxRequests === undefined) return;
    if (requests() + this.#inFlight.size + concurrency >= maxRequests) await this.idle();
    if (requests() < maxRequests) return;
    halt.request({
      code: 'max_requests',
      message: `the ${maxRequests} requests allowed by --max-requests have been used`,
      exitCode: EXIT.stopped,
    });
  }

  async #sendOne(due: Due): Promise<void> {
    const { plan, halt, deliverer, report } = this.#options;
    if (halt.requested) return;
    try {
      const ready = plan.precedence.due(due.event, due.ordinal);
      if (!ready) return await reportSuperseded(plan, report, due.event, due.ordinal);
      const { delivery, earlier } = this.#deliveryOf(ready, due.ordinal);
      await this.#settle(due, delivery, await deliverer.deliver(delivery), earlier);
    } catch (error) {
      halt.request(reasonOf(error));
    }
  }

  /** `earlier`: the content of an earlier request about the record whose answer is unknown (`Plan.earlierSend`). */
  #deliveryOf(ready: Planned, ordinal: number): { delivery: Delivery; earlier: string | undefined } {
    const { plan, policies } = this.#options;
    const id = plan.idOf(ready, ordinal);
    const policy = policies[ready.entry]!;
    const second = secondType(ready.type, policy);
    const earlier = plan.earlierSend(ready, id);
    const delivery: Delivery = {
      ready,
      id,
      policies: policy,
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
    const line = this.#settledLine(ready, due.ordinal, 'acknowledged', {
      outcome: outcome.outcome,
      entityId,
      code,
    });
    const differs = code === CHANGED && earlier !== undefined;
    await checkpoint.settle(differs ? { ...line, content_sha: earlier, fields: {} } : line);
    plan.settle(type, due.ordinal, 'acknowledged');
    if (differs) plan.settleChanged(ready, due.ordinal);
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
    const { code, message, field, hint, httpStatus, refused = false, attempts } = outcome;
    // Counted before waiting for the disk: it may stop the run, and then no other event must be sent.
    if (!due.again) this.#countRejection(code);
    const issue = {
      severity: 'error',
      kind: 'send',
      code,
      message,
      ...(field === undefined ? {} : { field }),
      ...(hint === undefined ? {} : { hint }),
    } as const;
    const { type, place, externalId } = delivery.ready;
    await report.error(
      { place, type, externalId, eventId: delivery.id, issues: [issue], httpStatus, attempts, raw: due.event.raw },
      { durable: true },
    );
    const how = { outcome: null, entityId: null, code };
    await checkpoint.settle(this.#settledLine(delivery.ready, due.ordinal, 'rejected', how));
    plan.settleRejected(type, due.ordinal, refused);
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
export function reasonOf(error: unknown): HaltReason {
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
