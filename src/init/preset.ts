/** Presets: mappings for known CRMs that are part of this package, matched by the columns they read. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { UserError } from '../errors.ts';
import type { MappingSpec } from '../mapping/schema.ts';
import type { ConditionSpec, EntrySpec } from '../mapping/spec.ts';
import { parseTemplate } from '../mapping/template.ts';
import { didYouMean } from '../problem.ts';
import { pathOf, type Table } from './columns.ts';
import { lookupsIn } from './entry-text.ts';
import { foldHeader, foldSpelling } from './value-text.ts';

const FOLDER = fileURLToPath(new URL('../../mappings/', import.meta.url));

export interface Preset {
  readonly name: string;
  readonly spec: MappingSpec;
  /** Columns or paths that the preset reads, by source. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
}

export async function presets(): Promise<readonly Preset[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.yaml')).sort();
  return Promise.all(
    files.map(async (file) => {
      const spec = parse(await readFile(join(FOLDER, file), 'utf8')) as MappingSpec;
      return { name: basename(file, '.yaml'), spec, columns: columnsOf(spec.events) };
    }),
  );
}

/** Throws a `UserError` that lists the presets. */
export function presetNamed(name: string, known: readonly Preset[]): Preset {
  const found = known.find((preset) => preset.name === name);
  if (found) return found;
  const names = known.map((preset) => preset.name);
  throw new UserError(`unknown preset \`${name}\``, {
    hint: didYouMean(name, names) ?? `available presets: ${names.map((each) => `\`${each}\``).join(', ')}`,
  });
}

/** The exports that match the sources of a preset. */
export interface PresetMatch {
  readonly preset: Preset;
  readonly exports: ReadonlyMap<string, Table>;
  /** Number of columns of the preset found in the exports. */
  readonly found: number;
}

/**
 * Minimum share of a source's columns for a match. A source of events must also have its id column, and a column that
 * not any CRM may have: `LeadSource`, but not `Email`.
 */
const MIN_SHARE = 0.4;

/** Names, as in `comparable`, that the columns of any CRM's export may have. */
const COMMON =
  /^(?:id|name|first ?name|last ?name|full ?name|e ?mail|phone|mobile(?: ?phone)?|(?:job ?)?title|company|owner|status|stage|amount|value|currency|created ?(?:at|date|on)?|type|subject|description|body|content|notes?|city|country)$/;

export function matchPreset(preset: Preset, exports: readonly Table[]): PresetMatch {
  const { sources, events } = preset.spec;
  const pairs = exports.flatMap((each) =>
    [...preset.columns].flatMap(([source, columns]) => {
      const { path } = sources[source]!;
      if ((each.from.source.kind === 'tree') !== /json/.test(path)) return [];
      const own = [each, ...each.lists].flatMap((table) => table.columns);
      const has = new Set([...own.map(pathOf), ...each.from.source.columns].map(comparable));
      const shared = [...columns].filter((column) => has.has(comparable(column)));
      const hasId = idColumnsOf(preset.spec, source).some((id) => has.has(comparable(id)));
      const isOwn =
        events.every((entry) => entry.source !== source) || shared.some((name) => !COMMON.test(comparable(name)));
      const least = Math.max(Math.min(2, columns.size), columns.size * MIN_SHARE);
      if (!hasId || !isOwn || shared.length < least) return [];
      // The file name distinguishes exports with the same columns.
      const file = foldHeader(basename(path).replace(/(?:_\d+)?\.\w+$/, ''));
      const named = foldHeader(basename(each.from.path)).includes(file);
      const score = shared.length / columns.size + (named ? 0.5 : 0);
      return [{ each, source, path, found: shared.length, score }];
    }),
  );
  const chosen = new Map<string, Table>();
  let found = 0;
  for (const pair of pairs.sort((a, b) => b.score - a.score)) {
    // One file may be two sources, such as pipelines and their stages.
    const isTaken = [...chosen].some(([source, taken]) => taken === pair.each && sources[source]?.path !== pair.path);
    if (chosen.has(pair.source) || isTaken) continue;
    chosen.set(pair.source, pair.each);
    found += pair.found;
  }
  return { preset, exports: chosen, found };
}

/** The preset that matches most of the exports; undefined if none matches. */
export function bestMatch(known: readonly Preset[], exports: readonly Table[]): PresetMatch | undefined {
  const matches = known
    .map((preset) => matchPreset(preset, exports))
    .filter((match) => match.preset.spec.events.some(({ source }) => match.exports.has(source)));
  const covered = (match: PresetMatch): number => new Set(match.exports.values()).size;
  return matches.sort((a, b) => covered(b) - covered(a) || b.found - a.found)[0];
}

/** The columns that can provide the ids of a source's events, or by which a lookup finds its records. */
function idColumnsOf({ events }: MappingSpec, source: string): string[] {
  const own = events.filter((entry) => entry.source === source);
  const columns =
    own.length > 0
      ? own.flatMap((entry) => readBy(entry, entry.data['external_id']))
      : events.flatMap(lookupsIn).flatMap((lookup) => [...columnsIn(lookup.match, lookup.source)]);
  return columns.flatMap((column) => (column.source === source ? [column.path] : []));
}

/** Normalises case and spacing of headers, and removes list positions from paths. */
export function comparable(name: string): string {
  return foldSpelling(name.replace(/\[\d+\]/g, ''));
}

/** The columns or paths that entries read, by source; those within `each` as paths from the record. */
export function columnsOf(entries: readonly EntrySpec[]): ReadonlyMap<string, ReadonlySet<string>> {
  const columns = new Map<string, Set<string>>();
  for (const entry of entries) {
    const { data, occurred_at, stage_pipeline, priority, when } = entry;
    const fields = Object.entries(data).flatMap(([key, value]): unknown[] =>
      isCustom(key) ? Object.values(value ?? {}) : [value],
    );
    for (const { source, path } of readBy(entry, [...fields, occurred_at, stage_pipeline, priority, when])) {
      if (path !== '$' && path !== '.') columns.set(source, (columns.get(source) ?? new Set()).add(path));
    }
  }
  return columns;
}

export function isCustom(field: string): boolean {
  return field.startsWith('custom_');
}

interface ReadColumn {
  readonly source: string;
  readonly path: string;
}

/** What a value of an entry reads, with paths from the record. */
function readBy({ each, source }: EntrySpec, value: unknown): ReadColumn[] {
  const fromRecord = (path: string): string => (path.startsWith('$.') ? path.slice(2) : `${each as string}.${path}`);
  return [...columnsIn(value, source)].map((column) =>
    typeof each === 'string' && column.source === source ? { source, path: fromRecord(column.path) } : column,
  );
}

/** What values and conditions read. */
function* columnsIn(value: unknown, source: string): Generator<ReadColumn> {
  if (typeof value === 'string') yield { source, path: value };
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) for (const each of value as readonly unknown[]) yield* columnsIn(each, source);
  const { from, list, template = '', lookup, all, any, not } = value as ConditionSpec;
  for (const part of [from, list, all, any, not, lookup?.with]) yield* columnsIn(part, source);
  for (const part of parseTemplate(template)) if ('path' in part) yield { source, path: part.path };
  if (lookup) yield* columnsIn([lookup.match, lookup.take], lookup.source);
}
