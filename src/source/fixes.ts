import type { Source } from './source.ts';

export async function withFixes(source: Source, _path: string): Promise<Source> {
  return source;
}
