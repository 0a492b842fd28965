import type { Likeness } from '../../plan/compare/fields.ts';
import { comparedFields } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { csvHead, csvLine } from '../../files/csv.ts';
import { LineFile } from '../../files/write-lines.ts';

export const VERIFY_FILE = 'verify.csv';

/**
 * `edited`: the service has a different value, and the record was updated after our last write. `changed`: the service
 * has a different value, and the input or the mapping has changed since the value was sent.
 */
export type FieldVerdict = Likeness | 'edited' | 'changed';

/** The verdicts in words. */
export const VERDICTS: Readonly<Record<FieldVerdict, string>> = {
  same: 'same',
  normalised: 'normalised',
  edited: 'edited since',
  changed: 'changed since sent',
  different: 'different',
  other_form: 'in another form',
  not_comparable: 'not comparable',
};
export const VERDICT_NAMES = Object.keys(VERDICTS) as readonly FieldVerdict[];

export interface FieldDifference {
  readonly entity: Entity;
  readonly external_id: string;
  readonly service_id: string;
  /** Empty if the whole record is missing or could not be read. */
  readonly field: string;
  readonly verdict: FieldVerdict | 'missing' | 'refused';
  readonly expected: string;
  /** Of a record that was refused: what the service said; of a missing one: what it was merged into, if the service says. */
  readonly actual: string;
  /** ISO 8601; empty if the service does not return it. */
  readonly written_at: string;
  readonly updated_at: string;
}

const COLUMNS = [
  'entity',
  'external_id',
  'service_id',
  'field',
  'verdict',
  'expected',
  'actual',
  'written_at',
  'updated_at',
] as const satisfies readonly (keyof FieldDifference)[];

type FieldCounts = Record<FieldVerdict, number>;

export interface EntityResult {
  /** Records of this type that are acknowledged in the checkpoint. */
  readonly acknowledged: number;
  /** Acknowledged records whose service id is unknown, so that they cannot be read back. */
  readonly without_id: number;
  /** Records in the sample without a valid event in the current input. */
  not_in_input: number;
  /** Records requested from the service, including missing ones. */
  read_back: number;
  missing: number;
  /** Records without a difference in any field that was shown. */
  equal: number;
  /** Records that the service has, or may have, and does not let this key read (403). */
  refused: number;
  readonly fields: Readonly<Record<string, FieldCounts>>;
}

export function newResult(
  entity: Entity,
  { acknowledged, withoutId }: { acknowledged: number; withoutId: number },
): EntityResult {
  const none = (): FieldCounts => Object.fromEntries(VERDICT_NAMES.map((verdict) => [verdict, 0])) as FieldCounts;
  const fields = Object.fromEntries(comparedFields(entity).map(({ name }) => [name, none()]));
  return {
    acknowledged,
    without_id: withoutId,
    not_in_input: 0,
    read_back: 0,
    missing: 0,
    equal: 0,
    refused: 0,
    fields,
  };
}

/** Maximum number of differences of each kind that are shown. */
const SHOWN = 5;

/** Writes a new `verify.csv`, and keeps the first differences of each field and kind. */
export class Differences {
  readonly first: FieldDifference[] = [];
  readonly #shown = new Map<string, number>();
  readonly #file: LineFile;

  constructor(path: string) {
    this.#file = new LineFile(path);
    this.#file.add(csvHead(COLUMNS));
  }

  add(difference: FieldDifference): void {
    const kind = `${difference.entity} ${difference.field} ${difference.verdict}`;
    const shown = this.#shown.get(kind) ?? 0;
    this.#shown.set(kind, shown + 1);
    if (shown < SHOWN) this.first.push(difference);
    this.#file.add(csvLine(COLUMNS.map((column) => difference[column])));
  }

  close(): void {
    this.#file.close();
  }
}
