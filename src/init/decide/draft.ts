/** What `init` decides, as data: the entries of a mapping, their fields, and every doubt. Lines are made of it later. */
import type { JsonScalar } from '../../json.ts';
import type { ConditionSpec, ValueSpec } from '../../mapping/spec.ts';
import type { EventType } from '../../model.ts';
import type { Column, Table } from '../facts/facts.ts';
import type { RecordKind } from '../know/roles.ts';
import type { Reason } from './score.ts';

/** `set`: a decision of the user; `check`: a guess to confirm. */
export type Doubt = 'set' | 'check';

/** Another value that a field may have. */
export interface FieldChoice {
  /** As it is answered on the command line: the name of a column, a code, a country. */
  readonly answer: string;
  readonly label: string;
  readonly value: unknown;
}

/** A setting or a value of an entry, or a default. */
export interface Field {
  readonly key: string;
  readonly place: 'settings' | 'data' | 'custom';
  readonly value: ValueSpec | ConditionSpec | JsonScalar | readonly string[];
  /** Commented out: it is not decided, or left out. */
  readonly off?: boolean;
  readonly doubt?: Doubt | undefined;
  /** What was taken and of how many, or what is missing; without the mark. */
  readonly said: string;
  /** Of its own record. */
  readonly columns: readonly Column[];
  readonly choices?: readonly FieldChoice[];
  readonly why?: readonly Reason[];
  /** It links records by something else than an id: nothing of it is preselected. */
  readonly isLoose?: boolean;
}

export interface EntryDraft {
  readonly kind: RecordKind;
  /** `created` of its kind if absent. */
  readonly type?: EventType;
  readonly table: Table;
  readonly doubt?: { readonly mark: Doubt; readonly why: string } | undefined;
  readonly fields: readonly Field[];
  readonly why: readonly Reason[];
  /** Why the program refuses it: then it is commented out. */
  readonly refused?: string;
}

/** Another part of a file that a preset reads under a name of its own. */
export interface ExtraSource {
  readonly name: string;
  readonly table: Table;
  readonly records: string;
}

export interface MappingDraft {
  readonly extra?: readonly ExtraSource[];
  readonly defaults: readonly Field[];
  readonly entries: readonly EntryDraft[];
}

/** Stands for a column that nobody knows. */
export const NOTHING = '…';

/** Keys whose values name no columns. */
export const WORDS_ALONE = /^(?:\*|duplicates|combine|if_\w+)$/;
