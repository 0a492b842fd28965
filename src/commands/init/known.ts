/** Headers that known CRMs write, and what they mean there: evidence in the matrix, taken from the mappings of this package. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { UserError } from '../../errors.ts';
import { entityOf, kindOfType } from '../../kinds/index.ts';
import type { MappingSpec } from '../../mapping/schema.ts';
import type { EntrySpec } from '../../mapping/spec.ts';
import { didYouMean } from '../../problem.ts';
import type { Table } from './columns.ts';
import { FIELD_ROLES, timeOf, type RecordKind, type Role } from './matrix/roles.ts';
import { fold } from './words.ts';
import { readsOf } from './lines/yaml.ts';

const FOLDER = fileURLToPath(new URL('../../../mappings/', import.meta.url));

/** What a known CRM's header means: a role, or a column that has none. */
export type KnownMeaning = Role | 'none';

/** An export of a known CRM, or a list in its records. */
interface KnownExport {
  readonly crm: string;
  /** The name of its file without an ending. */
  readonly file: string;
  readonly isTree: boolean;
  readonly each: string | undefined;
  /** By header, as `comparable`. */
  readonly kinds: ReadonlyMap<RecordKind, ReadonlyMap<string, KnownMeaning>>;
  /** All that it reads. */
  readonly headers: ReadonlySet<string>;
}

export interface KnownCrms {
  readonly names: readonly string[];
  readonly exports: readonly KnownExport[];
  /** Texts that stand for no value in them. */
  readonly missing: readonly string[];
}

export async function knownCrms(): Promise<KnownCrms> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.yaml')).sort();
  const specs = await Promise.all(
    files.map(
      async (file) =>
        [basename(file, '.yaml'), parse(await readFile(join(FOLDER, file), 'utf8'), { merge: true })] as const,
    ),
  );
  const all = specs as [string, MappingSpec][];
  return {
    names: all.map(([name]) => name),
    exports: all.flatMap(([name, spec]) => exportsOf(name, spec)),
    missing: [...new Set(all.flatMap(([, spec]) => spec.defaults?.missing_values ?? []))],
  };
}

function exportsOf(crm: string, { sources, events }: MappingSpec): KnownExport[] {
  const known = (source: string, each: EntrySpec['each'], rest: Pick<KnownExport, 'kinds' | 'headers'>) => {
    const { path } = sources[source]!;
    const file = fold(basename(path).replace(/(?:_\d+)?\.\w+$/, ''));
    return { crm, file, isTree: /json/.test(path), each: typeof each === 'string' ? each : undefined, ...rest };
  };
  const reads = events.flatMap((entry) => [...readsOf(Object.values(valuesOf(entry)))]);
  return Object.keys(sources).flatMap((source) => {
    const own = events.filter((entry) => entry.source === source);
    const headers = new Set(reads.flatMap((each) => (each.source === source ? [comparable(each.path)] : [])));
    if (own.length === 0) return [known(source, undefined, { kinds: new Map(), headers })];
    return [...new Set(own.map(({ each }) => each))].map((each) => {
      const entries = own.filter((entry) => entry.each === each);
      const kinds = new Map(entries.map((entry) => [entityOf(entry.type) as RecordKind, meaningsOf(entry)]));
      return known(source, each, { kinds, headers: new Set([...kinds.values()].flatMap((all) => [...all.keys()])) });
    });
  });
}

/** The values of an entry by their fields and settings; those of all custom fields together. */
function valuesOf({ type, data, ...settings }: EntrySpec): Readonly<Record<string, unknown>> {
  const { custom } = kindOfType(type);
  return { ...settings, ...data, ...(custom && { [custom]: Object.values(data[custom] ?? {}) }) };
}

function meaningsOf(entry: EntrySpec): Map<string, KnownMeaning> {
  const { name, custom } = kindOfType(entry.type);
  const values = valuesOf(entry);
  const roles = { ...FIELD_ROLES, occurred_at: [timeOf(name as RecordKind)], ...(custom && { [custom]: [] }) };
  const meanings = new Map<string, KnownMeaning>();
  for (const [field, [one, ...parts]] of Object.entries<readonly Role[]>(roles)) {
    const lists = [...listsIn(values[field])];
    for (const { path, source } of readsOf(values[field])) {
      const at = lists.map((list) => list.indexOf(path)).find((place) => place >= 0);
      const role = (at === undefined ? one : parts[at]) ?? 'none';
      if (source === undefined && !meanings.has(comparable(path))) meanings.set(comparable(path), role);
    }
  }
  return meanings;
}

