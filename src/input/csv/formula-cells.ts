/** Cells written as formulas, so that spreadsheets take them for text: `="00123"`, also quoted once more (`"=""00123"""`). */
import { Tally } from '../source.ts';
import { shortened } from '../../report/words/visible.ts';
import { issueOf } from '../../report/words/words.ts';
import type { Problem } from '../../problem.ts';

/** Replaces such cells by the text in them, in a CSV text that arrives in chunks. Nothing but a whole cell is replaced. */
export class FormulaCells {
  readonly #file: string;
  readonly #pattern: RegExp;
  /** The end of what was fed, up to the line break before it: a cell may go on in the next chunk. */
  #held: Buffer = Buffer.alloc(0);
  /** By the texts in them, in Latin-1. */
  readonly #unwrapped = new Tally<string>();

  constructor(file: string, delimiter: string) {
    this.#file = file;
    const mark = literal(delimiter);
    const [before, after] = [`(^|[\\r\\n]|${mark})`, `(?=$|[\\r\\n]|${mark})`];
    this.#pattern = new RegExp(`${before}(?:="([^"\\r\\n]+)"|"=""([^"\\r\\n]+)""")${after}`, 'g');
  }

  /** What can be parsed so far. */
  feed(chunk: Buffer): Buffer {
    if (this.#held.length === 0 && !chunk.includes('="') && chunk.at(-1) !== EQUALS) return chunk;
    const text = Buffer.concat([this.#held, chunk]);
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    this.#held = text.subarray(end);
    return this.#replaced(text.subarray(0, end));
  }

  /** The rest, after the last chunk. */
  finish(): Buffer {
    return this.#replaced(this.#held);
  }

  notices(): Problem[] {
    return this.#unwrapped.each((count, first) => {
      const example = shortened(Buffer.from(first, 'latin1').toString('utf8'), 40);
      return issueOf('unwrapped_cells', count, example).in(this.#file);
    });
  }

  #replaced(text: Buffer): Buffer {
    if (!text.includes('="')) return text;
    // As Latin-1, every byte stays one character.
    const replaced = text
      .toString('latin1')
      .replace(this.#pattern, (_, before: string, plain?: string, doubled?: string) => {
        const content = plain ?? doubled!;
        this.#unwrapped.add(content);
        return `${before}"${content}"`;
      });
    return Buffer.from(replaced, 'latin1');
  }
}

const EQUALS = 0x3d;

/** A text as a part of a regular expression, also between brackets. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
