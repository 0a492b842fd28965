import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { MappingThread, WORTHWHILE_BYTES } from './thread.ts';

const PATH = /\bpath["']?\s*:\s*["']?([^"'\n,}#]+)/g;

/** Begins the mapping thread for a command line that seems to survey a large input. */
export function beginThread([command, ...words]: readonly string[]): void {
  const mapping = words.find((word) => /\.(?:ya?ml|json)$/.test(word));
  if (command === 'run' && mapping !== undefined && seemsLarge(mapping, words)) MappingThread.begin();
}

/**
 * A guess, from what looks like a path in what looks like a mapping, or among the words of the command line:
 * `MappingThread.start` knows better, and ends a thread that it has no use for.
 */
export function seemsLarge(mapping: string, words: readonly string[]): boolean {
  const given = words.map((word) => resolve(word.slice(word.lastIndexOf('=') + 1)));
  const named = [...textOf(mapping).matchAll(PATH)].map(([, path = '']) => resolve(dirname(mapping), path.trim()));
  const bytes = [...new Set([...given, ...named])].reduce((sum, path) => sum + sizeOf(path), 0);
  return bytes >= WORTHWHILE_BYTES;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The command will say what is wrong with it.
    return '';
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}