function* listsIn(value: unknown): Generator<readonly unknown[]> {
  if (typeof value !== 'object' || value === null) return;
  const { list } = value as { list?: readonly unknown[] };
  if (list) yield list;
  for (const each of Object.values(value) as unknown[]) yield* listsIn(each);
}

/** Case and spacing of headers do not matter, nor do positions in lists: but `FirstName` is another column than `First Name`. */
function comparable(name: string): string {
  return fold(name.toLowerCase());
}

/** Minimum share of the columns of a known export. One of them must be a column that not any CRM may have. */
const MIN_SHARE = 0.4;

/** Names, as in `comparable`, that the columns of any CRM's export may have. */
const COMMON =
  /^(?:id|(?:contact|deal|record) ?id|lifecycle ?stage|lead ?(?:status|source)|pipeline|(?:deal|contact) ?owner|name|first ?name|last ?name|full ?name|e ?mail|phone|mobile(?: ?phone)?|(?:job ?)?title|company|owner|status|stage|amount|value|currency|created ?(?:at|date|on)?|type|subject|description|body|content|notes?|city|country)$/;

/**
 * Notes on each column what a known CRM means by its header, and says what was recognised. `preset`: the CRM that the user named; its
 * headers count wherever they stand. Throws a `UserError` that lists the presets if there is no such one.
 */
export function recognise(tables: readonly Table[], known: KnownCrms, preset: string | undefined): string[] {
  const { names, exports } = known;
  if (preset !== undefined && !names.includes(preset)) {
    throw new UserError(`unknown preset \`${preset}\``, {
      hint: didYouMean(preset, names) ?? `available presets: ${names.map((each) => `\`${each}\``).join(', ')}`,
    });
  }
  const pairs = tables.flatMap((table) => pairsOf(table, exports));
  const seen = new Set(preset === undefined ? pairs.filter(({ isOwn }) => isOwn).map(({ crm }) => crm) : [preset]);
  return tables.flatMap((table) => {
    const [best] = pairs
      .filter((each) => each.table === table && seen.has(each.crm) && (each.isEnough || preset !== undefined))
      .sort((a, b) => b.score - a.score);
    if (!best) return [];
    for (const column of table.columns) {
      const meant = [...best.kinds].map(([kind, own]) => [kind, own.get(comparable(column.name))] as const);
      column.known = new Map(meant.flatMap(([kind, meaning]) => (meaning === undefined ? [] : [[kind, meaning]])));
    }
    if (best.kinds.size > 0) table.nouns = [...best.kinds.keys()];
    const name = table.list === undefined ? basename(table.from.path) : `${basename(table.from.path)}#${table.list}`;
    return [`${name}: ${best.shared.length} of ${table.columns.length} columns match the preset ${best.crm}`];
  });
}

/** The exports that a table may be, with the headers that they share. */
function pairsOf(table: Table, exports: readonly KnownExport[]) {
  const headers = table.columns.map(({ name }) => comparable(name));
  return exports.flatMap((each) => {
    const isAlike = each.isTree === (table.from.source.kind === 'tree') && each.each === table.list;
    const isOther =
      each.kinds.size > 0 && table.nouns.length > 0 && !table.nouns.some((noun) => each.kinds.has(noun as RecordKind));
    if (!isAlike || isOther) return [];
    const shared = headers.filter((header) => each.headers.has(header));
    if (shared.length === 0) return [];
    const isEnough = shared.length >= Math.max(2, each.headers.size * MIN_SHARE);
    const isOwn = isEnough && shared.some((header) => !COMMON.test(header));
    // The file name distinguishes exports with the same columns.
    const isCalled = fold(basename(table.from.path)).includes(each.file);
    const score = shared.length / each.headers.size + (isCalled ? 0.5 : 0);
    return [{ ...each, table, shared, isEnough, isOwn, score }];
  });
}
