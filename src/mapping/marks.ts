/** The lines of a mapping that a person still has to look at. */
import { MARKS, type Mark } from '../report/words/input.ts';

export interface MarkedLine {
  /** From 1. */
  readonly line: number;
  readonly mark: Mark;
  /** What it decides until then: the line, or the one below a comment of its own. */
  readonly text: string;
}

const MARK = new RegExp(`(?:^|\\s)# (${Object.keys(MARKS).join('|')})(?::.*)?$`);

/** The lines with a comment that begins with a mark: `# set this: …`. Who has done it removes the comment. */
export function markedLines(text: string): MarkedLine[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const found = MARK.exec(line);
    if (!found) return [];
    const own = line.slice(0, found.index).trim() || (lines[index + 1] ?? '').trim();
    return [{ line: index + 1, mark: found[1] as Mark, text: own }];
  });
}
