import { type JsonObject, type JsonValue, isObject } from '../json.ts';
import { findColumn, uniqueNames, pathReader } from '../mapping/path.ts';
import type { CompiledEntry } from '../mapping/mapping.ts';
import { textOf } from '../mapping/result.ts';
import type { RawRecord, Row } from '../model.ts';
import type { SourceProfile } from '../report/profile.ts';
import type { Source } from '../source/source.ts';
import { ColumnWatch } from './profile-column.ts';

/** Of a JSON source, a path is read in so many records; in later ones, only if it had no value so far. */
const SAMPLE = 1000;
/** The values of further paths are not counted. */
const MOST_PATHS = 500;

/** Fields whose values affect how records are mapped: their values are counted. */
const COUNTED = /^(?:stage_name|owner_name|stage_pipeline|when|currency|stage_id|owner_id)$/;

/** Collects statistics about one source as the survey reads it. */
export interface SourceWatch {
  row(row: Row): void;
  /** A date of this field was a spreadsheet's serial number. */
  serialDate(field: string, row: Row): void;
  profile(): SourceProfile;
}

/** `entries` are those that read the source; `lookedUp` are the columns or paths that lookups read in it. */
export function watchSource(
  source: Source,
  entries: readonly CompiledEntry[],
  lookedUp: ReadonlySet<string>,
): SourceWatch {
  return source.kind === 'table' ? new TableWatch(source, entries, lookedUp) : new TreeWatch(source, entries, lookedUp);
}

class TableWatch implements SourceWatch {
  readonly #source: Source;
  readonly #names: readonly string[];
  readonly #columns: readonly number[];
  /** Those that the mapping names; `"*": rest` may read others. */
  readonly #named = new Set<number>();
  readonly #watches: readonly ColumnWatch[];
  /** Those that nothing reads, and how many values each has. */
  readonly #unused: readonly number[];
  readonly #unusedValues: number[];
  #records = 0;

  constructor(source: Source, entries: readonly CompiledEntry[], lookedUp: ReadonlySet<string>) {
    const fields = new Map<number, Set<string>>();
    for (const { field, column, isRest } of entries.flatMap(({ uses }) => uses)) {
      if (column === undefined) continue;
      if (!isRest) this.#named.add(column);
      fields.set(column, (fields.get(column) ?? new Set()).add(field));
    }
    this.#source = source;
    this.#names = uniqueNames(source.columns);
    this.#columns = [...fields.keys()].sort((a, b) => a - b);
    const read = new Set([...fields.keys(), ...[...lookedUp].map((name) => findColumn(source.columns, name))]);
    this.#unused = source.columns.flatMap((name, column) => (name === '' || read.has(column) ? [] : [column]));
    this.#unusedValues = this.#unused.map(() => 0);
    this.#watches = this.#columns.map((column) => newWatch(this.#names[column]!, fields.get(column)!));
  }

  row({ raw, place }: Row): void {
    this.#records += 1;
    const cells = raw as readonly string[];
    const columns = this.#columns;
    for (let index = 0; index < columns.length; index += 1) {
      const cell = cells[columns[index]!];
      if (cell !== undefined) this.#watches[index]!.take(cell, place.file, place.line);
    }
    const unused = this.#unused;
    for (let index = 0; index < unused.length; index += 1) {
      const cell = cells[unused[index]!];
      if (cell !== undefined && cell !== '' && (cell.charCodeAt(0) > 32 || cell.trim() !== '')) {
        this.#unusedValues[index]! += 1;
      }
    }
  }

