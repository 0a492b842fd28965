/** What becomes of every file, list and column, in figures: nothing is left out without a word. */
import { partOf } from './open-export.ts';
import { counted, enumerated, numberText } from '../../terminal/numbers.ts';
import type { Column, Table } from './columns.ts';
import { quoted } from './evidence.ts';
import type { KnownTables } from './joins.ts';
import { isByChance, shareOf, type Reference } from './lines/references.ts';
import { MAX_COLUMNS } from './sample.ts';
import type { EntryFate, TriedMapping } from './trial.ts';
import type { Entry, Line } from './lines/yaml.ts';

export class Fates {
  readonly #known: KnownTables;
  /** By table, the columns and paths that lines read of it, and which fields look it up. */
  readonly #read = new Map<Table, Set<string>>();
  readonly #lookedUpFor = new Map<Table, Set<string>>();
  readonly #entries: readonly Entry[];

  constructor(entries: readonly Entry[], known: KnownTables) {
    this.#known = known;
    this.#entries = entries.filter(({ refused }) => refused === undefined);
    for (const { table, type, settings, data, custom } of this.#entries) {
      this.#readOf(table);
      for (const { key, value, off } of [...settings, ...data, ...custom])
        if (!off) this.#note(value, table, `${type.split('/')[0]}s: ${key}`);
    }
  }

  isRead(table: Table): boolean {
    return [...this.#read.keys()].some((each) => each === table || each.parent === table);
  }

  /** Entries with the figures of the trial beside what leaves records out, and with the columns that they do not carry. */
  annotated({ entries, fates, sources }: TriedMapping): Entry[] {
    const told = new Set<Table>();
    return entries.map((entry) => {
      if (entry.refused !== undefined) return entry;
      const { table } = entry;
      const fate = fates.get(entry);
      const isFirst = !told.has(table);
      const left = isFirst ? this.#notCarried(table) : [];
      const empty = isFirst ? emptyText(table) : undefined;
      told.add(table);
      const why = entry.type === 'comment/created' ? ', since a comment has only a text' : '';
      const total = table.list === undefined ? sources.get(entry.source)?.read : table.whole ? table.rows : undefined;
      const above = [
        ...(left.length > 0 ? [`check: not carried${why}: ${left.map(quoted).join(', ')}`] : []),
        ...(fate && isMany(fate.failed, fate.events)
          ? [`check: ${numberText(fate.failed)} of ${numberText(fate.events)} cannot be sent: ${fate.codes.join(', ')}`]
          : []),
        ...(empty === undefined ? [] : [empty]),
      ];
      const settings = entry.settings.map((line) => (line.key === 'when' ? whenLine(line, fate, total) : line));
      return { ...entry, above: [...entry.above, ...above], settings };
    });
  }

  /** Beside a source: what it is looked up for, and what is left of it. */
  remarkOn(table: Table): string | undefined {
    const fields = this.#lookedUpFor.get(table);
    if (!fields || this.#entries.some((entry) => entry.table === table || entry.table.parent === table))
      return undefined;
    const left = this.#notCarried(table);
    const mark =
      !table.settled.has('kind') && this.#isOfPeople(table)
        ? 'check: these may be people, but do not become leads; '
        : '';
    return [
      `${mark}looked up for ${enumerated([...fields], 'and')}`,
      ...(left.length > 0 ? [`not carried: ${left.map(quoted).join(', ')}`] : []),
      ...[emptyText(table) ?? []].flat(),
    ].join('; ');
  }

  /** In place of a source that nothing reads. */
  unreadText(table: Table): string {
    const { columns, rows } = table;
    const isDoubtful =
      table.unusedDeal !== undefined || this.#isOfPeople(table) || this.#relation(table)?.to.table === table;
    const mark = rows > 0 && !table.settled.has('kind') && isDoubtful ? 'check: ' : '';
    const what = columns.length > 0 ? `; not carried: ${columns.map(quoted).join(', ')}` : '';
    return `${mark}not read: ${nameOf(table)}: not used, because ${this.#whyUnread(table)}${what}`;
  }

  /** A line for each file, and one for each list in its records. */
  findings({ sources, fates, entries }: TriedMapping): string[] {
    const { tables } = this.#known;
    return tables.flatMap((table) => {
      if (table.list !== undefined) return [];
      const lists = tables.filter((each) => each.parent === table && each.rows > 0 && !isAboutOthers(each));
      const of = (each: Table): Entry[] => entries.filter((entry) => entry.table === each);
      const texts = lists.map((each) => {
        const own = of(each).map((entry) => entryText(entry, fates.get(entry)));
        const what = own.length > 0 ? own.join('; ') : this.#listText(each);
        return `  its list \`${each.list}\`, ${counted(each.rows, 'element')}: ${what}`;
      });
      const own = of(table).map((entry) => entryText(entry, fates.get(entry)));
      const fate = sources.get(table.source);
      const skipped = fate ? fate.read - fate.unreadable - fate.taken : 0;
      const why = whySkipped(entries.filter((entry) => entry.source === table.source));
      const parts = [
        ...own,
        ...(skipped > 0 ? [`${numberText(skipped)} skipped${why}`] : []),
        ...(fate && fate.unreadable > 0 ? [`${numberText(fate.unreadable)} cannot be read`] : []),
      ];
      const fields = this.#lookedUpFor.get(table);
      if (fields) parts.push(`looked up for ${enumerated([...fields], 'and')}`);
      if (parts.length === 0)
        parts.push(this.isRead(table) ? 'only its lists are used' : `not used, because ${this.#whyUnread(table)}`);
      return [`${exportText(table, fate?.read)}; ${parts.join('; ')}`, ...texts];
    });
  }

  #readOf(table: Table): Set<string> {
    const known = this.#read.get(table) ?? new Set<string>();
    this.#read.set(table, known);
    return known;
  }

  /** Notes what a value reads of its record and of others. */
  #note(value: unknown, table: Table, field: string): void {
    if (typeof value === 'string') {
      const isOfRecord = value.startsWith('$.') && table.parent !== undefined;
      this.#readOf(isOfRecord ? table.parent : table).add(value.replace(/^\$\./, '').replace(/\[\d+\]/g, ''));
    } else if (Array.isArray(value)) for (const each of value as readonly unknown[]) this.#note(each, table, field);
    else if (typeof value === 'object' && value !== null) {
      const { from, list, template, lookup, all } = value as ValueParts;
      this.#note([from ?? [], list ?? [], all ?? []], table, field);
      for (const [, path] of (template ?? '').matchAll(/\{([^{}]+)\}/g)) this.#note(path, table, field);
      if (!lookup) return;
      this.#note(lookup.with, table, field);
      const other = this.#known.tables.find((each) => each.source === lookup.source && each.list === undefined);
      if (!other) return;
      this.#lookedUpFor.set(other, (this.#lookedUpFor.get(other) ?? new Set()).add(field));
      this.#note([lookup.match, lookup.take], other, field);
    }
  }

