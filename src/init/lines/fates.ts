/** What becomes of every file, list and column, in figures: nothing is left out without a word. */
import { kindOf } from '../../kinds/index.ts';
import type { ConditionSpec } from '../../mapping/spec.ts';
import { counted, numberText } from '../../report/words/numbers.ts';
import { WORDS_ALONE, type EntryDraft, type MappingDraft } from '../decide/draft.ts';
import type { Column, Table } from '../facts/facts.ts';
import { quoted } from '../decide/fields.ts';
import { NOT_USED } from '../know/texts.ts';
import type { TriedMapping } from '../trial.ts';

/** A column or path that a value reads: of its own record, or of the one that a lookup finds in `source`. */
export interface PathRead {
  readonly path: string;
  readonly source: string | undefined;
}

/** What a value of the mapping or a condition reads. */
export function* readsOf(value: unknown, source?: string): Generator<PathRead> {
  if (typeof value === 'string') yield { path: value, source };
  else if (Array.isArray(value)) for (const each of value as readonly unknown[]) yield* readsOf(each, source);
  else if (typeof value === 'object' && value !== null) {
    const { from, list, all, any, not, template, lookup } = value as ConditionSpec;
    const inTemplate = [...(template ?? '').matchAll(/\{([^{}]+)\}/g)].map(([, path]) => path);
    yield* readsOf([from, list, all, any, not, inTemplate, lookup?.with], source);
    if (lookup) yield* readsOf([lookup.match, lookup.take], lookup.source);
  }
}

/** What is read of each table, and what is said of the others. */
export class Fates {
  readonly #tables: readonly Table[];
  readonly #entries: readonly EntryDraft[];
  /** By source, the paths that are read, as they are in the records. */
  readonly #read = new Map<string, Set<string>>();
  /** By source, the kinds and fields that look it up. */
  readonly #lookedUp = new Map<string, Set<string>>();

  constructor(tables: readonly Table[], { entries }: MappingDraft) {
    this.#tables = tables;
    this.#entries = entries.filter(({ refused }) => refused === undefined);
    for (const { table, kind, fields } of this.#entries) {
      this.#note(this.#read, table.source);
      for (const { key, value, off } of fields) {
        if (key === '*') for (const { name } of table.columns) this.#note(this.#read, table.source, name);
        if (off || WORDS_ALONE.test(key)) continue;
        for (const { path, source } of readsOf(value)) {
          if (source !== undefined && source !== table.source)
            this.#note(this.#lookedUp, source, `${kindOf(kind).words[1]} (${key})`);
          const inner =
            source === undefined && table.list !== undefined && !path.startsWith('$.') ? `${table.list}.${path}` : path;
          this.#note(this.#read, source ?? table.source, inner.replace(/^\$\.|\[\d+\]/g, ''));
        }
      }
    }
  }

  #note(map: Map<string, Set<string>>, source: string, ...what: readonly string[]): void {
    const known = map.get(source) ?? new Set();
    for (const each of what) known.add(each);
    map.set(source, known);
  }

  isRead({ source }: Table): boolean {
    return this.#read.has(source);
  }

  #notRead({ source, columns, list }: Table): Column[] {
    const read = [...(this.#read.get(source) ?? [])];
    const isCarried = (path: string): boolean =>
      read.some((each) => path === each || path.startsWith(`${each}.`) || each.startsWith(`${path}.`));
    const isOfEntry = (own: string): boolean =>
      this.#entries.some(({ table }) => table.source === source && table.list === own);
    return columns.filter(({ name, filled, pair, list: inner }) => {
      if (filled === 0 || pair || (inner !== undefined && isOfEntry(inner))) return false;
      return !isCarried(list === undefined ? name : `${list}.${name}`);
    });
  }

  /** Also of the records that have its list, where these are no entry themselves. */
  notCarried({ table }: EntryDraft): readonly string[] {
    const around = this.#entries.some((entry) => entry.table === table.holder) ? undefined : table.holder;
    const above = around ? this.#notRead(around).filter(({ list }) => list === undefined) : [];
    return [...this.#notRead(table).map(quoted), ...above.map(({ name }) => `\`$.${name}\``)];
  }

  /** Of files that no entry takes: what they are for, and what of them is not carried. */
  get others(): readonly string[] {
    const isOther = ({ source }: Table): boolean => this.#entries.every(({ table }) => table.source !== source);
    return this.#records.filter(isOther).map((table) => {
      const left = this.#notRead(table).map(quoted);
      const notCarried = left.length > 0 ? `; not carried: ${left.join(', ')}` : '';
      return `${table.label} (${counted(table.records, 'record')}) ${this.#use(table)}${notCarried}`;
    });
  }

  get #records(): Table[] {
    return this.#tables.filter(({ list }) => list === undefined);
  }

  #use(table: Table): string {
    const uses = this.#lookedUp.get(table.source);
    if (uses) return `is looked up by ${[...uses].join(', ')}`;
    if (this.isRead(table)) return 'is only read for its lists';
    if (table.records === 0) return 'is not used, because it has no records';
    const noun = table.nouns.find((each) => each in NOT_USED);
    return `is not used, because ${noun ? NOT_USED[noun]! : 'it was not recognised as people, deals or notes'}`;
  }

  /** A line for each file and list, for the screen. */
  findings({ draft, sources, fates }: TriedMapping): string[] {
    const becomes = (entry: EntryDraft): string => {
      if (entry.refused !== undefined) return `not used: ${entry.refused}`;
      const fate = fates.get(entry);
      const [one, several] = kindOf(entry.kind).words;
      if (!fate) return several;
      const failed = fate.failed > 0 ? ` (${numberText(fate.failed)} cannot be sent: ${fate.codes.join(', ')})` : '';
      return `${counted(fate.events, one)}${failed}`;
    };
    return this.#records.flatMap((table) => {
      const { source, records, raw, label } = table;
      const { read, unreadable, skipped } = sources.get(source) ?? { read: records, unreadable: 0, skipped: [] };
      const isEntry = this.#entries.some((entry) => entry.table.source === source);
      const own = draft.entries.filter((entry) => entry.table === table);
      const isUse = own.length === 0 || this.#lookedUp.has(source);
      const parts = [
        ...own.map(becomes),
        ...(isUse ? [this.#use(table).replace(/^is /, '')] : []),
        ...(isEntry && skipped.length > 0 ? [`skipped: ${skipped.join(', ')}`] : []),
        ...(unreadable > 0 ? [`${numberText(unreadable)} not read`] : []),
        ...(records > raw.rows.length ? ['formats and joins are decided by a sample'] : []),
      ];
      const lists = this.#tables.filter((each) => each.holder === table && each.records > 0);
      return [
        `${label}: ${table.export.source.description}, ${counted(read, 'record')} read; ${parts.join('; ')}`,
        ...lists.map((each) => {
          const use = this.#listUse(each, draft, becomes);
          return `  its list \`${each.list!}\`, ${counted(each.records, 'element')}: ${use}`;
        }),
      ];
    });
  }

  #listUse(table: Table, { entries }: MappingDraft, becomes: (entry: EntryDraft) => string): string {
    const own = entries.filter((entry) => entry.table === table);
    if (own.length > 0) return own.map(becomes).join(', ');
    const isKept = [...(this.#read.get(table.source) ?? [])].some(
      (path) => path === table.list || table.list!.startsWith(`${path}.`),
    );
    return isKept ? 'kept in a custom field' : 'not carried';
  }
}
