/** What `verify` found, as the checkpoint keeps it: counts and names of fields, no values. */
import type { Entity } from '../model.ts';
import type { Database } from '../store/sqlite.ts';

/** Of the records of one type. `equal`, `different` and `missing` add up to those that were read back. */
interface VerifiedRecords {
  /** Acknowledged in the checkpoint. */
  readonly acknowledged: number;
  readonly read_back: number;
  /** Without a difference in any field that was shown. */
  readonly equal: number;
  readonly different: number;
  readonly missing: number;
  /** Why the service shows none of them; null if it shows some. */
  readonly not_shown: string | null;
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
