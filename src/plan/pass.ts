import { EXIT, UserError } from '../errors.ts';
import type { CompiledEntry, CompiledMapping } from '../mapping/mapping.ts';
import { entityOf, isUpdate, type EventType, type Issue, type ParentRef, type Ready } from '../model.ts';
import type { ErrorReport } from '../report/error-report.ts';
import type { Source } from '../source/source.ts';
import { changedFields, sendsUpdates, updateOf } from './changes.ts';
import { FLAG, type State } from './event-table.ts';
import type { Due, FirstDue } from './first-due.ts';
import type { Plan } from './plan.ts';
import { readThrough, type Read } from './read.ts';
import type { Resolver } from './resolve.ts';
import type { Ledger } from '../checkpoint/ledger.ts';

export interface PassJob {
  readonly sources: ReadonlyMap<string, Source>;
  readonly eventSources: readonly string[];
  readonly compiled: CompiledMapping;
  readonly resolver: Resolver;
  readonly plan: Plan;
  readonly firstDue: FirstDue;
  readonly ledger: Ledger;
  readonly report: ErrorReport;
  readonly goesOn: () => boolean;
}

/**
 * Hands every event of one type that stands at `due` to `act`, in order: the first as the survey kept them, the others as
 * the input is read again. What the whole input decided against an event (a conflict, a failed parent) is reported on the
 * way; that is all if nothing is `due`. Reads nothing where nothing is to do.
 * Throws `InputChanged` (exit 3) when the input is not the one that was surveyed.
 */
export async function pass(
  job: PassJob,
  type: EventType,
  due: State | undefined,
  act: (due: Due) => void | Promise<void>,
): Promise<void> {
  const { plan } = job;
  const table = plan.tables[type];
  let writing: Promise<void>[] = [];
  const take = (found: Due, isKnown: boolean): void | Promise<void> => {
    if (!isKnown && table.state(found.ordinal) === due && standsWell(job, type, found)) return act(found);
    if (table.has(found.ordinal, FLAG.reported)) return;
    const written = reportVerdict(job, type, found);
    if (written) writing.push(written);
  };
  const written = async (): Promise<void> => {
    await Promise.all(writing);
    writing = [];
  };

  let lastKept = -1;
  for (const found of due === undefined ? [] : job.firstDue.of(type)) {
    if (!job.goesOn()) break;
    lastKept = found.ordinal;
    await take(found, false);
  }
  await written();
  const isDone = due === undefined || table.counts[due] === 0 || job.firstDue.isAll(type);
  if (isDone && !hasUnreported(table)) return;
  const cursor = new Cursor(job, type);
  for (const name of job.eventSources) {
    const entries = job.compiled.entries.filter((entry) => entry.source === name && cursor.reads(entry));
    if (entries.length === 0) continue;
    await readThrough(job.sources.get(name)!, entries, job.resolver, {
      goesOn: job.goesOn,
      event(read) {
        const found = cursor.next(read);
        // Those that were kept may still be on their way.
        return found && take(found, found.ordinal <= lastKept);
      },
      batch: written,
    });
  }
  if (job.goesOn()) cursor.end();
}

/** Counts events through the tables in reading order, and makes sure they are the ones that the survey saw. */
class Cursor {
  readonly #job: PassJob;
  readonly #type: EventType;
  /** The type whose records `if_changed` updates in this pass. */
  readonly #changing: EventType | undefined;
  #ordinal = 0;
  #created = 0;

  constructor(job: PassJob, type: EventType) {
    this.#job = job;
    this.#type = type;
    this.#changing = isUpdate(type) ? (`${entityOf(type)}/created` as EventType) : undefined;
  }

  reads(entry: CompiledEntry): boolean {
    return entry.type === this.#type || entry.type === this.#changing;
  }

  /** The event of this pass that the read one is, or becomes; undefined when it is none. */
  next({ event, row }: Read): Due | undefined {
    if (event.type === this.#type) {
      const ordinal = this.#ordinal;
      this.#ordinal += 1;
      this.#verify(event, ordinal);
      return event.kind === 'ready' ? { event, ordinal, row, derived: false } : undefined;
    }
    const created = this.#created;
    this.#created += 1;
    this.#verify(event, created);
    const { plan, ledger } = this.#job;
    const { policies } = this.#job.compiled.entries[event.entry]!;
    if (event.kind !== 'ready' || !sendsUpdates(policies) || !plan.tables[event.type].has(created, FLAG.derives)) {
      return undefined;
    }
    const ordinal = this.#ordinal;
    this.#ordinal += 1;
    const key = plan.tables[event.type].key(created)!;
    const { if_changed: listed } = policies;
    const fields = typeof listed === 'string' ? 'all' : changedFields(event, listed, ledger.fields(key) ?? {});
    return { event: updateOf(event, fields), ordinal, row, derived: true };
  }

