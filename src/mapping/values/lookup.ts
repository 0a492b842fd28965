/** Values taken from another source's records: `lookup: { source, match, with, take }`. */
import { canonicalJson, type JsonValue } from '../../json.ts';
import type { Source } from '../../source/source.ts';
import { within, type PathUse, type ValueContext } from './compile-context.ts';
import { LookupTable, SEVERAL } from './lookup-table.ts';
import type { Evaluate } from './row-context.ts';
import type { LookupSpec, ValueSpec } from '../spec.ts';
import { onEach } from '../transforms/transform.ts';
import { ValueError, type Result, shown, textOf, withOriginal } from './result.ts';
import { issueOf } from '../../vocabulary/words.ts';

type CompileValue = (spec: ValueSpec, context: ValueContext) => Evaluate;

/** `compileValue` is passed in, because a value may contain a lookup. */
export function compileLookup(spec: LookupSpec, context: ValueContext, compileValue: CompileValue): Evaluate {
  const { compilation } = context;
  const source = compilation.sources.get(spec.source);
  if (!source) return () => undefined;
  const { if_missing: ifMissing = 'reject', if_many: ifMany = 'reject' } = spec;
  const key = canonicalJson({ source: spec.source, match: spec.match, take: spec.take, ifMany } as never);
  const table = compilation.lookups.table(key, () => makeTable(spec, source, context, compileValue));
  context.lookedUp?.(table);
  const wanted = compileValue(spec.with, { ...within(context, 'with'), decides: 'with' });
  const find = onEach((value) => findIn(table, value, ifMissing));
  return (row) => {
    const value = wanted(row);
    return value === undefined || value instanceof ValueError ? value : find(value, row);
  };
}

function makeTable(spec: LookupSpec, source: Source, context: ValueContext, compileValue: CompileValue): LookupTable {
  let level = 0;
  const uses: PathUse[] = [];
  const there: ValueContext = {
    ...context,
    frame: { source, missing: context.compilation.missingValues(source.name) },
    kind: undefined,
    onError: 'reject',
    uses,
    lookedUp: (table) => void (level = Math.max(level, table.spec.level + 1)),
  };
  const match = compileValue(spec.match, within(there, 'match'));
  const take = compileValue(spec.take, within(there, 'take'));
  const paths = uses.map(({ path }) => path);
  return new LookupTable({ source, level, paths, match, take, firstWins: spec.if_many === 'first' });
}

function findIn(table: LookupTable, value: JsonValue, ifMissing: 'reject' | 'skip'): Result {
  const { values, spec } = table;
  const text = textOf(value);
  const found = text === undefined ? undefined : values.get(text);
  if (found === SEVERAL) {
    return withOriginal(new ValueError(issueOf('ambiguous_lookup', spec.source.name, shown(value))), value);
  }
  if (found !== undefined) return found;
  if (ifMissing === 'skip' || (text !== undefined && values.has(text))) return undefined;
  return withOriginal(new ValueError(issueOf('lookup_missing', spec.source.name, shown(value))), value);
}
