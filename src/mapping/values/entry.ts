/** One item of `events` as a function from row to drafts. */
import { kindOfType, type Kind } from '../../kinds/index.ts';
import type { JsonValue } from '../../json.ts';
import type { Draft, Row, Writable } from '../../model.ts';
import type { Source } from '../../input/source.ts';
import type { Lack } from '../not-in-export.ts';
import type { CompileContext, PathUse, ValueContext } from './compile-context.ts';
import { combineOf, compileHeading, type Combine, type Heading } from './combine.ts';
import { compileCondition, NEVER, type Condition } from './condition.ts';
import { asInstant, compileField, compileRest, setField, type CompiledField, type TakeRest } from './entry-fields.ts';
import type { CompiledEntry } from '../mapping.ts';
import { elementReader, elementsOf, readValue, type ListElement, type PathContext } from './path.ts';
import { otherCurrencyOfRecord, reportOtherCurrency } from './left-behind.ts';
import { policiesOf } from '../policies.ts';
import { asPriority } from './priority.ts';
import { ABSENT, RowContext, valueText, type Evaluate } from './result.ts';
import type { EntrySpec, OnError, ValueSpec } from '../spec.ts';
import { asText, compileValue, missingValue, shapeOf } from './value.ts';
import { issueOf } from '../../report/words/words.ts';
import { Problem } from '../../problem.ts';

/** Values of an entry beside its data, and what a draft has of them. */
const SETTINGS = [
  ['occurred_at', 'occurredAt', asInstant],
  ['stage_pipeline', 'stagePipeline', asText],
  ['priority', 'priority', asPriority],
] as const;

interface EntrySetting {
  readonly key: string;
  readonly to: (typeof SETTINGS)[number][1];
  readonly evaluate: Evaluate;
}

interface Parts {
  readonly fields: readonly CompiledField[];
  readonly settings: readonly EntrySetting[];
  readonly when: Condition | undefined;
  readonly each?: Evaluate | undefined;
  readonly combine?: Combine | undefined;
  readonly heading?: Heading | undefined;
  readonly takeRest?: TakeRest | undefined;
}

/** The record itself is what becomes an event. */
const WHOLE: readonly Partial<ListElement>[] = [{}];

export function compileEntry(spec: EntrySpec, index: number, compilation: CompileContext): CompiledEntry {
  const uses: PathUse[] = [];
  const { fields, settings, when, each, combine, heading, takeRest } = compileParts(spec, index, compilation, uses);
  const policies = policiesOf(spec, compilation.defaults);
  const { type } = spec;
  const kind = kindOfType(type);
  const mayNeedSettling = kind.needsParent === true || kind.parents.length > 1;
  const source = compilation.sources.get(spec.source)!;
  const missing = compilation.missingValues(spec.source);
  const listed = elementReader(spec.each, source, missing);
  const ownId = fields.find(({ name }) => name === 'external_id');
  const reportOwnCurrency = otherCurrencyOfRecord(spec, source.columns, uses);
  const row = new RowContext();

  const elementsIn = (record: Row): readonly Partial<ListElement>[] | Problem => {
    row.begin(record);
    row.field = 'each';
    if (!each) return WHOLE;
    if (listed) return listed(row);
    const list = each(row);
    if (list instanceof Problem) return list;
    return elementsOf(readValue(list, missing)).map((element) => ({ element, holder: row.root }));
  };

  const dataOf = (): Record<string, JsonValue> => {
    const data: Record<string, JsonValue> = {};
    for (const field of fields) {
      row.field = field.name;
      const result = field.evaluate(row);
      if (result instanceof Problem) row.report(result);
      else if (result !== undefined) setField(data, field, result);
      else if (field.required) row.report(missingValue());
    }
    takeRest?.(row, data);
    reportOtherCurrency(data, uses, row);
    reportOwnCurrency?.(data, row);
    if (mayNeedSettling) settleParents(kind, data, policies.if_both, row);
    return data;
  };

  const draft = (data: Record<string, JsonValue>): Writable<Draft> => {
    const { place, issues, omissions } = row;
    return { kind: 'draft', type, entry: index, place, data, issues, omissions };
  };

  const draftOf = (element: Partial<ListElement>): readonly Draft[] => {
    if (element !== WHOLE[0]) Object.assign(row, element);
    row.clear();
    row.field = '';
    const passes = when ? when.holds(row) : true;
    if (passes === false) return [];
    if (passes instanceof Problem) row.report(passes);
    const made = draft(dataOf());
    for (const { key, to, evaluate } of settings) {
      row.field = key;
      const result = evaluate(row);
      if (result instanceof Problem) row.report(result);
      else if (result !== undefined) made[to] = result as never;
    }
    made.issues = row.issues;
    made.omissions = row.omissions;
    if (heading) made.heading = heading(row, made);
    return [made];
  };

  return {
    index,
    type,
    source: spec.source,
    policies,
    combine,
    isEach: each !== undefined,
    isConditional: when !== undefined,
    uses,
    map(record) {
      const elements = elementsIn(record);
      if (elements === WHOLE) return draftOf(WHOLE[0]!);
      if (!(elements instanceof Problem)) return elements.flatMap(draftOf);
      row.report(elements);
      return [draft({})];
    },
    skipped(record) {
      const [unmet, ids] = [new Set<string>(), [] as string[]];
      const found = elementsIn(record);
      const elements = found instanceof Problem ? [] : found;
      for (const element of elements) {
        Object.assign(row, element);
        row.field = '';
        if (when?.holds(row) !== false) continue;
        for (const words of when.unmet(row)) unmet.add(words);
        row.field = 'external_id';
        const id = ownId?.evaluate(row);
        if (typeof id === 'string') ids.push(id);
      }
      return { code: elements.length === 0 ? 'each' : 'when', unmet, ids };
    },
  };
}