  end(): void {
    if (this.#ordinal !== this.#job.plan.tables[this.#type].size) throw new InputChanged();
  }

  #verify(event: Read['event'], ordinal: number): void {
    const { plan } = this.#job;
    const table = plan.tables[event.type];
    const known = ordinal < table.size;
    if (!known || (event.kind === 'ready' ? !plan.isSame(event, ordinal) : table.state(ordinal) !== 'invalid')) {
      throw new InputChanged(event.place.file);
    }
  }
}

/** The input is not the one that was surveyed. */
export class InputChanged extends UserError {
  override readonly name = 'InputChanged';

  constructor(file?: string) {
    super(`the input changed while it was being sent${file === undefined ? '' : `: ${file}`}`, {
      hint: 'nothing that was acknowledged is lost; rerun to survey the input as it is now and to go on',
      exitCode: EXIT.stopped,
    });
  }
}

function hasUnreported(table: Plan['tables'][EventType]): boolean {
  if (table.counts.invalid + table.counts.blocked + table.counts.duplicate === 0) return false;
  for (let ordinal = 0; ordinal < table.size; ordinal += 1) {
    const state = table.state(ordinal);
    const told = table.has(ordinal, FLAG.reported);
    if (!told && (state === 'invalid' || state === 'blocked' || table.has(ordinal, FLAG.dropped))) return true;
  }
  return false;
}

/** False, and the event put aside, when what it hangs on is not there. */
function standsWell(job: PassJob, type: EventType, { ordinal }: Due): boolean {
  const standing = job.plan.parentStanding(type, ordinal);
  if (standing === 'none' || standing === 'exists') return true;
  job.plan.settle(type, ordinal, standing === 'held' || standing === 'expected' ? 'held' : 'blocked');
  return false;
}

function reportVerdict(job: PassJob, type: EventType, { event, ordinal, row }: Due): Promise<void> | undefined {
  const table = job.plan.tables[type];
  const state = table.state(ordinal);
  const { place, externalId } = event;
  if (table.has(ordinal, FLAG.dropped)) {
    table.flag(ordinal, FLAG.reported);
    const reason = 'another record with this external_id counts (`duplicates`)';
    return job.report.omitted(place, externalId, [{ field: '(record)', original: externalId ?? '', reason }]);
  }
  if (state !== 'invalid' && state !== 'blocked') return undefined;
  table.flag(ordinal, FLAG.reported);
  const issue = state === 'invalid' ? conflict(event) : blockedBy(job.plan, type, event, ordinal);
  const eventId = job.plan.idOf(event, ordinal);
  return job.report.error({ place, type, externalId, eventId, issues: [issue], raw: row.raw });
}

function conflict(event: Ready): Issue {
  return {
    severity: 'error',
    kind: 'map',
    code: 'duplicate_external_id',
    field: 'external_id',
    message: `several records have the external_id \`${event.externalId}\` and other content`,
    hint: 'remove all but one, or choose with `duplicates: first` or `duplicates: last`',
  };
}

/** Why an event is blocked, with the record named that it waits for. */
function blockedBy(plan: Plan, type: EventType, event: Ready, ordinal: number): Issue {
  const standing = plan.parentStanding(type, ordinal);
  const parent = event.parent;
  const ownCreated = isUpdate(type) && plan.standingOfCreated(type, ordinal) === 'failed';
  const of: ParentRef | { entity: string; externalId: string } =
    ownCreated || !parent ? { entity: entityOf(type), externalId: event.externalId ?? '' } : parent;
  const name = `${of.entity} \`${of.externalId}\``;
  if (standing === 'missing') {
    return {
      severity: 'error',
      kind: 'blocked',
      code: 'parent_missing',
      field: `${of.entity}_external_id`,
      message: `${name} is neither in the input nor acknowledged earlier`,
      hint: 'add the parent to the input, or set `if_parent_missing` if it is in the service already',
    };
  }
  return {
    severity: 'error',
    kind: 'blocked',
    code: ownCreated ? 'own_created_failed' : 'parent_failed',
    field: ownCreated ? 'external_id' : `${of.entity}_external_id`,
    message: `${name} was not accepted, so this event cannot be sent`,
    hint: 'mend the record named; this event follows by itself on the rerun',
  };
}
