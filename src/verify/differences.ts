import { AppendLog } from '../append-log.ts';
import { csvLine } from '../csv.ts';
import { COMPARED, type Checked, type Likeness } from './fields.ts';

export const VERIFY_FILE = 'verify.csv';

/**
 * `edited`: the service shows another value, in a record that was updated after our last write. `changed`: it shows
 * another value, and what input and mapping say now is not what was sent.
 */
export type FieldVerdict = Likeness | 'edited' | 'changed';

export const VERDICTS = ['same', 'normalised', 'edited', 'changed', 'different', 'not_comparable'] as const;

export interface Difference {
  readonly entity: Checked;
  readonly external_id: string;
  readonly service_id: string;
  /** Empty where the whole record is missing. */
  readonly field: string;
  readonly verdict: FieldVerdict | 'missing';
  readonly expected: string;
  readonly actual: string;
  /** ISO 8601; empty where the service does not say. */
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
] as const satisfies readonly (keyof Difference)[];

export type FieldCounts = Record<FieldVerdict, number>;

export interface EntityResult {
  /** Records of this type that the checkpoint has as acknowledged. */
  readonly acknowledged: number;
  /** Of those: the service never named their id, so they cannot be asked for. */
  readonly without_id: number;
  /** Chosen, but the present input makes no valid event of them. */
  not_in_input: number;
  /** Asked for. */
  read_back: number;
  missing: number;
  readonly fields: Readonly<Record<string, FieldCounts>>;
}

export function newResult(entity: Checked, { acknowledged, withoutId }: { acknowledged: number; withoutId: number }) {
  const none = (): FieldCounts => Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as FieldCounts;
  const fields = Object.fromEntries(COMPARED[entity].map(({ name }) => [name, none()]));
  const result: EntityResult = {
    acknowledged,
    without_id: withoutId,
    not_in_input: 0,
    read_back: 0,
    missing: 0,
    fields,
  };
  return result;
}

/** How many differences of each kind are shown, however many there are. */
const SHOWN = 5;

/** `verify.csv`, begun anew, and the first differences of each field and kind. */
export class Differences {
  readonly first: Difference[] = [];
  readonly #shown = new Map<string, number>();
  readonly #file: AppendLog;

  private constructor(file: AppendLog) {
    this.#file = file;
  }

  static async open(path: string): Promise<Differences> {
    const file = await AppendLog.open(path, { keepBytes: 0 });
    await file.append(csvLine(COLUMNS), { durable: false });
    return new Differences(file);
  }

  async add(difference: Difference): Promise<void> {
    const kind = `${difference.entity} ${difference.field} ${difference.verdict}`;
    const shown = this.#shown.get(kind) ?? 0;
    this.#shown.set(kind, shown + 1);
    if (shown < SHOWN) this.first.push(difference);
    await this.#file.append(csvLine(COLUMNS.map((column) => difference[column])), { durable: false });
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
