/** The request of a step about a record, and what its answer means. Pure, as far as ids of updates are random. */
import { randomUUID } from 'node:crypto';
import { eventId } from '../core/identity.ts';
import { answered, isOwnRepeat, type Known, type Request, type RequestEnd, type ShownFields } from '../core/known.ts';
import { next, type Next, type Step } from '../core/next.ts';
import { COMBINED, isShownField, isUpdate } from '../kinds/index.ts';
import type { EventType } from '../model.ts';
import { shownBy } from '../plan/known/judge-known.ts';
import { dataWith } from '../plan/known/wanted.ts';
import type { DueEvent } from '../plan/order/turns.ts';
import { hintFor, issueOf } from '../report/words/words.ts';
import type { Delivered, Delivery } from './delivery.ts';
import type { RecordOf } from './log.ts';

/** One step about a record, and the knowledge behind it. */
export interface Turn {
  readonly due: DueEvent;
  readonly record: RecordOf;
  readonly known: Known;
  /** What the service showed of the record before; undefined if it was not read back. */
  readonly shown: ShownFields | undefined;
  readonly decided: Next;
}

export function requestOf(
  { due, record }: Turn,
  { kind, fields, id }: Extract<Step, { kind: 'create' | 'update' }>,
  migration: string,
): Request {
  if (id !== undefined) return { kind, id, fields };
  if (kind === 'update') return { kind, id: randomUUID(), fields };
  const type = `${record.entity}/created` satisfies EventType;
  return { kind, id: eventId({ migration, type, externalId: record.external_id, content: due.data }), fields };
}

/** `isFollowUp`: another request about the event went out before, in this run. */
export function deliveryOf(
  { due, record, known }: Turn,
  { kind, id, fields }: Request,
  { isFollowUp }: { readonly isFollowUp: boolean },
): Delivery {
  const { values } = record.wanted;
  const isWhole = kind === 'create' || Object.keys(fields).length === values.size;
  const sent = [...values].filter(([field]) => Object.hasOwn(fields, field));
  const type: EventType = kind === 'create' ? `${record.entity}/created` : `${record.entity}/updated`;
  return {
    ...{ id, type, isFollowUp, externalId: record.external_id, place: due.place },
    content: isWhole ? due.data : dataWith(record.external_id, sent),
    // An update that the program derived has no time of its own.
    occurredAt: due.occurred_at !== null && (isUpdate(due.type) || !isUpdate(type)) ? due.occurred_at : undefined,
    mayHaveArrivedBefore: known.create?.id === id || known.open?.id === id,
    wasRejected: due.state === 'retry',
  };
}

/**
 * - `unsent`: the run is stopping, and no attempt was made. `pending`: it is stopping, and one was.
 * - `unknown_history`: the service has processed what this checkpoint has not sent. As if it had not been sent: the next run sends it
 *   again, and learns the same.
 * - `refused`: the next step may be another request. `left`: acknowledged, and something is left to be sent.
 */
type Means = 'unsent' | 'unknown_history' | 'pending' | 'failed' | 'refused' | 'left' | 'acknowledged';

export interface Concluded {
  readonly means: Means;
  /** What is known of the record now. */
  readonly known: Known;
  /** The answer, as it counts. */
  readonly answer: Delivered;
  /** The service has processed what this checkpoint has not sent. */
  readonly isForeign: boolean;
  /** What follows from what is known now. */
  readonly decided: Next;
}

/** `isAdopted`: another checkpoint of this migration was lost, so what the service has processed may be ours. */
export function concluded(
  turn: Turn,
  request: Request,
  delivery: Delivery,
  { delivered, isAdopted }: { readonly delivered: Delivered; readonly isAdopted: boolean },
): Concluded {
  const { record, known, shown, decided } = turn;
  const hasOtherParts = isOfOtherParts(turn, delivered, delivery);
  const answer = hasOtherParts ? otherParts(delivered, record) : delivered;
  const isForeign = hasOtherParts || isDeduplicated(turn, request, delivered, isAdopted);
  const before = { known, answer, isForeign, decided };
  if (answer.kind === 'pending' && answer.attempts === 0) return { ...before, means: 'unsent' };
  if (isForeign && !isAdopted) {
    const unsent = { kind: 'pending', hadNoEffect: true, attempts: answer.attempts } as const;
    return { ...before, answer: unsent, means: 'unknown_history' };
  }
  if (answer.kind === 'pending' && answer.hadNoEffect) return { ...before, means: 'pending' };
  const isShown = (field: string): boolean => isShownField(record.entity, field);
  const circumstances = { content: record.wanted.content, isShown, isAdopted };
  const now = { ...before, known: answered(known, request, endOf(answer), circumstances) };
  if (answer.kind !== 'acknowledged') return { ...now, means: answer.kind };
  const follows = next(record.wanted, now.known, shownBy({ entity: record.entity, known: now.known }), shown);
  const isLeft = follows.step.kind === 'create' || follows.step.kind === 'update';
  return { ...now, decided: follows, means: isLeft ? 'left' : 'acknowledged' };
}

function isDeduplicated({ known }: Turn, request: Request, answer: Delivered, isAdopted: boolean): boolean {
  return answer.kind === 'acknowledged' && answer.deduplicated && (isAdopted || !isOwnRepeat(known, request, answer));
}

/**
 * The service has a comment under this id, and from no request of ours: it keeps the first one (service interface, section 2.6). Of a
 * combined comment, that one may have other parts, sent by a state that is lost.
 */
function isOfOtherParts({ due }: Turn, answer: Delivered, { mayHaveArrivedBefore }: Delivery): boolean {
  if (due.rows === 1 || due.entity !== COMBINED || answer.kind !== 'acknowledged') return false;
  return answer.outcome === 'none' && !answer.deduplicated && !answer.mayHaveArrived && !mayHaveArrivedBefore;
}

function otherParts({ attempts }: Delivered, { external_id: id }: RecordOf): Extract<Delivered, { kind: 'refused' }> {
  const issue = issueOf('already_combined', id);
  const { code, message } = issue;
  return { kind: 'refused', why: 'exists', code, message, hint: hintFor(issue)!, attempts };
}

/** How the core understands it. */
function endOf(answer: Delivered): RequestEnd {
  if (answer.kind === 'acknowledged') return answer;
  return answer.kind === 'refused' ? { kind: 'refused', why: answer.why } : { kind: 'none' };
}