  #notCarried(table: Table): Column[] {
    const read = this.#read.get(table) ?? new Set<string>();
    const lists = this.#entries.flatMap((entry) => (entry.table.parent === table ? [entry.table.list] : []));
    return table.columns.filter(({ name, list, filled, isWrapper }) => {
      if (filled === 0 || isWrapper || (list !== undefined && lists.includes(list))) return false;
      return ![...read].some((path) => path === name || path === list || path === '$' || name.startsWith(`${path}.`));
    });
  }

  #listText({ list, parent }: Table): string {
    const read = this.#read.get(parent!) ?? new Set<string>();
    const isWhole = [...read].some((path) => path === list || list!.startsWith(`${path}.`));
    if (isWhole) return 'carried in a custom field';
    const part = [...read].some((path) => path.startsWith(`${list!}.`));
    return part ? 'its first element is carried' : 'not carried';
  }

  /** Names, addresses or numbers, of others than those to whom deals and comments are assigned. */
  #isOfPeople(table: Table): boolean {
    const fields = [...(this.#lookedUpFor.get(table) ?? [])];
    if (fields.length > 0 && fields.every((field) => /: (?:owner_name|author_name)$/.test(field))) return false;
    return table.columns.some(
      ({ is, meaning, filled }) =>
        filled > 0 &&
        !meaning.concepts.has('company') &&
        (is.email > 0.5 ||
          (is.phone > 0.6 && meaning.concepts.has('phone')) ||
          (is.person > 0.7 && meaning.concepts.has('person'))),
    );
  }

  /** The best reference to the table or from it. */
  #relation(table: Table): Reference | undefined {
    return this.#known.references
      .filter((each) => each.from.table === table || each.to.table === table)
      .filter((each) => shareOf(each) >= 0.5 && !isByChance(each))
      .sort((a, b) => shareOf(b) - shareOf(a) || b.found - a.found)[0];
  }

  #whyUnread(table: Table): string {
    const { rows, nouns } = table;
    const { unreadable, why } = table.from.sample;
    if (rows === 0)
      return why === undefined
        ? 'it has no records'
        : `none of its ${counted(unreadable, 'record')} can be read: ${why}`;
    const deal = table.unusedDeal === undefined ? '' : `${table.unusedDeal}; `;
    const isOther = nouns.includes('others');
    const what = isOther
      ? 'the service has no place for such records'
      : 'it was not recognised as people, deals or notes';
    const first = this.#relation(table);
    if (!first) return `${deal}${what}, and no other export has its ids`;
    const { from, to, found, of } = first;
    return `${deal}${what}, although ${numberText(found)} of ${numberText(of)} \`${from.table.source}.${from.name}\` are in ${to.table.source}.${to.name}`;
  }
}

