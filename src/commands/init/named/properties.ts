/** Tables of entity, property and value: their properties are columns of what they describe. */
import { columnOf, countOf, countsOf, isComplete, isFew, isKey, isOneOf, type Column, type Table } from '../columns.ts';
import { isCode } from '../matrix/content.ts';
import { isReadable } from '../dates.ts';
import { addColumns } from './details.ts';
import { namesTable } from '../relations/references.ts';
import { lookupIn, placeholder } from '../relations/lookups.ts';
import { isStaff } from '../matrix/roles.ts';
import { NAMES, VALUES } from './pairs.ts';
import type { Samples } from '../tables.ts';
import { fold } from '../words.ts';

/** The columns of such a table. `type`: what tells values of one property apart, such as the home address from that at work. */
interface PropertyParts {
  readonly entity: Column;
  readonly property: Column;
  readonly value: Column;
  readonly type: Column | undefined;
}

/** What several columns together are called: `EMAIL WORK`. */
type Property = readonly (string | null)[];

/** A table with a row for each entity and a column for each property. */
interface Pivot {
  readonly table: Table;
  readonly names: readonly Property[];
  readonly columns: readonly Column[];
}

const MAX_COLUMNS = 12;
const MAX_PROPERTIES = 60;
/** Of the rows: more have hardly more than one property. */
const MAX_ENTITIES = 0.7;
/** Of the entities that have a property, on average. */
const MIN_FILL = 0.25;

/** Properties become columns of the table that has the entities, or else of one that takes the place of their own. */
export function withProperties(samples: Samples): Samples {
  const { tables } = samples;
  return { ...samples, tables: tables.map((table) => spread(table, tables) ?? table) };
}

function spread(table: Table, tables: readonly Table[]): Table | undefined {
  for (const parts of partsOf(table)) {
    const pivot = pivotOf(parts, tables);
    if (pivot) return placed(parts, pivot, tables);
  }
  return undefined;
}

/**
 * Undefined unless properties have values of one form each, and of several together. Where most have one property each, these are
 * addresses, and another table has what they are of.
 */
function pivotOf(parts: PropertyParts, tables: readonly Table[]): Pivot | undefined {
  const { entity, property, value } = parts;
  const { table } = entity;
  const names = propertiesIn(parts);
  if (table.rows / (entity.distinct * names.length) < MIN_FILL) return undefined;
  const sql = `${table.sql}_${entity.sql}_${property.sql}`;
  const cells = names.map((name, at) => `max(case when ${isOf(parts, name)} then ${value.sql} end) p${at}`);
  table.db.exec(
    `create table ${sql} as select min(record) record, ${entity.sql} key, ${cells.join(', ')} from ${table.sql} group by 2`,
  );
  const own: Table = { ...table, sql, rows: countOf(table, `from ${sql}`), columns: [], nouns: [] };
  const columns = names.map((name, at) => {
    const label = name.filter((each) => each !== null).join(' ');
    return columnOf(own, { name: `${value.name} (${label})`, sql: `p${at}`, label }, label);
  });
  own.columns.push(...columns);
  const forms = columns.flatMap((each) => formOf(each) ?? []);
  const isTold = new Set(forms).size > 1 && forms.length > names.length * 0.6;
  const isProperties =
    entity.distinct > table.rows * MAX_ENTITIES
      ? isTold && forms.some((form) => ADDRESSES.includes(form)) && keyOf(entity, tables) !== undefined
      : isTold || isCalledSo(parts);
  return isProperties ? { table: own, names, columns } : undefined;
}

const ADDRESSES: readonly string[] = ['email', 'url', 'international'];

/** `meta_key`, `meta_value`, where each entity has a property once. */
function isCalledSo({ property, value, entity }: PropertyParts): boolean {
  const last = ({ name }: Column): string => fold(name).split(' ').at(-1)!;
  return (
    NAMES.test(last(property)) &&
    VALUES.test(last(value)) &&
    toldApart({ entity, property, value, type: undefined }) === entity.table.rows
  );
}

/** The properties as columns of the table that has the entities, or of that with a row for each. */
function placed(parts: PropertyParts, { table: pivot, names, columns: all }: Pivot, tables: readonly Table[]): Table {
  const { entity, property, value, type } = parts;
  const { table } = entity;
  const key = keyOf(entity, tables);
  // Without a type, there is no space at the end.
  const trimmed = type && { apply: ['collapse_whitespace' as const] };
  const match = { template: [entity, property, ...(type ? [type] : [])].map(placeholder).join(' '), ...trimmed };
  const isSingle = toldApart(parts) === table.rows;
  const lookup = (by: Column, label: string) => {
    const own = { template: `${placeholder(by)} ${label.replace(/[{}]/g, '$&$&')}` };
    return lookupIn(table, { match, with: own, take: value.name }, !isSingle);
  };
  const whole = all.filter((each, at) => isComplete(each) && (names[at]![1] ?? null) === null);
  const first = whole.find(({ is }) => is.person > 0.7) ?? whole[0];
  if (!key && first) {
    // The rows of a property that all have stand for the entities.
    const own = { ...entity, table: pivot, sql: 'key', filled: pivot.rows, distinct: pivot.rows };
    const columns = all.map((each) =>
      each === first
        ? { ...first, name: value.name, label: undefined }
        : { ...each, origin: lookup(entity, each.label!) },
    );
    pivot.only = { from: property.name, is: [names[all.indexOf(first)]![0]!] };
    pivot.columns.splice(0, all.length, own, ...columns);
    return pivot;
  }
  if (key) {
    const columns = all.map((each) => ({ ...each, header: each.label!, origin: lookup(key, each.label!) }));
    addColumns(key, { table: pivot.sql, key: 'key' }, columns);
  }
  table.attributes = { by: property.name, names: all.length };
  return table;
}

