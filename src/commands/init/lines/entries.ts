/** The entries of drafts: for every role of its kind of event a line with the column that has it, or with the candidates. */
import { numberText } from '../../../terminal/numbers.ts';
import { combineLine } from './combine-line.ts';
import { countsOf, isComplete, type Column, type Table } from '../columns.ts';
import { isInPairs } from '../content.ts';
import { doubtOf } from '../dates.ts';
import { DealLines } from './deal-lines.ts';
import { customValue, isCompany, isOnly, keyOf, onlyOf, quoted } from '../evidence.ts';
import type { EntryDraft } from '../guess.ts';
import { nameOf, type KnownTables } from '../joins.ts';
import { ParentLines } from './parent-lines.ts';
import type { Entry, Line } from './yaml.ts';

export function entryOf(draft: EntryDraft, known: KnownTables): Entry {
  const lines = new EntryLines(draft, known);
  if (draft.kind === 'leads') return lines.lead();
  return draft.kind === 'deals' ? lines.deal() : lines.comment();
}

class EntryLines {
  readonly #draft: EntryDraft;
  readonly #table: Table;
  readonly #known: KnownTables;
  /** Columns that become no custom field, since they are carried whole. */
  readonly #used = new Set<Column>();
  readonly #parents: ParentLines;
  readonly #lines: DealLines;

  constructor(draft: EntryDraft, known: KnownTables) {
    this.#draft = draft;
    this.#table = draft.table;
    this.#known = known;
    this.#lines = new DealLines(draft, known, this.#used);
    this.#parents = new ParentLines(draft, known, this.#used);
    for (const [role, { column }] of draft.roles) if (role !== 'outcome') this.#used.add(column);
    // Of rows that are a person and a deal, each carries its own columns.
    const twin = known.drafts.find((each) => draft.twin && each !== draft && each.table === draft.table);
    for (const { column } of twin?.roles.values() ?? []) this.#used.add(column);
  }

