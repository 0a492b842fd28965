/** A preset that matches, as entries with the exports' own headers, and formats from their values. */
import { entityOf, kindOfType } from '../../kinds/index.ts';
import { fittedEntry } from '../../mapping/fitted.ts';
import type { NotInExport } from '../../mapping/not-in-export.ts';
import type { EntrySpec, TransformSpec, ValueObject, ValueSpec } from '../../mapping/spec.ts';
import { numberText, ofText } from '../../report/words/numbers.ts';
import type { Facts } from '../decide/decide.ts';
import { NOTHING, WORDS_ALONE, type EntryDraft, type ExtraSource, type Field } from '../decide/draft.ts';
import type { MappingSpec } from '../../mapping/schema.ts';
import type { Column, Table } from '../facts/facts.ts';
import { dateValue, figures, formatDoubt, numberArgument, quoted } from '../decide/fields.ts';
import { isNamed } from '../decide/joins.ts';
import { idOf, type Key } from '../decide/kinds.ts';
import { readsOf } from '../lines/fates.ts';
import { columnIn, columnsOf, pathIn, valuesOf, type PresetMatch } from './match.ts';
import { POINTS, type RecordKind } from '../know/roles.ts';

/** The entries of a preset, without what the exports lack. */
export function presetEntries({ spec, tables, files }: PresetMatch, { references }: Facts): EntryDraft[] {
  const said = new Set<Column>();
  return spec.events.flatMap((own, index): EntryDraft[] =>
    files.flatMap(([source, table]) => {
      if (source !== own.source) return [];
      const custom = kindOfType(own.type).custom ?? '';
      const fitted = fittedEntry(own, index, lackingIn(spec, new Map([...tables, [source, table]])));
      const { data: has = {}, ...rest } = fitted ?? {};
      if (has['external_id'] === undefined || ('content' in own.data && has['content'] === undefined)) return [];
      const { type: _, source: __, ...settings } = rest as Partial<EntrySpec>;
      const context = { table, tables, each: own.each, references, said };
      const given = own.data[custom];
      const all = typeof given === 'object' && '*' in given ? { '*': 'rest' } : {};
      const of = (place: Field['place'], values: object): Field[] =>
        Object.entries(values).flatMap(([key, value]) => (key === custom ? [] : [fieldOf(key, value, place, context)]));
      const fields = [
        ...of('settings', settings),
        ...of('data', has),
        ...Object.keys(own.data).flatMap((key) => (has[key] !== undefined || key === custom ? [] : [absent(key)])),
        ...of('custom', { ...(has[custom] as object | undefined), ...all }),
      ].filter(({ value }) => value !== undefined);
      const why = [{ what: 'preset', points: POINTS.file }];
      return [{ kind: entityOf(own.type) as RecordKind, type: own.type, table, fields, why }];
    }),
  );
}

const absent = (key: string): Field => {
  return { key, place: 'data', value: NOTHING, off: true, said: 'not in this export', columns: [] };
};

/** With what the columns of the export show for sure in place of what a preset does not find. */
export function completed(entry: EntryDraft, general: EntryDraft | undefined): EntryDraft {
  const used = entry.fields.flatMap(({ columns, place }) => (place === 'data' ? columns : []));
  const sure = general?.fields.filter(
    ({ off, doubt, columns }) => !off && !doubt && !columns.some((each) => used.includes(each)),
  );
  const found = (field: Field): Field => sure?.find(({ key }) => key === field.key) ?? field;
  return { ...entry, fields: entry.fields.map((field) => (field.value === NOTHING ? found(field) : field)) };
}

/** What tells the records of an entry apart. */
export function presetKey(entry: EntryDraft | undefined): Key | undefined {
  const id = entry?.fields.find(({ key }) => key === 'external_id');
  if (!id?.columns[0]) return undefined;
  const { apply, from } = id.value as ValueObject;
  return { value: id.value as ValueSpec, columns: [id.columns[0]], ...(typeof from === 'string' && { apply }) };
}

/** All columns that the entries name and that their tables do not have, by source; sources without a table. */
function lackingIn({ events, sources }: MappingSpec, tables: ReadonlyMap<string, Table>): NotInExport {
  const columns = new Map<string, Set<string>>();
  for (const entry of events)
    for (const { path, source = entry.source } of readsOf(valuesOf(entry))) {
      const table = tables.get(source);
      const whole = pathIn(path, source === entry.source ? entry.each : undefined);
      if (!table || columnIn(table, whole) || table.columns.some(({ name }) => name.startsWith(`${whole}.`))) continue;
      columns.set(source, (columns.get(source) ?? new Set()).add(path));
    }
  const parts = partsOf({ sources }, tables).map(({ name }) => name);
  return {
    sources: Object.keys(sources).filter((name) => !tables.has(name) && !parts.includes(name)),
    values: [],
    columns,
    entries: [],
  };
}

/** Sources of a preset that read another part of the same file: the stages in pipelines. */
export function partsOf({ sources }: Pick<MappingSpec, 'sources'>, tables: ReadonlyMap<string, Table>): ExtraSource[] {
  return Object.entries(sources).flatMap(([name, { path, records, recognise }]) => {
    const table = [...tables].find(([other]) => sources[other]!.path === path)?.[1];
    return !recognise && table && records !== undefined ? [{ name, table, records }] : [];
  });
}

interface Context {
  readonly table: Table;
  readonly tables: ReadonlyMap<string, Table>;
  readonly each: EntrySpec['each'];
  readonly references: Facts['references'];
  /** Columns of names by which parents are found, and of which that is said. */
  readonly said: Set<Column>;
}

