/** What all parts share while one mapping is compiled. */
import type { Location, Problem } from '../problem.ts';
import type { Source } from '../source/source.ts';
import type { Path } from './document.ts';
import type { CompiledPath } from './path.ts';
import type { Defaults } from './spec.ts';
import type { LookupTables } from './lookup.ts';
import type { Trace } from './trace.ts';

/** A column or path that a field of an entry reads. */
export interface PathUse {
  readonly field: string;
  readonly path: string;
  readonly at: Location;
  readonly compiled: CompiledPath;
  /** Read only by `"*": rest`: the mapping does not name it. */
  readonly isRest?: boolean;
}

export interface CompileContext {
  readonly defaults: Defaults;
  readonly sources: ReadonlyMap<string, Source>;
  readonly lookups: LookupTables;
  readonly problems: Problem[];
  readonly warnings: Problem[];
  /** Undefined unless a pilot is chosen by what the records use. */
  readonly trace: Trace | undefined;
  locate(path: Path, part?: 'key' | 'value'): Location;
  /** The texts that mean "no value" in a source; the empty text always does and is not included. */
  missingValues(source: string): ReadonlySet<string>;
}
