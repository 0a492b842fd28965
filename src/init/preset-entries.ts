/** The entries of a preset, adapted to the given exports, as text. */
import { basename } from 'node:path';
import type { EntrySpec, ValueSpec } from '../mapping/spec.ts';
import { fitEntry, type FittedEntry } from './adapt.ts';
import { pathOf, type Table } from './columns.ts';
import { entryText, type EntryLine, type EntryText } from './entry-text.ts';
import { guess, type Guess } from './guess.ts';
import type { Export } from './open-export.ts';
import { companyJoin } from './name-joins.ts';
import { countNames, type CrmNames } from './names.ts';
import { parentLine, parentOf, type KnownExports } from './parents.ts';
import type { Reference } from './references.ts';
import { columnsOf, comparable, type PresetMatch } from './preset.ts';
import { flow } from './value-text.ts';

export interface PresetEntry extends EntryText {
  readonly entry: EntrySpec;
  /** The leads or deals that it creates, for joins from other exports. */
  readonly parents: readonly Guess[];
}

/**
 * `findings` gets what was recognised, and each entry that is omitted. `others`: exports that the preset does not read.
 * `comments`: lists inside records that become comments, if the preset does not read them.
 */
export function fitPreset(
  match: PresetMatch,
  { others, comments }: { readonly others: KnownExports; readonly comments: ReadonlySet<Table> },
  names: CrmNames,
  findings: string[],
): PresetEntry[] {
  const { preset, exports } = match;
  findings.push(
    `preset ${preset.name}: ${[...exports].map(([name, each]) => `${basename(each.from.path)} is \`${name}\``).join(', ')} ` +
      `(${match.found} columns recognised)`,
  );
  const leads: Guess[] = [];
  return preset.spec.events.flatMap((spec) => {
    const fitted = fitEntry(spec, exports, others.references);
    if ('why' in fitted) {
      findings.push(`${spec.type} from \`${spec.source}\` is omitted: ${fitted.why}`);
      return [];
    }
    const parents = parentsOf(fitted.entry, exports.get(spec.source)!, others.references);
    if (spec.type === 'lead/created') leads.push(...parents);
    const named = joinCompany(fitted, parents, others);
    const joined =
      spec.type === 'deal/created'
        ? joinLead(named, parents, { guesses: leads, references: others.references })
        : named;
    if (spec.type === 'deal/created') nameDeals(joined.entry, exports, names);
    const above = unknownText(joined, exports, comments);
    return [{ entry: joined.entry, ...fittedText(joined, above), parents }];
  });
}

function parentsOf({ type, source, data }: EntrySpec, own: Table, references: readonly Reference[]): Guess[] {
  const kind = type === 'lead/created' ? 'leads' : type === 'deal/created' ? 'deals' : 'comments';
  const column = own.columns.find(({ name }) => name === data['external_id']);
  if (!column) return [];
  const found = guess(own, references, source, { kind });
  return [{ ...found, roles: new Map([...found.roles, ['id', { column, why: 'of the preset', unnamed: false }]]) }];
}

/** Adds the name of the company as a custom field, if the records have its id and another export its name. */
function joinCompany(fitted: FittedEntry, [own]: readonly Guess[], others: KnownExports): FittedEntry {
  const field = fitted.entry.type === 'deal/created' ? 'custom_fields' : 'custom_params';
  const custom = fitted.entry.data[field] as Readonly<Record<string, ValueSpec>> | undefined;
  const company = own && companyJoin(own, others)?.line('company');
  if (!company || custom?.['company'] !== undefined || custom?.['account'] !== undefined) return fitted;
  const data = { ...fitted.entry.data, [field]: { ...custom, company: company.value as ValueSpec } };
  return { ...fitted, entry: { ...fitted.entry, data } };
}

/** A deal whose lead is not in the columns that the preset knows, joined by the overlap of values. */
function joinLead(fitted: FittedEntry, deals: readonly Guess[], leads: KnownExports): FittedEntry {
  const [own] = deals;
  if (!own || fitted.entry.data['lead_external_id'] !== undefined) return fitted;
  const [line] = parentLine('lead_external_id', parentOf(own, 'leads', leads));
  if (!line?.comment) return fitted;
  if (line.off) return { ...fitted, lines: [line] };
  const data = { ...fitted.entry.data, lead_external_id: line.value as ValueSpec };
  return {
    ...fitted,
    entry: { ...fitted.entry, data },
    remarks: new Map([...fitted.remarks, ['data.lead_external_id', line.comment]]),
  };
}

