import { UserError } from '../../errors.ts';
import { SettingError, type SourceSpec } from '../source.ts';
import { MAX_HEADER, RecordParser } from './records.ts';
import { counted } from '../../report/words/numbers.ts';

/** What must be known about a CSV file before its records can be read. */
export interface Dialect {
  readonly delimiter: string;
  readonly escape: string | undefined;
  readonly quote: 'none' | undefined;
  /** Line of the header; of the first record if the file has none. */
  readonly headerLine: number;
  /** The bytes of text before that line. */
  readonly start: number;
  /** The header, trimmed; an empty string for a column without a name. */
  readonly header: readonly string[];
  /** The file itself has the header; otherwise the mapping names the columns. */
  readonly hasHeader: boolean;
}

type DeclaredDialect = Pick<SourceSpec, 'delimiter' | 'escape' | 'quote' | 'headerLine' | 'columns'>;

/** In order of preference: of two that fit a file equally well, the one that is rarer in text and numbers is right. */
const DELIMITERS = ['\t', '|', ';', ','];
/** How many records of the sample are compared. */
const RECORDS = 200;

interface Trial {
  readonly delimiter: string;
  readonly header: readonly string[];
  /** Cells up to the last one that has a name; without a header, of the first record. */
  readonly named: number;
  readonly headerLine: number;
  /** Share of the records below the header with the same number of cells. */
  readonly agreement: number;
  /** The first record that is wider than the header, if nearly all are: the header is probably a title. */
  readonly wider?: { readonly cells: number; readonly line: number };
  readonly error?: UserError;
}

/**
 * Finds the delimiter and the header of a file by reading the beginning of its text with each delimiter and comparing the
 * results. What the mapping declares is used as it is. `whole`: the sample is the whole file. Undefined if a larger sample is
 * needed, of more than `MAX_HEADER`: the header may be longer than this one. Throws a `UserError` if there is no header.
 */
export async function findDialect(
  label: string,
  sample: Buffer,
  whole: boolean,
  declared: DeclaredDialect,
): Promise<Dialect | undefined> {
  const hinted = declared.headerLine === undefined ? separatorLine(sample) : undefined;
  const line = declared.headerLine ?? (hinted ? 2 : 1);
  const text = sample.subarray(offsetOf(line, sample));
  if (whole && sample.toString('utf8').trim() === '') {
    throw new UserError(`${label} is empty`, { hint: 'export it again; even an export without records has a header' });
  }
  const wanted = declared.delimiter ?? hinted;
  const delimiters = wanted === undefined ? DELIMITERS : [checkDelimiter(label, wanted)];
  const trials: Trial[] = [];
  const sampled = { label, text, line, whole };
  for (const delimiter of delimiters) trials.push(await tryDelimiter(sampled, delimiter, declared));
  const best = trials.reduce((a, b) => (compare(b, a) > 0 ? b : a));
  if (best.error && best.header.length === 0) throw best.error;
  if (best.header.length === 0 && !whole && sample.length <= MAX_HEADER) return undefined;
  if (best.header.length === 0 || (declared.headerLine !== undefined && best.headerLine !== line)) {
    throw new UserError(`${label}:${line}: there is no header`, {
      hint: 'the first line must name the columns; if the header is further down, set its line: `header_line: 3`',
    });
  }
  if (declared.columns && best.wider) {
    throw new UserError(
      `${label}:${best.wider.line}: \`columns\` names ${counted(declared.columns.length, 'column')}, but the record has ${best.wider.cells} cells`,
      { hint: 'name every column, in the order of the file' },
    );
  }
  const wider = best.wider ?? (best.named === 1 ? trials.find((trial) => trial.wider)?.wider : undefined);
  if (wider) {
    throw new SettingError(
      'headerLine',
      `${label}:${best.headerLine}: the header has ${counted(best.named, 'column')}, but the records below have ` +
        `more cells (line ${wider.line} has ${wider.cells})`,
      {
        hint:
          `if the header is further down, set its line: \`header_line: ${wider.line}\`` +
          (best.named === 1
            ? '; if there is only one column, set `delimiter: "\\t"`'
            : '; otherwise cells that contain the delimiter are not quoted, such as `1.234,50`: export again'),
      },
    );
  }
  const { delimiter, headerLine, header } = best;
  const hasHeader = declared.columns === undefined;
  const { escape, quote } = declared;
  return { delimiter, escape, quote, headerLine, start: offsetOf(headerLine, sample), header, hasHeader };
}

