/** Lines for a terminal of a certain width. Pure. */

/** Two spaces below the beginning of a line, or below the text of a row such as `  1,200  bad_date`. */
const HANG = 2;
const ROW = /^ *\S+ {2,}(?=\S)/;
/** Rows with more before their text are tables, whose further lines begin at the left. */
const MOST_HANG = 24;

/** The name of a file at the end of a row, which may contain spaces. */
const FILE_ROW = /^\w+ {2,}\S*[\\/]/;
/** Lines of a file with their numbers, and the mark below one: a mark at another place would be wrong. */
const CODE_FRAME = /^ +>? *\d* \|/;
/** The members of a JSON object on one line. */
const JSON_LINE = /^ *\{"/;
const MEMBERS = /(?:"(?:\\.|[^"\\])*"|[^",])+,?/g;
/** With the spaces before them. Text in backticks is one: it may be a command. */
const WORDS = / *(?:`[^`]*`|[^ `]|`)+/g;

/**
 * Breaks lines that are longer than `columns` between words; further lines are indented. No word is broken, so that the
 * terminal itself continues a long path or URL, and it can be copied.
 */
export function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => (line.length <= columns ? line : wrappedLine(line, Math.max(20, columns))))
    .join('\n');
}

function wrappedLine(line: string, columns: number): string {
  if (CODE_FRAME.test(line)) return `${line.slice(0, columns - 1)}…`;
  if (FILE_ROW.test(line)) return line;
  const row = ROW.exec(line)?.[0] ?? '';
  const lead = /^ */.exec(line)![0];
  const first = row.length > 0 && row.length <= MOST_HANG ? row : lead;
  const indent = ' '.repeat(first === lead ? lead.length + HANG : first.length);
  const lines = [first];
  for (const word of line.slice(first.length).match(JSON_LINE.test(line) ? MEMBERS : WORDS) ?? []) {
    const last = lines.at(-1)!;
    if (last.length + word.length <= columns || last === first) lines[lines.length - 1] = last + word;
    else lines.push(indent + word.trimStart());
  }
  return lines.join('\n');
}
