/**
 * Sends what is left to send about one record: next, commit `opened`, request, commit `answered`, until nothing is left. The
 * second request of `if_exists` or `if_missing` is simply the next step.
 */
import { randomUUID } from 'node:crypto';
import {
  answered,
  isOwnRepeat,
  NOTHING_KNOWN,
  opened,
  type RequestEnd,
  type Known,
  type Request,
  type ShownFields,
} from '../core/known.ts';
import { next, type Next, type Step } from '../core/next.ts';
import { eventId } from '../core/identity.ts';
import type { Policies } from '../mapping/policies.ts';
import { isShownField, isUpdate, COMBINED, entityOf } from '../kinds/index.ts';
import type { EventType } from '../model.ts';
import { storeParts } from '../plan/rows/combine.ts';
import { conclude, shownBy } from '../plan/known/judge-known.ts';
import type { DueEvent } from '../plan/order/turns.ts';
import { shownOf } from '../plan/known/recheck.ts';
import { readRecord, type Ended } from '../plan/known/records.ts';
import { WHOLE, wantedOf, dataWith } from '../plan/known/wanted.ts';
import type { Commits } from '../store/commits.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import type { Deliverer } from './deliver.ts';
import type { Delivered, Delivery } from './delivery.ts';
import type { RecordOf, SendLog } from './log.ts';
import type { Outcomes } from './outcomes.ts';
import { hintFor, issueOf } from '../report/words/words.ts';

export interface RecordSenderOptions {
  readonly db: Database;
  readonly commits: Commits;
  readonly log: SendLog;
  readonly hasher: FieldHasher;
  readonly migration: string;
  /** Of all entries. */
  readonly policies: readonly Policies[];
  readonly deliverer: Deliverer;
  readonly outcomes: Outcomes;
  /** Another checkpoint of this migration was lost. */
  readonly isAdopted: boolean;
}

/** One step about a record, and the knowledge behind it. */
interface Turn {
  readonly due: DueEvent;
  readonly record: RecordOf;
  readonly known: Known;
  /** What the service showed of the record before; undefined if it was not read back. */
  readonly shown: ShownFields | undefined;
  readonly decided: Next;
}

export class RecordSender {
  readonly #options: RecordSenderOptions;

  constructor(options: RecordSenderOptions) {
    this.#options = options;
  }

  /** Resolves when the event has ended, or the run is stopping. */
  async send(due: DueEvent): Promise<void> {
    let last: { readonly name: string; readonly answer: Extract<Delivered, { kind: 'refused' }> } | undefined;
    for (let isFollowUp = false; ; isFollowUp = true) {
      const turn = this.#nextTurn(due);
      const { step } = turn.decided;
      if (step.kind === 'end' || step.kind === 'read') return this.#end(turn);
      const request = this.#requestOf(turn, step);
      // An update has a new id each time; a create under another id is another question.
      const name = step.kind === 'update' ? 'update' : request.id;
      if (last?.name === name) return this.#options.outcomes.rejected(turn, last.answer);
      const answer = await this.#ask(turn, request, isFollowUp);
      if (answer === 'ended') return;
      last = answer === 'left' ? undefined : { name, answer };
    }
  }

