/** The lines of `checkpoint.ndjson` as they are in the file. */
import type { Effect, EventType } from '../model.ts';
import type { FileDigest } from '../source/source.ts';
import type { FieldHashes } from './field-hashes.ts';

export interface HeaderLine {
  readonly kind: 'header';
  readonly version: 1;
  readonly migration: string;
  readonly base_url: string;
  /** Identifies the account without storing a secret: it has at least one of these pipelines. */
  readonly account: { readonly pipeline_ids: readonly string[]; readonly user_ids: readonly string[] };
  readonly created_at: string;
}

export interface RunLine {
  readonly kind: 'run';
  readonly tool: string;
  readonly mapping_sha256: string;
  readonly inputs: readonly FileDigest[];
  /** `FieldHasher.keyId` of the hashes that follow; absent in lines of versions without keys. */
  readonly field_key?: string;
  readonly at: string;
}

/** Written before a request is sent: if no settled line follows, it is not known whether the event arrived. */
export interface SentLine {
  readonly kind: 'sent';
  readonly id: string;
  readonly type: EventType;
  readonly external_id: string | null;
  readonly content_sha: string;
  /** As in the settled line, for records that can be read back; absent in lines of older versions. */
  readonly fields?: FieldHashes | undefined;
}

/** Written when an event has been acknowledged or rejected. */
export interface SettledLine {
  readonly kind?: undefined;
  readonly id: string;
  readonly type: EventType;
  readonly external_id: string | null;
  readonly status: 'acknowledged' | 'rejected';
  readonly outcome: Effect | null;
  readonly entity_id: string | null;
  readonly code: string | null;
  readonly content_sha: string;
  readonly fields: FieldHashes;
  readonly at: string;
}

/**
 * Written when a record was read back and nothing had to be sent for this content of its created event: later runs need not
 * read it again. The hashes of what was sent last still hold.
 */
export interface ComparedLine {
  readonly kind: 'compared';
  readonly type: EventType;
  readonly external_id: string;
  readonly content_sha: string;
}

export type CheckpointLine = HeaderLine | RunLine | SentLine | ComparedLine | SettledLine;

/** `code` of an update that was sent because an acknowledged record has changed in the export since (`if_changed`). */
export const IF_CHANGED = 'if_changed';

export const CHECKPOINT_FILE = 'checkpoint.ndjson';
