/** Values taken from another source's records: `lookup: { source, match, with, take }`. */
import { canonicalJson, type JsonValue } from '../../json.ts';
import type { Source } from '../../input/source.ts';
import type { Lack } from '../not-in-export.ts';
import { within, type PathUse, type ValueContext } from '../values/compile-context.ts';
import { kind, type ValueReading } from './kind.ts';
import { LookupTable, SEVERAL } from './lookup-table.ts';
import { ABSENT, textOf, valueText, withOriginal, type Evaluate, type Result } from '../values/result.ts';
import type { LookupSpec } from '../spec.ts';
import * as part from '../schema-parts.ts';
import { onEach } from '../transforms/transform.ts';
import { issueOf } from '../../report/words/words.ts';
import { Problem } from '../../problem.ts';

export const lookup = kind<LookupSpec>({
  schema: (value) =>
    part
      .object({
        source: part.name,
        match: value,
        with: value,
        take: value,
        if_missing: part.oneOf(['reject', 'skip']).optional(),
        if_many: part.oneOf(['reject', 'first', 'skip']).optional(),
      })
      .meta({ id: 'Lookup' }),
  children: ({ match, with: own, take }) => [
    [['match'], match],
    [['with'], own],
    [['take'], take],
  ],
  words: ({ source, match, with: own, take }, { inline }) => ({
    from: `${inline(take)} of the record in ${valueText(source)} whose ${inline(match)} is ${inline(own)}`,
    how: [],
  }),
  read: readLookup,
});

function readLookup(spec: LookupSpec, context: ValueContext, value: ValueReading['value']): Evaluate {
  const { compilation } = context;
  const source = compilation.sources.get(spec.source);
  if (!source) return () => undefined;
  const { if_missing: ifMissing = 'reject', if_many: ifMany = 'reject' } = spec;
  const key = canonicalJson({ source: spec.source, match: spec.match, take: spec.take, ifMany } as never);
  if (source.isAbsent) return ABSENT;
  const table = compilation.lookups.table(key, () => makeTable(spec, source, context, value));
  context.lookedUp?.(table);
  context.lacking.push(...table.spec.lacking);
  const wanted = value(spec.with, { ...within(context, 'with'), decides: context.decides ?? 'with' });
  if ([wanted, table.spec.match, table.spec.take].includes(ABSENT)) return ABSENT;
  const find = onEach((own) => findIn(table, own, ifMissing, ifMany));
  return (row) => {
    const own = wanted(row);
    return own === undefined || own instanceof Problem ? own : find(own, row);
  };
}

function makeTable(spec: LookupSpec, source: Source, context: ValueContext, value: ValueReading['value']): LookupTable {
  let level = 0;
  const uses: PathUse[] = [];
  const lacking: Lack[] = [];
  const there: ValueContext = {
    ...context,
    frame: context.compilation.frameOf(source),
    kind: undefined,
    onError: 'reject',
    uses,
    lacking,
    lookedUp: (table) => void (level = Math.max(level, table.spec.level + 1)),
  };
  const match = value(spec.match, within(there, 'match'));
  const take = value(spec.take, within(there, 'take'));
  const paths = uses.map(({ path }) => path);
  return new LookupTable({ source, level, paths, lacking, match, take, firstWins: spec.if_many === 'first' });
}

function findIn(
  table: LookupTable,
  value: JsonValue,
  ifMissing: LookupSpec['if_missing'],
  ifMany: LookupSpec['if_many'],
): Result {
  const { values, spec } = table;
  const text = textOf(value);
  const found = text === undefined ? undefined : values.get(text);
  if (found === SEVERAL && ifMany === 'skip') return undefined;
  if (found === SEVERAL) {
    return withOriginal(issueOf('ambiguous_lookup', spec.source.name, valueText(value)), value);
  }
  if (found !== undefined) return found;
  if (ifMissing === 'skip' || (text !== undefined && values.has(text))) return undefined;
  return withOriginal(issueOf('lookup_missing', spec.source.name, valueText(value)), value);
}
