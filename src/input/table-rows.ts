import type { RawRecord, RecordText } from '../model.ts';
import { issueOf } from '../report/words/words.ts';
import type { TableRecord } from './format.ts';
import { FirstRecords, Heads, isTotal } from './heads.ts';
import { shorten, type Items } from './reading.ts';
import { Tally } from './source.ts';
import type { Problem } from '../problem.ts';

/** Most lines of a footer: more lone cells than this are short rows. */
const FOOTER_LINES = 20;

interface Layout {
  /** As messages name it. */
  readonly file: string;
  readonly header: readonly string[];
  readonly columns: number;
  /** For each column of this file, its index among the columns of the source. */
  readonly targets: readonly number[];
  readonly items: Items;
}

/** Turns the records of one file into rows with the columns of the source, in their order. */
export class TableRows {
  readonly #layout: Layout;
  readonly #width: number;
  /** Least number of cells of a complete row: up to the last column with a name. */
  readonly #needed: number;
  /** As in the layout, until another header follows. */
  #targets: readonly (number | undefined)[];
  /** The columns are those of the source, in the same order. */
  #plain: boolean;
  readonly #heads: Heads;
  /** Of a header with other columns, below which nothing can be read. */
  #otherHead: number | undefined;
  readonly #first = new FirstRecords<TableRecord>(
    (record) => this.#read(record),
    ({ cells }) => cells,
  );
  /** Lone cells after a blank line: a footer, unless a complete record follows. */
  #held: TableRecord[] = [];
  /** A row of empty cells, which is how spreadsheets write a blank line, has followed the last row. */
  #padded = false;
  /** Values below the last columns, which have no name. */
  readonly #unnamed = new Tally<{ line: number; cell: string }>();
  /** By the line of the first. */
  readonly #empty = new Tally<number>();

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#width = layout.header.length;
    this.#needed = layout.header.findLastIndex((name) => name !== '') + 1;
    this.#targets = layout.targets;
    this.#plain = isPlain(layout.targets, layout.columns);
    this.#heads = new Heads(layout.header);
  }

  take(record: TableRecord): void {
    const { cells, line, afterBlank = false } = record;
    const first = cells[0]!.trim();
    if (first === '' && cells.every(isBlank)) {
      this.#skipEmpty(cells, line);
      return;
    }
    if (this.#width > 1 && (first === END_OF_FILE ? cells.length === 1 : isRule(cells))) {
      this.#first.finish();
      const code = first === END_OF_FILE ? 'end_of_file_mark' : 'ruled_line';
      this.#layout.items.unreadable(line, issueOf(code), this.#arranged(record));
      return;
    }
    if (this.#isFooter(cells, afterBlank)) {
      this.#held.push(record);
      if (this.#held.length > FOOTER_LINES) this.#release();
      return;
    }
    if (this.#held.length > 0 || this.#padded) this.#release();
    this.#row(record);
  }

  /** A lone cell below a blank line, or totals. */
  #isFooter(cells: readonly string[], afterBlank: boolean): boolean {
    if (this.#width === 1) return false;
    const isBelow = afterBlank || this.#padded || this.#held.length > 0;
    const isLone = isBelow && cells.every((cell, index) => index === 0 || isBlank(cell));
    return isLone || isTotal(cells);
  }

  finish(): void {
    this.#first.finish();
    for (const record of this.#held) {
      const { cells, line } = record;
      const text = cells.filter((cell) => !isBlank(cell)).join(' ');
      const issue = issueOf(isTotal(cells) ? 'total_row' : 'report_footer', shorten(text));
      this.#layout.items.unreadable(line, issue, this.#arranged(record));
    }
    this.#held = [];
  }

  notices(): Problem[] {
    const { file } = this.#layout;
    return [
      ...this.#unnamed.each((count, { cell, line }) =>
        issueOf('unnamed_values', count, shorten(cell.trim())).in(file, line),
      ),
      ...this.#empty.each((count, line) => issueOf('empty_rows', count).in(file, line)),
    ];
  }

  #countUnnamed(cells: readonly string[], line: number): void {
    for (const cell of cells.slice(this.#needed)) {
      if (!isBlank(cell)) this.#unnamed.add({ line, cell });
    }
  }

  #skipEmpty(cells: readonly string[], line: number): void {
    this.#padded = true;
    if (cells.length > 1 || this.#width === 1) this.#empty.add(line);
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    this.#padded = false;
    for (const record of held) this.#row(record);
  }

  #row(record: TableRecord): void {
    if (this.#width === 1) this.#read(record);
    else this.#first.take(record);
  }

  #read(record: TableRecord): void {
    const { cells, line, issue } = record;
    const { items } = this.#layout;
    const unreadable = issue ?? this.#reject(cells, line);
    if (unreadable) {
      items.unreadable(line, unreadable, this.#arranged(record));
    } else if (cells.length < this.#needed) {
      items.row(line, this.#arranged(record), [issueOf('short_row', cells.length, this.#needed)]);
    } else {
      if (this.#needed < this.#width) this.#countUnnamed(cells, line);
      items.row(
        line,
        this.#arranged(cells.length > this.#width ? { ...record, cells: cells.slice(0, this.#width) } : record),
      );
    }
  }

  #reject(cells: readonly string[], line: number): Problem | undefined {
    const kind = this.#width > 1 ? this.#heads.take(cells) : 'record';
    if (typeof kind === 'object') return this.#readBy(kind.order);
    if (kind === 'other') this.#otherHead ??= line;
    if (this.#otherHead !== undefined) return issueOf('other_header', this.#otherHead);
    if (cells.length <= this.#width) return undefined;
    const surplus = cells.slice(this.#width).filter((cell) => !isBlank(cell));
    if (surplus.length === 0) return undefined;
    return issueOf('too_many_cells', cells.length, this.#width, shorten(surplus.join(', ')));
  }

  /** The header once more: what follows is in this order. */
  #readBy(order: readonly number[]): Problem {
    const { targets, columns } = this.#layout;
    const isSame = order.every((column, at) => column === at);
    this.#targets = isSame ? targets : order.map((column) => targets[column]);
    this.#plain = isPlain(this.#targets, columns);
    this.#otherHead = undefined;
    return issueOf(isSame ? 'repeated_header' : 'repeated_header/reordered');
  }

  #arranged({ cells, decimals }: TableRecord): RecordText {
    const raw = this.#arrange(cells);
    return decimals ? { raw, decimals: decimals.flatMap((index) => this.#targets[index] ?? []) } : { raw };
  }

  /** The cells in the order of the source's columns, followed by any surplus cells. */
  #arrange(cells: readonly string[]): RawRecord {
    if (this.#plain && cells.length >= this.#width) return cells;
    const { columns } = this.#layout;
    const arranged = new Array<string>(columns).fill('');
    for (let index = 0; index < cells.length; index += 1) {
      const target = this.#targets[index];
      if (target === undefined) arranged.push(cells[index]!);
      else arranged[target] = cells[index]!;
    }
    return arranged;
  }
}

function isPlain(targets: readonly (number | undefined)[], columns: number): boolean {
  return columns === targets.length && targets.every((target, index) => target === index);
}

function isBlank(cell: string): boolean {
  return cell === '' || cell.trim() === '';
}

/** What DOS programs write after the last line. */
const END_OF_FILE = '\x1a';

/** `-----`, also as Markdown writes it (`:---:`): a line below the header or above a total. */
const RULE = /^(?::-+:?|-+:|[|+]?[-=_~*─━═]{2,}[|+]?)$/;

function isRule(cells: readonly string[]): boolean {
  let filled = 0;
  for (const cell of cells) {
    const text = cell.trim();
    if (text === '') continue;
    if (!RULE.test(text)) return false;
    filled += 1;
  }
  return filled > 0 && filled * 2 >= cells.length;
}
