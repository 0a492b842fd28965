import { Parser, type Options } from 'csv-parse';
import { codeOf, UserError } from '../../errors.ts';
import { MAX_RECORD } from '../reading.ts';
import { SettingError } from '../source.ts';
import { countBreaks } from '../text/text.ts';
import type { Problem } from '../../problem.ts';
import { FormulaCells, literal } from './formula-cells.ts';

/** Far more than the header of any CRM has: it is looked for with each delimiter. */
export const MAX_HEADER = 1024 * 1024;

/** As csv-parse reports it. */
const TOO_LARGE = Object.assign(new Error('record too large'), { code: 'CSV_MAX_RECORD_SIZE' });

const QUOTE = '"';
const BACKSLASHES = 'if a backslash precedes the quotes that are part of a text, set `escape: "\\\\"` on this source';

const UNQUOTED = 'where no cell of the file is quoted, set `quote: none` on this source';

/** The delimiter, and the character before a quote inside a quoted cell (a quote if absent). */
interface CellMarks {
  readonly delimiter: string;
  readonly escape?: string | undefined;
  /** Quotes are characters like others. */
  readonly quote?: 'none' | undefined;
}

/** Takes one parsed record: its cells, its first line, and whether a blank line precedes it. */
type TakeRecord = (cells: string[], line: number, afterBlank: boolean) => void;

/**
 * csv-parse with the line on which each record begins. csv-parse itself reports the last line of a record, counts a CRLF
 * within quotes as two lines, and reports an open quote at the end of the file. So lines are counted here, in the text up
 * to the byte offset that it reports. Records are passed on as they are parsed: those before an error are not lost, and
 * only the record that is being read is buffered.
 */
export class RecordParser {
  readonly #label: string;
  readonly #delimiter: string;
  readonly #maxRecord: number;
  readonly #escape: string;
  readonly #formulas: FormulaCells;
  readonly #parser: Parser;
  /** Chunks with the record that is being read. They are joined once, because joining a long record with each chunk would be slow. */
  #pending: Buffer[] = [];
  #length = 0;
  /** Bytes before `#pending`. */
  #offset = 0;
  /** Where the last record ends in `#pending`. */
  #from = 0;
  /** Line at `#from`. */
  #line: number;

