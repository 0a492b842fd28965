/** An entry of a mapping as an export has it: without the columns and sources that it lacks. */
import { kindOfType } from '../kinds/index.ts';
import type { ConditionSpec, EntrySpec, ValueSpec } from './spec.ts';
import { isAlternatives } from './spec.ts';
import { parseTemplate } from './kinds/template.ts';
import type { NotInExport } from './not-in-export.ts';

/**
 * Undefined if its source has no file, or if its `when` cannot hold. Values of which nothing is left are absent, and conditions on them.
 * `index`: of the entry in the mapping.
 */
export function fittedEntry(entry: EntrySpec, index: number, lacking: NotInExport): EntrySpec | undefined {
  const { source, when, data, priority } = entry;
  if (lacking.sources.includes(source) || lacking.entries.some((each) => each.index === index)) return undefined;
  const fit = (spec: ValueSpec | undefined): ValueSpec | undefined => spec && fitted(spec, source, lacking);
  const custom = kindOfType(entry.type).custom ?? '';
  const own = (data[custom] ?? {}) as Readonly<Record<string, ValueSpec>>;
  const values = { ...data, ...(data[custom] !== undefined && { [custom]: present(own, fit) }) };
  return {
    ...entry,
    when: when && fittedCondition(when, source, lacking),
    ...present({ occurred_at: entry.occurred_at, stage_pipeline: entry.stage_pipeline }, fit),
    priority: typeof priority === 'number' ? priority : fit(priority),
    data: present(values, (spec) => (spec === values[custom] ? spec : fit(spec as ValueSpec))),
  };
}

function present<T>(
  values: Readonly<Record<string, T>>,
  fit: (spec: T) => T | undefined,
): Record<string, T | undefined> {
  return Object.fromEntries(Object.entries(values).map(([key, spec]) => [key, spec === undefined ? spec : fit(spec)]));
}

function fitted(spec: ValueSpec, source: string, lacking: NotInExport): ValueSpec | undefined {
  const isLacking = (column: string): boolean => lacking.columns.get(source)?.has(column) === true;
  if (typeof spec === 'string') return isLacking(spec) ? undefined : spec;
  const several = (specs: readonly ValueSpec[]): readonly ValueSpec[] =>
    specs.flatMap((each) => fitted(each, source, lacking) ?? []);
  const { from, list, template, lookup } = spec;
  if (template !== undefined) {
    const paths = parseTemplate(template).flatMap((part) => ('path' in part ? [part.path] : []));
    return paths.every(isLacking) ? undefined : spec;
  }
  if (lookup) {
    const there = (value: ValueSpec): ValueSpec | undefined => fitted(value, lookup.source, lacking);
    const parts = [fitted(lookup.with, source, lacking), there(lookup.match), there(lookup.take)];
    if (lacking.sources.includes(lookup.source) || parts.includes(undefined)) return undefined;
    const [own, match, take] = parts as ValueSpec[];
    return { ...spec, lookup: { ...lookup, with: own!, match: match!, take: take! } };
  }
  if (list) return several(list).length === 0 ? undefined : { ...spec, list: several(list) };
  if (from === undefined) return spec;
  const [first, ...others] = several(isAlternatives(from) ? from : [from]);
  if (first === undefined) return undefined;
  return { ...spec, from: others.length === 0 ? first : [first, ...others] };
}

/** Undefined if nothing of it is left. `source`: whose records it is about. */
export function fittedCondition(spec: ConditionSpec, source: string, lacking: NotInExport): ConditionSpec | undefined {
  const { all, any, not } = spec;
  if (not) {
    const inner = fittedCondition(not, source, lacking);
    return inner && { not: inner };
  }
  if (!all && !any) return fitted(spec, source, lacking) as ConditionSpec | undefined;
  const parts = (all ?? any ?? []).flatMap((part) => fittedCondition(part, source, lacking) ?? []);
  if (parts.length === 0) return undefined;
  return all ? { all: parts } : { any: parts };
}
