/** Presets: mappings for known CRMs that are part of this package. Their values take the place of guesses where their columns are there. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { UserError } from '../../errors.ts';
import type { MappingSpec } from '../../mapping/schema.ts';
import {
  isAlternatives,
  type ConditionSpec,
  type EntrySpec,
  type LookupSpec,
  type TransformSpec,
  type ValueObject,
  type ValueSpec,
} from '../../mapping/spec.ts';
import { parseTemplate } from '../../mapping/kinds/template.ts';
import { didYouMean } from '../../problem.ts';
import type { Column, Table } from './columns.ts';
import { doubtOf, formatsOf, readsAll } from './dates.ts';
import type { RecordKind } from './roles.ts';
import { fold } from './words.ts';
import { lookupsIn } from './yaml.ts';

const FOLDER = fileURLToPath(new URL('../../../mappings/', import.meta.url));

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

/** The tables that match the sources of a preset. */
export interface PresetMatch {
  readonly preset: Preset;
  readonly tables: ReadonlyMap<string, Table>;
  /** Number of columns of the preset found in them. */
  readonly found: number;
}

/** Minimum share of a source's columns for a match. A source of events must also have its id column, and one that not any CRM may have. */
const MIN_SHARE = 0.4;

/** Names, as in `comparable`, that the columns of any CRM's export may have. */
const COMMON =
  /^(?:id|(?:contact|deal|record) ?id|lifecycle ?stage|lead ?(?:status|source)|pipeline|(?:deal|contact) ?owner|name|first ?name|last ?name|full ?name|e ?mail|phone|mobile(?: ?phone)?|(?:job ?)?title|company|owner|status|stage|amount|value|currency|created ?(?:at|date|on)?|type|subject|description|body|content|notes?|city|country)$/;

export function matchPreset(preset: Preset, tables: readonly Table[]): PresetMatch {
  const { sources, events } = preset.spec;
  const pairs = tables.flatMap((table) =>
    [...preset.columns].flatMap(([source, columns]) => {
      const { path } = sources[source]!;
      if (table.list !== undefined || (table.from.source.kind === 'tree') !== /json/.test(path)) return [];
      const has = new Set(
        [
          ...table.columns.map(({ name }) => name),
          ...table.columns.flatMap(({ list }) => list ?? []),
          ...table.from.source.columns,
        ].map(comparable),
      );
      const shared = [...columns].filter((column) => has.has(comparable(column)));
      const hasId = idColumnsOf(preset.spec, source).some((id) => has.has(comparable(id)));
      const isOwn =
        events.every((entry) => entry.source !== source) || shared.some((name) => !COMMON.test(comparable(name)));
      const least = Math.max(Math.min(2, columns.size), columns.size * MIN_SHARE);
      if (!hasId || !isOwn || shared.length < least) return [];
      // The file name distinguishes exports with the same columns.
      const named = fold(basename(table.from.path)).includes(fold(basename(path).replace(/(?:_\d+)?\.\w+$/, '')));
      return [{ table, source, path, found: shared.length, score: shared.length / columns.size + (named ? 0.5 : 0) }];
    }),
  );
  const chosen = new Map<string, Table>();
  let found = 0;
  for (const pair of pairs.sort((a, b) => b.score - a.score)) {
    // One file may be two sources, such as pipelines and their stages.
    const isTaken = [...chosen].some(([source, taken]) => taken === pair.table && sources[source]?.path !== pair.path);
    if (chosen.has(pair.source) || isTaken) continue;
    chosen.set(pair.source, pair.table);
    found += pair.found;
  }
  return { preset, tables: chosen, found };
}

/**
 * The preset that matches most of the exports; undefined if none matches. `kindsAlone`: what the columns of a table show by themselves:
 * deals with a few columns of the notes of a preset are no notes.
 */
