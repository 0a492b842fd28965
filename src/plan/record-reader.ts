import type { ContactMatches } from '../compare/matches.ts';
import type { CompiledEntry, CompiledMapping } from '../mapping/mapping.ts';
import type { Draft, Issue, Place, ReadItem, Ready, Row } from '../model.ts';
import type { ErrorReport } from '../report/error-report.ts';
import type { Source } from '../source/source.ts';
import type { ControlTotals } from './control-totals.ts';
import type { Features } from './features.ts';
import type { OmittedValues } from './omitted.ts';
import { PlanBuilder } from './plan-builder.ts';
import type { Plan } from './plan.ts';
import { prepare } from './prepare.ts';
import type { Profiler } from './profile.ts';
import type { Resolver } from './resolve.ts';
import { reportConflict, reportDropped } from './verdicts.ts';

/** read = mapped + skipped + unreadable; sources used only by lookups are not counted. */
export interface RecordCounts {
  read: number;
  mapped: number;
  skipped: number;
  unreadable: number;
}

interface ReadingJob {
  readonly compiled: CompiledMapping;
  readonly resolver: Resolver;
  readonly plan: Plan;
  readonly report: ErrorReport;
  readonly profiler: Profiler;
  readonly omitted: OmittedValues;
  readonly totals: ControlTotals;
  /** Undefined unless a pilot is chosen by what the records use. */
  readonly features: Features | undefined;
  /** Undefined if people in the account are not looked for. */
  readonly matches: ContactMatches | undefined;
  /** Whether to continue after the current record. */
  readonly shouldContinue: () => boolean;
}

/** Reads the records of a source, one after the other, into the plan, the report and the profile. */
export class RecordReader {
  readonly records: RecordCounts = { read: 0, mapped: 0, skipped: 0, unreadable: 0 };
  /** Unreadable records, without those that are only a warning (a report's footer). */
  unreadable = 0;
  readonly #job: ReadingJob;
  readonly #builder: PlanBuilder;
  /** Lines of the report that are still being written. */
  #writing: Promise<void>[] = [];

  constructor(job: ReadingJob) {
    this.#job = job;
    this.#builder = new PlanBuilder(job.plan);
  }

  async read(source: Source): Promise<void> {
    const { compiled, profiler, features, shouldContinue } = this.#job;
    const entries = compiled.entries.filter((entry) => entry.source === source.name);
    const watch = profiler.watch(source.name);
    for await (const batch of source.batches()) {
      for (const item of batch) {
        if (!shouldContinue()) return;
        this.records.read += 1;
        if (item.kind === 'unreadable') {
          this.#takeUnreadable(item);
          continue;
        }
        watch.row(item);
        features?.begin(item);
        this.#warn(item.issues, item.place);
        const mapped = draftsOf(item, entries);
        const drafts = mapped instanceof Promise ? await mapped : mapped;
        this.records[drafts.length > 0 ? 'mapped' : 'skipped'] += 1;
        for (const draft of drafts) this.#takeEvent(draft, item);
        features?.end();
      }
      await Promise.all(this.#writing);
      this.#writing = [];
    }
  }

  #takeUnreadable({ place, issue, raw }: Extract<ReadItem, { kind: 'unreadable' }>): void {
    this.records.unreadable += 1;
    if (issue.severity === 'error') this.unreadable += 1;
    this.#warn([issue], place);
    this.#writing.push(this.#job.report.error({ place, issues: [issue], raw }));
  }

  #takeEvent(draft: Draft, row: Row): void {
    const { plan, report, profiler, omitted, totals, features, matches } = this.#job;
    const event = prepare(draft, this.#job.resolver);
    const { type, place, externalId, issues, omissions } = event;
    this.#warn(issues, place);
    profiler.event(event, row);
    omitted.add(event);
    if (type === 'deal/created') totals.add(draft, event, plan.tables[type].size);
    if (omissions.length > 0) this.#writing.push(report.omitted(place, externalId, omissions));
    if (event.kind === 'invalid') {
      this.#builder.addInvalid(event);
      this.#writing.push(report.error({ place, type, externalId, issues, raw: row.raw }));
      return;
    }
    if (type === 'comment/created' && externalId === undefined) report.warning(NAMELESS, place);
    const { ordinal, state, changed, dropped } = this.#builder.add(event, row);
    if (changed) report.warning({ ...CHANGED, message: `${externalId} has changed since it was acknowledged` }, place);
    if (dropped) this.#writing.push(reportDropped(report, event));
    if (state === 'invalid') this.#writing.push(reportConflict(plan, report, { ...event, raw: row.raw }, ordinal));
    if (state === 'invalid' || state === 'duplicate') return;
    profiler.planned(event, ordinal);
    features?.event(draft, event, ordinal);
    if (matches && type === 'lead/created' && this.#looks(event)) matches.add(event, ordinal);
  }

  #looks({ entry }: Ready): boolean {
    return this.#job.compiled.entries[entry]!.policies.if_contact_exists !== 'ignore';
  }

  #warn(issues: readonly Issue[], place: Place): void {
    for (const issue of issues) if (issue.severity === 'warning') this.#job.report.warning(issue, place);
  }
}

/** The drafts that the entries create from a row; a promise only if an expression of the mapping is asynchronous. */
function draftsOf(row: Row, entries: readonly CompiledEntry[]): readonly Draft[] | Promise<readonly Draft[]> {
  const drafts: Draft[] = [];
  for (const entry of entries) {
    const mapped = entry.map(row);
    if (mapped instanceof Promise) return draftsLater(row, entries);
    drafts.push(...mapped);
  }
  return drafts;
}

async function draftsLater(row: Row, entries: readonly CompiledEntry[]): Promise<readonly Draft[]> {
  const drafts: Draft[] = [];
  for (const entry of entries) drafts.push(...(await entry.map(row)));
  return drafts;
}

const CHANGED = { severity: 'warning', kind: 'map', code: 'changed' } as const;

const NAMELESS: Issue = {
  severity: 'warning',
  kind: 'map',
  code: 'comment_without_id',
  message:
    'a comment without external_id cannot be corrected later: a changed version would be added as a second comment',
};
