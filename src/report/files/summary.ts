import type { Effect, Entity, EventCounts, EventType, Place } from '../../model.ts';
import type { ExcessOmission, OmittedCounts } from './omitted.ts';
import type { PilotCounts } from './pilot.ts';
import type { Rate } from '../../rate.ts';
import type { Profile } from './profile.ts';

export const REPORT_FILE = 'report.html';

/** So many different ones are listed. */
export const MOST_PRIORITIES = 100;

/** How far the events of one priority are. */
export interface PriorityCounts {
  readonly priority: number;
  /** Those that were or will be sent, and those that cannot be; not those that this run excludes. */
  readonly events: number;
  readonly acknowledged: number;
  /** ISO 8601: when the last of them was settled, or will be at this rate. Null if none was to be sent. */
  readonly done_at: string | null;
}

/** Selected events whose parents are neither acknowledged nor selected: by type, and by what they wait for. */
export type WaitingCounts = Readonly<Record<EventType, Readonly<Record<Entity, number>>>>;

/** Records to send that the service does not have as far as is known, by what became of them in earlier runs. */
export interface DueCounts {
  /** Not sent by any run yet. */
  readonly new: number;
  /** Sent without an answer so far. */
  readonly unanswered: number;
  readonly rejected: number;
}

/** What an export differs in from what earlier runs sent: numbers of records. */
export interface ChangeCounts extends DueCounts {
  readonly changed: number;
  /** Of the changed ones: only reported, because `if_changed` sends nothing for them. They are not read from the service. */
  readonly reported: number;
  /** Of the changed ones: with a field that the export has no longer, or a comment with another text. No policy sends that. */
  readonly not_sendable: number;
  /** Of the changed ones: edited in the service since, and of these, edited in a field that has changed in the export too. */
  readonly edited: number;
  readonly in_conflict: number;
  /** Of the changed ones: those with another parent, by kind; `to_new`: to one that no run has sent yet. */
  readonly moved: readonly {
    readonly record: Entity;
    readonly parent: Entity;
    readonly count: number;
    readonly to_new: number;
  }[];
  readonly gone: number;
  /** Neither gone nor there: a row that could not be read may be about them. */
  readonly unread: number;
  /** Fields that have changed in the export and that the service does not show. */
  readonly not_compared: readonly string[];
}

/** Why acknowledged records are not as the input says. */
export interface RecordDifference {
  /** What alone has changed since they were sent; null if it may be one or the other. */
  readonly by: 'export' | 'mapping' | 'worksheet' | null;
  /** The first of them, with the fields that differ. */
  readonly first: readonly (Pick<Place, 'file' | 'line' | 'record'> & { readonly fields: readonly string[] })[];
}

/** A count and an exact amount, in plain notation (`1200.50`), for each cell of the table of deals. */
type CellFigures = Readonly<Record<`${string}count`, number> & Record<`${string}amount`, string>>;

/** The deals of one group, by the names that they have in common. */
export type ControlTotal = CellFigures &
  Readonly<Record<`${'from_' | ''}${'pipeline' | 'stage' | 'owner'}` | 'currency', string | null>> & {
    readonly entity: Entity;
    /** Everything in the currency that has no group of its own. */
    readonly others?: true;
    /** How many have no amount here because it could not be read. */
    readonly unread_amounts: number;
    readonly differing: number;
    readonly unknown: number;
  };

/** What `--json` prints; without the profile, the document `summary` of the plan. */
export interface Summary {
  /** Empty if the survey could not start; then all counts are 0 and the reason is `not_started`. */
  readonly migration: string;
  readonly dry_run: boolean;
  readonly exit: { readonly code: number; readonly reason: string };
  readonly base_url: string | null;
  readonly started_at: string;
  readonly finished_at: string;
  /** read = mapped + skipped + unreadable. */
  readonly records: {
    readonly read: number;
    readonly mapped: number;
    readonly skipped: number;
    readonly unreadable: number;
  };
  /** `gone` is not part of the total; `changed` is part of `acknowledged`. */
  readonly events: EventCounts & { readonly gone: number; readonly changed: number };
  /** Whether the mapping has changed since the last run that sent. False before the first. */
  readonly mapping_changed: boolean;
  /** Only if acknowledged records are not as the input says. */
  readonly difference?: RecordDifference;
  /** Only if earlier runs sent something, and the service could be read. */
  readonly changes?: ChangeCounts;
  readonly by_type: Readonly<Record<EventType, EventCounts>>;
  readonly outcomes: Readonly<Record<Effect, number>>;
  readonly this_run: {
    readonly requests: number;
    readonly events_sent: number;
    /** Second requests about an event, as `if_exists` and `if_missing` want them. */
    readonly follow_ups: number;
    readonly retries: number;
    readonly rate_limited: number;
    readonly already_acknowledged: number;
    /** With --adopt: what the service says it had processed already. */
    readonly adopted: number;
    readonly seconds: number;
  };
  readonly errors_by_code: Readonly<Record<string, number>>;
  readonly warnings_by_code: Readonly<Record<string, number>>;
  /** Pending events that were selected, by type and by what they wait for. */
  readonly waiting: WaitingCounts;
  /** Rows that became no event (`left_out.csv`), by source and reason. */
  readonly skipped: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Values left out of events (`left_out.csv`), by type, field and reason. */
  readonly omitted: OmittedCounts;
  /** Of these, the fields of which more values would be left out than `--max-omitted` allows. */
  readonly over_max_omitted: readonly ExcessOmission[];
  /** The deals of the input by old and new stage, pipeline and owner, and by currency; the largest groups first. */
  readonly totals: readonly ControlTotal[];
  /** The profile of the input. Only in `--json`: it quotes cells. */
  readonly profile: Profile;
  /** What `--pilot` chose; null without it. */
  readonly pilot: PilotCounts | null;
  /** The highest first; at most `MOST_PRIORITIES` of them. */
  readonly priorities: readonly PriorityCounts[];
  /** The plan: its digest (null where there is none), and how many events of the input it has. */
  readonly plan: { readonly digest: string | null; readonly events: number };
  /** Time to send the pending events at the configured rate. */
  readonly estimate_seconds: number;
  readonly files: { readonly checkpoint: string | null; readonly errors: string; readonly report: string | null };
}

/** Findings of a survey that are not in the plan: the document `survey`. */
export interface SurveySnapshot {
  readonly migration: string;
  readonly base_url: string | null;
  readonly at: string;
  readonly records: Summary['records'];
  /** The configured rate: requests per window of seconds. */
  readonly rate: Rate;
  /** The options of the command that resumes it. */
  readonly options: readonly string[];
}

/** A summary as the plan keeps it, for `status` and the report: the profile quotes cells. */
export type StoredSummary = Omit<Summary, 'profile'>;
