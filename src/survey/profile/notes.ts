import { KINDS, type UsualFields } from '../../kinds/index.ts';
import type { EventType } from '../../model.ts';
import type { BARE_WARNINGS, DAMAGE_WARNINGS } from '../../report/words/input.ts';
import type { Problem } from '../../problem.ts';

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

export type Damage = keyof typeof DAMAGE_WARNINGS;

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

/** Every separator of a column stands before exactly three digits. */
export interface AmbiguousNumberNote extends ColumnNote {
  readonly count: number;
  readonly example: string;
  /** The total, if the separators group thousands, and if decimals follow them. */
  readonly grouped: string;
  readonly decimal: string;
}

export interface SourceProfile {
  readonly description: string;
  readonly records: number;
  /** Columns, or paths of a JSON source that have a value, that no event reads: how many values each has. */
  readonly unused: Readonly<Record<string, number>>;
  /** Paths without a value in whole files of the source. */
  readonly lacking: readonly (ColumnNote & { readonly files: readonly string[] })[];
  /** Paths that have no more values where another one, which nothing reads, begins. `from`: the number of that record. */
  readonly renamed: readonly (ColumnNote & { readonly to: string; readonly values: number; readonly from: number })[];
  /** What the mapping reads but no record has a value for. */
  readonly never_a_value: readonly ColumnNote[];
  /** Columns with values of which the mapping only makes decisions; their `fields` are what they decide. */
  readonly not_carried: readonly ColumnNote[];
  readonly values: readonly ValuesNote[];
  readonly damage: readonly DamageNote[];
  readonly dates: readonly AmbiguousDateNote[];
  readonly numbers: readonly AmbiguousNumberNote[];
  readonly notices: readonly Problem[];
}

/** Findings about the input as a whole, as opposed to issues of single records. */
export interface Profile {
  readonly sources: Readonly<Record<string, SourceProfile>>;
  /** Number of leads that share an e-mail address or phone number with another lead, and an example. */
  readonly shared: readonly SharedNote[];
  /** Events that lack expected data: a lead without name, e-mail and phone, a deal without lead or stage. */
  readonly bare: readonly BareNote[];
}

export interface SharedNote {
  readonly field: 'email' | 'phone_number';
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

type BareCode = keyof typeof BARE_WARNINGS;

/** Events of a type that lack what such events usually have, by the code of the warning. */
export const BARE: Readonly<Record<string, UsualFields & { readonly type: EventType }>> = Object.fromEntries(
  KINDS.flatMap(({ name, expects }) =>
    Object.entries(expects).map(([code, each]) => [code, { ...each, type: `${name}/created` as const }]),
  ),
);

export const BARE_CODES = Object.keys(BARE) as readonly BareCode[];
