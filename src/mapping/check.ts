/** Checks across a mapping whose parts are valid: names that do not exist, settings that contradict each other. */
import type { MappingSpec } from './schema.ts';
import type { ValidParts } from './valid-parts.ts';
import { FORMATS } from '../input/formats.ts';
import { formatByName } from '../input/open.ts';
import { didYouMean, mistake, Problem, quoted } from '../problem.ts';
import { entityOf, isUpdate, kindOfType } from '../kinds/index.ts';
import { enumerated } from '../report/words/numbers.ts';
import { isKeyed, type MappingDocument, type Path } from './document.ts';
import { transformOf, type Defaults, type EntrySpec, type ValueSpec } from './spec.ts';
import type { FunctionModule } from './functions.ts';
import { foldedName } from './names.ts';
import { policiesOf, type Policies } from './policies.ts';
import { wrongPriorities } from './values/priority.ts';
import { TRANSFORM_BY_NAME } from './transforms/index.ts';
import { regionProblem } from './transforms/phone.ts';
import { REST_KEY } from './values/rest.ts';
import { shapeOf } from './values/value.ts';
import { valuesOf, type FoundValue } from './spec-values.ts';

/** The valid parts of a mapping, with the module of its functions or why there is none. */
export interface LoadedMapping {
  readonly spec: ValidParts;
  readonly document: MappingDocument;
  readonly functions: FunctionModule | Problem | undefined;
}

type Report = (code: string, message: string, path: Path, hint?: string, part?: 'key' | 'value') => void;

/** All problems found. The libraries of the transforms must be loaded. */
export function checkMapping({ spec, functions, document }: LoadedMapping): Problem[] {
  const problems: Problem[] = [];
  const report: Report = (code, message, path, hint, part = 'value') =>
    void problems.push(mistake(code, message, document.locate(path, part), hint));
  const { defaults = {} } = spec;
  const sources = sourceNames(document);
  checkDistinct(sources, report);
  if (spec.sources && sources.length === 0)
    report('missing_key', 'no sources', ['sources'], 'list the export files here');
  const unknown = regionProblem(defaults.region);
  if (unknown) problems.push(unknown.with({ at: document.locate(['defaults', 'region']) }));
  if (functions instanceof Problem) problems.push(functions.with({ at: document.locate(['functions']) }));
  for (const [name, source] of Object.entries(spec.sources ?? {})) checkSource(name, source, report);
  for (const [index, entry] of spec.events.entries()) {
    if (!entry) continue;
    const path = ['events', index];
    checkSourceName(entry.source, sources, [...path, 'source'], report);
    checkEntry(entry, path, report);
    for (const found of valuesOf(entry, path)) {
      checkTransforms(found, defaults, functions, report);
      const { lookup } = found.spec;
      if (lookup) checkSourceName(lookup.source, sources, [...found.path, 'lookup', 'source'], report);
    }
  }
  checkAgreement(spec.events, defaults, report);
  return problems;
}

/** As written in the file: a source that is invalid still exists. */
function sourceNames({ data }: MappingDocument): readonly string[] {
  const sources = isKeyed(data) ? data['sources'] : undefined;
  return isKeyed(sources) ? Object.keys(sources) : [];
}

/** Each source has files of its own, also where a file system ignores case. */
function checkDistinct(sources: readonly string[], report: Report): void {
  const known = new Map<string, string>();
  for (const name of sources) {
    const folded = foldedName(name);
    const other = known.get(folded);
    known.set(folded, name);
    if (other === undefined) continue;
    const message = `\`${name}\` and \`${other}\` differ only in case or spelling of the same characters`;
    const advice = 'rename one of them: both would have files of the same name';
    report('bad_value', message, ['sources', name], advice, 'key');
  }
}

function checkSource(name: string, source: MappingSpec['sources'][string], report: Report): void {
  const path = ['sources', name];
  const format = formatByName(source);
  for (const key of Object.keys(source)) {
    const readers = FORMATS.filter(({ settings }) => key in settings).map(({ name }) => name);
    if (!format || readers.length === 0 || readers.includes(format.name)) continue;
    const message = `\`${key}\` applies to ${enumerated(readers, 'and')} only; this source is ${format.name}`;
    report('unused_key', message, [...path, key], undefined, 'key');
  }
  if (source.columns !== undefined && source.header_line !== undefined) {
    const message = '`columns` is for files without a header, so `header_line` cannot be set too';
    report('unused_key', message, [...path, 'header_line'], undefined, 'key');
  }
  const again = source.columns?.find((column, index, all) => all.indexOf(column) !== index);
  if (again !== undefined) report('duplicate_column', `\`columns\` has \`${again}\` twice`, [...path, 'columns']);
}

function checkSourceName(name: string, sources: readonly string[], path: Path, report: Report): void {
  if (sources.includes(name)) return;
  const known = sources.length > 0 ? `available sources: ${quoted(sources)}` : undefined;
  report('unknown_source', `unknown source \`${name}\``, path, didYouMean(name, sources) ?? known);
}