export function bestMatch(
  known: readonly Preset[],
  tables: readonly Table[],
  kindsAlone: (table: Table) => readonly RecordKind[],
): PresetMatch | undefined {
  const matches = known
    .map((preset) => matchPreset(preset, tables))
    .map((match) => {
      const { events } = match.preset.spec;
      const fits = ([source, table]: readonly [string, Table]): boolean => {
        const kinds = events.flatMap((entry) => (entry.source === source ? [entry.type] : []));
        return (
          kinds.length === 0 || kinds.some((type) => type !== 'comment/created') || !kindsAlone(table).includes('deals')
        );
      };
      return { ...match, tables: new Map([...match.tables].filter(fits)) };
    })
    .filter((match) => match.preset.spec.events.some(({ source }) => match.tables.has(source)));
  const covered = (match: PresetMatch): number => new Set(match.tables.values()).size;
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

/** Case and spacing of headers do not matter, nor do positions in lists: but `FirstName` is another column than `First Name`. */
export function comparable(name: string): string {
  return fold(name.toLowerCase());
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

/** Fits the values of a preset to the given exports: spelling of columns, missing columns, formats of dates and numbers. */
export class Fitter {
  /** Columns that the preset reads but the export does not have. */
  readonly missing = new Set<string>();
  /** What is uncertain about the value fitted last. */
  doubt: string | undefined;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #source: string;

  constructor(tables: ReadonlyMap<string, Table>, source: string) {
    this.#tables = tables;
    this.#source = source;
  }

  /** Undefined if the export has none of its columns. */
  fit(value: ValueSpec | undefined): ValueSpec | undefined {
    this.doubt = undefined;
    return value === undefined ? undefined : this.#value(value, this.#source);
  }

  /** Drops conditions on missing columns. */
  condition({ all, any, not, ...test }: ConditionSpec): ConditionSpec | undefined {
    if (not) {
      const fitted = this.condition(not);
      return fitted && { not: fitted };
    }
    const parts = all ?? any;
    if (!parts) return this.#value(test, this.#source) as ConditionSpec | undefined;
    const fitted = parts.flatMap((part) => this.condition(part) ?? []);
    return fitted.length > 1 ? { [all ? 'all' : 'any']: fitted } : fitted[0];
  }

  #value(value: ValueSpec, source: string): ValueSpec | undefined {
    if (typeof value === 'string') return this.#column(value, source);
    const { from, list, template, lookup, ...rest } = value;
    const base = this.#base({ from, list, template, lookup }, source);
    if (base === undefined) return undefined;
    if (typeof base.from === 'string' && Object.keys(rest).length === 0) return base.from;
    const apply = rest.apply?.map((item) => this.#transform(item, base, source));
    return { ...base, ...rest, ...(apply ? { apply } : {}) };
  }

  /** Where a value comes from; nothing for a constant. */
  #base({ from, list, template, lookup }: ValueObject, source: string): ValueObject | undefined {
    if (template !== undefined) return this.#template(template, source);
    if (lookup) return this.#lookup(lookup, source);
    if (list) {
      const members = list.flatMap((each) => this.#value(each, source) ?? []);
      return members.length === 0 ? undefined : { list: members };
    }
    if (from === undefined) return {};
    if (isAlternatives(from)) return this.#alternatives(from, source);
    const fitted = this.#value(from, source);
    return fitted === undefined ? undefined : { from: fitted };
  }

  /** The alternatives that exist; the others do not count as missing. Two spellings of one column count as one. */
  #alternatives(specs: readonly ValueSpec[], source: string): ValueObject | undefined {
    const before = [...this.missing];
    const [only, ...others] = new Set(specs.flatMap((each) => this.#value(each, source) ?? []));
    if (only === undefined) return undefined;
    for (const name of this.missing) if (!before.includes(name)) this.missing.delete(name);
    if (others.length > 0) return { from: [only, ...others] };
    return typeof only === 'object' && only.apply === undefined ? only : { from: only };
  }

  #template(template: string, source: string): ValueObject | undefined {
    const parts = parseTemplate(template).map((part) => {
      if ('literal' in part) return part.literal.replace(/[{}]/g, '$&$&');
      const column = this.#column(part.path, source);
      return column === undefined ? undefined : `{${column}}`;
    });
    return parts.includes(undefined) ? undefined : { template: parts.join('') };
  }

  #lookup(lookup: LookupSpec, source: string): ValueObject | undefined {
    if (!this.#tables.has(lookup.source)) return undefined;
    const wanted = this.#value(lookup.with, source);
    const match = this.#value(lookup.match, lookup.source);
    const take = this.#value(lookup.take, lookup.source);
    return wanted === undefined || match === undefined || take === undefined
      ? undefined
      : { lookup: { ...lookup, match, with: wanted, take } };
  }

  /** Paths into JSON are kept: other records may have values that the sampled ones do not have. */
  #column(name: string, source: string): string | undefined {
    const table = this.#tables.get(source);
    if (!table || table.from.source.kind === 'tree') return name;
    const { columns, duplicateColumns } = table.from.source;
    const found = columns.includes(name) ? name : columns.find((column) => comparable(column) === comparable(name));
    if (found !== undefined) {
      const isDuplicate = duplicateColumns.has(found);
      if (isDuplicate) this.doubt = `check: the header ${found} occurs several times; the first column with it is used`;
      const own = isDuplicate ? `${found}#1` : found;
      return this.#columnNamed(own, table)?.filled === 0 && table.whole ? undefined : own;
    }
    this.missing.add(name);
    return undefined;
  }

  #columnNamed(name: string, { columns }: Table): Column | undefined {
    return columns.find((column) => column.name === name);
  }

  /** A transform with the formats of the values in place of those of the preset. */
  #transform(item: TransformSpec, { from }: ValueObject, source: string): TransformSpec {
    const [first] = [from].flat();
    const table = this.#tables.get(source);
    const column = table && typeof first === 'string' ? this.#columnNamed(first, table) : undefined;
    if (typeof item === 'string' || !column || column.filled === 0) return item;
    if ('number' in item && column.separators) {
      const { decimal, group } = column.separators;
      const { divide } = item['number'] as { divide?: number };
      return { number: { decimal, ...(group && { group }), ...(divide !== undefined && { divide }) } };
    }
    const { date } = column;
    if (!('date' in item) || !date) return item;
    const given = item['date'] as string | readonly string[] | { formats: string | readonly string[] };
    const isObject = typeof given === 'object' && 'formats' in given;
    if (!date.ambiguous && readsAll(column.values, [isObject ? given.formats : given].flat())) return item;
    this.doubt = doubtOf(date);
    return { date: isObject ? { ...given, formats: formatsOf(date) } : formatsOf(date) };
  }
}
