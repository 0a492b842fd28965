import { relative } from 'node:path';

/** Relative to the working directory, where that is shorter. */
export function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short !== '' && short.length < path.length ? short : path;
}