/** Columns and lists with values that the preset does not use, usually custom fields of the company. */
function unknownText(
  { entry }: FittedEntry,
  exports: ReadonlyMap<string, Table>,
  comments: ReadonlySet<Table>,
): string[] {
  const { columns, lists } = exports.get(entry.source)!;
  const used = [...(columnsOf([entry]).get(entry.source) ?? [])].map(comparable);
  const isUsed = (path: string): boolean => used.some((each) => each === path || `${path} `.startsWith(`${each} `));
  const names = columns.flatMap(({ name, filled }) => (filled > 0 ? [name] : []));
  const known = lists.flatMap((each) =>
    comments.has(each) || each.columns.some((column) => isUsed(comparable(pathOf(column)))) ? [] : [each.list!],
  );
  const unknown = [...names.filter((name) => !isUsed(comparable(name))), ...known];
  if (unknown.length === 0) return [];
  return [`check: not used, although they have values: ${unknown.map((name) => flow(name)).join(', ')}`];
}

function fittedText({ entry, remarks, missing, empty, lines = [] }: FittedEntry, above: readonly string[]): EntryText {
  const { type, source, data, ...settings } = entry;
  const line = (prefix: string, [key, value]: readonly [string, unknown]): EntryLine => ({
    key,
    value,
    comment: remarks.get(`${prefix}${key}`),
  });
  const inside = [...remarks].filter(([path]) => path.startsWith('data.custom_'));
  return entryText(
    type,
    source,
    Object.entries(settings).map((each) => line('', each)),
    [...Object.entries(data).map((each) => line('data.', each)), ...lines],
    [
      ...above,
      ...(missing.length > 0 ? [`not in this export: ${missing.join(', ')}`] : []),
      ...(empty.length > 0 ? [`without a value in this export: ${empty.join(', ')}`] : []),
      ...inside.map(([path, remark]) => `${path.slice('data.'.length)}: ${remark}`),
    ],
  );
}

/** Counts the names of stages, pipelines and owners that the deals use, as far as they come from columns. */
function nameDeals(
  { source, data, stage_pipeline: pipeline }: EntrySpec,
  exports: ReadonlyMap<string, Table>,
  names: CrmNames,
): void {
  const count = (into: Map<string, number>, value: unknown): void => {
    for (const { from, path } of columnsIn(value, source)) {
      countNames(
        into,
        exports.get(from)?.columns.find(({ name }) => name === path),
      );
    }
  };
  count(names.stages, data['stage_name']);
  count(names.owners, data['owner_name']);
  count(names.pipelines, pipeline);
}

/** The columns whose values are used unchanged: no lookup keys, no values with transforms. */
function columnsIn(value: unknown, source: string): { from: string; path: string }[] {
  if (typeof value === 'string') return [{ from: source, path: value }];
  if (Array.isArray(value)) return value.flatMap((each) => columnsIn(each, source));
  if (typeof value !== 'object' || value === null) return [];
  const { from, lookup, apply } = value as {
    from?: unknown;
    lookup?: { source: string; take: unknown };
    apply?: unknown;
  };
  if (apply !== undefined) return [];
  return lookup ? columnsIn(lookup.take, lookup.source) : columnsIn(from, source);
}

/** In the preset's order. If the preset reads a list inside the file's records, so does the mapping. */
export function usedSources(match: PresetMatch | undefined, entries: readonly PresetEntry[]): [string, Export][] {
  if (!match) return [];
  return Object.entries(match.preset.spec.sources).flatMap(([name, { records }]): [string, Export][] => {
    const found = match.exports.get(name)?.from;
    if (!found || !entries.some(({ reads }) => reads.has(name))) return [];
    const deeper = records !== undefined && records.startsWith(`${found.settings.records ?? ''}[`);
    return [[name, deeper ? { ...found, settings: { ...found.settings, records } } : found]];
  });
}
