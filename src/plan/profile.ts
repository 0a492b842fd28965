import type { CompiledMapping } from '../mapping/mapping.ts';
import { EVENT_TYPES, type EventType, type Invalid, type Issue, type Ready, type Row } from '../model.ts';
import type { Profile, UncoveredValue } from '../report/profile.ts';
import type { Source } from '../source/source.ts';
import type { Plan } from './plan.ts';
import { SharedValues } from './shared-values.ts';
import { watchSource, type SourceWatch } from './profile-source.ts';

/** Maximum number of unresolved names that are kept; further names are not counted. */
const MOST_UNCOVERED = 500;

const UNCOVERED = /^(?:unresolved_|ambiguous_(?:stage|owner|pipeline)|not_mapped$)/;

/** A custom field's value that is not in its `map` is omitted; only the reason of the omission shows why. */
const NOT_IN_MAP = /is not in the map$/;

/** Counted like every other warning of the survey. */
export interface WarningSink {
  warning(issue: Issue): void;
}

interface Tally {
  count: number;
  readonly externalId: string;
}

/**
 * Collects, during the survey, statistics about the input as a whole. It keeps counts and a few examples, never the values
 * of personal fields. Its memory grows with the input only by one hash per e-mail address and phone number.
 */
export class Profiler {
  readonly #job: {
    readonly sources: ReadonlyMap<string, Source>;
    readonly compiled: CompiledMapping;
    readonly report: WarningSink;
  };
  readonly #watches = new Map<string, SourceWatch>();
  readonly #uncovered = new Map<string, UncoveredValue & { count: number }>();
  readonly #omitted = new Map<string, { type: EventType; field: string; count: number }>();
  readonly #bare = new Map<string, Tally>();
  readonly #contacts = { email: new SharedValues(), phone_number: new SharedValues() };

  constructor(job: {
    readonly sources: ReadonlyMap<string, Source>;
    readonly eventSources: readonly string[];
    readonly compiled: CompiledMapping;
    readonly report: WarningSink;
  }) {
    this.#job = job;
    for (const name of job.eventSources) {
      const entries = job.compiled.entries.filter(({ source }) => source === name);
      this.#watches.set(
        name,
        watchSource(job.sources.get(name)!, entries, job.compiled.lookedUp.get(name) ?? new Set()),
      );
    }
  }

  /** The statistics of one source. */
  watch(source: string): SourceWatch {
    return this.#watches.get(source)!;
  }

  event(event: Ready | Invalid, row: Row): void {
    if (event.issues.length > 0) for (const issue of event.issues) this.#issue(issue, row);
    if (event.omissions.length > 0) {
      for (const { field, original, reason } of event.omissions) {
        this.#countOmission(event.type, field);
        if (NOT_IN_MAP.test(reason)) this.#countUncovered({ code: 'not_mapped', field, message: reason });
        if (/^\d{5}$/.test(original)) this.watch(row.place.source).serialDate(field, row);
      }
    }
  }

  /** Takes an event that the plan has accepted, other than a duplicate: notes what its record lacks or shares with others. */
  planned({ type, data, externalId = '' }: Ready, ordinal: number): void {
    if (type === 'lead/created') {
      const { full_name: name, email, phone_number: phone } = data;
      if (typeof email === 'string') this.#contacts.email.add(email, ordinal);
      if (typeof phone === 'string') this.#contacts.phone_number.add(phone, ordinal);
      if (name === undefined && email === undefined && phone === undefined) {
        this.#countBare('lead_without_contact', externalId);
      }
    }
    if (type !== 'deal/created') return;
    if (data.lead_external_id === undefined) this.#countBare('deal_without_lead', externalId);
    if (data.stage_id === undefined && data.stage_name === undefined) this.#countBare('deal_without_stage', externalId);
  }

  #issue(issue: Issue, row: Row): void {
    if (issue.code === 'bad_date') this.watch(row.place.source).serialDate(issue.field ?? '', row);
    if (UNCOVERED.test(issue.code)) this.#countUncovered(issue);
  }

  #countUncovered({ code, field = '', message, hint }: Pick<Issue, 'code' | 'field' | 'message' | 'hint'>): void {
    const key = `${field}\0${message}`;
    const known = this.#uncovered.get(key);
    if (known) known.count += 1;
    else if (this.#uncovered.size < MOST_UNCOVERED) {
      this.#uncovered.set(key, { code, field, message, ...(hint === undefined ? {} : { hint }), count: 1 });
    }
  }

  #countOmission(type: EventType, field: string): void {
    const key = `${type}\0${field}`;
    const known = this.#omitted.get(key);
    if (known) known.count += 1;
    else this.#omitted.set(key, { type, field, count: 1 });
  }

  #countBare(code: string, externalId: string): void {
    const known = this.#bare.get(code);
    if (known) known.count += 1;
    else this.#bare.set(code, { count: 1, externalId });
  }

  /** Call it at the end of the survey. Everything noticed is also counted among the report's warnings. */
  finish(plan: Plan): Profile {
    const profile: Profile = {
      sources: Object.fromEntries([...this.#watches].map(([name, watch]) => [name, watch.profile()])),
      uncovered: [...this.#uncovered.values()].sort((a, b) => b.count - a.count),
      omitted: [...this.#omitted.values()],
      duplicates: Object.fromEntries(
        EVENT_TYPES.map((type) => [type, plan.tables[type].counts.duplicate] as const).filter(([, count]) => count > 0),
      ),
      shared: Object.entries(this.#contacts).flatMap(([field, values]) => {
        const { count, ordinal } = values.count();
        if (ordinal === undefined) return [];
        return [{ field, count, external_id: plan.read('lead/created', ordinal).externalId ?? '' }];
      }),
      bare: [...this.#bare].map(([code, { count, externalId }]) => ({ code, count, external_id: externalId })),
    };
    this.#warn(profile);
    return profile;
  }

  #warn(profile: Profile): void {
    const { report, compiled, sources } = this.#job;
    const warn = (code: string, message: string, times = 1): void => {
      for (let time = 0; time < times; time += 1) report.warning({ severity: 'warning', kind: 'map', code, message });
    };
    for (const { code, message } of compiled.warnings) warn(code, message);
    for (const source of sources.values()) for (const { code, message } of source.notices()) warn(code, message);
    for (const { code, count } of profile.bare) warn(code, code, count);
    for (const { field, count } of profile.shared) warn(`shared_${field}`, field, count);
    for (const source of Object.values(profile.sources)) {
      for (const { column } of source.never_a_value) warn('never_a_value', column);
      for (const { kind, column, count } of source.damage) warn(kind, column, count);
      for (const { kind, column } of source.dates)
        warn(`dates_read_${kind === 'either' ? 'either_way' : 'mixed'}`, column);
    }
  }
}
