/**
 * Adapts the entries of a preset to the given exports: spelling of columns, missing columns, date and number formats.
 */
import type { ConditionSpec, EntrySpec, LookupSpec, TransformSpec, ValueObject, ValueSpec } from '../mapping/spec.ts';
import { parseTemplate } from '../mapping/template.ts';
import { checkedCurrency } from './currency.ts';
import { doubtOf, formatsOf, readsAll } from './dates.ts';
import type { EntryLine } from './entry-text.ts';
import { guess, idOf, type Guess } from './guess.ts';
import { numberDoubt, separatorsOf, type ExportColumn, type Table } from './columns.ts';
import type { Reference } from './references.ts';
import { comparable, isCustom } from './preset.ts';
import type { Role } from './roles.ts';

/** An entry of a preset, adapted, with remarks for the user by path (`data.amount`). */
export interface FittedEntry {
  readonly entry: EntrySpec;
  readonly remarks: ReadonlyMap<string, string>;
  /** Columns that the preset reads but the export does not have. */
  readonly missing: readonly string[];
  /** Columns that the preset reads and that have no value in the whole export. */
  readonly empty: readonly string[];
  /** More lines of `data`. */
  readonly lines?: readonly EntryLine[];
}

/** Adapts an entry. `why` is the reason if the entry cannot be used without what is missing. */
export function fitEntry(
  entry: EntrySpec,
  exports: ReadonlyMap<string, Table>,
  references: readonly Reference[],
): FittedEntry | { readonly why: string } {
  const own = exports.get(entry.source);
  if (!own) return { why: `there is no export for \`${entry.source}\`` };
  const fitter = new Fitter(exports, entry.source);
  const data = fitter.fields('data', entry.data);
  if (data['external_id'] === undefined && entry.data['external_id'] !== undefined) {
    data['external_id'] = idOf(own, 'unknown', references)?.column.name ?? 'ID';
    fitter.remark(
      'data.external_id',
      `set this: the export does not have ${fitter.missing.map((name) => `\`${name}\``).join(', ')}`,
    );
  }
  for (const [field, value] of Object.entries(ownColumns(entry, data, guess(own, references, entry.source)))) {
    data[field] = value;
    fitter.remark(`data.${field}`, 'set this: the preset expects another column name');
  }
  const currency = entry.type === 'deal/created' ? checkedCurrency(data['currency'], data['amount'], own) : undefined;
  if (currency) {
    data['currency'] = currency.value;
    fitter.remark('data.currency', currency.remark);
  }
  const isComment = entry.type === 'comment/created';
  if (isComment && data['content'] === undefined) return { why: `\`${entry.source}\` has no text column` };
  if (isComment && data['deal_external_id'] === undefined && data['lead_external_id'] === undefined) {
    return { why: `\`${entry.source}\` has no column for its lead or deal` };
  }
  const { when, occurred_at: occurredAt, stage_pipeline: pipeline, if_both: both, ...rest } = entry;
  const fittedWhen = when && fitter.condition(when);
  const fittedTime = occurredAt === undefined ? undefined : fitter.at('occurred_at', occurredAt);
  const fittedPipeline = pipeline === undefined ? undefined : fitter.at('stage_pipeline', pipeline);
  const bothParents = data['deal_external_id'] !== undefined && data['lead_external_id'] !== undefined;
  const fitted = {
    ...rest,
    ...(fittedWhen ? { when: fittedWhen } : {}),
    ...(both !== undefined && bothParents ? { if_both: both } : {}),
    ...(fittedPipeline !== undefined && data['stage_name'] !== undefined ? { stage_pipeline: fittedPipeline } : {}),
    ...(fittedTime === undefined ? {} : { occurred_at: fittedTime }),
    data,
  };
  return {
    entry: fitted,
    remarks: fitter.remarks,
    missing: [...new Set(fitter.missing)],
    empty: [...new Set(fitter.empty)],
  };
}

