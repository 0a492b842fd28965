/**
 * Adapts the entries of a preset to the given exports: spelling of columns, missing columns, date and number formats.
 */
import {
  isAlternatives,
  type ConditionSpec,
  type EntrySpec,
  type LookupSpec,
  type TransformSpec,
  type ValueObject,
  type ValueSpec,
} from '../mapping/spec.ts';
import { parseTemplate } from '../mapping/template.ts';
import { checkedCurrency } from './currency.ts';
import { doubtOf, formatsOf, readsAll } from './dates.ts';
import { guess, idOf } from './guess.ts';
import { numberDoubt, type Table } from './columns.ts';
import type { Reference } from './references.ts';
import { comparable, isCustom } from './preset.ts';
import type { Role } from './roles.ts';

/** An entry of a preset, adapted, with remarks for the user by path (`data.amount`). */
export interface FittedEntry {
  readonly entry: EntrySpec;
  /** The `data` of the entry, to be added to. */
  readonly data: Record<string, EntrySpec['data'][string]>;
  readonly remarks: Map<string, string>;
  /** Columns that the preset reads but the export does not have, or has without a value in any record. */
  readonly missing: ReadonlySet<string>;
  readonly empty: ReadonlySet<string>;
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
  const { remarks } = fitter;
  const data = fitter.fields('data', entry.data);
  if (data['external_id'] === undefined && entry.data['external_id'] !== undefined) {
    data['external_id'] = idOf(own, 'unknown', references)?.column.name ?? 'ID';
    const missing = [...fitter.missing].map((name) => `\`${name}\``).join(', ');
    remarks.set('data.external_id', `set this: the export does not have ${missing}`);
  }
  const { roles } = guess(own, references, entry.source);
  for (const [field, role, ...apply] of own.from.source.kind === 'tree' ? [] : FIELD_ROLES) {
    const column = roles.get(role)?.column;
    if (!column || entry.data[field] === undefined || data[field] !== undefined) continue;
    data[field] = apply.length === 0 ? column.name : { from: column.name, apply };
    remarks.set(`data.${field}`, 'set this: the preset expects another column name');
  }
  const currency = entry.type === 'deal/created' ? checkedCurrency(data['currency'], data['amount'], own) : undefined;
  if (currency) {
    data['currency'] = currency.value;
    remarks.set('data.currency', currency.remark);
  }
  const [deal, lead] = [data['deal_external_id'], data['lead_external_id']];
  if (entry.type === 'comment/created') {
    if (data['content'] === undefined) return { why: `\`${entry.source}\` has no text column` };
    if (deal === undefined && lead === undefined) {
      return { why: `\`${entry.source}\` has no column for its lead or deal` };
    }
  }
  const { when, if_both, stage_pipeline, occurred_at, priority, ...rest } = entry;
  const settings = {
    when: when && fitter.condition(when),
    occurred_at: fitter.at('occurred_at', occurred_at),
    stage_pipeline: fitter.at('stage_pipeline', stage_pipeline),
    priority: typeof priority === 'number' ? priority : fitter.at('priority', priority),
  };
  return {
    entry: {
      ...rest,
      priority: settings.priority,
      when: settings.when,
      if_both: deal !== undefined && lead !== undefined ? if_both : undefined,
      stage_pipeline: data['stage_name'] === undefined ? undefined : settings.stage_pipeline,
      occurred_at: settings.occurred_at,
      data,
    },
    data,
    remarks,
    missing: fitter.missing,
    empty: fitter.empty,
  };
}

/** Fields that are read from similar columns of an export without those of the preset, and the transforms that they need. */
const FIELD_ROLES: readonly (readonly [field: string, Role, ...transforms: readonly string[]])[] = [
  ['email', 'email', 'lowercase'],
  ['phone_number', 'phone', 'phone'],
  ['full_name', 'full_name'],
  ['title', 'title'],
  ['stage_name', 'stage'],
  ['owner_name', 'owner'],
  ['author_name', 'author'],
];

class Fitter {
  readonly remarks = new Map<string, string>();
  missing: ReadonlySet<string> = new Set<string>();
  readonly empty = new Set<string>();
  readonly #exports: ReadonlyMap<string, Table>;
  readonly #source: string;
  #path = '';

  constructor(exports: ReadonlyMap<string, Table>, source: string) {
    this.#exports = exports;
    this.#source = source;
  }

