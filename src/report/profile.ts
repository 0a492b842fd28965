import { EVENT_TYPES, type EventType } from '../model.ts';
import type { SourceNotice } from '../source/source.ts';

/** What the survey saw of one column or path that the mapping reads. */
export interface ColumnNote {
  /** The column's name, or the path in a JSON record. */
  readonly column: string;
  /** The fields that read it: `stage_name`, `custom_params.origin`, `when`, … */
  readonly fields: readonly string[];
}

/** The values of a column that decides something (a stage, an owner, a condition, …), with how often each occurs. */
export interface ValuesNote extends ColumnNote {
  readonly values: Readonly<Record<string, number>>;
}

export const DAMAGES = ['scientific', 'spreadsheet_error', 'replacement_character', 'serial_date'] as const;
export type Damage = (typeof DAMAGES)[number];

/** Cells that something between the CRM and here has damaged. */
export interface DamageNote extends ColumnNote {
  readonly kind: Damage;
  readonly count: number;
  readonly example: string;
  readonly file: string;
  /** Line of the example. */
  readonly line: number;
}

/**
 * `either`: every date of the column can be read as day/month and as month/day. `mixed`: some can only be the one, some
 * only the other.
 */
export interface AmbiguousDateNote extends ColumnNote {
  readonly kind: 'either' | 'mixed';
  readonly count: number;
  readonly example: string;
}

export interface SourceProfile {
  readonly description: string;
  readonly records: number;
  /** Columns, or paths in the first records of a JSON source, that no event reads. */
  readonly unused: readonly string[];
  /** What the mapping reads and no record has. */
  readonly never_a_value: readonly ColumnNote[];
  readonly values: readonly ValuesNote[];
  readonly damage: readonly DamageNote[];
  readonly dates: readonly AmbiguousDateNote[];
  readonly notices: readonly SourceNotice[];
}

/** A name or value that no `map`, stage or owner covers; the message names it, the hint what is near. */
export interface UncoveredValue {
  readonly code: string;
  readonly field: string;
  readonly message: string;
  readonly hint?: string;
  readonly count: number;
}

/** What the survey noticed of the input as a whole, beside what is wrong with single records. */
export interface Profile {
  readonly sources: Readonly<Record<string, SourceProfile>>;
  readonly uncovered: readonly UncoveredValue[];
  /** Values that were left out because they could not be read. */
  readonly omitted: readonly { readonly type: EventType; readonly field: string; readonly count: number }[];
  readonly duplicates: Readonly<Partial<Record<EventType, number>>>;
  /** Leads that share an e-mail address or phone number with a lead of another id, and one of them. */
  readonly shared: readonly { readonly field: string; readonly count: number; readonly external_id: string }[];
  /** Events without what one would expect: a lead without name, e-mail and phone, a deal without lead or stage. */
  readonly bare: readonly { readonly code: string; readonly count: number; readonly external_id: string }[];
}

const DAMAGE_TEXT: Readonly<Record<Damage, string>> = {
  scientific: 'a spreadsheet has cut digits off: export again, and do not open the file in between',
  spreadsheet_error: 'a spreadsheet has put an error in place of a value: export again',
  replacement_character: 'characters were lost when the file was written in another encoding: export again as UTF-8',
  serial_date: 'a spreadsheet has turned dates into serial numbers: export again, or format the column as text',
};

const BARE_TEXT: Readonly<Record<string, string>> = {
  lead_without_contact: 'leads without name, e-mail and phone number',
  deal_without_lead: 'deals without a lead',
  deal_without_stage: "deals without a stage, which enter the first one of the account's default pipeline",
};

/** The profile for a terminal: what a person should look at before anything is sent. Empty parts are left out. */
export function profileText(profile: Profile): string {
  const sources = Object.entries(profile.sources).map(([name, source]) => sourceText(name, source));
  const across = acrossText(profile);
  return [...sources, ...(across.length > 0 ? [`all sources\n${indented(across)}`] : [])].join('\n\n');
}

function sourceText(name: string, source: SourceProfile): string {
  const lines = [
    ...source.notices.map(({ message, file, line }) => `${line === undefined ? file : `${file}:${line}`}: ${message}`),
    ...(source.unused.length > 0 ? [`not used: ${listed(source.unused)}`] : []),
    ...source.never_a_value.map((note) => `never a value: ${columnText(note)}`),
    ...source.values.map((note) => `${columnText(note)}: ${valuesText(note.values)}`),
    ...source.damage.map(
      (note) =>
        `${columnText(note)}: ${counted(note.count, 'cell')} like \`${note.example}\` (${note.file}:${note.line}); ` +
        DAMAGE_TEXT[note.kind],
    ),
    ...source.dates.map((note) => `${columnText(note)}: ${dateText(note)}`),
  ];
  return `${name} (${source.description}), ${counted(source.records, 'record')}\n${indented(lines)}`.trimEnd();
}

function acrossText(profile: Profile): string[] {
  return [
    ...profile.uncovered.map(
      ({ field, message, hint, count }) =>
        `${field}: ${message}, in ${counted(count, 'event')}${hint ? ` (${hint})` : ''}`,
    ),
    ...profile.omitted.map(
      ({ type, field, count }) => `${type} ${field}: ${counted(count, 'value')} left out as unreadable (omitted.csv)`,
    ),
    ...EVENT_TYPES.flatMap((type) => {
      const count = profile.duplicates[type];
      return count ? [`${type}: ${counted(count, 'duplicate')}`] : [];
    }),
    ...profile.shared.map(
      ({ field, count, external_id: id }) =>
        `leads with the ${field} of a lead of another id: ${count}${id === '' ? '' : `, such as \`${id}\``}`,
    ),
    ...profile.bare.map(
      ({ code, count, external_id: id }) => `${BARE_TEXT[code] ?? code}: ${count}, such as \`${id}\``,
    ),
  ];
}

function dateText({ kind, count, example }: AmbiguousDateNote): string {
  if (kind === 'mixed') return `some dates have the day first and some the month, such as \`${example}\``;
  return `all ${count} dates can be read as day/month and as month/day, such as \`${example}\`: check the format`;
}

function columnText({ column, fields }: ColumnNote): string {
  return `\`${column}\` (${fields.join(', ')})`;
}

function valuesText(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .sort((a, b) => b[1] - a[1])
    .map(([value, count]) => `${value} ${count}`)
    .join(', ');
}

const MOST_LISTED = 30;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).map((name) => `\`${name}\``);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
