/** Compares a field three ways: what was last sent, what the service shows now, and what the export says now. Pure. */
import { normalForm, type FieldHasher, type FieldHashes } from '../checkpoint/field-hashes.ts';
import type { JsonValue } from '../json.ts';
import type { LastSent } from './last-sent.ts';

/**
 * - `unchanged`: the export says what was last sent, and so does the service.
 * - `changed`: only the export has changed. `edited`: only the service.
 * - `same`: both have the same new value.
 * - `conflict`: they have different new values.
 * - `not_shown`: the export has changed, and the service does not show the field.
 */
export type ThreeWayVerdict = 'unchanged' | 'changed' | 'edited' | 'same' | 'conflict' | 'not_shown';

/** What is known about the last writes of a record. */
export interface Known extends Pick<LastSent, 'acknowledged' | 'unanswered'> {
  /** Whether the record was edited since, according to the service: decides only where no usable hash is known. */
  readonly isEdited: boolean;
}

/** `shown`: undefined if the service does not show the field, null if it has no value there. */
export function compareField(
  name: string,
  exported: JsonValue,
  shown: JsonValue | undefined,
  known: Known,
  hasher: FieldHasher,
): ThreeWayVerdict {
  const { acknowledged, unanswered } = known;
  const isChanged = !hasher.matches(acknowledged[name], name, exported);
  if (shown === undefined) return isChanged ? 'not_shown' : 'unchanged';
  const wasSent = (value: JsonValue): boolean => unanswered.some((hashes) => hasher.matches(hashes[name], name, value));
  if (shown !== null && normalForm(name, shown) === normalForm(name, exported)) {
    // Sent again with the same id, so that the answer is recorded.
    return !isChanged ? 'unchanged' : wasSent(exported) ? 'changed' : 'same';
  }
  if (!isChanged) return 'edited';
  if (shown === null ? acknowledged[name] === undefined : hasher.matches(acknowledged[name], name, shown))
    return 'changed';
  if (shown !== null && wasSent(shown)) return 'changed';
  return isUsable(acknowledged, name, hasher) || known.isEdited ? 'conflict' : 'changed';
}

/**
 * Whether the hashes tell the last value in any form: not if the key was purged, and not if an old version wrote the hash. A field
 * without a hash, of a record that has others, was never sent.
 */
function isUsable(acknowledged: FieldHashes, name: string, hasher: FieldHasher): boolean {
  const hash = acknowledged[name];
  return hash === undefined ? Object.keys(acknowledged).length > 0 : hasher.isKeyed(hash);
}
