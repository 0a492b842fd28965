import { setImmediate } from 'node:timers/promises';
import type { CompiledEntry, CompiledMapping } from '../mapping/mapping.ts';
import { entityOf, isUpdate, kindOf, kindOfType, STAGED } from '../kinds/index.ts';
import type { Draft, ReadItem, Row } from '../model.ts';
import { addOmissions, addProblem } from '../plan/problems.ts';
import type { Source } from '../input/source.ts';
import type { DealGroups } from './deal-groups.ts';
import type { PlanWriter } from './plan-writer.ts';
import { prepare } from './prepare.ts';
import type { Profiler } from './profile/profile.ts';
import type { Resolver } from './resolve.ts';
import { issueOf } from '../report/words/words.ts';
import type { Problem } from '../problem.ts';

interface ReadingJob {
  readonly compiled: CompiledMapping;
  readonly resolver: Resolver;
  readonly writer: PlanWriter;
  readonly profiler: Profiler;
  readonly groups: DealGroups;
  /** Whether to continue after the current record. */
  readonly shouldContinue: () => boolean;
}

const LONGEST_HOLD_MS = 50;

/** Reads the records of a source, one after the other, into the plan and the profile. */
export class RecordReader {
  readonly #job: ReadingJob;
  /** When other work of the process last had its turn, in milliseconds. */
  #pausedAt = 0;

  constructor(job: ReadingJob) {
    this.#job = job;
  }

  async read(source: Source): Promise<void> {
    const { compiled, writer, profiler, shouldContinue } = this.#job;
    writer.addSource(source);
    const entries = compiled.entries.filter((entry) => entry.source === source.name);
    const watch = profiler.watch(source.name);
    const versioned = entries.filter(isVersioned);
    let read = 0;
    for await (const batch of source.batches()) {
      for (const item of batch) {
        // A slow function of the mapping must not hold up a signal until the batch has been read.
        if (performance.now() - this.#pausedAt > LONGEST_HOLD_MS) await this.#pause();
        if (!shouldContinue()) return writer.flush();
        read += 1;
        if (item.kind === 'unreadable') {
          this.#takeUnreadable(item, entries);
          continue;
        }
        const original = item.corrects && { ...item, raw: item.corrects.raw };
        const before = original && draftsOf(entries, original);
        watch.row(item);
        for (const issue of item.issues) addProblem(writer.db, { record: writer.record(item) }, issue);
        const drafts = draftsOf(entries, item);
        if (before)
          for (const issue of correctedIds(before, drafts))
            addProblem(writer.db, { record: writer.record(item) }, issue);
        for (const draft of drafts) this.#takeEvent(draft, item);
        if (drafts.length === 0) this.#skip(item, entries);
        for (const entry of versioned)
          for (const id of entry.skipped(item).ids)
            if (!drafts.some((draft) => isTold(draft, compiled.entries[draft.entry]!, entry, id)))
              writer.excluded(entry, id, writer.unusedRecord(item));
      }
    }
    writer.flush();
    writer.db.run('update source set records = ? where name = ?', read, source.name);
  }

  async #pause(): Promise<void> {
    await setImmediate();
    this.#pausedAt = performance.now();
  }

