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

/** What the service may have without anybody having edited it, as hashes (`Bases` of plan/knowledge). */
interface PossibleValues {
  /** Null: it was set, but to what cannot be told (after `purge`). Undefined: never. */
  readonly known: string | null | undefined;
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
  { differs, bases: { known, open } }: { readonly differs: boolean; readonly bases: PossibleValues },
  hasher: FieldHasher,
): ThreeWayVerdict {
  if (shown === undefined) return differs ? 'not_shown' : 'unchanged';
  if (shown !== null && normalForm(name, shown) === normalForm(name, exported)) return differs ? 'same' : 'unchanged';
  if (!differs) return 'edited';
  if (shown === null) return known === undefined ? 'changed' : 'conflict';
  const hash = hasher.hashOf(name, shown);
  return hash === known || open.includes(hash) ? 'changed' : 'conflict';
}
