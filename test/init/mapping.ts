/** The mapping that `init` writes for exports given as rows or as JSON. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startMapping } from '../../src/commands/init/index.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { MappingSpec } from '../../src/mapping/schema.ts';
import { workspace } from '../e2e/harness.ts';

export interface Draft {
  readonly text: string;
  readonly findings: string;
  readonly spec: MappingSpec;
  /** `people: lead/created`. */
  readonly entries: readonly string[];
  /** The values of the first entry of a type, settings and data together. */
  readonly lead: Values;
  readonly deal: Values;
  readonly comment: Values;
  /** The comment behind the first line with this key, commented out or not; undefined if there is none. */
  remark(key: string): string | undefined;
}

type Values = Readonly<Record<string, unknown>>;

/** Fails unless the mapping is valid: `init` never writes another one. */
export async function draftOf(
  exports: Readonly<Record<string, readonly string[] | object>>,
  options: { readonly preset?: string } = {},
): Promise<Draft> {
  const cwd = await workspace();
  for (const [name, content] of Object.entries(exports)) {
    const isRows = Array.isArray(content) && content.every((row) => typeof row === 'string');
    const text = isRows ? content.map((row) => `${row}\n`).join('') : JSON.stringify(content);
    await writeFile(join(cwd, name), text);
  }
  const out = join(cwd, 'mapping.yaml');
  const { text, findings } = await startMapping(
    Object.keys(exports).map((name) => join(cwd, name)),
    { out, ...options },
  );
  await writeFile(out, text);
  await loadMapping(out);
  const spec = parse(text) as MappingSpec;
  const valuesOf = (type: string): Values => {
    const { data = {}, ...settings } = spec.events.find((entry) => entry.type === type) ?? {};
    return { ...settings, ...data };
  };
  return {
    text,
    findings: findings.join('\n').replaceAll(`${cwd}/`, ''),
    spec,
    entries: spec.events.map(({ source, type }) => `${source}: ${type}`),
    lead: valuesOf('lead/created'),
    deal: valuesOf('deal/created'),
    comment: valuesOf('comment/created'),
    remark: (key) => new RegExp(`^ *(?:# )?${key}:.*? # (.*)$`, 'm').exec(text)?.[1],
  };
}

export function times(count: number, text: (n: number) => string): string[] {
  return Array.from({ length: count }, (_, n) => text(n));
}
