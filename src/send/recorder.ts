import type { AppendLog } from '../append-log.ts';
import type { FieldHasher } from '../checkpoint/field-hashes.ts';
import { IF_CHANGED, type SettledLine } from '../checkpoint/lines.ts';
import type { CheckpointWriter } from '../checkpoint/write.ts';
import { csvLine } from '../csv.ts';
import { EXIT } from '../errors.ts';
import { STOPPED, type Halt } from '../halt.ts';
import type { Effect, EventType, Outcome, Planned } from '../model.ts';
import type { DueEvent } from '../plan/order.ts';
import type { Plan } from '../plan/plan.ts';
import type { ErrorReport } from '../report/error-report.ts';
import type { Delivery } from './delivery.ts';
import { Rejections } from './rejections.ts';

export interface RecorderOptions {
  readonly plan: Plan;
  readonly checkpoint: CheckpointWriter;
  readonly hasher: FieldHasher;
  readonly ids: AppendLog;
  readonly report: ErrorReport;
  readonly halt: Halt;
  /** Stop after this many rejections in a row with the same code; 0 = off. */
  readonly maxRejectionsInARow: number;
  /** Stop if this run has more rejections than this. */
  readonly maxRejections: number;
  /** Whether the checkpoint is new: then a first answer `deduplicated` stops the run. */
  readonly isFirstRun: boolean;
}

/** An event that was sent. */
export interface Due {
  readonly event: Planned;
  readonly turn: DueEvent;
}

/** Records how events ended: first in the error report, then in the checkpoint, then in the plan. */
export class OutcomeRecorder {
  readonly outcomes: Record<Effect, number> = { created: 0, updated: 0, none: 0 };
  /** Types of which an event was acknowledged in this run. */
  readonly proven = new Set<EventType>();
  readonly #options: RecorderOptions;
  readonly #rejections: Rejections;
  #answered = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#rejections = new Rejections(options);
  }

  async record(due: Due, delivery: Delivery, outcome: Outcome): Promise<void> {
    if (outcome.status === 'pending') return;
    if (outcome.status === 'acknowledged') await this.#acknowledge(due, delivery, outcome);
    else await this.#reject(due, delivery, outcome);
    this.#answered += 1;
  }

  async #acknowledge(
    due: Due,
    delivery: Delivery,
    outcome: Extract<Outcome, { status: 'acknowledged' }>,
  ): Promise<void> {
    const { plan, checkpoint, hasher, ids, report, halt, isFirstRun } = this.#options;
    // A duplicate of an attempt of this run says nothing about earlier runs.
    if (isFirstRun && this.#answered === 0 && outcome.code === 'deduplicated' && outcome.attempts === 1) {
      halt.request(WRONG_STATE_DIRECTORY);
      return;
    }
    this.#rejections.interrupt();
    const { ready } = delivery;
    const { type } = due.event;
    const entityId = outcome.entityId === '' ? null : outcome.entityId;
    const code = due.event.isDerived ? IF_CHANGED : (outcome.code ?? null);
    const { sha: earlier } = outcome;
    const fields = outcome.sent ? hasher.hashesOf(outcome.sent.data) : delivery.fields;
    await checkpoint.settle(
      this.#settledLine(delivery, due.turn.ordinal, {
        status: 'acknowledged',
        outcome: outcome.outcome,
        entity_id: entityId,
        code,
        content_sha: earlier ?? ready.sha,
        fields: earlier === undefined ? fields : {},
      }),
    );
    plan.settle(type, due.turn.ordinal, 'acknowledged');
    if (earlier !== undefined) plan.settleChanged(ready, due.turn.ordinal);
    this.outcomes[outcome.outcome] += 1;
    this.proven.add(type);
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
    if (due.turn.state !== 'retry') this.#rejections.add(code);
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
    await checkpoint.settle(
      this.#settledLine(delivery, due.turn.ordinal, {
        status: 'rejected',
        outcome: null,
        entity_id: null,
        code,
        content_sha: delivery.ready.sha,
        fields: delivery.fields,
      }),
    );
    plan.settleRejected(type, due.turn.ordinal, refused);
  }

  /** Under the id of the whole event, even where it went out with less. */
  #settledLine({ ready, id }: Delivery, ordinal: number, settled: Settled): SettledLine {
    const { status, outcome, entity_id, code, content_sha, fields } = settled;
    return {
      id: this.#options.plan.wholeIdOf(ready.type, ordinal) ?? id,
      type: ready.type,
      external_id: ready.externalId ?? null,
      status,
      outcome,
      entity_id,
      code,
      content_sha,
      fields,
      at: new Date().toISOString(),
    };
  }
}

type Settled = Pick<SettledLine, 'status' | 'outcome' | 'entity_id' | 'code' | 'content_sha' | 'fields'>;

/** Later comments do not wait for one that is rejected. */
const COMMENT_ORDER = 'the service dates comments by arrival, so this one will appear after those sent meanwhile';

const WRONG_STATE_DIRECTORY = {
  code: STOPPED.unknownHistory,
  message:
    'the service has already processed the first event of this migration, but this state directory has no record of it',
  hint: 'specify the right directory with --state DIR, or continue with --adopt if it is lost',
  exitCode: EXIT.stopped,
} as const;