  #nextTurn(due: DueEvent): Turn {
    const { db, hasher, policies } = this.#options;
    const key = { entity: due.entity, external_id: due.external_id! };
    const { known } = readRecord(db, hasher, key);
    const wanted = wantedOf(due, policies, hasher);
    const shown = known === NOTHING_KNOWN ? undefined : shownOf(db, key);
    const decided = next(wanted, known, shownBy({ ...key, known }), shown);
    return { due, record: { ...key, type: due.type, wanted }, known, shown, decided };
  }

  /**
   * Sends one request. Returns a refusal, after which the next step may be another one, or `left` if something is left to be sent
   * though it was acknowledged.
   */
  async #ask(
    turn: Turn,
    request: Request,
    isFollowUp: boolean,
  ): Promise<Extract<Delivered, { kind: 'refused' }> | 'left' | 'ended'> {
    const { db, commits, log, deliverer, outcomes, isAdopted } = this.#options;
    const { due, record, known } = turn;
    const delivery = { ...this.#deliveryOf(turn, request), isFollowUp };
    const delivered = await deliverer.deliver(delivery, () =>
      commits.commit(() => {
        log.opened(record, opened(known, request), delivery);
        if (due.entity === COMBINED) storeParts(db, due.id, request.fields[WHOLE]!, known.exists === 'no');
      }),
    );
    const hasOtherParts = due.rows > 1 && isOfOtherParts(delivered, delivery);
    const answer = hasOtherParts ? otherParts(delivered, record) : delivered;
    const isUnsent = answer.kind === 'pending' && answer.attempts === 0;
    if (isUnsent) return 'ended';
    const isForeign =
      hasOtherParts ||
      (answer.kind === 'acknowledged' && answer.deduplicated && (isAdopted || !isOwnRepeat(known, request, answer)));
    if (isForeign && !outcomes.takeOver()) {
      // As if it had not been sent: the next run sends it again, and learns the same.
      await commits.commit(() => {
        log.answered(
          record,
          known,
          delivery,
          { kind: 'pending', hadNoEffect: true, attempts: answer.attempts },
          undefined,
        );
      });
      return 'ended';
    }
    const circumstances = {
      content: record.wanted.content,
      isShown: (field: string) => isShownField(record.entity, field),
      isAdopted,
    };
    // Counted before waiting for the disk: it may stop the run, and then no other event must be sent.
    if (answer.kind === 'failed') outcomes.count(due, answer);
    const after =
      answer.kind === 'pending' && answer.hadNoEffect
        ? known
        : answered(known, request, answerOf(answer), circumstances);
    if (answer.kind === 'acknowledged') {
      // It is on disk with the state of its event: see `#end`.
      return this.#acknowledged({ ...turn, known: after }, delivery, answer);
    }
    await commits.commit(() => {
      if (answer.kind === 'failed') outcomes.failed(turn, answer);
      const ended = answer.kind === 'failed' ? { isAcknowledged: false, code: answer.code } : undefined;
      log.answered(record, after, delivery, answer, ended);
    });
    return answer.kind === 'refused' ? answer : 'ended';
  }

  async #acknowledged(
    turn: Turn,
    delivery: Delivery,
    answer: Extract<Delivered, { kind: 'acknowledged' }>,
  ): Promise<'left' | 'ended'> {
    const { commits, log, outcomes } = this.#options;
    const { due, record, known, shown } = turn;
    const decided = next(record.wanted, known, shownBy({ entity: record.entity, known }), shown);
    const isLeft = decided.step.kind === 'create' || decided.step.kind === 'update';
    await commits.commit(() => {
      log.answered(record, known, delivery, answer, { isAcknowledged: true, code: undefined });
      // The parts of a combined comment are as its record says.
      if (!isLeft) this.#settle({ ...turn, decided });
      outcomes.acknowledged(due, !isUpdate(delivery.type), answer);
    });
    // The event that the canary was may have been accepted by its second request.
    for (const type of [delivery.type, due.sends ?? due.type]) outcomes.proven.add(type);
    return isLeft ? 'left' : 'ended';
  }

  /** There is nothing to send: the event has ended, or its record must be read back first. */
  async #end(turn: Turn): Promise<void> {
    const { commits, log } = this.#options;
    const { record, known, decided } = turn;
    const skipped = decided.step.kind === 'end' ? decided.step.skipped : undefined;
    const code = skipped === undefined ? undefined : skipped === 'exists' ? 'already_exists' : 'not_found';
    await commits.commit(() => {
      this.#settle(turn);
      if (code !== undefined) log.ended(record, known, { isAcknowledged: true, code } satisfies Ended);
    });
    if (skipped !== undefined) this.#options.outcomes.skipped(turn.due);
  }

  /** Sets the state of the event. In a transaction of the caller. */
  #settle({ due, record, known, decided }: Turn): void {
    const { db } = this.#options;
    if (decided.step.kind === 'read') {
      db.run(`update event set state = 'ready', code = 'to_read' where id = ?`, due.id);
      return;
    }
    const subject = { ...record, id: due.id, record: due.record_id, isRetry: false, known };
    conclude(db, subject, decided);
  }

  #requestOf({ due, record }: Turn, step: Extract<Step, { kind: 'create' | 'update' }>): Request {
    const { kind, fields } = step;
    if (step.id !== undefined) return { kind, id: step.id, fields };
    if (kind === 'update') return { kind, id: randomUUID(), fields };
    const { migration } = this.#options;
    const type = `${record.entity}/created` satisfies EventType;
    return { kind, id: eventId({ migration, type, externalId: record.external_id, content: due.data }), fields };
  }

  #deliveryOf({ due, record, known }: Turn, { kind, id, fields }: Request): Delivery {
    const { values } = record.wanted;
    const isWhole = kind === 'create' || Object.keys(fields).length === values.size;
    const content = isWhole
      ? due.data
      : dataWith(
          record.external_id,
          [...values].filter(([field]) => Object.hasOwn(fields, field)),
        );
    const type: EventType = kind === 'create' ? `${record.entity}/created` : `${record.entity}/updated`;
    return {
      id,
      type,
      externalId: record.external_id,
      content,
      // An update that the program derived has no time of its own.
      occurredAt: due.occurred_at !== null && (isUpdate(due.type) || !isUpdate(type)) ? due.occurred_at : undefined,
      mayHaveArrivedBefore: known.create?.id === id || known.open?.id === id,
      wasRejected: due.state === 'retry',
      place: due.place,
    };
  }
}

/**
 * The service has a comment under this id, and from no request of ours: it keeps the first one (service interface, section 2.6). Of a
 * combined comment, that one may have other parts, sent by a state that is lost.
 */
function isOfOtherParts(answer: Delivered, { type, mayHaveArrivedBefore }: Delivery): boolean {
  if (entityOf(type) !== COMBINED || answer.kind !== 'acknowledged' || answer.outcome !== 'none') return false;
  return !answer.deduplicated && !answer.mayHaveArrived && !mayHaveArrivedBefore;
}

function otherParts({ attempts }: Delivered, { external_id: id }: RecordOf): Extract<Delivered, { kind: 'refused' }> {
  const issue = issueOf('already_combined', id);
  return {
    kind: 'refused',
    why: 'exists',
    code: issue.code,
    message: issue.message,
    hint: hintFor(issue)!,
    attempts,
  };
}

/** How the core understands it. */
function answerOf(answer: Delivered): RequestEnd {
  switch (answer.kind) {
    case 'acknowledged':
      return answer;
    case 'refused':
      return { kind: 'refused', why: answer.why };
    case 'failed':
    case 'pending':
      return { kind: 'none' };
  }
}