function fieldOf(key: string, value: unknown, place: Field['place'], context: Context): Field {
  if (WORDS_ALONE.test(key)) return { key, place, value: value as Field['value'], columns: [], said: '' };
  const columns = columnsOf(value, context.table, context);
  const said = place === 'data' ? saidOf(columns, context.table) : '';
  const field = { key, place, value: written(value, context) as Field['value'], columns, said };
  if (key === 'currency') return currencyOf(field, context.table);
  if (key.endsWith('_external_id'))
    return { ...field, ...elsewhere(field, context), ...contradiction(columns, context.references) };
  const [first] = columns;
  const doubt = first && (key === 'amount' || key === 'occurred_at') ? formatDoubt(key, first) : undefined;
  return doubt ? { ...field, doubt: doubt.mark, said: [doubt.why, said].filter(Boolean).join('; ') } : field;
}

function saidOf(columns: readonly Column[], { records }: Table): string {
  const [first] = columns;
  if (!first) return '';
  return columns.length === 1 ? figures(first) : `${quoted(first)} in ${ofText(first.filled, records)}`;
}

/** The currency of the account stands in only where a record has none. */
function currencyOf(field: Field, { records }: Table): Field {
  const { from } = field.value as { from?: readonly unknown[] };
  const isFull = field.columns.some(({ filled }) => filled === records);
  if (!JSON.stringify(field.value).includes('"value"')) return field;
  if (!Array.isArray(from) || !isFull) return { ...field, doubt: 'set', said: 'the currency of deals that have none' };
  const kept = from.filter((each) => typeof each === 'string');
  return {
    ...field,
    value: { ...(field.value as object), from: kept.length === 1 ? kept[0] : kept },
  };
}

/** A parent that is found by a name or a company, or is where the record has no id of it: said where it is for the first time. */
function elsewhere({ value, said }: Field, { tables, said: known }: Context): Partial<Field> {
  const { from } = (value ?? {}) as ValueObject;
  const ways = (Array.isArray(from) ? from : [value]) as ValueObject[];
  const columns = ways.map((way) => {
    const lookup = way?.lookup;
    const table = lookup && [...tables.values()].find(({ source }) => source === lookup.source);
    const there = table ? columnsOf(lookup.match, table) : [];
    const loose = there.find((column) => isNamed(column) || column.meaning.concepts.has('company'));
    if (!loose || known.has(loose)) return [];
    known.add(loose);
    return [...readsOf(lookup!.with)].map(({ path }) => `\`${path}\``);
  });
  const isLoose = columns[0]!.length > 0;
  const others = [...new Set(columns.flat())].join(', ');
  if (others === '') return {};
  return { doubt: 'check', isLoose, said: `${said}; ${isLoose ? '' : 'else '}the only one with the same ${others}` };
}

/** Fewer values show nothing. */
const LEAST = 4;

/** Ids of which no export has a record. */
function contradiction(columns: readonly Column[], references: Facts['references']): Partial<Field> {
  const [first] = columns;
  const isOpen = !first || first.sample.length < LEAST || first === idOf(first.table);
  if (isOpen || references.some(({ from }) => columns.includes(from))) return {};
  return { doubt: 'check', said: `0 of ${numberText(first.filled)} ids are in the exports` };
}

/** With the headers and sources of the exports, and the formats of their values. */
function written(value: unknown, context: Context): unknown {
  const { tables } = context;
  if (typeof value === 'string') return pathOf(value, context);
  if (Array.isArray(value)) return [...new Set(value.map((each) => written(each, context)))];
  if (typeof value !== 'object' || value === null) return value;
  const spec = { ...(value as Record<string, unknown>) };
  for (const part of ['from', 'list', 'all', 'any', 'not']) if (part in spec) spec[part] = written(spec[part], context);
  const { lookup, apply, template } = value as ValueObject;
  if (template) spec['template'] = template.replace(/\{([^{}]+)\}/g, (_, path: string) => `{${pathOf(path, context)}}`);
  if (lookup) {
    const own = tables.get(lookup.source);
    const there = (each: ValueSpec): unknown =>
      own ? written(each, { ...context, table: own, each: undefined }) : each;
    const [match, take] = [there(lookup.match), there(lookup.take)];
    spec['lookup'] = {
      ...lookup,
      source: own?.source ?? lookup.source,
      match,
      with: written(lookup.with, context),
      take,
    };
  }
  if (apply) spec['apply'] = apply.map((each) => formatted(each, spec['from'], context));
  return Object.keys(spec).join() === 'from' && !Array.isArray(spec['from']) ? spec['from'] : spec;
}

function pathOf(path: string, { table, each }: Context): string {
  const column = columnIn(table, pathIn(path, each));
  return column && table.export.source.kind === 'table' ? column.name : path;
}

/** Formats of dates and numbers are those of the values. */
function formatted(transform: TransformSpec, from: unknown, { table, each }: Context): TransformSpec {
  const [column, ...others] = columnsOf(from, table, { each });
  if (typeof transform === 'string' || !column) return transform;
  const { date, number } = transform as { date?: { as?: string }; number?: object };
  if (date !== undefined && column.date && others.length === 0)
    return (dateValue({ ...column, list: undefined }, date.as === 'date') as { apply: TransformSpec[] }).apply[0]!;
  return number !== undefined && column.separators ? { number: { ...number, ...numberArgument(column) } } : transform;
}
