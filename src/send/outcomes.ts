/** The outcomes of events in a run, and the limits on errors. */
import { kindOfType } from '../kinds/index.ts';
import { EXIT } from '../errors.ts';
import { STOPPED, type Halt } from '../halt.ts';
import type { Effect, EventType } from '../model.ts';
import { setState } from '../plan/events.ts';
import type { DueEvent } from '../plan/order/turns.ts';
import { addProblem } from '../plan/problems.ts';
import type { Commits } from '../store/commits.ts';
import type { Database } from '../store/sqlite.ts';
import type { Delivered, Failure } from './delivery.ts';
import type { SendLog } from './log.ts';
import type { Turn } from './request.ts';
import { hintFor, issueOf, WORDS } from '../report/words/words.ts';
import { numberText } from '../report/words/numbers.ts';
import { Problem } from '../problem.ts';

interface OutcomeOptions {
  readonly db: Database;
  readonly commits: Commits;
  readonly log: SendLog;
  readonly halt: Halt;
  /** Stop after this many rejections in a row with the same code; 0 = off. */
  readonly maxRejectionsInARow: number;
  /** Stop if this run has more rejections than this. */
  readonly maxRejections: number;
  /** Another checkpoint of this migration was lost: records that the service has and this checkpoint lacks are adopted. */
  readonly isAdopted: boolean;
}

/** Records how events ended. */
export class Outcomes {
  readonly counts: Record<Effect, number> = { created: 0, updated: 0, none: 0 };
  /** Types of which an event was accepted in this run. */
  readonly proven = new Set<EventType>();
  /** Records that this migration has made, as the service says, and that this checkpoint did not know. */
  adopted = 0;
  readonly #options: OutcomeOptions;
  readonly #rejections: Rejections;
  #answered = 0;

  constructor(options: OutcomeOptions) {
    this.#options = options;
    this.#rejections = new Rejections(options);
  }

  /** The service has processed what this checkpoint has not sent: the run stops, unless another checkpoint was lost. */
  takeOver(): void {
    const { halt, isAdopted } = this.#options;
    if (isAdopted) this.adopted += 1;
    else halt.request(UNKNOWN_HISTORY);
  }

  /** Whether an event was answered, other than by what stops the run. */
  get hasAnswers(): boolean {
    return this.#answered > 0;
  }

  /** `isCreate`: the request was to create the record. In a transaction of the caller, after the answer was stored. */
  acknowledged(
    due: DueEvent,
    answer: Extract<Delivered, { kind: 'acknowledged' }>,
    { isCreate }: { readonly isCreate: boolean },
  ): void {
    this.#answered += 1;
    this.#rejections.interrupt();
    this.counts[answer.outcome] += 1;
    const { db } = this.#options;
    const about = { event: due.id, record: due.record_id };
    if (answer.outcome === 'none' && !answer.deduplicated) addProblem(db, about, issueOf('not_created'));
    if (!isCreate) return;
    if (answer.outcome === 'updated') addProblem(db, about, issueOf('updated_instead'));
    const other = db.get<{ external_id: string }>(
      'select external_id from checkpoint.record where service_id = ? and entity = ? and external_id <> ? limit 1',
      answer.serviceId,
      due.entity,
      due.external_id,
    );
    if (other) addProblem(db, about, issueOf('same_service_id', due.external_id!, other.external_id, answer.serviceId));
  }

  /** It stays as it is, since a policy says so. */
  skipped({ type, sends }: DueEvent): void {
    this.proven.add(sends ?? type);
    this.#answered += 1;
    this.#rejections.interrupt();
    this.counts.none += 1;
  }

  /** Resolves when the rejection is on disk: the problem before the mark. */
  async rejected(turn: Turn, answer: Extract<Delivered, { kind: 'refused' }>): Promise<void> {
    const { commits, log } = this.#options;
    this.count(turn.due, answer);
    await commits.commit(() => {
      this.reject(turn.due, answer, answer.attempts);
      log.ended(turn.record, turn.known, { isAcknowledged: false, code: answer.code });
    });
  }

  /**
   * Counted before waiting for the disk: it may stop the run, and then no other event must be sent. Another rejection of what an
   * earlier run saw rejected does not count.
   */
  count(due: DueEvent, { code }: Failure): void {
    this.#answered += 1;
    if (due.state !== 'retry') this.#rejections.add(code);
  }

  /** Also what was sent again and again without an answer. In a transaction of the caller. */
  reject(due: DueEvent, failure: Failure, attempts: number): void {
    const { db } = this.#options;
    const { code, httpStatus } = failure;
    addProblem(db, { event: due.id, record: due.record_id }, refusal(due.type, failure), { httpStatus, attempts });
    setState(db, due.id, 'rejected', code);
  }
}

function refusal(type: EventType, { code, message, field, hint, httpStatus }: Failure): Problem {
  const issue = new Problem({ kind: 'send', code, message, field });
  const isNote = kindOfType(type).isNote === true;
  const meant = meaningBy(httpStatus, isNote, code);
  const hints = [hint ?? hintFor(issue.with({ code: meant })), isNote ? COMMENT_ORDER : undefined];
  const text = hints.filter((each) => each !== undefined).join('; ');
  return issue.with({ hint: text === '' ? undefined : text });
}

/** The meaning of a 409 does not depend on its code. For an unknown code, the status decides who is at fault. */
function meaningBy(status: number | undefined, isNote: boolean, code: string): string {
  if (status === 409) return isNote ? 'already_exists/comment' : 'already_exists';
  return Object.hasOwn(WORDS, code) ? code : `http_${status}`;
}

/** Later comments do not wait for one that is rejected. */
const COMMENT_ORDER = 'comments are dated on arrival, so this one will appear after later ones';

const UNKNOWN_HISTORY = {
  code: STOPPED.unknownHistory,
  message: 'the service has already processed an event of this migration that this state directory has no record of',
  hint: 'specify the right directory with --state DIR, restore a newer copy of it, or continue with --adopt if it is lost',
  exitCode: EXIT.stopped,
} as const;

/** Counts the rejections of a run, and stops it if there are too many. */
class Rejections {
  readonly #options: Pick<OutcomeOptions, 'halt' | 'maxRejections' | 'maxRejectionsInARow'>;
  #count = 0;
  #inARow = { code: '', count: 0 };

  constructor(options: OutcomeOptions) {
    this.#options = options;
  }

  /** An event was acknowledged. */
  interrupt(): void {
    this.#inARow = { code: '', count: 0 };
  }

  add(code: string): void {
    const { halt, maxRejections, maxRejectionsInARow } = this.#options;
    this.#count += 1;
    this.#inARow = { code, count: this.#inARow.code === code ? this.#inARow.count + 1 : 1 };
    const stop = (reason: string, message: string, hint: string): void =>
      halt.request({ code: reason, message: `the service rejected ${message}`, hint, exitCode: EXIT.stopped });
    if (maxRejectionsInARow > 0 && this.#inARow.count >= maxRejectionsInARow) {
      stop(
        'rejections_in_a_row',
        `${numberText(this.#inARow.count)} events in a row with \`${code}\``,
        'see errors.csv; fix the mapping or the account, then rerun (`--max-rejections-in-a-row 0` turns this off)',
      );
    } else if (this.#count > maxRejections) {
      const message = `${numberText(this.#count)} events of this run, more than --max-errors allows`;
      stop('too_many_errors', message, 'see errors.csv; fix the common cause, then rerun');
    }
  }
}
