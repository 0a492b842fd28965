/** One item of `events` as a function from row to drafts. */
import type { Apply } from '../transforms/transform.ts';
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
import { ABSENT, RowContext, type Evaluate } from './row-context.ts';
import type { EntrySpec, OnError, ValueSpec } from '../spec.ts';
import { type Result, valueText } from './result.ts';
import { asText, compileValue, missingValue, shapeOf } from './value.ts';
import { issueOf } from '../../report/words/words.ts';
import { Problem } from '../../problem.ts';

interface Parts {
  readonly fields: readonly CompiledField[];
  readonly when: Condition | undefined;
  readonly each: Evaluate | undefined;
  readonly occurredAt: Evaluate | undefined;
  readonly stagePipeline: Evaluate | undefined;
  readonly priority: Evaluate | undefined;
  readonly combine: Combine | undefined;
  readonly heading: Heading | undefined;
  readonly takeRest: TakeRest | undefined;
}

export function compileEntry(spec: EntrySpec, index: number, compilation: CompileContext): CompiledEntry {
  const uses: PathUse[] = [];
  const parts = compileParts(spec, index, compilation, uses);
  const policies = policiesOf(spec, compilation.defaults);
  const { type } = spec;
  const kind = kindOfType(type);
  const mayNeedSettling = kind.needsParent === true || kind.parents.length > 1;
  const missing = compilation.missingValues(spec.source);
  const { fields, when, each, occurredAt, stagePipeline, priority, combine, heading, takeRest } = parts;

  const listed = elementReader(spec.each, compilation.sources.get(spec.source)!, missing);
  const elementsIn = (row: RowContext): readonly ListElement[] | Problem => {
    if (listed) return listed(row);
    const list = each!(row);
    if (list instanceof Problem) return list;
    return elementsOf(readValue(list, missing)).map((element) => ({ element, holder: row.root }));
  };

  const ownId = fields.find(({ name }) => name === 'external_id');
  const reportOwnCurrency = otherCurrencyOfRecord(spec, compilation.sources.get(spec.source)!.columns, uses);

  const draftOf = (row: RowContext): Draft | undefined => {
    row.clear();
    row.field = '';
    const passes = when ? when.holds(row) : true;
    if (passes === false) return undefined;
    if (passes instanceof Problem) row.report(passes);
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
    const occurred = optionalText('occurred_at', occurredAt, row);
    const pipeline = optionalText('stage_pipeline', stagePipeline, row);
    const rank = priority && optionalValue('priority', priority, row);
    const { place, issues, omissions } = row;
    const draft: Writable<Draft> = { kind: 'draft', type, entry: index, place, data, issues, omissions };
    if (occurred !== undefined) draft.occurredAt = occurred;
    if (pipeline !== undefined) draft.stagePipeline = pipeline;
    if (typeof rank === 'number') draft.priority = rank;
    if (heading) draft.heading = heading(row, { data, occurredAt: occurred });
    return draft;
  };

  const row = new RowContext();
  const drafts = (record: Row): readonly Draft[] => {
    row.begin(record);
    if (!each) {
      const only = draftOf(row);
      return only ? [only] : [];
    }
    row.field = 'each';
    const elements = elementsIn(row);
    if (elements instanceof Problem) return [unreadableEach(elements, type, index, row)];
    const found: Draft[] = [];
    for (const each of elements) {
      Object.assign(row, each);
      const one = draftOf(row);
      if (one) found.push(one);
    }
    return found;
  };

  return {
    index,
    type,
    source: spec.source,
    policies,
    combine,
    isEach: each !== undefined,
    uses,
    map: drafts,
    skipped(record) {
      const [unmet, ids] = [new Set<string>(), [] as string[]];
      const exclude = (): void => {
        row.field = '';
        if (when?.holds(row) !== false) return;
        for (const words of when.unmet(row)) unmet.add(words);
        row.field = 'external_id';
        const id = ownId?.evaluate(row);
        if (typeof id === 'string') ids.push(id);
      };
      row.begin(record);
      row.field = 'each';
      const elements = each ? elementsIn(row) : undefined;
      if (!elements) exclude();
      else if (!(elements instanceof Problem))
        for (const each of elements) {
          Object.assign(row, each);
          exclude();
        }
      const isEmpty = elements && (elements instanceof Problem || elements.length === 0);
      return { code: isEmpty ? 'each' : 'when', unmet, ids };
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
  const optional = (key: 'occurred_at' | 'stage_pipeline' | 'priority', check: Apply) => {
    if (spec[key] === undefined) return undefined;
    const given = typeof spec[key] === 'number' ? { value: spec[key] } : spec[key];
    const evaluate = compileValue(given, context(key), check);
    return evaluate === ABSENT ? undefined : evaluate;
  };
  const when = spec.when && compileCondition(spec.when, { ...context('when'), decides: 'when' });
  if (when?.holds === NEVER && !source.isAbsent) {
    compilation.lacking.entries.push({ index, type: spec.type, source: spec.source, values: lacking });
    return { ...NO_PARTS, when };
  }
  const combine = spec.combine && combineOf(spec.combine);
  const parts = {
    each: spec.each === undefined ? undefined : compileValue(spec.each, { ...context('each'), frame: record }),
    when,
    occurredAt: optional('occurred_at', asInstant),
    stagePipeline: optional('stage_pipeline', asText),
    priority: optional('priority', asPriority),
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

/** Of an entry that no record fulfils. */
const NO_PARTS: Parts = {
  fields: [],
  when: undefined,
  each: undefined,
  occurredAt: undefined,
  stagePipeline: undefined,
  priority: undefined,
  combine: undefined,
  heading: undefined,
  takeRest: undefined,
};

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

function optionalText(name: string, evaluate: Evaluate | undefined, row: RowContext): string | undefined {
  const result = evaluate && optionalValue(name, evaluate, row);
  return typeof result === 'string' ? result : undefined;
}

function optionalValue(name: string, evaluate: Evaluate, row: RowContext): Result {
  row.field = name;
  const result = evaluate(row);
  if (result instanceof Problem) row.report(result);
  return result;
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

function unreadableEach(error: Problem, type: Draft['type'], entry: number, row: RowContext): Draft {
  row.clear();
  row.report(error);
  return { kind: 'draft', type, entry, place: row.place, data: {}, issues: row.issues, omissions: row.omissions };
}
