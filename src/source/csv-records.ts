import { Parser, type CsvError, type Options } from 'csv-parse';
import { UserError } from '../errors.ts';
import { countBreaks } from './text.ts';

/** No record of a CRM comes near it; an open quote would otherwise swallow the file. */
export const MAX_RECORD = 1024 * 1024;

/** One record as parsed: its cells, its first line, and whether a blank line stands before it. */
export type TakeRecord = (cells: string[], line: number, afterBlank: boolean) => void;

/** What csv-parse 7 publishes beside its types: the record and the field it is at work on. */
interface Unfinished {
  readonly quoting: boolean;
  readonly wasRowDelimiter: boolean;
  readonly record: readonly string[];
  readonly field: { toString(encoding: string): string };
}

/**
 * csv-parse with the number of each record's first line, at no cost: `push` is called for every record as it is parsed,
 * while `info.lines` is its last line. It is driven by hand, chunk by chunk, so that nothing is buffered beyond the chunk
 * and an error comes right after the records before it. Every chunk must be a buffer of its own.
 */
export class RecordParser extends Parser {
  declare readonly state: Unfinished;
  readonly #shown: string;
  readonly #take: TakeRecord;
  /** To be added to a line number: lines before the text, less those that csv-parse counted twice (CRLF within quotes). */
  #shift: number;
  /** `info.lines` at the end of the last record. */
  #counted = 0;

  /** `firstLine`: where the text begins in the file that people see as `shown`. */
  constructor(shown: string, delimiter: string, firstLine: number, take: TakeRecord) {
    super({
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_RECORD,
    } satisfies Options);
    this.#shown = shown;
    this.#take = take;
    this.#shift = firstLine - 1;
  }

  override push(cells: string[] | null): boolean {
    if (cells === null) return false;
    const { lines } = this.info;
    const step = lines - this.#counted;
    this.#counted = lines;
    if (step === 1) {
      this.#take(cells, lines + this.#shift, false);
      return true;
    }
    const { counted, twice } = breaksIn(cells);
    const line = lines - counted + this.#shift;
    this.#shift -= twice;
    this.#take(cells, line, step - 1 > counted);
    return true;
  }

  /** Throws a `UserError` with file and line where quotes do not match or a record is too large. */
  feed(chunk: Buffer): void {
    this._transform(chunk, 'utf8', (error) => this.#check(error));
  }

  /** After the last chunk: delivers a record that no line break ends. Throws as `feed` does. */
  finish(): void {
    this._flush((error) => this.#check(error));
  }

  #check(error: Error | null | undefined): void {
    if (!error) return;
    const { quoting, wasRowDelimiter, record, field } = this.state;
    const now = this.info.lines + (wasRowDelimiter ? 1 : 0);
    const open = quoting ? field.toString('utf8') : '';
    const here = now + this.#shift - breaksIn([...record, open]).twice;
    const opened = here - countBreaks(open);
    switch ((error as CsvError).code as string) {
      case 'CSV_QUOTE_NOT_CLOSED':
        throw new UserError(`${this.#shown}:${opened}: a quote opens here and is never closed`, {
          hint: 'close it, or double it (`""`) where it is part of the text',
          cause: error,
        });
      case 'CSV_MAX_RECORD_SIZE':
        throw new UserError(
          quoting
            ? `${this.#shown}:${opened}: a quote opens here and is not closed within 1 MiB`
            : `${this.#shown}:${here}: this record is larger than 1 MiB`,
          { hint: 'close the quote, or double it (`""`) where it is part of the text', cause: error },
        );
      case 'CSV_INVALID_CLOSING_QUOTE':
        throw new UserError(
          `${this.#shown}:${here}: text follows a closing quote` +
            (opened === here ? '' : ` (the quote was opened on line ${opened})`),
          { hint: 'double a quote (`""`) that is part of the text, and close every quote', cause: error },
        );
      case 'INVALID_OPENING_QUOTE':
        throw new UserError(`${this.#shown}:${here}: a quote stands in the middle of a cell that is not quoted`, {
          hint: 'put the whole cell in quotes and double the quote (`""`) within',
          cause: error,
        });
      default:
        throw error;
    }
  }
}

/** Line breaks within cells: as csv-parse counts them (CRLF as two), and how many of them are counted twice. */
function breaksIn(cells: readonly string[]): { counted: number; twice: number } {
  let counted = 0;
  let twice = 0;
  for (const cell of cells) {
    for (let index = 0; index < cell.length; index += 1) {
      const code = cell.charCodeAt(index);
      if (code !== 10 && code !== 13) continue;
      counted += 1;
      if (code === 10 && index > 0 && cell.charCodeAt(index - 1) === 13) twice += 1;
    }
  }
  return { counted, twice };
}