/** Fields whose preset columns are missing, read from similar columns of this export instead. */
function ownColumns(
  entry: EntrySpec,
  data: Readonly<Record<string, unknown>>,
  { table, roles }: Guess,
): Record<string, ValueSpec> {
  if (table.from.source.kind === 'tree') return {};
  const found: Record<string, ValueSpec> = {};
  for (const [field, [role, apply]] of Object.entries(FIELD_ROLES)) {
    const column = roles.get(role)?.column;
    if (!column || entry.data[field] === undefined || data[field] !== undefined) continue;
    found[field] = apply === undefined ? column.name : { from: column.name, apply: [apply] };
  }
  return found;
}

const FIELD_ROLES: Readonly<Record<string, readonly [Role, string?]>> = {
  email: ['email', 'lowercase'],
  phone_number: ['phone', 'phone'],
  full_name: ['full_name'],
  title: ['title'],
  stage_name: ['stage'],
  owner_name: ['owner'],
  author_name: ['author'],
};

function isEmpty({ columns }: Table, name: string): boolean {
  return columns.find((column) => column.name === name)?.filled === 0;
}

class Fitter {
  readonly remarks = new Map<string, string>();
  readonly missing: string[] = [];
  readonly empty: string[] = [];
  readonly #exports: ReadonlyMap<string, Table>;
  readonly #source: string;
  #path = '';

  constructor(exports: ReadonlyMap<string, Table>, source: string) {
    this.#exports = exports;
    this.#source = source;
  }

  remark(path: string, text: string): void {
    this.remarks.set(path, text);
  }

  /** Fields that have a value, custom ones among them. */
  fields(path: string, values: EntrySpec['data']): Record<string, EntrySpec['data'][string]> {
    const fitted = Object.entries(values).map(([field, value]) => {
      const at = `${path}.${field}`;
      if (!isCustom(field)) return [field, this.at(at, value as ValueSpec)] as const;
      const custom = this.fields(at, value as EntrySpec['data']) as Record<string, ValueSpec>;
      return [field, Object.keys(custom).length > 0 ? custom : undefined] as const;
    });
    return Object.fromEntries<EntrySpec['data'][string]>(fitted.filter(([, value]) => value !== undefined));
  }

  at(path: string, value: ValueSpec): ValueSpec | undefined {
    this.#path = path;
    return this.#value(value, this.#source);
  }

  /** Drops conditions on missing columns. */
  condition(condition: ConditionSpec): ConditionSpec | undefined {
    this.#path = 'when';
    for (const key of ['all', 'any'] as const) {
      const parts = condition[key];
      if (!parts) continue;
      const fitted = parts.flatMap((part) => this.condition(part) ?? []);
      return fitted.length === 0 ? undefined : fitted.length === 1 ? fitted[0] : { [key]: fitted };
    }
    if (condition.not) {
      const not = this.condition(condition.not);
      return not && { not };
    }
    const value = this.#value(condition, this.#source);
    if (value === undefined) return undefined;
    const { from: _from, lookup: _lookup, list: _list, template: _template, ...test } = condition;
    return typeof value === 'string' ? { from: value, ...test } : value;
  }

  #value(value: ValueSpec, source: string): ValueSpec | undefined {
    if (typeof value === 'string') return this.#column(value, source);
    const base = this.#base(value, source);
    if (base === undefined) return undefined;
    const { from, list, template, lookup, value: constant, ...rest } = value;
    void [from, list, template, lookup, constant];
    if (typeof base.from === 'string' && Object.keys(rest).length === 0) return base.from;
    const apply = rest.apply?.map((item) => this.#transform(item, base, source));
    return { ...base, ...rest, ...(apply ? { apply } : {}) };
  }

