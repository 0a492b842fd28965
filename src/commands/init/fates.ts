/** What becomes of every file, list and column, in figures: nothing is left out without a word. */
import { kindOfType } from '../../kinds/index.ts';
import { counted, numberText, ofText } from '../../report/words/numbers.ts';
import { columnsOf } from './matrix/assign.ts';
import { countsOf, holderOf, isIn, isUnique, pathOf, type Column, type Table, isOfApi } from './columns.ts';
import { isWritten } from './matrix/content.ts';
import { quoted } from './evidence.ts';
import type { KnownTables } from './relations/joins.ts';
import { linesOf, readsOf, withLines, type Entry } from './lines/yaml.ts';
import type { MappingParts } from './lines/text.ts';
import { isSure, type Reference } from './relations/references.ts';
import {
  emptyText,
  entryText,
  exportText,
  isMany,
  lookedUpText,
  nameOf,
  notCarriedText,
  typeText,
  whenLine,
  whySkipped,
  type Lookups,
} from './fate-texts.ts';
import type { TriedMapping } from './trial.ts';

export class Fates {
  readonly #known: KnownTables;
  readonly #entries: readonly Entry[];
  readonly #refused: readonly Entry[];
  /** By table, the columns and paths that lines read of it, and by what its records become, the fields that look it up. */
  readonly #read = new Map<Table, Set<string>>();
  readonly #lookedUpFor = new Map<Table, Lookups>();

