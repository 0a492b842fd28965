/**
 * Sends what is left to send about one record: next, commit `opened`, request, commit `answered`, until nothing is left. The
 * second request of `if_exists` or `if_missing` is simply the next step.
 */
import { NOTHING_KNOWN, opened, type Request } from '../core/known.ts';
import { next } from '../core/next.ts';
import type { Policies } from '../mapping/policies.ts';
import { COMBINED, isUpdate } from '../kinds/index.ts';
import { conclude, shownBy } from '../plan/known/judge-known.ts';
import { shownOf } from '../plan/known/recheck.ts';
import { readRecord } from '../plan/known/records.ts';
import { WHOLE, wantedOf } from '../plan/known/wanted.ts';
import type { DueEvent } from '../plan/order/turns.ts';
import { storeParts } from '../plan/rows/combine.ts';
import type { Commits } from '../store/commits.ts';
import type { FieldHasher } from '../store/field-hashes.ts';
import type { Database } from '../store/sqlite.ts';
import type { Deliverer } from './deliver.ts';
import type { Delivered } from './delivery.ts';
import type { SendLog } from './log.ts';
import type { Outcomes } from './outcomes.ts';
import { concluded, deliveryOf, requestOf, type Concluded, type Turn } from './request.ts';

export interface RecordSenderOptions {
  readonly db: Database;
  readonly commits: Commits;
  readonly log: SendLog;
  readonly hasher: FieldHasher;
  readonly migration: string;
  /** Of all entries. */
  readonly policies: readonly Policies[];
  readonly deliverer: Pick<Deliverer, 'deliver'>;
  readonly outcomes: Outcomes;
  /** Another checkpoint of this migration was lost. */
  readonly isAdopted: boolean;
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
      const request = requestOf(turn, step, this.#options.migration);
      // An update has a new id each time; a create under another id is another question.
      const name = step.kind === 'update' ? 'update' : request.id;
      if (last?.name === name) return this.#options.outcomes.rejected(turn, last.answer);
      const { means, answer } = await this.#ask(turn, request, { isFollowUp });
      if (means !== 'left' && means !== 'refused') return;
      last = answer.kind === 'refused' ? { name, answer } : undefined;
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

  /** Sends one request, and stores what its answer means. */
  async #ask(turn: Turn, request: Request, { isFollowUp }: { readonly isFollowUp: boolean }): Promise<Concluded> {
    const { db, commits, log, deliverer, outcomes, isAdopted } = this.#options;
    const { due, record, known } = turn;
    const delivery = deliveryOf(turn, request, { isFollowUp });
    const delivered = await deliverer.deliver(delivery, () =>
      commits.commit(() => {
        log.opened(record, opened(known, request), delivery);
        if (due.entity === COMBINED) storeParts(db, due.id, request.fields[WHOLE]!, { isNew: known.exists === 'no' });
      }),
    );
    const after = concluded(turn, request, delivery, { delivered, isAdopted });
    const { means, answer } = after;
    if (means === 'unsent') return after;
    if (after.isForeign) outcomes.takeOver();
    // Counted before waiting for the disk: it may stop the run, and then no other event must be sent.
    if (answer.kind === 'failed') outcomes.count(due, answer);
    const isAcknowledged = answer.kind === 'acknowledged';
    const code = answer.kind === 'failed' ? answer.code : undefined;
    await commits.commit(() => {
      if (answer.kind === 'failed') outcomes.reject(due, answer, answer.attempts);
      const ended = isAcknowledged || code !== undefined ? { isAcknowledged, code } : undefined;
      log.answered(record, after.known, delivery, answer, ended);
      // The parts of a combined comment are as its record says.
      if (means === 'acknowledged') this.#settle({ ...turn, ...after });
      if (isAcknowledged) outcomes.acknowledged(due, answer, { isCreate: !isUpdate(delivery.type) });
    });
    // The event that the canary was may have been accepted by its second request.
    if (isAcknowledged) for (const type of [delivery.type, due.sends ?? due.type]) outcomes.proven.add(type);
    return after;
  }

  /** There is nothing to send: the event has ended, or its record must be read back first. */
  async #end(turn: Turn): Promise<void> {
    const { commits, log } = this.#options;
    const { record, known, decided } = turn;
    const skipped = decided.step.kind === 'end' ? decided.step.skipped : undefined;
    const code = skipped === undefined ? undefined : skipped === 'exists' ? 'already_exists' : 'not_found';
    await commits.commit(() => {
      this.#settle(turn);
      if (code !== undefined) log.ended(record, known, { isAcknowledged: true, code });
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
}
