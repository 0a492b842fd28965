/** Documents: what a run stores in its plan as JSON, and `verify` in the checkpoint, because it is read as a whole. */
import type { ExitCode } from '../../errors.ts';
import type { Entity, EventType } from '../../model.ts';
import type { FileDigest } from '../../input/source.ts';
import type { NamedOtherwise } from '../../mapping/not-in-export.ts';
import type { EntryWords } from '../../mapping/words.ts';
import type { Account } from '../../service/account.ts';
import { readSetting, storeSetting } from '../../store/setting.ts';
import type { Database } from '../../store/sqlite.ts';
import type { Paces } from '../../rate.ts';

/** The parts of a source that the mapping does not use. */
interface UnusedData {
  readonly records: number;
  /** Columns or paths that nothing reads, and how many values each has. */
  readonly unused: Readonly<Record<string, number>>;
}

/** How the exports were mapped and what was not. It has no values of records. */
export interface StoredMapping {
  /** `title` and `customer` of the mapping. */
  readonly title: string | null;
  readonly customer: string | null;
  /** Of phone numbers without a country code. */
  readonly region: string | null;
  /** `defaults.timezone`. */
  readonly timezone: string | null;
  readonly entries: readonly EntryWords[];
  readonly sources: Readonly<Record<string, UnusedData>>;
  /** Names of exports that lie beside those that were read. */
  readonly unread_files: readonly string[];
  readonly not_in_export: StoredLacking;
  /** Lines that are still marked `set this`, and what they say until then. */
  readonly assumed: readonly { readonly place: string; readonly text: string }[];
}

/** What the mapping reads and the exports do not have, by names of sources. */
interface StoredLacking {
  readonly sources: readonly string[];
  /** Events of which there are none without the columns. */
  readonly entries: readonly {
    readonly type: EventType;
    readonly source: string;
    readonly columns: readonly string[];
  }[];
  readonly values: readonly { readonly source: string; readonly column: string }[];
  /** Columns that the mapping names otherwise. */
  readonly named: readonly NamedOtherwise[];
}

/** Findings of a survey that are not in the plan: the document `survey`. */
export interface SurveySnapshot extends Paces {
  /** The name of the mapping file. */
  readonly mapping: string;
  readonly migration: string;
  readonly base_url: string | null;
  readonly at: string;
  /** The options of the command that resumes it. */
  readonly options: readonly string[];
  /** Of the worksheet; absent if every name has an answer. */
  readonly names?: OpenNames | undefined;
}

/** Names without an answer, and where the worksheet has them. */
export interface OpenNames {
  /** As messages name it. */
  readonly file: string;
  /** Whether the mapping names the worksheet. */
  readonly isNamed: boolean;
  readonly rows: readonly {
    readonly line: number;
    readonly kind: string;
    readonly pipeline: string;
    readonly oldName: string;
    readonly suggestions: readonly string[];
  }[];
}

export interface Documents {
  /** Absent until the run has ended. */
  readonly summary: object;
  readonly survey: SurveySnapshot;
  readonly mapping: StoredMapping;
  /** Every file that the survey read. */
  readonly inputs: readonly FileDigest[];
  readonly account: Account;
}

export function readDocument<Name extends keyof Documents>(db: Database, name: Name): Documents[Name] | undefined {
  const row = db.get<{ content: string }>('select content from document where name = ?', name);
  return row && (JSON.parse(row.content) as Documents[Name]);
}

export function storeDocument<Name extends keyof Documents>(db: Database, name: Name, content: Documents[Name]): void {
  db.run('insert or replace into document (name, content) values (?, ?)', name, JSON.stringify(content));
}

/** Of the records of one type. */
export interface VerifiedRecords {
  /** Acknowledged in the checkpoint. */
  readonly acknowledged: number;
  /** Acknowledged, but their service id is unknown, so that they cannot be read back. */
  readonly without_id: number;
  /** In the sample, but without a valid event in the current input. */
  not_in_input: number;
  /** Requested from the service, missing ones included. */
  read_back: number;
  missing: number;
  /** Without a difference in any field that was shown. */
  equal: number;
  /** No field that was sent could be compared. */
  unreadable: number;
  /** The service has them, or may have them, and does not let this key read them (403). */
  refused: number;
  /** Why the service shows none of them; null if it shows some. */
  not_shown: string | null;
  /** How many of each verdict, for each field that was sent; each custom field by its own name. */
  readonly fields: Record<string, Record<string, number>>;
}

/** What `verify` found: counts and names of fields, no values. */
export interface StoredVerification {
  readonly migration: string;
  readonly base_url: string;
  /** `reason`: why it ended as it did: `same`, `different`, … */
  readonly exit: { readonly code: ExitCode; readonly reason: string };
  /** How many records of each type were read back at most. */
  readonly sample: number | 'all';
  /** ISO 8601. */
  readonly finished_at: string;
  readonly entities: Readonly<Record<Entity, VerifiedRecords>>;
  readonly requests: number;
  /** The plan that was compared with: that of the run, or where there is none, of the dry run; the digest is null if it has none. */
  readonly plan: { readonly digest: string | null; readonly is_dry_run: boolean };
  readonly files: { readonly verify: string };
}

const NAME = 'verification';

/** `checkpoint`: the checkpoint itself, opened to write. */
export function storeVerification(checkpoint: Database, found: StoredVerification): void {
  storeSetting(checkpoint, NAME, JSON.stringify(found));
}

/** `db`: from `readState`. */
export function readVerification(db: Database): StoredVerification | undefined {
  const stored = readSetting(db, NAME, 'checkpoint');
  return stored === undefined ? undefined : (JSON.parse(stored) as StoredVerification);
}
