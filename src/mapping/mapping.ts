import type { Draft, EventType, Row } from '../model.ts';
import type { Location, Problem } from '../problem.ts';
import type { OpenedSources } from '../input/input.ts';
import type { SourceSpec } from '../input/source.ts';
import type { Combine } from './values/combine.ts';
import type { ColumnUse } from './values/compile-context.ts';
import type { NamedOtherwise, NotInExport } from './not-in-export.ts';
import type { FunctionModule } from './functions.ts';
import type { MarkedLine } from './document.ts';
import type { Policies } from './policies.ts';
import type { EntryWords } from './words.ts';

/** Old name -> new name or UUID; null leaves the field out. `"*"` matches all other names. Names are as written in the file. */
export type NameMap = ReadonlyMap<string, string | null>;

export interface References {
  readonly pipelines: NameMap;
  readonly stages: NameMap;
  /** Stages that hold only within one old pipeline, by its old name. */
  readonly stagesByPipeline: ReadonlyMap<string, NameMap>;
  readonly owners: NameMap;
}

/** A valid mapping file; its columns are not checked yet. */
export interface Mapping {
  /** The path as given. */
  readonly file: string;
  /** Of the file, its worksheet and its functions. */
  readonly sha256: string;
  readonly migration: string;
  /** Of the project and of whom it is for: the cover of the report. */
  readonly title: string | undefined;
  readonly customer: string | undefined;
  /** `defaults.timezone`, an IANA zone. */
  readonly timezone: string | undefined;
  readonly sources: readonly SourceSpec[];
  readonly references: References;
  /** The worksheet that `references.file` names. */
  readonly worksheet: WorksheetRef | undefined;
  /** The module that `functions` names: code that the mapping runs. */
  readonly functions: FunctionModule | undefined;
  /** `defaults.region`: the country of national phone numbers. */
  readonly region: string | undefined;
  /** Names of the sources that events or lookups use, in the order of the mapping. */
  readonly usedSources: readonly string[];
  /** Names of the sources that entries read (not those used by lookups alone). */
  readonly eventSources: readonly string[];
  readonly entries: readonly EntryHead[];
  /** The lines that a person still has to look at. */
  readonly marks: readonly MarkedLine[];
  /** The entries in words; without what an export lacks, if that is known. */
  words(lacking?: NotInExport): readonly EntryWords[];
  /**
   * Binds the mapping to opened sources: checks columns, reads the lookup sources, and yields functions from row to
   * drafts. Throws `ProblemsError` with all errors at once, those of sources that could not be opened among them; if that is the only
   * error, the `UserError` of the source.
   */
  compile(opened: OpenedSources): Promise<CompiledMapping>;
}

export interface WorksheetRef {
  /** Absolute. */
  readonly path: string;
  /** Of `references.file` in the mapping. */
  readonly at: Location;
}

export interface EntryHead {
  /** Position in the mapping's `events`; also `Draft.entry`. */
  readonly index: number;
  readonly type: EventType;
  readonly source: string;
  readonly policies: Policies;
}

/** What of a row becomes no event: its `each` is empty, or its `when` does not hold. */
interface Skipped {
  readonly code: 'when' | 'each';
  /** The conditions that do not hold, in words. */
  readonly unmet: ReadonlySet<string>;
  /** The external ids of the records that `when` excludes. */
  readonly ids: readonly string[];
}

/** One item of `events` as a function. Pure, as far as the functions that it calls are: the same row gives the same drafts, whatever was mapped before. */
export interface CompiledEntry extends EntryHead {
  /** Of comments that go together with others of their parent. */
  readonly combine: Combine | undefined;
  /** Whether a row may have several of its records (`each`). */
  readonly isEach: boolean;
  /** Whether it takes some rows only (`when`). */
  readonly isConditional: boolean;
  /** No drafts where `when` does not hold or `each` is empty. */
  map(row: Row): readonly Draft[];
  /** What `map` does not yield of this row, and why. */
  skipped(row: Row): Skipped;
  /** Columns and paths of the entry's own source that it reads, in the order of the mapping. */
  readonly uses: readonly ColumnUse[];
}

export interface CompiledMapping {
  readonly entries: readonly CompiledEntry[];
  /** By source: the columns and paths that lookups read in it. */
  readonly lookedUp: ReadonlyMap<string, ReadonlySet<string>>;
  /** The texts that mean no value in a source. */
  readonly missingValues: (source: string) => ReadonlySet<string>;
  /** Such as a column that does not exist while an alternative does. */
  readonly warnings: readonly Problem[];
  /** `columns: optional` */
  readonly isLenient: boolean;
  readonly lacking: NotInExport;
  readonly named: readonly NamedOtherwise[];
}
