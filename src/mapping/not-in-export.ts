/** What a mapping names and an export does not have. */
import type { EventType } from '../model.ts';
import type { Location } from '../problem.ts';

/** A value that is left out, because its source has none of the columns that it may come from. */
export interface Lack {
  readonly source: string;
  readonly columns: readonly string[];
  readonly at: Location;
  readonly hint: string | undefined;
}

/** An entry whose `when` cannot hold without the columns of `values`. */
interface LackingEntry {
  /** Of the entry in the mapping. */
  readonly index: number;
  readonly type: EventType;
  readonly source: string;
  readonly values: readonly Lack[];
}

/** What a mapping with `columns: optional`, and with optional sources, does not find in an export. */
export interface NotInExport {
  /** Names of sources without a file. */
  readonly sources: string[];
  /** What an event lacks for it; of several columns that a value may come from, the first one that has a value would do. */
  readonly values: Lack[];
  /** By source: all columns that the mapping names and that it does not have, those of alternatives too. */
  readonly columns: Map<string, Set<string>>;
  readonly entries: LackingEntry[];
}

/** A column that the mapping names otherwise than the export. */
export interface NamedOtherwise {
  readonly source: string;
  /** In the mapping. */
  readonly name: string;
  /** In the export; of those that share a name, with its position: `Status#2`. */
  readonly header: string;
}
