/** The lines of a mapping that a person still has to look at. */

/** Comments that `init` and the presets write: a value that somebody has to set, or a guess to check. */
export type Mark = 'set this' | 'check';

export interface MarkedLine {
  /** From 1. */
  readonly line: number;
  readonly mark: Mark;
  /** What the comment says behind the mark. */
  readonly why: string;
}

/** The lines with a comment that begins with a mark: `# set this: …`. Who has done it removes the comment. */
export function markedLines(text: string): MarkedLine[] {
  return text.split('\n').flatMap((line, index) => {
    const [, mark, why = ''] = /(?:^|\s)# (set this|check)(?:: (.*))?$/.exec(line) ?? [];
    return mark === undefined ? [] : [{ line: index + 1, mark: mark as Mark, why }];
  });
}
