/** The lines of a mapping that a person still has to look at. */
import { MARKS, type Mark } from '../report/words/input.ts';

export interface MarkedLine {
  /** From 1. */
  readonly line: number;
  readonly mark: Mark;
}

const MARK = new RegExp(`(?:^|\\s)# (${Object.keys(MARKS).join('|')})(?::.*)?$`);

/** The lines with a comment that begins with a mark: `# set this: …`. Who has done it removes the comment. */
export function markedLines(text: string): MarkedLine[] {
  return text.split('\n').flatMap((line, index) => {
    const mark = MARK.exec(line)?.[1];
    return mark === undefined ? [] : [{ line: index + 1, mark: mark as Mark }];
  });
}
