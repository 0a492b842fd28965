/** Which preset the exports are of: by what the presets themselves say. "Nearly" gives words and is never the mapping. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { UserError } from '../../errors.ts';
import type { MappingSpec } from '../../mapping/schema.ts';
import type { EntrySpec } from '../../mapping/spec.ts';
import { didYouMean } from '../../problem.ts';
import type { Facts } from '../decide/decide.ts';
import type { Column, Table } from '../facts/facts.ts';
import { readsOf } from '../lines/fates.ts';
import { LEVELS, POINTS } from '../know/roles.ts';

const FOLDER = fileURLToPath(new URL('../../../mappings/', import.meta.url));

export interface PresetMatch {
  readonly name: string;
  readonly spec: MappingSpec;
  /** Each file, and the source that it is. */
  readonly files: readonly (readonly [source: string, table: Table])[];
  /** By the names of its sources; the first one of several files. */
  readonly tables: ReadonlyMap<string, Table>;
  /** That of its dates, where all exports of the CRM have the same. */
  readonly zone: string | undefined;
}

export interface PresetFound {
  readonly match: PresetMatch | undefined;
  /** For the screen: what matches, and what nearly does. */
  readonly findings: readonly string[];
}

/** How a table fits a source of a preset. */
interface Fit {
  readonly source: string;
  readonly table: Table;
  /** Its records become events; others are looked up. */
  readonly isMain: boolean;
  /** They become comments: notes, calls and tasks have files of their own. */
  readonly isText: boolean;
  /** Of its list; where plain numbers have the form of its ids, those alone that no other CRM has. */
  readonly headers: number;
  readonly all: number;
  /** It needs more headers, unless another file is of the same preset. */
  readonly isWeak: boolean;
  /** Why it is not of that source all the same. */
  readonly why: string | undefined;
}

