import { kindOfType } from '../kinds/index.ts';
import { EXIT, shortageOf, UserError } from '../errors.ts';
import { STOPPED, type Halt, type HaltReason } from '../halt.ts';
import { dueEvents, type DueEvent } from '../plan/order/turns.ts';
import { LockRemoved, StateRemoved } from '../files/state-dir.ts';
import type { Deliverer } from './deliver.ts';
import { blockedIssue, parentStatus, type BlockedCode } from '../plan/order/parents.ts';
import { setState } from '../plan/events.ts';
import { addProblem } from '../plan/problems.ts';
import { EventQueue } from './queue.ts';
import type { Outcomes } from './outcomes.ts';
import { RecordSender, type RecordSenderOptions } from './record-sender.ts';

interface SenderOptions extends RecordSenderOptions {
  readonly deliverer: Deliverer;
  readonly halt: Halt;
  readonly concurrency: number;
}

/**
 * Events in progress per request in flight: while some wait for the disk, others are sent. The limiter
 * decides how many are sent at a time.
 */
const IN_PROGRESS = 4;

/**
 * Passes events to the deliverer, several at a time. The events of a type are sent one at a time, with nothing else in
 * flight, until one has been acknowledged; only those that get no answer are not waited for. An event waits only for those that it depends on (see `EventQueue`), never for a
 * whole type or priority.
 */
export class Sender {
  /** When the last event of each priority ended. */
  readonly endedAt = new Map<number, Date>();
  readonly #options: SenderOptions;
  readonly #records: RecordSender;
  readonly #queue: EventQueue;
  #place = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#records = new RecordSender(options);
    this.#queue = new EventQueue(IN_PROGRESS * options.concurrency);
  }

  /**
   * Sends the events in their order, from where the last call ended. Resolves when every event has ended, or the run is stopping and
   * none is in flight.
   */
  async sendAll(): Promise<void> {
    const { db, halt } = this.#options;
    let previous: DueEvent['state'] = 'ready';
    for (const due of dueEvents(db, this.#place)) {
      if (halt.requested) break;
      this.#place = due.place;
      // Events that were rejected before go last, after all that were never tried.
      if (due.state === 'retry' && previous === 'ready') await this.#queue.idle();
      previous = due.state;
      await this.#take(due);
    }
    await this.#queue.idle();
  }

  get outcomes(): Outcomes['counts'] {
    return this.#options.outcomes.counts;
  }

  /** Records that this migration has made, as the service says, and that this checkpoint did not know. */
  get adopted(): number {
    return this.#options.outcomes.adopted;
  }

  get counters(): Deliverer['counters'] {
    return this.#options.deliverer.counters;
  }

  /** Resolves when the event is on its way and there is room for the next. */
  async #take(due: DueEvent): Promise<void> {
    const isCanary = !this.#options.outcomes.proven.has(due.sends ?? due.type);
    if (isCanary) await this.#unlessSilent(this.#queue.idle());
    if (this.#options.halt.requested) return;
    const ended = this.#queue.add(linksOf(due), due.place, () => this.#begin(due));
    await (isCanary ? this.#unlessSilent(ended) : this.#queue.room());
  }

  /**
   * Resolves with `ended`, or once no event in progress gets an answer: the next event then shows whether the service is down or one
   * event is at fault.
   */
  async #unlessSilent(ended: Promise<void>): Promise<void> {
    const areAllSilent = new Promise<void>((resolve) => {
      this.#options.deliverer.whenSilent((events) => {
        if (events >= this.#queue.size) resolve();
      });
    });
    await Promise.race([ended, areAllSilent]);
  }

  /** Everything that the event depends on has ended: it is sent, unless its parent was not accepted. */
  async #begin(due: DueEvent): Promise<void> {
    const { halt } = this.#options;
    if (halt.requested) return;
    try {
      if (this.#mayGo(due)) await this.#records.send(due);
      this.endedAt.set(due.priority, new Date());
    } catch (error) {
      halt.request(reasonOf(error));
    }
  }

  /** Whether its parent was accepted; otherwise the plan says why it was not sent. */
  #mayGo(due: DueEvent): boolean {
    const { db, policies } = this.#options;
    if (due.parent_id === null) return true;
    const parent = parentStatus(db, due.id);
    const lacksParent = parent === 'missing' && policies[due.entry]!.if_parent_missing !== 'send';
    if (parent === 'failed' || lacksParent) {
      const code: BlockedCode = lacksParent ? 'parent_missing' : 'parent_failed';
      db.transaction(() => {
        setState(db, due.id, 'blocked', code);
        addProblem(db, { event: due.id, record: due.record_id }, blockedIssue(db, due, code));
      });
      return false;
    }
    if (parent !== 'held' && parent !== 'expected') return true;
    setState(db, due.id, 'held');
    return false;
  }
}

function linksOf({ type, entity, external_id: id, parent_entity: parentEntity, parent_id: parentId }: DueEvent) {
  return {
    record: `${entity} ${id}`,
    parent: parentId === null ? undefined : `${parentEntity} ${parentId}`,
    isNote: kindOfType(type).isNote === true,
  };
}

/** Why a run stops after an error while sending. */
export function reasonOf(thrown: unknown): HaltReason {
  const error = shortageOf(thrown, EXIT.stopped) ?? thrown;
  if (error instanceof UserError) {
    const isLock = error instanceof LockRemoved;
    const code = isLock
      ? STOPPED.lockRemoved
      : error instanceof StateRemoved
        ? STOPPED.stateRemoved
        : STOPPED.notWritten;
    return { code, message: error.message, hint: error.hint, exitCode: EXIT.stopped };
  }
  return {
    code: STOPPED.bug,
    message: `this is a bug: ${error instanceof Error ? error.stack : String(error)}`,
    hint: 'nothing that was acknowledged is lost; rerun to continue',
    exitCode: EXIT.stopped,
  };
}