function compileParts(spec: EntrySpec, index: number, compilation: CompileContext, uses: PathUse[]): Parts {
  const source = compilation.sources.get(spec.source)!;
  const record = compilation.frameOf(source);
  const lacking: Lack[] = [];
  const frame: PathContext = spec.each === undefined ? record : { ...record, elements: elementKind(spec.each, source) };
  const context = (key: string, onError: OnError = 'reject'): ValueContext => ({
    compilation,
    frame,
    path: ['events', index, key],
    field: key,
    kind: undefined,
    onError,
    uses,
    problems: compilation.problems,
    lacking,
  });
  const when = spec.when && compileCondition(spec.when, { ...context('when'), decides: 'when' });
  if (when?.holds === NEVER && !source.isAbsent) {
    compilation.lacking.entries.push({ index, type: spec.type, source: spec.source, values: lacking });
    return { fields: [], settings: [], when };
  }
  const combine = spec.combine && combineOf(spec.combine);
  const parts = {
    each: spec.each === undefined ? undefined : compileValue(spec.each, { ...context('each'), frame: record }),
    when,
    settings: SETTINGS.flatMap(([key, to, check]): EntrySetting[] => {
      const given = spec[key];
      if (given === undefined) return [];
      const evaluate = compileValue(typeof given === 'number' ? { value: given } : given, context(key), check);
      return evaluate === ABSENT ? [] : [{ key, to, evaluate }];
    }),
    combine,
    heading: combine && compileHeading(combine, context('combine')),
    fields: kindOfType(spec.type)
      .fields.flatMap((field) => compileField(field, spec, context(field.name, field.onError)))
      .sort(inCanonicalOrder),
  };
  const takeRest = compileRest(spec, context('data'));
  if (!source.isAbsent) compilation.lacking.values.push(...lacking);
  return { ...parts, takeRest };
}

/** The order in which canonical JSON has them, so that an event's data need not be sorted. */
function inCanonicalOrder(one: CompiledField, other: CompiledField): number {
  const [a, b] = [one.within ?? one.key, other.within ?? other.key];
  if (a !== b) return a < b ? -1 : 1;
  return one.key < other.key ? -1 : 1;
}

/** The row of a table holds texts only, until a function makes more of them. */
function elementKind(each: ValueSpec, source: Source): 'texts' | 'anything' {
  return source.kind === 'table' && shapeOf(each) !== 'unknown' ? 'texts' : 'anything';
}

/** One parent, or none where the kind needs none (service interface, section 2.6). `ifBoth`: the kind of the one to keep. */
function settleParents(
  { parents, needsParent = false }: Kind,
  data: Record<string, JsonValue>,
  ifBoth: string,
  row: RowContext,
): void {
  const named = parents.filter(({ field }) => data[field] !== undefined);
  const [first, ...others] = named;
  const last = others.at(-1);
  if (!first) {
    const isUnread = row.issues.some(
      ({ severity, field }) => severity === 'error' && parents.some((parent) => parent.field === field),
    );
    if (!needsParent || isUnread) return;
    row.field = '';
    row.report(issueOf('no_parent'));
  } else if (last && named.some(({ kind }) => kind === ifBoth)) {
    for (const { field, kind } of named) if (kind !== ifBoth) delete data[field];
  } else if (last) {
    row.field = last.field;
    row.report(issueOf('two_parents', valueText(data[first.field]), valueText(data[last.field])));
  }
}
