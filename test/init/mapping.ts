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

export function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

/** The lines of an entry by their keys, commented out or not. */
export function linesOf(text: string, type: string): Map<string, string> {
  const entry = text.split('\n  - type: ').find((part) => part.startsWith(`${type}\n`)) ?? '';
  return new Map(
    entry.split('\n').flatMap(
      (line) =>
        /^ +(?:# )?(\w+): /
          .exec(line)
          ?.slice(1, 2)
          .map((key) => [key, line.trim()] as const) ?? [],
    ),
  );
}

/** `right`; `named`: left to decide, with the column; `marked`: wrong, and to be checked; else what is wrong in silence. */
export function verdictOf(line: string | undefined, columns: readonly string[]): string {
  if (line === undefined) return 'missing';
  const [value = '', remark = ''] = line.split(' # ');
  const has = (text: string): boolean => columns.every((column) => text.includes(column));
  if (line.startsWith('#')) return has(line) ? 'named' : 'missing';
  if (has(value)) return 'right';
  return /^(?:check|set this)/.test(remark) ? 'marked' : 'wrong';
}