  lead(): Entry {
    const { key } = this.#draft;
    const data = [this.#lines.idLine(), this.#lines.nameLine(), this.#lines.emailLine(), this.#lines.phoneLine()];
    const settings = this.#when([]);
    const repeats = key?.repeats ? [{ key: 'duplicates', value: 'first' }] : [];
    return this.#entry('lead/created', [...settings, ...repeats, this.#lines.timeLine('created')], data);
  }

  deal(): Entry {
    const parent = this.#parents.parentLine('lead_external_id', 'leads');
    const settings = this.#when([]);
    const data = [
      this.#lines.idLine(),
      this.#lines.titleLine(),
      this.#lines.amountLine(),
      this.#lines.currencyLine(),
      ...parent,
      this.#lines.stageLine(),
      this.#lines.namedLine('owner_name', 'owner'),
    ];
    const lines = [
      ...settings,
      this.#lines.namedLine('stage_pipeline', 'pipeline'),
      this.#lines.timeLine('created'),
      ...this.#lines.priority(),
    ];
    return this.#entry('deal/created', lines, data);
  }

  comment(): Entry {
    const { table, roles } = this.#draft;
    const content = this.#lines.contentLine();
    const author = this.#lines.namedLine('author_name', 'author');
    const parents = this.#parents.commentParents();
    const settings = this.#when([...(content.off ? [] : [content]), ...parents.filter(({ off }) => !off)]);
    const both = parents.filter(({ off }) => !off).length === 2 ? [{ key: 'if_both', value: 'deal' }] : [];
    const each = table.list === undefined ? [] : [{ key: 'each', value: table.list }];
    const id = roles.has('id') ? [this.#lines.idLine()] : [];
    return this.#entry(
      'comment/created',
      [...each, ...settings, ...both, this.#lines.timeLine('happened'), ...combineLine(table, parents)],
      [...id, content, author, ...parents],
    );
  }

  #entry(type: Entry['type'], settings: readonly Line[], data: readonly Line[]): Entry {
    const { table, doubt, twin, kind } = this.#draft;
    const left = this.#rest();
    const isComment = type === 'comment/created';
    const above = [
      ...(doubt === undefined ? [] : [doubt]),
      ...(twin && kind === 'leads' ? ['each row is a person and a deal, so that it becomes both'] : []),
    ];
    const list =
      table.list !== undefined && !settings.some(({ key }) => key === 'each')
        ? [{ key: 'each', value: table.list }]
        : [];
    return {
      table,
      type,
      source: table.source,
      above,
      settings: [...list, ...settings],
      data,
      custom: isComment ? [] : left,
    };
  }

  /** Skips records that were deleted in the old CRM; of comments, those without a text or a parent. */
  #when(needed: readonly Line[]): Line[] {
    const { table } = this.#draft;
    const tests: { value: object; why: string }[] = [];
    const [content, ...refs] = needed;
    const columns = [...this.#used];
    if (content) {
      const texts = (['content', 'subject'] as const).flatMap((role) => this.#draft.roles.get(role)?.column ?? []);
      const hasFallback = columns.some(
        (each) => each.list === undefined && isComplete(each) && reads(content.value, each),
      );
      if (texts.length > 0 && !hasFallback) {
        tests.push({
          value: { from: onlyOf(texts.map(({ name }) => name)), present: true },
          why: 'those without a text',
        });
      }
      const isOptional =
        refs.length > 0 &&
        !refs.some(
          ({ value }) => typeof value === 'string' && columns.some((each) => each.name === value && isComplete(each)),
        );
      if (isOptional && table.list === undefined) {
        tests.push({
          value: { from: onlyOf(refs.map(({ value }) => value)), present: true },
          why: 'those whose lead or deal is in no export',
        });
      }
    }
    for (const column of table.columns) {
      if (!column.meaning.concepts.has('deleted') || column.distinct > 3 || column.meaning.words.length > 2) continue;
      const gone = [...countsOf(column)].filter(([value]) => /^(?:1|true|t|yes|y)$/i.test(value));
      const count = gone.reduce((sum, [, n]) => sum + n, 0);
      if (count > 0)
        tests.push({
          value: { from: column.name, not_in: gone.map(([value]) => value) },
          why: `those that were deleted (${numberText(count)} of ${numberText(table.rows)} by ${quoted(column)})`,
        });
    }
    if (tests.length === 0) return [];
    const value = tests.length === 1 ? tests[0]!.value : { all: tests.map((each) => each.value) };
    return [{ key: 'when', value, comment: tests.map(({ why }) => why).join(', ') }];
  }

  /** All columns with values that are not used otherwise. */
  #rest(): Line[] {
    const { table } = this.#draft;
    const lines = new Map<string, Line>();
    const lists = new Set<string>();
    const events = this.#known.drafts.flatMap((each) => (each.table.parent === table ? [each.table.list!] : []));
    for (const column of table.columns) {
      if (column.filled === 0 || column.isWrapper || (this.#used.has(column) && column.list === undefined)) continue;
      const { list } = column;
      if (
        list !== undefined &&
        (lists.has(list) || events.includes(list) || (this.#used.has(column) && column.several === 0 && isOnly(column)))
      )
        continue;
      if (list !== undefined) lists.add(list);
      const key = keyOf(list ?? column.name);
      const found =
        list === undefined ? nameOf(column, this.#known.references, this.#lines.events(), 'company') : undefined;
      if (found && isCompany(found.name) && !lines.has('company')) {
        lines.set('company', { key: 'company', value: found.join.value, comment: found.join.why });
        continue;
      }
      const unique = lines.has(key) ? `${key}_${lines.size}` : key;
      const isNested = list !== undefined && table.list !== undefined && column.several > 0;
      const comment = isNested
        ? `check: ${quoted({ ...column, name: list })} is a list in a list, whose elements cannot become events of their own`
        : isInPairs(column)
          ? 'check: a list of names and values; a function of your own can take the value of a name'
          : column.date && list === undefined
            ? doubtOf(column.date)
            : undefined;
      lines.set(unique, { key: unique, value: customValue(column), comment });
    }
    return [...lines.values()];
  }
}

/** Whether a value reads a column. */
function reads(value: unknown, { name }: Column): boolean {
  return JSON.stringify(value).includes(JSON.stringify(name));
}
