/** One item of `events` as a function from row to drafts. */
import type { JsonValue } from '../json.ts';
import type { Draft, Row } from '../model.ts';
import type { Path } from './document.ts';
import { Fault, originalText, shown, type Result } from './fault.ts';
import { fieldsOf, type Field } from './fields.ts';
import { compileCondition, type Test } from './condition.ts';
import type { CompiledEntry } from './mapping.ts';
import { policiesOf } from './policies.ts';
import { readValue, type Frame } from './path.ts';
import type { Source } from '../source/source.ts';
import { Scope, type Evaluate } from './scope.ts';
import { FIELD_HINTS, FIELD_RULES } from '../service/contract.ts';
import type { EntrySpec, OnError, ValueSpec } from './spec.ts';
import { exactNumber } from './transforms/number.ts';
import type { PathUse, Unit } from './unit.ts';
import { asText, compileValue, missingValue, notScalar, shapeOf, type ValueContext } from './value.ts';

interface CompiledField {
  /** As issues name it: `custom_params.origin`. */
  readonly name: string;
  readonly key: string;
  /** `custom_params` or `custom_fields`, for what goes inside. */
  readonly within: string | undefined;
  readonly required: boolean;
  readonly evaluate: Evaluate;
}

interface Parts {
  readonly fields: readonly CompiledField[];
  readonly when: Test | undefined;
  readonly each: Evaluate | undefined;
  readonly occurredAt: Evaluate | undefined;
  readonly stagePipeline: Evaluate | undefined;
}

const NO_DRAFTS: readonly Draft[] = [];

export function compileEntry(spec: EntrySpec, index: number, unit: Unit): CompiledEntry {
  const uses: PathUse[] = [];
  const parts = compileParts(spec, ['events', index], unit, uses);
  const policies = policiesOf(spec);
  const { type } = spec;
  const missing = unit.missingValues(spec.source);
  const { fields, when, each, occurredAt, stagePipeline } = parts;
  const order = canonicalOrder(fields);
  /** The values of the draft being made; every one writes them all. */
  const values = new Array<JsonValue | undefined>(fields.length);

  const draftOf = (scope: Scope): Draft | undefined => {
    scope.clear();
    scope.field = '';
    const passes = when ? when(scope) : true;
    if (passes === false) return undefined;
    if (passes instanceof Fault) scope.fail(passes);
    for (let position = 0; position < fields.length; position += 1) {
      const field = fields[position]!;
      scope.field = field.name;
      const result = field.evaluate(scope);
      if (result instanceof Fault) scope.fail(result);
      else if (result === undefined && field.required) scope.fail(missingValue());
      values[position] = result instanceof Fault ? undefined : result;
    }
    const data: Record<string, JsonValue> = {};
    let custom: Record<string, JsonValue> | undefined;
    for (const position of order) {
      const value = values[position];
      if (value === undefined) continue;
      const { key, within } = fields[position]!;
      if (within === undefined) data[key] = value;
      else {
        custom ??= data[within] = {} as Record<string, JsonValue> & JsonValue;
        custom[key] = value;
      }
    }
    if (type === 'comment/created') settleParents(data, policies.if_both, scope);
    const occurred = optionalText('occurred_at', occurredAt, scope);
    const pipeline = optionalText('stage_pipeline', stagePipeline, scope);
    const draft: { -readonly [K in keyof Draft]: Draft[K] } = {
      kind: 'draft',
      type,
      entry: index,
      place: scope.place,
      data,
      issues: scope.issues,
      omissions: scope.omissions,
    };
    if (occurred !== undefined) draft.occurredAt = occurred;
    if (pipeline !== undefined) draft.stagePipeline = pipeline;
    return draft;
  };

  const drafts = (row: Row, scope: Scope): readonly Draft[] => {
    scope.begin(row);
    if (!each) {
      const only = draftOf(scope);
      return only ? [only] : NO_DRAFTS;
    }
    scope.field = 'each';
    const elements = each(scope);
    if (elements === undefined) return NO_DRAFTS;
    if (elements instanceof Fault) return [unreadableEach(elements, type, index, scope)];
    const found: Draft[] = [];
    for (const element of elementsOf(readValue(elements, missing))) {
      scope.element = element;
      const one = draftOf(scope);
      if (one) found.push(one);
    }
    return found;
  };

  const scope = new Scope();
  return {
    index,
    type,
    source: spec.source,
    policies,
    uses: uses.map(({ field, path, at, compiled }) => ({ field, path, at, column: compiled.column })),
    map: (row) => {
      const found = drafts(row, scope);
      return scope.waits ? mapInRounds(row, drafts) : found;
    },
  };

  /** Maps again until every expression that could not be answered at once has its answer. */
  async function mapInRounds(row: Row, attempt: typeof drafts): Promise<readonly Draft[]> {
    scope.forgetAnswers();
    const own = new Scope();
    for (;;) {
      const found = attempt(row, own);
      if (!own.waits) return found;
      await own.settle();
    }
  }
}

