import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../directory.ts';
import type { Draft } from '../../src/model.ts';
import { compileCase, draftsOf } from './cases.ts';

/** The drafts that a mapping, written in the test, makes of exports that are written there too. */
export async function mapped(mapping: string, exports: Readonly<Record<string, string>>): Promise<Draft[]> {
  const folder = makeDirectory();
  try {
    await writeFile(join(folder, 'mapping.yaml'), `version: 1\nmigration: m\n${mapping}`);
    for (const [name, text] of Object.entries(exports)) await writeFile(join(folder, name), text);
    const { compiled, sources } = await compileCase(folder);
    return await draftsOf(compiled, sources);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
