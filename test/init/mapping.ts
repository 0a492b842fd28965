/** The mapping that `init` writes for exports given as rows. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startMapping } from '../../src/init/index.ts';
import { backfill, workspace } from '../e2e/harness.ts';

/** The text of the mapping and what `init` says, after a dry run has accepted the mapping. */
export async function mappingAndFindings(
  exports: Readonly<Record<string, readonly string[]>>,
): Promise<{ text: string; findings: string }> {
  const cwd = await workspace();
  for (const [name, rows] of Object.entries(exports)) {
    await writeFile(join(cwd, name), rows.map((row) => `${row}\n`).join(''));
  }
  const paths = Object.keys(exports).map((name) => join(cwd, name));
  const { text, findings } = await startMapping(paths, { out: join(cwd, 'mapping.yaml') });
  await writeFile(join(cwd, 'mapping.yaml'), text);
  const dry = await backfill(['run', 'mapping.yaml', '--dry-run', '--offline'], { cwd });
  expect([0, 1], dry.stderr).toContain(dry.code);
  return { text, findings: findings.join('\n').replaceAll(`${cwd}/`, '') };
}

export async function mapping(exports: Readonly<Record<string, readonly string[]>>): Promise<string> {
  return (await mappingAndFindings(exports)).text;
}

export function times(count: number, text: (n: number) => string): string[] {
  return Array.from({ length: count }, (_, n) => text(n));
}