function compileParts(spec: EntrySpec, path: Path, unit: Unit, uses: PathUse[]): Parts {
  const source = unit.sources.get(spec.source)!;
  const record: Frame = { source, missing: unit.missingValues(spec.source) };
  const frame: Frame = spec.each === undefined ? record : { ...record, elements: elementKind(spec.each, source) };
  const context = (key: string, onError: OnError = 'reject'): ValueContext => ({
    unit,
    frame,
    path: [...path, key],
    field: key,
    kind: undefined,
    onError,
    uses,
    problems: unit.problems,
  });
  const optional = (
    key: 'occurred_at' | 'stage_pipeline',
    finish: (value: JsonValue) => Result,
  ): Evaluate | undefined =>
    spec[key] === undefined
      ? undefined
      : finished(compileValue(spec[key], context(key)), finish, onErrorOf(spec[key], 'reject'));
  return {
    each: spec.each === undefined ? undefined : compileValue(spec.each, { ...context('each'), frame: record }),
    when: spec.when && compileCondition(spec.when, context('when')),
    occurredAt: optional('occurred_at', asInstant),
    stagePipeline: optional('stage_pipeline', asText),
    fields: fieldsOf(spec.type).flatMap((field) => compileField(field, spec, context(field.name, field.onError))),
  };
}

/** The positions of the fields in the order of canonical JSON, so that an event's data need not be sorted again. */
function canonicalOrder(fields: readonly CompiledField[]): readonly number[] {
  const sortKey = ({ key, within }: CompiledField): readonly string[] => (within === undefined ? [key] : [within, key]);
  const keys = fields.map(sortKey);
  return [...keys.keys()].sort((a, b) => {
    const [[outer = '', inner = ''], [other = '', otherInner = '']] = [keys[a]!, keys[b]!];
    return outer < other ? -1 : outer > other ? 1 : inner < otherInner ? -1 : 1;
  });
}

/** A row of a table has texts only, until an expression makes more of them. */
function elementKind(each: ValueSpec, source: Source): 'texts' | 'anything' {
  return source.kind === 'table' && shapeOf(each) !== 'unknown' ? 'texts' : 'anything';
}

function compileField(field: Field, spec: EntrySpec, base: ValueContext): CompiledField[] {
  const given = spec.data[field.name];
  if (given === undefined) return [];
  const context: ValueContext = { ...base, path: [...base.path.slice(0, -1), 'data', field.name], kind: field.kind };
  if (field.kind !== 'custom') {
    const value = given;
    const evaluate = finished(
      compileValue(value, context),
      finishOf(field.name, field.kind),
      onErrorOf(value, field.onError),
    );
    return [{ name: field.name, key: field.name, within: undefined, required: field.required, evaluate }];
  }
  return Object.entries(given as Readonly<Record<string, ValueSpec>>).map(([key, value]) => {
    const name = `${field.name}.${key}`;
    const compiled = compileValue(value, { ...context, path: [...context.path, key], field: name });
    return {
      name,
      key,
      within: field.name,
      required: false,
      evaluate: finished(compiled, FINISH.custom, onErrorOf(value, field.onError)),
    };
  });
}

