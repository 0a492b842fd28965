import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NumberText } from '../../src/json.ts';
import type { Draft } from '../../src/model.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { CompiledMapping, Mapping } from '../../src/mapping/mapping.ts';
import { openSource } from '../../src/input/open.ts';
import type { Source } from '../../src/input/source.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../fixtures/mapping');

export function casesOf(kind: 'valid' | 'invalid'): { name: string; folder: string }[] {
  return readdirSync(join(ROOT, kind), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, folder: join(ROOT, kind, name) }));
}

export async function compileCase(
  folder: string,
): Promise<{ mapping: Mapping; compiled: CompiledMapping; sources: Map<string, Source> }> {
  const mapping = await loadMapping(
    join(
      folder,
      readdirSync(folder).find((name) => name.startsWith('mapping.'))!,
    ),
  );
  const sources = new Map<string, Source>();
  for (const name of mapping.usedSources) {
    sources.set(name, await openSource(mapping.sources.find((spec) => spec.name === name)!));
  }
  return { mapping, compiled: await mapping.compile({ sources, failures: new Map() }), sources };
}

/** All drafts by entry, in the order of the rows. */
export async function draftsOf(compiled: CompiledMapping, sources: ReadonlyMap<string, Source>): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for (const entry of compiled.entries) {
    for await (const batch of sources.get(entry.source)!.batches()) {
      for (const item of batch) if (item.kind === 'row') drafts.push(...entry.map(item));
    }
  }
  return drafts;
}

/** Drafts as text for comparison; numbers keep their digits. */
export function printed(value: unknown): string {
  return `${JSON.stringify(value, (_key, member: unknown) => (member instanceof NumberText ? `digits ${member.text}` : member), 2)}\n`;
}
