/** The tables of all exports: their records, and the lists inside them. Files of one header are one source. */
import { basename, dirname, extname, join, resolve } from 'node:path';
import { openSource } from '../../input/open.ts';
import { nameError } from '../../mapping/names.ts';
import { fold, nounsOf, type Noun } from '../facts/headers.ts';
import { partOf, type Export } from './open.ts';
import { LEVELS } from '../know/roles.ts';
import { ENVELOPE, WRAPPERS } from '../know/texts.ts';
import { readSample, type RawColumn, type RawTable } from './sample.ts';

/** The records of an export, or the elements of a list inside them. */
export interface Part {
  readonly export: Export;
  /** Its name in `sources`. */
  readonly source: string;
  /** As messages name it: `crm.json#deals`. */
  readonly label: string;
  /** Path of the list; undefined for the records themselves. */
  readonly list: string | undefined;
  readonly records: number;
  /** What its records are called: by the name of its array or sheet, or of its file. */
  readonly nouns: readonly Noun[];
  readonly raw: RawTable;
  /** The part of a path or header that says what a column is. */
  headerOf(column: RawColumn): string;
}

export async function tables(exports: readonly Export[]): Promise<Part[]> {
  const joined = await withoutParts(exports);
  const names = sourceNames(joined);
  return joined.flatMap((each, at) => partsOf(each, names[at]!));
}

function partsOf(from: Export, source: string): Part[] {
  const part = partOf(from.settings);
  const file = (from.files ?? [from.path]).join(', ');
  const label = part === undefined ? file : `${file}#${part}`;
  const hasHeader = from.settings.columns === undefined;
  return from.sample.tables.map((raw) => {
    const { list, records } = raw;
    const called = [...(list ?? part ?? '').split(/[.[\]]/)].findLast((name) => name !== '' && !WRAPPERS.test(name));
    const nouns = called === undefined ? [] : nounsOf(called);
    const prefix = prefixOf(raw.columns.map(({ name }) => name));
    const isTelling = list !== undefined || nouns.some((noun) => noun !== 'other' && noun !== 'payment');
    return {
      export: from,
      source,
      label: list === undefined ? label : `${label}#${list}`,
      list,
      records,
      nouns: isTelling ? nouns : [...new Set([...nounsOf(nameOf(file)), ...nouns])],
      raw,
      headerOf: ({ name, label: own }) => {
        if (!hasHeader) return '';
        if (name === '.') return list ?? '';
        return (own ?? name).replace(ENVELOPE, '').slice((own ?? name).startsWith(prefix) ? prefix.length : 0);
      },
    };
  });
}

/** What nearly all columns of a table begin with says nothing of any: `Deal - `, `oppo_`. */
function prefixOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) {
    const [prefix] = /^\p{L}{2,20}(?: - |_|: )(?=.)/u.exec(name) ?? [''];
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  const [[prefix, count] = ['', 0]] = [...counts].sort((a, b) => b[1] - a[1]);
  return count > 3 && count >= names.length * LEVELS.most ? prefix : '';
}

/** Without the parts that tell one export from another: `Deals 90a77d31`, `accounts_2026_08_09`. */
function nameOf(path: string): string {
  const words = basename(path, extname(path))
    .split(/[\s_.-]+/)
    .filter(Boolean);
  const telling = words.filter((word) => !/\d/.test(word));
  return (telling.length > 0 ? telling : words).join(' ');
}

/** By what their arrays or sheets are called, or their files; names that a mapping may have, and no two alike. */
function sourceNames(exports: readonly Export[]): string[] {
  const names: string[] = [];
  for (const { path, settings } of exports) {
    const part = partOf(settings)?.split('.').at(-1);
    const own = [part !== undefined && !WRAPPERS.test(part) ? part : undefined, nameOf(path)];
    const able = own.flatMap((name) =>
      name === undefined ? [] : fold(name).replaceAll(' ', '_').slice(0, LONGEST) || [],
    );
    const isFree = (name: string): boolean => !names.includes(name) && nameError(name) === undefined;
    let [number, name] = [2, able.find(isFree)];
    for (; name === undefined; number += 1) name = [`${able[0] ?? 'export'}_${number}`].find(isFree);
    names.push(name);
  }
  return names;
}

/** Characters of the name of a source. */
const LONGEST = 40;

/** Files of one folder with the same header as one export, which a pattern names. */
async function withoutParts(exports: readonly Export[]): Promise<Export[]> {
  const groups = new Map<string, Export[]>();
  for (const [at, each] of exports.entries()) {
    const { source, path, settings } = each;
    const isPlain = source.columns.length > 2 && partOf(settings) === undefined && !/[{}[\]*?!,()]/.test(path);
    const key = isPlain ? JSON.stringify([dirname(resolve(path)), extname(path), source.columns, settings]) : `${at}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const joined: Export[] = [];
  for (const group of groups.values()) {
    const [first] = group;
    if (group.length === 1) joined.push(first!);
    else joined.push(await together(group));
  }
  return joined;
}

async function together(group: readonly Export[]): Promise<Export> {
  const [first] = group;
  const { path, settings } = first!;
  const names = group.map((each) => basename(each.path, extname(path))).join(',');
  const pattern = join(dirname(path), `{${names}}${extname(path)}`);
  const source = await openSource({ name: basename(path), path: resolve(pattern), isArgument: true, ...settings });
  return { ...first!, path: pattern, files: group.map((each) => each.path), source, sample: await readSample(source) };
}