/** The parts of a value of the mapping, or of a condition, that read something. */
interface ValueParts {
  readonly from?: unknown;
  readonly list?: unknown;
  readonly template?: string;
  readonly all?: unknown;
  readonly lookup?: {
    readonly source: string;
    readonly match: unknown;
    readonly with: unknown;
    readonly take: unknown;
  };
}

/** As messages name it: an array of a JSON document like a file. */
export function nameOf({ from: { path, settings } }: Table): string {
  const part = partOf(settings);
  return part === undefined ? path : `${path}#${part}`;
}

function exportText(table: Table, read: number | undefined): string {
  const { from, columns, rows, whole } = table;
  const more = columns.length < MAX_COLUMNS ? [] : [`only the first ${numberText(MAX_COLUMNS)} columns were looked at`];
  const reasons = [...from.reasons, ...more].map((reason) => `; ${reason}`).join('');
  const count = read ?? rows + from.sample.unreadable;
  const isAll = whole || read !== undefined;
  return `${nameOf(table)}: ${from.source.description}, ${isAll ? '' : 'the first '}${counted(count, 'record')} read${reasons}`;
}

function entryText({ type, refused }: Entry, fate: EntryFate | undefined): string {
  const [kind = ''] = type.split('/');
  if (refused !== undefined) return `not used for ${kind}s: ${refused}`;
  if (!fate) return `its records become ${kind}s`;
  const failed = fate.failed > 0 ? ` (${numberText(fate.failed)} cannot be sent: ${fate.codes.join(', ')})` : '';
  const rows = fate.records === fate.events ? '' : `${numberText(fate.records)} are `;
  return `${rows}${counted(fate.events, kind)}${failed}`;
}

function emptyText({ columns, rows, whole }: Table): string | undefined {
  const empty = columns.filter(({ filled }) => filled === 0);
  const where = whole ? 'in any record' : `in the first ${numberText(rows)} records`;
  return empty.length === 0 ? undefined : `no value ${where}: ${empty.map(quoted).join(', ')}`;
}

/** More than a tenth is more than an oversight. */
function isMany(part: number, of: number): boolean {
  return part > of * 0.1;
}

function whenLine(line: Line, fate: EntryFate | undefined, total: number | undefined): Line {
  if (!fate || total === undefined) return { ...line, comment: `check: skips ${line.comment}` };
  const count = Math.max(0, total - fate.records);
  const mark = isMany(count, total) ? 'check: ' : '';
  return { ...line, comment: `${mark}skips ${numberText(count)} of ${numberText(total)}: ${line.comment}` };
}

function whySkipped(entries: readonly Entry[]): string {
  const whys = entries.flatMap(({ table, settings, refused }) => {
    if (refused !== undefined) return [];
    const when = settings.find(({ key, off }) => key === 'when' && !off)?.comment;
    return [
      ...(when === undefined ? [] : [when.replace(/^.*?: /, '')]),
      ...(table.list === undefined ? [] : [`those without \`${table.list}\``]),
    ];
  });
  return whys.length > 0 ? `: ${[...new Set(whys)].join('; ')}` : '';
}

/** `firstname.versions`: what is said about a value beside it. */
function isAboutOthers({ list, parent }: Table): boolean {
  return parent?.columns.some((each) => each.list === list && each.isWrapper) === true;
}
