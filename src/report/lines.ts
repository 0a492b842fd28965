import { isTorn, readPieces, textLines } from '../checkpoint/read.ts';

/** The complete lines of an NDJSON file; none if the file does not exist. */
export async function* wholeLines(path: string): AsyncGenerator<string, void, undefined> {
  for await (const piece of readPieces(path)) if (!isTorn(piece)) yield* textLines(piece);
}

/** The JSON object in a line. Undefined for a damaged line: it is skipped, so that the others can still be shown. */
export function parseLine<T extends object>(text: string): Partial<T> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
