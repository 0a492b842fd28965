import { STOPPED, type Halt } from '../halt.ts';
import { EXIT } from '../errors.ts';
import type { Effect, EventType, Issue, Outcome } from '../model.ts';
import { reportChanged } from '../plan/changed.ts';
import { setState } from '../plan/events.ts';
import type { DueEvent } from '../plan/order.ts';
import { addProblem } from '../plan/problems.ts';
import type { Commits } from '../store/commits.ts';
import type { Database } from '../store/sqlite.ts';
import type { Delivered, Delivery } from './delivery.ts';
import { Rejections } from './rejections.ts';
import type { Requests } from './requests.ts';

export interface RecorderOptions {
  readonly db: Database;
  readonly commits: Commits;
  readonly requests: Requests;
  readonly halt: Halt;
  /** Stop after this many rejections in a row with the same code; 0 = off. */
  readonly maxRejectionsInARow: number;
  /** Stop if this run has more rejections than this. */
  readonly maxRejections: number;
  /** Whether the checkpoint is new: then a first answer `deduplicated` stops the run. */
  readonly isFirstRun: boolean;
}

/** Records how events ended: problem, checkpoint and state of the event in one transaction. */
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

  /** Resolves when the outcome is on disk. */
  async record(due: DueEvent, delivery: Delivery, { outcome, id, hadNoEffect }: Delivered): Promise<void> {
    const { commits, requests } = this.#options;
    if (outcome.status === 'pending') return hadNoEffect ? commits.commit(() => requests.hadNoEffect(id)) : undefined;
    if (outcome.status === 'acknowledged') await this.#acknowledge(due, delivery, outcome, id);
    else await this.#reject(due, delivery, outcome, id);
    this.#answered += 1;
  }

  async #acknowledge(
    due: DueEvent,
    delivery: Delivery,
    outcome: Extract<Outcome, { status: 'acknowledged' }>,
    id: string,
  ): Promise<void> {
    const { db, commits, requests, halt, isFirstRun } = this.#options;
    // A duplicate of an attempt of this run says nothing about earlier runs.
    if (isFirstRun && this.#answered === 0 && outcome.code === 'deduplicated' && outcome.attempts === 1) {
      halt.request(WRONG_STATE_DIRECTORY);
      return;
    }
    this.#rejections.interrupt();
    const { event, policies } = delivery;
    const isChanged = outcome.code === 'changed' && policies.if_changed !== 'ignore';
    await commits.commit(() => {
      setState(db, event.id, 'acknowledged');
      if (isChanged) reportChanged(db, event.id);
      if (outcome.outcome === 'none' && outcome.code === undefined) {
        addProblem(db, { event: event.id, record: event.record }, NOT_CREATED);
      }
      requests.settled(delivery, id, outcome);
    });
    this.outcomes[outcome.outcome] += 1;
    this.proven.add(due.type);
  }

  async #reject(
    due: DueEvent,
    delivery: Delivery,
    outcome: Extract<Outcome, { status: 'rejected' }>,
    id: string,
  ): Promise<void> {
    const { db, commits, requests } = this.#options;
    const { event } = delivery;
    // Counted before waiting for the disk: it may stop the run, and then no other event must be sent. Another rejection of
    // what an earlier run saw rejected does not count.
    if (due.state !== 'retry') this.#rejections.add(outcome.code);
    await commits.commit(() => {
      addProblem(db, { event: event.id, record: event.record }, issueOf(due.type, outcome), outcome);
      setState(db, event.id, 'rejected', outcome.code);
      requests.settled(delivery, id, outcome);
    });
  }
}

function issueOf(type: EventType, outcome: Extract<Outcome, { status: 'rejected' }>): Issue {
  const { code, message, field } = outcome;
  const hints = [outcome.hint, type === 'comment/created' ? COMMENT_ORDER : undefined];
  const hint = hints.filter((each) => each !== undefined).join('; ');
  return {
    severity: 'error',
    kind: 'send',
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(hint === '' ? {} : { hint }),
  };
}

const NOT_CREATED: Issue = {
  severity: 'warning',
  kind: 'send',
  code: 'not_created',
  message: 'acknowledged with outcome `none`: nothing was created or updated',
};

/** Later comments do not wait for one that is rejected. */
const COMMENT_ORDER = 'comments are dated on arrival, so this one will appear after later ones';

const WRONG_STATE_DIRECTORY = {
  code: STOPPED.unknownHistory,
  message:
    'the service has already processed the first event of this migration, but this state directory has no record of it',
  hint: 'specify the right directory with --state DIR, or continue with --adopt if it is lost',
  exitCode: EXIT.stopped,
} as const;