  /** Fields that have a value, custom ones among them. */
  fields(path: string, values: EntrySpec['data']): Record<string, EntrySpec['data'][string]> {
    const fitted = Object.entries(values).map(([field, value]) => {
      const at = `${path}.${field}`;
      if (!isCustom(field)) return [field, this.at(at, value)] as const;
      const custom = this.fields(at, value as EntrySpec['data']) as Record<string, ValueSpec>;
      return [field, Object.keys(custom).length > 0 ? custom : undefined] as const;
    });
    return Object.fromEntries<EntrySpec['data'][string]>(fitted.filter(([, value]) => value !== undefined));
  }

  at(path: string, value: ValueSpec | undefined): ValueSpec | undefined {
    this.#path = path;
    return value === undefined ? undefined : this.#value(value, this.#source);
  }

  /** Drops conditions on missing columns. */
  condition({ all, any, not, ...test }: ConditionSpec): ConditionSpec | undefined {
    if (not) {
      const fitted = this.condition(not);
      return fitted && { not: fitted };
    }
    const parts = all ?? any;
    if (!parts) return this.at('when', test) as ConditionSpec;
    const fitted = parts.flatMap((part) => this.condition(part) ?? []);
    return fitted.length > 1 ? { [all ? 'all' : 'any']: fitted } : fitted[0];
  }

  #value(value: ValueSpec, source: string): ValueSpec | undefined {
    if (typeof value === 'string') return this.#column(value, source);
    const { from, list, template, lookup, ...rest } = value;
    const base = this.#base({ from, list, template, lookup }, source);
    if (base === undefined) return undefined;
    if (typeof base.from === 'string' && Object.keys(rest).length === 0) return base.from;
    const apply = rest.apply?.map((item) => this.#transform(item, base, source));
    return { ...base, ...rest, ...(apply ? { apply } : {}) };
  }

  /** Where a value comes from; nothing for a constant. */
  #base({ from, list, template, lookup }: ValueObject, source: string): ValueObject | undefined {
    if (template !== undefined) return this.#template(template, source);
    if (lookup) return this.#lookup(lookup, source);
    if (list) {
      const members = list.flatMap((each) => this.#value(each, source) ?? []);
      return members.length === 0 ? undefined : { list: members };
    }
    if (from === undefined) return {};
    if (isAlternatives(from)) return this.#alternatives(from, source);
    const fitted = this.#value(from, source);
    return fitted === undefined ? undefined : { from: fitted };
  }

  /** The alternatives that exist; the others do not count as missing. Two spellings of one column count as one. */
  #alternatives(specs: readonly ValueSpec[], source: string): ValueObject | undefined {
    const before = this.missing;
    const [only, ...others] = new Set(specs.flatMap((each) => this.#value(each, source) ?? []));
    if (only === undefined) return undefined;
    this.missing = before;
    if (others.length > 0) return { from: [only, ...others] };
    return typeof only === 'object' && only.apply === undefined ? only : { from: only };
  }

  #template(template: string, source: string): ValueObject | undefined {
    const parts = parseTemplate(template).map((part) => {
      if ('literal' in part) return part.literal.replace(/[{}]/g, '$&$&');
      const column = this.#column(part.path, source);
      return column === undefined ? undefined : `{${column}}`;
    });
    return parts.includes(undefined) ? undefined : { template: parts.join('') };
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
    if (found === undefined || duplicateColumns.has(found)) this.missing = new Set([...this.missing, name]);
    else if (there.whole && there.columns.some((column) => column.name === found && column.filled === 0)) {
      this.empty.add(found);
    } else return found;
    return undefined;
  }

  /** A transform with the formats of the values in place of those of the preset. */
  #transform(item: TransformSpec, { from }: ValueObject, source: string): TransformSpec {
    const [first] = [from].flat();
    const columns = this.#exports.get(source)?.columns ?? [];
    const column = columns.find(({ name, filled }) => name === first && filled > 0);
    if (typeof item === 'string' || !column) return item;
    if ('number' in item && column.number) {
      this.#doubt(numberDoubt(column));
      const { divide } = item['number'] as { divide?: number };
      return { number: { ...column.number.separators, ...(divide === undefined ? {} : { divide }) } };
    }
    const { date } = column;
    if (!('date' in item) || !date) return item;
    const given = item['date'] as string | readonly string[] | { formats: string | readonly string[] };
    const isObject = typeof given === 'object' && 'formats' in given;
    if (!date.ambiguous && readsAll(column.values, [isObject ? given.formats : given].flat())) return item;
    this.#doubt(doubtOf(date));
    return { date: isObject ? { ...given, formats: formatsOf(date) } : formatsOf(date) };
  }

  #doubt(text: string | undefined): void {
    if (text !== undefined) this.remarks.set(this.#path, text);
  }
}
