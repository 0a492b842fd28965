import { closingQuote, RecordParser, type CellMarks, type TakeRecord } from './csv-records.ts';
import { MAX_RECORD } from './reading.ts';
import { countBreaks } from './text.ts';

const QUOTE = 0x22;
const FEED = 0x0a;
const RETURN = 0x0d;

/** Why a record was not read: its end is not in the text yet; it may be malformed. */
const UNFINISHED = -1;
const DOUBTFUL = -2;

/**
 * Reads CSV as `RecordParser` does, several times as fast: it slices cells from the text of a whole chunk. It reads only
 * records that are clearly well formed. From the first other record on (a misplaced quote, a lone carriage return, a quote
 * that stays open, more than `MAX_RECORD`), csv-parse reads the rest of the file or reports the error. csv-parse also reads files
 * whose delimiter has several characters or whose quotes are not escaped by quotes. The tests compare the two.
 */
export class QuickParser {
  readonly #shown: string;
  readonly #marks: CellMarks;
  readonly #take: TakeRecord;
  readonly #maxRecord: number;
  /** Line of the next record. */
  #line: number;
  #afterBlank = false;
  /** The beginning of a record whose end has not been read yet. */
  #rest = '';
  /** Text that is too short to be read again: a long record is not begun anew with every chunk. */
  #least = 0;
  #csvParse: RecordParser | undefined;

  /** `firstLine`: line of the file `shown` on which the text begins. */
  constructor(shown: string, marks: CellMarks, firstLine: number, take: TakeRecord, maxRecord = MAX_RECORD) {
    this.#shown = shown;
    this.#maxRecord = maxRecord;
    this.#marks = marks;
    this.#line = firstLine;
    this.#take = take;
    if (marks.delimiter.length > 1 || (marks.escape ?? '"') !== '"') this.#csvParse = this.#createCsvParse();
  }

  /** Takes UTF-8 that is cut between characters. Throws a `UserError` with file and line, as csv-parse does. */
  async feed(chunk: Buffer): Promise<void> {
    if (this.#csvParse) await this.#csvParse.feed(chunk);
    else await this.#read(this.#rest + chunk.toString('utf8'), false);
  }

  /** After the last chunk: passes on a last record without a line break. Throws as `feed` does. */
  async finish(): Promise<void> {
    if (!this.#csvParse) await this.#read(this.#rest, true);
    await this.#csvParse?.finish();
  }

  /** `isLast`: the file ends with this text. */
  async #read(text: string, isLast: boolean): Promise<void> {
    if (!isLast && text.length < this.#least) {
      this.#rest = text;
      return;
    }
    let start = 0;
    let next = 0;
    while (start < text.length && (next = this.#record(text, start, isLast)) >= 0) start = next;
    this.#rest = text.slice(start);
    this.#least = this.#rest.length * 2;
    if (next !== DOUBTFUL && Buffer.byteLength(this.#rest) <= this.#maxRecord) return;
    this.#csvParse = this.#createCsvParse();
    await this.#csvParse.feed(Buffer.from(this.#rest));
  }

  /** Passes on the record at `start`. Returns where the next one begins, or why it was not read. */
  #record(text: string, start: number, isLast: boolean): number {
    const delimiter = this.#marks.delimiter.charCodeAt(0);
    const cells: string[] = [];
    let breaks = 1;
    let at = start;
    for (;;) {
      if (at < text.length && text.charCodeAt(at) === QUOTE) {
        const close = closingQuote(text, at + 1);
        if (close < 0) return isLast ? DOUBTFUL : UNFINISHED;
        const cell = text.slice(at + 1, close);
        cells.push(cell.includes('"') ? cell.replaceAll('""', '"') : cell);
        if (cell.includes('\n') || cell.includes('\r')) breaks += countBreaks(cell);
        at = close + 1;
      } else {
        const end = endOfCell(text, at, delimiter);
        cells.push(text.slice(at, end));
        at = end;
      }
      if (at === text.length) {
        if (isLast) break;
        return UNFINISHED;
      }
      const code = text.charCodeAt(at);
      at += 1;
      if (code === delimiter) continue;
      if (code === FEED) break;
      if (code !== RETURN) return DOUBTFUL;
      if (at === text.length) {
        if (isLast) break;
        return UNFINISHED;
      }
      if (text.charCodeAt(at) !== FEED) return DOUBTFUL;
      at += 1;
      break;
    }
    // A character has at most three bytes in UTF-8.
    if ((at - start) * 3 > this.#maxRecord && Buffer.byteLength(text.slice(start, at)) > this.#maxRecord)
      return DOUBTFUL;
    const isBlank = cells.length === 1 && cells[0] === '' && text.charCodeAt(start) !== QUOTE;
    if (!isBlank) this.#take(cells, this.#line, this.#afterBlank);
    this.#line += breaks;
    this.#afterBlank = isBlank;
    return at;
  }

  /** csv-parse, continuing at the next record. */
  #createCsvParse(): RecordParser {
    let afterBlank = this.#afterBlank;
    const take: TakeRecord = (cells, line, isAfterBlank) => {
      this.#take(cells, line, afterBlank || isAfterBlank);
      afterBlank = false;
    };
    return new RecordParser(this.#shown, this.#marks, this.#line, take, this.#maxRecord);
  }
}

/** Where a cell without quotes ends. A quote inside it ends it too: the caller checks what follows. */
function endOfCell(text: string, from: number, delimiter: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === delimiter || code === FEED || code === RETURN || code === QUOTE) break;
  }
  return at;
}
