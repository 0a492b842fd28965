/** What `verify` found, as the checkpoint keeps it: counts and names of fields, no values. */
import { CHECKED, kindOf } from '../kinds/index.ts';
import type { Entity } from '../model.ts';
import type { Database } from '../store/sqlite.ts';
import { counted, enumerated, numberText } from '../terminal/numbers.ts';
import { fieldWords } from '../vocabulary/terms.ts';

/** Of the records of one type. The last four and `equal` add up to those that were read back. */
interface VerifiedRecords {
  /** Acknowledged in the checkpoint. */
  readonly acknowledged: number;
  readonly read_back: number;
  /** Without a difference in any field that was shown. */
  readonly equal: number;
  readonly different: number;
  readonly missing: number;
  /** Fields that were sent and that no answer showed. */
  readonly not_readable: readonly string[];
}

export interface StoredVerification {
  /** ISO 8601. */
  readonly at: string;
  /** The plan that the service was compared with; the digest is null if it has none. */
  readonly plan: { readonly digest: string | null; readonly is_dry_run: boolean };
  /** Why it ended as it did: `same`, `different`, … */
  readonly reason: string;
  readonly records: Readonly<Record<Entity, VerifiedRecords>>;
  /** Acknowledged records of kinds that the service does not show. */
  readonly comments: number;
}

const NAME = 'verification';

/** `checkpoint`: the checkpoint itself, opened to write. */
export function storeVerification(checkpoint: Database, found: StoredVerification): void {
  checkpoint.run('insert or replace into setting (name, value) values (?, ?)', NAME, JSON.stringify(found));
}

/** `db`: from `readState`. */
export function readVerification(db: Database): StoredVerification | undefined {
  const row = db.get<{ value: string }>('select value from checkpoint.setting where name = ?', NAME);
  return row && (JSON.parse(row.value) as StoredVerification);
}

/** `46 of 46 records match in every field that can be read back.` and what cannot be. */
export function verificationTexts(found: StoredVerification): string[] {
  const parts = CHECKED.flatMap((entity) => found.records[entity] ?? []);
  const sum = (key: 'read_back' | 'equal' | 'acknowledged'): number =>
    parts.reduce((total, each) => total + each[key], 0);
  const fields = CHECKED.flatMap((entity) =>
    (found.records[entity]?.not_readable ?? []).map((field) => `${fieldWords(field)} of ${kindOf(entity).words[1]}`),
  );
  const hidden = [...fields, ...(found.comments > 0 ? [counted(found.comments, 'comment')] : [])];
  const rest = sum('acknowledged') - sum('read_back');
  return [
    `${numberText(sum('equal'))} of ${counted(sum('read_back'), 'record')} ${sum('read_back') === 1 ? 'matches' : 'match'} in every field that can be read back.`,
    ...(rest > 0 ? [`Not compared: ${counted(rest, 'further acknowledged record')}.`] : []),
    ...(hidden.length > 0 ? [`Not readable: ${enumerated(hidden, 'and')}.`] : []),
  ];
}