const FINISH = {
  id: asText,
  parent: asText,
  text: asText,
  number: exactNumber,
  custom: (value: JsonValue): Result =>
    typeof value === 'object' && (Array.isArray(value) || asText(value) instanceof Fault) ? notScalar(value) : value,
} as const;

/** What a field's kind takes and, where the service wants more than text, its rule. */
function finishOf(name: string, kind: keyof typeof FINISH): (value: JsonValue) => Result {
  const ofKind = FINISH[kind];
  const rule = FIELD_RULES[name];
  if (!rule) return ofKind;
  return (value) => {
    const result = ofKind(value);
    const wrong = typeof result === 'string' ? rule(result) : undefined;
    return wrong === undefined ? result : new Fault(`invalid_${name}`, `${shown(value)} ${wrong}`, FIELD_HINTS[name]);
  };
}

function onErrorOf(spec: ValueSpec, otherwise: OnError): OnError {
  if (typeof spec === 'string') return otherwise;
  return spec.required ? 'reject' : (spec.on_error ?? otherwise);
}

/** What a field takes is checked last, and a value it does not take is rejected or omitted like any other. */
function finished(evaluate: Evaluate, finish: (value: JsonValue) => Result, onError: OnError): Evaluate {
  return (scope) => {
    const value = evaluate(scope);
    if (value === undefined || value instanceof Fault) return value;
    const result = finish(value);
    if (!(result instanceof Fault)) return result;
    result.original ??= originalText(value);
    if (onError === 'reject') return result;
    scope.omit(result);
    return undefined;
  };
}

/** ISO 8601 with an offset (service interface, section 2.3). */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

function asInstant(value: JsonValue): Result {
  const text = asText(value);
  if (text instanceof Fault || INSTANT.test(text)) return text;
  return new Fault(
    'bad_date',
    `${shown(text)} is not ISO 8601 with an offset`,
    'read it with `apply: [{ date: FORMAT }]`',
  );
}

function optionalText(name: string, evaluate: Evaluate | undefined, scope: Scope): string | undefined {
  if (!evaluate) return undefined;
  scope.field = name;
  const result = evaluate(scope);
  if (result instanceof Fault) scope.fail(result);
  return typeof result === 'string' ? result : undefined;
}

/** Exactly one parent (service interface, section 2.6). */
function settleParents(data: Record<string, JsonValue>, ifBoth: 'reject' | 'deal' | 'lead', scope: Scope): void {
  const lead = data['lead_external_id'];
  const deal = data['deal_external_id'];
  if (lead !== undefined && deal !== undefined) {
    if (ifBoth === 'deal') delete data['lead_external_id'];
    else if (ifBoth === 'lead') delete data['deal_external_id'];
    else {
      scope.field = 'deal_external_id';
      scope.fail(
        new Fault(
          'two_parents',
          `both a lead (${shown(lead)}) and a deal (${shown(deal)})`,
          '`if_both: deal` or `if_both: lead` keeps one',
        ),
      );
    }
  } else if (
    lead === undefined &&
    deal === undefined &&
    !scope.issues.some((issue) => issue.field?.endsWith('_external_id'))
  ) {
    scope.field = '';
    scope.fail(new Fault('no_parent', 'neither a lead nor a deal', 'skip such records with `when`'));
  }
}

/** A lone element stands for a list of one; lists within lists are taken apart. */
function elementsOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as readonly JsonValue[]).flatMap(elementsOf) : [value];
}

function unreadableEach(fault: Fault, type: Draft['type'], entry: number, scope: Scope): Draft {
  scope.clear();
  scope.fail(fault);
  return { kind: 'draft', type, entry, place: scope.place, data: {}, issues: scope.issues, omissions: scope.omissions };
}