  serialDate(field: string, { raw, place }: Row): void {
    const cells = raw as readonly string[];
    const index = this.#watches.findIndex(
      ({ fields }, at) => fields.includes(field) && /^\s*\d{5}\s*$/.test(cells[this.#columns[at]!] ?? ''),
    );
    const cell = cells[this.#columns[index] ?? -1];
    if (cell !== undefined) this.#watches[index]!.addDamage('serial_date', cell.trim(), place.file, place.line);
  }

  profile(): SourceProfile {
    const unused = this.#unused.map((column, index) => [this.#names[column]!, this.#unusedValues[index]!] as const);
    const named = this.#watches.filter((_, index) => this.#named.has(this.#columns[index]!));
    return sourceProfile(this.#source, this.#records, unused, this.#watches, named);
  }
}

/** The values at a path, without positions in lists, and below it. */
interface PathNode {
  values: number;
  readonly members: Map<string, PathNode>;
}

interface PathWatch {
  readonly path: string;
  readonly read: (record: JsonObject) => JsonValue | undefined;
  readonly watch: ColumnWatch;
}

class TreeWatch implements SourceWatch {
  readonly #source: Source;
  readonly #lookedUp: ReadonlySet<string>;
  readonly #paths: readonly PathWatch[];
  readonly #root = newNode();
  #nodes = 0;
  /** Below these, `"*": rest` reads everything. */
  readonly #rests = new Set<string>();
  #records = 0;

  constructor(source: Source, entries: readonly CompiledEntry[], lookedUp: ReadonlySet<string>) {
    const fields = new Map<string, Set<string>>();
    for (const entry of entries) {
      const each = entry.uses.find(({ field }) => field === 'each')?.path;
      for (const { field, path, isRest } of entry.uses) {
        if (isRest) this.#rests.add(wholePath(path, each));
        if (isRest) continue;
        const whole = field === 'each' ? path : wholePath(path, each);
        fields.set(whole, (fields.get(whole) ?? new Set()).add(field));
      }
    }
    this.#source = source;
    this.#lookedUp = lookedUp;
    this.#paths = [...fields].map(([path, names]) => ({ path, read: pathReader(path), watch: newWatch(path, names) }));
  }

  row(row: Row): void {
    this.#records += 1;
    const whole = this.#records <= SAMPLE;
    this.#count(row.raw, this.#root);
    for (const { read, watch } of this.#paths) {
      if (whole || watch.wantsMore) takeAll(read(row.raw as JsonObject), watch, row.place.file, row.place.line);
    }
  }

  serialDate(field: string, { raw, place }: Row): void {
    for (const { read, watch } of this.#paths) {
      if (!watch.fields.includes(field)) continue;
      const value = read(raw as JsonObject);
      if (typeof value !== 'string' && typeof value !== 'number') continue;
      if (/^\s*\d{5}\s*$/.test(String(value))) watch.addDamage('serial_date', String(value), place.file, place.line);
    }
  }

  profile(): SourceProfile {
    const plain = (path: string): string => path.replace(/\[\d+\]/g, '');
    const used = new Set([...this.#paths.map(({ path }) => path), ...this.#lookedUp].map(plain));
    // A path to an object uses all of it, except for `each`, whose elements have separate paths.
    const whole = this.#paths
      .filter(({ watch }) => watch.fields.some((field) => field !== 'each'))
      .map(({ path }) => plain(path));
    const isUsed = (path: string): boolean =>
      used.has(path) || used.has('$') || whole.some((other) => path.startsWith(`${other}.`));
    const isRest = (path: string): boolean =>
      this.#rests.has('$') || [...this.#rests].some((other) => path.startsWith(`${plain(other)}.`));
    const unused = [...pathsBelow(this.#root, '')].filter(([path]) => !isUsed(path) && !isRest(path));
    return sourceProfile(
      this.#source,
      this.#records,
      unused,
      this.#paths.map(({ watch }) => watch),
    );
  }

  #count(value: RawRecord | JsonValue | undefined, node: PathNode): void {
    if (value === undefined || value === null || value === '') return;
    if (Array.isArray(value)) for (const element of value as readonly JsonValue[]) this.#count(element, node);
    else if (isObject(value)) for (const key of Object.keys(value)) this.#count(value[key], this.#member(node, key));
    else node.values += 1;
  }

  #member({ members }: PathNode, key: string): PathNode {
    const known = members.get(key);
    if (known || this.#nodes === MOST_PATHS) return known ?? newNode();
    const made = newNode();
    members.set(key, made);
    this.#nodes += 1;
    return made;
  }
}

function newNode(): PathNode {
  return { values: 0, members: new Map() };
}

/** The paths that have values, and how many. */
function* pathsBelow({ members }: PathNode, path: string): Generator<readonly [string, number]> {
  for (const [key, node] of members) {
    const own = path === '' ? key : `${path}.${key}`;
    if (node.values > 0) yield [own, node.values];
    yield* pathsBelow(node, own);
  }
}

function newWatch(column: string, fields: ReadonlySet<string>): ColumnWatch {
  return new ColumnWatch(
    column,
    [...fields],
    [...fields].some((field) => COUNTED.test(field)),
  );
}

/** Converts a path within `each` to one that starts at the record; paths cross lists without positions. */
function wholePath(path: string, each: string | undefined): string {
  if (path.startsWith('$.')) return path.slice(2);
  if (each === undefined || path === '$') return path;
  return path === '.' ? each : `${each}.${path}`;
}

function takeAll(value: JsonValue | undefined, watch: ColumnWatch, file: string, line: number): void {
  if (typeof value === 'string') watch.take(value, file, line);
  else if (Array.isArray(value)) for (const each of value as readonly JsonValue[]) takeAll(each, watch, file, line);
  else if (isObject(value)) watch.filled = true;
  else watch.take(textOf(value) ?? '', file, line);
}

function sourceProfile(
  source: Source,
  records: number,
  unused: readonly (readonly [string, number])[],
  watches: readonly ColumnWatch[],
  named = watches,
): SourceProfile {
  return {
    description: source.description,
    records,
    unused: Object.fromEntries(unused),
    never_a_value:
      records === 0 ? [] : named.flatMap(({ filled, column, fields }) => (filled ? [] : [{ column, fields }])),
    values: watches.flatMap((watch) => watch.values() ?? []),
    damage: watches.flatMap((watch) =>
      [...watch.damage()].map(([kind, found]) => ({ column: watch.column, fields: watch.fields, kind, ...found })),
    ),
    dates: watches.flatMap((watch) => watch.dates() ?? []),
    notices: source.notices(),
  };
}
