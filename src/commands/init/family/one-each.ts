/** Files of JSON with one record each, as a program saves them that asks an API for one after the other. */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '../../../json.ts';
import { findFiles } from '../../../input/files.ts';
import { textOf } from '../../../mapping/values/result.ts';
import { commonEnds, meaningOf, type Concept } from '../words.ts';

/** Files with one record each, and where it is in them. */
export interface OneEach {
  readonly paths: readonly string[];
  /** A glob that matches them alone, if there is one. */
  readonly path: string | undefined;
  readonly records: string;
}

interface FileOfOne {
  readonly path: string;
  readonly records: string;
  /** The values of the record outside of its lists, by path. */
  readonly values: ReadonlyMap<string, string | undefined>;
}

/** More is no single record. */
const MAX_BYTES = 1024 * 1024;
const MIN_VALUES = 3;

/** What a person or a deal has, and neither a page of records nor a board of them. */
const PERSONAL: readonly Concept[] = ['email', 'phone', 'mobile', 'first', 'surname', 'amount'];

/** What is said about a page of records: `total`, `page_size`, `hasNextPage`. */
export const PAGING =
  /^(?:has_?|is_?)?(?:page|pages|total|count|cursor|next|prev|previous|offset|limit|more|last|status|success|self|size|per)(?:$|[_A-Z])/;

/** A value that only a record has: `email`, `attributes.phone`, but not `hits.total.value`. */
export function isOfRecord(path: string): boolean {
  const names = path.split('.');
  const { concepts } = meaningOf(names.at(-1)!);
  return (
    !names.some((name) => PAGING.test(name)) &&
    PERSONAL.some((concept) => concepts.has(concept)) &&
    !concepts.has('other') &&
    !concepts.has('count')
  );
}

export async function findOneEach(paths: readonly string[]): Promise<OneEach[]> {
  const groups: FileOfOne[][] = [];
  for (const path of paths.filter((each) => /\.json$/i.test(each))) {
    const found = await recordIn(path);
    const own = found && groups.find(([first]) => areAlike(first!, found));
    if (own) own.push(found);
    else if (found) groups.push([found]);
  }
  return Promise.all(
    groups
      .filter((group) => group.length > 1 && haveOwnValues(group))
      .map(async (group) => {
        const own = group.map(({ path }) => path);
        return { paths: own, path: await globOf(own), records: group[0]!.records };
      }),
  );
}

async function recordIn(path: string): Promise<FileOfOne | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile() || info.size > MAX_BYTES) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse((await readFile(path, 'utf8')).replace(/^\ufeff/, '')) as JsonValue;
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const inner = Object.entries(value).flatMap(([key, member]) =>
    isObject(member) ? [[`${key}.$`, member] as const] : [],
  );
  // `{ "contact": { … } }`, and the record itself, which may have objects in it.
  const isWrapper = Object.values(value).every((member) => isObject(member));
  const able = isWrapper ? inner : [['$', value] as const];
  const found = able.flatMap(([records, record]) => {
    const values = new Map(valuesIn(record));
    const has = [...values.keys()].some(isOfRecord);
    return has && values.size >= MIN_VALUES ? [{ path, records, values }] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

function* valuesIn(record: JsonObject, above = ''): Generator<[string, string | undefined]> {
  for (const [key, member] of Object.entries(record)) {
    if (isObject(member)) yield* valuesIn(member, `${above}${key}.`);
    // An empty list or one of texts may be that of their addresses.
    else if (!Array.isArray(member) || !member.some((each) => isObject(each as JsonValue)))
      yield [`${above}${key}`, textOf(member)];
  }
}

function areAlike(a: FileOfOne, b: FileOfOne): boolean {
  const common = [...a.values.keys()].filter((key) => b.values.has(key)).length;
  const all = a.values.size + b.values.size - common;
  return a.records === b.records && dirname(a.path) === dirname(b.path) && common > all * 0.6;
}

/** Pages have the address of the same user. */
function haveOwnValues(group: readonly FileOfOne[]): boolean {
  const keys = new Set(group.flatMap(({ values }) => [...values.keys()].filter(isOfRecord)));
  return [...keys].some((key) => {
    const own = group.flatMap(({ values }) => values.get(key) || []);
    return own.length > group.length / 2 && new Set(own).size > own.length / 2;
  });
}

/** `contact-*.json`, unless it matches others, too. */
async function globOf(paths: readonly string[]): Promise<string | undefined> {
  const names = paths.map((path) => basename(path));
  const { start, end } = commonEnds(names.map((name) => [...name]));
  const letters = [...names[0]!];
  const glob = `${letters.slice(0, start).join('').replace(/\d+$/, '')}*${letters.slice(letters.length - end).join('')}`;
  const path = join(dirname(paths[0]!), glob);
  if (/[?[\]{}()!+@\\]/.test(path)) return undefined;
  const found = await findFiles({ name: 'export', path: resolve(path), isArgument: true }).catch(() => []);
  const isExact =
    found.length === paths.length && found.every((file) => paths.some((each) => resolve(each) === file.path));
  return isExact ? path : undefined;
}
