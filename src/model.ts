/**
 * The glossary of this program, and the types of the data on its way through it:
 *
 *     row -> draft -> ready -> (plan.db) -> planned -> outcome
 *
 * - **source**: one export (a file, or several parts of one) under the name that the mapping gives it.
 * - **record**, **row**: one entry of a source as it was read, and its place in the file.
 * - **mapping**: the file that says which events the records become. **entry**: one item of its `events` list.
 * - **draft**: an event as mapped: names of stages and owners not yet resolved, with the issues found so far.
 * - **ready**: a validated event with its references resolved: exactly what would be sent.
 * - **plan**: every event of the input, exactly as it would be sent, in `plan.db`.
 * - **planned**: an event as read back from the plan.
 * - **survey**: the single pass over the whole input that writes the plan. Nothing is sent before it has finished.
 * - **issue**: something wrong with one record or event (a *problem* concerns the mapping or the input as a whole).
 * - **outcome**: the result for an event: acknowledged, duplicate, invalid, rejected, blocked or pending.
 * - **external id**: the record's id in the old CRM; the service identifies the record by it.
 * - **request**: one HTTP request about an event. It is *applied* (acknowledged), *refused* (it had no effect), or *open*.
 * - **checkpoint**: the requests of all runs, in `checkpoint.db`.
 */
import type { JsonObject } from './json.ts';
import type { Problem } from './problem.ts';

/** A kind of record by its name: `lead` (see `kinds/`). */
export type Entity = string;
/** `lead/created` */
export type EventType = `${Entity}/${'created' | 'updated'}`;

/** The range of priorities; higher goes first. `usual`: the priority of an event that neither has one nor depends on one that has. */
export const PRIORITIES = { lowest: -2_000_000_000, usual: 0, highest: 2_000_000_000 } as const;

/** Where a record was read. `line` is its first line in `file` (0 if it has no line number); `record` counts from 1 in each file. */
export interface Place {
  readonly source: string;
  readonly file: string;
  readonly line: number;
  readonly record: number;
  /** In a sheet: the letter of each column of the source. */
  readonly letters?: readonly string[];
}

/** The place of a cell, or of the first one of its record: in a sheet, `file` has it (`crm.xlsx#Deals!C17`). */
export function cellPlace(place: Place, column = 0): Pick<Place, 'file' | 'line'> {
  const { file, line, letters } = place;
  return letters ? { file: `${file}!${letters[column] ?? letters[0] ?? 'A'}${line}`, line } : place;
}

