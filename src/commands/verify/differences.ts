import {
  VERDICT_NAMES,
  type EntityResult,
  type FieldCounts,
  type FieldDifference,
} from '../../report/figures/verification.ts';
import { comparedFields } from '../../kinds/index.ts';
import type { Entity } from '../../model.ts';
import { csvHead, csvLine } from '../../files/csv.ts';
import { LineFile } from '../../files/write-lines.ts';

export const VERIFY_FILE = 'verify.csv';

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
    not_shown: null,
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
