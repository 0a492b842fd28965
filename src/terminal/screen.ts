/** What a command prints for people, made short enough to be read. Pure. */
import type { Tone } from './console.ts';
import { counted, enumerated } from './numbers.ts';

export interface Segment {
  readonly text: string;
  readonly tone?: Tone | undefined;
  /** Its blocks, divided by blank lines, may be left out as a whole. */
  readonly isExtra?: boolean;
}

interface Block {
  /** With the blank line before it. */
  readonly lines: string[];
  readonly tone: Tone | undefined;
  /** So many lines of it stay; all if infinite. */
  readonly least: number;
  /** Lines that are left out. */
  readonly hidden: string[];
}

/** Lists that are also in files, by their first line, with the lines that stay of them; none of what is extra. */
const LISTS: Readonly<Record<string, number>> = {
  warnings: 3,
  'new warnings': 3,
  'values left out of their events': 3,
  errors: 5,
  'deals by old and new stage': 0,
};
/** What is said of an entry of a list, below it; an entry begins with its count, which may be indented as far. */
const DETAIL = /^ {4,}(?![\d,]+ {2}\S)\S/;
/** Said for the code in the report, too. */
const HINT = /^ {4,}hint: /;

/**
 * Leaves out lines until there are at most `most` in all: first what is extra, then of the longest lists hints, other details, and
 * then entries, from the end. Of each list it names the entries that are left out, and says that they are in `rest`.
 */
export function fitted(segments: readonly Segment[], most: number, rest: string): Segment[] {
  const blocks = segments.flatMap(blocksOf);
  const excess = (): number => blocks.reduce((sum, block) => sum + sizeOf(block), 0) - most;
  for (const extra of blocks.filter(({ least }) => least === 0).reverse()) {
    if (excess() > 0) extra.lines.length = 0;
  }
  while (excess() > 0) {
    const longest = blocks
      .filter((block) => sizeOf(block) > block.least)
      .sort((one, other) => sizeOf(other) - sizeOf(one))[0];
    if (!longest) break;
    // The first line that is left out makes room for the one that says so.
    for (let times = longest.hidden.length === 0 ? 2 : 1; times > 0; times -= 1) leaveOut(longest);
  }
  return blocks.flatMap(({ lines, tone, hidden }) => {
    if (lines.length === 0) return [];
    return [{ text: [...lines, ...moreText(hidden, rest)].join('\n'), tone }];
  });
}

function leaveOut(list: Block): void {
  const last = [HINT, DETAIL].map((part) => list.lines.findLastIndex((line) => part.test(line)));
  list.hidden.unshift(...list.lines.splice(last.find((index) => index >= 0) ?? -1, 1));
}

/** The entries that are left out by name; else how many lines are. */
function moreText(hidden: readonly string[], rest: string): string[] {
  if (hidden.length === 0) return [];
  const entries = hidden.filter((line) => !DETAIL.test(line)).map((line) => line.trim().replace(/\s+/g, ' '));
  const what = entries.length === 0 ? `and ${counted(hidden.length, 'more line')}` : enumerated(entries, 'and');
  return [`  … ${what}: see ${rest}`];
}

function sizeOf({ lines, hidden }: Block): number {
  return lines.length + (hidden.length === 0 ? 0 : 1);
}

function blocksOf({ text, tone, isExtra = false }: Segment): Block[] {
  const blocks: string[][] = [[]];
  for (const line of text.split('\n')) {
    if (tone === undefined && line === '' && blocks.at(-1)!.length > 0) blocks.push([line]);
    else blocks.at(-1)!.push(line);
  }
  return blocks.map((lines) => {
    const heading = lines.find((line) => line !== '') ?? '';
    const isList = tone === undefined && Object.hasOwn(LISTS, heading);
    return { lines, tone, least: isExtra ? 0 : isList ? LISTS[heading]! : Infinity, hidden: [] };
  });
}
