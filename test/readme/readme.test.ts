import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadMapping } from '../../src/mapping/load.ts';
import { kebab } from '../../src/options/option.ts';
import { RUN_OPTIONS } from '../../src/settings.ts';
import { readReadme, withSections } from './sections.ts';

const flat = (text: string): string => text.replace(/\s+/g, ' ').replace(/ ?-{3,} ?/g, '-');

it('shows usage, fields, policies and transforms as the program defines them (update with `npm run readme`)', () => {
  const readme = readReadme();
  expect(flat(readme)).toBe(flat(withSections(readme)));
});

it('names every option of run', () => {
  const readme = readReadme();
  expect(Object.keys(RUN_OPTIONS).filter((name) => !readme.includes(`--${kebab(name)}`))).toEqual([]);
});

it('shows a mapping that loads', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'backfill-readme-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const blocks = [...readReadme().matchAll(/^( *)```yaml\n([^]*?)^ *```$/gm)];
  expect(blocks.length).toBeGreaterThan(0);
  for (const [, indent, text] of blocks) {
    if (!text!.includes('version: 1')) continue;
    await writeFile(join(directory, 'acme.yaml'), text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
    const mapping = await loadMapping(join(directory, 'acme.yaml'));
    expect(mapping.migration).toBe('acme');
  }
});

it('mentions only scripts that package.json has', async () => {
  const { scripts } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [, script] of readReadme().matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(script);
});
