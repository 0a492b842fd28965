/** Iterates over all values of a mapping: in fields, conditions, lists, lookups and arguments of transforms. */
import { kindOfType } from '../kinds/index.ts';
import type { Path } from './document.ts';
import { kindOf } from './kinds/index.ts';
import { transformOf, type ConditionSpec, type EntrySpec, type ValueSpec } from './spec.ts';

export interface FoundValue {
  readonly path: Path;
  /** Of a condition, with its test. */
  readonly spec: ConditionSpec;
}

/** All value objects of an entry, including nested ones. */
export function* valuesOf(entry: EntrySpec, path: Path): Generator<FoundValue> {
  for (const key of ['each', 'occurred_at', 'stage_pipeline', 'priority'] as const) {
    yield* within(entry[key], [...path, key]);
  }
  if (entry.when) yield* withinCondition(entry.when, [...path, 'when']);
  for (const field of kindOfType(entry.type).fields) {
    const spec = entry.data[field.name];
    const at = [...path, 'data', field.name];
    if (field.type !== 'custom') yield* within(spec, at);
    else for (const [key, value] of Object.entries(spec ?? {})) yield* within(value as ValueSpec, [...at, key]);
  }
}

function* withinCondition(spec: ConditionSpec, path: Path): Generator<FoundValue> {
  for (const key of ['all', 'any'] as const) {
    for (const [index, part] of (spec[key] ?? []).entries()) yield* withinCondition(part, [...path, key, index]);
  }
  if (spec.not) yield* withinCondition(spec.not, [...path, 'not']);
  if (!spec.all && !spec.any && !spec.not) yield* within(spec, path);
}

function* within(spec: ValueSpec | number | undefined, path: Path): Generator<FoundValue> {
  if (typeof spec !== 'object') return;
  const { apply = [] } = spec;
  yield { path, spec };
  const { name, kind, given } = kindOf(spec);
  for (const [steps, child] of kind.children(given)) yield* within(child, [...path, name, ...steps]);
  for (const [index, item] of apply.entries()) {
    const [transform, argument] = transformOf(item);
    if (transform !== 'phone') continue;
    const { region_from: region } = (argument ?? {}) as { region_from?: ValueSpec };
    yield* within(region, [...path, 'apply', index, transform, 'region_from']);
  }
}

export function transformsUsed(events: readonly (EntrySpec | undefined)[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, entry] of events.entries()) {
    if (!entry) continue;
    for (const { spec } of valuesOf(entry, ['events', index])) {
      for (const item of spec.apply ?? []) names.add(transformOf(item)[0]);
    }
  }
  return names;
}

export function sourcesLookedUp(entry: EntrySpec): readonly string[] {
  return [...valuesOf(entry, [])].flatMap(({ spec }) => spec.lookup?.source ?? []);
}
