/** What this program wrote itself: files that stand beside the exports and are none. */
import { resolve, sep } from 'node:path';
import type { Source } from '../../input/source.ts';

/** Columns that no CRM exports together, and what the file is. */
const OWN: readonly (readonly [what: string, columns: readonly string[]])[] = [
  ['the worksheet of names', ['kind', 'pipeline', 'old_name', 'new_name']],
  ['errors of a run', ['event_type', 'external_id', 'event_id', 'kind', 'code']],
  ['values left out by a run', ['external_id', 'field', 'original', 'reason']],
  ['a result of a run', ['external_id', 'service_id']],
  ['rejected records of a run', ['_file', '_line', '_error', '_row']],
  ['a plan', ['new: external_id', 'new: occurred_at']],
];

/** What it is; undefined for an export. */
export function ownFile(path: string, { columns }: Source): string | undefined {
  if (resolve(path).split(sep).includes('.backfill')) return 'state of a migration';
  return OWN.find(([, own]) => own.every((name) => columns.includes(name)))?.[0];
}

/** A mapping is no export either, but cannot be opened as one. */
export function isMapping(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}
