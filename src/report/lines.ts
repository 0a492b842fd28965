import { createReadStream } from 'node:fs';
import { codeOf } from '../errors.ts';

/**
 * The whole lines of a file of NDJSON; nothing where there is no file. Lines end at LF alone: JSON may hold U+2028 as it
 * is, which `readline` would take for an end.
 */
export async function* wholeLines(path: string): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk as Buffer]) : (chunk as Buffer);
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        yield bytes.toString('utf8', start, end);
        start = end + 1;
      }
      rest = bytes.subarray(start);
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** The JSON object of a line, or undefined: a torn or damaged line is no reason to show nothing. */
export function parseLine<T extends object>(text: string): Partial<T> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
