/** Data that all parts share while a mapping is compiled. */
import { mistake, Problem, quoted, type Location } from '../../problem.ts';
import type { Source } from '../../input/source.ts';
import type { Path } from '../document.ts';
import type { FieldType } from '../../kinds/index.ts';
import type { Lack, NamedOtherwise, NotInExport } from '../not-in-export.ts';
import type { FunctionModule } from '../functions.ts';
import { compilePath, type PathContext } from './path.ts';
import { ABSENT, type Evaluate } from './result.ts';
import type { LookupTable, LookupTables } from '../kinds/lookup-table.ts';
import type { Defaults, OnError } from '../spec.ts';

/** A column or path that a field reads; `field` is `when`, `each`, … where it is for no field. */
export interface ColumnUse {
  readonly field: string;
  readonly path: string;
  readonly at: Location;
  /** Position among the columns of a table; undefined for paths. */
  readonly column: number | undefined;
  /** Read only by `"*": rest`: the mapping does not name it. */
  readonly isRest: boolean;
  /** A transform reads it as a number. */
  readonly isNumber: boolean;
  /** What it decides (`when`, `with`, `region_from`, a composite id) where its value does not reach the event itself. */
  readonly decides: string | undefined;
}

export interface PathUse extends ColumnUse {
  readonly evaluate: Evaluate;
}

export interface CompileContext {
  readonly defaults: Defaults;
  readonly sources: ReadonlyMap<string, Source>;
  /** `columns: optional` */
  readonly isLenient: boolean;
  readonly lacking: NotInExport;
  readonly named: NamedOtherwise[];
  readonly functions: FunctionModule | undefined;
  readonly lookups: LookupTables;
  readonly problems: Problem[];
  readonly warnings: Problem[];
  locate(path: Path, part?: 'key' | 'value'): Location;
  /** The texts that mean "no value" in a source; the empty text always does and is not included. */
  readonly missingValues: (source: string) => ReadonlySet<string>;
  /** Where paths are read in a source. */
  readonly frameOf: (source: Source) => PathContext;
}

/** The place of a value in the mapping. Nested values get a copy with a longer path. */
export interface ValueContext {
  readonly compilation: CompileContext;
  readonly frame: PathContext;
  readonly path: Path;
  /** The field the value is for, or the key of the entry (`when`). */
  readonly field: string;
  readonly kind: FieldType | undefined;
  readonly onError: OnError;
  readonly isNumber?: boolean;
  /** The key that uses a value which does not reach the event itself: `when`, `with`, … */
  readonly decides?: string | undefined;
  readonly uses: PathUse[];
  /** Collects errors; alternatives are collected separately. */
  readonly problems: Problem[];
  /** Collects what the export lacks, in the same way. */
  readonly lacking: Lack[];
  /** Called with every nested lookup, to determine the order of building tables. */
  readonly lookedUp?: (table: LookupTable) => void;
}

export function within(context: ValueContext, ...steps: (string | number)[]): ValueContext {
  return { ...context, path: [...context.path, ...steps] };
}

/**
 * A column or path as a function of the record. One that the export lacks is `ABSENT`, and a problem of the mapping unless its columns
 * are optional.
 */
export function compileColumn(path: string, context: ValueContext): Evaluate {
  const { compilation, frame, field, decides } = context;
  const source = frame.source.name;
  if (frame.source.isAbsent) return ABSENT;
  const at = compilation.locate(context.path);
  const compiled = compilePath(path, frame);
  if ('lacks' in compiled) {
    const lack = { source, columns: [compiled.lacks], at, hint: compiled.hint };
    if (!compilation.isLenient) reportLacks(context, [lack]);
    else {
      context.lacking.push(lack);
      const { columns } = compilation.lacking;
      columns.set(source, (columns.get(source) ?? new Set()).add(path));
      return ABSENT;
    }
  }
  if (compiled instanceof Problem) context.problems.push(compiled.with({ at }));
  if (!('evaluate' in compiled)) return () => undefined;
  const { evaluate, column, header } = compiled;
  if (header !== undefined) compilation.named.push({ source, name: path, header });
  context.uses.push({ field, path, at, column, isRest: false, isNumber: context.isNumber ?? false, decides, evaluate });
  return evaluate;
}

/** A value that every event needs, and that the export lacks. */
export function reportLacks({ problems }: Pick<ValueContext, 'problems'>, lacking: readonly Lack[]): void {
  for (const { source, columns, at, hint } of lacking) {
    const [first, ...others] = columns;
    const message = `source \`${source}\` has no column \`${first}\`${others.length > 0 ? `, nor ${quoted(others)}` : ''}`;
    problems.push(mistake('unknown_column', message, at, hint));
  }
}
