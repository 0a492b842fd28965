import type { JsonValue } from '../../json.ts';
import { isObject } from '../../json.ts';
import type { CompiledEntry } from '../../mapping/mapping.ts';
import type { ColumnUse } from '../../mapping/values/compile-context.ts';
import { elementsOf, pathReader, uniqueNames } from '../../mapping/values/path.ts';
import { textOf } from '../../mapping/values/result.ts';
import { cellPlace, type RawRecord, type Row } from '../../model.ts';
import type { Damage, SourceProfile } from './notes.ts';
import type { Source } from '../../input/source.ts';
import { ColumnWatch } from './column.ts';
import { isEncodedTwice, textForm } from './text-damage.ts';
import { isMissing, unusedColumns, unusedPaths, wholePath, type Unused } from './unused.ts';

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
    const isTable = source.kind === 'table';
    this.#watched = isTable ? watchedColumns(source, entries, lookedUp) : watchedPaths(entries, lookedUp);
    this.#unused = isTable
      ? unusedColumns(source, entries, lookedUp, missing)
      : unusedPaths(entries, lookedUp, missing);
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
  damaged(kind: Damage, field: string, text: string, row: Row): void {
    this.#watching(field, row, (watch, value, file, line) => {
      const isTwice = kind === 'html_entities' && isEncodedTwice(value, text);
      watch.addDamage(isTwice ? 'encoded_twice' : kind, text, file, line);
      return true;
    });
  }

  /** A comment as it is sent. */
  comment(text: string, row: Row): void {
    const form = textForm(text);
    if (form) this.damaged(`text_form/${form}`, 'content', text, row);
    this.#watching('content', row, (watch, _, file, line) => {
      watch.sent(text, file, line);
      return true;
    });
  }

  /** A date of this field was a spreadsheet's serial number. */
  serialDate(field: string, row: Row): void {
    this.#watching(field, row, (watch, value, file, line) => {
      const isSerial = /^\s*\d{5}\s*$/.test(value);
      if (isSerial) watch.addDamage('serial_date', value.trim(), file, line);
      return isSerial;
    });
  }

  /** The columns that give a field, with their value in the row, until one of them has taken it. */
  #watching(
    field: string,
    { raw, place }: Row,
    take: (watch: ColumnWatch, value: string, file: string, line: number) => boolean,
  ): void {
    for (const { watch, read, column } of this.#watched) {
      if (!watch.fields.includes(field)) continue;
      const { file, line } = cellPlace(place, column);
      if (take(watch, textOf(read(raw)) ?? '', file, line)) return;
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
    const unused = this.#unused.found().filter(([, values]) => values >= LEAST_RENAMED);
    return this.#watched.flatMap(({ watch: { column, fields, cells, last }, isNamed }) => {
      if (!isNamed || cells < LEAST_RENAMED) return [];
      const found = unused.find(([name, , first]) => first > last && (first === last + 1 || isAlike(name, column)));
      return found ? [{ column, fields, to: found[0], values: found[1], from: found[2] }] : [];
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
      unused: Object.fromEntries(this.#unused.found().map(([name, values]) => [name, values])),
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
