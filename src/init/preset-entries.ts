/** The entries of a preset, adapted to the given exports, as text. */
import { basename } from 'node:path';
import type { EntrySpec, ValueObject, ValueSpec } from '../mapping/spec.ts';
import { fitEntry, type FittedEntry } from './adapt.ts';
import { pathOf, type Table } from './columns.ts';
import { entryText, type CrmNames, type EntryLine, type EntryText } from './entry-text.ts';
import { guess, type Guess } from './guess.ts';
import type { Export } from './open-export.ts';
import { nameJoin, type KnownExports } from './joins.ts';
import { parentLine, parentOf } from './parents.ts';
import type { Reference } from './references.ts';
import { columnsOf, comparable, type PresetMatch } from './preset.ts';
import { flow } from './value-text.ts';

export interface PresetEntry extends EntryText {
  readonly entry: EntrySpec;
  /** The leads or deals that it creates, for joins from other exports. */
  readonly parents: readonly Guess[];
}

/**
 * The entries, and what was recognised, with each entry that is omitted. `others`: exports that the preset does not read.
 * `comments`: lists inside records that become comments, if the preset does not read them.
 */
export function fitPreset(
  { preset, exports, found }: PresetMatch,
  others: KnownExports,
  comments: ReadonlySet<Table>,
): { readonly entries: readonly PresetEntry[]; readonly findings: readonly string[] } {
  const { references } = others;
  const files = [...exports].map(([name, each]) => `${basename(each.from.path)} is \`${name}\``);
  const findings = [`preset ${preset.name}: ${files.join(', ')} (${found} columns recognised)`];
  const leads: Guess[] = [];
  const entries = preset.spec.events.flatMap((spec): PresetEntry[] => {
    const fitted = fitEntry(spec, exports, references);
    if ('why' in fitted) {
      findings.push(`${spec.type} from \`${spec.source}\` is omitted: ${fitted.why}`);
      return [];
    }
    const { entry } = fitted;
    const table = exports.get(spec.source)!;
    const parents = parentsOf(entry, table, references);
    if (spec.type === 'lead/created') leads.push(...parents);
    addCompany(fitted, parents, others);
    const isDeal = spec.type === 'deal/created';
    const lines = isDeal ? addLead(fitted, parents, { guesses: leads, references }) : [];
    const unused = unusedText(entry, table, comments);
    return [{ entry, ...fittedText(fitted, lines, unused, isDeal ? namesIn(entry, exports) : []), parents }];
  });
  return { entries, findings };
}

function parentsOf({ type, source, data }: EntrySpec, own: Table, references: readonly Reference[]): Guess[] {
  const kind = type === 'lead/created' ? 'leads' : type === 'deal/created' ? 'deals' : 'comments';
  const column = own.columns.find(({ name }) => name === data['external_id']);
  if (!column) return [];
  const found = guess(own, references, source, { kind });
  return [{ ...found, roles: new Map([...found.roles, ['id', { column, why: 'of the preset', unnamed: false }]]) }];
}

/** Adds the name of the company as a custom field, if the records have its id and another export its name. */
function addCompany({ entry, data }: FittedEntry, [own]: readonly Guess[], others: KnownExports): void {
  const field = entry.type === 'deal/created' ? 'custom_fields' : 'custom_params';
  const custom = data[field] as Readonly<Record<string, ValueSpec>> | undefined;
  const company = own && nameJoin(own, others, 'company')?.line('company');
  if (!company || custom?.['company'] !== undefined || custom?.['account'] !== undefined) return;
  data[field] = { ...custom, company: company.value as ValueSpec };
}

/** Joins a deal by the overlap of values, if its lead is not in the columns that the preset knows. Returns the line for it if there is no join. */
function addLead({ data, remarks }: FittedEntry, [own]: readonly Guess[], leads: KnownExports): EntryLine[] {
  if (!own || data['lead_external_id'] !== undefined) return [];
  const [line] = parentLine('lead_external_id', parentOf(own, 'leads', leads));
  if (!line || line.off) return line ? [line] : [];
  data['lead_external_id'] = line.value as ValueSpec;
  remarks.set('data.lead_external_id', line.comment!);
  return [];
}

/** Columns and lists with values that the preset does not use, usually custom fields of the company. */
function unusedText(entry: EntrySpec, { columns, lists }: Table, comments: ReadonlySet<Table>): string[] {
  const used = [...(columnsOf([entry]).get(entry.source) ?? [])].map(comparable);
  const isUsed = (name: string): boolean =>
    used.some((each) => each === comparable(name) || `${comparable(name)} `.startsWith(`${each} `));
  const unused = [
    ...columns.flatMap(({ name, filled }) => (filled > 0 && !isUsed(name) ? [name] : [])),
    ...lists.flatMap((each) =>
      comments.has(each) || each.columns.some((column) => isUsed(pathOf(column))) ? [] : [each.list!],
    ),
  ];
  if (unused.length === 0) return [];
  return [`check: not used, although they have values: ${unused.map((name) => flow(name)).join(', ')}`];
}

function fittedText(
  { entry: { type, source, data, ...settings }, remarks, missing, empty }: FittedEntry,
  more: readonly EntryLine[],
  unused: readonly string[],
  names: readonly CrmNames[],
): EntryText {
  const lines = (prefix: string, values: object): EntryLine[] =>
    Object.entries(values).flatMap(([key, value]) =>
      value === undefined ? [] : [{ key, value: value as unknown, comment: remarks.get(`${prefix}${key}`) }],
    );
  const inside = [...remarks].filter(([path]) => path.startsWith('data.custom_'));
  const above = [
    ...unused,
    ...(missing.size > 0 ? [`not in this export: ${[...missing].join(', ')}`] : []),
    ...(empty.size > 0 ? [`without a value in this export: ${[...empty].join(', ')}`] : []),
    ...inside.map(([path, remark]) => `${path.slice('data.'.length)}: ${remark}`),
  ];
  return entryText(type, source, lines('', settings), [...lines('data.', data), ...more], { above, names });
}

/** The names of stages, owners and pipelines that a deal uses, as far as they come from columns. */
function namesIn({ source, data, stage_pipeline }: EntrySpec, exports: ReadonlyMap<string, Table>): CrmNames[] {
  const values = [
    ['stages', data['stage_name']],
    ['owners', data['owner_name']],
    ['pipelines', stage_pipeline],
  ] as const;
  return values.flatMap(([kind, value]) =>
    unchangedColumns(value, source).flatMap(({ from, path }): CrmNames[] => {
      const column = exports.get(from)?.columns.find(({ name }) => name === path);
      return column ? [[kind, column.few()]] : [];
    }),
  );
}

/** The columns whose values are used unchanged: no lookup keys, no values with transforms. */
function unchangedColumns(value: unknown, source: string): { from: string; path: string }[] {
  if (typeof value === 'string') return [{ from: source, path: value }];
  if (Array.isArray(value)) return value.flatMap((each) => unchangedColumns(each, source));
  const { from, lookup, apply } = (value ?? {}) as ValueObject;
  if (apply !== undefined || (!lookup && from === undefined)) return [];
  return lookup ? unchangedColumns(lookup.take, lookup.source) : unchangedColumns(from, source);
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