function checkEntry(entry: EntrySpec, path: Path, report: Report): void {
  const { data } = entry;
  for (const field of kindOfType(entry.type).fields) {
    const spec = data[field.name];
    const at = [...path, 'data', field.name];
    if (spec === undefined) continue;
    if (field.type !== 'custom') checkShape(spec, at, field.name, report);
    else {
      for (const [key, value] of Object.entries(spec as Readonly<Record<string, ValueSpec>>)) {
        if (typeof value !== 'string' && value.as === 'json') continue;
        checkShape(value, [...at, key], `${field.name}.${key}`, report);
      }
    }
  }
  for (const key of ['occurred_at', 'stage_pipeline'] as const) {
    if (entry[key] !== undefined) checkShape(entry[key], [...path, key], key, report);
  }
  if (entry.priority !== undefined) checkPriority(entry.priority, [...path, 'priority'], report);
  const { parents, needsParent = false, words } = kindOfType(entry.type);
  if (needsParent && parents.every(({ field }) => data[field] === undefined)) {
    const advice = `add ${enumerated(
      parents.map(({ field }) => `\`${field}\``),
      'or',
    )}`;
    report('no_parent', `a ${words[0]} needs a parent`, [...path, 'data'], advice, 'key');
  }
  checkChangedFields(entry, path, report);
}

function checkPriority(spec: ValueSpec | number, path: Path, report: Report): void {
  if (typeof spec !== 'number') checkShape(spec, path, 'priority', report);
  for (const { path: at, error } of wrongPriorities(spec, path)) {
    report(error.code, error.message, at, error.hint);
  }
}

/** `if_changed` may list keys of `data`. Custom fields are one of them: nothing says that an update with one keeps the others. */
function checkChangedFields(entry: EntrySpec, path: Path, report: Report): void {
  if (!Array.isArray(entry.if_changed)) return;
  const { custom = '' } = kindOfType(entry.type);
  const names = Object.keys(entry.data[custom] ?? {});
  const known = Object.keys(entry.data);
  for (const [index, field] of (entry.if_changed as readonly string[]).entries()) {
    const at = [...path, 'if_changed', index];
    const inner = field.startsWith(`${custom}.`) ? field.slice(custom.length + 1) : field;
    if (field === 'external_id') report('bad_value', '`external_id` identifies the record and cannot change', at);
    else if (known.includes(field)) continue;
    else if (names.includes(inner) || names.includes(REST_KEY)) {
      const message = `\`${field}\` is one of the custom fields, which are sent as a whole`;
      report('custom_field_listed', message, at, `write \`${custom}\` for all of them`);
    } else {
      const advice =
        didYouMean(field, known) ??
        `a field is a key of \`data\`: ${quoted(known.filter((name) => name !== 'external_id'))}`;
      report('unknown_field', `\`${field}\` is not a field of this event`, at, advice);
    }
  }
}

function checkShape(spec: ValueSpec, path: Path, field: string, report: Report): void {
  if (shapeOf(spec) !== 'list') return;
  const advice = 'end `apply` with `at` (takes one element) or `join` (joins all into one text)';
  report('not_scalar', `\`${field}\` would receive a list`, path, advice);
}

function checkTransforms(
  { path, spec: { apply = [] } }: FoundValue,
  defaults: Defaults,
  functions: LoadedMapping['functions'],
  report: Report,
): void {
  for (const [index, item] of apply.entries()) {
    const [name, argument] = transformOf(item);
    const at = [...path, 'apply', index, ...(typeof item === 'string' ? [] : [name])];
    // The exports of a module that cannot be loaded are unknown.
    if (name === 'call' && functions instanceof Problem) continue;
    const module = functions instanceof Problem ? undefined : functions;
    for (const { code, message, hint, field } of TRANSFORM_BY_NAME.get(name)?.check?.(argument, defaults, module) ?? [])
      report(code, message, field === undefined ? at : [...at, field], hint);
  }
}

/**
 * Entries of one type can share external ids, even across sources, so they must agree on `duplicates`. Custom fields are sent as a whole, so
 * entries whose rows are folded into one record must agree on how to send them; created rows are never folded into each other.
 */
function checkAgreement(events: readonly (EntrySpec | undefined)[], defaults: Defaults, report: Report): void {
  const given = events.flatMap((entry, index) =>
    entry ? [{ entry, index, kind: entityOf(entry.type), policies: policiesOf(entry, defaults) }] : [],
  );
  type Given = (typeof given)[number];
  const contradicts = ({ index, entry }: Given, key: 'duplicates' | 'if_changed', message: string, advice: string) =>
    void report('contradiction', message, ['events', index, ...(entry[key] === undefined ? [] : [key])], advice);
  for (const [at, own] of given.entries()) {
    const before = given.slice(0, at);
    const { type } = own.entry;
    const { duplicates } = own.policies;
    const twin = isUpdate(type) ? undefined : before.find(({ entry }) => entry.type === type);
    if (twin && twin.policies.duplicates !== duplicates) {
      const message = `\`duplicates: ${duplicates}\` contradicts \`duplicates: ${twin.policies.duplicates}\` in event ${twin.index + 1} of the same type`;
      const advice = `both entries can produce the same ${own.kind} id: use the same setting in both`;
      contradicts(own, 'duplicates', message, advice);
    }
    const policy = ofCustomFields(own.entry, own.policies);
    const folded = before.filter(({ entry, kind }) => kind === own.kind && (isUpdate(type) || isUpdate(entry.type)));
    for (const { index, entry, policies } of policy === undefined ? [] : folded) {
      const elsewhere = ofCustomFields(entry, policies);
      if (elsewhere === undefined || elsewhere === policy) continue;
      const message = `\`if_changed\` means \`${policy}\` for the custom fields here, and \`${elsewhere}\` in event ${index + 1}`;
      const advice = `custom fields are sent as a whole, and both entries can set those of one ${own.kind}: use the same setting in both`;
      contradicts(own, 'if_changed', message, advice);
      break;
    }
  }
}

/** What `if_changed` means for the custom fields of an entry: a list sends what it names, and ignores the rest. Undefined if it has none. */
function ofCustomFields({ type, data }: EntrySpec, { if_changed: policy }: Policies): string | undefined {
  const { custom } = kindOfType(type);
  if (custom === undefined || data[custom] === undefined) return undefined;
  if (typeof policy === 'string') return policy;
  return policy.includes(custom) ? 'update' : 'ignore';
}