  #base({ from, list, template, lookup, value }: ValueObject, source: string): ValueObject | undefined {
    if (value !== undefined) return { value };
    if (template !== undefined) return this.#template(template, source);
    if (lookup) return this.#lookup(lookup, source);
    if (list) {
      const members = list.flatMap((each) => this.#value(each, source) ?? []);
      return members.length === 0 ? undefined : { list: members };
    }
    if (!Array.isArray(from)) {
      const fitted = this.#value(from as ValueSpec, source);
      return fitted === undefined ? undefined : { from: fitted };
    }
    return this.#alternatives(from as readonly ValueSpec[], source);
  }

  /** The alternatives that exist; the others do not count as missing. Two spellings of one column count as one. */
  #alternatives(specs: readonly ValueSpec[], source: string): ValueObject | undefined {
    const before = this.missing.length;
    const fitted = specs.flatMap((each) => this.#value(each, source) ?? []);
    const alternatives = fitted.filter((each, index) => fitted.indexOf(each) === index);
    const [only] = alternatives;
    if (only === undefined) return undefined;
    this.missing.length = before;
    if (alternatives.length > 1) return { from: alternatives };
    return typeof only === 'object' && only.apply === undefined ? only : { from: only };
  }

  #template(template: string, source: string): ValueObject | undefined {
    let text = '';
    for (const part of parseTemplate(template)) {
      if ('literal' in part) text += part.literal.replace(/[{}]/g, '$&$&');
      else {
        const column = this.#column(part.path, source);
        if (column === undefined) return undefined;
        text += `{${column}}`;
      }
    }
    return { template: text };
  }

  #lookup(lookup: LookupSpec, source: string): ValueObject | undefined {
    if (!this.#exports.has(lookup.source)) return undefined;
    const wanted = this.#value(lookup.with, source);
    const match = this.#value(lookup.match, lookup.source);
    const take = this.#value(lookup.take, lookup.source);
    if (wanted === undefined || match === undefined || take === undefined) return undefined;
    return { lookup: { ...lookup, match, with: wanted, take } };
  }

  /** Paths into JSON are kept: other records may have values that the sampled ones do not have. */
  #column(name: string, source: string): string | undefined {
    const there = this.#exports.get(source);
    if (!there || there.from.source.kind === 'tree') return name;
    const { columns, duplicateColumns } = there.from.source;
    const found = columns.includes(name) ? name : columns.find((column) => comparable(column) === comparable(name));
    if (found === undefined || duplicateColumns.has(found)) this.missing.push(name);
    else if (there.whole && there.rows > 0 && isEmpty(there, found)) this.empty.push(found);
    else return found;
    return undefined;
  }

  #transform(item: TransformSpec, base: ValueObject, source: string): TransformSpec {
    if (typeof item === 'string') return item;
    const column = this.#firstColumn(base, source);
    if (!column) return item;
    if ('number' in item && column.number) {
      this.#doubt(numberDoubt(column));
      const { divide } = item['number'] as { divide?: number };
      return { number: { ...separatorsOf(column.number), ...(divide === undefined ? {} : { divide }) } };
    }
    const { date } = column;
    if (!('date' in item) || !date) return item;
    const given = item['date'] as string | readonly string[] | { formats: string | readonly string[] };
    const isObject = typeof given === 'object' && 'formats' in given;
    const known = [isObject ? given.formats : given].flat();
    if (!date.ambiguous && readsAll(column.values, known)) return item;
    this.#doubt(doubtOf(date));
    return { date: isObject ? { ...given, formats: formatsOf(date) } : formatsOf(date) };
  }

  #doubt(text: string | undefined): void {
    if (text !== undefined) this.remark(this.#path, text);
  }

  #firstColumn({ from }: ValueObject, source: string): ExportColumn | undefined {
    const first = Array.isArray(from) ? (from as readonly ValueSpec[])[0] : (from as ValueSpec | undefined);
    if (typeof first !== 'string') return undefined;
    return this.#exports.get(source)?.columns.find(({ name, filled }) => name === first && filled > 0);
  }
}