/** `contacts.csv:17`, `crm.xlsx#Deals!C17`; the number of the record if there is no line number. */
export function placeText({ file, line, record }: Omit<Place, 'source' | 'letters'>): string {
  if (/#.*![A-Z]{1,3}\d+$/.test(file)) return file;
  return line > 0 ? `${file}:${line}` : `${file} record ${record}`;
}

/** A record as read: the cells in the order of the source's columns, or a JSON object whose numbers keep their digits. */
export type RawRecord = readonly string[] | JsonObject;

/** A record, and its JSON text where the reader has it on one line. */
export interface RecordText {
  readonly raw: RawRecord;
  readonly text?: string;
  /** Of a sheet: the columns whose cell is a number with decimals, not a text that looks like one. */
  readonly decimals?: readonly number[];
}

export interface Row extends RecordText {
  readonly kind: 'row';
  readonly place: Place;
  /** What the reader noticed without rejecting the record: `short_row`, … */
  readonly issues: readonly Problem[];
  /** Of a corrected record: what stood there before. */
  readonly corrects?: Corrected;
}

/** A record as the export has it, in whose place a corrected one is read. */
export interface Corrected {
  /** What names it in `_row`. */
  readonly row: string;
  readonly raw: RawRecord;
  readonly place: Place;
}

/** A record that could not be read, with what could be salvaged for the rejects file; it travels the same way as a row. */
interface Unreadable extends Partial<RecordText> {
  readonly kind: 'unreadable';
  readonly place: Place;
  readonly issue: Problem;
}

export type ReadItem = Row | Unreadable;

/**
 * The state of an event. Only the judging steps of the survey and the sender set it.
 * - `ready`: to be sent. `retry`: rejected by an earlier run and unchanged since, so tried last.
 * - `held`: not selected by `--pilot`, `--pick` or `--only`. `waiting`: selected, but its parent is held or waiting.
 * - The other states are outcomes.
 */
export type State =
  'ready' | 'retry' | 'held' | 'waiting' | 'acknowledged' | 'duplicate' | 'invalid' | 'rejected' | 'blocked';

/** What events are counted as, in JSON; the view `events` has `duplicate` for one. Together they are the total. */
export const OUTCOMES = ['acknowledged', 'duplicates', 'invalid', 'rejected', 'blocked', 'pending'] as const;
export type Outcome = (typeof OUTCOMES)[number];
export type EventCounts = Record<Outcome | 'total', number>;

/** The one vocabulary of states: what an event in each is called. On screens and pages, pending ones are in two columns. */
const STATES = {
  ready: ['pending', 'to send'],
  held: ['pending', 'later'],
  waiting: ['pending', 'later'],
  retry: ['rejected', 'rejected'],
  acknowledged: ['acknowledged', 'acknowledged'],
  duplicate: ['duplicates', 'duplicate'],
  invalid: ['invalid', 'invalid'],
  rejected: ['rejected', 'rejected'],
  blocked: ['blocked', 'blocked'],
} as const satisfies Readonly<Record<State, readonly [outcome: Outcome, column: string]>>;

export function outcomeOf(state: State): Outcome {
  return STATES[state][0];
}

/** In the order in which screens and pages have them. */
export const STATE_COLUMNS = [
  'acknowledged',
  'to send',
  'later',
  'duplicate',
  'invalid',
  'rejected',
  'blocked',
] as const;
export type StateColumn = (typeof STATE_COLUMNS)[number];

export function columnOf(state: State): StateColumn {
  return STATES[state][1];
}

/** The word for the state of an event `e`, in SQL. */
export const STATE_IN_SQL = `case e.state ${Object.entries(STATES)
  .filter(([state, [outcome]]) => state !== outcome.replace(/s$/, ''))
  .map(([state, [outcome]]) => `when '${state}' then '${outcome}'`)
  .join(' ')} else e.state end`;

/** An event at any stage before it is in the plan. */
interface Mapped {
  readonly type: EventType;
  /** Index of the mapping's entry. */
  readonly entry: number;
  readonly place: Place;
  /** Errors make the event invalid; warnings are counted. */
  readonly issues: readonly Problem[];
  readonly omissions: readonly Problem[];
}

/** An event with its content. Fields without a value are absent. */
interface Filled extends Mapped {
  readonly data: JsonObject;
  /** ISO 8601 with an offset. */
  readonly occurredAt?: string | undefined;
  /** Undefined where the entry sets none. */
  readonly priority?: number | undefined;
  /** For a comment that is combined with others: the heading above its text; may be empty. */
  readonly heading?: string | undefined;
}

/** Its fields as mapped: `stage_name` and `owner_name` contain names from the old CRM. */
export interface Draft extends Filled {
  readonly kind: 'draft';
  /** The old name of the pipeline in which `stage_name` is looked up. */
  readonly stagePipeline?: string;
}

export interface ParentRef {
  readonly entity: Entity;
  readonly externalId: string;
}

/** An event as it would be sent (only documented fields, references as UUIDs, validated). Its issues are warnings. */
export interface Ready extends Filled {
  readonly kind: 'ready';
  /** Absent only for comments without an id in the old CRM. */
  readonly externalId?: string | undefined;
  readonly parent?: ParentRef | undefined;
  /** The canonical JSON of `data`, made once because the size, ids and hashes are all computed from it. */
  readonly content: string;
  /** The hash of type and content (`contentSha`), by which runs recognise what they sent. */
  readonly sha: string;
}

/** An event that cannot be sent: at least one of its issues is an error. */
export interface Invalid extends Mapped {
  readonly kind: 'invalid';
  readonly externalId?: string | undefined;
  readonly parent?: ParentRef | undefined;
}

/** What the service did with an acknowledged event (service interface, section 2.7). */
export type Effect = 'created' | 'updated' | 'none';

/** While it is being put together. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };
