import type { JsonValue } from '../../json.ts';
import { isObject, recordsByKey } from '../../json.ts';
import type { CompiledEntry } from '../../mapping/mapping.ts';
import type { ColumnUse } from '../../mapping/values/compile-context.ts';
import { elementsOf, findColumn, pathReader, uniqueNames } from '../../mapping/values/path.ts';
import { textOf } from '../../mapping/values/result.ts';
import { cellPlace, type RawRecord, type Row } from '../../model.ts';
import type { Damage, SourceProfile } from './notes.ts';
import type { Source } from '../../input/source.ts';
import { ColumnWatch } from './column.ts';
import { isEncodedTwice, textForm } from './text-damage.ts';

/** The values of further paths are not counted. */
const MOST_PATHS = 500;

/** Fields whose values affect how records are mapped: their values are counted. */
const COUNTED = /^(?:stage_name|owner_name|stage_pipeline|when|currency|stage_id|owner_id)$/;

/** A key with fewer values may be absent by chance. */
const LEAST_RENAMED = 3;

/** `email` and `emailAddress`, `in.phone` and `in.phone_number`. */
function isAlike(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => path.toLowerCase().replace(/[^\p{L}\d.]/gu, '')) as [string, string];
  return a.startsWith(b) || b.startsWith(a) || a.endsWith(b) || b.endsWith(a);
}

/** A column or path that the mapping reads. */
interface Watched {
  readonly watch: ColumnWatch;
  readonly read: (record: RawRecord) => JsonValue | undefined;
  /** Of a table: the position of the column. */
  readonly column?: number;
  /** The mapping names it; `"*": rest` may read others. */
  readonly isNamed: boolean;
  /** What it decides, where no event has its value; else empty. */
  readonly decides: readonly string[];
}

/** What a source has and the mapping does not read. */
interface Unused {
  /** `number`: of the record, from 1. */
  count(record: RawRecord, number: number): void;
  /** Columns or paths, and how many values each has. */
  found(): Iterable<readonly [name: string, values: number, first?: number]>;
}

/** Collects statistics about one source as the survey reads it. */
export class SourceWatch {
  readonly #source: Source;
  readonly #watched: readonly Watched[];
  readonly #unused: Unused;
  readonly #missing: ReadonlySet<string>;
  /** A column without a value is missed only where no other gives the same field. */
  readonly #isLenient: boolean;
  #records = 0;
  /** Those that have records. */
  readonly #files = new Set<string>();

  /**
   * `entries` are those that read the source; `lookedUp` are the columns or paths that lookups read in it; `missing` are the texts that
   * mean no value.
   */
  constructor(
    source: Source,
    entries: readonly CompiledEntry[],
    lookedUp: ReadonlySet<string>,
    missing: ReadonlySet<string>,
    isLenient = false,
  ) {
    this.#source = source;
    this.#missing = missing;
    this.#isLenient = isLenient;
    if (source.kind === 'table') {
      this.#watched = watchedColumns(source, entries, lookedUp);
      this.#unused = new UnusedColumns(source, entries, lookedUp, missing);
    } else {
      this.#watched = watchedPaths(entries, lookedUp);
      this.#unused = new UnusedPaths(entries, lookedUp, missing);
    }
  }

  row({ raw, place, decimals }: Row): void {
    this.#records += 1;
    this.#files.add(place.file);
    this.#unused.count(raw, this.#records);
    for (const { read, watch, column } of this.#watched) {
      const { file, line } = cellPlace(place, column);
      const before = watch.cells;
      const isNumber = column !== undefined && decimals?.includes(column) === true;
      if (isNumber) watch.take(textOf(read(raw)) ?? '', file, line, 'number');
      else takeAll(read(raw), watch, file, line, this.#missing);
      if (watch.cells > before) watch.last = this.#records;
    }
  }

  /** A text of this field is damaged. */
  damaged(kind: Damage, field: string, text: string, { raw, place }: Row): void {
    const watched = this.#watched.find(({ watch }) => watch.fields.includes(field));
    if (!watched) return;
    const isTwice = kind === 'html_entities' && isEncodedTwice(textOf(watched.read(raw)) ?? '', text);
    const { file, line } = cellPlace(place, watched.column);
    watched.watch.addDamage(isTwice ? 'encoded_twice' : kind, text, file, line);
  }

  /** A comment as it is sent. */
  comment(text: string, row: Row): void {
    const form = textForm(text);
    if (form) this.damaged(`text_form/${form}`, 'content', text, row);
    const watched = this.#watched.find(({ watch }) => watch.fields.includes('content'));
    if (!watched) return;
    const { file, line } = cellPlace(row.place, watched.column);
    watched.watch.sent(text, file, line);
  }

  /** A date of this field was a spreadsheet's serial number. */
  serialDate(field: string, { raw, place }: Row): void {
    for (const { read, watch, column } of this.#watched) {
      if (!watch.fields.includes(field)) continue;
      const text = (textOf(read(raw)) ?? '').trim();
      const { file, line } = cellPlace(place, column);
      if (/^\d{5}$/.test(text)) return watch.addDamage('serial_date', text, file, line);
    }
  }

  /** Paths of JSON that a whole file lacks, although others of the source have them: a key may have another name there. */
  #lacking(): SourceProfile['lacking'] {
    if (this.#source.kind === 'table' || this.#files.size < 2) return [];
    return this.#watched.flatMap(({ watch: { column, fields, filledIn }, isNamed }) => {
      const files = [...this.#files].filter((file) => !filledIn.has(file));
      return isNamed && filledIn.size > 0 && files.length > 0 ? [{ column, fields, files }] : [];
    });
  }

  /** Paths of JSON that end where another one begins, which nothing reads: a key has another name from there on. */
  #renamed(): SourceProfile['renamed'] {
    if (this.#source.kind === 'table') return [];
    const unused = [...this.#unused.found()].filter(([, values]) => values >= LEAST_RENAMED);
    return this.#watched.flatMap(({ watch: { column, fields, cells, last }, isNamed }) => {
      if (!isNamed || cells < LEAST_RENAMED) return [];
      const found = unused.find(([name, , first = 0]) => first > last && (first === last + 1 || isAlike(name, column)));
      return found ? [{ column, fields, to: found[0], values: found[1], from: found[2]! }] : [];
    });
  }

  profile(): SourceProfile {
    const watches = this.#watched.map(({ watch }) => watch);
    const filled = new Set(this.#isLenient ? watches.flatMap((watch) => (watch.filled ? watch.fields : [])) : []);
    const empty = this.#watched.filter(
      ({ watch, isNamed }) =>
        isNamed && !watch.filled && this.#records > 0 && !watch.fields.every((field) => filled.has(field)),
    );
    return {
      description: this.#source.description,
      records: this.#records,
      unused: Object.fromEntries(Array.from(this.#unused.found(), ([name, values]) => [name, values])),
      lacking: this.#lacking(),
      renamed: this.#renamed(),
      never_a_value: empty.map(({ watch: { column, fields } }) => ({ column, fields })),
      not_carried: this.#watched
        .filter(({ watch, decides }) => watch.filled && decides.length > 0)
        .map(({ watch: { column }, decides }) => ({ column, fields: decides })),
      values: watches.flatMap((watch) => watch.values() ?? []),
      damage: watches.flatMap((watch) =>
        [...watch.damage()].map(([kind, found]) => ({
          column: watch.column,
          fields: watch.fields,
          kind,
          of: watch.cells,
          ...found,
        })),
      ),
      dates: watches.flatMap((watch) => watch.dates() ?? []),
      numbers: watches.flatMap((watch) => watch.numbers() ?? []),
      notices: this.#source.notices(),
    };
  }
}

function watchedColumns(source: Source, entries: readonly CompiledEntry[], lookedUp: ReadonlySet<string>): Watched[] {
  const names = uniqueNames(source.columns);
  const byColumn = new Map<number, ColumnUse[]>();
  for (const use of entries.flatMap((entry) => entry.uses)) {
    if (use.column !== undefined) addTo(byColumn, use.column, use);
  }
  return [...byColumn]
    .sort(([a], [b]) => a - b)
    .map(([column, own]) => {
      return {
        watch: newWatch(names[column]!, own),
        read: (record) => (record as readonly string[])[column],
        column,
        isNamed: own.some(({ isRest }) => !isRest),
        decides: lookedUp.has(names[column]!) ? [] : decidedBy(own),
      };
    });
}

function watchedPaths(entries: readonly CompiledEntry[], lookedUp: ReadonlySet<string>): Watched[] {
  const read = new Map<string, ColumnUse[]>();
  const readers = new Map<string, (record: RawRecord) => JsonValue | undefined>();
  for (const { uses } of entries) {
    for (const use of uses) {
      if (use.isRest) continue;
      const whole = use.field === 'each' ? use.path : wholePath(use.path, uses);
      addTo(read, whole, use);
      const reader = use.field === 'each' ? undefined : elementsReader(use.path, uses);
      if (reader) readers.set(whole, reader);
    }
  }
  // In a tree, `"*": rest` carries everything that no other field carries.
  const hasRest = entries.some(({ uses }) => uses.some(({ isRest }) => isRest));
  // A list as JSON in a custom field carries what is in it, too.
  const carried = [...read].flatMap(([path, own]) =>
    own.some((use) => use.field !== 'each' && isCarried(use)) ? [`${path}.`] : [],
  );
  return [...read].map(([path, own]) => {
    return {
      watch: newWatch(path, own),
      read: readers.get(path) ?? (path === '$' ? (record) => record : pathReader(path)),
      isNamed: true,
      decides: hasRest || lookedUp.has(path) || carried.some((above) => path.startsWith(above)) ? [] : decidedBy(own),
    };
  });
}

function addTo<Key>(uses: Map<Key, ColumnUse[]>, key: Key, use: ColumnUse): void {
  const known = uses.get(key);
  if (known) known.push(use);
  else uses.set(key, [use]);
}

/** What the uses of a column decide, if none of them carries its value. */
function decidedBy(uses: readonly ColumnUse[]): string[] {
  return uses.some(isCarried) ? [] : [...new Set(uses.map(({ decides }) => decides!))];
}

/** A name that is looked up, and the parent whose id is composed, arrive in place of the value. */
function isCarried({ decides, field }: ColumnUse): boolean {
  return decides === undefined || decides === 'with' || (decides === 'composite id' && field !== 'external_id');
}

function newWatch(column: string, uses: readonly ColumnUse[]): ColumnWatch {
  const fields = [...new Set(uses.map(({ field }) => field))];
  return new ColumnWatch(column, fields, {
    keepValues: fields.some((field) => COUNTED.test(field)),
    isNumber: uses.some(({ isNumber, field, decides }) => isNumber || (field === 'amount' && decides === undefined)),
  });
}

class UnusedColumns implements Unused {
  readonly #columns: { readonly name: string; readonly column: number; values: number }[];

  readonly #missing: ReadonlySet<string>;

  constructor(
    { columns }: Source,
    entries: readonly CompiledEntry[],
    lookedUp: ReadonlySet<string>,
    missing: ReadonlySet<string>,
  ) {
    this.#missing = missing;
    const used = new Set<number | undefined>([...lookedUp].map((name) => findColumn(columns, name)));
    for (const { column } of entries.flatMap(({ uses }) => uses)) used.add(column);
    this.#columns = uniqueNames(columns)
      .map((name, column) => ({ name, column, values: 0 }))
      .filter(({ column }) => columns[column] !== '' && !used.has(column));
  }

  count(record: RawRecord): void {
    for (const unused of this.#columns) {
      const text = (record as readonly string[])[unused.column]?.trim();
      if (text && !isMissing(text, this.#missing)) unused.values += 1;
    }
  }

  found(): (readonly [string, number])[] {
    return this.#columns.map(({ name, values }) => [name, values]);
  }
}

/** The values at a path, without positions in lists, and below it. */
interface PathNode {
  readonly path: string;
  values: number;
  /** The number of the first record that has it. */
  readonly first: number;
  readonly members: Map<string, PathNode>;
}

class UnusedPaths implements Unused {
  readonly #root = newNode('', 1);
  #record = 0;
  #nodes = 0;
  readonly #used: ReadonlySet<string>;
  /** Paths of `each`: an object there may have its records by key. */
  readonly #lists: ReadonlySet<string>;
  /** Paths of which everything below is used too: `each` is not, its elements have paths of their own. */
  readonly #whole: readonly string[];
  readonly #missing: ReadonlySet<string>;

  constructor(entries: readonly CompiledEntry[], lookedUp: ReadonlySet<string>, missing: ReadonlySet<string>) {
    this.#missing = missing;
    const plain = (path: string): string => path.replace(/\[\d+\]/g, '');
    const uses = entries.flatMap((entry) =>
      entry.uses.map(({ field, path, isRest }) => ({
        path: plain(field === 'each' ? path : wholePath(path, entry.uses)),
        isRest,
        isEach: field === 'each',
      })),
    );
    this.#used = new Set([
      ...uses.filter(({ isRest }) => !isRest).map(({ path }) => path),
      ...[...lookedUp].map(plain),
    ]);
    this.#lists = new Set(uses.filter(({ isEach }) => isEach).map(({ path }) => (path === '$' ? '' : path)));
    this.#whole = uses.filter(({ isEach }) => !isEach).map(({ path }) => path);
  }

  count(record: RawRecord, number: number): void {
    this.#record = number;
    this.#count(record, this.#root);
  }

  found(): (readonly [string, number, number])[] {
    if (this.#used.has('$') || this.#whole.includes('$')) return [];
    return [...pathsBelow(this.#root)].filter(
      ([path]) => !this.#used.has(path) && !this.#whole.some((other) => path.startsWith(`${other}.`)),
    );
  }

  #count(value: RawRecord | JsonValue | undefined, node: PathNode): void {
    if (value === undefined || value === null || value === '') return;
    const list = Array.isArray(value) ? value : this.#lists.has(node.path) ? recordsByKey(value) : undefined;
    if (list) for (const element of list as readonly JsonValue[]) this.#count(element, node);
    else if (isObject(value)) for (const key of Object.keys(value)) this.#count(value[key], this.#member(node, key));
    else if (!isMissing(textOf(value) ?? '', this.#missing)) node.values += 1;
  }

  #member({ path, members }: PathNode, key: string): PathNode {
    const known = members.get(key);
    if (known) return known;
    const made = newNode(path === '' ? key : `${path}.${key}`, this.#record);
    if (this.#nodes === MOST_PATHS) return made;
    members.set(key, made);
    this.#nodes += 1;
    return made;
  }
}

function newNode(path: string, first: number): PathNode {
  return { path, values: 0, first, members: new Map() };
}

/** The paths that have values, how many, and the first record that has one. */
function* pathsBelow({ members }: PathNode): Generator<readonly [string, number, number]> {
  for (const node of members.values()) {
    if (node.values > 0) yield [node.path, node.values, node.first];
    yield* pathsBelow(node);
  }
}

/** Converts a path within the `each` of an entry to one that starts at the record; paths cross lists without positions. */
function wholePath(path: string, uses: CompiledEntry['uses']): string {
  if (path.startsWith('$.')) return path.slice(2);
  const each = uses.find(({ field }) => field === 'each')?.path;
  if (each === undefined || path === '$') return path;
  if (path.startsWith('..')) return `${each.replace(/[^.]*$/, '')}${path.slice(2)}`;
  return path === '.' ? each : `${each}.${path}`;
}

/** Reads a path within the `each` of an entry whose elements may be the records of an object by key; undefined for other paths. */
function elementsReader(
  path: string,
  uses: CompiledEntry['uses'],
): ((record: RawRecord) => JsonValue | undefined) | undefined {
  const each = uses.find(({ field }) => field === 'each')?.path;
  if (each === undefined || path.startsWith('$') || path.startsWith('..')) return undefined;
  const list = each === '$' ? (record: JsonValue) => record : pathReader(each);
  const inner = path === '.' ? (element: JsonValue) => element : pathReader(path);
  return (record) => elementsOf(list(record as JsonValue)).flatMap((element) => inner(element) ?? []);
}

/** Whether a text means that there is no value. */
function isMissing(text: string, missing: ReadonlySet<string>): boolean {
  return missing.size > 0 && missing.has(text.trim());
}

function takeAll(
  value: JsonValue | undefined,
  watch: ColumnWatch,
  file: string,
  line: number,
  missing: ReadonlySet<string>,
): void {
  if (Array.isArray(value)) for (const each of value as readonly JsonValue[]) takeAll(each, watch, file, line, missing);
  else if (isObject(value)) watch.fill(file);
  else {
    const text = textOf(value) ?? '';
    const type = value === false ? 'boolean' : value === undefined || typeof value === 'string' ? undefined : 'number';
    if (!isMissing(text, missing)) watch.take(text, file, line, type);
  }
}
