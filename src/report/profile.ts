import type { EventType } from '../model.ts';
import type { SourceNotice } from '../source/source.ts';
import { counted, numberText } from '../terminal/numbers.ts';
import { adviceFor, inSentence } from './advice.ts';
import { oneLine } from '../terminal/visible.ts';

/** A column or path that the mapping reads. */
export interface ColumnNote {
  /** The column's name, or the path in a JSON record. */
  readonly column: string;
  /** The fields that read it: `stage_name`, `custom_params.origin`, `when`, … */
  readonly fields: readonly string[];
}

/** The values of a column used for a decision (a stage, an owner, a condition, …), with the count of each. */
export interface ValuesNote extends ColumnNote {
  readonly values: Readonly<Record<string, number>>;
}

export const DAMAGES = [
  'scientific',
  'spreadsheet_error',
  'replacement_character',
  'serial_date',
  'rounded_id',
  'leading_zeros_lost',
  'day_month_exchanged',
  'wrong_encoding',
  'html_entities',
] as const;
export type Damage = (typeof DAMAGES)[number];

/** Cells damaged since they were exported, typically by a spreadsheet. */
export interface DamageNote extends ColumnNote {
  readonly kind: Damage;
  readonly count: number;
  /** Cells of the column that have a value. */
  readonly of: number;
  readonly example: string;
  readonly file: string;
  /** Line of the example. */
  readonly line: number;
}

/**
 * `either`: every date of the column is valid both as day/month and as month/day. `mixed`: some are valid only as one,
 * some only as the other.
 */
export interface AmbiguousDateNote extends ColumnNote {
  readonly kind: 'either' | 'mixed';
  readonly count: number;
  readonly example: string;
}

export interface SourceProfile {
  readonly description: string;
  readonly records: number;
  /** Columns, or paths of a JSON source that have a value, that no event reads: how many values each has. */
  readonly unused: Readonly<Record<string, number>>;
  /** What the mapping reads but no record has a value for. */
  readonly never_a_value: readonly ColumnNote[];
  /** Columns with values of which the mapping only makes decisions; their `fields` are what they decide. */
  readonly not_carried: readonly ColumnNote[];
  readonly values: readonly ValuesNote[];
  readonly damage: readonly DamageNote[];
  readonly dates: readonly AmbiguousDateNote[];
  readonly notices: readonly SourceNotice[];
}

/** A name or value that no `map`, stage or owner covers. The hint has the closest matches. */
export interface UncoveredValue {
  readonly code: string;
  readonly field: string;
  readonly message: string;
  readonly hint?: string;
  readonly count: number;
}

/** Findings about the input as a whole, as opposed to issues of single records. */
export interface Profile {
  readonly sources: Readonly<Record<string, SourceProfile>>;
  readonly uncovered: readonly UncoveredValue[];
  readonly duplicates: Readonly<Partial<Record<EventType, number>>>;
  /** Number of leads that share an e-mail address or phone number with another lead, and an example. */
  readonly shared: readonly SharedNote[];
  /** Events that lack expected data: a lead without name, e-mail and phone, a deal without lead or stage. */
  readonly bare: readonly BareNote[];
}

export interface SharedNote {
  readonly field: string;
  readonly count: number;
  readonly external_id: string;
}

export interface BareNote {
  readonly code: BareCode;
  readonly count: number;
  /** All events of that type. */
  readonly of: number;
  /** Whether the mapping sets none of the fields. */
  readonly unset: boolean;
  /** Of an example. */
  readonly external_id: string;
}

export interface Bare {
  readonly type: EventType;
  readonly fields: readonly string[];
  /** Whether an event of the plan lacks them, in SQL over its `data`. */
  readonly lacks: string;
  /** Where some such events are usual: whether as many are worth a warning. `reads`: whether the mapping reads the field from the input. */
  readonly isSaid?: (note: BareNote, reads: (field: string) => boolean) => boolean;
  /** Where none of the events has any of them, and where some have not. */
  readonly none: string;
  readonly some: string;
}

/** More than four of five. */
function areMost({ count, of }: BareNote): boolean {
  return count * 5 > of * 4;
}

