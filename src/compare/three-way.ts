/** Compares a field three ways: what was last sent, what the service shows now, and what the export says now. Pure. */
import type { JsonValue } from '../json.ts';
import { normalForm, type FieldHasher } from '../store/field-hashes.ts';

/**
 * - `unchanged`: the export says what is known, and so does the service.
 * - `changed`: only the export has changed. `edited`: only the service.
 * - `same`: the service has what the export says, whoever put it there.
 * - `conflict`: they have different new values.
 * - `not_shown`: the export has changed, and the service does not show the field.
 */
export type ThreeWayVerdict = 'unchanged' | 'changed' | 'edited' | 'same' | 'conflict' | 'not_shown';

/** The values that a field may have in the service without anybody having edited it, as hashes. */
export interface Bases {
  /** The last one that was acknowledged or read back; null if that cannot be told (after `purge`); undefined if it was never set. */
  readonly known: string | null | undefined;
  /** Those of later requests without a definite answer. */
  readonly open: readonly string[];
}

/**
 * `differs`: the export wants another value than is known, or it is not certain which it has. `shown`: undefined if the service
 * does not show the field, null if it has no value there.
 */
export function compareField(
  name: string,
  exported: JsonValue,
  shown: JsonValue | undefined,
  { differs, bases: { known, open } }: { readonly differs: boolean; readonly bases: Bases },
  hasher: FieldHasher,
): ThreeWayVerdict {
  if (shown === undefined) return differs ? 'not_shown' : 'unchanged';
  if (shown !== null && normalForm(name, shown) === normalForm(name, exported)) return differs ? 'same' : 'unchanged';
  if (!differs) return 'edited';
  if (shown === null) return known === undefined ? 'changed' : 'conflict';
  const hash = hasher.hashOf(name, shown);
  return hash === known || open.includes(hash) ? 'changed' : 'conflict';
}