/** Where a line of a text begins, whatever its line ends; the length of the text if it has fewer lines. */
function offsetOf(line: number, text: Buffer): number {
  const breaks = text.toString('latin1').matchAll(/\r\n|\r|\n/g);
  let offset = 0;
  for (let at = 1; at < line; at += 1) {
    const next = breaks.next();
    if (next.done) return text.length;
    offset = next.value.index + next.value[0].length;
  }
  return offset;
}

function checkDelimiter(label: string, delimiter: string): string {
  if (delimiter === '\\t') return '\t';
  if (delimiter !== '' && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new UserError(`${label}: ${JSON.stringify(delimiter)} cannot be a delimiter`, {
    hint: 'remove `delimiter` to have it detected',
  });
}

/** The delimiter of a `sep=;` line at the beginning, as spreadsheets write and read it. */
function separatorLine(sample: Buffer): string | undefined {
  return /^"?sep=([^\r\n"])"?\r?[\r\n]/i.exec(sample.subarray(0, 16).toString('latin1'))?.[1];
}

interface SampledText {
  readonly label: string;
  readonly text: Buffer;
  /** On which it begins. */
  readonly line: number;
  readonly whole: boolean;
}

async function tryDelimiter(
  { label, text, line, whole }: SampledText,
  delimiter: string,
  { escape, quote, columns }: DeclaredDialect,
): Promise<Trial> {
  const records: { cells: string[]; line: number }[] = [];
  const take = (cells: string[], at: number): void => {
    if (records.length < RECORDS && cells.some((cell) => cell.trim() !== '')) records.push({ cells, line: at });
  };
  const parser = new RecordParser(label, { delimiter, escape, quote }, line, take, MAX_HEADER);
  let error: UserError | undefined;
  try {
    await parser.feed(text);
    if (whole) await parser.finish();
  } catch (thrown) {
    if (!(thrown instanceof UserError)) throw thrown;
    error = thrown;
  }
  const sound = error ? { error } : {};
  if (columns) records.unshift({ cells: [...columns], line });
  const [first, ...rest] = records;
  if (!first) return { delimiter, header: [], named: 0, headerLine: line, agreement: 0, ...sound };
  const named = width((columns ? (rest[0] ?? first) : first).cells);
  const agreeing = rest.filter(({ cells }) => cells.length === first.cells.length);
  // One more column at the end without a name is not a reason to doubt the header.
  const wider = rest.filter(({ cells }) => width(cells) > Math.min(first.cells.length, named + 1));
  const example = rest.length > (columns ? 0 : 1) && wider.length >= rest.length * 0.8 ? wider[0] : undefined;
  return {
    delimiter,
    header: first.cells.map((cell) => cell.trim()),
    named,
    headerLine: first.line,
    agreement: rest.length === 0 ? 1 : agreeing.length / rest.length,
    ...(example ? { wider: { cells: width(example.cells), line: example.line } } : {}),
    ...sound,
  };
}

/** Number of cells up to the last one that is not blank. */
function width(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell.trim() !== '') + 1;
}

/**
 * What makes the lines a table wins, a title with blank cells beside it included; then more than one named column, then no parse error,
 * then agreement of the records, then more columns.
 */
function compare(a: Trial, b: Trial): number {
  const isTable = ({ header, agreement, error }: Trial): boolean =>
    header.length > 1 && agreement >= 0.8 && error === undefined;
  return (
    Number(isTable(a)) - Number(isTable(b)) ||
    Number(a.named > 1) - Number(b.named > 1) ||
    Number(a.error === undefined) - Number(b.error === undefined) ||
    a.agreement - b.agreement ||
    a.named - b.named
  );
}