/** `wanted`: the name of the only one that may match. Throws a `UserError` if there is no such preset. */
export async function presetOf({ tables, references }: Facts, wanted?: string): Promise<PresetFound> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.yaml')).sort();
  const names = files.map((file) => basename(file, '.yaml'));
  if (wanted !== undefined && !names.includes(wanted))
    throw new UserError(`there is no preset \`${wanted}\``, {
      hint: didYouMean(wanted, names) ?? `the presets are ${names.join(', ')}`,
    });
  const specs = new Map<string, MappingSpec>();
  const zones = new Map<string, string | undefined>();
  for (const name of names) {
    const text = await readFile(join(FOLDER, `${name}.yaml`), 'utf8');
    specs.set(name, parse(text, { merge: true }) as MappingSpec);
    zones.set(name, /^ +timezone: (\S+)(?! *# set this)\b/m.exec(text)?.[1]);
  }
  const own = ownHeaders(specs);
  const records = tables.filter((table) => table.list === undefined && table.records > 0);
  const [best] = [...specs]
    .filter(([name]) => wanted === undefined || name === wanted)
    .map(([name, spec]) => {
      const fits = Object.keys(spec.sources).flatMap((source) =>
        records.map((table) => fitOf(spec, source, table, own)),
      );
      return { name, spec, fits, taken: takenOf(fits, references) };
    })
    .sort((a, b) => pointsOf(b.taken) - pointsOf(a.taken));
  if (!best) return { match: undefined, findings: [] };
  const { name, spec, fits, taken } = best;
  const nearly = fits.filter(
    ({ table, isMain, why, headers }) =>
      why !== undefined && isMain && headers >= MIN_HEADERS && !taken.some((each) => each.table === table),
  );
  const findings = [
    ...taken.map(({ source, table }) => `${table.label}: ${source} of the preset ${name}`),
    ...nearly.map(({ source, table, why }) => `${table.label}: nearly ${source} of the preset ${name}, but ${why!}`),
  ];
  if (taken.length === 0) return { match: undefined, findings: findings.slice(0, 1) };
  const pairs = taken.map(({ source, table }) => [source, table] as const);
  return {
    match: { name, spec, files: pairs, tables: new Map([...pairs].reverse()), zone: zones.get(name) },
    findings,
  };
}

/** A file with events is worth more than any number of headers. */
const pointsOf = (taken: readonly Fit[]): number =>
  taken.reduce((sum, { isMain, headers }) => sum + headers + (isMain ? POINTS.file : 0), 0);

/** Headers that only one CRM has: `First Name` shows nothing. */
function ownHeaders(specs: ReadonlyMap<string, MappingSpec>): ReadonlySet<string> {
  const crms = new Map<string, string>();
  for (const [name, { sources }] of specs)
    for (const header of Object.values(sources).flatMap(({ recognise }) => recognise?.by ?? [])) {
      const crm = name.replace(/-.*/, '');
      crms.set(header, [crm, undefined].includes(crms.get(header)) ? crm : '');
    }
  return new Set([...crms].flatMap(([header, crm]) => (crm ? [header] : [])));
}

/** Each table once, the surest first; what is only looked up beside what looks it up; then further files of the same. */
function takenOf(fits: readonly Fit[], references: Facts['references']): Fit[] {
  const taken: Fit[] = [];
  const isOf = (table: Table): boolean => taken.some((each) => each.table === table);
  const able = fits.filter(({ why }) => why === undefined);
  able.sort((a, b) => Number(b.isMain) - Number(a.isMain) || b.headers - a.headers);
  for (const isFirst of [true, false])
    for (const fit of able) {
      const { source, table, isMain, isText, isWeak, headers, all } = fit;
      const isTwice = taken.some((each) => each.source === source);
      if (isOf(table) || isTwice === isFirst || !(isMain || isFirst)) continue;
      const isFew = isTwice
        ? !isText && all < MIN_HEADERS * 2
        : isWeak && taken.length === 0 && headers < MIN_HEADERS * 2;
      const isFound =
        isMain ||
        (taken.length > 0 && (!isWeak || table.records === 1)) ||
        references.some(({ from, to, share }) => to.table === table && share >= LEVELS.half && isOf(from.table));
      if (isFound && !isFew) taken.push(fit);
    }
  return taken;
}

/** Headers of a preset's list beside its id. */
const MIN_HEADERS = 2;
/** Fields without which records are not of a source. */
const NEEDED: readonly string[] = ['full_name', 'title', 'content', 'stage_name'];

function fitOf(spec: MappingSpec, source: string, table: Table, own: ReadonlySet<string>): Fit {
  const { recognise, records, path } = spec.sources[source]!;
  const entries = spec.events.filter((entry) => entry.source === source);
  const isMain = entries.length > 0;
  const { id, by } = recognise ?? { id: '', by: [] };
  const names = new Set(table.columns.flatMap(({ name, list }) => [name.replace(/#\d+$/, ''), list ?? '']));
  const there = by.filter((header) => names.has(header));
  const isWeak = new RegExp(id, 'u').test('1234');
  const headers = (isWeak && isMain ? there.filter((header) => own.has(header)) : there).length;
  const isText = entries.some(({ data }) => 'content' in data);
  const fit = { source, table, isMain, isText, isWeak, headers, all: there.length };
  const part = table.export.settings.records;
  const isOther = !path.includes(table.export.source.kind === 'tree' ? 'json' : 'csv');
  if (headers < (isMain || isWeak ? MIN_HEADERS : 1) || isOther || (records && part && records !== part))
    return { ...fit, why: 'it has other headers' };
  const lacks = entries.flatMap((entry) =>
    NEEDED.filter(
      (field) => entry.data[field] !== undefined && columnsOf(entry.data[field], table, entry).length === 0,
    ),
  );
  // Of several entries, one with all of it is enough.
  if (isMain && lacks.length >= entries.length) return { ...fit, why: `it has no ${lacks[0]!}` };
  const ids = isMain ? entries.flatMap((entry) => columnsOf(entry.data['external_id'], table, entry)) : table.columns;
  const pattern = new RegExp(id, 'u');
  const isOf = ({ sample }: Column): boolean =>
    sample.length > 0 && sample.filter((value) => pattern.test(value)).length >= sample.length * LEVELS.all;
  if (ids.length === 0) return { ...fit, why: 'it has no id' };
  return {
    ...fit,
    why: ids.some(isOf) ? undefined : `its ids have another form: ${ids[0]!.examples[0] ?? 'none'}`,
  };
}

/** All values of an entry. */
export function valuesOf({ data, source: _, type: __, each: ___, ...settings }: EntrySpec): unknown[] {
  const custom = Object.values(data).filter((value) => typeof value === 'object' && !('from' in value)) as object[];
  return [
    ...Object.values(data),
    ...custom.flatMap((value): unknown[] => Object.values(value)),
    ...Object.values(settings),
  ];
}

/** The columns of a table that a value reads of its own record. */
export function columnsOf(value: unknown, table: Table, { each }: Pick<EntrySpec, 'each'> = {}): Column[] {
  const own = [...readsOf(value)].filter(({ source }) => source === undefined);
  return own.flatMap(({ path }) => columnIn(table, pathIn(path, each)) ?? []);
}

/** In the record: within the elements of a list, its own path comes first. */
export function pathIn(path: string, each?: unknown): string {
  const plain = path.replace(/^\$\./, '').replace(/\[\d+\]/g, '');
  return typeof each === 'string' && plain === path ? `${each}.${plain}` : plain;
}

const plain = (name: string): string => name.toLowerCase().replace(/[\s_]+/g, '');

/** Headers are compared exactly, then by letter case, spaces and `_`, as a run does. */
export function columnIn({ columns }: Table, name: string): Column | undefined {
  const own = columns.filter(({ pair }) => !pair);
  const exact = own.find((column) => column.name === name || column.name.replace(/#\d+$/, '') === name);
  if (exact) return exact;
  const [only, ...others] = own.filter((column) => plain(column.name) === plain(name));
  return others.length === 0 ? only : undefined;
}
