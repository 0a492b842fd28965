import { existsSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import type { Mapping } from '../mapping/mapping.ts';

/** A rejects file, and how its corrections come into the mapping. */
export interface ToCorrect {
  readonly source: string;
  readonly rejects: string;
  /** Where a copy of it can be corrected: beside the mapping, under a name that no file has. */
  readonly copy: string;
  /** What `fixes` of the source says then, relative to the mapping. */
  readonly fixes: readonly string[];
}

/** `rejects`: files by source. */
export function toCorrect(
  { file, sources }: Pick<Mapping, 'file' | 'sources'>,
  rejects: ReadonlyMap<string, string>,
): readonly ToCorrect[] {
  const folder = dirname(file);
  return Array.from(rejects, ([source, path]) => {
    const copy = freeName(join(folder, `corrected-${source}`), extname(path));
    const { fixes = [] } = sources.find(({ name }) => name === source) ?? {};
    return {
      ...{ source, rejects: path, copy },
      fixes: [...fixes, resolve(copy)].map((each) => relative(resolve(folder), each)),
    };
  });
}

/** An earlier copy has corrections in it. */
function freeName(stem: string, extension: string): string {
  let name = `${stem}${extension}`;
  for (let number = 2; existsSync(name); number += 1) name = `${stem}.${number}${extension}`;
  return name;
}
