/** Lines for a terminal of a certain width, in which wide characters take two columns. Pure. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Two spaces below the beginning of a line, or below the text of a row such as `  1,200  bad_date`. */
const HANG = 2;
const ROW = /^ *\S+ {2,}(?=\S)/;
/** Rows with more before their text are tables, whose further lines begin at the left. */
const MOST_HANG = 24;

/** Lines of a file with their numbers, and the mark below one: a mark at another place would be wrong. */
const CODE_FRAME = /^ +>? *\d* \|/;
/** Text in backticks may be a command: it is not broken. */
const UNBROKEN = /`[^`]*`/g;
/** A space at which no line is broken. */
const KEPT = '\ue000';

/**
 * Breaks lines that are longer than `columns` between words; further lines are indented. No word is broken, so that the
 * terminal itself continues a long path or URL, and it can be copied.
 */
export function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => (stringWidth(line) <= columns ? line : wrappedLine(line, Math.max(20, columns))))
    .join('\n');
}

function wrappedLine(line: string, columns: number): string {
  if (CODE_FRAME.test(line)) return cutTo(line, columns);
  const row = ROW.exec(line)?.[0] ?? '';
  const lead = /^ */.exec(line)![0];
  const first = row.length > 0 && row.length <= MOST_HANG ? row : lead;
  const indent = ' '.repeat(first === lead ? lead.length + HANG : stringWidth(first));
  const words = line.slice(first.length).replace(UNBROKEN, (part) => part.replaceAll(' ', KEPT));
  const lines = wrapAnsi(words, columns - indent.length).split('\n');
  return `${first}${lines.join(`\n${indent}`)}`.replaceAll(KEPT, ' ');
}

/** A line without its end where that does not fit. */
export function cutTo(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line;
  const [start] = wrapAnsi(line, columns - 1, { hard: true, wordWrap: false, trim: false }).split('\n');
  return `${start}…`;
}

/** With spaces after it, or before it, up to this width. */
export function padded(text: string, width: number, side: 'end' | 'start' = 'end'): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return side === 'end' ? text + space : space + text;
}