  constructor(entries: readonly Entry[], known: KnownTables) {
    this.#known = known;
    this.#entries = entries.filter(({ refused }) => refused === undefined);
    this.#refused = entries.filter(({ refused }) => refused !== undefined);
    for (const entry of this.#entries) {
      addTo(this.#read, entry.table);
      for (const { key, value, off } of linesOf(entry).values())
        if (!off) this.#note(value, entry.table, kindOfType(entry.type).words[1], key);
    }
  }

  /** Notes what a value reads of its record and of others. */
  #note(value: unknown, table: Table, type: string, field: string): void {
    for (const { path, source } of readsOf(value)) {
      const others = this.#typesOf(source);
      const other = others.find(({ columns }) => columns.some(({ name }) => name === path)) ?? others[0];
      const isEntry = this.#entries.some((entry) => entry.table === other);
      if (other && !(isEntry && other.source === table.source)) {
        const fields = this.#lookedUpFor.get(other) ?? new Map<string, Set<string>>();
        this.#lookedUpFor.set(other, fields);
        addTo(fields, type, field);
      }
      const holder = path.startsWith('..') ? holderOf(table, this.#known.tables) : undefined;
      const owner = other ?? holder ?? (path.startsWith('$.') ? table.parent : undefined) ?? table;
      addTo(this.#read, owner, path.replace(/^(?:\$|\.)\./, '').replace(/\[\d+\]/g, ''));
    }
  }

  /** The tables of a source: one, or one for each type of its records. */
  #typesOf(source: string | undefined): Table[] {
    return this.#known.tables.filter((each) => each.source === source && each.list === undefined);
  }

  #isRead(table: Table): boolean {
    return [...this.#read.keys()].some((each) => each === table || each.parent === table);
  }

  /** Entries with the figures of the trial beside what leaves records out, and with the columns that they do not carry. */
  annotated({ entries, fates, sources }: TriedMapping): Entry[] {
    return entries.map((entry, at) => {
      const { table, type, source, above, refused } = entry;
      if (refused !== undefined) return entry;
      const fate = fates.get(entry);
      const { type: own } = table.from;
      const isPart = table.list !== undefined || (own !== undefined && own.as !== 'records');
      const all = sources.get(source);
      const total = isPart ? (table.whole ? table.rows : undefined) : all && all.read - all.footers;
      // An element of a list is an event.
      const taken = table.list === undefined ? fate?.records : fate?.events;
      const isFirst = entries.findIndex((each) => each.table === table && each.refused === undefined) === at;
      const why = kindOfType(type).isNote ? `, because a ${kindOfType(type).name} has only a text` : '';
      const failed =
        fate && isMany(fate.failed, fate.events)
          ? `check: ${ofText(fate.failed, fate.events)} cannot be sent: ${fate.codes.join(', ')}`
          : undefined;
      const left = this.#notCarried(table);
      const [api, rest] = [left.filter(isOfApi), left.filter((column) => !isOfApi(column))];
      // A second text is more than a property.
      const mark = why === '' || rest.some(({ is }) => is.prose > 0.3) ? 'check: ' : '';
      const texts = isFirst
        ? [
            notCarriedText(rest, why, mark),
            notCarriedText(api, ', because they only say where an API has the record'),
            failed,
            emptyText(table),
          ]
        : [failed];
      const told = withLines(entry, (line) => (line.key === 'when' && !line.off ? whenLine(line, taken, total) : line));
      return { ...told, above: [...above, ...texts.flatMap((text) => text ?? [])] };
    });
  }

  /** The sources that are read, and lines about the others. */
  sources(): MappingParts['sources'] {
    const records = this.#known.tables.filter(({ list }) => list === undefined);
    const parts = records.flatMap(({ from: { withoutRecords = [] } }) => withoutRecords);
    const isAgain = (table: Table): boolean => this.#typesOf(table.source).find((each) => this.#isRead(each)) !== table;
    return [
      ...records.flatMap((table): MappingParts['sources'][number][] => {
        if (!this.#isRead(table)) return [this.#unreadText(table)];
        return isAgain(table) ? [] : [{ table, remark: this.#remarkOn(table) }];
      }),
      ...parts.map((name) => `${name} is not used, because it has no records`),
    ];
  }

  /** Beside a source: what looks it up, and what is left of it. */
  #remarkOn(table: Table): string | undefined {
    const fields = this.#lookedUpFor.get(table);
    if (!fields || this.#entries.some((entry) => entry.table === table || entry.table.parent === table))
      return undefined;
    const arePeople = !table.settled.has('kind') && this.#isOfPeople(table);
    return [
      `${arePeople ? 'check: these may be people, but they do not become leads; ' : ''}${lookedUpText(fields)}`,
      notCarriedText(this.#notCarried(table)),
      emptyText(table),
    ]
      .filter((text) => text !== undefined)
      .join('; ');
  }

  /** In place of a source that nothing reads. */
  #unreadText(table: Table): string {
    const relation = this.#relation(table);
    const isOf = this.#known.drafts.some((draft) => draft.table === relation?.to.table);
    const filled = table.columns.filter((column) => column.filled > 0);
    const isDoubtful =
      table.unusedDeal !== undefined ||
      this.#refused.some((entry) => entry.table === table && !entry.isProposal) ||
      this.#isOfPeople(table) ||
      // More than a list of names, a link between records, or a history of their stages.
      (relation?.to.table === table && filled.length > 1) ||
      (isOf && this.#history(table) === undefined && filled.length > 4);
    const mark = table.rows > 0 && !table.settled.has('kind') && isDoubtful ? 'check: ' : '';
    const texts = [`${mark}${nameOf(table)} is ${this.#whyUnread(table)}`, notCarriedText(table.columns)];
    return texts.filter((text) => text !== undefined).join('; ');
  }

  /** A line for each file, and one for each list in its records. */
  findings({ sources, fates, entries }: TriedMapping): string[] {
    const { tables } = this.#known;
    const textsOf = (table: Table): string[] =>
      entries.flatMap((entry) => (entry.table === table ? [entryText(entry, fates.get(entry))] : []));
    return tables.flatMap((table) => {
      const types = this.#typesOf(table.source);
      if (types[0] !== table) return [];
      const lists = tables.filter((each) => types.includes(each.parent!) && each.rows > 0 && !isAboutOthers(each));
      const fate = sources.get(table.source);
      const { footers = 0 } = fate ?? {};
      const skipped = fate ? fate.read - fate.unreadable - fate.taken - footers : 0;
      const all = entries.filter((entry) => entry.source === table.source);
      // Where there are entries of whole records, these decide.
      const whole = all.filter((entry) => entry.table.list === undefined);
      const why = whySkipped(whole.length > 0 ? whole : all, skipped);
      const fields = this.#lookedUpFor.get(table);
      const others = types.length > 1 ? types.filter((each) => textsOf(each).length === 0) : [];
      const parts = [
        ...types.flatMap(textsOf),
        ...others.map(
          (each) => `${counted(each.rows, 'record')} ${typeText(each.from.type!)}: ${this.#restText(each)}`,
        ),
        ...(skipped > 0 ? [`${numberText(skipped)} skipped${why}`] : []),
        ...(footers > 0 ? [`${numberText(footers)} skipped: footer or totals below the records`] : []),
        ...(fate && fate.unreadable > 0 ? [`${numberText(fate.unreadable)} cannot be read`] : []),
        ...(fields && others.length === 0 ? [lookedUpText(fields)] : []),
      ];
      if (parts.length === 0) parts.push(this.#restText(table));
      return [
        `${exportText(table, fate?.read)}; ${parts.join('; ')}`,
        ...lists.map((each) => {
          const own = textsOf(each);
          const what = own.length > 0 ? own.join('; ') : this.#listText(each);
          return `  its list \`${each.list}\`, ${counted(each.rows, 'element')}: ${what}`;
        }),
      ];
    });
  }

  /** Of a table without entries. */
  #restText(table: Table): string {
    const fields = this.#lookedUpFor.get(table);
    if (fields) return lookedUpText(fields);
    return this.#isRead(table) ? 'only its lists are used' : this.#whyUnread(table);
  }

  #notCarried(table: Table): Column[] {
    const read = [...(this.#read.get(table) ?? [])];
    const lists = this.#entries.flatMap((entry) => (isIn(entry.table, table) ? [entry.table.list] : []));
    return table.columns.filter(({ name, label, list, filled, isWrapper, origin }) => {
      if (
        filled === 0 ||
        isWrapper ||
        origin !== undefined ||
        (list !== undefined && lists.includes(pathOf({ name: list, table })))
      )
        return false;
      // A value with a name is read beside it.
      const plain = (label === undefined ? name : name.replace(` (${label})`, '')).replace(/\[\d+\]/g, '');
      return !read.some(
        (path) => path === plain || path === name || path === list || path === '$' || name.startsWith(`${path}.`),
      );
    });
  }

  #listText(table: Table): string {
    const { list, parent, attributes } = table;
    const history = this.#history(table);
    const read = [...this.#read].flatMap(([table, paths]) =>
      table === parent || table.parent === parent ? [...paths].map((name) => pathOf({ name, table })) : [],
    );
    const what = history
      ? `${history}, `
      : attributes === undefined
        ? ''
        : `values with their names (\`${attributes.by}\`), `;
    if (read.some((path) => path === list || list!.startsWith(`${path}.`))) return `${what}kept in a custom field`;
    const some = attributes ? `${what}fields of the record` : 'its first element is used';
    return read.some((path) => path.startsWith(`${list!}.`)) ? some : 'not carried';
  }

  /** Names, addresses or numbers, of others than those to whom deals and comments are assigned. */
  #isOfPeople(table: Table): boolean {
    const fields = [...(this.#lookedUpFor.get(table)?.values() ?? [])].flatMap((own) => [...own]);
    if (fields.length > 0 && fields.every((field) => field === 'owner_name' || field === 'author_name')) return false;
    return table.columns.some(
      ({ is, meaning: { concepts }, filled }) =>
        filled > 0 &&
        !concepts.has('company') &&
        (is.email > 0.5 || (is.phone > 0.6 && concepts.has('phone')) || (is.person > 0.7 && concepts.has('person'))),
    );
  }

  /** The best reference to the table or from it. */
  #relation(table: Table): Reference | undefined {
    return this.#known.references
      .filter(({ from, to }) => [from, to].some((each) => each.table === table || each.table.members?.includes(table)))
      .filter((each) => isSure(each, 0.5))
      .sort((a, b) => b.share - a.share || Number(isUnique(b.to)) - Number(isUnique(a.to)) || b.found - a.found)[0];
  }

  /** The columns of a table with the stages of deals, if it has two: from which to which these have gone. */
  #history(table: Table): string | undefined {
    const stages = this.#known.drafts.flatMap(({ roles }) =>
      columnsOf(roles, 'stage').map((column) => [...countsOf(column).keys()]),
    );
    // Of the first one, all deals may be past.
    const isOfStages = (column: Column): boolean => {
      const values = [...countsOf(column).keys()];
      return stages.some(
        (all) => values.filter((each) => all.includes(each)).length > Math.max(1, values.length * 0.6),
      );
    };
    const own = table.columns.filter(isOfStages);
    const isOther = this.#known.drafts.every((draft) => draft.table !== table);
    return own.length === 2 && isOther ? `a history of stages (${own.map(quoted).join(', ')})` : undefined;
  }

  #whyUnread(table: Table): string {
    const { unreadable, why } = table.from.sample;
    if (table.rows === 0)
      return why === undefined
        ? 'not used, because it has no records'
        : `not used, because none of its ${counted(unreadable, 'record')} can be read: ${why}`;
    const refused = this.#refused.find((entry) => entry.table === table);
    if (refused) return `not used, because its entry has a mistake: ${refused.refused!}`;
    if (table.settled.has('kind')) return 'not used, because your answer was that it has no people, deals or notes';
    const deal = table.unusedDeal === undefined ? '' : `${table.unusedDeal}, but `;
    const history = this.#history(table);
    const what = history
      ? `it is ${history}`
      : table.nouns.includes('payment')
        ? 'payments and line items are not deals'
        : table.nouns.includes('other')
          ? 'the service has no place for such records'
          : table.nouns.includes('comment') && !table.columns.some(isWritten)
            ? 'no column has texts'
            : 'it was not recognised as people, deals or notes';
    const first = this.#relation(table);
    const relation = first
      ? `; ${ofText(first.found, first.of)} values of \`${first.from.table.source}.${first.from.name}\` are in \`${first.to.table.source}.${first.to.name}\``
      : ', and no other export has its ids';
    return `not used${deal === '' ? ', because' : ':'} ${deal}${what}${relation}`;
  }
}

function addTo<K>(sets: Map<K, Set<string>>, key: K, ...texts: readonly string[]): void {
  sets.set(key, new Set([...(sets.get(key) ?? []), ...texts]));
}

/** `firstname.versions`: what is said about a value beside it. */
function isAboutOthers({ list, parent }: Table): boolean {
  return parent?.columns.some((each) => each.isWrapper && `${list!}.`.startsWith(`${each.list!}.`)) === true;
}