/** Columns that may be such parts. */
function* partsOf(table: Table): Generator<PropertyParts> {
  const { columns, rows, list } = table;
  const filled = columns.filter((each) => each.filled > 0 && !each.isName && each.origin === undefined);
  if (list !== undefined || filled.length < 3 || filled.length > MAX_COLUMNS || rows < 12) return;
  const isName = (each: Column): boolean =>
    (each.is.words > 0.8 || each.is.digits > 0.9) &&
    !each.date &&
    isFew(each) &&
    each.distinct > 1 &&
    each.distinct <= MAX_PROPERTIES;
  for (const property of filled.filter((each) => isName(each) && isComplete(each))) {
    for (const entity of filled) {
      const isOne = entity !== property && isComplete(entity) && isCode(entity) && !entity.date;
      if (!isOne || entity.distinct <= property.distinct) continue;
      const rest = filled.filter((each) => each !== entity && each !== property && !(isKey(each) && isCode(each)));
      // Where one of the properties is a date, most others are none.
      const isDate = ({ date, values }: Column): boolean => date !== undefined && isReadable(date, values);
      const [value] = rest.filter((each) => !isName(each) && !isDate(each)).sort((a, b) => b.distinct - a.distinct);
      if (!value || value.filled < rows / 2 || value.distinct < property.distinct) continue;
      const parts = {
        entity,
        property,
        value,
        type: rest.find(
          (each) => each !== value && isName(each) && each.is.words > 0.8 && each.is.uuid < 0.5 && !isStaff(each),
        ),
      };
      // Somebody may have several addresses of one type.
      if (toldApart(parts) >= rows * 0.6) yield parts;
    }
  }
}

function propertiesIn({ property, type, value }: PropertyParts): Property[] {
  if (!type) return [...countsOf(property).keys()].map((each) => [each]);
  const rows = property.table.db.all<{ p: string; t: string | null }>(
    `select distinct ${property.sql} p, ${type.sql} t from ${property.table.sql} where ${value.sql} is not null limit ${MAX_PROPERTIES}`,
  );
  return rows.map(({ p, t }) => [p, t]);
}

/** How many rows differ in their entity and property. */
function toldApart({ entity, property, type }: PropertyParts): number {
  const columns = [entity, property, ...(type ? [type] : [])].map(({ sql }) => sql).join(', ');
  return countOf(entity.table, `from (select distinct ${columns} from ${entity.table.sql})`);
}

/** In SQL. */
function isOf({ property, type }: PropertyParts, [p, t]: Property): string {
  const isType = type ? ` and ${t ? isOneOf(type, [t]) : `${type.sql} is null`}` : '';
  return `${isOneOf(property, [p!])}${isType}`;
}

/** What all values of a property look like; undefined if they differ. */
function formOf({ is, date, separators, filled }: Column): string | undefined {
  if (filled < 2) return undefined;
  // Amounts of deals in each stage are all numbers, although some may be days of a spreadsheet.
  if (separators !== undefined || is.whole > 0.9 || date?.serial !== undefined) return 'number';
  if (date) return 'date';
  const form = (['email', 'url', 'international', 'flag'] as const).find((each) => is[each] > 0.9);
  return form ?? (is.words > 0.9 ? 'text' : undefined);
}

/** The column of another table that has the entities, or the most of them. */
function keyOf(entity: Column, tables: readonly Table[]): Column | undefined {
  const others = tables.filter((each) => each !== entity.table && each.list === undefined);
  const all = `from (select distinct ${entity.sql} v from ${entity.table.sql})`;
  const found = others
    .flatMap(({ columns }) => columns)
    .filter((key) => isKey(key) && isCode(key) && key.origin === undefined)
    .filter((key) => namesTable(entity, key.table) || fold(entity.name) === fold(key.name) || key.is.digits < 0.9)
    .map((key) => ({ key, n: countOf(entity.table, `${all} where v in (select ${key.sql} from ${key.table.sql})`) }))
    .sort((a, b) => b.n - a.n)[0];
  return found && found.n > entity.distinct * 0.8 ? found.key : undefined;
}
