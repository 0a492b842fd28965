import type { Location } from '../problem.ts';
import type { Path } from './document.ts';

/** What a mapping can decide for a record: an answer of `when`, a key of `map`, a date format, an alternative of `from`, `default`. */
export type BranchKind = 'when' | 'map' | 'date' | 'from' | 'default';

/** Called with every branch that a record takes. `name` says where in the mapping file (line:column) and which: `12:7 yes`. */
export type Trace = (kind: BranchKind, name: string) => void;

/** A trace of the value at `path`; undefined where nothing is traced, so that it costs nothing. */
export function traceAt(
  { trace, locate }: { readonly trace: Trace | undefined; readonly locate: (path: Path) => Location },
  path: Path,
  kind: BranchKind,
): ((branch: string) => void) | undefined {
  if (!trace) return undefined;
  const { line, column } = locate(path);
  return (branch) => trace(kind, `${line}:${column} ${branch}`);
}
