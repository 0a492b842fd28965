import type { CompiledMapping } from '../mapping/mapping.ts';
import { EVENT_TYPES, type Invalid, type Issue, type Ready, type Row } from '../model.ts';
import {
  BARE,
  bareText,
  columnText,
  damageText,
  datesText,
  noticeText,
  sharedText,
  type BareCode,
  type Profile,
  type UncoveredValue,
} from '../report/profile.ts';
import type { Source } from '../source/source.ts';
import type { Plan } from './plan.ts';
import { SharedValues } from './shared-values.ts';
import { watchSource, type SourceWatch } from './profile-source.ts';

/** Maximum number of unresolved names that are kept; further names are not counted. */
const MOST_UNCOVERED = 500;

const UNCOVERED = /^(?:unresolved_|ambiguous_(?:stage|owner|pipeline)|not_mapped$)/;

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
  readonly #bare = new Map<BareCode, Tally>();
  /** Leads and deals that the plan has accepted. */
  readonly #created = { lead: 0, deal: 0 };
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
      for (const { field, original, code, reason } of event.omissions) {
        if (code === 'not_mapped') this.#countUncovered({ code, field, message: reason });
        if (/^\d{5}$/.test(original)) this.watch(row.place.source).serialDate(field, row);
      }
    }
  }

  /** Takes an event that the plan has accepted, other than a duplicate: notes what its record lacks or shares with others. */
  planned({ type, data, externalId = '' }: Ready, ordinal: number): void {
    if (type === 'lead/created') {
      this.#created.lead += 1;
      const { full_name: name, email, phone_number: phone } = data;
      if (typeof email === 'string') this.#contacts.email.add(email, ordinal);
      if (typeof phone === 'string') this.#contacts.phone_number.add(phone, ordinal);
      if (name === undefined && email === undefined && phone === undefined) {
        this.#countBare('lead_without_contact', externalId);
      }
    }
    if (type !== 'deal/created') return;
    this.#created.deal += 1;
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

  #countBare(code: BareCode, externalId: string): void {
    const known = this.#bare.get(code);
    if (known) known.count += 1;
    else this.#bare.set(code, { count: 1, externalId });
  }

  /** Call it at the end of the survey. Everything noticed is also counted among the report's warnings. */
  finish(plan: Plan): Profile {
    const profile: Profile = {
      sources: Object.fromEntries([...this.#watches].map(([name, watch]) => [name, watch.profile()])),
      uncovered: [...this.#uncovered.values()].sort((a, b) => b.count - a.count),
      duplicates: Object.fromEntries(
        EVENT_TYPES.map((type) => [type, plan.tables[type].counts.duplicate] as const).filter(([, count]) => count > 0),
      ),
      shared: Object.entries(this.#contacts).flatMap(([field, values]) => {
        const { count, ordinal } = values.count();
        if (ordinal === undefined) return [];
        return [{ field, count, external_id: plan.read('lead/created', ordinal).externalId ?? '' }];
      }),
      bare: [...this.#bare].map(([code, { count, externalId }]) => ({
        code,
        count,
        of: this.#created[code === 'lead_without_contact' ? 'lead' : 'deal'],
        unset: !this.#reads(code),
        external_id: externalId,
      })),
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
    for (const source of sources.values()) for (const notice of source.notices()) warn(notice.code, noticeText(notice));
    for (const note of profile.bare) warn(note.code, bareText(note), note.count);
    for (const note of profile.shared) warn(`shared_${note.field}`, sharedText(note), note.count);
    const all = Object.values(profile.sources);
    const empty = all.flatMap(({ never_a_value: notes }) => notes.map(columnText));
    warn('never_a_value', `no record has a value in ${empty.join(', ')}`, empty.length);
    for (const { damage, dates } of all) {
      for (const note of damage) warn(note.kind, damageText(note), note.count);
      for (const note of dates) warn(`dates_read_${note.kind === 'either' ? 'either_way' : 'mixed'}`, datesText(note));
    }
  }

  /** Whether the mapping reads a value for one of the fields that these events lack. */
  #reads(code: BareCode): boolean {
    const type = code === 'lead_without_contact' ? 'lead/created' : 'deal/created';
    const fields: readonly string[] = BARE[code].fields;
    const entries = this.#job.compiled.entries.filter((entry) => entry.type === type);
    return entries.some(({ uses }) => uses.some(({ field }) => fields.includes(field)));
  }
}