  /** `firstLine`: line of the file `label` on which the text begins. */
  constructor(
    label: string,
    { delimiter, escape = QUOTE, quote }: CellMarks,
    firstLine: number,
    take: TakeRecord,
    maxRecord = MAX_RECORD,
  ) {
    this.#label = label;
    this.#maxRecord = maxRecord;
    this.#delimiter = delimiter;
    this.#escape = escape;
    this.#formulas = new FormulaCells(label, delimiter);
    this.#line = firstLine;
    this.#parser = new Parser({
      delimiter,
      escape,
      ...(quote && { quote: null }),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxRecord,
    } satisfies Options);
    // Records are taken here, not from the stream, which loses those before an error. `on_record` would copy its info each time.
    this.#parser.push = (cells: string[] | null) => {
      if (cells !== null) this.#pass(cells, take);
      return true;
    };
    // `feed` and `finish` throw the error; without a listener it would end the process as well.
    this.#parser.on('error', () => undefined);
  }

  #pass(cells: string[], take: TakeRecord): void {
    const bytes = this.#joined();
    const end = this.#parser.info.bytes - this.#offset;
    let first = this.#from;
    while (first < end && (bytes[first] === LF || bytes[first] === CR)) first += 1;
    const line = this.#line + breaksIn(bytes, this.#from, first);
    take(cells, line, first > this.#from);
    this.#line = line + breaksIn(bytes, first, end);
    this.#from = end;
  }

  #joined(): Buffer {
    if (this.#pending.length !== 1) this.#pending = [Buffer.concat(this.#pending)];
    return this.#pending[0]!;
  }

  #dropRead(): void {
    this.#pending = [this.#joined().subarray(this.#from)];
    this.#length -= this.#from;
    this.#offset += this.#from;
    this.#from = 0;
  }

  /** Takes UTF-8. Throws a `UserError` with file and line if quotes do not match or a record is too large. */
  async feed(text: Buffer): Promise<void> {
    return this.#parse(this.#formulas.feed(text));
  }

  async #parse(chunk: Buffer): Promise<void> {
    if (this.#from > 0) this.#dropRead();
    this.#pending.push(chunk);
    this.#length += chunk.length;
    await this.#settled((done) => this.#parser.write(chunk, done));
    // csv-parse counts neither delimiters nor blank lines.
    if (this.#length - this.#from > this.#maxRecord) throw this.#explained(TOO_LARGE);
  }

  /** After the last chunk: passes on a last record without a line break. Throws as `feed` does. */
  async finish(): Promise<void> {
    await this.#parse(this.#formulas.finish());
    await this.#settled((done) => this.#parser.end(done));
  }

  notices(): readonly Problem[] {
    return this.#formulas.notices();
  }

  async #settled(work: (done: (error?: Error | null) => void) => void): Promise<void> {
    const error = await new Promise<Error | null | undefined>((resolve) => work(resolve));
    if (error) throw this.#explained(error);
  }

  /** The error of csv-parse with its place, which is in the record at the beginning of `#pending`. */
  #explained(error: Error): Error {
    const code = codeOf(error) ?? '';
    const text = this.#joined().toString('utf8', this.#from);
    const from = /^[\r\n]*/.exec(text)![0].length;
    // Beyond the limit, the last chunk may contain the end of the record and further records.
    const to = code === 'CSV_MAX_RECORD_SIZE' ? from + this.#maxRecord : text.length;
    const { start, end } = damagedCell(text.slice(0, to), from, this.#delimiter, this.#escape);
    const lineOf = (index: number): number => this.#line + countBreaks(text.slice(0, index));
    const opened = lineOf(start);
    const limit = `${this.#maxRecord / 1024 / 1024} MiB`;
    const closeIt = 'close the quote, or double it (`""`) if it is part of the text';
    const inQuotes = (line: number, what: string, hint: string): UserError => {
      const message = `${this.#label}:${line}: ${what}`;
      if (this.#escape === QUOTE && text.includes('\\"'))
        return new SettingError('escape', message, { hint: BACKSLASHES, cause: error });
      return new SettingError('quote', message, { hint: `${hint}; ${UNQUOTED}`, cause: error });
    };
    switch (code) {
      case 'CSV_QUOTE_NOT_CLOSED':
        return inQuotes(opened, 'a quote opens here and is never closed', closeIt);
      case 'CSV_MAX_RECORD_SIZE': {
        const [what, hint] =
          text[start] === QUOTE
            ? [`a quote opens here and is not closed within ${limit}`, closeIt]
            : [`this record is larger than ${limit}`, 'check the file for a missing line break or quote'];
        return new UserError(`${this.#label}:${opened}: ${what}`, { hint, cause: error });
      }
      case 'CSV_INVALID_CLOSING_QUOTE': {
        const here = lineOf(end);
        const where = here === opened ? '' : ` (the quote was opened on line ${opened})`;
        const hint = 'double a quote (`""`) that is part of the text, and close every quote';
        return inQuotes(here, `unexpected text after a closing quote${where}`, hint);
      }
      case 'INVALID_OPENING_QUOTE': {
        const hint = `quote the whole cell and double the quote (\`""\`) inside it; ${UNQUOTED}`;
        const message = `${this.#label}:${opened}: unexpected quote in a cell that is not quoted`;
        return new SettingError('quote', message, { hint, cause: error });
      }
      default:
        return error;
    }
  }
}

const LF = 10;
const CR = 13;

/** The line breaks between two positions, where CRLF is one. */
function breaksIn(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at];
    if (byte === LF || (byte === CR && (at + 1 === to || bytes[at + 1] !== LF))) count += 1;
  }
  return count;
}

/** The cell with the first mistake of the record at `from`: where it begins, and where its quotes end. */
function damagedCell(
  text: string,
  from: number,
  delimiter: string,
  escape: string,
): { readonly start: number; readonly end: number } {
  const plain = new RegExp(`[^"]*?(?=${literal(delimiter)})`, 'y');
  const marks = new RegExp(`${escape === QUOTE ? '""' : `${literal(escape)}[^]`}|"`, 'g');
  for (let start = from; ;) {
    let end = text.length;
    if (text[start] === QUOTE) {
      marks.lastIndex = start + 1;
      let mark = marks.exec(text);
      while (mark && mark[0] !== QUOTE) mark = marks.exec(text);
      if (mark) end = mark.index + 1;
    } else {
      plain.lastIndex = start;
      if (plain.test(text)) end = plain.lastIndex;
    }
    if (!text.startsWith(delimiter, end)) return { start, end };
    start = end + delimiter.length;
  }
}