/** Fields without which an event is probably not what was meant. */
export const BARE = {
  lead_without_contact: {
    type: 'lead/created',
    fields: ['full_name', 'email', 'phone_number'],
    lacks: `data ->> 'full_name' is null and data ->> 'email' is null and data ->> 'phone_number' is null`,
    none: 'no lead has a name, e-mail address or phone number',
    some: 'leads without a name, e-mail address or phone number',
  },
  lead_without_name: {
    type: 'lead/created',
    fields: ['full_name'],
    lacks: `data ->> 'full_name' is null and (data ->> 'email' is not null or data ->> 'phone_number' is not null)`,
    none: 'no lead has a name',
    some: 'leads without a name',
  },
  deal_without_title: {
    type: 'deal/created',
    fields: ['title'],
    lacks: `data ->> 'title' is null`,
    none: 'no deal has a title',
    some: 'deals without a title',
  },
  deal_without_amount: {
    type: 'deal/created',
    fields: ['amount'],
    lacks: `data ->> 'amount' is null and data ->> 'currency' is null`,
    isSaid: areMost,
    none: 'no deal has an amount',
    some: 'deals without an amount',
  },
  currency_without_amount: {
    type: 'deal/created',
    fields: ['amount'],
    lacks: `data ->> 'amount' is null and data ->> 'currency' is not null`,
    isSaid: (note, reads) => reads('currency') || areMost(note),
    none: 'no deal has an amount beside its currency',
    some: 'deals with a currency, but without an amount',
  },
  amount_without_currency: {
    type: 'deal/created',
    fields: ['currency'],
    lacks: `data ->> 'amount' is not null and data ->> 'currency' is null`,
    none: 'no deal has a currency beside its amount',
    some: 'deals with an amount, but without a currency',
  },
  deal_without_lead: {
    type: 'deal/created',
    fields: ['lead_external_id'],
    lacks: `data ->> 'lead_external_id' is null`,
    none: 'no deal is tied to a lead',
    some: 'deals that are not tied to a lead',
  },
  deal_without_stage: {
    type: 'deal/created',
    fields: ['stage_name', 'stage_id'],
    lacks: `data ->> 'stage_id' is null and data ->> 'stage_name' is null`,
    none: "no deal has a stage, so all are created in the first stage of the account's default pipeline",
    some: "deals without a stage, which are created in the first stage of the account's default pipeline",
  },
} as const satisfies Readonly<Record<string, Bare>>;

export type BareCode = keyof typeof BARE;

export const BARE_CODES = Object.keys(BARE) as readonly BareCode[];

/** `no deal is tied to a lead: the mapping sets no lead_external_id`, or how many are not. */
export function bareText({ code, count, of, unset, external_id: id }: BareNote): string {
  const { fields, none, some } = BARE[code];
  if (count < of) return `${some}: ${numberText(count)} of ${numberText(of)}, such as \`${id}\``;
  const names = fields.map((field) => `\`${field}\``).join(' or ');
  return `${none}: ${unset ? `the mapping sets no ${names}` : `no record has a value for ${names}`}`;
}

/** `leads with the same email as another lead: 2, such as 4711`. */
export function sharedText({ field, count, external_id: id }: SharedNote): string {
  return `leads with the same ${field} as another lead: ${numberText(count)}${id === '' ? '' : `, such as \`${id}\``}`;
}

/** The warning about it has the hint of its code. */
export function damageText(note: DamageNote): string {
  const { count, of, example, file, line, kind } = note;
  const cells = `${numberText(count)} of ${counted(of, 'cell')}, such as \`${example}\` (${file}:${line})`;
  return `${columnText(note)}: ${cells}; ${inSentence(adviceFor(kind, undefined).what)}`;
}

/** Whether the dates of a column are day/month or month/day is unclear. */
export function datesText(note: AmbiguousDateNote): string {
  const { kind, count, example } = note;
  const unclear =
    kind === 'mixed'
      ? `some dates are day/month and some are month/day, such as \`${example}\``
      : `all ${numberText(count)} dates are valid both as day/month and as month/day, such as \`${example}\`: check the format`;
  return `${columnText(note)}: ${unclear}`;
}

export function noticeText({ file, line, message }: SourceNotice): string {
  return `${line === undefined ? file : `${file}:${line}`}: ${message}`;
}

/** `` `Fax` (custom_params.fax) `` */
export function columnText({ column, fields }: ColumnNote): string {
  return `\`${column}\` (${fields.join(', ')})`;
}

/** What is in each source, as text. What is wrong with several of them is among the errors and warnings. */
export function profileText(profile: Profile): string {
  return Object.entries(profile.sources)
    .map(([name, source]) => sourceText(name, source))
    .join('\n\n');
}

function sourceText(name: string, source: SourceProfile): string {
  const unused = Object.keys(source.unused);
  const lines = [
    ...source.notices.map(noticeText),
    ...(unused.length > 0 ? [`not used: ${listed(unused)}`] : []),
    ...source.never_a_value.map((note) => `always empty: ${columnText(note)}`),
    ...source.values.map((note) => `${columnText(note)}: ${valuesText(note.values)}`),
    ...source.damage.map(damageText),
    ...source.dates.map(datesText),
  ];
  return `${name} (${source.description}), ${counted(source.records, 'record')}\n${indented(lines)}`.trimEnd();
}

function valuesText(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .sort((a, b) => b[1] - a[1])
    .map(([value, count]) => `${value} ${numberText(count)}`)
    .join(', ');
}

const MAX_LISTED = 30;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map((name) => `\`${name}\``);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${oneLine(line)}`).join('\n');
}
