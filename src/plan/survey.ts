import type { CompiledMapping } from '../mapping/mapping.ts';
import { EVENT_TYPES, type EventType, type Issue, type Place, type Ready, type Row } from '../model.ts';
import type { ErrorReport } from '../report/error-report.ts';
import type { Profile } from '../report/profile.ts';
import type { Source } from '../source/source.ts';
import { FirstDue } from './first-due.ts';
import type { Known, Plan } from './plan.ts';
import { Profiler } from './profile.ts';
import { readThrough, type Reader } from './read.ts';
import type { Resolver } from './resolve.ts';

/** read = mapped + skipped + unreadable; sources used only by lookups are not counted. */
export interface RecordCounts {
  read: number;
  mapped: number;
  skipped: number;
  unreadable: number;
}

/** What the survey found beyond the plan that it filled. */
export interface Survey {
  readonly records: RecordCounts;
  /** Unreadable records without those that only deserve a warning (a report's footer). */
  readonly unreadable: number;
  /** The first events of each type as they would go out. */
  readonly samples: ReadonlyMap<EventType, readonly Ready[]>;
  readonly profile: Profile;
  readonly firstDue: FirstDue;
}

const SAMPLES_PER_TYPE = 3;

/**
 * Reads the whole input once: maps, resolves and validates every record and enters every event into the plan. Sends
 * nothing. What is wrong with a record or an event goes to the report; what is wrong with a file as a whole is thrown.
 */
export async function survey(job: {
  readonly sources: ReadonlyMap<string, Source>;
  readonly eventSources: readonly string[];
  readonly compiled: CompiledMapping;
  readonly resolver: Resolver;
  readonly plan: Plan;
  readonly report: ErrorReport;
  readonly goesOn: () => boolean;
  /** The event types to send; the others stay pending. */
  readonly only: readonly EventType[];
}): Promise<Survey> {
  const { plan, report } = job;
  const records: RecordCounts = { read: 0, mapped: 0, skipped: 0, unreadable: 0 };
  const profiler = new Profiler(job);
  const samples = new Map<EventType, Ready[]>(EVENT_TYPES.map((type) => [type, []]));
  const firstDue = new FirstDue();
  let unreadable = 0;
  let writing: Promise<void>[] = [];

  const warn = (issues: readonly Issue[], place: Place): void => {
    for (const issue of issues) if (issue.severity === 'warning') report.warning(issue, place);
  };

  const plans = (event: Known, row: Row, whole: () => Ready): void => {
    const { ordinal, state, update, changed } = plan.add(event, whole);
    if (changed) {
      const message = `${event.externalId} has changed since it was acknowledged`;
      report.warning({ ...CHANGED, message }, row.place);
    }
    if ((state === 'ready' || state === 'retry') && firstDue.wants(event.type)) {
      firstDue.keep(event.type, { event: whole, ordinal, row, derived: false });
    }
    if (update && firstDue.wants(update.event.type)) {
      firstDue.keep(update.event.type, { event: itself(update.event), ordinal: update.ordinal, row, derived: true });
    }
    const shown = samples.get(event.type)!;
    if (shown.length < SAMPLES_PER_TYPE) shown.push(whole());
  };

  for (const name of job.eventSources) {
    const entries = job.compiled.entries.filter(({ source }) => source === name);
    const watch = profiler.watch(name);
    const reader: Reader = {
      goesOn: job.goesOn,
      item(item, events) {
        records.read += 1;
        if (item.kind === 'row') {
          watch.row(item);
          records[events > 0 ? 'mapped' : 'skipped'] += 1;
          warn(item.issues, item.place);
          return;
        }
        records.unreadable += 1;
        if (item.issue.severity === 'error') unreadable += 1;
        warn([item.issue], item.place);
        writing.push(report.error({ place: item.place, issues: [item.issue], raw: item.raw }));
      },
      event({ event, row }) {
        const { type, place, externalId, issues, omissions } = event;
        warn(issues, place);
        profiler.event(event, row);
        if (omissions.length > 0) writing.push(report.omitted(place, externalId, omissions));
        if (event.kind === 'invalid') {
          plan.addInvalid(event);
          writing.push(report.error({ place, type, externalId, issues, raw: row.raw }));
          return;
        }
        if (event.type === 'comment/created' && externalId === undefined) report.warning(NAMELESS, place);
        plans(event, row, itself(event));
      },
      async batch() {
        await Promise.all(writing);
        writing = [];
      },
    };
    const source = job.sources.get(name)!;
    await readThrough(source, entries, job.resolver, reader);
  }
  plan.link(job.only);
  return { records, unreadable, samples, profile: profiler.finish(plan), firstDue };
}

/** For keeping: a function made within the survey would hold on to all of it. */
function itself(event: Ready): () => Ready {
  return () => event;
}

const CHANGED = { severity: 'warning', kind: 'map', code: 'changed' } as const;

const NAMELESS: Issue = {
  severity: 'warning',
  kind: 'map',
  code: 'comment_without_id',
  message: 'a comment without external_id cannot be corrected later: sending it changed would add a second one',
};