  /** A record that was sent earlier is not gone because its row cannot be read. The readable part of the row may identify it. */
  #takeUnreadable(item: Extract<ReadItem, { kind: 'unreadable' }>, entries: readonly CompiledEntry[]): void {
    const { writer } = this.#job;
    const { place, raw, issue } = item;
    const record = writer.record(item);
    addProblem(writer.db, { record }, issue);
    // A footer is a warning, and no record: there is nothing to correct.
    if (issue.severity === 'warning') return writer.unused(record, 'footer');
    for (const entry of entries) {
      const drafts = raw ? entry.map({ kind: 'row', place, raw, issues: [] }) : [];
      const ids = drafts.map(({ data }) => data.external_id).filter((id) => typeof id === 'string');
      const [code, entity] = [entry.isEach ? ('unread_each' as const) : ('unread' as const), entityOf(entry.type)];
      for (const externalId of ids) writer.unused(record, code, { entity, externalId });
      if (ids.length === 0) writer.unused(record, code, { entity });
    }
  }

  /** Says of which record that others may name as their parent, if the row would have been one. */
  #skip(row: Row, entries: readonly CompiledEntry[]): void {
    const skipped = entries.map((entry) => ({ ...entry.skipped(row), entry, entity: entityOf(entry.type) }));
    const single = skipped.filter(({ entry, ids }) => !entry.isEach && ids.length > 0);
    const about = single.find(({ entity }) => !kindOf(entity).isNote) ?? single[0];
    const unmet = [...new Set(skipped.flatMap((each) => [...each.unmet]))].join('; ');
    this.#job.writer.unused(
      this.#job.writer.unusedRecord(row),
      skipped.every(({ code }) => code === 'each') ? 'each' : 'when',
      about && { entity: about.entity, externalId: about.ids[0]! },
      unmet === '' ? null : unmet,
    );
  }

  #takeEvent(draft: Draft, row: Row): void {
    const { writer, profiler, groups, resolver } = this.#job;
    const event = prepare(draft, resolver);
    const record = writer.record(row);
    profiler.event(event, row);
    const deal = entityOf(draft.type) === STAGED ? groups.figuresOf(draft, event) : undefined;
    const id = writer.event(event, record, deal);
    for (const issue of event.issues)
      addProblem(writer.db, { event: id, record, cell: this.#cellOf(draft, row, issue) }, issue);
    if (event.omissions.length > 0) {
      addOmissions(writer.db, { event: id, record }, event.omissions, (omission) => this.#cellOf(draft, row, omission));
    }
  }

  /** In a sheet: the letter of the column that has the value, or of the first with one that the field reads. */
  #cellOf(
    { entry }: Draft,
    { place: { letters }, raw }: Row,
    { field, column: known, original }: Pick<Problem, 'field' | 'column'> & Partial<Problem>,
  ): string | undefined {
    if (!letters || field === undefined) return undefined;
    if (known !== undefined) return letters[known];
    const cell = (column: number): string => ((raw as readonly string[])[column] ?? '').trim();
    const uses = this.#job.compiled.entries[entry]?.uses ?? [];
    const columns = uses.flatMap((use) => (use.field === field && use.column !== undefined ? [use.column] : []));
    const filled = columns.find((column) => cell(column) === original) ?? columns.find((column) => cell(column) !== '');
    return letters[filled ?? columns[0] ?? 0];
  }
}

/** Whether `duplicates` chooses a version of its records before `when` is asked. */
function isVersioned({ type, policies }: CompiledEntry): boolean {
  return !isUpdate(type) && policies.duplicates !== 'reject';
}

/**
 * Whether this draft tells that its row is no version of the record with this id that `entry` excludes: it is the version itself, or a record
 * of another kind, since one file may have several that `when` tells apart. An entry that takes every row (`by`) tells nothing.
 */
function isTold({ type, data }: Draft, by: CompiledEntry, entry: CompiledEntry, id: string): boolean {
  const isItself = entityOf(type) === entityOf(entry.type) && data.external_id === id;
  return isItself || (by.isConditional && kindOfType(type).isNote !== true);
}

function draftsOf(entries: readonly CompiledEntry[], row: Row): readonly Draft[] {
  const drafts: Draft[] = [];
  for (const entry of entries) drafts.push(...entry.map(row));
  return drafts;
}

/** The external ids that a correction changes, as warnings: a spreadsheet makes `123` of `00123`. `before`: of the record as it was. */
function correctedIds(before: readonly Draft[], after: readonly Draft[]): Problem[] {
  const idsOf = (drafts: readonly Draft[]): ReadonlySet<string> =>
    new Set(
      drafts.flatMap(({ type, data: { external_id: id } }) =>
        typeof id === 'string' ? `${entityOf(type)}\0${id}` : [],
      ),
    );
  const [old, now] = [idsOf(before), idsOf(after)];
  const added = [...now].filter((id) => !old.has(id));
  return [...old].flatMap((lost) => {
    const [entity = '', from = ''] = lost.split('\0');
    const at = now.has(lost) ? -1 : added.findIndex((id) => id.startsWith(`${entity}\0`));
    if (at < 0) return [];
    const to = added.splice(at, 1)[0]!.slice(entity.length + 1);
    return [issueOf('corrected_id', entity, from, to).with({ field: 'external_id' })];
  });
}
